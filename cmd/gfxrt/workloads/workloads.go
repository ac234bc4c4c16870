// Package workloads defines the kernels that gfxrt bench and the benchmarks
// measure: the committed object, the launch, seeded inputs and an oracle in
// plain Go that says what the output must be.
package workloads

import (
	"encoding/binary"
	"fmt"
	"math"
	goruntime "runtime"
	"slices"
	"sync"

	"gfxrt/kernels"
	"gfxrt/runtime"
)

// Workload is one kernel at one size.
type Workload struct {
	Name   string // also the object's name in kernels/
	Kernel string // of the object's kernels, the one measured
	Size   string // for people
	// Processor is what the workload runs on when nothing else is asked for.
	Processor   string
	Grid, Block runtime.Dim3 // grid in work-groups
	// Prepare makes the inputs and the oracle; every call gives the same.
	Prepare func() *Problem
}

// Problem is a workload's inputs and answer.
type Problem struct {
	// Buffers are the first arguments; Scalars, all unsigned 32-bit, follow.
	Buffers []Buffer
	Scalars []uint32
	// Globals are module variables to set before the first launch.
	Globals []Global
	// Output is the index of the buffer that the kernel writes.
	Output int
	// Check computes the answer on the host and returns an error that names
	// the first element of the output that is wrong.
	Check func(output []byte) error
}

// Buffer is a device buffer.
type Buffer struct {
	Size int    // bytes
	Data []byte // content before each launch; nil is zeros
}

// Global is a module variable.
type Global struct {
	Name string
	Data []byte
}

// Object is the committed code object for a processor. Errors wrap
// fs.ErrNotExist.
func (w *Workload) Object(processor string) ([]byte, error) {
	b, err := kernels.Object(processor, w.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: no object for %s: %w", w.Name, processor, err)
	}
	return b, nil
}

// All lists the workloads in their documented order.
func All() []*Workload { return slices.Clone(all) }

// Named finds a workload; nil when there is none.
func Named(name string) *Workload {
	for _, w := range all {
		if w.Name == name {
			return w
		}
	}
	return nil
}

// Names lists the workloads' names.
func Names() []string {
	var s []string
	for _, w := range all {
		s = append(s, w.Name)
	}
	return s
}

// random is George Marsaglia's xorshift64 (13, 7, 17).
type random uint64

func newRandom() *random { r := random(0x9E3779B97F4A7C15); return &r }

func (r *random) u32() uint32 {
	x := *r
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*r = x
	return uint32(x >> 16)
}

// unit is a float in [lo,hi) with 24 random bits.
func (r *random) float(lo, hi float32) float32 {
	return lo + float32((hi-lo)*float32(r.u32()>>8)/(1<<24))
}

// floats are n random floats in [lo,hi), in memory order.
func (r *random) floats(n int, lo, hi float32) []byte {
	b := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(r.float(lo, hi)))
	}
	return b
}

func f32(b []byte, i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])) }

// decode is a buffer's floats.
func decode(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = f32(b, i)
	}
	return v
}

// parallel calls f for pieces of [0,n) on all processors and returns the error
// of the lowest piece that has one.
func parallel(n int, f func(lo, hi int) error) error {
	workers := goruntime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { errs[w] = f(n*w/workers, n*(w+1)/workers) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// near says when x (got) and y (want) are more than tolerance apart.
func near(i int, x float32, y, tolerance float64) error {
	if d := math.Abs(float64(x) - y); d <= tolerance {
		return nil
	}
	return fmt.Errorf("element %d is %v, want %v within %.2g", i, x, float32(y), tolerance)
}
