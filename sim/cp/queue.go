package cp

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"gfxrt/aql"
	"gfxrt/runtime/device"
	"gfxrt/sim/exec"
	"gfxrt/sim/mem"
)

// Queue consumes one ring of AQL packets.
type Queue struct {
	p           *Processor
	ring        *aql.Ring
	cooperative bool
	queueAddr   uint64 // GPU address of the amd_queue_t
	gws         *exec.GWS

	// Copies of packets whose kernels read them through dispatch_ptr: a ring
	// slot is reused as soon as the packet is taken.
	copies     *mem.Region
	freeCopies chan int

	bell chan struct{} // capacity 1
	stop chan struct{} // closed by Close
	once sync.Once
	errs chan error

	mu      sync.Mutex
	running map[*job]struct{}
	quiet   chan struct{} // capacity 1: a job ended
	fault   error         // guarded by mu
	closed  bool          // errs is closed; guarded by mu
	failed  atomic.Bool   // fault is set
	done    chan struct{}
}

// QueueOptions describe the memory of a queue.
type QueueOptions struct {
	Ring        *aql.Ring
	QueueAddr   uint64
	Copies      *mem.Region // at least 64 bytes a ring slot
	Cooperative bool
}

// NewQueue starts consuming a ring.
func (p *Processor) NewQueue(o QueueOptions) *Queue {
	q := &Queue{
		p: p, ring: o.Ring, cooperative: o.Cooperative, queueAddr: o.QueueAddr, gws: &exec.GWS{}, copies: o.Copies,
		bell: make(chan struct{}, 1), stop: make(chan struct{}), errs: make(chan error, 1),
		running: map[*job]struct{}{}, quiet: make(chan struct{}, 1), done: make(chan struct{}),
	}
	n := int(o.Copies.Used / aql.PacketSize)
	q.freeCopies = make(chan int, n)
	for i := range n {
		q.freeCopies <- i
	}
	go q.loop()
	return q
}

// Doorbell makes the queue look at its ring.
func (q *Queue) Doorbell() {
	select {
	case q.bell <- struct{}{}:
	default:
	}
}

// Err delivers the queue's fault, once, and is closed when the queue ends.
func (q *Queue) Err() <-chan error { return q.errs }

// Close stops the queue and what it runs, and waits until nothing does.
func (q *Queue) Close() {
	q.once.Do(func() { close(q.stop) })
	q.stopJobs()
	<-q.done
}

// stopJobs stops everything the queue runs.
func (q *Queue) stopJobs() {
	q.mu.Lock()
	js := make([]*job, 0, len(q.running))
	for j := range q.running {
		j.refs.Add(1)
		js = append(js, j)
	}
	q.mu.Unlock()
	for _, j := range js {
		j.stop(nil)
		q.p.drop(j)
	}
}

func (q *Queue) stopping() bool {
	select {
	case <-q.stop:
		return true
	default:
		return q.failed.Load()
	}
}

// loop takes packets in order.
func (q *Queue) loop() {
	defer close(q.done)
	index := q.ring.ReadIndex()
	var p aql.Packet
	for !q.stopping() {
		if !q.ring.Read(index, &p) {
			select {
			case <-q.bell:
			case <-q.stop:
			}
			continue
		}
		if err := q.packet(index, &p); err != nil {
			q.fail(err)
			break
		}
		if q.stopping() {
			break
		}
		q.ring.Retire(index)
		index++
	}
	q.stopJobs()
	q.idle(nil)
	q.mu.Lock()
	q.closed = true
	close(q.errs)
	q.mu.Unlock()
}

// fail records the queue's error, delivers it, and stops what it runs.
func (q *Queue) fail(err error) {
	q.mu.Lock()
	q.failLocked(err)
	q.mu.Unlock()
	q.stopAll()
}

// failLocked records and delivers the first error. q.mu is held.
func (q *Queue) failLocked(err error) {
	if q.fault != nil {
		return
	}
	q.fault = err
	q.failed.Store(true)
	if !q.closed {
		q.errs <- err // has room for the only one
	}
}

// stopAll wakes everyone who waits for the queue and stops its jobs.
func (q *Queue) stopAll() {
	q.Doorbell()
	q.p.Notify()
	q.stopJobs()
}

// idle waits until nothing of the queue runs; stop may cut it short. Only the
// queue's own goroutine calls it.
func (q *Queue) idle(stop <-chan struct{}) bool {
	for {
		q.mu.Lock()
		n := len(q.running)
		q.mu.Unlock()
		if n == 0 {
			return true
		}
		select {
		case <-q.quiet:
		case <-stop:
			return false
		}
	}
}

var errStopped = errors.New("queue stopped")

func packetFault(index uint64, err error) error {
	return &device.Fault{Kind: device.FaultPacket, Reason: err.Error(), Wave: -1, Lane: -1, PacketIndex: index}
}

// packet carries out one packet.
func (q *Queue) packet(index uint64, p *aql.Packet) error {
	if p.Header().Barrier() && (!q.idle(q.stop) || q.stopping()) {
		return nil
	}
	if p.Header().Type() == aql.TypeKernelDispatch {
		d, err := aql.DecodeKernelDispatch(p)
		if err != nil {
			return packetFault(index, err)
		}
		return q.dispatch(index, p, &d)
	}
	v, err := aql.Decode(p)
	if err != nil {
		return packetFault(index, err)
	}
	switch v := v.(type) {
	case *aql.Barrier:
		if err := q.barrier(v); err != nil {
			return packetFault(index, err)
		}
	case *aql.BarrierValue:
		if err := q.barrierValue(v); err != nil {
			return packetFault(index, err)
		}
	case *aql.PM4IB:
		// ROCr sends these to invalidate instruction caches.
		q.p.machine.InvalidateCode(0, ^uint64(0))
		q.completeAfter(v.CompletionSignal)
	default:
		return packetFault(index, fmt.Errorf("%s packets are not for GPU queues of %s", p.Header().Type(), q.p.target.Processor))
	}
	return nil
}

// signal resolves a signal handle.
func (q *Queue) signal(handle uint64) (*aql.Signal, error) {
	b, err := q.p.machine.Space.Slice(handle, aql.SignalSize)
	if err != nil {
		return nil, fmt.Errorf("signal handle: %w", err)
	}
	return aql.SignalAt(b)
}

// completeAfter signals a packet that took no time.
func (q *Queue) completeAfter(handle uint64) error {
	now := q.p.machine.Clock()
	return q.complete(handle, now, now)
}

// complete stores the timestamps, then decrements the signal.
func (q *Queue) complete(handle, start, end uint64) error {
	if handle == 0 {
		q.p.Notify()
		return nil
	}
	s, err := q.signal(handle)
	if err != nil {
		return fmt.Errorf("completion_signal: %w", err)
	}
	s.SetTimestamps(start, end)
	s.Add(-1)
	q.p.Notify()
	return nil
}

// barrier waits for a barrier-AND or barrier-OR packet's dependencies: values
// of 0 or less count as met, null handles are ignored, and an OR of nulls
// alone is met (abi.md D.5).
func (q *Queue) barrier(b *aql.Barrier) error {
	var deps []*aql.Signal
	for _, h := range b.DepSignal {
		if h == 0 {
			continue
		}
		s, err := q.signal(h)
		if err != nil {
			return fmt.Errorf("dep_signal: %w", err)
		}
		deps = append(deps, s)
	}
	or := b.Header.Type() == aql.TypeBarrierOr
	met := func() bool {
		for _, s := range deps {
			if (s.Load() <= 0) == or {
				return or
			}
		}
		return !or || len(deps) == 0
	}
	if !q.p.Await(q.stop, met) {
		return nil
	}
	return q.completeAfter(b.CompletionSignal)
}

func (q *Queue) barrierValue(b *aql.BarrierValue) error {
	if b.Signal != 0 {
		s, err := q.signal(b.Signal)
		if err != nil {
			return fmt.Errorf("signal: %w", err)
		}
		if !q.p.Await(q.stop, func() bool { return device.Condition(b.Cond).Holds(s.Load()&b.Mask, b.Value) }) {
			return nil
		}
	}
	return q.completeAfter(b.CompletionSignal)
}

// dispatch starts a kernel.
func (q *Queue) dispatch(index uint64, p *aql.Packet, d *aql.KernelDispatch) error {
	if d.CompletionSignal != 0 {
		if _, err := q.signal(d.CompletionSignal); err != nil {
			return packetFault(index, fmt.Errorf("completion_signal: %w", err))
		}
	}
	j := q.p.newJob()
	err := q.prepare(j, index, p, d)
	if err == nil {
		err = q.start(j)
	}
	if err == nil {
		return nil
	}
	q.release(j.slot)
	q.p.drop(j)
	if errors.Is(err, errStopped) {
		return nil
	}
	f := packetFault(index, err).(*device.Fault)
	f.KernelObject = d.KernelObject
	return f
}

// start submits a prepared job.
func (q *Queue) start(j *job) error {
	j.groups = j.launch.Groups()
	j.total = uint64(j.groups[0]) * uint64(j.groups[1]) * uint64(j.groups[2])
	j.limit = q.p.residency(&j.launch)
	if q.cooperative {
		if j.total > uint64(j.limit) {
			return fmt.Errorf("cooperative launch of %d work-groups: %s holds %d at once", j.total, q.p.info.Name, j.limit)
		}
		q.gws.Reset(0, uint32(j.total))
	}
	j.start = q.p.machine.Clock()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fault != nil {
		return errStopped
	}
	q.running[j] = struct{}{}
	q.p.submit(j)
	return nil
}

// release gives a packet copy back.
func (q *Queue) release(slot int) {
	if slot >= 0 {
		q.freeCopies <- slot
	}
}

// finish ends a job: its packet copy is free again, its signal fires, or its
// fault stops the queue. The fault is recorded together with the job's
// removal, so that no one finds the queue idle and sound in between.
func (q *Queue) finish(j *job) {
	q.p.remove(j)
	q.p.executed.Add(j.executed.Load())
	q.release(j.slot)
	j.mu.Lock()
	f := j.fault
	j.mu.Unlock()
	var err error
	if f != nil {
		f.PacketIndex = j.index
		err = f
	} else if !j.stopped.Load() {
		if cerr := q.complete(j.completion, j.start, q.p.machine.Clock()); cerr != nil {
			err = packetFault(j.index, cerr)
		}
	}
	q.mu.Lock()
	if err != nil {
		q.failLocked(err)
	}
	delete(q.running, j)
	q.mu.Unlock()
	q.p.drop(j)
	select {
	case q.quiet <- struct{}{}:
	default:
	}
	q.p.Notify()
	if err != nil {
		q.stopAll()
	}
}

// residency is how many groups of l the device holds at once: bounded by wave
// slots, registers and LDS of each compute unit.
func (p *Processor) residency(l *exec.Launch) int64 {
	i := &p.info
	waves := l.WavesPerGroup()
	perSIMD := i.WavesPerSIMD
	if l.VGPRs > 0 {
		perSIMD = min(perSIMD, registersPerSIMD/l.VGPRs)
	}
	groups := max(1, perSIMD*i.SIMDsPerCU/waves)
	if l.LDSBytes > 0 {
		groups = min(groups, max(1, int(i.LDSPerCU/l.LDSBytes)))
	}
	return int64(groups) * int64(i.ComputeUnits)
}

// registersPerSIMD is the length of a SIMD's vector register file in VGPRs of
// one wave: 512 on gfx90a and gfx94x (CDNA3 ISA, VGPRs).
const registersPerSIMD = 512
