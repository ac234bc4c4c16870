package benchmarks

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"testing"
	"time"

	"gfxrt/runtime"
	"gfxrt/sim"
)

// batches are the numbers of launches submitted before a wait.
var batches = []int{1, 20, 100, 1000}

// empty makes the smallest launch: one wave that runs one trip of an empty loop.
func (d *simulated) empty(b *testing.B) func() {
	b.Helper()
	object, err := os.ReadFile("testdata/classes.gfx90a.hsaco")
	if err != nil {
		b.Fatal(err)
	}
	mod, err := d.rt.LoadModule(b.Context(), object)
	if err != nil {
		b.Fatal(err)
	}
	k, err := mod.Kernel("class_empty")
	if err != nil {
		b.Fatal(err)
	}
	args := binary.LittleEndian.AppendUint64(nil, d.alloc(b, 64<<10).Addr())
	args = binary.LittleEndian.AppendUint32(args, 1)
	cfg := runtime.LaunchConfig{Grid: runtime.Dim3{X: 1}, Block: runtime.Dim3{X: 64}}
	ctx := context.Background()
	return func() {
		if _, err := d.stream.Launch(ctx, k, cfg, runtime.Bytes(args)); err != nil {
			b.Fatal(err)
		}
	}
}

func (d *simulated) wait(b *testing.B) {
	if err := d.stream.Wait(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSubmit measures Launch alone: an op is a batch, and the wait between
// batches is not counted in ns/launch. Allocations are those of the whole
// process, the device's side and the waits included.
func BenchmarkSubmit(b *testing.B) {
	for _, n := range batches {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			d := openSim(b, "gfx90a", sim.Options{})
			launch := d.empty(b)
			warm(b, d, launch)
			b.ReportAllocs()
			var submitting time.Duration
			for b.Loop() {
				start := time.Now()
				for range n {
					launch()
				}
				submitting += time.Since(start)
				d.wait(b)
			}
			b.ReportMetric(float64(submitting.Nanoseconds())/float64(b.N)/float64(n), "ns/launch")
			b.ReportMetric(0, "ns/op") // it holds the waits
		})
	}
}

// BenchmarkLaunch measures launches with one wait at the end of each batch. A
// batch of one is the latency of a launch; a large one its throughput.
func BenchmarkLaunch(b *testing.B) {
	for _, n := range batches {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			d := openSim(b, "gfx90a", sim.Options{})
			launch := d.empty(b)
			warm(b, d, launch)
			b.ReportAllocs()
			for b.Loop() {
				for range n {
					launch()
				}
				d.wait(b)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/launch")
		})
	}
}

// warm fills every pool that grows on first use: a ring full of launches.
func warm(b *testing.B, d *simulated, launch func()) {
	b.Helper()
	for range 2 {
		for range 1024 {
			launch()
		}
		d.wait(b)
	}
}
