package fuzz

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"gfxrt/services/heap"
)

// FuzzHeapHeader lets a device overwrite the structures of a heap at will: what
// the host reads out of them stays within the memory it gave, and every problem
// has a class.
func FuzzHeapHeader(f *testing.F) {
	const (
		slab0, slab1 = 0x40000000, 0x40200000 // the initial slab, and one of the host's
		table, large = 0x50000000, 0x50010000
		head         = 20 << 10 // of a slab: header and bitmap
		tableSize    = 6144
	)
	le := binary.LittleEndian
	at := func(off uint32, b ...byte) []byte {
		return append([]byte{byte(off), byte(off >> 8), byte(off >> 16), byte(len(b))}, b...)
	}
	word := func(off uint32, v uint64) []byte { return at(off, le.AppendUint64(nil, v)...) }
	join := func(ops ...[]byte) (all []byte) {
		for _, o := range ops {
			all = append(all, o...)
		}
		return all
	}
	// One slab of kind 4 in the newest layout, and in the oldest.
	f.Add(join(word(0x800+4*128, 1), word(0x1000+4*128, 256), word(0x2800+4*6144+8, slab0), word(0x2800+4*6144+16, 1), at(heap.HeaderSize, 4), at(heap.HeaderSize+16, 1)))
	f.Add(join(word(0x200+4*32, 1), word(0x400+4*32, 256), word(0xa00+4*6144+8, slab1), word(0xa00+4*6144+16, 1), at(heap.HeaderSize+head, 4), at(heap.HeaderSize+head+16, 1)))
	f.Add(join(word(0x800, 257), word(0x1000, 512), word(0x2800, table), word(0x2800+8, slab0), at(heap.HeaderSize+2*head+8, 0, 0, 0x20, 0x40)))
	f.Add(join(word(0x800, 1<<32-1), word(0x1000, 1<<32-1)))
	f.Fuzz(func(t *testing.T, ops []byte) {
		mem := make([]byte, heap.HeaderSize+2*head+tableSize)
		if err := heap.Init(mem[:heap.HeaderSize], slab0, 1); err != nil {
			t.Fatal(err)
		}
		for len(ops) >= 4 {
			off, n := int(ops[0])|int(ops[1])<<8|int(ops[2])<<16, int(ops[3])
			ops = ops[4:]
			n = min(n, len(ops))
			copy(mem[off%len(mem):], ops[:n])
			ops = ops[n:]
		}
		reads := 0
		m := heap.Memory{
			Header: mem[:heap.HeaderSize], First: slab0, Slabs: 1,
			Blocks: map[uint64]uint64{slab1: heap.SlabSize, table: tableSize, large: 5000},
			Read: func(dst []byte, addr uint64) error {
				reads++
				for base, b := range map[uint64][]byte{slab0: mem[heap.HeaderSize : heap.HeaderSize+head], slab1: mem[heap.HeaderSize+head : heap.HeaderSize+2*head], table: mem[heap.HeaderSize+2*head:]} {
					if addr == base && len(dst) <= len(b) {
						copy(dst, b)
						return nil
					}
				}
				return fmt.Errorf("%d bytes at %#x: not given", len(dst), addr)
			},
		}
		s, err := heap.Read(&m)
		if err != nil {
			t.Fatal(err)
		}
		if reads > 3*len(heap.Layouts) {
			t.Fatalf("%d reads of device memory", reads)
		}
		slabs := 0
		for _, c := range s.Classes {
			slabs += c.Slabs
			if c.Used < 0 || c.Used > c.Capacity || len(c.Addresses) > c.Used || c.Slabs < 0 {
				t.Fatalf("class %+v", c)
			}
			for _, a := range c.Addresses {
				if base := a &^ (heap.SlabSize - 1); base != slab0 && base != slab1 {
					t.Fatalf("a block at %#x", a)
				}
			}
		}
		if slabs > 2 || s.Live > 2*heap.SlabSize+5000+heap.SlabSize+tableSize || len(s.Problems) > 16 {
			t.Fatalf("%d slabs, %d bytes live, %d problems", slabs, s.Live, len(s.Problems))
		}
		for _, p := range s.Problems {
			if !errors.Is(p, heap.ErrCorrupt) && !errors.Is(p, heap.ErrDoubleFree) && !errors.Is(p, heap.ErrForeignFree) {
				t.Fatalf("problem without a class: %v", p)
			}
		}
	})
}
