package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gfxrt/aql"
	"gfxrt/runtime/device"
)

// Kernargs live in one ring a stream: every launch starts on a block (the
// cache line of the scalar cache), and a block is reused when the launch it
// belonged to has completed.
const (
	kernargBlock    = 64
	kernargCapacity = 1 << 20
	maxKernargs     = kernargCapacity / 4
)

// abandoned is stored in the completion signal of a launch that will never
// complete, to wake whoever waits for it. Completion only ever decrements 1
// to 0, so the two cannot be mistaken for each other.
const abandoned = math.MinInt64 / 2

// Stream is a queue of launches that run in order. Its methods may be called
// concurrently; launches are then ordered as they are admitted.
type Stream struct {
	rt      *Runtime
	queue   device.Queue
	coop    device.Queue // for cooperative launches; nil until the first
	kernarg region

	// submit is held (by sending) from admission to doorbell. It is a channel
	// so that ctx can give up waiting for it.
	submit   chan struct{}
	lastCoop bool // guarded by submit: the last launch went to coop
	packet   aql.Packet

	watchers sync.WaitGroup // one for each queue
	waiters  sync.WaitGroup // calls that hold a completion; Add only under mu and before closed

	mu         sync.Mutex
	err        error // what made the stream unusable
	closed     bool
	released   bool   // closed, and what the slots held is gone
	slots      []slot // launch seq lives in slots[seq%len]
	tail, head uint64 // launches [tail, head) are outstanding
	// kernargTail and kernargHead are byte positions that only grow; position
	// p is kernarg.host[p%len].
	kernargTail, kernargHead uint64
	free                     []*completion

	// printing is held while output is written; it is taken before mu.
	printing     sync.Mutex
	printers     []*printer // all of them
	freePrinters []*printer
	printed      []*printer // with output to write, in launch order
}

// completion is a completion signal. It goes back to the free list when its
// launch is retired and nobody waits on it any more.
type completion struct {
	signal  device.Signal
	waiters int
	retired bool
}

// slot is what a launch holds until it has completed.
type slot struct {
	printer *printer // nil for kernels that do not print
	done    *completion
	module  *Module
	buffers []*Buffer
	// The bytes from kernargStart to kernargEnd are the launch's, what it
	// skipped to stay contiguous included.
	kernargStart, kernargEnd uint64
	start, end               uint64 // timestamps, once retired
}

// NewStream opens a queue on the device.
func (rt *Runtime) NewStream() (*Stream, error) {
	s, err := rt.newStream()
	if err != nil {
		return nil, fmt.Errorf("new stream: %w", err)
	}
	rt.mu.Lock()
	err = rt.serviceErr
	if rt.closed {
		err = fmt.Errorf("runtime: %w", ErrClosed)
	}
	if err == nil {
		rt.streams[s] = struct{}{}
	}
	rt.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("new stream: %w", errors.Join(err, s.close()))
	}
	return s, nil
}

func (rt *Runtime) newStream() (*Stream, error) {
	mem, err := rt.allocAligned(kernargCapacity, kernargBlock, HostVisible)
	if err != nil {
		return nil, fmt.Errorf("kernarg ring: %w", err)
	}
	q, err := rt.dev.NewQueue(device.QueueOptions{Packets: rt.opts.queuePackets})
	if err != nil {
		return nil, joinFree(err, mem.mem)
	}
	s := &Stream{
		rt: rt, queue: q, kernarg: mem,
		submit: make(chan struct{}, 1),
		slots:  make([]slot, q.Ring().Size()),
	}
	s.watch(q)
	return s, nil
}

// watch makes the stream fail when q does.
func (s *Stream) watch(q device.Queue) {
	errs := q.Err()
	s.watchers.Go(func() {
		for err := range errs {
			// What the kernel printed before the fault comes out before the
			// fault is reported.
			s.rt.drainServices()
			s.flushStopped()
			s.fail(fmt.Errorf("stream is unusable: %w", s.rt.decorate(err)))
		}
	})
}

// fail records why the stream is unusable and wakes all waits. The first
// reason stays. It reports whether launches were outstanding.
func (s *Stream) fail(err error) (outstanding bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.retireLocked()
	if s.tail != s.head {
		s.rt.unsettled.Store(true)
	}
	for seq := s.tail; seq != s.head; seq++ {
		if sig := s.slot(seq).done.signal; sig.Load() >= 1 {
			sig.Store(abandoned)
		}
	}
	return s.tail != s.head
}

func (s *Stream) slot(seq uint64) *slot { return &s.slots[seq%uint64(len(s.slots))] }

// retireLocked gives up what completed launches held, oldest first.
func (s *Stream) retireLocked() {
	if s.released {
		return
	}
	for s.tail != s.head {
		sl := s.slot(s.tail)
		if v := sl.done.signal.Load(); v >= 1 || s.err != nil && v <= abandoned {
			return
		}
		sl.start, sl.end = sl.done.signal.Timestamps()
		s.kernargTail = sl.kernargEnd
		s.printLocked(sl)
		s.releaseLocked(sl)
		s.tail++
	}
}

// releaseLocked lets go of what a slot holds, other than its kernargs.
func (s *Stream) releaseLocked(sl *slot) {
	sl.done.retired = true
	s.recycleLocked(sl.done)
	sl.done = nil
	if sl.module != nil {
		sl.module.uses.Add(-1)
		sl.module = nil
	}
	for i, b := range sl.buffers {
		b.release()
		sl.buffers[i] = nil
	}
	sl.buffers = sl.buffers[:0]
}

func (s *Stream) recycleLocked(c *completion) {
	if c.retired && c.waiters == 0 {
		s.free = append(s.free, c)
	}
}

// takeCompletionLocked returns a completion whose signal is 1.
func (s *Stream) takeCompletionLocked() (*completion, error) {
	if n := len(s.free); n > 0 {
		c := s.free[n-1]
		s.free = s.free[:n-1]
		c.retired = false
		c.signal.Store(1)
		return c, nil
	}
	sig, err := s.rt.dev.NewSignal(1)
	if err != nil {
		return nil, fmt.Errorf("completion signal: %w", err)
	}
	return &completion{signal: sig}, nil
}

// retire gives up what completed launches held.
func (s *Stream) retire() {
	s.mu.Lock()
	s.retireLocked()
	s.mu.Unlock()
	s.flush()
}

// Wait waits for all launches made before the call. It returns the stream's
// error when the stream has faulted, and ctx's error, with the stream still
// usable, when ctx ends first.
func (s *Stream) Wait(ctx context.Context) error {
	s.mu.Lock()
	head := s.head
	s.mu.Unlock()
	if err := s.waitUntil(ctx, head); err != nil {
		return err
	}
	return s.Err()
}

// waitUntil waits until all launches before seq have completed.
func (s *Stream) waitUntil(ctx context.Context, seq uint64) error {
	for {
		s.mu.Lock()
		s.retireLocked()
		tail := s.tail
		seq = min(seq, s.head) // a launch may have been withdrawn
		s.mu.Unlock()
		if tail >= seq {
			s.flush()
			return nil
		}
		if err := s.waitFor(ctx, tail); err != nil {
			return err
		}
	}
}

// waitFor waits until launch seq has completed and its output is written.
func (s *Stream) waitFor(ctx context.Context, seq uint64) error {
	if err := s.waitSignal(ctx, seq); err != nil {
		return err
	}
	s.flush()
	return nil
}

// waitSignal waits until launch seq has completed.
func (s *Stream) waitSignal(ctx context.Context, seq uint64) error {
	s.mu.Lock()
	s.retireLocked()
	if seq < s.tail || seq >= s.head {
		s.mu.Unlock()
		return nil
	}
	if s.closed {
		defer s.mu.Unlock()
		return s.errLocked()
	}
	if err := s.rt.checkCallback("wait"); err != nil {
		s.mu.Unlock()
		return err
	}
	c := s.slot(seq).done
	c.waiters++
	s.waiters.Add(1)
	s.mu.Unlock()

	v, err := c.signal.Wait(ctx, device.Less, 1)

	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.waiters.Done()
	c.waiters--
	s.recycleLocked(c)
	if err != nil {
		return err
	}
	if v <= abandoned && s.err != nil {
		return s.err
	}
	s.retireLocked()
	return nil
}

// Err is nil while the stream is usable, else what made it unusable.
func (s *Stream) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.errLocked()
}

func (s *Stream) errLocked() error {
	if s.err == nil && s.closed {
		return fmt.Errorf("stream: %w", ErrClosed)
	}
	return s.err
}

// Close stops the queue, abandoning what still runs, and frees what the stream
// holds. Waits for abandoned launches then return ErrClosed.
func (s *Stream) Close() error {
	if err := s.rt.checkCallback("close of a stream"); err != nil {
		return err
	}
	s.rt.mu.Lock()
	delete(s.rt.streams, s)
	s.rt.mu.Unlock()
	return s.close()
}

func (s *Stream) close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return fmt.Errorf("stream: %w", ErrClosed)
	}
	s.closed = true
	s.mu.Unlock()

	// Wake whoever waits, a launch that waits for room included, and then
	// keep launches out for good.
	s.fail(fmt.Errorf("stream: %w", ErrClosed))
	s.submit <- struct{}{}
	errs := []error{s.queue.Close()}
	if s.coop != nil {
		errs = append(errs, s.coop.Close())
	}
	s.watchers.Wait()
	s.waiters.Wait()
	s.retire()

	s.printing.Lock()
	defer s.printing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for seq := s.tail; seq != s.head; seq++ {
		s.releaseLocked(s.slot(seq))
	}
	for _, c := range s.free {
		errs = append(errs, c.signal.Close())
	}
	s.free, s.released = nil, true
	errs = append(errs, s.kernarg.mem.Free(), s.closePrinters())
	<-s.submit
	return errors.Join(errs...)
}

// Launch is a submitted launch. The zero value is not valid.
type Launch struct {
	s   *Stream
	seq uint64
}

// Wait waits until the launch has completed. It returns nil when it did, an
// error that wraps ErrFault when the stream faulted first, and ctx's error,
// with the stream still usable, when ctx ends first.
func (l Launch) Wait(ctx context.Context) error {
	if l.s == nil {
		return fmt.Errorf("wait for no launch: %w", ErrInvalidArgument)
	}
	return l.s.waitFor(ctx, l.seq)
}

// Timestamps returns the device's counter values at the launch's start and
// end (Info().TimestampHz ticks a second). ok is false before completion, and
// again when the stream has forgotten the launch: after as many launches as
// its ring has packets.
func (l Launch) Timestamps() (start, end uint64, ok bool) {
	s := l.s
	if s == nil {
		return 0, 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retireLocked()
	if l.seq >= s.tail || s.head-l.seq > uint64(len(s.slots)) {
		return 0, 0, false
	}
	sl := s.slot(l.seq)
	return sl.start, sl.end, true
}
