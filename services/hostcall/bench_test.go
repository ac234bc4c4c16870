package hostcall

import (
	"io"
	"testing"
)

// BenchmarkDrain answers one packet of 64 lanes that print one number each.
func BenchmarkDrain(b *testing.B) {
	c, g := newBuffer(b, 4)
	s := &Server{Stdout: io.Discard}
	var args [64][8]uint64
	for lane := range args {
		args[lane] = [8]uint64{descBegin | descEnd | 3<<5, 0, '%' | 'd'<<8 | '\n'<<16, uint64(lane)}
	}
	b.ReportAllocs()
	for b.Loop() {
		e := g.post(2, ^uint64(0), &args)
		if n, err := c.Service(s); n != 1 || err != nil {
			b.Fatal(n, err)
		}
		g.finish(e, 1)
	}
}
