package runtime_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"gfxrt/aql"
	"gfxrt/runtime"
	"gfxrt/runtime/device"
	"gfxrt/services/hostcall"
)

// wave plays the device's part of the classic hostcall protocol (ROCm device
// libraries, hostcall_impl.cl), one lane of one wave.
type wave struct {
	t   *testing.T
	d   *fakeDevice
	buf uint64 // address of the control block
}

// hostcallOffset is where printf_hostcall's metadata puts
// hidden_hostcall_buffer; its heap pointer is 16 bytes further.
const hostcallOffset = 104

func waveOf(t *testing.T, d *fakeDevice, p *aql.KernelDispatch) *wave {
	return &wave{t, d, binary.LittleEndian.Uint64(d.read(t, p.KernargAddress+hostcallOffset, 8))}
}

func (w *wave) word(addr uint64) *uint64 {
	b, err := w.d.at(addr, 8)
	if err != nil {
		w.t.Error(err)
		return new(uint64)
	}
	return (*uint64)(unsafe.Pointer(&b[0]))
}

func (w *wave) field(off uint64) uint64 { return *w.word(w.buf + off) }

func (w *wave) control(header uint64) *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(w.word(header+16)), 4))
}

// post sends a request and returns the packet's index without waiting.
func (w *wave) post(service uint32, args ...uint64) uint64 {
	free, mask := w.word(w.buf+24), w.field(40)
	top := atomic.LoadUint64(free)
	index := top & mask
	header, payload := w.field(0)+24*index, w.field(8)+4096*index
	atomic.StoreUint64(free, *w.word(header)) // one wave at a time: no competition
	*w.word(header + 8) = 1
	*w.word(header + 16) = uint64(service)
	atomic.StoreUint32(w.control(header), 1) // READY
	for i, a := range args {
		*w.word(payload + 8*uint64(i)) = a
	}
	ready := w.word(w.buf + 32)
	for {
		old := atomic.LoadUint64(ready)
		atomic.StoreUint64(w.word(header), old)
		if atomic.CompareAndSwapUint64(ready, old, top) {
			break
		}
	}
	handle := w.field(16)
	w.d.mu.Lock()
	bell := w.d.signals[handle]
	w.d.mu.Unlock()
	if bell == nil {
		w.t.Error("the doorbell is no signal")
		return index
	}
	bell.Add(1)
	return index
}

// call sends a request, waits for the answer and gives the packet back.
func (w *wave) call(service uint32, args ...uint64) uint64 {
	index := w.post(service, args...)
	header := w.field(0) + 24*index
	for deadline := time.Now().Add(20 * time.Second); ; {
		if atomic.LoadUint32(w.control(header)) == 0 {
			break
		}
		if time.Now().After(deadline) {
			w.t.Error("the host did not answer")
			return 0
		}
	}
	result := *w.word(w.field(8) + 4096*index)
	free := w.word(w.buf + 24)
	atomic.StoreUint64(w.word(header), atomic.LoadUint64(free))
	atomic.StoreUint64(free, index+w.field(40)+1)
	return result
}

// message is a printf message of one call: BEGIN, END, words, then a control
// word of 0 for stdout and the text.
func message(text string) []uint64 {
	b := append([]byte(text), make([]byte, 48-len(text))...)
	args := []uint64{3 | 7<<5, 0}
	for i := 0; i < 48; i += 8 {
		args = append(args, binary.LittleEndian.Uint64(b[i:]))
	}
	return args
}

type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func launchPrinter(t *testing.T, d *fakeDevice, opts ...runtime.Option) (*runtime.Runtime, *runtime.Stream, func() (runtime.Launch, error)) {
	rt := open(t, d, opts...)
	k := kernel(t, load(t, rt, "printf_hostcall"), "printf_hostcall")
	s := stream(t, rt)
	return rt, s, func() (runtime.Launch, error) {
		return s.Launch(soon(t), k, runtime.LaunchConfig{Grid: x(1), Block: x(32)}, runtime.Null(), runtime.Null(), runtime.U32(3))
	}
}

func TestHostcall(t *testing.T) {
	d := newFake(t)
	var out, errs output
	var blocks []uint64
	d.run = func(_ *fakeQueue, p *aql.KernelDispatch) {
		w := waveOf(t, d, p)
		if n := w.call(2, message("hello %%\n")...); n != 8 || out.String() != "hello %\n" {
			t.Errorf("printf returned %d, output %q before the lane went on", n, out.String())
		}
		for _, size := range []uint64{2 << 20, 5000, 2 << 20} {
			addr := w.call(3, 0, size)
			blocks = append(blocks, addr)
			align := uint64(4096)
			if size == 2<<20 {
				align = 2 << 20
			}
			if addr == 0 || addr%align != 0 {
				t.Errorf("device memory of %d bytes at %#x", size, addr)
			}
			if _, err := d.at(addr, size); err != nil {
				t.Error(err)
			}
		}
		w.call(3, blocks[0], 0)
		if _, err := d.at(blocks[0], 1); err == nil {
			t.Error("freed device memory is still there")
		}
		w.call(3, blocks[1]+8, 0)             // not a block
		w.call(3, 0, 0)                       // free(nullptr) of old device libraries
		if a := w.call(3, 0, 1<<60); a != 0 { // more than there is
			t.Errorf("2^60 bytes at %#x", a)
		}
		if r := w.call(1, 0x1234); int64(r) != -1 { // no such function
			t.Errorf("unknown function returned %#x", r)
		}
		// The heap is 128 KiB that the device may write: zeros, and the range
		// of the slabs there are, as __ockl_dm_init_v1 stores it.
		heap := binary.LittleEndian.Uint64(d.read(t, p.KernargAddress+hostcallOffset+16, 8))
		header := d.read(t, heap, 128<<10)
		word := func(off int) uint64 { return binary.LittleEndian.Uint64(header[off:]) }
		if first := word(108560); first == 0 || first%(2<<20) != 0 || word(108544) != first || word(108552) != first+8<<20 {
			t.Errorf("initial slabs: next %#x, end %#x, first %#x", word(108544), word(108552), first)
		} else if _, err := d.at(first, 8<<20); err != nil {
			t.Error(err)
		}
		clear(header[108544:108568])
		if slices.ContainsFunc(header, func(c byte) bool { return c != 0 }) {
			t.Error("the heap's header is not zero otherwise")
		}
	}
	var told []error
	_, _, launch := launchPrinter(t, d, runtime.WithOutput(&out, &errs), runtime.WithDiagnostics(func(err error) { told = append(told, err) }))
	l, err := launch()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Wait(soon(t)); err != nil {
		t.Fatal(err)
	}
	if len(told) != 3 || !errors.Is(told[0], runtime.ErrForeignFree) || !errors.Is(told[1], runtime.ErrOutOfMemory) || !errors.Is(told[2], hostcall.ErrRequest) {
		t.Errorf("diagnostics %v", told)
	}
	if errs.String() != "" {
		t.Errorf("stderr %q", errs.String())
	}
	// What the kernel did not free goes with the runtime: the fake complains
	// otherwise.
}

// TestPhaseHostcall: the buffer has the other form when asked. One packet of
// it, as the device libraries of 2025 (hostcall_impl.cl) fill it.
func TestPhaseHostcall(t *testing.T) {
	d := newFake(t)
	var out, errs output
	d.run = func(_ *fakeQueue, p *aql.KernelDispatch) {
		w := waveOf(t, d, p)
		const index = 5
		if n := uint32(w.field(48)); n != 4*4*8 {
			t.Errorf("%d packets", n)
		}
		header, payload := w.field(24)+16*index, w.field(32)+4096*index
		*w.word(header) = 1
		*w.word(header + 8) = 2
		for i, a := range message("phases\n") {
			*w.word(payload + 8*uint64(i)) = a
		}
		device, host := (*uint32)(unsafe.Pointer(w.word(w.field(0)))), (*uint32)(unsafe.Pointer(w.word(w.field(8))))
		atomic.StoreUint32(device, atomic.LoadUint32(device)^1<<index)
		// No doorbell: it may be skipped, and the host polls.
		for deadline := time.Now().Add(20 * time.Second); atomic.LoadUint32(device) != atomic.LoadUint32(host); {
			if time.Now().After(deadline) {
				t.Error("the host did not answer")
				return
			}
		}
		if n := *w.word(payload); n != 7 {
			t.Errorf("printf returned %d", n)
		}
	}
	_, _, launch := launchPrinter(t, d, runtime.WithOutput(&out, &errs), runtime.WithHostcall(runtime.HostcallPhase))
	l, err := launch()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Wait(soon(t)); err != nil {
		t.Fatal(err)
	}
	if out.String() != "phases\n" || errs.String() != "" {
		t.Errorf("stdout %q, stderr %q", out.String(), errs.String())
	}
}

// TestHostcallSize: as many packets as waves can be resident, in host-visible
// memory; kernels share the buffer.
func TestHostcallSize(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	load(t, rt, "vecadd")
	count := func() (n int) {
		size, err := hostcall.Size(4 * 4 * 8)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range d.mems {
			if m.size == uint64(size) && m.kind == device.HostVisible {
				n++
			}
		}
		return n
	}
	if n := count(); n != 0 {
		t.Errorf("%d hostcall buffers for kernels that need none", n)
	}
	for range 2 {
		load(t, rt, "printf_hostcall")
		if n := count(); n != 1 {
			t.Errorf("%d hostcall buffers, want 1", n)
		}
	}
}

// TestFaultAfterOutput: what was printed before a trap is out before anybody
// hears of the trap.
func TestFaultAfterOutput(t *testing.T) {
	for range 20 {
		d := newFake(t)
		var out output
		d.run = func(q *fakeQueue, p *aql.KernelDispatch) {
			q.hold, q.dead = true, true
			waveOf(t, d, p).post(2, message("last words")...)
			q.errs <- &device.Fault{Kind: device.FaultTrap, KernelObject: p.KernelObject, Wave: 0, Lane: -1}
			close(q.errs)
		}
		rt, _, launch := launchPrinter(t, d, runtime.WithOutput(&out, &out))
		l, err := launch()
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Wait(soon(t)); !errors.Is(err, runtime.ErrFault) || out.String() != "last words" {
			t.Fatalf("wait: %v with output %q", err, out.String())
		}
		_ = rt
	}
}

// TestCorruptHostcallBuffer: waves that cannot be answered any more do not
// leave their launch waiting.
func TestCorruptHostcallBuffer(t *testing.T) {
	d := newFake(t)
	d.run = func(q *fakeQueue, p *aql.KernelDispatch) {
		q.hold = true
		w := waveOf(t, d, p)
		atomic.StoreUint64(w.word(w.buf+32), 127|1<<20) // a packet that is not READY
	}
	rt, s, launch := launchPrinter(t, d)
	l, err := launch()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Wait(soon(t)); !errors.Is(err, hostcall.ErrCorrupt) || !strings.Contains(err.Error(), "unusable") {
		t.Errorf("wait: %v", err)
	}
	if _, err := launch(); !errors.Is(err, hostcall.ErrCorrupt) {
		t.Errorf("launch: %v", err)
	}
	if _, err := rt.NewStream(); !errors.Is(err, hostcall.ErrCorrupt) {
		t.Errorf("new stream: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
