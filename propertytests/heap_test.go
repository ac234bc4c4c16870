package propertytests

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"gfxrt/runtime"
	"gfxrt/services/heap"
)

// TestHeapKinds: every block size of malloc appears in the statistics as one
// block of it, at its address, and is gone after free.
func TestHeapKinds(t *testing.T) {
	for _, target := range serviceTargets {
		t.Run(target, func(t *testing.T) {
			r := newRig(t, target)
			p := r.words(17)
			r.run("heap", "heap_kinds", 1, 1, runtime.Ptr(p), runtime.U32(1))
			ptrs, h := r.read(p), r.heap()
			if h.Layout == nil || h.Layout.Size != 100872 || len(h.Problems) != 0 {
				t.Fatalf("layout %+v, problems %v", h.Layout, h.Problems)
			}
			live := uint64(5000)
			for k, c := range h.Classes {
				size := 16 << (k / 2)
				if k%2 == 1 {
					size += 8 << (k / 2)
				}
				live += uint64(size)
				if c.BlockSize != size || c.Slabs != 1 || c.Used != 1 || !slices.Equal(c.Addresses, ptrs[k:k+1]) {
					t.Errorf("%d bytes: %+v, malloc returned %#x", size, c, ptrs[k])
				}
			}
			if h.Large[ptrs[16]] != 5000 || len(h.Large) != 1 || h.Live != live {
				t.Errorf("large blocks %v at %#x, %d bytes live, want %d", h.Large, ptrs[16], h.Live, live)
			}
			// 16 slabs from the host, as this library knows no initial ones.
			if want := uint64(16*2<<20+5000) + 8<<20; h.Reserved != want || h.Peak != want {
				t.Errorf("%d bytes reserved, peak %d, want %d", h.Reserved, h.Peak, want)
			}
			r.run("heap", "heap_kinds", 1, 1, runtime.Ptr(p), runtime.U32(0))
			again := r.heap()
			if again.Live != live || len(again.Problems) != 0 {
				t.Errorf("%d bytes live after malloc and free of each, want %d; %v", again.Live, live, again.Problems)
			}
			if len(r.diagnostics()) != 0 {
				t.Errorf("diagnostics %v", r.diagnostics())
			}
		})
	}
}

// headerFields are the words of 4 bytes that a column of the device library's
// structure (ockl dm.cl: heap_s) consists of, padding left out.
func headerFields(l *heap.Layout) map[int]bool {
	words := map[int]bool{}
	add := func(off uint32, n int) {
		for i := range n {
			words[int(off)/4+i] = true
		}
	}
	for k := range uint32(16) {
		for _, array := range []uint32{l.Start, l.Allocated, l.Recordable} {
			add(array+k*l.Stride, 1)
		}
		add(l.SlabTime+k*l.Stride, 2)
		add(l.GrowTime+k*l.Stride, 2)
		for i := range uint32(256) {
			add(l.Tables+(k*256+i)*24, 5)
		}
	}
	add(l.Large, 2)
	return words
}

// TestHeapLayout52 holds the table to Debian's library: its malloc and free
// change the header where the 5.2 column has a field, and nowhere else. What
// is not a field holds noise, which every store would destroy.
func TestHeapLayout52(t *testing.T) {
	for _, target := range serviceTargets {
		t.Run(target, func(t *testing.T) {
			r := newRig(t, target, runtime.WithHeap(0, 1<<30))
			k := r.kernel("heap", "heap_kinds")
			addr, header, err := r.rt.HeapHeader()
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(header, func(b byte) bool { return b != 0 }) {
				t.Fatal("the header of a heap without initial slabs is not zero")
			}
			l := &heap.Layouts[0]
			fields := headerFields(l)
			noise := func(w int) uint32 { return uint32(w)*0x9e3779b9 | 1 }
			for w := range len(header) / 4 {
				if !fields[w] {
					binary.LittleEndian.PutUint32(header[4*w:], noise(w))
				}
			}
			if err := r.dev.Write(addr, header); err != nil {
				t.Fatal(err)
			}
			p := r.words(17)
			if err := r.launch(r.stream(), k, 1, 1, runtime.Ptr(p), runtime.U32(1)); err != nil {
				t.Fatal(err)
			}
			if slices.Contains(r.read(p), 0) {
				t.Fatalf("malloc returned null: %#x", r.read(p))
			}
			_, header, err = r.rt.HeapHeader()
			if err != nil {
				t.Fatal(err)
			}
			changed := map[int]bool{}
			for w := range len(header) / 4 {
				v := binary.LittleEndian.Uint32(header[4*w:])
				switch {
				case !fields[w] && v != noise(w):
					t.Errorf("offset %#x is no field, and was written", 4*w)
				case fields[w] && v != 0:
					changed[w] = true
				}
			}
			// One slab of each kind, no second table, one large block.
			for k := range uint32(16) {
				for name, w := range map[string]uint32{
					"num_allocated_slabs": l.Allocated + k*l.Stride, "num_recordable_slabs": l.Recordable + k*l.Stride, "salloc_time": l.SlabTime + k*l.Stride,
					"slab address": l.Tables + k*256*24 + 8, "used blocks": l.Tables + k*256*24 + 16,
				} {
					if !changed[int(w)/4] {
						t.Errorf("kind %d: %s at %#x was not written", k, name, w)
					}
					delete(changed, int(w)/4)
					delete(changed, int(w)/4+1) // the high half of what is 8 bytes
				}
			}
			delete(changed, int(l.Large)/4)
			for w := range changed {
				t.Errorf("offset %#x was written without need", 4*w)
			}
		})
	}
}

// TestHeapFill: a heap that is filled and freed ends where it started.
func TestHeapFill(t *testing.T) {
	rounds, total := 3, 8<<20
	if os.Getenv("GFXRT_LONG") != "" {
		rounds, total = 100, 64<<20
	}
	fill(t, newRig(t, "gfx90a"), rounds, total, 16)
}

// fill fills a heap with total bytes in blocks of 3072, frees them, and so on.
func fill(t *testing.T, r *rig, rounds, total int, groups uint32) {
	const size = 3072
	each := uint32(total/size) / groups
	blocks := int(each * groups)
	table, bad := r.words(blocks), r.words(1)
	s := r.stream()
	var reserved uint64
	for round := range rounds {
		err := errors.Join(
			r.launch(s, r.kernel("heap", "heap_fill"), groups, 64, runtime.Ptr(table), runtime.U32(each), runtime.U32(size)))
		if err != nil {
			t.Fatal(err)
		}
		h := r.heap()
		if c := h.Classes[15]; c.Used != blocks || h.Live != uint64(blocks*size) || len(h.Problems) != 0 {
			t.Fatalf("round %d: %d blocks, %d bytes live, want %d blocks; %v", round, c.Used, h.Live, blocks, h.Problems)
		}
		if err := r.launch(s, r.kernel("heap", "heap_drain"), groups, 64, runtime.Ptr(table), runtime.U32(each), runtime.U32(size), runtime.Ptr(bad)); err != nil {
			t.Fatal(err)
		}
		h = r.heap()
		if h.Live != 0 || len(h.Problems) != 0 {
			t.Fatalf("round %d: %d bytes live after free; %v", round, h.Live, h.Problems)
		}
		if round == 0 {
			reserved = h.Reserved
		} else if h.Reserved > reserved+reserved/4 {
			// Slabs are searched from a place that moves, so that a round may
			// take a few more of them than the first.
			t.Fatalf("round %d: %d bytes reserved, %d after the first", round, h.Reserved, reserved)
		}
	}
	if n := r.read(bad)[0]; n != 0 {
		t.Errorf("%d blocks were null or overwritten", n)
	}
	t.Logf("%d rounds of %d blocks, %d bytes reserved (%d after the first)", rounds, blocks, r.heap().Reserved, reserved)
}

// TestHeapLanes: thousands of lanes at once get blocks that are theirs alone.
func TestHeapLanes(t *testing.T) {
	for _, target := range serviceTargets {
		t.Run(target, func(t *testing.T) {
			r := newRig(t, target)
			bad := r.words(1)
			r.run("heap", "heap_lanes", 16, 256, runtime.Ptr(bad), runtime.U32(4000), runtime.U32(2), runtime.U32(4000))
			if n := r.read(bad)[0]; n != 0 {
				t.Errorf("%d null blocks, %d overwritten", n&0xffff, n>>16)
			}
			if h := r.heap(); h.Live != 0 || len(h.Problems) != 0 {
				t.Errorf("%d bytes live; %v", h.Live, h.Problems)
			}
			if d := r.diagnostics(); len(d) != 0 {
				t.Errorf("diagnostics %v", d)
			}
		})
	}
}

// TestHeapShared: modules and streams of a device have one heap.
func TestHeapShared(t *testing.T) {
	r := newRig(t, "gfx90a")
	want, err := os.ReadFile("../kernels/cases/devmalloc/o.exp")
	if err != nil {
		t.Fatal(err)
	}
	one, two := r.kernel("devmalloc", "devmalloc"), r.kernel("heap", "heap_lanes")
	bad := r.words(1)
	var wg sync.WaitGroup
	for range 3 {
		s, o := r.stream(), r.words(len(want)/8)
		wg.Go(func() {
			for range 5 {
				if err := errors.Join(r.launch(s, one, 2, 64, runtime.Ptr(o), runtime.U32(70)),
					r.launch(s, two, 2, 64, runtime.Ptr(bad), runtime.U32(128), runtime.U32(1), runtime.U32(3000))); err != nil {
					t.Error(err)
					return
				}
			}
			got := make([]byte, len(want))
			if err := o.Read(0, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v, devmalloc left % x", err, got)
			}
		})
	}
	wg.Wait()
	if h := r.heap(); h.Live != 0 || len(h.Problems) != 0 || r.read(bad)[0] != 0 {
		t.Errorf("%d bytes live, problems %v, %#x bad", h.Live, h.Problems, r.read(bad)[0])
	}
}

// TestHeapLimit: malloc returns null at the limit, the host says why once for
// each refusal, and memory within the limit is all there.
func TestHeapLimit(t *testing.T) {
	for _, c := range []struct {
		name        string
		size, limit uint64
		want        uint64
	}{
		{"large blocks", 1 << 20, 8<<20 + 5<<20, 5},
		{"slabs", 3072, 8<<20 + 6<<20, 3 * 435}, // malloc leaves a slab alone from 435 blocks on; this library ignores the 8 MiB
		{"nothing", 16, 8 << 20, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, "gfx90a", runtime.WithHeap(8<<20, c.limit))
			out := r.words(2)
			r.run("heap", "heap_exhaust", 1, 1, runtime.Ptr(out), runtime.U32(10000), runtime.U64(c.size))
			if w := r.read(out); w[0] != c.want || w[1] != 0 {
				t.Errorf("%d blocks, then %#x; want %d and null", w[0], w[1], c.want)
			}
			d := r.diagnostics()
			if len(d) == 0 || !errors.Is(d[0], runtime.ErrHeapLimit) {
				t.Errorf("diagnostics %v", d)
			}
			if h := r.heap(); h.Reserved > c.limit || h.Peak > c.limit {
				t.Errorf("%d bytes reserved, peak %d, limit %d", h.Reserved, h.Peak, c.limit)
			}
		})
	}
}

// TestHeapMisuse: each wrong use of free is reported by name, at once or when
// the runtime closes.
func TestHeapMisuse(t *testing.T) {
	for _, c := range []struct {
		name string
		mode uint32
		ptr  func(r *rig) uint64
		want error
		text string
	}{
		{"small block twice", 0, nil, runtime.ErrDoubleFree, "of 128-byte blocks: 1 frees of blocks that were free"},
		{"large block twice", 1, nil, runtime.ErrDoubleFree, "was freed before"},
		{"a buffer of the host", 2, func(r *rig) uint64 { return r.words(8192).Addr() }, runtime.ErrForeignFree, "no block at"},
		{"inside a large block", 3, nil, runtime.ErrForeignFree, "is byte 4096 of the block of 10000 bytes"},
		{"never given out", 5, nil, runtime.ErrDoubleFree, "1 frees of blocks that were free"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, "gfx90a")
			var ptr uint64
			if c.ptr != nil {
				ptr = c.ptr(r)
			}
			r.run("heap", "heap_misuse", 1, 1, runtime.Ptr(r.words(1)), runtime.U32(c.mode), runtime.U64(ptr))
			r.close()
			for _, err := range r.diagnostics() {
				if errors.Is(err, c.want) && strings.Contains(err.Error(), c.text) {
					return
				}
			}
			t.Errorf("diagnostics %v", r.diagnostics())
		})
	}
}

func TestHeapLeakReport(t *testing.T) {
	r := newRig(t, "gfx90a", runtime.WithHeapLeakReport())
	r.run("heap", "heap_misuse", 1, 1, runtime.Ptr(r.words(1)), runtime.U32(4), runtime.U64(0))
	small, large := r.heap().Classes[1].Addresses, r.heap().LargeAddresses()
	r.close()
	want := "gfxrt: device heap: 2 blocks, 40024 bytes, were not freed:\n"
	got := r.errs.String()
	if !strings.HasPrefix(got, want) || len(small) != 1 || len(large) != 1 || strings.Count(got, "\n") != 3 {
		t.Errorf("report %q, want it to begin with %q", got, want)
	}
	r = newRig(t, "gfx90a", runtime.WithHeapLeakReport())
	r.run("heap", "heap_kinds", 1, 1, runtime.Ptr(r.words(17)), runtime.U32(0))
	r.close()
	if r.errs.String() != "" || len(r.diagnostics()) != 0 {
		t.Errorf("a kernel that frees all: %q, %v", r.errs.String(), r.diagnostics())
	}
}
