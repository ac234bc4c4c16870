package sim

import (
	"context"
	"fmt"
	"sync"
	"time"

	"gfxrt/aql"
	"gfxrt/elf"
	"gfxrt/runtime/device"
	"gfxrt/sim/cp"
	"gfxrt/sim/exec"
	"gfxrt/sim/mem"
)

// Device is a simulated GPU. It implements device.Device.
type Device struct {
	info    device.Info
	target  elf.Target
	space   *mem.Space
	machine *exec.Machine
	cp      *cp.Processor
	started time.Time

	mu      sync.Mutex
	closed  bool
	queues  map[*queue]struct{}
	queueID uint64
	done    chan struct{} // closed by Close
	// Signals are carved from pages: thousands of them are alive in a busy
	// program.
	freeSignals []uint64
	signalMem   []*mem.Region
}

// firstTick is the timestamp at opening: the device heap waits for counters to
// pass 30000 ticks since time 0 (abi.md J.3).
const firstTick = 1 << 32

// Open makes a simulated device. target is a processor with optional feature
// settings ("gfx90a", "gfx942:xnack-"); a generic processor means its lowest
// member.
func Open(target string, o Options) (*Device, error) {
	if target == "" {
		return nil, fmt.Errorf("sim: no target named: use sim:gfx90a or sim:gfx942: %w", device.ErrUnsupported)
	}
	t, err := elf.ParseTarget(target)
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	if t.GenericVersion != 0 {
		t = t.Concrete()
	}
	p, ok := profiles[t.Processor]
	if !ok {
		return nil, fmt.Errorf("sim: %s is not simulated: %w", t.Processor, device.ErrUnsupported)
	}
	if t.XNACK > elf.FeatureAny {
		p.xnack = t.XNACK
	}
	if t.SRAMECC > elf.FeatureAny {
		p.sramecc = t.SRAMECC
	}
	et, err := exec.NewTarget(t.Processor)
	if err != nil {
		return nil, fmt.Errorf("sim: %w: %w", device.ErrUnsupported, err)
	}
	et.SRAMECC = p.sramecc == elf.FeatureOn
	d := &Device{info: p.info(t.Processor), started: time.Now(), queues: map[*queue]struct{}{}, done: make(chan struct{})}
	d.target = elf.Target{Processor: t.Processor, XNACK: p.xnack, SRAMECC: p.sramecc}
	d.space = mem.NewSpace(p.memory)
	d.machine = exec.NewMachine(et, d.space, o.Portable)
	d.machine.Clock = d.ticks
	d.machine.Cycles = func() uint64 { return uint64(time.Since(d.started).Nanoseconds()) * (p.clock / 1_000_000) / 1000 }
	d.machine.Message = func(uint32, uint32) { d.cp.Notify() }
	opts := cp.Options{Machine: d.machine, Target: d.target, Info: d.info, Threads: o.threads(), Seed: o.Seed}
	if o.Trace != nil || o.Probe != nil {
		opts.Observer = &exec.Observer{Want: o.TraceWant, Step: o.Trace, Probe: o.Probe}
	}
	d.cp = cp.New(opts)
	return d, nil
}

func (d *Device) ticks() uint64 {
	return firstTick + uint64(time.Since(d.started).Nanoseconds())/(1_000_000_000/timestampHz)
}

// Info describes the simulated device.
func (d *Device) Info() device.Info { return d.info }

// Clock returns the timestamp counter and the host time of now.
func (d *Device) Clock() (device.Clock, error) {
	now := time.Now()
	return device.Clock{Ticks: d.ticks(), Hz: timestampHz, Host: now}, nil
}

// Waves reports where every wave of every running dispatch stands.
func (d *Device) Waves() []WaveState { return d.cp.Waves() }

// Instructions is the number of instructions that waves of finished dispatches
// completed since the device was opened.
func (d *Device) Instructions() uint64 { return d.cp.Executed() }

func (d *Device) check() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return fmt.Errorf("sim: %w", device.ErrClosed)
	}
	return nil
}

// memory is one allocation.
type memory struct {
	d    *Device
	r    *mem.Region
	kind device.MemoryKind
	once sync.Once
}

var kindNames = map[device.MemoryKind]string{device.DeviceLocal: "device memory", device.HostVisible: "host-visible memory", device.Code: "code object"}

// Alloc maps zeroed memory. Errors wrap device.ErrOutOfMemory.
func (d *Device) Alloc(size uint64, kind device.MemoryKind) (device.Memory, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	name, ok := kindNames[kind]
	if !ok {
		return nil, fmt.Errorf("sim: memory kind %d: %w", kind, device.ErrUnsupported)
	}
	r, err := d.space.Alloc(size, name)
	if err != nil {
		return nil, fmt.Errorf("sim: %w: %w", device.ErrOutOfMemory, err)
	}
	return &memory{d: d, r: r, kind: kind}, nil
}

func (m *memory) Addr() uint64 { return m.r.Base }
func (m *memory) Size() uint64 { return m.r.Used }

func (m *memory) Bytes() []byte {
	if m.kind != device.HostVisible {
		return nil
	}
	return m.r.Bytes()
}

func (m *memory) Free() error {
	err := fmt.Errorf("sim: memory at %#x freed twice: %w", m.r.Base, device.ErrClosed)
	m.once.Do(func() {
		if err = m.d.check(); err != nil {
			err = nil // closing the device already released it
			return
		}
		if m.kind == device.Code {
			m.d.machine.InvalidateCode(m.r.Base, m.r.Size)
		}
		err = m.d.space.Unmap(m.r)
	})
	return err
}

// slice is the host view of a GPU range, kept mapped until release is called.
func (d *Device) slice(addr, n uint64) (b []byte, release func(), err error) {
	if err := d.check(); err != nil {
		return nil, nil, err
	}
	d.space.Enter()
	b, err = d.space.Slice(addr, n)
	if err != nil {
		d.space.Leave()
		return nil, nil, fmt.Errorf("sim: %w", err)
	}
	return b, d.space.Leave, nil
}

// Read copies GPU memory to dst.
func (d *Device) Read(dst []byte, addr uint64) error {
	if len(dst) == 0 {
		return d.check()
	}
	b, release, err := d.slice(addr, uint64(len(dst)))
	if err != nil {
		return err
	}
	defer release()
	copy(dst, b)
	return nil
}

// Write copies src to GPU memory.
func (d *Device) Write(addr uint64, src []byte) error {
	if len(src) == 0 {
		return d.check()
	}
	b, release, err := d.slice(addr, uint64(len(src)))
	if err != nil {
		return err
	}
	defer release()
	copy(b, src)
	return nil
}

// Copy moves n bytes between GPU addresses.
func (d *Device) Copy(dst, src, n uint64) error {
	if n == 0 {
		return d.check()
	}
	from, release, err := d.slice(src, n)
	if err != nil {
		return err
	}
	defer release()
	to, release2, err := d.slice(dst, n)
	if err != nil {
		return err
	}
	defer release2()
	copy(to, from)
	return nil
}

// InvalidateCode makes later instruction fetches read memory again.
func (d *Device) InvalidateCode(addr, n uint64) error {
	d.machine.InvalidateCode(addr, n)
	return d.check()
}

// Close stops all queues and releases all memory.
func (d *Device) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return fmt.Errorf("sim: %w", device.ErrClosed)
	}
	d.closed = true
	qs := make([]*queue, 0, len(d.queues))
	for q := range d.queues {
		qs = append(qs, q)
	}
	d.mu.Unlock()
	close(d.done)
	for _, q := range qs {
		q.q.Close()
	}
	d.cp.Close()
	return d.space.Close()
}

// queue is an AQL queue of the simulated device.
type queue struct {
	d    *Device
	q    *cp.Queue
	ring *aql.Ring
	mem  []*mem.Region
	once sync.Once
}

const defaultPackets = 1024

// NewQueue makes an AQL queue and starts consuming it.
func (d *Device) NewQueue(o device.QueueOptions) (device.Queue, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	n := o.Packets
	if n == 0 {
		n = defaultPackets
	}
	if n&(n-1) != 0 || n < d.info.QueueMinPackets || n > d.info.QueueMaxPackets {
		return nil, fmt.Errorf("sim: queue of %d packets: want a power of two from %d to %d: %w", n, d.info.QueueMinPackets, d.info.QueueMaxPackets, device.ErrUnsupported)
	}
	q := &queue{d: d}
	head, err := q.alloc(aql.QueueSize, "amd_queue_t")
	if err != nil {
		return nil, err
	}
	ringMem, err := q.alloc(uint64(n)*aql.PacketSize, "AQL ring")
	if err != nil {
		return nil, err
	}
	copies, err := q.alloc(uint64(n)*aql.PacketSize, "AQL packet copies")
	if err != nil {
		return nil, err
	}
	aq, err := aql.QueueAt(head.Bytes())
	if err != nil {
		return nil, q.drop(err)
	}
	d.mu.Lock()
	d.queueID++
	id := d.queueID
	d.mu.Unlock()
	aq.Init(ringMem.Base, n, 0, id)
	aq.GroupSegmentApertureBaseHi = exec.SharedBase >> 32
	aq.PrivateSegmentApertureBaseHi = exec.PrivateBase >> 32
	if q.ring, err = aql.NewRing(aq, ringMem.Bytes()); err != nil {
		return nil, q.drop(err)
	}
	q.q = d.cp.NewQueue(cp.QueueOptions{Ring: q.ring, QueueAddr: head.Base, Copies: copies, Cooperative: o.Cooperative})
	d.mu.Lock()
	d.queues[q] = struct{}{}
	d.mu.Unlock()
	return q, nil
}

func (q *queue) alloc(n uint64, name string) (*mem.Region, error) {
	r, err := q.d.space.Alloc(n, name)
	if err != nil {
		return nil, q.drop(fmt.Errorf("sim: %w: %w", device.ErrOutOfMemory, err))
	}
	q.mem = append(q.mem, r)
	return r, nil
}

// drop releases what a queue holds and returns err.
func (q *queue) drop(err error) error {
	for _, r := range q.mem {
		_ = q.d.space.Unmap(r) // the space may be closed, which released it
	}
	q.mem = nil
	return err
}

func (q *queue) Ring() *aql.Ring   { return q.ring }
func (q *queue) Doorbell(uint64)   { q.q.Doorbell() }
func (q *queue) Err() <-chan error { return q.q.Err() }
func (q *queue) Close() error {
	err := fmt.Errorf("sim: queue: %w", device.ErrClosed)
	q.once.Do(func() {
		q.q.Close()
		q.d.mu.Lock()
		delete(q.d.queues, q)
		closed := q.d.closed
		q.d.mu.Unlock()
		if !closed {
			q.drop(nil)
		}
		err = nil
	})
	return err
}

// signal is an amd_signal_t in device memory.
type signal struct {
	d    *Device
	addr uint64
	s    *aql.Signal
	once sync.Once
}

const signalsPerChunk = 1024

// NewSignal makes a signal.
func (d *Device) NewSignal(initial int64) (device.Signal, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("sim: %w", device.ErrClosed)
	}
	if len(d.freeSignals) == 0 {
		r, err := d.space.Alloc(signalsPerChunk*aql.SignalSize, "signals")
		if err != nil {
			return nil, fmt.Errorf("sim: %w: %w", device.ErrOutOfMemory, err)
		}
		d.signalMem = append(d.signalMem, r)
		for i := range uint64(signalsPerChunk) {
			d.freeSignals = append(d.freeSignals, r.Base+(signalsPerChunk-1-i)*aql.SignalSize)
		}
	}
	addr := d.freeSignals[len(d.freeSignals)-1]
	b, err := d.space.Slice(addr, aql.SignalSize)
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	d.freeSignals = d.freeSignals[:len(d.freeSignals)-1]
	clear(b)
	s, err := aql.SignalAt(b)
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	s.Kind = aql.SignalUser
	s.Store(initial)
	return &signal{d: d, addr: addr, s: s}, nil
}

func (s *signal) Handle() uint64                  { return s.addr }
func (s *signal) Load() int64                     { return s.s.Load() }
func (s *signal) Timestamps() (start, end uint64) { return s.s.Timestamps() }

func (s *signal) Store(v int64) {
	s.s.Store(v)
	s.d.cp.Notify()
}

func (s *signal) Add(delta int64) {
	s.s.Add(delta)
	s.d.cp.Notify()
}

func (s *signal) Wait(ctx context.Context, c device.Condition, x int64) (int64, error) {
	var v int64
	if s.d.cp.Await(ctx.Done(), func() bool { v = s.s.Load(); return c.Holds(v, x) }) {
		return v, nil
	}
	return v, ctx.Err()
}

func (s *signal) Close() error {
	err := fmt.Errorf("sim: signal: %w", device.ErrClosed)
	s.once.Do(func() {
		err = nil
		s.d.mu.Lock()
		defer s.d.mu.Unlock()
		s.d.freeSignals = append(s.d.freeSignals, s.addr)
	})
	return err
}
