package printf

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// message builds what the device libraries send: uint64 words, doubles, and
// strings padded to 8.
func message(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch v := p.(type) {
		case int:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case uint32:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case string:
			b = append(append(b, v...), 0)
			for len(b)%8 != 0 {
				b = append(b, 0)
			}
		}
	}
	return b
}

func TestMessage(t *testing.T) {
	for _, c := range []struct {
		msg    []byte
		out    string
		stream Stream
		n      int
		err    error
	}{
		{message(0, "hello\n"), "hello\n", Stdout, 6, nil},
		{message(1, "%s:%u: %s: Device-side assertion `%s' failed.\n", "a.hip", uint32(12), "void k()", "x > 0"),
			"a.hip:12: void k(): Device-side assertion `x > 0' failed.\n", Stderr, 58, nil},
		// -1 as int arrives zero-extended.
		{message(0, "%d %u %hd %hhx %ld|%5s|%.2s|%g", uint32(0xffffffff), uint32(0xffffffff), uint32(0xffff8000), uint32(0x1ff), -7, "ab", "12345678", 0.5),
			"-1 4294967295 -32768 ff -7|   ab|12|0.5", Stdout, 39, nil},
		{message(0, "exactly8", 1, 2), "exactly8", Stdout, 8, nil},
		{message(0, "[%s] [%s] %d", "", "seven77", uint32(3)), "[] [seven77] 3", Stdout, 14, nil},
		{message(0, "%-*d|%.*f", uint32(4), uint32(1), uint32(1), 2.25), "1   |2.2", Stdout, 8, nil},
		{message(0, "gone %d"), "gone ", Stdout, 5, ErrArguments},
		{message(2, "x"), "", Stdout, 0, ErrMessage},
		{message(1<<40, "x"), "", Stdout, 0, ErrMessage},
		{message(0, "%s")[:16], "", Stdout, 0, ErrArguments},
		{[]byte{0, 0, 0}, "", Stdout, 0, ErrMessage},
		{message(0), "", Stdout, 0, ErrMessage},
		{append(message(0), "no terminator at all"...), "", Stdout, 0, ErrMessage},
		// A device pointer where an inline string should be: bounded by the message.
		{append(message(0, "%s"), 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x01), "", Stdout, 0, ErrArguments},
	} {
		out, stream, n, err := Message(nil, c.msg)
		if string(out) != c.out || stream != c.stream || n != c.n || !errors.Is(err, c.err) {
			t.Errorf("%q: %q, %d, %d, %v; want %q, %d, %d, %v", c.msg, out, stream, n, err, c.out, c.stream, c.n, c.err)
		}
	}
}

func BenchmarkMessage(b *testing.B) {
	msg := message(0, "thread %d of %u: %s = %g\n", uint32(7), uint32(64), "residual", 0.125)
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if out, _, _, err = Message(out[:0], msg); err != nil {
			b.Fatal(err)
		}
	}
}
