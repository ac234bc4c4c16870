package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"gfxrt/runtime/device"
	"gfxrt/services/hostcall"
	"gfxrt/services/kernarg"
)

// heapBytes is the size of the device heap's header. All versions of AMD's
// device library fit in it and start from zeros (ockl dm.cl): the device then
// asks the host for every slab, through hostcall.
const heapBytes = 128 << 10

// hostcallPoll is how often the listener looks at the buffer by itself. The
// doorbell wakes it sooner; polling makes up for a ring that went missing.
const hostcallPoll = 2 * time.Millisecond

// services is what kernels ask of the host. A service starts when a module is
// loaded that may ask for it, and lives as long as the Runtime.
type services struct {
	mu     sync.Mutex
	heap   region
	call   *hostcallService
	devmem devmem
}

// startServices starts what the kernels of a module ask for and gives each
// kernel the addresses. Metadata that lists an argument does not prove its
// use, but the device follows the pointer without testing it.
func (rt *Runtime) startServices(kernels []*Kernel) error {
	s := &rt.services
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range kernels {
		if k.layout.Needs(kernarg.Heap) {
			if err := s.startHeap(rt); err != nil {
				return fmt.Errorf("kernel %s: device heap: %w", k.Name(), err)
			}
			k.slots[kernarg.Heap] = s.heap.addr
		}
		if k.layout.Needs(kernarg.HostcallBuffer) {
			if err := s.startHostcall(rt); err != nil {
				return fmt.Errorf("kernel %s: hostcall: %w", k.Name(), err)
			}
			k.slots[kernarg.HostcallBuffer] = s.call.buffer.addr
		}
	}
	return nil
}

func (s *services) startHeap(rt *Runtime) error {
	if s.heap.mem != nil {
		return nil
	}
	heap, err := rt.allocAligned(heapBytes, codeAlign, DeviceLocal)
	if err != nil {
		return err
	}
	if err := rt.zero(heap.addr, heapBytes); err != nil {
		return joinFree(err, heap.mem)
	}
	s.heap = heap
	return nil
}

// hostcallService is the buffer that waves put requests in, the signal they
// ring, and the goroutines that answer.
type hostcallService struct {
	buffer   region
	doorbell device.Signal
	listener *hostcall.Listener
	stop     context.CancelFunc
	watcher  sync.WaitGroup
}

// startHostcall starts the service before any kernel can have its address: a
// wave waits for its answer.
func (s *services) startHostcall(rt *Runtime) error {
	if s.call != nil {
		return nil
	}
	// One packet for each wave that can be resident: device code has no path
	// for an empty free stack.
	n := max(rt.info.ComputeUnits*rt.info.SIMDsPerCU*rt.info.WavesPerSIMD, 2)
	sizeOf := hostcall.Size
	if rt.opts.hostcall == HostcallPhase {
		sizeOf = hostcall.PhaseSize
	}
	size, err := sizeOf(n)
	if err != nil {
		return err
	}
	buffer, err := rt.allocAligned(uint64(size), codeAlign, HostVisible)
	if err != nil {
		return fmt.Errorf("buffer of %d packets: %w", n, err)
	}
	doorbell, err := rt.dev.NewSignal(1)
	if err != nil {
		return joinFree(fmt.Errorf("doorbell: %w", err), buffer.mem)
	}
	protocol, err := newProtocol(rt.opts.hostcall, buffer, n, doorbell.Handle())
	if err != nil {
		return errors.Join(err, doorbell.Close(), buffer.mem.Free())
	}
	s.devmem.rt = rt
	c := &hostcallService{buffer: buffer, doorbell: doorbell}
	c.listener = hostcall.Listen(protocol, &hostcall.Server{
		Stdout: rt.opts.stdout, Stderr: rt.opts.stderr, Devmem: &s.devmem, Failed: rt.serviceFailed,
	}, hostcallPoll)
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	c.watcher.Go(func() {
		seen := int64(1)
		for {
			v, err := doorbell.Wait(ctx, device.NotEqual, seen)
			if err != nil {
				return // closed; the poll would serve on if it were not
			}
			seen = v
			c.listener.Kick()
		}
	})
	s.call = c
	return nil
}

func newProtocol(form HostcallForm, buffer region, n int, doorbell uint64) (hostcall.Buffer, error) {
	if form == HostcallPhase {
		return hostcall.NewPhase(buffer.host, buffer.addr, n, doorbell, 0)
	}
	return hostcall.NewClassic(buffer.host, buffer.addr, n, doorbell)
}

func (c *hostcallService) close() error {
	c.stop()
	c.watcher.Wait()
	err := c.listener.Close()
	if errors.Is(err, hostcall.ErrCorrupt) {
		err = nil // the streams have reported it
	}
	return errors.Join(err, c.doorbell.Close(), c.buffer.mem.Free())
}

// serviceFailed is told of requests that could not be served. A damaged buffer
// leaves waves waiting for ever, so then no stream can be trusted to end.
func (rt *Runtime) serviceFailed(err error) {
	if !errors.Is(err, hostcall.ErrCorrupt) {
		rt.opts.diagnose(err)
		return
	}
	rt.mu.Lock()
	streams := slices.Collect(maps.Keys(rt.streams))
	if rt.internal != nil {
		streams = append(streams, rt.internal)
	}
	rt.serviceErr = fmt.Errorf("stream is unusable: %w", err)
	rt.mu.Unlock()
	for _, s := range streams {
		s.fail(rt.serviceErr)
	}
}

// close ends all services. No queue exists any more.
func (s *services) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	if s.call != nil {
		errs = append(errs, s.call.close())
	}
	if s.heap.mem != nil {
		errs = append(errs, s.heap.mem.Free())
	}
	return errors.Join(append(errs, s.devmem.close())...)
}

// drainServices brings out what kernels printed before they stopped.
func (rt *Runtime) drainServices() {
	s := &rt.services
	s.mu.Lock()
	c := s.call
	s.mu.Unlock()
	if c != nil {
		_ = c.listener.Drain() // serviceFailed is told of a failure
	}
}

// devmem gives device code the memory its malloc asks the host for, and frees
// at the end what device code did not.
type devmem struct {
	rt     *Runtime
	mu     sync.Mutex
	blocks map[uint64]region
}

// Alignments that device code relies on: its free tells a slab, which is
// 2 MiB, from a large block by the low bits of the address.
const (
	slabBytes  = 2 << 20
	blockAlign = 4 << 10
)

// Alloc implements hostcall.Devmem.
func (d *devmem) Alloc(size uint64) (uint64, error) {
	align := uint64(blockAlign)
	if size >= slabBytes {
		align = slabBytes
	}
	r, err := d.rt.allocAligned(size, align, DeviceLocal)
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.blocks == nil {
		d.blocks = map[uint64]region{}
	}
	d.blocks[r.addr] = r
	return r.addr, nil
}

// Free implements hostcall.Devmem.
func (d *devmem) Free(addr uint64) error {
	d.mu.Lock()
	r, ok := d.blocks[addr]
	delete(d.blocks, addr)
	d.mu.Unlock()
	if !ok {
		return fmt.Errorf("no block at %#x: %w", addr, ErrInvalidArgument)
	}
	return r.mem.Free()
}

func (d *devmem) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, r := range d.blocks {
		errs = append(errs, r.mem.Free())
	}
	d.blocks = nil
	return errors.Join(errs...)
}
