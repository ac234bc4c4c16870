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

// job is a dispatch that runs. Jobs are reused: refs counts who may still
// touch one (the queue that made it, workers, those who stop it).
type job struct {
	launch exec.Launch
	groups [3]uint32
	total  uint64
	limit  int64 // groups resident at once, as the hardware would hold

	q          *Queue
	index      uint64 // of the packet
	completion uint64 // signal handle
	slot       int    // packet copy, -1 for none
	start      uint64 // timestamp

	next     atomic.Uint64 // next group to start
	finished atomic.Uint64
	resident atomic.Int64
	executed atomic.Uint64
	stopped  atomic.Bool
	ended    atomic.Bool
	refs     atomic.Int32

	mu     sync.Mutex
	parked []*exec.Group // groups that gave way, in the order they did
	fault  *device.Fault
}

// newJob returns a job with one reference.
func (p *Processor) newJob() *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	var j *job
	if n := len(p.spare); n > 0 {
		j = p.spare[n-1]
		p.spare = p.spare[:n-1]
	} else {
		j = &job{}
	}
	j.refs.Store(1)
	p.machine.Space.Enter()
	return j
}

// maxSpare bounds the jobs kept for reuse.
const maxSpare = 64

// drop gives a reference back; the last one makes the job reusable.
func (p *Processor) drop(j *job) {
	if j.refs.Add(-1) > 0 {
		return
	}
	// Waves remember regions as long as the job lives, also while parked.
	p.machine.Space.Leave()
	j.next.Store(0)
	j.finished.Store(0)
	j.resident.Store(0)
	j.executed.Store(0)
	j.stopped.Store(false)
	j.ended.Store(false)
	clear(j.parked)
	j.parked = j.parked[:0]
	j.launch, j.q, j.fault = exec.Launch{}, nil, nil
	p.mu.Lock()
	if len(p.spare) < maxSpare {
		p.spare = append(p.spare, j)
	}
	p.mu.Unlock()
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
func (w *worker) park(j *job, g *exec.Group) {
	j.mu.Lock()
	j.parked = append(j.parked, g)
	n := len(j.parked)
	j.mu.Unlock()
	if n > 1 && w.p.idle.Load() > 0 {
		w.p.wake.Signal()
	}
}

// unpark takes the group that has waited longest, or with a random source any.
func (j *job) unpark(r *rand.Rand) *exec.Group {
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
	g := j.parked[i]
	copy(j.parked[i:], j.parked[i+1:])
	j.parked[n-1] = nil
	j.parked = j.parked[:n-1]
	return g
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

// finish completes the job, once.
func (j *job) finish() {
	if j.ended.CompareAndSwap(false, true) {
		j.q.finish(j)
	}
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
	g := w.pick(j)
	return g != nil && w.run(j, g)
}

// pick starts a new group when one may become resident, else resumes one.
// With a seed the choice is random.
func (w *worker) pick(j *job) *exec.Group {
	if w.rng != nil && w.rng.IntN(2) == 0 {
		if g := j.unpark(w.rng); g != nil {
			return g
		}
	}
	if i, ok := j.take(); ok {
		g := w.group()
		g.Start(&j.launch, j.groupID(i))
		return g
	}
	return j.unpark(w.rng)
}

// run gives the group one turn. A group that was pre-empted often gets longer
// ones: it shows that it computes rather than waits.
func (w *worker) run(j *job, g *exec.Group) bool {
	switch g.Run(quantum(g.Preemptions()), &j.stopped, &w.p.attention) {
	case exec.Faulted:
		f := g.Fault()
		w.free = append(w.free, g)
		j.stop(f)
		return false
	case exec.Preempted:
		w.idle = 0
		w.park(j, g)
		return true
	case exec.Waiting:
		w.idle++
		w.park(j, g)
		return true
	}
	w.idle = 0
	j.executed.Add(g.Executed())
	w.free = append(w.free, g)
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
		w.idle = n + 8 // the others get a round before the next sleep
	}
}
