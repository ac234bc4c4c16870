package propertytests

import (
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"testing"

	"gfxrt/runtime"
	"gfxrt/runtime/device"
)

// TestAssert: an assertion's text is on stderr before anybody hears of the
// fault, which names kernel, work-group and instruction; its stream then
// refuses work and says why, and other streams go on.
func TestAssert(t *testing.T) {
	for _, target := range serviceTargets {
		t.Run(target, func(t *testing.T) {
			r := newRig(t, target)
			k := r.kernel("assert_fail", "assert_fail")
			in, out := r.words(128), r.words(128)
			v := make([]byte, 4)
			binary.LittleEndian.PutUint32(v, 100)
			const lane = 70 // of the second work-group, its lane 6
			if err := in.Write(4*lane, v); err != nil {
				t.Fatal(err)
			}
			s, other := r.stream(), r.stream()
			err := r.launch(s, k, 2, 64, runtime.Ptr(in), runtime.Ptr(out), runtime.U32(128))
			var f *runtime.Fault
			if !errors.As(err, &f) || f.Kind != device.FaultTrap || f.Kernel != "assert_fail" || f.Group != [3]uint32{1, 0, 0} || f.PC == 0 || f.Symbol == "" {
				t.Fatalf("launch: %v (%+v)", err, f)
			}
			line := r.errs.String()
			if !strings.Contains(line, "assertion `in[i] < 100' failed.\n") || strings.Count(line, "\n") != 1 {
				t.Errorf("stderr %q", line)
			}
			again := r.launch(s, k, 1, 64, runtime.Ptr(in), runtime.Ptr(out), runtime.U32(64))
			if !errors.Is(again, runtime.ErrFault) || !strings.Contains(again.Error(), "unusable") || !strings.Contains(again.Error(), "trap in kernel assert_fail") {
				t.Errorf("second launch: %v", again)
			}
			if err := r.launch(other, k, 1, 64, runtime.Ptr(in), runtime.Ptr(out), runtime.U32(64)); err != nil {
				t.Errorf("another stream: %v", err)
			}
			if w := r.read(out); w[0] != 1|1<<32 {
				t.Errorf("another stream's result %#x", w[0])
			}
		})
	}
}

// TestTrap: abort ends the dispatch with a typed error, on every object.
func TestTrap(t *testing.T) {
	r := newRig(t, "gfx90a")
	s := r.stream()
	k := r.kernel("abort_trap", "abort_trap")
	in := r.words(32)
	if err := in.Write(4*5, []byte{13}); err != nil { // what the kernel aborts at
		t.Fatal(err)
	}
	err := r.launch(s, k, 1, 64, runtime.Ptr(in), runtime.Ptr(r.words(32)), runtime.U32(64))
	var f *runtime.Fault
	if !errors.As(err, &f) || f.Kind != device.FaultTrap || f.Kernel != "abort_trap" {
		t.Errorf("launch: %v", err)
	}
}

// TestGlobalsWhileKernelsRun: look-ups and reads of variables from many
// goroutines while launches change them, and an ordered read after each.
func TestGlobalsWhileKernelsRun(t *testing.T) {
	r := newRig(t, "gfx90a")
	k := r.kernel("globals", "globals")
	m := k.Module()
	s, o := r.stream(), r.words(100)
	total, err := m.Global("m_total")
	if err != nil || !total.Managed() {
		t.Fatalf("m_total: %v", err)
	}
	if err := total.Write(0, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			last := uint32(0)
			for {
				select {
				case <-stop:
					return
				default:
				}
				g, err := m.Global("m_total")
				if err == nil && g.Addr() != total.Addr() {
					err = errors.New("the variable moved")
				}
				var v [4]byte
				if err == nil {
					err = g.Read(0, v[:])
				}
				if n := binary.LittleEndian.Uint32(v[:]); err == nil && n < last {
					err = errors.New("the sum went down")
				} else {
					last = n
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range uint32(30) {
		if _, err := s.Launch(t.Context(), k, runtime.LaunchConfig{Grid: runtime.Dim3{X: 2}, Block: runtime.Dim3{X: 64}}, runtime.Ptr(o), runtime.U32(100)); err != nil {
			t.Fatal(err)
		}
		var v [4]byte
		if err := s.Read(t.Context(), total, 0, v[:]); err != nil || binary.LittleEndian.Uint32(v[:]) != (i+1)*4950 {
			t.Errorf("after launch %d: %d, %v; want %d", i, binary.LittleEndian.Uint32(v[:]), err, (i+1)*4950)
		}
	}
	close(stop)
	wg.Wait()
}

// TestNoDoorbell: a request whose ring goes missing is served all the same.
func TestNoDoorbell(t *testing.T) {
	r := newRig(t, "gfx90a")
	out := r.words(4)
	r.run("hostile", "hostile", 1, 1, runtime.Ptr(out), runtime.U32(14), runtime.U64(0)) // it never rings
	if w := r.read(out); w[0] != 114 || w[1] != 1 {
		t.Errorf("the kernel left %v; it was not answered", w)
	}
}

// TestObjectsWithoutHeap: a service starts when a kernel asks for it, not before.
func TestObjectsWithoutHeap(t *testing.T) {
	r := newRig(t, "gfx90a")
	r.kernel("vecadd", "vecadd")
	if _, err := r.rt.HeapStats(); !errors.Is(err, runtime.ErrNotFound) {
		t.Errorf("statistics of no heap: %v", err)
	}
	if _, _, err := r.rt.HeapHeader(); !errors.Is(err, runtime.ErrNotFound) {
		t.Errorf("header of no heap: %v", err)
	}
	r.kernel("heap", "heap_kinds")
	h := r.heap()
	if h.Layout != nil || h.Live != 0 || h.Reserved != 8<<20 || h.UnusedSlabs != 4 || len(h.Problems) != 0 {
		t.Errorf("a fresh heap: %+v", h)
	}
}
