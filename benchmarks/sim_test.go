// Package benchmarks measures the simulator through the runtime, as a program
// uses it: instruction classes, kernels, launches, start-up and memory. The
// output is for benchstat. benchmarks/native compares with the host CPU.
package benchmarks

import (
	"testing"

	"gfxrt/runtime"
	"gfxrt/sim"
)

// simulated is an open simulator with a stream.
type simulated struct {
	sim    *sim.Device
	rt     *runtime.Runtime
	stream *runtime.Stream
}

func openSim(b *testing.B, target string, o sim.Options) *simulated {
	b.Helper()
	d, err := sim.Open(target, o)
	if err != nil {
		b.Fatal(err)
	}
	rt, err := runtime.New(d)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := rt.Close(); err != nil {
			b.Error(err)
		}
	})
	s, err := rt.NewStream()
	if err != nil {
		b.Fatal(err)
	}
	return &simulated{d, rt, s}
}

func (d *simulated) alloc(b *testing.B, size uint64) *runtime.Buffer {
	b.Helper()
	buf, err := d.rt.Alloc(size, runtime.DeviceLocal)
	if err != nil {
		b.Fatal(err)
	}
	return buf
}
