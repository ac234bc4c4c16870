package fuzz

import (
	"encoding/binary"
	"errors"
	"testing"

	"gfxrt/services/printf"
)

// FuzzPrintfFormat walks arbitrary hostcall printf messages: bounded output,
// and errors that name their class.
func FuzzPrintfFormat(f *testing.F) {
	add := func(format string, args ...byte) {
		f.Add(append(append([]byte(format), make([]byte, 8-len(format)%8)...), args...))
	}
	add("%d %s\n", 1, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 0)
	add("%-+#0 '*.*lld%%", 5, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9)
	add("%.99999f%1048577d", 0, 0, 0, 0, 0, 0, 0xf8, 0x3f)
	add("%a%G%e", 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	add("%n%p%c%5%%v4hlf")
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, control := range []byte{0, 1, 2} {
			msg := append(make([]byte, 8, 8+len(data)), data...)
			msg[0] = control
			out, stream, n, err := printf.Message([]byte("x"), msg)
			if n != len(out)-1 || n > printf.MaxOutput || out[0] != 'x' {
				t.Fatalf("%d bytes reported, %d appended", n, len(out)-1)
			}
			if err != nil && !errors.Is(err, printf.ErrFormat) && !errors.Is(err, printf.ErrArguments) &&
				!errors.Is(err, printf.ErrLimit) && !errors.Is(err, printf.ErrMessage) {
				t.Fatalf("unclassified error %v", err)
			}
			if control == 2 && !errors.Is(err, printf.ErrMessage) || control < 2 && err == nil && byte(stream) != control {
				t.Fatalf("control %d: stream %d, %v", control, stream, err)
			}
		}
	})
}

// FuzzPrintfFIFO decodes a printf buffer that a device has filled with
// arbitrary bytes, both as HIP and as OpenCL records.
func FuzzPrintfFIFO(f *testing.F) {
	hip := func(flags byte, body string) []byte {
		b := binary.LittleEndian.AppendUint32(nil, uint32(4+len(body))<<2|uint32(flags))
		return append(b, body...)
	}
	f.Add(uint32(1<<31), "%d", uint32(4), uint32(8), hip(0, "x%d\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add(uint32(28), "%s %v4hhd", uint32(8), uint32(4), append([]byte{1, 0, 0, 0}, "abcd\x01\x02\x03\x04\xe9\xc3\xa5\xf5"...))
	f.Add(uint32(12), "const", uint32(0), uint32(0), hip(2, "\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, used uint32, format string, size1, size2 uint32, records []byte) {
		mem := make([]byte, 8+max(8, min(len(records), 1<<12)))
		fifo, err := printf.NewFIFO(mem)
		if err != nil {
			t.Fatal(err)
		}
		copy(mem[8:], records)
		binary.LittleEndian.PutUint32(mem, used)
		total := 0
		// How much a decode prints in all has a test of its own; here it would
		// only make runs slow.
		enough := errors.New("enough")
		emit := func(_ printf.Stream, text []byte) error {
			if len(text) == 0 || len(text) > printf.MaxOutput {
				t.Fatalf("emitted %d bytes", len(text))
			}
			if total += len(text); total > 2<<20 {
				return enough
			}
			return nil
		}
		_ = fifo.DecodeHIP(map[uint64][]byte{1: []byte(format)}, emit)
		total = 0
		_ = fifo.DecodeOpenCL(map[uint32]printf.OpenCLFormat{1: {Format: []byte(format), Sizes: []uint32{size1, size2}}}, emit)
		fifo.Reset()
		if err := fifo.DecodeHIP(nil, emit); err != nil {
			t.Fatalf("after Reset: %v", err)
		}
	})
}
