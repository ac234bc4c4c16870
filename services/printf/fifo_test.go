package printf

import (
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// fifo is the device side of a printf buffer: it appends as printf_alloc.cl
// does and never writes what the compiler's code would not.
type fifo struct {
	*FIFO
}

func newFIFO(t *testing.T, size int) fifo {
	t.Helper()
	f, err := NewFIFO(make([]byte, size))
	if err != nil {
		t.Fatal(err)
	}
	return fifo{f}
}

func (f fifo) alloc(n int) []byte {
	off := int(binary.LittleEndian.Uint32(f.mem))
	if 8+off+n > int(binary.LittleEndian.Uint32(f.mem[4:])) {
		return nil
	}
	binary.LittleEndian.PutUint32(f.mem, uint32(off+n))
	return f.mem[8+off : 8+off+n]
}

// hip appends one record of HIP's buffered printf; flags as in the control
// word. Padding after strings stays unwritten.
func (f fifo) hip(flags uint32, parts ...any) bool {
	var size int
	for _, p := range parts {
		if s, ok := p.(string); ok {
			size += (len(s) + 8) &^ 7
		} else {
			size += 8
		}
	}
	rec := f.alloc(4 + size)
	if rec == nil {
		return false
	}
	binary.LittleEndian.PutUint32(rec, uint32(len(rec))<<2|flags)
	rec = rec[4:]
	for _, p := range parts {
		n := 8
		switch v := p.(type) {
		case string:
			n = copy(rec, v+"\x00")
			n = (n + 7) &^ 7
		case int:
			binary.LittleEndian.PutUint64(rec, uint64(v))
		case uint64:
			binary.LittleEndian.PutUint64(rec, v)
		case float64:
			binary.LittleEndian.PutUint64(rec, math.Float64bits(v))
		}
		rec = rec[n:]
	}
	return true
}

type sink struct{ out, err strings.Builder }

func (s *sink) emit(stream Stream, text []byte) error {
	if stream == Stderr {
		s.err.Write(text)
	} else {
		s.out.Write(text)
	}
	return nil
}

func hashOf(format string) uint64 {
	sum := md5.Sum([]byte(format))
	return binary.LittleEndian.Uint64(sum[:])
}

func TestDecodeHIP(t *testing.T) {
	formats := map[uint64][]byte{}
	for _, f := range []string{"plain\n", "int %d uint %u\n", "[%s]"} {
		formats[hashOf(f)] = []byte(f)
	}
	if formats[0x3f3fc1195a143958] == nil { // what clang 22 puts into metadata
		t.Fatalf("hash of plain: %#x", hashOf("plain\n"))
	}
	f := newFIFO(t, 4096)
	for range 2 {
		f.hip(2, hashOf("plain\n"))
		f.hip(3, hashOf("int %d uint %u\n"), int(math.MaxUint32), 42)
		f.hip(0, "dyn %s and %g|%s\n", "eight888", 0.5, "x")
		f.hip(2, hashOf("[%s]")) // null string: no bytes
		var s sink
		if err := f.DecodeHIP(formats, s.emit); err != nil {
			t.Fatal(err)
		}
		if s.out.String() != "plain\ndyn eight888 and 0.5|x\n[(null)]" || s.err.String() != "int -1 uint 42\n" {
			t.Errorf("stdout %q, stderr %q", s.out.String(), s.err.String())
		}
		f.Reset()
	}
	var s sink
	if err := f.DecodeHIP(formats, s.emit); err != nil || s.out.Len() != 0 {
		t.Errorf("an empty buffer: %q, %v", s.out.String(), err)
	}
}

func TestDecodeHIPOverflowAndMistakes(t *testing.T) {
	f := newFIFO(t, 8+64)
	stored := 0
	for f.hip(0, "%d\n", stored) {
		stored++
	}
	var s sink
	if err := f.DecodeHIP(nil, s.emit); !errors.Is(err, ErrFull) || stored != 2 || s.out.String() != "0\n1\n" {
		t.Errorf("%d records: %q, %v", stored, s.out.String(), err)
	}

	f = newFIFO(t, 4096)
	f.hip(0, "ok %d\n", 1)
	f.hip(2, uint64(0xbad))
	f.hip(0, "half %d then %y\n", 2)
	f.hip(0, "missing %f")
	f.hip(0, "ok %d\n", 3)
	s = sink{}
	err := f.DecodeHIP(nil, s.emit)
	if s.out.String() != "ok 1\nhalf 2 then missing ok 3\n" {
		t.Errorf("%q", s.out.String())
	}
	for _, want := range []error{ErrMessage, ErrFormat, ErrArguments} {
		if !errors.Is(err, want) {
			t.Errorf("%v does not tell of %v", err, want)
		}
	}

	for _, length := range []uint32{0, 1, 4, 8, 13, 1 << 29} {
		f := newFIFO(t, 4096)
		f.hip(0, "ok\n")
		rec := f.alloc(20)
		binary.LittleEndian.PutUint32(rec, length<<2)
		s = sink{}
		if err := f.DecodeHIP(nil, s.emit); !errors.Is(err, ErrMessage) || s.out.String() != "ok\n" {
			t.Errorf("length %d: %q, %v", length, s.out.String(), err)
		}
	}
	f = newFIFO(t, 64)
	binary.LittleEndian.PutUint32(f.mem, math.MaxUint32)
	binary.LittleEndian.PutUint32(f.mem[4:], math.MaxUint32)
	if err := f.DecodeHIP(nil, s.emit); !errors.Is(err, ErrMessage) {
		t.Errorf("overwritten offset: %v", err)
	}
	f.Reset()

	f = newFIFO(t, 1<<20)
	for f.hip(0, "%1048576d", 0) {
	}
	emitted := 0
	err = f.DecodeHIP(nil, func(_ Stream, text []byte) error { emitted += len(text); return nil })
	if !errors.Is(err, ErrLimit) || emitted > maxDecoded {
		t.Errorf("amplification: %d bytes, %v", emitted, err)
	}
	stop := errors.New("stop")
	if err := f.DecodeHIP(nil, func(Stream, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("emit's error: %v", err)
	}
}

// openCL appends a record as LLVM 22 does: arguments back to back, and a
// literal whose length is a non-zero multiple of 4 without its NUL word.
func (f fifo) openCL(id uint32, format OpenCLFormat, parts ...any) {
	size := 4
	for _, s := range format.Sizes {
		size += int(s)
	}
	rec := f.alloc(size)
	binary.LittleEndian.PutUint32(rec, id)
	var b []byte
	for _, p := range parts {
		switch v := p.(type) {
		case string:
			b = append(b, v...)
			if len(v) == 0 {
				b = append(b, 0, 0xff, 0xff, 0xff)
			} else {
				for len(b)%4 != 0 {
					b = append(b, 0)
				}
			}
		case int:
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		case int64:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case float32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		case float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case []byte:
			b = append(b, v...)
		}
	}
	copy(rec[4:], b)
}

func TestDecodeOpenCL(t *testing.T) {
	le32 := func(v ...uint32) (b []byte) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		return b
	}
	for i, c := range []struct {
		format string
		sizes  []uint32
		parts  []any
		want   string
	}{
		// The call sites of a compiled kernel, with the sizes in its metadata.
		{"plain\n", nil, nil, "plain\n"},
		{"last %u of %u value %d\n", []uint32{4, 4, 4}, []any{2, 3, -7}, "last 2 of 3 value -7\n"},
		{"long %ld short %hd\n", []uint32{8, 4}, []any{int64(-5000000000), -3}, "long -5000000000 short -3\n"},
		{"vec %v4d %v2hlf\n", []uint32{16, 8}, []any{le32(1, 2, 3, 4), le32(0x3f000000, 0x3e800000)}, "vec 1,2,3,4 0.500000,0.250000\n"},
		{"str %s float %f exp %e\n", []uint32{4, 4, 8}, []any{"abc", float32(1.5), 2.25}, "str abc float 1.500000 exp 2.250000e+00\n"},
		// Literals without their NUL word; reserved sizes as measured.
		{"A %s %d", []uint32{8, 4}, []any{"abcd", 77}, "A abcd 77"},
		{"A %s %d", []uint32{8, 4}, []any{"abcde", 77}, "A abcde 77"},
		{"%s %s %d", []uint32{8, 12, 4}, []any{"abcd", "efghijkl", 9}, "abcd efghijkl 9"},
		{"%s %s %d", []uint32{8, 12, 4}, []any{"abcdef", "efghijkl", 9}, "abcdef efghijkl 9"},
		{"%s %s %d", []uint32{8, 12, 4}, []any{"abcd", "efghijk12", 9}, "abcd efghijk12 9"},
		{"%s|%s", []uint32{8, 8}, []any{"abcd", "efgh"}, "abcd|efgh"},
		{"%s|%d", []uint32{4, 4}, []any{"", int(sentinel)}, "|-173685783"}, // an argument that looks unwritten
		{"%*d|%s", []uint32{4, 4, 8}, []any{5, 6, "wxyz"}, "    6|wxyz"},
		{"%c %p %s", []uint32{4, 8, 4}, []any{int('q'), int64(0x1000), "???"}, "q 0x1000 ???"},
		// char2 is widened to two words, char4 and half4 stay packed.
		{"%v2hhd", []uint32{8}, []any{le32(0xffffffff, 0x17f)}, "-1,127"},
		{"%v4hhx", []uint32{4}, []any{[]byte{1, 2, 254, 255}}, "1,2,fe,ff"},
		{"%v3hu", []uint32{8}, []any{[]byte{1, 0, 2, 0, 255, 255, 9, 9}}, "1,2,65535"},
		{"%v4hg", []uint32{8}, []any{[]byte{0, 0x3c, 0, 0xc0, 1, 0, 0, 0x7c}}, "1,-2,5.96046e-08,inf"},
		{"%v2lld %v2lf", []uint32{16, 16}, []any{int64(-1), int64(1 << 40), 0.5, -0.25}, "-1,1099511627776 0.500000,-0.250000"},
		{"%+5v2d", []uint32{8}, []any{le32(1, 0xffffffff)}, "   +1,   -1"},
	} {
		f := newFIFO(t, 4096)
		of := OpenCLFormat{Format: []byte(c.format), Sizes: c.sizes}
		f.openCL(3, of, c.parts...)
		f.openCL(4, OpenCLFormat{})
		var s sink
		err := f.DecodeOpenCL(map[uint32]OpenCLFormat{3: of, 4: {Format: []byte("<end>")}}, s.emit)
		if err != nil || s.out.String() != c.want+"<end>" {
			t.Errorf("case %d %q %v: got %q, %v, want %q", i, c.format, c.parts, s.out.String(), err, c.want)
		}
	}
}

func TestDecodeOpenCLMistakes(t *testing.T) {
	formats := map[uint32]OpenCLFormat{
		1: {Format: []byte("%d\n"), Sizes: []uint32{4}},
		2: {Format: []byte("%v3d|%d\n"), Sizes: []uint32{20, 4}},
		3: {Format: []byte("%d"), Sizes: []uint32{math.MaxUint32, math.MaxUint32}},
		4: {Format: []byte(strings.Repeat("%s", 500)), Sizes: make([]uint32, 500)},
	}
	for _, c := range []struct {
		ids  []uint32
		out  string
		want error
	}{
		{[]uint32{1, 5, 1}, "7\n", ErrMessage}, // nothing after an unknown id can be trusted
		{[]uint32{1, 2, 1}, "7\n7\n", ErrArguments},
		{[]uint32{3}, "", ErrMessage},
		{[]uint32{4, 1}, "7\n", nil},
	} {
		f := newFIFO(t, 4096)
		for _, id := range c.ids {
			parts := make([]any, 0)
			for range formats[id].Sizes {
				parts = append(parts, 7)
			}
			if id == 3 {
				copy(f.alloc(12), []byte{3})
				continue
			}
			f.openCL(id, formats[id], parts[:min(len(parts), 2)]...)
		}
		var s sink
		err := f.DecodeOpenCL(formats, s.emit)
		if !errors.Is(err, c.want) || s.out.String() != c.out {
			t.Errorf("%v: %q, %v; want %q, %v", c.ids, s.out.String(), err, c.out, c.want)
		}
	}
	for _, size := range []int{0, 8, 15} {
		if _, err := NewFIFO(make([]byte, size)); !errors.Is(err, ErrMessage) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestHalfToFloat(t *testing.T) {
	for h, want := range map[uint16]string{0: "0", 0x8000: "-0", 0x3c00: "1", 0xbc01: "-1.0009765625", 0x7bff: "65504", 1: "5.960464477539063e-08",
		0x83ff: "-6.097555160522461e-05", 0x0400: "6.103515625e-05", 0x7c00: "+Inf", 0xfc00: "-Inf", 0x7e00: "NaN"} {
		if got := fmt.Sprint(halfToFloat(h)); got != want {
			t.Errorf("%#04x: %s, want %s", h, got, want)
		}
	}
}
