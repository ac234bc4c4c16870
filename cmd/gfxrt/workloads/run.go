package workloads

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gfxrt/runtime"
)

// Run is a workload that is ready to be launched on a device.
type Run struct {
	problem *Problem
	kernel  *runtime.Kernel
	config  runtime.LaunchConfig
	stream  *runtime.Stream
	buffers []*runtime.Buffer
	args    []runtime.Arg
}

// Start loads the object for the device's processor and fills the buffers and
// variables. What it makes lives until rt is closed.
func (w *Workload) Start(ctx context.Context, rt *runtime.Runtime) (*Run, error) {
	processor, _, _ := strings.Cut(rt.Info().Target, ":")
	object, err := w.Object(processor)
	if err != nil {
		return nil, err
	}
	r := &Run{problem: w.Prepare(), config: runtime.LaunchConfig{Grid: w.Grid, Block: w.Block}}
	if err := r.load(ctx, rt, w, object); err != nil {
		return nil, fmt.Errorf("%s: %w", w.Name, err)
	}
	return r, nil
}

func (r *Run) load(ctx context.Context, rt *runtime.Runtime, w *Workload, object []byte) error {
	mod, err := rt.LoadModule(ctx, object)
	if err != nil {
		return err
	}
	for _, g := range r.problem.Globals {
		v, err := mod.Global(g.Name)
		if err == nil {
			err = v.Write(0, g.Data)
		}
		if err != nil {
			return err
		}
	}
	if r.kernel, err = mod.Kernel(w.Kernel); err != nil {
		return err
	}
	for _, b := range r.problem.Buffers {
		buf, err := rt.Alloc(uint64(b.Size), runtime.DeviceLocal)
		if err != nil {
			return err
		}
		r.buffers, r.args = append(r.buffers, buf), append(r.args, runtime.Ptr(buf))
		if b.Data == nil {
			continue // Launch clears it
		}
		if err := buf.Write(0, b.Data); err != nil {
			return err
		}
	}
	for _, x := range r.problem.Scalars {
		r.args = append(r.args, runtime.U32(x))
	}
	r.stream, err = rt.NewStream()
	return err
}

// Launch clears the output, runs the kernel once and returns the time from
// just before its packet is published to its completion signal.
func (r *Run) Launch(ctx context.Context) (time.Duration, error) {
	out := r.buffers[r.problem.Output]
	zeros := make([]byte, min(out.Size(), 1<<20))
	for off := uint64(0); off < out.Size(); off += uint64(len(zeros)) {
		if err := out.Write(off, zeros[:min(uint64(len(zeros)), out.Size()-off)]); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	l, err := r.stream.Launch(ctx, r.kernel, r.config, r.args...)
	if err != nil {
		return 0, err
	}
	err = l.Wait(ctx)
	return time.Since(start), err
}

// ErrWrong is wrapped by Check's errors.
var ErrWrong = errors.New("the output is wrong")

// Check compares what the last launch left with the oracle.
func (r *Run) Check() error {
	out := make([]byte, r.buffers[r.problem.Output].Size())
	if err := r.buffers[r.problem.Output].Read(0, out); err != nil {
		return err
	}
	if err := r.problem.Check(out); err != nil {
		return fmt.Errorf("%w: %w", ErrWrong, err)
	}
	return nil
}
