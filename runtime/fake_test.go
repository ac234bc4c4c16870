package runtime_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"gfxrt/aql"
	"gfxrt/runtime/device"
)

// fakeDevice has memory and queues but executes nothing: its queues record
// the packets they are given. It takes the simulator's place where a test
// wants to see what exactly reaches a device.
type fakeDevice struct {
	info device.Info

	mu      sync.Mutex
	next    uint64
	mems    map[uint64]*fakeMemory // by address
	failAt  int                    // the failAt-th Alloc from now fails; 0 never
	signals map[uint64]*fakeSignal
	queues  []*fakeQueue
	closed  bool
	misuse  []string                                  // what a real device could not survive
	run     func(q *fakeQueue, p *aql.KernelDispatch) // called for each dispatch, before completion
	newErr  error                                     // what NewQueue says
	invalid []string                                  // ranges of InvalidateCode
}

func newFake(t testing.TB) *fakeDevice {
	d := &fakeDevice{
		info: device.Info{
			Name: "recorder", Target: "gfx90a:sramecc+:xnack-", ComputeUnits: 4, SIMDsPerCU: 4, WavesPerSIMD: 8,
			WavefrontSize: 64, LDSPerGroup: 64 << 10, LDSPerCU: 64 << 10, MaxGroupSize: 1024, MaxScratchLane: 128 << 10,
			LocalMemory: 1 << 30, QueueMinPackets: 16, QueueMaxPackets: 1 << 16,
		},
		next: 0x7e0000001000, mems: map[uint64]*fakeMemory{}, signals: map[uint64]*fakeSignal{},
	}
	t.Cleanup(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, m := range d.misuse {
			t.Error("misuse of the device: " + m)
		}
		if !d.closed {
			return
		}
		if len(d.mems) != 0 || len(d.signals) != 0 {
			t.Errorf("device closed with %d allocations and %d signals", len(d.mems), len(d.signals))
		}
		for _, q := range d.queues {
			if !q.closed {
				t.Error("device closed with an open queue")
			}
		}
	})
	return d
}

type fakeMemory struct {
	d    *fakeDevice
	addr uint64
	size uint64
	kind device.MemoryKind
	data []byte
}

func (m *fakeMemory) Addr() uint64 { return m.addr }
func (m *fakeMemory) Size() uint64 { return m.size }
func (m *fakeMemory) Bytes() []byte {
	if m.kind != device.HostVisible {
		return nil
	}
	return m.data
}

func (m *fakeMemory) Free() error {
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	if m.d.mems[m.addr] != m {
		m.d.misuse = append(m.d.misuse, fmt.Sprintf("double free of %#x", m.addr))
		return device.ErrClosed
	}
	delete(m.d.mems, m.addr)
	return nil
}

func (d *fakeDevice) Info() device.Info { return d.info }

func (d *fakeDevice) Alloc(size uint64, kind device.MemoryKind) (device.Memory, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failAt > 0 {
		if d.failAt--; d.failAt == 0 {
			return nil, device.ErrOutOfMemory
		}
	}
	if size > d.info.LocalMemory {
		return nil, device.ErrOutOfMemory
	}
	// 64-aligned host memory, as a real mapping is.
	raw := make([]byte, size+64)
	off := -uintptr(unsafe.Pointer(unsafe.SliceData(raw))) & 63
	m := &fakeMemory{d: d, addr: d.next, size: size, kind: kind, data: raw[off : off+uintptr(size)]}
	for i := range m.data {
		m.data[i] = 0xa5 // memory is not zeroed
	}
	d.next += (size + 0x1fff) &^ 0xfff
	d.mems[m.addr] = m
	return m, nil
}

// at finds a range in live memory.
func (d *fakeDevice) at(addr, n uint64) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.mems {
		if addr >= m.addr && addr-m.addr <= m.size && n <= m.size-(addr-m.addr) {
			return m.data[addr-m.addr:][:n], nil
		}
	}
	return nil, fmt.Errorf("no memory at %#x+%d", addr, n)
}

func (d *fakeDevice) Read(dst []byte, addr uint64) error {
	b, err := d.at(addr, uint64(len(dst)))
	copy(dst, b)
	return err
}

func (d *fakeDevice) Write(addr uint64, src []byte) error {
	b, err := d.at(addr, uint64(len(src)))
	copy(b, src)
	return err
}

func (d *fakeDevice) Copy(dst, src, n uint64) error {
	s, err := d.at(src, n)
	if err != nil {
		return err
	}
	return d.Write(dst, s)
}

func (d *fakeDevice) InvalidateCode(addr, n uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.invalid = append(d.invalid, fmt.Sprintf("%#x+%#x", addr, n))
	return nil
}

func (d *fakeDevice) Clock() (device.Clock, error) { return device.Clock{}, device.ErrUnsupported }

func (d *fakeDevice) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return nil
}

type fakeSignal struct {
	d      *fakeDevice
	handle uint64
	mu     sync.Mutex
	value  int64
	change chan struct{} // closed and replaced at a change while somebody waits
	waits  int
	closed bool
	start  uint64
}

func (d *fakeDevice) NewSignal(initial int64) (device.Signal, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &fakeSignal{d: d, handle: d.next, value: initial, change: make(chan struct{})}
	d.next += 64
	d.signals[s.handle] = s
	return s, nil
}

func (s *fakeSignal) Handle() uint64 { return s.handle }

func (s *fakeSignal) Load() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value
}

func (s *fakeSignal) set(f func(int64) int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.d.misuse = append(s.d.misuse, "write to a closed signal")
	}
	s.value = f(s.value)
	if s.waits > 0 {
		close(s.change)
		s.change = make(chan struct{})
	}
}

func (s *fakeSignal) Store(v int64) { s.set(func(int64) int64 { return v }) }
func (s *fakeSignal) Add(n int64)   { s.set(func(v int64) int64 { return v + n }) }

func (s *fakeSignal) Wait(ctx context.Context, c device.Condition, x int64) (int64, error) {
	for {
		s.mu.Lock()
		v, change := s.value, s.change
		if c.Holds(v, x) {
			s.mu.Unlock()
			return v, nil
		}
		s.waits++
		s.mu.Unlock()
		var err error
		select {
		case <-change:
		case <-ctx.Done():
			err = ctx.Err()
		}
		s.mu.Lock()
		s.waits--
		s.mu.Unlock()
		if err != nil {
			return v, err
		}
	}
}

// waited reports whether somebody waits.
func (s *fakeSignal) waited() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waits > 0
}

func (s *fakeSignal) Timestamps() (uint64, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.start, s.start + 1
}

func (s *fakeSignal) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.closed || s.waits > 0 {
		s.d.misuse = append(s.d.misuse, "signal closed twice or while somebody waits")
	}
	s.closed = true
	delete(s.d.signals, s.handle)
	return nil
}

// fakeQueue consumes packets when the doorbell rings, in the caller's
// goroutine, and completes them unless hold is set.
type fakeQueue struct {
	d    *fakeDevice
	opts device.QueueOptions
	ring *aql.Ring
	errs chan error

	mu        sync.Mutex
	closed    bool
	dead      bool
	hold      bool // keep what is consumed uncompleted
	deaf      bool // do not even consume
	read      uint64
	packets   []aql.Packet
	doorbells []uint64
	held      []aql.KernelDispatch
	quiet     bool // do not record
}

func (d *fakeDevice) NewQueue(o device.QueueOptions) (device.Queue, error) {
	if d.newErr != nil {
		return nil, d.newErr
	}
	mem, err := d.Alloc(uint64(o.Packets)*aql.PacketSize, device.HostVisible)
	if err != nil {
		return nil, err
	}
	ring, err := aql.NewRing(new(aql.Queue), mem.Bytes())
	if err != nil {
		return nil, err
	}
	if err := mem.Free(); err != nil { // the fake's memory lives on in the ring
		return nil, err
	}
	q := &fakeQueue{d: d, opts: o, ring: ring, errs: make(chan error, 1)}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queues = append(d.queues, q)
	return q, nil
}

func (q *fakeQueue) Ring() *aql.Ring   { return q.ring }
func (q *fakeQueue) Err() <-chan error { return q.errs }

func (q *fakeQueue) Doorbell(last uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		q.d.misuse = append(q.d.misuse, "doorbell of a closed queue")
	}
	if !q.quiet {
		q.doorbells = append(q.doorbells, last)
	}
	if !q.deaf && !q.dead {
		q.consume()
	}
}

func (q *fakeQueue) consume() {
	for {
		var p aql.Packet
		if !q.ring.Read(q.read, &p) {
			return
		}
		q.ring.Retire(q.read)
		q.read++
		if !q.quiet {
			q.packets = append(q.packets, p)
		}
		k, err := aql.DecodeKernelDispatch(&p)
		if err != nil {
			q.errs <- &device.Fault{Kind: device.FaultPacket, Reason: err.Error(), Wave: -1, Lane: -1}
			close(q.errs)
			q.dead = true
			return
		}
		if q.d.run != nil {
			seen := k // k itself stays on the stack
			q.d.run(q, &seen)
		}
		if q.hold {
			q.held = append(q.held, k)
		} else {
			q.complete(&k)
		}
	}
}

func (q *fakeQueue) complete(k *aql.KernelDispatch) {
	q.d.mu.Lock()
	s := q.d.signals[k.CompletionSignal]
	q.d.mu.Unlock()
	if s == nil {
		q.d.misuse = append(q.d.misuse, fmt.Sprintf("packet with signal %#x", k.CompletionSignal))
		return
	}
	s.mu.Lock()
	s.start += 100
	s.mu.Unlock()
	s.Add(-1)
}

// finish completes the i-th of the held dispatches.
func (q *fakeQueue) finish(i int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.held[i]
	q.held = slices.Delete(q.held, i, i+1)
	q.complete(&k)
}

func (q *fakeQueue) set(f func(q *fakeQueue)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	f(q)
}

// fault stops the queue as a device does.
func (q *fakeQueue) fault(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dead = true
	q.errs <- err
	close(q.errs)
}

func (q *fakeQueue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		q.d.misuse = append(q.d.misuse, "queue closed twice")
		return device.ErrClosed
	}
	q.closed = true
	if !q.dead {
		close(q.errs)
	}
	return nil
}

// kernargs are the bytes a packet points to.
func (d *fakeDevice) kernargs(t *testing.T, p *aql.Packet, n int) []byte {
	t.Helper()
	k, err := aql.DecodeKernelDispatch(p)
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.at(k.KernargAddress, uint64(n))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(b)
}
