package runtime_test

import (
	"context"
	"errors"
	"math"
	stdruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gfxrt/aql"
	"gfxrt/runtime"
	"gfxrt/runtime/device"
)

func vecadd(t testing.TB, rt *runtime.Runtime) (*runtime.Kernel, runtime.LaunchConfig, []runtime.Arg) {
	k := kernel(t, load(t, rt, "vecadd"), "vecadd")
	return k, runtime.LaunchConfig{Grid: x(1), Block: x(64)}, []runtime.Arg{runtime.Null(), runtime.Null(), runtime.Null(), runtime.U32(0)}
}

func TestCancelledWaitLeavesStreamUsable(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	k, cfg, args := vecadd(t, rt)
	s := stream(t, rt)
	q := d.queues[0]
	q.set(func(q *fakeQueue) { q.hold = true })
	l, err := s.Launch(soon(t), k, cfg, args...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := l.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait for a launch that runs: %v", err)
	}
	if err := s.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait for a stream that runs: %v", err)
	}
	if _, _, ok := l.Timestamps(); ok {
		t.Error("a running launch has timestamps")
	}
	q.finish(0)
	if err := errors.Join(l.Wait(soon(t)), s.Wait(soon(t)), s.Err()); err != nil {
		t.Errorf("after a cancelled wait: %v", err)
	}
	if start, end, ok := l.Timestamps(); !ok || start != 100 || end != 101 {
		t.Errorf("timestamps %d %d %v", start, end, ok)
	}
	q.set(func(q *fakeQueue) { q.hold = false })
	if l, err = s.Launch(soon(t), k, cfg, args...); err != nil {
		t.Fatal(err)
	}
	if err := l.Wait(soon(t)); err != nil {
		t.Fatal(err)
	}
}

// TestFault: the launch that ran and those behind it fail, with the kernel's
// name, symbol and line; what completed before stays completed; later launches
// are refused; the other stream goes on.
func TestFault(t *testing.T) {
	source := "__attribute__((device_kernel)) void work(__attribute__((address_space(1))) int *out) {\n  out[0] = 1;\n}\n"
	data := compile(t, source, "-g")
	d := newFake(t)
	rt := open(t, d)
	m, err := rt.LoadModule(soon(t), data)
	if err != nil {
		t.Fatal(err)
	}
	k := kernel(t, m, "work")
	bad, good := stream(t, rt), stream(t, rt)
	q := d.queues[0]
	q.set(func(q *fakeQueue) { q.hold = true })
	cfg := runtime.LaunchConfig{Grid: x(1), Block: x(64)}
	var ls []runtime.Launch
	for range 4 {
		l, err := bad.Launch(soon(t), k, cfg, runtime.Null())
		if err != nil {
			t.Fatal(err)
		}
		ls = append(ls, l)
	}
	waits := make(chan error)
	for _, l := range ls[1:] {
		go func() { waits <- l.Wait(context.Background()) }()
	}
	go func() { waits <- bad.Wait(context.Background()) }()
	q.finish(0)
	entry := m.Base() + k.Metadata().Entry
	q.fault(&device.Fault{Kind: device.FaultMemory, KernelObject: k.Object(), PC: entry, Wave: 0, Lane: 3, Reason: "no such page"})
	check := func(what string, err error) {
		t.Helper()
		var f *runtime.Fault
		if !errors.Is(err, runtime.ErrFault) || !errors.As(err, &f) {
			t.Errorf("%s: %v", what, err)
			return
		}
		if f.Kernel != "work" || f.Symbol != "work+0x0" || !strings.HasSuffix(f.Source, "k.c:2") {
			t.Errorf("%s: kernel %q symbol %q source %q", what, f.Kernel, f.Symbol, f.Source)
		}
		if !strings.Contains(err.Error(), "stream is unusable") {
			t.Errorf("%s: error %q does not say that the stream is unusable", what, err)
		}
	}
	for range 4 {
		check("outstanding wait", <-waits)
	}
	if err := ls[0].Wait(soon(t)); err != nil {
		t.Errorf("launch that completed before the fault: %v", err)
	}
	check("later wait", ls[2].Wait(soon(t)))
	check("later stream wait", bad.Wait(soon(t)))
	check("Err", bad.Err())
	_, err = bad.Launch(soon(t), k, cfg, runtime.Null())
	check("later launch", err)

	l, err := good.Launch(soon(t), k, cfg, runtime.Null())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Wait(soon(t)), good.Err()); err != nil {
		t.Errorf("other stream: %v", err)
	}
	// The faulted launches hold the module until their stream is closed.
	if err := m.Close(); !errors.Is(err, runtime.ErrBusy) {
		t.Errorf("close of a module in use: %v", err)
	}
	if err := errors.Join(bad.Close(), m.Close()); err != nil {
		t.Error(err)
	}
	check("wait after close", ls[2].Wait(soon(t)))
}

// TestFaultWakesLaunchInFullStream: a launch that waits for room gets the fault.
func TestFaultWakesLaunchInFullStream(t *testing.T) {
	d := newFake(t)
	rt := open(t, d, runtime.WithQueueSize(16))
	k, cfg, args := vecadd(t, rt)
	s := stream(t, rt)
	q := d.queues[0]
	q.set(func(q *fakeQueue) { q.hold = true })
	for range 16 {
		if _, err := s.Launch(soon(t), k, cfg, args...); err != nil {
			t.Fatal(err)
		}
	}
	blocked := make(chan error)
	go func() {
		_, err := s.Launch(context.Background(), k, cfg, args...)
		blocked <- err
	}()
	time.Sleep(time.Millisecond) // likely, not certainly, blocked by now
	q.fault(&device.Fault{Kind: device.FaultTrap, Wave: -1, Lane: -1})
	if err := <-blocked; !errors.Is(err, runtime.ErrFault) {
		t.Errorf("launch that waited for room: %v", err)
	}
}

// TestCorruptIndices: a launch does not wait for room that cannot come.
func TestCorruptIndices(t *testing.T) {
	d := newFake(t)
	rt := open(t, d, runtime.WithQueueSize(16))
	k, cfg, args := vecadd(t, rt)
	s := stream(t, rt)
	q := d.queues[0]
	q.ring.Retire(1 << 40) // read_dispatch_id far ahead of write_dispatch_id
	if _, err := s.Launch(soon(t), k, cfg, args...); !errors.Is(err, aql.ErrCorruptQueue) {
		t.Errorf("launch on a corrupt queue: %v", err)
	}
	if err := s.Wait(soon(t)); err != nil {
		t.Errorf("nothing was launched: %v", err)
	}
}

// TestHostileSignals: a kernel can write anything over completion signals. That
// may end waits early or not at all, and nothing worse.
func TestHostileSignals(t *testing.T) {
	d := newFake(t)
	rt := open(t, d, runtime.WithQueueSize(16))
	k, cfg, args := vecadd(t, rt)
	s := stream(t, rt)
	q := d.queues[0]
	values := []int64{0, -7, math.MinInt64, math.MinInt64 / 2, math.MinInt64/2 - 1, math.MaxInt64}
	n := 0
	d.run = func(q *fakeQueue, p *aql.KernelDispatch) {
		d.mu.Lock()
		sig := d.signals[p.CompletionSignal]
		d.mu.Unlock()
		sig.Store(values[n%len(values)])
		q.hold = n%2 == 0
		n++
	}
	stuck := 0
	for range 60 {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Millisecond)
		l, err := s.Launch(ctx, k, cfg, args...)
		if err == nil {
			err = l.Wait(ctx)
		}
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			stuck++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if stuck == 0 {
		t.Error("no wait was held up by a signal that says MaxInt64")
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	q.set(func(q *fakeQueue) { q.held = nil })
}

func TestCloseAbandons(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	k, cfg, args := vecadd(t, rt)
	s := stream(t, rt)
	d.queues[0].set(func(q *fakeQueue) { q.hold = true })
	l, err := s.Launch(soon(t), k, cfg, args...)
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan error)
	go func() { waits <- l.Wait(context.Background()) }()
	time.Sleep(time.Millisecond) // likely waiting by now
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("wait for an abandoned launch: %v", err)
	}
	for what, err := range map[string]error{"Wait": s.Wait(soon(t)), "Close": s.Close(), "Err": s.Err(), "Launch.Wait": l.Wait(soon(t))} {
		if !errors.Is(err, runtime.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
	if _, err := s.Launch(soon(t), k, cfg, args...); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("launch after Close: %v", err)
	}
	var none runtime.Launch
	if err := none.Wait(soon(t)); !errors.Is(err, runtime.ErrInvalidArgument) {
		t.Errorf("wait for the zero Launch: %v", err)
	}
}

// TestWaitAndReuse: a waiter hears of its launch although the next launch
// takes over what completed, the signal included, before the waiter looks.
func TestWaitAndReuse(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	k, cfg, args := vecadd(t, rt)
	s := stream(t, rt)
	q := d.queues[0]
	q.set(func(q *fakeQueue) { q.hold = true })
	l, err := s.Launch(soon(t), k, cfg, args...)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		d.mu.Lock()
		sig := d.signals[q.held[0].CompletionSignal]
		d.mu.Unlock()
		waited := make(chan error)
		go func() { waited <- l.Wait(soon(t)) }()
		for !sig.waited() {
			stdruntime.Gosched()
		}
		q.finish(0)
		next, err := s.Launch(soon(t), k, cfg, args...)
		if err != nil {
			t.Fatal(err)
		}
		if err := <-waited; err != nil {
			t.Fatal(err)
		}
		l = next
	}
}

// TestLifetimes: what a launch uses outlives it.
func TestLifetimes(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	m := load(t, rt, "vecadd")
	k := kernel(t, m, "vecadd")
	s := stream(t, rt)
	q := d.queues[0]
	q.set(func(q *fakeQueue) { q.hold = true })
	b := alloc(t, rt, 64, runtime.DeviceLocal)
	l, err := s.Launch(soon(t), k, runtime.LaunchConfig{Grid: x(1), Block: x(64)}, runtime.Ptr(b), runtime.Ptr(b), runtime.Null(), runtime.U32(0))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Free(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.at(b.Addr(), 64); err != nil {
		t.Error("a buffer was freed under a launch that uses it")
	}
	if err := m.Close(); !errors.Is(err, runtime.ErrBusy) {
		t.Errorf("close of a module whose kernel runs: %v", err)
	}
	q.finish(0)
	if err := l.Wait(soon(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.at(b.Addr(), 64); err == nil {
		t.Error("the buffer was not freed after the launch")
	}

	// Free notices by itself that a launch has completed.
	b = alloc(t, rt, 64, runtime.DeviceLocal)
	if _, err := s.Launch(soon(t), k, runtime.LaunchConfig{Grid: x(1), Block: x(64)}, runtime.Ptr(b), runtime.Null(), runtime.Null(), runtime.U32(0)); err != nil {
		t.Fatal(err)
	}
	q.finish(0)
	if err := b.Free(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.at(b.Addr(), 64); err == nil {
		t.Error("the buffer was not freed although its launch had completed")
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Launch(soon(t), k, runtime.LaunchConfig{Grid: x(1), Block: x(64)}, runtime.Null(), runtime.Null(), runtime.Null(), runtime.U32(0)); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("launch of an unloaded kernel: %v", err)
	}
}

// TestCooperative: the launch goes to a cooperative queue, after what came
// before it, and gets a grid barrier when it asks for one.
func TestCooperative(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	k, cfg, args := vecadd(t, rt)
	s := stream(t, rt)
	plain := d.queues[0]
	plain.set(func(q *fakeQueue) { q.hold = true })
	if _, err := s.Launch(soon(t), k, cfg, args...); err != nil {
		t.Fatal(err)
	}
	cfg.Cooperative = true
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if _, err := s.Launch(ctx, k, cfg, args...); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cooperative launch beside another: %v", err)
	}
	plain.finish(0)
	l, err := s.Launch(soon(t), k, cfg, args...)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Wait(soon(t)); err != nil {
		t.Fatal(err)
	}
	if len(d.queues) != 2 || !d.queues[1].opts.Cooperative || len(d.queues[1].packets) != 1 || len(plain.packets) != 1 {
		t.Fatal("the launch did not go to a cooperative queue")
	}
	d.queues[1].fault(&device.Fault{Kind: device.FaultTrap, Wave: -1, Lane: -1})
	for s.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if _, err := s.Launch(soon(t), k, cfg, args...); !errors.Is(err, runtime.ErrFault) {
		t.Errorf("launch after a fault of the cooperative queue: %v", err)
	}
}

// TestConcurrentStreams launches on several streams from several goroutines
// each, with buffers and a module shared by all.
func TestConcurrentStreams(t *testing.T) {
	d := newFake(t)
	rt := open(t, d, runtime.WithQueueSize(32))
	k := kernel(t, load(t, rt, "vecadd"), "vecadd")
	b := alloc(t, rt, 64, runtime.DeviceLocal)
	const streams, workers, launches = 3, 3, 200
	var wg sync.WaitGroup
	for range streams {
		s := stream(t, rt)
		for range workers {
			wg.Go(func() {
				for i := range uint32(launches) {
					l, err := s.Launch(context.Background(), k, runtime.LaunchConfig{Grid: x(1), Block: x(64), NoBarrier: i%2 == 0},
						runtime.Ptr(b), runtime.Ptr(b), runtime.Ptr(b), runtime.U32(i))
					if err == nil && i%3 == 0 {
						err = l.Wait(context.Background())
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
				if err := s.Wait(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	for _, q := range d.queues {
		if len(q.packets) != workers*launches {
			t.Errorf("%d packets, want %d", len(q.packets), workers*launches)
		}
	}
	if err := b.Free(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.at(b.Addr(), 1); err == nil {
		t.Error("the buffer outlives its launches")
	}
}

func TestLaunchDoesNotAllocate(t *testing.T) {
	d := newFake(t)
	rt := open(t, d, runtime.WithQueueSize(64))
	k := kernel(t, load(t, rt, "vecadd"), "vecadd")
	b := alloc(t, rt, 64, runtime.DeviceLocal)
	s := stream(t, rt)
	d.queues[0].set(func(q *fakeQueue) { q.quiet = true })
	ctx := context.Background()
	launch := func() {
		if _, err := s.Launch(ctx, k, runtime.LaunchConfig{Grid: x(1), Block: x(64)}, runtime.Ptr(b), runtime.Ptr(b), runtime.Ptr(b), runtime.U32(1)); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		launch()
	}
	if n := testing.AllocsPerRun(500, launch); n != 0 {
		t.Errorf("%v allocations a launch", n)
	}
}

func BenchmarkLaunch(b *testing.B) {
	d := newFake(b)
	rt := open(b, d)
	k, cfg, _ := vecadd(b, rt)
	buf := alloc(b, rt, 64, runtime.DeviceLocal)
	s := stream(b, rt)
	d.queues[0].set(func(q *fakeQueue) { q.quiet = true })
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Launch(ctx, k, cfg, runtime.Ptr(buf), runtime.Ptr(buf), runtime.Ptr(buf), runtime.U32(1)); err != nil {
			b.Fatal(err)
		}
	}
}
