package spec

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gfxrt/cmd/gfxrt/internal/num"
)

func TestParseValues(t *testing.T) {
	for text, want := range map[string][]byte{
		"i8:-5": {0xfb}, "u16:0xbeef": {0xef, 0xbe}, "i32:-42": {0xd6, 0xff, 0xff, 0xff}, "u64:1": {1, 0, 0, 0, 0, 0, 0, 0},
		"f16:1": {0, 0x3c}, "bf16:1": {0x80, 0x3f}, "f32:-inf": {0, 0, 0x80, 0xff}, "f64:2": {0, 0, 0, 0, 0, 0, 0, 0x40},
		"hex:00ff10": {0, 0xff, 0x10}, "null": nil, "lds:64": nil,
	} {
		s, err := Parse(text)
		if err != nil || s.Buffer || !bytes.Equal(s.Bytes, want) {
			t.Errorf("%s: %+v, %v; want bytes % x", text, s, err, want)
		}
	}
}

func TestParseBuffers(t *testing.T) {
	f := func(t num.Type, v ...float64) (b []byte) {
		for _, x := range v {
			b = append(b, t.FromFloat(x)...)
		}
		return b
	}
	for text, want := range map[string]struct {
		size    uint64
		typ     num.Type
		content []byte
		out     string
	}{
		"buf:4k":             {4096, num.Raw, nil, ""},
		"buf:0":              {0, num.Raw, nil, ""},
		"buf:1G":             {1 << 30, num.Raw, nil, ""},
		"iota:u16:3":         {6, num.U16, []byte{0, 0, 1, 0, 2, 0}, ""},
		"iota:f32:3":         {12, num.F32, f(num.F32, 0, 1, 2), ""},
		"fill:i16:2:-2":      {4, num.I16, []byte{0xfe, 0xff, 0xfe, 0xff}, ""},
		"fill:f64:1:inf":     {8, num.F64, f(num.F64, math.Inf(1)), ""},
		"out:a:b:16":         {16, num.Raw, nil, "a:b"},
		"out:o.bin:f32:4":    {16, num.F32, nil, "o.bin"},
		"out:C:/o.bin:u8:1k": {1024, num.U8, nil, "C:/o.bin"},
	} {
		s, err := Parse(text)
		if err != nil {
			t.Error(err)
			continue
		}
		content, err := s.Content()
		if err != nil || !s.Buffer || s.Size != want.size || s.Type != want.typ || s.Out != want.out || !bytes.Equal(content, want.content) {
			t.Errorf("%s: %+v, content % x, %v; want %+v", text, s, content, err, want)
		}
	}
}

// TestRand: the pattern depends on the seed alone, and values lie where the
// description says.
func TestRand(t *testing.T) {
	content := func(text string) []byte {
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Content()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	a := content("rand:f32:1024:7")
	if !bytes.Equal(a, content("rand:f32:1024:7")) || bytes.Equal(a, content("rand:f32:1024:8")) {
		t.Error("the seed does not decide the content")
	}
	if !bytes.Equal(content("rand:u64:64"), content("rand:u64:64:0")) {
		t.Error("the default seed is not 0")
	}
	var negative int
	for i := 0; i < len(a); i += 4 {
		v := num.F32.ToFloat(a[i:])
		if !(v >= -1 && v <= 1) {
			t.Fatalf("element %d is %g", i/4, v)
		}
		if v < 0 {
			negative++
		}
	}
	if negative < 400 || negative > 624 {
		t.Errorf("%d of 1024 values are negative", negative)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"": "want one of", "x": "want one of", "raw:1": "want one of", "null:1": "want one of", "i32": "want one of", "buf": "want one of",
		"u8:256": "does not fit", "u8:-1": "does not fit", "f32:one": "not a number", "i8:": "not a number",
		"hex:": "pairs", "hex:0": "pairs", "hex:zz": "pairs", "hex:" + strings.Repeat("00", maxStruct+1): "limit",
		"lds:-1": "size", "lds:4294967296": "limit",
		"buf:-1": "size", "buf:2G": "limit", "buf:18446744073709551616": "limit", "buf:": "size",
		"in:": "file name", "inout:": "file name", "out:x": "BYTES", "out::4": "file name", "out:x:2G": "limit", "out:x:f64:1G": "limit",
		"out:x.npy:64": "TYPE", "out:x.npy:bf16:64": "NumPy has no type bf16",
		"rand:f32": "TYPE:COUNT", "rand:q:4": "TYPE:COUNT", "rand:f32:1G": "limit", "rand:f32:4:x": "seed", "rand:f32:4:-1": "seed",
		"iota:u32:4:1": "iota", "fill:u32:4": "VALUE", "fill:u8:4:300": "does not fit",
	} {
		if s, err := Parse(text); !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %+v, %v; want an error with %q", text, s, err, want)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	raw, array := filepath.Join(dir, "a.bin"), filepath.Join(dir, "a.npy")
	head := "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }\n"
	npyFile := append([]byte("\x93NUMPY\x01\x00\x3a\x00"+head), 1, 0, 2, 0)
	for path, content := range map[string][]byte{raw: {1, 2, 3}, array: npyFile} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	load := func(text string) (*Spec, []byte, error) {
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		content, err := s.Content()
		return s, content, err
	}
	if s, b, err := load("in:" + raw); err != nil || s.Size != 3 || !bytes.Equal(b, []byte{1, 2, 3}) || s.Out != "" {
		t.Errorf("raw file: %+v % x %v", s, b, err)
	}
	s, b, err := load("inout:" + array)
	if err != nil || s.Size != 4 || s.Type != num.U16 || !bytes.Equal(b, []byte{1, 0, 2, 0}) {
		t.Fatalf("array: %+v % x %v", s, b, err)
	}
	if err := s.WriteBack([]byte{9, 0, 8, 0}); err != nil {
		t.Fatal(err)
	}
	if back, _ := os.ReadFile(array); !bytes.Equal(back, append([]byte("\x93NUMPY\x01\x00\x3a\x00"+head), 9, 0, 8, 0)) {
		t.Errorf("written back: %q", back)
	}
	s, _, err = load("out:" + filepath.Join(dir, "o.npy") + ":f32:2")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WriteBack(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if s, b, err := load("in:" + filepath.Join(dir, "o.npy")); err != nil || s.Type != num.F32 || len(b) != 8 {
		t.Errorf("array made by out: %+v % x %v", s, b, err)
	}
	if err := os.WriteFile(array, npyFile[:len(npyFile)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"in:" + array, "in:" + filepath.Join(dir, "absent"), "in:" + dir} {
		if _, _, err := load(text); !errors.Is(err, ErrFile) {
			t.Errorf("%s: %v, want an error that wraps ErrFile", text, err)
		}
	}
	if s, _, _ := load("inout:" + raw); s.WriteBack(nil) != nil {
		t.Error("an empty result is not written")
	}
}
