// Package cp is the command processor: it reads AQL packets from queue rings,
// starts work-groups on the host's cores and signals completion.
package cp

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"gfxrt/runtime/device"
	"gfxrt/sim/exec"
)

// job is a dispatch that runs.
type job struct {
	launch *exec.Launch
	groups [3]uint32
	total  uint64
	limit  int64 // groups resident at once, as the hardware would hold

	next     atomic.Uint64 // next group to start
	finished atomic.Uint64
	resident atomic.Int64
	executed atomic.Uint64
	stopped  atomic.Bool

	mu     sync.Mutex
	parked []*parkedGroup
	fault  *device.Fault

	start    uint64 // timestamp
	complete func(*job)
	done     chan struct{}
	doneOnce sync.Once
}

// parkedGroup is a group that gave way, with how often it was pre-empted: it
// gets longer turns as it shows that it computes rather than waits.
type parkedGroup struct {
	g     *exec.Group
	turns int
}

// quantum is how many instructions each wave of a group may execute before
// others get the core. It starts small so that a group which waits for others
// lets them start soon.
const (
	firstQuantum = 1 << 12
	maxQuantum   = 1 << 20
)

func quantum(turns int) int { return min(firstQuantum<<min(turns, 8), maxQuantum) }

// groupID converts a linear index.
func (j *job) groupID(i uint64) [3]uint32 {
	x, y := uint64(j.groups[0]), uint64(j.groups[1])
	return [3]uint32{uint32(i % x), uint32(i / x % y), uint32(i / x / y)}
}

// take reserves the next group to start, if another may become resident.
func (j *job) take() (uint64, bool) {
	if j.next.Load() >= j.total {
		return 0, false
	}
	if j.resident.Add(1) > j.limit {
		j.resident.Add(-1)
		return 0, false
	}
	i := j.next.Add(1) - 1
	if i >= j.total {
		j.resident.Add(-1)
		return 0, false
	}
	return i, true
}

// park puts a group that gave way in line, and wakes a sleeping worker when
// the line is longer than what this one takes next.
func (w *worker) park(j *job, p *parkedGroup) {
	j.mu.Lock()
	j.parked = append(j.parked, p)
	n := len(j.parked)
	j.mu.Unlock()
	if n > 1 && w.p.idle.Load() > 0 {
		w.p.wake.Signal()
	}
}

// unpark takes the group that has waited longest, or with a random source any.
func (j *job) unpark(r *rand.Rand) *parkedGroup {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := len(j.parked)
	if n == 0 {
		return nil
	}
	i := 0
	if r != nil {
		i = r.IntN(n)
	}
	p := j.parked[i]
	copy(j.parked[i:], j.parked[i+1:])
	j.parked[n-1] = nil
	j.parked = j.parked[:n-1]
	return p
}

// runnable reports whether a worker would find something to do.
func (j *job) runnable() bool {
	if j.stopped.Load() {
		return false
	}
	if j.next.Load() < j.total && j.resident.Load() < j.limit {
		return true
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.parked) > 0
}

// stop ends the job with a fault, nil for a cancellation without one. The
// first call counts.
func (j *job) stop(f *device.Fault) {
	j.mu.Lock()
	if j.fault == nil {
		j.fault = f
	}
	j.mu.Unlock()
	j.stopped.Store(true)
	j.finish()
}

// finish runs the completion exactly once.
func (j *job) finish() {
	j.doneOnce.Do(func() {
		j.complete(j)
		close(j.done)
	})
}

// worker runs groups of the processor's jobs.
type worker struct {
	p    *Processor
	free []*exec.Group
	rng  *rand.Rand
	idle int // turns since a group last made progress

	mu sync.Mutex // held while a group is out of the line: see turn
}

func (w *worker) group() *exec.Group {
	if n := len(w.free); n > 0 {
		g := w.free[n-1]
		w.free = w.free[:n-1]
		return g
	}
	return exec.NewGroup(w.p.slot())
}

// work runs groups of j until it has nothing runnable, or another job waits
// for a worker.
func (w *worker) work(j *job) {
	w.p.machine.Space.Enter()
	defer w.p.machine.Space.Leave()
	for !j.stopped.Load() {
		if !w.turn(j) || w.p.contended() {
			return
		}
		if w.idle > 0 {
			w.backOff(j)
		}
	}
}

// turn picks a group and runs it for a while. w.mu is held throughout, so
// that an inspector who holds it finds every started group parked. It reports
// whether to look for more in this job.
func (w *worker) turn(j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pick(j)
	return p != nil && w.run(j, p)
}

// pick starts a new group when one may become resident, else resumes one.
// With a seed the choice is random.
func (w *worker) pick(j *job) *parkedGroup {
	if w.rng != nil && w.rng.IntN(2) == 0 {
		if p := j.unpark(w.rng); p != nil {
			return p
		}
	}
	if i, ok := j.take(); ok {
		g := w.group()
		g.Start(j.launch, j.groupID(i))
		return &parkedGroup{g: g}
	}
	return j.unpark(w.rng)
}

// run gives the group one turn.
func (w *worker) run(j *job, p *parkedGroup) bool {
	out := p.g.Run(quantum(p.turns), &j.stopped, &w.p.attention)
	switch out {
	case exec.Faulted:
		f := p.g.Fault()
		w.free = append(w.free, p.g)
		j.stop(f)
		return false
	case exec.Preempted:
		w.idle = 0
		p.turns++
		w.park(j, p)
		return true
	case exec.Waiting:
		w.idle++
		w.park(j, p)
		return true
	}
	w.idle = 0
	j.executed.Add(p.g.Executed())
	w.free = append(w.free, p.g)
	j.resident.Add(-1)
	if j.finished.Add(1) == j.total {
		j.finish()
		return false
	}
	return true
}

// backOff sleeps when every resident group has given way without progress:
// they wait for the host or for a clock.
func (w *worker) backOff(j *job) {
	if j.next.Load() < j.total && j.resident.Load() < j.limit {
		return
	}
	j.mu.Lock()
	n := len(j.parked)
	j.mu.Unlock()
	if w.idle > 2*n+8 {
		time.Sleep(20 * time.Microsecond)
	}
}
