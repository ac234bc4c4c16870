package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gfxrt/aql"
	"gfxrt/runtime/device"
	"gfxrt/services/kernarg"
)

// Dim3 is an extent in up to three dimensions. Zero Y and Z mean 1.
type Dim3 struct{ X, Y, Z uint32 }

func (d Dim3) array() [3]uint32 { return [3]uint32{d.X, max(d.Y, 1), max(d.Z, 1)} }

// LaunchConfig is the shape of a launch. Exactly one of Grid and Items is set.
type LaunchConfig struct {
	// Grid counts work-groups.
	Grid Dim3
	// Items counts work-items; the last work-group of a dimension is partial
	// when Block does not divide it. A kernel compiled for uniform work-groups
	// (HIP) runs then too, as it does on hardware, but believes that every
	// work-group has the size of Block.
	Items Dim3
	// Block is the work-group size in work-items.
	Block Dim3
	// DynamicLDS is bytes of LDS a work-group on top of the static ones.
	DynamicLDS uint32
	// Stack is bytes of private segment a lane on top of the kernel's fixed
	// size. 0 gives kernels with a dynamic stack the runtime's stack size
	// (WithStackSize) and others nothing.
	Stack uint32
	// Cooperative asks for all work-groups resident at once, or an error. The
	// launch is submitted after all earlier ones of the stream have completed.
	Cooperative bool
	// NoBarrier lets the launch start before earlier ones of the stream have
	// completed.
	NoBarrier bool
}

// Launch submits a kernel and returns without waiting for it, except for room
// in a full queue (then ctx's end gives up). args are the explicit arguments in
// order; a kernel without metadata takes none, or one Bytes with its whole
// kernarg segment. Everything is checked first; an error that wraps
// ErrInvalidArgument names the kernel, the argument's index and name and what
// is allowed, and nothing was submitted.
func (s *Stream) Launch(ctx context.Context, k *Kernel, cfg LaunchConfig, args ...Arg) (Launch, error) {
	if k == nil || k.m.rt != s.rt {
		return Launch{}, fmt.Errorf("launch: no kernel of this runtime: %w", ErrInvalidArgument)
	}
	d, err := s.rt.plan(k, cfg, args)
	if err != nil {
		return Launch{}, err
	}
	d.retain = true
	return s.submitDispatch(ctx, &d, args)
}

// dispatch is a launch that passed all checks.
type dispatch struct {
	k         *Kernel
	geometry  geometry
	private   uint32 // bytes a lane
	dynamic   uint32 // LDS bytes
	group     uint32 // LDS bytes, static and dynamic
	coop      bool
	noBarrier bool
	retain    bool // keep the module until completion
}

// submitDispatch admits, fills and publishes a launch.
func (s *Stream) submitDispatch(ctx context.Context, d *dispatch, args []Arg) (Launch, error) {
	if err := s.takeSubmit(ctx); err != nil {
		return Launch{}, d.k.launchError(err)
	}
	defer func() { <-s.submit }()

	q, err := s.queueFor(ctx, d.coop)
	if err != nil {
		return Launch{}, d.k.launchError(err)
	}
	a, err := s.admit(ctx, d, args)
	if err != nil {
		return Launch{}, d.k.launchError(err)
	}
	off := a.pos % kernargCapacity
	p, err := d.fill(s.kernarg.host[off:off+d.kernargNeed()], s.kernarg.addr+off, a.printer, args)
	if err != nil {
		s.withdraw(a.seq)
		return Launch{}, d.k.launchError(err)
	}
	p.CompletionSignal = a.signal
	index, err := s.reserve(ctx, q.Ring())
	if err != nil {
		s.withdraw(a.seq)
		return Launch{}, d.k.launchError(err)
	}
	// From here on nothing can fail: a reserved packet has to be published.
	p.Encode(&s.packet)
	q.Ring().WriteBody(index, &s.packet)
	q.Ring().Publish(index, p.Header, p.Setup)
	q.Doorbell(index)
	return Launch{s, a.seq}, nil
}

// takeSubmit makes the caller the one who submits.
func (s *Stream) takeSubmit(ctx context.Context) error {
	select {
	case s.submit <- struct{}{}:
		return nil
	default:
	}
	// Who has it may wait for the kernel that waits for the caller.
	if err := s.rt.checkCallback("wait for another launch"); err != nil {
		return err
	}
	select {
	case s.submit <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fill writes the kernargs, whose GPU address is addr, and makes the packet.
func (d *dispatch) fill(kernargs []byte, addr, printer uint64, args []Arg) (aql.KernelDispatch, error) {
	g := &d.geometry
	v := kernarg.LaunchValues{
		Dims: int(g.dims()), Grid: g.items, Group: g.block,
		DynamicLDS: d.dynamic, Slots: d.k.slots,
	}
	v.Slots[kernarg.PrintfBuffer] = printer
	size := d.k.kernargBytes()
	if d.coop && d.k.layout.Needs(kernarg.MultigridSync) {
		at := gridSyncOffset(size)
		gs := kernarg.GridSync{NumGrids: 1, NumWorkgroups: uint32(g.totalGroups()), AllSum: g.totalItems()}
		gs.Encode(kernargs[at:])
		v.Slots[kernarg.MultigridSync] = addr + at
	}
	if err := d.k.fillKernargs(kernargs[:size], &v, args); err != nil {
		return aql.KernelDispatch{}, err
	}
	return aql.KernelDispatch{
		Header:             aql.MakeHeader(aql.TypeKernelDispatch, !d.noBarrier, aql.ScopeSystem, aql.ScopeSystem),
		Setup:              g.dims(),
		WorkgroupSize:      g.block,
		GridSize:           g.items,
		PrivateSegmentSize: d.private,
		GroupSegmentSize:   d.group,
		KernelObject:       d.k.Object(),
		KernargAddress:     addr,
	}, nil
}

// gridSyncOffset is where the grid barrier of a cooperative launch lies: after
// its kernargs, so that it lives as long as they do.
func gridSyncOffset(kernargs uint64) uint64 { return (kernargs + 7) &^ 7 }

// kernargNeed is the kernarg ring space of a launch in bytes.
func (d *dispatch) kernargNeed() uint64 {
	need := d.k.kernargBytes()
	if d.coop {
		need = gridSyncOffset(need) + kernarg.GridSyncSize
	}
	return (need + kernargBlock - 1) / kernargBlock * kernargBlock
}

// queueFor picks the queue. Two queues do not order their packets, so a change
// waits for what the other one has.
func (s *Stream) queueFor(ctx context.Context, coop bool) (device.Queue, error) {
	if coop && s.coop == nil {
		q, err := s.rt.dev.NewQueue(device.QueueOptions{Packets: s.rt.opts.queuePackets, Cooperative: true})
		if err != nil {
			return nil, fmt.Errorf("cooperative queue: %w", err)
		}
		s.coop = q
		s.watch(q)
	}
	if coop != s.lastCoop {
		s.mu.Lock()
		head := s.head
		s.mu.Unlock()
		if err := s.waitUntil(ctx, head); err != nil {
			return nil, err
		}
		s.lastCoop = coop
	}
	if coop {
		return s.coop, nil
	}
	return s.queue, nil
}

// admission is what a launch was given. It is a copy: a device that writes over
// completion signals can have the slot retired at any time.
type admission struct {
	seq    uint64
	pos    uint64 // of the kernargs in the kernarg ring
	signal uint64 // completion signal handle
	// printer is the address of the printf buffer, 0 for none.
	printer uint64
}

// admit waits for a slot and kernarg space and takes them, with everything
// the launch retains.
func (s *Stream) admit(ctx context.Context, d *dispatch, args []Arg) (admission, error) {
	need := d.kernargNeed()
	for {
		canPrint, err := s.roomToPrint(d.k)
		if err != nil {
			return admission{}, err
		}
		s.mu.Lock()
		s.retireLocked()
		if err := s.errLocked(); err != nil {
			s.mu.Unlock()
			return admission{}, err
		}
		pos, ok := s.kernargRoomLocked(need)
		if ok && canPrint && s.head-s.tail < uint64(len(s.slots)) {
			a, err := s.takeSlotLocked(d, args, pos, pos+need)
			s.mu.Unlock()
			return a, err
		}
		tail := s.tail
		s.mu.Unlock()
		if err := s.waitFor(ctx, tail); err != nil {
			return admission{}, err
		}
	}
}

// kernargRoomLocked finds need contiguous bytes at the head of the ring.
func (s *Stream) kernargRoomLocked(need uint64) (pos uint64, ok bool) {
	if s.tail == s.head {
		s.kernargTail, s.kernargHead = 0, 0
	}
	pos = s.kernargHead
	if rest := kernargCapacity - pos%kernargCapacity; rest < need {
		pos += rest
	}
	return pos, pos+need-s.kernargTail <= kernargCapacity
}

func (s *Stream) takeSlotLocked(d *dispatch, args []Arg, pos, end uint64) (admission, error) {
	if d.retain && !d.k.m.retain() {
		return admission{}, fmt.Errorf("module: %w", ErrClosed)
	}
	sl := s.slot(s.head)
	for i := range args {
		if args[i].kind != argBuffer {
			continue
		}
		if !args[i].buf.retain() {
			err := d.k.argError(i, "buffer was freed: %w", ErrClosed)
			s.dropRetainedLocked(sl, d)
			return admission{}, err
		}
		sl.buffers = append(sl.buffers, args[i].buf)
	}
	c, err := s.takeCompletionLocked()
	if err != nil {
		s.dropRetainedLocked(sl, d)
		return admission{}, err
	}
	a := admission{seq: s.head, pos: pos, signal: c.signal.Handle()}
	if d.k.layout.Needs(kernarg.PrintfBuffer) {
		n := len(s.freePrinters) - 1 // roomToPrint saw to it
		sl.printer = s.freePrinters[n]
		s.freePrinters = s.freePrinters[:n]
		sl.printer.kernel = d.k
		a.printer = sl.printer.buffer.addr
	}
	sl.done, sl.kernargStart, sl.kernargEnd = c, s.kernargHead, end
	if d.retain {
		sl.module = d.k.m
	}
	s.kernargHead = end
	s.head++
	return a, nil
}

func (s *Stream) dropRetainedLocked(sl *slot, d *dispatch) {
	if d.retain {
		d.k.m.uses.Add(-1)
	}
	for i, b := range sl.buffers {
		b.release()
		sl.buffers[i] = nil
	}
	sl.buffers = sl.buffers[:0]
}

// withdraw takes the newest launch back, before anything of it was published.
func (s *Stream) withdraw(seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq < s.tail {
		return
	}
	sl := s.slot(seq)
	s.kernargHead = sl.kernargStart
	s.head--
	sl.done.signal.Store(abandoned)
	s.printLocked(sl) // empty, but flush knows what to do with it
	s.releaseLocked(sl)
}

// reserve takes one packet of the ring. A device that is slow to move its read
// index is waited for, but not when the stream fails meanwhile.
func (s *Stream) reserve(ctx context.Context, r *aql.Ring) (uint64, error) {
	if index, ok := r.TryReserve(1); ok {
		return index, nil
	}
	if err := s.rt.checkCallback("wait for room in the queue"); err != nil {
		return 0, err
	}
	for {
		look, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		index, err := r.Reserve(look, 1)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return index, err
		}
		if err := s.Err(); err != nil {
			return 0, err
		}
	}
}

// geometry is a grid as the packet carries it.
type geometry struct {
	block [3]uint16
	items [3]uint32
}

// dims is the setup field: how many dimensions are used.
func (g *geometry) dims() uint16 {
	switch {
	case g.items[2] > 1 || g.block[2] > 1:
		return 3
	case g.items[1] > 1 || g.block[1] > 1:
		return 2
	}
	return 1
}

// groups is the number of work-groups in each dimension, partial ones
// included.
func (g *geometry) groups() (n [3]uint64) {
	for i := range n {
		n[i] = (uint64(g.items[i]) + uint64(g.block[i]) - 1) / uint64(g.block[i])
	}
	return n
}

func (g *geometry) totalGroups() uint64 {
	n := g.groups()
	return satMul(satMul(n[0], n[1]), n[2])
}

func (g *geometry) totalItems() uint64 {
	return satMul(satMul(uint64(g.items[0]), uint64(g.items[1])), uint64(g.items[2]))
}

func (g *geometry) groupItems() uint64 {
	return uint64(g.block[0]) * uint64(g.block[1]) * uint64(g.block[2])
}

// satMul multiplies, saturating.
func satMul(a, b uint64) uint64 {
	if a != 0 && b > math.MaxUint64/a {
		return math.MaxUint64
	}
	return a * b
}
