package runtime_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"gfxrt/aql"
	"gfxrt/runtime"
	"gfxrt/runtime/device"
)

// printRecord plays the device's part of HIP's buffered printf: one record
// whose format is inline (LLVM AMDGPUEmitPrintf), appended to the buffer that
// the kernel's hidden_printf_buffer at kernarg offset 96 points to.
func printRecord(t *testing.T, d *fakeDevice, p *aql.KernelDispatch, stderr uint32, text string) {
	t.Helper()
	le := binary.LittleEndian
	fifo := le.Uint64(d.read(t, p.KernargAddress+96, 8))
	head, err := d.at(fifo, 8)
	if err != nil {
		t.Error(err)
		return
	}
	used, capacity := le.Uint32(head), le.Uint32(head[4:])
	body := append([]byte(text), make([]byte, 8-len(text)%8)...)
	n := uint32(4 + len(body))
	if used+n > capacity {
		return // as the device library does
	}
	rec, err := d.at(fifo+8+uint64(used), uint64(n))
	if err != nil {
		t.Error(err)
		return
	}
	le.PutUint32(rec, n<<2|stderr)
	copy(rec[4:], body)
	le.PutUint32(head, used+n)
}

func launchBuffered(t *testing.T, d *fakeDevice, opts ...runtime.Option) (*runtime.Stream, func(context.Context) (runtime.Launch, error)) {
	rt := open(t, d, opts...)
	k := kernel(t, load(t, rt, "printf_buffered"), "printf_buffered")
	s := stream(t, rt)
	return s, func(ctx context.Context) (runtime.Launch, error) {
		return s.Launch(ctx, k, runtime.LaunchConfig{Grid: x(1), Block: x(32), NoBarrier: true}, runtime.Null(), runtime.Null(), runtime.U32(3))
	}
}

// TestBufferedPrintf: output appears in launch order, before the wait for its
// launch returns, and the number of buffers in use is bounded.
func TestBufferedPrintf(t *testing.T) {
	d := newFake(t)
	n := 0
	d.run = func(_ *fakeQueue, p *aql.KernelDispatch) {
		printRecord(t, d, p, 0, fmt.Sprintf("launch %d\n", n))
		printRecord(t, d, p, 1, fmt.Sprintf("e%d;", n))
		n++
	}
	var out, errs output
	s, launch := launchBuffered(t, d, runtime.WithOutput(&out, &errs), runtime.WithPrintfBuffer(1024))
	q := d.queues[0]
	q.set(func(q *fakeQueue) { q.hold = true })
	var ls []runtime.Launch
	for range 4 {
		l, err := launch(soon(t))
		if err != nil {
			t.Fatal(err)
		}
		ls = append(ls, l)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if _, err := launch(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a fifth printing launch: %v", err)
	}
	q.finish(1) // out of order
	q.finish(0)
	if err := ls[0].Wait(soon(t)); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "launch 0\nlaunch 1\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
	l, err := launch(soon(t)) // there is room again
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		q.finish(0)
	}
	if err := l.Wait(soon(t)); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(soon(t)); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "launch 0\nlaunch 1\nlaunch 2\nlaunch 3\nlaunch 4\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
	if got, want := errs.String(), "e0;e1;e2;e3;e4;"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
}

func TestBufferedPrintfBeforeFault(t *testing.T) {
	d := newFake(t)
	d.run = func(q *fakeQueue, p *aql.KernelDispatch) {
		q.hold, q.dead = true, true
		printRecord(t, d, p, 0, "last words")
		q.errs <- &device.Fault{Kind: device.FaultTrap, KernelObject: p.KernelObject, Wave: 0, Lane: -1}
		close(q.errs)
	}
	var out output
	_, launch := launchBuffered(t, d, runtime.WithOutput(&out, &out))
	l, err := launch(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Wait(soon(t)); !errors.Is(err, runtime.ErrFault) || out.String() != "last words" {
		t.Errorf("wait: %v with output %q", err, out.String())
	}
}

// TestCorruptPrintfBuffer: nonsense in the buffer is reported and does no harm.
func TestCorruptPrintfBuffer(t *testing.T) {
	d := newFake(t)
	d.run = func(_ *fakeQueue, p *aql.KernelDispatch) {
		fifo := binary.LittleEndian.Uint64(d.read(t, p.KernargAddress+96, 8))
		if err := d.Write(fifo, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}); err != nil {
			t.Error(err)
		}
	}
	var told []error
	_, launch := launchBuffered(t, d, runtime.WithDiagnostics(func(err error) { told = append(told, err) }))
	for i := range 2 {
		l, err := launch(soon(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Wait(soon(t)); err != nil {
			t.Error(err)
		}
		if len(told) != i+1 {
			t.Errorf("diagnostics %v", told)
		}
	}
}
