package benchmarks

import (
	"runtime"
	"testing"
	"time"

	"gfxrt/cmd/gfxrt/workloads"
	"gfxrt/sim"
)

// BenchmarkKernel measures the workloads of gfxrt bench with one worker for
// each processor (-cpu sets how many): ns/op and completed wave instructions a
// second. The output of the last launch is held to the oracle.
func BenchmarkKernel(b *testing.B) {
	for _, w := range workloads.All() {
		b.Run(w.Name, func(b *testing.B) {
			d := openSim(b, w.Processor, sim.Options{Threads: runtime.GOMAXPROCS(0)})
			r, err := w.Start(b.Context(), d.rt)
			if err != nil {
				b.Fatal(err)
			}
			launch := func() time.Duration {
				t, err := r.Launch(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				return t
			}
			launch() // maps memory, decodes
			before := d.sim.Instructions()
			var total time.Duration
			for b.Loop() {
				total += launch()
			}
			n := d.sim.Instructions() - before
			if err := r.Check(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns/op")
			b.ReportMetric(float64(n)/total.Seconds(), "inst/s")
		})
	}
}
