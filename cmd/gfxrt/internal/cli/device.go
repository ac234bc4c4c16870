package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"gfxrt/elf"
	"gfxrt/runtime"
	"gfxrt/sim"
	"gfxrt/sim/exec"
)

// session is an open device; sim is nil when it is not simulated.
type session struct {
	rt    *runtime.Runtime
	sim   *sim.Device
	trace *tracer
}

// watch is what follows a run on the simulator.
type watch struct {
	trace *tracer
	probe exec.ProbeFunc
}

// openSession opens the device of a completed device string. Whoever watches
// needs a simulator.
func openSession(ctx context.Context, dev string, w watch, opts ...runtime.Option) (*session, error) {
	tr := w.trace
	head, target, _ := strings.Cut(dev, ":")
	words := strings.Split(head, "+")
	if words[0] != "sim" {
		if tr != nil {
			return nil, usagef("--trace needs a simulated device, not %s", dev)
		}
		if w.probe != nil {
			return nil, usagef("--fidelity needs a simulated device, not %s", dev)
		}
		rt, err := runtime.Open(ctx, dev, opts...)
		if err != nil {
			return nil, usagef("--device: %w", err)
		}
		return &session{rt: rt}, nil
	}
	o, err := sim.ParseOptions(words[1:])
	if err != nil {
		return nil, usagef("--device %s: %w", dev, err)
	}
	if tr != nil {
		o.Trace, o.TraceWant = tr.event, tr.filter.want
	}
	o.Probe = w.probe
	d, err := sim.Open(target, o)
	if err != nil {
		return nil, inputError(fmt.Errorf("device %s: %w", dev, err))
	}
	rt, err := runtime.New(d, opts...)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &session{rt: rt, sim: d, trace: tr}, nil
}

// simulated reports whether the simulator has a profile of the processor.
func simulated(t elf.Target) bool {
	return slices.ContainsFunc(sim.Profiles(), func(p runtime.Info) bool {
		name, _, _ := strings.Cut(p.Target, ":")
		return name == t.Processor
	})
}

// maxWaves bounds the report about waves.
const maxWaves = 64

// reportWaves tells where each wave stands. mod gives names; it may be nil.
func (s *session) reportWaves(w io.Writer, mod *runtime.Module) {
	if s.sim == nil {
		return
	}
	s.trace.stop()
	waves := s.sim.Waves()
	if len(waves) == 0 {
		return
	}
	fmt.Fprintf(w, "gfxrt: %d waves have not ended\n", len(waves))
	for i, v := range waves {
		if i == maxWaves {
			fmt.Fprintf(w, "  … %d more\n", len(waves)-i)
			break
		}
		line := fmt.Sprintf("  kernel %s  work-group (%d,%d,%d) wave %d  %s  pc %s: %s\n", kernelName(mod, v.KernelObject),
			v.Group[0], v.Group[1], v.Group[2], v.Wave, v.State, place(mod, v.PC), instructionAt(mod, v.PC))
		io.WriteString(w, printable(line)) // there is nobody left to tell
	}
}

// kernelName is the name of the kernel with that descriptor; mod may be nil.
func kernelName(mod *runtime.Module, object uint64) string {
	if mod != nil {
		for _, k := range mod.Kernels() {
			if k.Object() == object {
				return k.Name()
			}
		}
	}
	return fmt.Sprintf("%#x", object)
}

// place is a GPU address with the symbol it lies in.
func place(mod *runtime.Module, pc uint64) string {
	if mod == nil || pc < mod.Base() {
		return fmt.Sprintf("%#x", pc)
	}
	name, off, ok := mod.Object().SymbolAt(pc - mod.Base())
	if !ok {
		return fmt.Sprintf("%#x", pc)
	}
	return fmt.Sprintf("%#x <%s+%#x>", pc, name, off)
}

// tracer prints what waves execute. A nil tracer does nothing.
type tracer struct {
	mu     sync.Mutex
	w      *bufio.Writer
	filter traceFlag
	mod    *runtime.Module
	ended  bool
}

func newTracer(w io.Writer, filter traceFlag) *tracer {
	return &tracer{w: bufio.NewWriter(w), filter: filter}
}

// setModule gives the symbols of addresses.
func (t *tracer) setModule(mod *runtime.Module) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mod = mod
}

func (t *tracer) flush() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.w.Flush()
}

// stop ends the trace of waves that still run, so that what is printed next
// stays whole. A failure to write shows in flush.
func (t *tracer) stop() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.w.Flush()
}

// event prints one executed instruction; device threads call it.
func (t *tracer) event(ev sim.TraceEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	fmt.Fprintf(t.w, "(%d,%d,%d) wave %d  %s  %s", ev.Group[0], ev.Group[1], ev.Group[2], ev.Wave, place(t.mod, ev.PC), ev.Text)
	for _, r := range ev.Writes {
		fmt.Fprintf(t.w, "  %s=%s", r.Name, registerText(r))
	}
	t.w.WriteByte('\n') // a failure to write shows in flush
}

// registerText prints what an instruction wrote: a scalar's value, or the
// value of each lane that changed.
func registerText(r sim.RegWrite) string {
	var s []string
	if r.Lanes == 0 { // the high dword first, as one number
		for _, x := range slices.Backward(r.Values) {
			s = append(s, fmt.Sprintf("%08x", x))
		}
		return strings.Join(s, "_")
	}
	for lane, x := range r.Values {
		if r.Lanes>>lane&1 != 0 {
			s = append(s, fmt.Sprintf("%d:%08x", lane, x))
		}
	}
	return "{" + strings.Join(s, " ") + "}"
}
