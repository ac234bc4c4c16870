package propertytests

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	gort "runtime"

	"gfxrt/runtime"
	"gfxrt/services/hostcall"
)

// TestEveryLanePrints: what 10,000 lanes print at once is all there, each line
// once, none torn. With GFXRT_LONG there are more lanes than the largest device
// holds at once.
func TestEveryLanePrints(t *testing.T) {
	n := 10000
	if os.Getenv("GFXRT_LONG") != "" {
		n = 700_000
	}
	want := make([]string, n)
	for i := range want {
		want[i] = fmt.Sprintf("line %d of %d", i, n)
	}
	slices.Sort(want)
	for _, target := range serviceTargets {
		t.Run(target, func(t *testing.T) {
			r := newRig(t, target)
			r.run("hostcall", "hostcall_print", uint32(n+255)/256, 256, runtime.U32(uint32(n)))
			got := strings.Split(strings.TrimSuffix(r.out.String(), "\n"), "\n")
			slices.Sort(got)
			if !slices.Equal(got, want) {
				missing, extra := 0, 0
				for _, w := range want {
					if _, ok := slices.BinarySearch(got, w); !ok {
						missing++
					}
				}
				for _, g := range got {
					if _, ok := slices.BinarySearch(want, g); !ok {
						extra++
					}
				}
				t.Errorf("%d lines, want %d; %d missing, %d that nobody printed", len(got), n, missing, extra)
			}
			if r.errs.String() != "" || len(r.diagnostics()) != 0 {
				t.Errorf("stderr %q, diagnostics %v", r.errs.String(), r.diagnostics())
			}
		})
	}
}

// TestKernelCallsGo: every lane gets what a Go function made of its words, and
// the function sees memory of the kernel.
func TestKernelCallsGo(t *testing.T) {
	const n = 200
	for _, target := range serviceTargets {
		t.Run(target, func(t *testing.T) {
			r := newRig(t, target)
			out := r.words(2 * n)
			var calls atomic.Int32
			const id = 0x7f00deadbeef // an address, as HIP programs pass
			err := r.rt.RegisterHostcall(id, func(in *[7]uint64) ([2]uint64, error) {
				calls.Add(1)
				for i, w := range in[:6] {
					if w != in[0]+uint64(i) {
						return [2]uint64{}, fmt.Errorf("word %d is %d", i, w)
					}
				}
				if in[6] != out.Addr() {
					return [2]uint64{}, fmt.Errorf("word 6 is %#x, want %#x", in[6], out.Addr())
				}
				if in[0] == 77 {
					return [2]uint64{}, errors.New("not this one")
				}
				return [2]uint64{in[0] * in[0], ^in[0]}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.rt.RegisterHostcall(id, func(*[7]uint64) (o [2]uint64, err error) { return }); !errors.Is(err, runtime.ErrBusy) {
				t.Errorf("second registration: %v", err)
			}
			r.run("hostcall", "hostcall_call", (n+63)/64, 64, runtime.Ptr(out), runtime.U64(id), runtime.U32(n))
			w := r.read(out)
			for i := range uint64(n) {
				want := [2]uint64{i * i, ^i}
				if i == 77 {
					want = [2]uint64{^uint64(0), 0}
				}
				if got := [2]uint64(w[2*i:]); got != want {
					t.Errorf("lane %d: %#x, want %#x", i, got, want)
				}
			}
			d := r.diagnostics()
			if calls.Load() != n || len(d) != 1 || !strings.Contains(d[0].Error(), "not this one") {
				t.Errorf("%d calls, diagnostics %v", calls.Load(), d)
			}
			if err := r.rt.RegisterHostcall(id, nil); err != nil {
				t.Error(err)
			}
			if err := r.rt.RegisterHostcall(id, nil); !errors.Is(err, runtime.ErrNotFound) {
				t.Errorf("second removal: %v", err)
			}
			r.run("hostcall", "hostcall_call", 1, 1, runtime.Ptr(out), runtime.U64(id), runtime.U32(1))
			if d := r.diagnostics(); r.read(out)[0] != ^uint64(0) || !errors.Is(d[len(d)-1], hostcall.ErrRequest) {
				t.Errorf("after removal: %#x, %v", r.read(out)[0], d[1:])
			}
		})
	}
}

// TestCallbackThatWaits: a function that a kernel waits for may use memory and
// launch, and whatever would wait for that kernel is refused, not hung.
func TestCallbackThatWaits(t *testing.T) {
	r := newRig(t, "gfx90a")
	const id = 1
	k := r.kernel("hostcall", "hostcall_call")
	g := r.kernel("globals", "globals")
	mod := g.Module()
	s, other := r.stream(), r.stream()
	out, o := r.words(2), r.words(100)
	launched := make(chan runtime.Launch, 1)
	check := func(what string, err error) {
		if !errors.Is(err, runtime.ErrInCallback) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must := func(what string, err error) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	err := r.rt.RegisterHostcall(id, func(in *[7]uint64) ([2]uint64, error) {
		ctx := t.Context()
		p := make([]byte, 8)
		check("wait", s.Wait(ctx))
		check("ordered read", s.Read(ctx, out, 0, p))
		check("ordered read of another stream", other.Read(ctx, out, 0, p))
		check("ordered write", s.Write(ctx, out, 0, p))
		check("close of the stream", s.Close())
		check("close of a module", mod.Close())
		check("close of the runtime", r.rt.Close())
		_, err := r.rt.LoadModule(ctx, nil)
		check("load", err)
		v, err := mod.Global("m_total")
		must("global", err)
		must("read of a managed variable", v.Read(0, p[:4]))
		must("read of a buffer", out.Read(0, p))
		b, err := r.rt.Alloc(8, runtime.DeviceLocal)
		must("alloc", err)
		must("copy", r.rt.Copy(b, 0, out, 0, 8))
		must("free", b.Free())
		second, err := other.Launch(ctx, g, runtime.LaunchConfig{Grid: runtime.Dim3{X: 2}, Block: runtime.Dim3{X: 64}}, runtime.Ptr(o), runtime.U32(100))
		must("launch", err)
		launched <- second
		return [2]uint64{7, 8}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.launch(s, k, 1, 1, runtime.Ptr(out), runtime.U64(id), runtime.U32(1)); err != nil {
		t.Fatal(err)
	}
	second := <-launched
	if err := second.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if w := r.read(out); w[0] != 7 || w[1] != 8 {
		t.Errorf("the kernel got %v", w)
	}
	if err := s.Wait(t.Context()); err != nil {
		t.Errorf("the stream afterwards: %v", err)
	}
}

// waiter is a writer that waits for a stream.
type waiter struct {
	wait func() error
	err  error
}

func (w *waiter) Write(p []byte) (int, error) {
	w.err = w.wait()
	return len(p), nil
}

// TestWriterThatWaits: the same for the writer that kernels print to, by
// hostcall and by a buffer.
func TestWriterThatWaits(t *testing.T) {
	for _, object := range []string{"printf_hostcall", "printf_buffered"} {
		w := &waiter{}
		r := newRig(t, "gfx90a", runtime.WithOutput(w, w))
		s := r.stream()
		first := r.words(8)
		w.wait = func() error {
			l, err := s.Launch(t.Context(), r.kernel("vecadd", "vecadd"), runtime.LaunchConfig{Grid: runtime.Dim3{X: 1}, Block: runtime.Dim3{X: 64}},
				runtime.Ptr(first), runtime.Ptr(first), runtime.Ptr(first), runtime.U32(8))
			if err != nil {
				return nil // another launch is on its way; that is not what this is about
			}
			return l.Wait(t.Context())
		}
		r.kernel("vecadd", "vecadd")
		a := r.words(16)
		if err := r.launch(s, r.kernel(object, object), 1, 32, runtime.Ptr(a), runtime.Ptr(r.words(8)), runtime.U32(3)); err != nil {
			t.Fatal(err)
		}
		if err := s.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w.err != nil && !errors.Is(w.err, runtime.ErrInCallback) {
			t.Errorf("%s: wait in a writer: %v", object, w.err)
		}
	}
}

// TestManyHostcalls: packets, messages, memory and goroutines do not add up. A
// million calls with GFXRT_LONG.
func TestManyHostcalls(t *testing.T) {
	const groups = 8
	rounds := uint32(500)
	if os.Getenv("GFXRT_LONG") != "" {
		rounds = 1_000_000 / groups
	}
	r := newRig(t, "gfx90a")
	var sum atomic.Uint64
	if err := r.rt.RegisterHostcall(9, func(in *[7]uint64) ([2]uint64, error) {
		sum.Add(in[1])
		return [2]uint64{in[1]}, nil
	}); err != nil {
		t.Fatal(err)
	}
	out := r.words(groups)
	calls := func(rounds uint32) {
		sum.Store(0)
		r.run("hostcall", "hostcall_loop", groups, 64, runtime.Ptr(out), runtime.U64(9), runtime.U32(rounds))
		each := uint64(rounds) * uint64(rounds-1) / 2
		for g, v := range r.read(out) {
			if v != each {
				t.Errorf("group %d: the answers add up to %d, want %d", g, v, each)
			}
		}
		if sum.Load() != groups*each {
			t.Errorf("the function saw %d, want %d", sum.Load(), groups*each)
		}
	}
	messages := func(rounds uint32) {
		r.out.reset()
		r.run("hostcall", "hostcall_chat", 1, 1, runtime.U32(rounds))
		if lines := strings.Count(r.out.String(), "\n"); lines != int(rounds) {
			t.Errorf("%d lines, want %d", lines, rounds)
		}
		r.out.reset()
	}
	calls(100) // what is made once is made now
	messages(100)
	bytes, goroutines := held()
	calls(rounds)
	messages(rounds / 10)
	bytes2, goroutines2 := held()
	if bytes2 > bytes+1<<20 || goroutines2 > goroutines {
		t.Errorf("%d bytes and %d goroutines before, %d and %d after %d calls", bytes, goroutines, bytes2, goroutines2, groups*rounds)
	}
	t.Logf("%d calls: %d bytes before, %d after", groups*rounds, bytes, bytes2)
}

// held is what the process holds: bytes of the Go heap and goroutines.
func held() (bytes uint64, goroutines int) {
	debug.FreeOSMemory()
	var m gort.MemStats
	gort.ReadMemStats(&m)
	return m.HeapAlloc, gort.NumGoroutine()
}
