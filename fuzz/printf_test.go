package fuzz

import (
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
