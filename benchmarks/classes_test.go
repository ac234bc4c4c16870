package benchmarks

import (
	"cmp"
	"context"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gfxrt/runtime"
	"gfxrt/sim"
)

// classesOn lists the kernels of testdata/classes.s that a target measures:
// all on gfx90a; on gfx942 those whose work differs, the matrix instructions.
var classesOn = []struct{ target, prefix string }{{"gfx90a", "class_"}, {"gfx942", "class_mfma_"}}

// BenchmarkInstruction measures ns per wave instruction for each class: one
// wave, dispatch included. A trip has 64 instructions of the class and 4 of
// the loop, which count with it.
func BenchmarkInstruction(b *testing.B) {
	for _, c := range classesOn {
		object, err := os.ReadFile("testdata/classes." + c.target + ".hsaco")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.target, func(b *testing.B) {
			d := openSim(b, c.target, sim.Options{Threads: 1})
			mod, err := d.rt.LoadModule(b.Context(), object)
			if err != nil {
				b.Fatal(err)
			}
			memory := d.alloc(b, 64<<10)
			kernels := mod.Kernels()
			// Descriptors lie in the order of the source.
			slices.SortFunc(kernels, func(a, b *runtime.Kernel) int { return cmp.Compare(a.Object(), b.Object()) })
			for _, k := range kernels {
				if strings.HasPrefix(k.Name(), c.prefix) {
					b.Run(strings.TrimPrefix(k.Name(), "class_"), func(b *testing.B) { d.class(b, k, memory) })
				}
			}
		})
	}
}

// class measures one kernel: an op is a launch of 100 trips.
func (d *simulated) class(b *testing.B, k *runtime.Kernel, memory *runtime.Buffer) {
	const trips = 100
	args := binary.LittleEndian.AppendUint64(nil, memory.Addr())
	args = binary.LittleEndian.AppendUint32(args, trips)
	block := uint32(64)
	if strings.Contains(k.Name(), "barrier") {
		block = 256
	}
	ctx := context.Background()
	launch := func() {
		l, err := d.stream.Launch(ctx, k, runtime.LaunchConfig{Grid: runtime.Dim3{X: 1}, Block: runtime.Dim3{X: block}}, runtime.Bytes(args))
		if err == nil {
			err = l.Wait(ctx)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	launch() // decodes
	before := d.sim.Instructions()
	start := time.Now()
	for b.Loop() {
		launch()
	}
	elapsed := time.Since(start)
	n := d.sim.Instructions() - before
	if least := uint64(b.N) * trips * 4; n < least {
		b.Fatalf("%d instructions completed, at least %d were started", n, least)
	}
	b.ReportMetric(float64(elapsed.Nanoseconds())/float64(n), "ns/inst")
}
