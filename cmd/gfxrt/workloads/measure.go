package workloads

import (
	"context"
	"slices"
	"time"

	"gfxrt/runtime"
)

// Measurement is a workload's result on a simulated device.
type Measurement struct {
	Instructions uint64          // completed by waves, from the counted run
	Times        []time.Duration // of the uncounted runs, ascending
}

// Median is the middle time.
func (m *Measurement) Median() time.Duration { return m.Times[len(m.Times)/2] }

const (
	leastRuns = 3
	mostRuns  = 9
	enough    = 3 * time.Second // no further run after this
)

// Measure runs the workload once counted, which also warms caches and maps
// memory, then at least three times for the clock, and last compares the
// output with the oracle. count gives the device's completed instructions.
// Errors wrap ErrWrong when the output differs; the measurement is returned
// with them.
func (w *Workload) Measure(ctx context.Context, rt *runtime.Runtime, count func() uint64) (*Measurement, error) {
	r, err := w.Start(ctx, rt)
	if err != nil {
		return nil, err
	}
	before := count()
	if _, err := r.Launch(ctx); err != nil {
		return nil, err
	}
	m := &Measurement{Instructions: count() - before}
	var total time.Duration
	for len(m.Times) < leastRuns || len(m.Times) < mostRuns && total < enough {
		d, err := r.Launch(ctx)
		if err != nil {
			return nil, err
		}
		m.Times = append(m.Times, d)
		total += d
	}
	slices.Sort(m.Times)
	return m, r.Check()
}
