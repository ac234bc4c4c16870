package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gfxrt/runtime/device"
	"gfxrt/services/heap"
	"gfxrt/services/hostcall"
	"gfxrt/services/kernarg"
)

// hostcallPoll is how often the listener looks at the buffer by itself. The
// doorbell wakes it sooner; polling makes up for a ring that went missing.
const hostcallPoll = 2 * time.Millisecond

// services is what kernels ask of the host. A service starts when a module is
// loaded that may ask for it, and lives as long as the Runtime.
type services struct {
	mu   sync.Mutex
	heap *deviceHeap // nil until a kernel may ask for it
	pool *heap.Pool  // nil until there is a heap or hostcall
	// oldHeaps is set when a kernel may keep a heap in its own module.
	oldHeaps  bool
	call      *hostcallService
	functions hostFunctions
	listener  atomic.Pointer[hostcall.Listener] // call's
}

// startServices starts what the kernels of a module ask for and gives each
// kernel the addresses. Metadata that lists an argument does not prove its
// use, but the device follows the pointer without testing it.
func (rt *Runtime) startServices(kernels []*Kernel) error {
	s := &rt.services
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool == nil {
		s.pool = rt.newPool()
	}
	for _, k := range kernels {
		if k.layout.Needs(kernarg.Heap) {
			if err := s.startHeap(rt); err != nil {
				return fmt.Errorf("kernel %s: device heap: %w", k.Name(), err)
			}
			k.slots[kernarg.Heap] = s.heap.header.addr
		}
		if k.layout.Needs(kernarg.HostcallBuffer) {
			if err := s.startHostcall(rt); err != nil {
				return fmt.Errorf("kernel %s: hostcall: %w", k.Name(), err)
			}
			k.slots[kernarg.HostcallBuffer] = s.call.buffer.addr
			s.oldHeaps = s.oldHeaps || k.m.obj.Version < 5
		}
	}
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
	c := &hostcallService{buffer: buffer, doorbell: doorbell}
	c.listener = hostcall.Listen(protocol, &hostcall.Server{
		Stdout: rt.opts.stdout, Stderr: rt.opts.stderr, Devmem: s.pool, Function: s.functions.find, Failed: rt.serviceFailed,
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
	s.listener.Store(c.listener)
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
	told := false
	for _, s := range streams {
		told = s.fail(rt.serviceErr) || told
	}
	if !told { // nobody waits
		rt.opts.diagnose(err)
	}
}

// close ends all services. No queue exists any more.
func (s *services) close(rt *Runtime) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	if s.call != nil {
		errs = append(errs, s.call.close())
	}
	errs = append(errs, s.checkHeap(rt))
	if s.heap != nil {
		errs = append(errs, s.heap.close())
	}
	if s.pool != nil {
		errs = append(errs, s.pool.Close())
	}
	return errors.Join(errs...)
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
