package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gfxrt/cmd/gfxrt/cases"
	"gfxrt/runtime"
	"gfxrt/sim/check"
)

type testCmd struct {
	Object   string        `required:"" placeholder:"FILE" help:"Code object that holds the kernels."`
	Manifest []string      `arg:"" help:"Manifest files, or folders with a file \"manifest\" (kernels/README.md has the format)."`
	Tol      float64       `placeholder:"F" help:"Tolerance for floating-point buffers where it is larger than the manifest's."`
	Device   string        `placeholder:"DEVICE" help:"sim[+seed=N][+portable][+threads=N][:TARGET]; by default the simulator of the object's own target."`
	Timeout  time.Duration `default:"10m" placeholder:"DURATION" help:"Give up on a case after this time and tell where each wave stands; 0 waits for ever."`
	Fidelity fidelityFlag  `help:"${fidelity}"`
	JSON     bool          `help:"Print one JSON document instead of a line a case."`
}

// caseDoc is one case in the JSON document.
type caseDoc struct {
	Name       string           `json:"name"`
	OK         bool             `json:"ok"`
	Seconds    float64          `json:"seconds"`
	Error      string           `json:"error,omitempty"`
	Fault      *faultDoc        `json:"fault,omitempty"`
	Mismatches []cases.Mismatch `json:"mismatches,omitempty"`
}

type testDoc struct {
	Schema int       `json:"schema"`
	Object string    `json:"object"`
	Device string    `json:"device"`
	Passed int       `json:"passed"`
	Failed int       `json:"failed"`
	Cases  []caseDoc `json:"cases"`
	// Fidelity is there with --fidelity.
	Fidelity *check.Report `json:"fidelity,omitempty"`
}

// faultDoc is a fault with the facts that are known.
type faultDoc struct {
	Kind        string    `json:"kind"`
	Reason      string    `json:"reason,omitempty"`
	Kernel      string    `json:"kernel,omitempty"`
	Group       [3]uint32 `json:"group"`
	Wave        int       `json:"wave"`
	Lane        int       `json:"lane"`
	PC          uint64    `json:"pc"`
	Symbol      string    `json:"symbol,omitempty"`
	Source      string    `json:"source,omitempty"`
	Instruction string    `json:"instruction,omitempty"`
}

func newFaultDoc(err error) *faultDoc {
	var f *runtime.Fault
	if !errors.As(err, &f) {
		return nil
	}
	return &faultDoc{Kind: f.Kind.String(), Reason: f.Reason, Kernel: f.Kernel, Group: f.Group, Wave: f.Wave, Lane: f.Lane,
		PC: f.PC, Symbol: f.Symbol, Source: f.Source, Instruction: f.Instruction}
}

// Run runs the cases in order.
func (c *testCmd) Run(e *env) error {
	if !(c.Tol >= 0) {
		return usagef("--tol %g: want a number from 0", c.Tol)
	}
	if c.Timeout < 0 {
		return usagef("--timeout %s is negative", c.Timeout)
	}
	manifests := make([]*cases.Manifest, len(c.Manifest))
	for i, path := range c.Manifest {
		m, err := cases.Load(path)
		if err != nil {
			return inputError(err)
		}
		if err := m.CheckFiles(); err != nil {
			return inputError(fmt.Errorf("%s: %w", path, err))
		}
		manifests[i] = m
	}
	object, err := readObject(c.Object)
	if err != nil {
		return err
	}
	dev, err := deviceFor(c.Device, c.Object, object)
	if err != nil {
		return err
	}
	if err := c.tryOpen(e, dev, object); err != nil {
		return err
	}
	doc := testDoc{Schema: schema, Object: c.Object, Device: dev, Cases: []caseDoc{}}
	for _, m := range manifests {
		r := c.one(e, dev, object, m)
		if r.OK() {
			doc.Passed++
		} else {
			doc.Failed++
		}
		if c.JSON {
			doc.Cases = append(doc.Cases, newCaseDoc(&r))
		} else {
			printCase(e, &r)
		}
		if e.ctx.Err() != nil {
			break // interrupted: the cases left would only fail for that
		}
	}
	if c.Fidelity.record != nil && c.JSON {
		r := c.Fidelity.report()
		doc.Fidelity = &r
	}
	if c.JSON {
		if err := writeJSON(e.stdout, doc); err != nil {
			return err
		}
	}
	if c.Fidelity.file != "" || !c.JSON {
		if err := c.Fidelity.write(e.stderr, dev); err != nil {
			return err
		}
	}
	if e.ctx.Err() != nil {
		return interrupted(e.ctx)
	}
	if doc.Failed > 0 {
		return errFailed
	}
	return nil
}

// tryOpen tells a device or an object that cannot be used from a case that
// fails.
func (c *testCmd) tryOpen(e *env, dev string, object []byte) (err error) {
	ctx, cancel := withTimeout(e.ctx, c.Timeout)
	defer cancel()
	s, err := openSession(ctx, dev, watch{}, runtime.WithOutput(e.stderr, e.stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.rt.Close()) }()
	_, err = loadModule(ctx, e, s, c.Object, object)
	return err
}

func (c *testCmd) one(e *env, dev string, object []byte, m *cases.Manifest) cases.Result {
	ctx, cancel := withTimeout(e.ctx, c.Timeout)
	defer cancel()
	var s *session
	return m.Run(ctx, cases.Config{
		Object:    object,
		Tolerance: c.Tol,
		Open: func(ctx context.Context, opts ...runtime.Option) (*runtime.Runtime, error) {
			var err error
			if s, err = openSession(ctx, dev, watch{probe: c.Fidelity.probe()}, opts...); err != nil {
				return nil, err
			}
			return s.rt, nil
		},
		Interrupted: func(mod *runtime.Module) { s.reportWaves(e.stderr, mod) },
		Ended:       c.Fidelity.name,
	})
}

func newCaseDoc(r *cases.Result) caseDoc {
	d := caseDoc{Name: r.Name, OK: r.OK(), Seconds: r.Duration.Seconds(), Mismatches: r.Mismatches}
	if r.Err != nil {
		d.Error, d.Fault = r.Err.Error(), newFaultDoc(r.Err)
	}
	return d
}

// printCase prints one line; further mismatches of the case go to stderr.
func printCase(e *env, r *cases.Result) {
	switch {
	case r.OK():
		fmt.Fprintf(e.stdout, "ok   %s (%s)\n", r.Name, r.Duration.Round(time.Millisecond))
		return
	case r.Err != nil:
		fmt.Fprintf(e.stdout, "FAIL %s: %s\n", r.Name, oneLine(r.Err))
	default:
		fmt.Fprintf(e.stdout, "FAIL %s: %s\n", r.Name, r.Mismatches[0].String())
	}
	for i := range r.Mismatches {
		if r.Err != nil || i > 0 {
			fmt.Fprintf(e.stderr, "gfxrt: %s: also %s\n", r.Name, r.Mismatches[i].String())
		}
	}
}
