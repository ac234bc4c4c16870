package cp

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gfxrt/elf"
	"gfxrt/runtime/device"
	"gfxrt/sim/exec"
)

// Processor is the command processor of one simulated GPU.
type Processor struct {
	machine *exec.Machine
	target  elf.Target
	info    device.Info
	observe *exec.Observer

	mu      sync.Mutex
	wake    *sync.Cond
	jobs    []*job
	spare   []*job
	turn    int // next job to serve first
	closed  bool
	workers []*worker
	wg      sync.WaitGroup
	njobs   atomic.Int32
	idle    atomic.Int32 // workers in await
	// attention asks the workers to end their turns early.
	attention atomic.Bool
	slots     atomic.Int64

	executed atomic.Uint64 // instructions of finished dispatches

	waitMu  sync.Mutex
	waiters []*waiter
}

// Options are what a processor is made from.
type Options struct {
	Machine  *exec.Machine
	Target   elf.Target
	Info     device.Info
	Threads  int     // workers; at least 1
	Seed     *uint64 // fixes the order of groups; then there is one worker
	Observer *exec.Observer
}

// New starts a processor's workers.
func New(o Options) *Processor {
	p := &Processor{machine: o.Machine, target: o.Target, info: o.Info, observe: o.Observer}
	p.wake = sync.NewCond(&p.mu)
	n := max(1, o.Threads)
	if o.Seed != nil {
		n = 1
	}
	for range n {
		w := &worker{p: p}
		if o.Seed != nil {
			w.rng = rand.New(rand.NewPCG(*o.Seed, 0x9e3779b97f4a7c15))
		}
		p.workers = append(p.workers, w)
		p.wg.Go(func() { p.loop(w) })
	}
	return p
}

func (p *Processor) slot() int { return int(p.slots.Add(1) - 1) }

// contended reports whether several dispatches share the workers.
func (p *Processor) contended() bool { return p.njobs.Load() > 1 }

// loop is the life of a worker.
func (p *Processor) loop(w *worker) {
	for {
		j := p.await()
		if j == nil {
			return
		}
		w.work(j)
		p.drop(j)
	}
}

// await returns a runnable job, or nil when the processor closes.
func (p *Processor) await() *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.closed {
			return nil
		}
		for i := range p.jobs {
			j := p.jobs[(p.turn+i)%len(p.jobs)]
			if j.runnable() {
				p.turn = (p.turn + i + 1) % len(p.jobs)
				j.refs.Add(1)
				return j
			}
		}
		p.idle.Add(1)
		p.wake.Wait()
		p.idle.Add(-1)
	}
}

func (p *Processor) submit(j *job) {
	p.mu.Lock()
	p.jobs = append(p.jobs, j)
	p.njobs.Add(1)
	p.mu.Unlock()
	p.wake.Broadcast()
}

// remove takes a finished job off the list.
func (p *Processor) remove(j *job) {
	p.mu.Lock()
	if i := slices.Index(p.jobs, j); i >= 0 {
		p.jobs = slices.Delete(p.jobs, i, i+1)
		p.njobs.Add(-1)
	}
	p.mu.Unlock()
}

// Notify tells everyone who waits for a signal to look again.
func (p *Processor) Notify() {
	p.waitMu.Lock()
	for _, w := range p.waiters {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
	p.waitMu.Unlock()
}

// waiter is someone in Await.
type waiter struct {
	wake  chan struct{} // capacity 1
	timer *time.Timer
}

var waiters = sync.Pool{New: func() any {
	return &waiter{wake: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
}}

func (p *Processor) enter() *waiter {
	w := waiters.Get().(*waiter)
	p.waitMu.Lock()
	p.waiters = append(p.waiters, w)
	p.waitMu.Unlock()
	return w
}

func (p *Processor) leave(w *waiter) {
	p.waitMu.Lock()
	if i := slices.Index(p.waiters, w); i >= 0 {
		p.waiters = slices.Delete(p.waiters, i, i+1)
	}
	p.waitMu.Unlock()
	w.timer.Stop()
	select {
	case <-w.wake:
	default:
	}
	waiters.Put(w)
}

// Poll intervals of waits on signals: kernels change signals in memory
// without telling anyone.
const (
	pollFirst = 20 * time.Microsecond
	pollMax   = time.Millisecond
)

// Await blocks until cond holds (true) or stop is closed (false).
func (p *Processor) Await(stop <-chan struct{}, cond func() bool) bool {
	if cond() {
		return true
	}
	w := p.enter()
	defer p.leave(w)
	for pause := pollFirst; !cond(); {
		w.timer.Reset(pause)
		select {
		case <-stop:
			return cond()
		case <-w.wake:
		case <-w.timer.C:
			pause = min(2*pause, pollMax)
		}
	}
	return true
}

// Executed is the number of instructions that waves of finished dispatches
// completed since the processor was made.
func (p *Processor) Executed() uint64 { return p.executed.Load() }

// hold returns the jobs with a reference each. p.mu is held.
func (p *Processor) hold() []*job {
	jobs := slices.Clone(p.jobs)
	for _, j := range jobs {
		j.refs.Add(1)
	}
	return jobs
}

// Waves reports where every wave of every running dispatch stands. Groups are
// looked at between their turns.
func (p *Processor) Waves() []exec.WaveState {
	p.attention.Store(true)
	defer p.attention.Store(false)
	for _, w := range p.workers {
		w.mu.Lock()
		defer w.mu.Unlock()
	}
	p.mu.Lock()
	jobs := p.hold()
	p.mu.Unlock()
	var out []exec.WaveState
	for _, j := range jobs {
		defer p.drop(j)
		j.mu.Lock()
		for _, g := range j.parked {
			out = g.States(out)
		}
		j.mu.Unlock()
	}
	return out
}

// Close stops all dispatches and ends the workers.
func (p *Processor) Close() {
	p.mu.Lock()
	p.closed = true
	jobs := p.hold()
	p.mu.Unlock()
	for _, j := range jobs {
		j.stop(nil)
		p.drop(j)
	}
	p.wake.Broadcast()
	p.wg.Wait()
}
