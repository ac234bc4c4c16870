package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"gfxrt/cmd/gfxrt/internal/num"
)

// file builds a .npy file by hand as NEP 1 describes it.
func file(major byte, header string, data ...byte) []byte {
	b := append([]byte("\x93NUMPY"), major, 0)
	if major == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(append(b, header...), data...)
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		b     []byte
		typ   num.Type
		shape []int
		data  int
	}{
		// What numpy.save writes for numpy.arange(2, dtype='float32').
		"v1": {file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"+strings.Repeat(" ", 60)+"\n", make([]byte, 8)...), num.F32, []int{2}, 8},
		"v2": {file(2, "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 3)}\n", make([]byte, 24)...), num.I64, []int{1, 3}, 24},
		"v3": {file(3, "{\"shape\": (), 'fortran_order': False, 'descr': '|u1'}\n", 9), num.U8, []int{}, 1},
		"no elements": {file(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (0, 7), }\n"),
			num.F16, []int{0, 7}, 0},
	} {
		a, err := Parse(c.b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a.Type != c.typ || !slices.Equal(a.Shape, c.shape) || len(a.Data) != c.data {
			t.Errorf("%s: %s %v with %d bytes, want %s %v with %d", name, a.Type, a.Shape, len(a.Data), c.typ, c.shape, c.data)
		}
		if !bytes.Equal(append(bytes.Clone(a.Header), a.Data...), c.b) {
			t.Errorf("%s: header and data do not make the file", name)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const ok = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"
	for name, c := range map[string]struct {
		b    []byte
		text string
	}{
		"empty":            {nil, "magic"},
		"version":          {file(4, ok, make([]byte, 8)...), "version 4"},
		"fortran":          {file(1, strings.Replace(ok, "False", "True", 1), make([]byte, 8)...), "fortran_order True"},
		"big endian":       {file(1, strings.Replace(ok, "<f4", ">f4", 1), make([]byte, 8)...), "big-endian"},
		"complex":          {file(1, strings.Replace(ok, "<f4", "<c8", 1), make([]byte, 16)...), "<c8"},
		"object":           {file(1, strings.Replace(ok, "<f4", "|O", 1), make([]byte, 16)...), "|O"},
		"empty descr":      {file(1, strings.Replace(ok, "<f4", "", 1)), "descr"},
		"structured":       {file(1, strings.Replace(ok, "'<f4'", "[('a', '<f4')]", 1)), "quoted"},
		"short data":       {file(1, ok, make([]byte, 7)...), "needs 8 bytes"},
		"long data":        {file(1, ok, make([]byte, 9)...), "needs 8 bytes"},
		"overflow":         {file(1, strings.Replace(ok, "(2,)", "(4611686018427387904, 4611686018427387904)", 1)), "overflows"},
		"huge dimension":   {file(1, strings.Replace(ok, "(2,)", "(99999999999999999999,)", 1)), "dimension"},
		"negative":         {file(1, strings.Replace(ok, "(2,)", "(-2,)", 1)), "dimension"},
		"missing key":      {file(1, "{'descr': '<f4', 'shape': (2,)}", make([]byte, 8)...), "fortran_order"},
		"repeated key":     {file(1, "{'descr': '<f4', 'descr': '<f4'}"), "repeated"},
		"unknown key":      {file(1, "{'colour': '<f4'}"), "unknown key"},
		"trailing text":    {file(1, ok+"x", make([]byte, 8)...), "after the dict"},
		"open quote":       {file(1, "{'descr"), "not closed"},
		"open tuple":       {file(1, "{'shape': (2"), "')'"},
		"cut header":       {file(1, ok)[:30], "header length"},
		"cut length":       {[]byte("\x93NUMPY\x02\x00\x00\x00"), "cut short"},
		"hostile length":   {append([]byte("\x93NUMPY\x02\x00"), 0xff, 0xff, 0xff, 0xff, 0, 0), "header length"},
		"no separator":     {file(1, "{'descr': '<f4' 'shape': (2,)}"), "neither"},
		"not a dict":       {file(1, "[]"), "'{'"},
		"neither of bools": {file(1, "{'fortran_order': None}"), "neither True"},
	} {
		a, err := Parse(c.b)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %+v, %v; want an error about %q", name, a, err, c.text)
		}
	}
}

func TestHeader(t *testing.T) {
	// The bytes numpy.save writes for numpy.zeros(3, '<i4'), NumPy 1.17 and later, without the data.
	want := "\x93NUMPY\x01\x00\x76\x00{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }" + strings.Repeat(" ", 60) + "\n"
	got, err := Header(num.I32, 3)
	if err != nil || string(got) != want || len(got) != 128 {
		t.Errorf("%d bytes %q, %v\nwant %q", len(got), got, err, want)
	}
	if a, err := Parse(append(got, make([]byte, 12)...)); err != nil || a.Type != num.I32 || !slices.Equal(a.Shape, []int{3}) {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := Header(num.BF16, 1); !errors.Is(err, ErrFormat) {
		t.Errorf("bf16: %v", err)
	}
}
