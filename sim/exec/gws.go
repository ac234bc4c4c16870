package exec

import (
	"math/bits"
	"sync"

	"gfxrt/sim/isa"
)

// GWS is the global wave sync unit of a queue: 64 barrier and semaphore
// resources shared by all work-groups (Vega ISA, DS_GWS_*).
type GWS struct {
	mu  sync.Mutex
	res [64]gwsResource
}

type gwsResource struct {
	need       uint32 // waves a barrier waits for
	arrived    uint32
	generation uint64
	count      int64 // semaphore
}

// GDS is the global data share, 64 KiB for all work-groups of a device.
type GDS struct {
	mu    sync.Mutex
	bytes []byte
}

// NewGDS makes a zeroed global data share.
func NewGDS() *GDS { return &GDS{bytes: make([]byte, 64<<10)} }

// Reset makes barrier resource i wait for n waves, as the driver does for a
// cooperative launch.
func (g *GWS) Reset(i int, n uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.res[i] = gwsResource{need: n, generation: g.res[i].generation + 1}
}

// compileGWS chooses among the ds_gws_ instructions.
func compileGWS(name string) func(w *Wave, in *inst) {
	switch name {
	case "init":
		return func(w *Wave, in *inst) {
			if !w.reaches(in) {
				return
			}
			w.m.gws.Reset(w.gwsIndex(in), w.gwsValue(in)+1)
		}
	case "barrier":
		return gwsBarrier
	case "sema_v":
		return func(w *Wave, in *inst) { w.semaphore(in, 1) }
	case "sema_br":
		return func(w *Wave, in *inst) { w.semaphore(in, int64(w.gwsValue(in))) }
	case "sema_p":
		return gwsP
	case "sema_release_all":
		return func(w *Wave, in *inst) { w.semaphore(in, 1<<32) }
	}
	return nil
}

// gwsIndex is the resource: M0[21:16] plus the instruction's offset.
func (w *Wave) gwsIndex(in *inst) int {
	return int(w.S[isa.OperandM0]>>16+uint32(in.i.Offset)) & 63
}

// gwsValue is the data of the first active lane.
func (w *Wave) gwsValue(in *inst) uint32 {
	o := in.i.Src[1]
	if o == isa.OperandNone {
		o = in.i.Src[0]
	}
	if o == isa.OperandNone {
		return 0
	}
	return w.row(o)[bits.TrailingZeros64(w.exec()|1<<63)]
}

// gwsBarrier waits until as many waves as the resource asks for have come.
// A waiting wave yields and executes the instruction again.
func gwsBarrier(w *Wave, in *inst) {
	if !w.reaches(in) {
		return
	}
	g := w.m.gws
	g.mu.Lock()
	defer g.mu.Unlock()
	r := &g.res[w.gwsIndex(in)]
	if !w.gwsWaiting {
		// The barrier's data is the count less one, like the initial value.
		if r.need == 0 {
			r.need = w.gwsValue(in) + 1
		}
		w.gwsWaiting, w.gwsGen = true, r.generation
		r.arrived++
		if r.arrived >= r.need {
			r.arrived = 0
			r.generation++
		}
	}
	if r.generation != w.gwsGen {
		w.gwsWaiting = false
		return
	}
	w.retry(in)
}

// retry makes the wave give way and execute in again.
func (w *Wave) retry(in *inst) {
	w.pc = w.at
	w.state = yielded
}

func (w *Wave) semaphore(in *inst, n int64) {
	if !w.reaches(in) {
		return
	}
	g := w.m.gws
	g.mu.Lock()
	defer g.mu.Unlock()
	g.res[w.gwsIndex(in)].count += n
}

func gwsP(w *Wave, in *inst) {
	g := w.m.gws
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := &g.res[w.gwsIndex(in)]; r.count > 0 {
		r.count--
		return
	}
	w.retry(in)
}
