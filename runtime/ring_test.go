package runtime_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"gfxrt/aql"
	"gfxrt/runtime"
	"gfxrt/runtime/device"

	"pgregory.net/rapid"
)

// TestKernargRing: whatever sizes launches have and in whatever order they
// complete, the kernargs of one that has not completed stay as they were, and
// a launch is refused only when the ring is really short of room.
func TestKernargRing(t *testing.T) {
	data := compile(t, `
struct big { char b[4000]; };
struct huge { char b[30000]; };
__attribute__((device_kernel)) void small(int v) {}
__attribute__((device_kernel)) void large(struct big v) {}
__attribute__((device_kernel)) void larger(struct huge v) {}
`)
	rapid.Check(t, func(rt *rapid.T) {
		d := newFake(t)
		r, err := runtime.New(d, runtime.WithQueueSize(512))
		if err != nil {
			rt.Fatal(err)
		}
		defer r.Close()
		m, err := r.LoadModule(context.Background(), data)
		if err != nil {
			rt.Fatal(err)
		}
		s, err := r.NewStream()
		if err != nil {
			rt.Fatal(err)
		}
		q := d.queues[0]
		q.set(func(q *fakeQueue) { q.hold = true })
		kernels := []*runtime.Kernel{kernel(t, m, "small"), kernel(t, m, "large"), kernel(t, m, "larger")}
		sizes := []int{4, 4000, 30000}
		want := map[uint64][]byte{} // by completion signal
		serial := byte(0)
		inUse := 0
		launch := func() {
			// Runs of one size fill the ring sooner than a mix does.
			which := rapid.IntRange(0, 2).Draw(rt, "kernel")
			for range rapid.IntRange(1, 60).Draw(rt, "run") {
				serial++
				v := bytes.Repeat([]byte{serial}, sizes[which])
				ctx, cancel := context.WithTimeout(context.Background(), time.Microsecond)
				before := len(q.held)
				_, err := s.Launch(ctx, kernels[which], runtime.LaunchConfig{Grid: x(1), Block: x(1), NoBarrier: true}, runtime.Bytes(v))
				cancel()
				if errors.Is(err, context.DeadlineExceeded) {
					if len(q.held) != before {
						rt.Fatal("a refused launch was published")
					}
					if inUse == 0 {
						continue // the context was faster than the launch
					}
					return
				}
				if err != nil {
					rt.Fatal(err)
				}
				k := q.held[len(q.held)-1]
				if want[k.CompletionSignal] != nil {
					rt.Fatal("a completion signal was given to two launches")
				}
				want[k.CompletionSignal] = v
				inUse++
			}
		}
		finish := func() {
			for range rapid.IntRange(1, 40).Draw(rt, "finish") {
				if len(q.held) == 0 {
					return
				}
				i := rapid.IntRange(0, len(q.held)-1).Draw(rt, "which")
				delete(want, q.held[i].CompletionSignal)
				q.finish(i)
				inUse--
			}
		}
		for range rapid.IntRange(2, 12).Draw(rt, "steps") {
			launch()
			for _, k := range q.held {
				v := want[k.CompletionSignal]
				got, err := d.at(k.KernargAddress, uint64(len(v)))
				if err != nil || !bytes.Equal(got, v) {
					rt.Fatalf("kernargs of a running launch changed (%v)", err)
				}
			}
			finish()
		}
	})
}

// TestKernargWrap: a launch that does not fit before the end of the ring, if
// only by one block, starts at its beginning.
func TestKernargWrap(t *testing.T) {
	data := compile(t, `
struct two { char b[100]; };
struct huge { char b[30000]; };
__attribute__((device_kernel)) void one(int v) {}
__attribute__((device_kernel)) void two(struct two v) {}
__attribute__((device_kernel)) void huge(struct huge v) {}
`)
	const capacity, block = 1 << 20, 64
	d := newFake(t)
	rt := open(t, d)
	m, err := rt.LoadModule(soon(t), data)
	if err != nil {
		t.Fatal(err)
	}
	s := stream(t, rt)
	q := d.queues[0]
	q.set(func(q *fakeQueue) { q.hold = true })
	// launch keeps one launch running, as an empty ring starts afresh.
	launch := func(name string, n int) uint64 {
		t.Helper()
		if _, err := s.Launch(soon(t), kernel(t, m, name), runtime.LaunchConfig{Grid: x(1), Block: x(1)}, runtime.Bytes(make([]byte, n))); err != nil {
			t.Fatal(err)
		}
		if len(q.held) > 1 {
			q.finish(0)
		}
		return q.held[len(q.held)-1].KernargAddress
	}
	blocks := func(name string) uint64 {
		return (uint64(kernel(t, m, name).Metadata().KernargSize) + block - 1) / block
	}
	if blocks("one") != 1 || blocks("two") != 2 {
		t.Skipf("the compiler gave the kernels %d and %d blocks of kernargs, want 1 and 2", blocks("one"), blocks("two"))
	}
	base := launch("one", 4)
	end := base + block
	for end+blocks("huge")*block <= base+capacity {
		end = launch("huge", 30000) + blocks("huge")*block
	}
	for end < base+capacity-block {
		end = launch("one", 4) + block
	}
	if end != base+capacity-block {
		t.Fatalf("ring position %#x of %#x", end-base, capacity)
	}
	if at := launch("two", 100); at != base {
		t.Errorf("two blocks went to %#x of a ring of %#x bytes with one left", at-base, capacity)
	}
}

// TestTeardownRaces closes and faults streams under goroutines that launch and
// wait: everybody gets an answer.
func TestTeardownRaces(t *testing.T) {
	for round := range 20 {
		d := newFake(t)
		rt, err := runtime.New(d, runtime.WithQueueSize(16))
		if err != nil {
			t.Fatal(err)
		}
		k, cfg, args := vecadd(t, rt)
		s := stream(t, rt)
		q := d.queues[0]
		n := 0
		d.run = func(q *fakeQueue, _ *aql.KernelDispatch) {
			if n++; n == 40 {
				q.hold = true
			}
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					l, err := s.Launch(context.Background(), k, cfg, args...)
					if err == nil {
						err = l.Wait(context.Background())
					}
					if err != nil {
						if !errors.Is(err, runtime.ErrFault) && !errors.Is(err, runtime.ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(round) * 50 * time.Microsecond)
		if round%2 == 0 {
			q.fault(&device.Fault{Kind: device.FaultTrap, Wave: -1, Lane: -1})
			wg.Wait()
		} else if err := s.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
}
