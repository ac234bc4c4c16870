package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"gfxrt/runtime/device"
)

// Info describes a device: see device.Info.
type Info = device.Info

// Runtime is an open device with what was allocated, loaded and started on it.
// All methods are safe for concurrent use.
type Runtime struct {
	dev  device.Device
	info Info
	opts options

	// load serialises loading and unloading of modules. It is taken before any
	// other lock and held while init and fini kernels run.
	load sync.Mutex

	// mu is taken after a stream's lock, never before.
	mu       sync.Mutex
	closed   bool
	buffers  map[*Buffer]struct{}
	streams  map[*Stream]struct{}
	modules  []*Module // in load order
	internal *Stream   // for init and fini kernels; changed with load held too
	// serviceErr is why no stream works any more.
	serviceErr error
	services   services
	callbacks  callbacks
	// unsettled is set when a dispatch was stopped midway.
	unsettled atomic.Bool
}

type options struct {
	stdout, stderr io.Writer
	stack          uint32
	queuePackets   uint32
	printfBytes    uint32
	hostcall       HostcallForm
	heapSlabs      int
	heapLimit      uint64 // bytes, the initial slabs included
	heapLeaks      bool
	diagnose       func(error)
}

// Option changes how a Runtime behaves.
type Option func(*options) error

// WithOutput sends what kernels print to these writers instead of os.Stdout
// and os.Stderr. A write happens before the printing lane continues, so a
// writer that waits for a launch waits for ever.
func WithOutput(stdout, stderr io.Writer) Option {
	return func(o *options) error {
		if stdout == nil || stderr == nil {
			return fmt.Errorf("output: nil writer: %w", ErrInvalidArgument)
		}
		mu := new(sync.Mutex) // one: the two may be the same writer
		o.stdout, o.stderr = &lockedWriter{mu, stdout}, &lockedWriter{mu, stderr}
		return nil
	}
}

// lockedWriter lets the goroutines of several services write.
type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// WithDiagnostics has f called for each request of a kernel that the host could
// not serve (hostcall: a malformed message, an unknown function, memory that
// there is not) instead of a line on stderr for the first few. The lane that
// asked gets the failure too. A kernel can cause it at any rate.
func WithDiagnostics(f func(error)) Option {
	return func(o *options) error {
		if f == nil {
			return fmt.Errorf("diagnostics: nil function: %w", ErrInvalidArgument)
		}
		o.diagnose = f
		return nil
	}
}

// maxDiagnostics bounds the lines that a kernel can cause on stderr.
const maxDiagnostics = 20

func diagnoseTo(w io.Writer) func(error) {
	var n atomic.Int64
	return func(err error) {
		if n.Add(1) <= maxDiagnostics {
			// There is nobody left to tell that this cannot be told.
			_, _ = fmt.Fprintf(w, "gfxrt: %v\n", err)
		}
	}
}

// defaultStack is what a kernel that uses a dynamic stack gets per lane on top
// of its fixed private segment: the metadata does not say how deep its calls
// go. It is the most that AMD's own runtime (CLR) grants.
const defaultStack = 16 << 10

// WithStackSize sets the bytes a lane that a kernel with a dynamic stack gets
// on top of its fixed private segment; the default is 16 KiB. LaunchConfig.Stack
// overrides it.
func WithStackSize(bytes uint32) Option {
	return func(o *options) error { o.stack = bytes; return nil }
}

// WithQueueSize sets the number of packets of a stream's ring, a power of two.
// The default is 1024.
func WithQueueSize(packets uint32) Option {
	return func(o *options) error {
		if packets == 0 || packets&(packets-1) != 0 {
			return fmt.Errorf("queue of %d packets, need a power of two: %w", packets, ErrInvalidArgument)
		}
		o.queuePackets = packets
		return nil
	}
}

// HostcallForm is a layout of the hostcall buffer. Nothing in a code object
// tells which one its device library expects.
type HostcallForm uint8

// Hostcall forms.
const (
	HostcallClassic HostcallForm = iota // free and ready stacks: device libraries up to now
	HostcallPhase                       // phase bitmaps: device libraries built with the new implementation
)

// WithHostcall sets the form of the hostcall buffer for all modules. The
// default is HostcallClassic.
func WithHostcall(form HostcallForm) Option {
	return func(o *options) error {
		if form > HostcallPhase {
			return fmt.Errorf("hostcall form %d: %w", form, ErrInvalidArgument)
		}
		o.hostcall = form
		return nil
	}
}

// WithPrintfBuffer sets the bytes of the buffer that one launch of a kernel
// with buffered printf can fill (clang -mprintf-kind=buffered, and OpenCL). The
// default is 4 MiB. Kernels that print by hostcall have no such limit.
func WithPrintfBuffer(bytes uint32) Option {
	return func(o *options) error {
		const least = 1024
		if bytes < least {
			return fmt.Errorf("printf buffer of %d bytes, need %d: %w", bytes, least, ErrInvalidArgument)
		}
		o.printfBytes = bytes
		return nil
	}
}

// Open opens the device that spec names, SCHEME[+OPTION…][:TARGET], such as
// "sim:gfx90a" or "sim+seed=7:gfx942". Closing the Runtime closes it.
func Open(ctx context.Context, spec string, opts ...Option) (*Runtime, error) {
	dev, err := device.Open(ctx, spec)
	if err != nil {
		return nil, err
	}
	rt, err := New(dev, opts...)
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	return rt, nil
}

// New makes a Runtime of a device, which then belongs to it: Close closes the
// device too. When New fails the device is left open.
func New(dev device.Device, opts ...Option) (*Runtime, error) {
	o := options{stdout: os.Stdout, stderr: os.Stderr, stack: defaultStack, queuePackets: 1024, printfBytes: defaultPrintfBytes,
		heapSlabs: defaultHeapSlabs, heapLimit: noHeapLimit}
	for _, f := range opts {
		if err := f(&o); err != nil {
			return nil, fmt.Errorf("runtime: %w", err)
		}
	}
	if least, most := dev.Info().QueueMinPackets, dev.Info().QueueMaxPackets; o.queuePackets < least || most != 0 && o.queuePackets > most {
		return nil, fmt.Errorf("runtime: queue of %d packets, the device has %d to %d: %w", o.queuePackets, least, most, ErrInvalidArgument)
	}
	if o.diagnose == nil {
		o.diagnose = diagnoseTo(o.stderr)
	}
	rt := &Runtime{
		dev: dev, info: dev.Info(), opts: o,
		buffers: map[*Buffer]struct{}{},
		streams: map[*Stream]struct{}{},
	}
	return rt, nil
}

// Info describes the device.
func (rt *Runtime) Info() Info { return rt.info }

// joinFree frees memory on an error path and keeps both errors.
func joinFree(err error, mem device.Memory) error {
	return errors.Join(err, mem.Free())
}

// Close stops all streams, abandoning what still runs, unloads all modules
// (running their fini kernels), frees all memory and closes the device, in
// this order and also after faults. Nothing else may use the Runtime meanwhile.
func (rt *Runtime) Close() error {
	if err := rt.checkCallback("close of the runtime"); err != nil {
		return err
	}
	rt.mu.Lock()
	if rt.closed {
		rt.mu.Unlock()
		return fmt.Errorf("runtime: %w", ErrClosed)
	}
	rt.closed = true
	streams := slices.Collect(maps.Keys(rt.streams))
	rt.mu.Unlock()

	var errs []error
	for _, s := range streams {
		if err := s.Close(); !errors.Is(err, ErrClosed) {
			errs = append(errs, err)
		}
	}
	errs = append(errs, rt.closeModules())
	// No queue is left that could ask for a service.
	errs = append(errs, rt.services.close(rt))
	rt.mu.Lock()
	buffers := slices.Collect(maps.Keys(rt.buffers))
	clear(rt.buffers)
	rt.mu.Unlock()
	for _, b := range buffers {
		b.freed.Store(true)
		errs = append(errs, b.mem.Free())
	}
	errs = append(errs, rt.dev.Close())
	return errors.Join(errs...)
}

func (rt *Runtime) closeModules() error {
	rt.load.Lock()
	defer rt.load.Unlock()
	rt.mu.Lock()
	modules := slices.Clone(rt.modules)
	rt.mu.Unlock()
	var errs []error
	for _, m := range slices.Backward(modules) {
		if err := m.closeLocked(); err != nil {
			errs = append(errs, err)
		}
	}
	if rt.internal != nil {
		errs = append(errs, rt.dropInternal())
	}
	return errors.Join(errs...)
}

// runInternal runs an init or fini kernel and waits for it. rt.load is held.
func (rt *Runtime) runInternal(ctx context.Context, k *Kernel) error {
	if rt.internal == nil {
		s, err := rt.newStream()
		if err != nil {
			return err
		}
		rt.mu.Lock()
		rt.internal = s
		rt.mu.Unlock()
	}
	one := Dim3{1, 1, 1}
	d, err := rt.plan(k, LaunchConfig{Grid: one, Block: one}, nil)
	if err != nil {
		return err
	}
	l, err := rt.internal.submitDispatch(ctx, &d, nil)
	if err != nil {
		return err
	}
	if err := l.Wait(ctx); err != nil {
		// It may still run, in code that is about to be freed.
		return errors.Join(err, rt.dropInternal())
	}
	return nil
}

// dropInternal stops the queue of init and fini kernels.
func (rt *Runtime) dropInternal() error {
	rt.mu.Lock()
	s := rt.internal
	rt.internal = nil
	rt.mu.Unlock()
	return s.close()
}

// retireStreams lets every stream give up what its completed launches held.
func (rt *Runtime) retireStreams() {
	rt.mu.Lock()
	streams := slices.Collect(maps.Keys(rt.streams))
	rt.mu.Unlock()
	for _, s := range streams {
		s.retire()
	}
}
