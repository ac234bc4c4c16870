package heap

import "testing"

// BenchmarkRead reads a heap of four slabs, as closing a runtime does.
func BenchmarkRead(b *testing.B) {
	md := newModel(16)
	for _, k := range []int{0, 5, 9, 15} {
		md.slab(k, md.give(SlabSize, SlabSize, slabHead), []int{1, 2, 3})
	}
	b.ReportAllocs()
	for b.Loop() {
		if s, err := Read(&md.m); err != nil || s.slabs() != 4 {
			b.Fatal(s, err)
		}
	}
}
