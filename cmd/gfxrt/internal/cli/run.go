package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gfxrt/cmd/gfxrt/internal/num"
	"gfxrt/cmd/gfxrt/internal/spec"
	"gfxrt/runtime"
)

type runCmd struct {
	Object   string        `arg:"" help:"Code object, offload bundle or host executable that carries one."`
	Kernel   string        `arg:"" optional:"" help:"Kernel name; may be omitted when the object has one kernel."`
	Grid     dim           `placeholder:"X[,Y,Z]" xor:"extent" required:"" help:"Size of the launch in work-groups (or use --items)."`
	Items    dim           `placeholder:"X[,Y,Z]" xor:"extent" required:"" help:"Size of the launch in work-items; the last work-groups may be partial (or use --grid)."`
	Block    dim           `placeholder:"X[,Y,Z]" required:"" help:"Size of a work-group in work-items."`
	LDS      size          `name:"lds" placeholder:"N" help:"Dynamic LDS, bytes a work-group."`
	Stack    size          `placeholder:"N" help:"Stack beyond the kernel's own, bytes a work-item."`
	Timeout  time.Duration `placeholder:"DURATION" help:"Give up after this time and tell where each wave stands."`
	Trace    traceFlag     `help:"Print each instruction of all waves, or with =X[,Y,Z],WAVE of that wave, and the registers it wrote (stderr)."`
	Fidelity fidelityFlag  `help:"${fidelity}"`
	Device   string        `placeholder:"DEVICE" help:"sim[+seed=N][+portable][+threads=N][:TARGET]; by default the simulator of the object's own target."`
	Arg      []string      `name:"arg" sep:"none" placeholder:"SPEC" help:"Kernel argument, in order; repeat for each. SPEC is explained above."`
	Global   []string      `sep:"none" placeholder:"NAME=SPEC" help:"Set a module variable before the run: a scalar, hex, in, rand, iota or fill; repeatable."`
	Print    []string      `sep:"none" placeholder:"N[:TYPE[:COUNT]]" help:"Print argument N (from 0) after the run; repeatable."`
}

// Help explains SPEC.
func (runCmd) Help() string {
	return `SPEC is one of:

  TYPE:VALUE              a scalar; TYPE is one of i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64,
                          VALUE is decimal, negative, 0x…, inf or nan
  hex:BYTES               a by-value struct, as hexadecimal digits in memory order
  null                    the null pointer
  lds:OFFSET              an OpenCL __local pointer, OFFSET bytes into the dynamic LDS
  buf:BYTES               a device buffer of zeros
  in:FILE                 a buffer with the content of FILE (raw or .npy)
  inout:FILE              the same, written back after the run
  out:FILE:BYTES          a buffer of zeros, written to FILE after the run
  out:FILE:TYPE:COUNT     the same with typed elements; a FILE.npy becomes an array
  rand:TYPE:COUNT[:SEED]  random numbers: whole range of an integer, [-1,1) of a float
  iota:TYPE:COUNT         0, 1, 2 …
  fill:TYPE:COUNT:VALUE   COUNT times VALUE

Sizes and counts take 0x and the suffixes k, M and G.`
}

// printRequest is --print N[:TYPE[:COUNT]].
type printRequest struct {
	index int
	typ   num.Type
	typed bool // typ was given; otherwise the argument's own type is meant
	count int  // -1: the default
}

// maxPrint is how many elements are printed when no COUNT is given.
const maxPrint = 64

func parsePrint(text string, args int) (p printRequest, err error) {
	p.count = -1
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		return p, fmt.Errorf("--print %s: want N[:TYPE[:COUNT]]", text)
	}
	p.index, err = strconv.Atoi(parts[0])
	if err != nil || p.index < 0 || p.index >= args {
		return p, fmt.Errorf("--print %s: no argument %q; there are %d, counted from 0", text, parts[0], args)
	}
	if len(parts) > 1 {
		if p.typ, p.typed = num.ParseType(parts[1]); !p.typed {
			return p, fmt.Errorf("--print %s: unknown type %q (known: raw, %s)", text, parts[1], num.Names())
		}
	}
	if len(parts) > 2 {
		n, err := num.ParseSize(parts[2], spec.MaxBuffer)
		if err != nil {
			return p, fmt.Errorf("--print %s: %w", text, err)
		}
		p.count = int(n)
	}
	return p, nil
}

// argument is a SPEC with the buffer made for it.
type argument struct {
	*spec.Spec
	buf *runtime.Buffer
}

func (c *runCmd) parse() ([]argument, []printRequest, error) {
	args := make([]argument, len(c.Arg))
	for i, text := range c.Arg {
		s, err := spec.Parse(text)
		if err != nil {
			return nil, nil, usagef("--arg %d: %w", i, err)
		}
		args[i].Spec = s
	}
	prints := make([]printRequest, len(c.Print))
	for i, text := range c.Print {
		p, err := parsePrint(text, len(args))
		if err != nil {
			return nil, nil, usageError(err)
		}
		if s := args[p.index]; !s.Buffer && s.Bytes == nil {
			return nil, nil, usagef("--print %s: argument %d (%s) has no content", text, p.index, s.Text)
		}
		prints[i] = p
	}
	if c.Timeout < 0 {
		return nil, nil, usagef("--timeout %s is negative", c.Timeout)
	}
	for _, text := range c.Global {
		if _, _, err := parseGlobal(text); err != nil {
			return nil, nil, usageError(err)
		}
	}
	return args, prints, nil
}

// Run runs one kernel.
func (c *runCmd) Run(e *env) (err error) {
	args, prints, err := c.parse()
	if err != nil {
		return err
	}
	data, err := readObject(c.Object)
	if err != nil {
		return err
	}
	dev, err := deviceFor(c.Device, c.Object, data)
	if err != nil {
		return err
	}
	var tr *tracer
	if c.Trace.on {
		tr = newTracer(e.stderr, c.Trace)
	}
	ctx, cancel := withTimeout(e.ctx, c.Timeout)
	defer cancel()
	s, err := openSession(ctx, dev, watch{tr, c.Fidelity.probe()}, runtime.WithOutput(e.stdout, e.stderr))
	if err != nil {
		return err
	}
	var mod *runtime.Module
	defer func() {
		c.Fidelity.name(mod)
		err = errors.Join(err, tr.flush(), c.Fidelity.write(e.stderr, dev), s.rt.Close())
	}()
	mod, err = loadModule(ctx, e, s, c.Object, data)
	if err != nil {
		return err
	}
	tr.setModule(mod)
	k, err := c.kernel(mod)
	if err != nil {
		return err
	}
	if err := c.setGlobals(mod); err != nil {
		return err
	}
	values, err := prepare(s.rt, args)
	if err != nil {
		return err
	}
	if err := c.launch(ctx, e, s, k, values); err != nil {
		return err
	}
	return finish(e, args, prints)
}

// parseGlobal reads NAME=SPEC.
func parseGlobal(text string) (name string, s *spec.Spec, err error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return "", nil, fmt.Errorf("--global %s: want NAME=SPEC", text)
	}
	if s, err = spec.Parse(value); err != nil {
		return "", nil, fmt.Errorf("--global %s: %w", name, err)
	}
	if s.Out != "" || !s.Buffer && s.Bytes == nil {
		return "", nil, fmt.Errorf("--global %s: %s gives no content", name, value)
	}
	return name, s, nil
}

// setGlobals writes module variables.
func (c *runCmd) setGlobals(mod *runtime.Module) error {
	for _, text := range c.Global {
		name, s, err := parseGlobal(text)
		if err != nil {
			return usageError(err)
		}
		g, err := mod.Global(name)
		if err != nil {
			return usagef("--global %s: %w", name, err)
		}
		content := s.Bytes
		if s.Buffer && s.In == "" && s.Size != g.Size() {
			return usagef("--global %s: %d bytes given, the variable has %d", name, s.Size, g.Size())
		}
		if s.Buffer {
			if content, err = s.Content(); err != nil {
				return fmt.Errorf("--global %s: %w", name, err)
			}
			if content == nil { // buf: zeros
				content = make([]byte, s.Size)
			}
		}
		if uint64(len(content)) != g.Size() {
			return usagef("--global %s: %d bytes given, the variable has %d", name, len(content), g.Size())
		}
		if err := g.Write(0, content); err != nil {
			return fmt.Errorf("--global %s: %w", name, err)
		}
	}
	return nil
}

// kernel finds the kernel to run.
func (c *runCmd) kernel(mod *runtime.Module) (*runtime.Kernel, error) {
	if c.Kernel != "" {
		k, err := mod.Kernel(c.Kernel)
		if err != nil {
			return nil, usageError(err)
		}
		return k, nil
	}
	var names []string
	var only *runtime.Kernel
	for _, k := range mod.Kernels() {
		if kind := k.Metadata().Kind; kind == "init" || kind == "fini" {
			continue // the runtime runs these itself
		}
		names, only = append(names, k.Name()), k
	}
	switch len(names) {
	case 0:
		return nil, inputError(fmt.Errorf("%s has no kernel", c.Object))
	case 1:
		return only, nil
	}
	return nil, usagef("%s has %d kernels; name one of: %s", c.Object, len(names), strings.Join(names, ", "))
}

// maxTotal bounds all buffers of a run together.
const maxTotal = 4 << 30

// prepare makes the buffers and gives the launch's arguments.
func prepare(rt *runtime.Runtime, args []argument) ([]runtime.Arg, error) {
	values := make([]runtime.Arg, len(args))
	var total uint64
	for i := range args {
		a := &args[i]
		if !a.Buffer {
			values[i] = a.Value
			continue
		}
		content, err := a.Content()
		if err != nil {
			return nil, fmt.Errorf("--arg %d: %w", i, err)
		}
		if total += a.Size; total > maxTotal {
			return nil, usagef("--arg %d: all buffers together are above the limit of %d bytes", i, uint64(maxTotal))
		}
		if a.buf, err = rt.Alloc(a.Size, runtime.DeviceLocal); err == nil {
			err = fillBuffer(a.buf, content)
		}
		if err != nil {
			return nil, fmt.Errorf("--arg %d (%s): %w", i, a.Text, err)
		}
		values[i] = runtime.Ptr(a.buf)
	}
	return values, nil
}

// fillBuffer writes content, or zeros when it is nil.
func fillBuffer(b *runtime.Buffer, content []byte) error {
	if content != nil {
		return b.Write(0, content)
	}
	zeros := make([]byte, min(b.Size(), 1<<20))
	for off := uint64(0); off < b.Size(); off += uint64(len(zeros)) {
		if err := b.Write(off, zeros[:min(uint64(len(zeros)), b.Size()-off)]); err != nil {
			return err
		}
	}
	return nil
}

// launch runs the kernel and waits for it and what it prints.
func (c *runCmd) launch(ctx context.Context, e *env, s *session, k *runtime.Kernel, values []runtime.Arg) (err error) {
	st, err := s.rt.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	cfg := runtime.LaunchConfig{Grid: c.Grid.dim3(), Items: c.Items.dim3(), Block: c.Block.dim3(), DynamicLDS: uint32(c.LDS), Stack: uint32(c.Stack)}
	if _, err = st.Launch(ctx, k, cfg, values...); err == nil {
		err = st.Wait(ctx)
	}
	return s.interrupted(ctx, e, k.Module(), err)
}

// loadModule loads an object, which may run kernels of it.
func loadModule(ctx context.Context, e *env, s *session, path string, data []byte) (*runtime.Module, error) {
	mod, err := s.rt.LoadModule(ctx, data)
	if err != nil {
		err = s.interrupted(ctx, e, nil, err)
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return mod, nil
}

// interrupted tells where the waves stand when err came from the end of ctx,
// and gives what ended it; other errors stay.
func (s *session) interrupted(ctx context.Context, e *env, mod *runtime.Module, err error) error {
	if err == nil || ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	s.reportWaves(e.stderr, mod)
	return interrupted(ctx)
}

// withTimeout ends ctx after d, when that is not 0, with a cause that says so.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, fmt.Errorf("no end after %s: %w", d, context.DeadlineExceeded))
}

// interrupted says what ended ctx.
func interrupted(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("interrupted: %w", context.Canceled)
}

// finish prints and stores what the kernel left.
func finish(e *env, args []argument, prints []printRequest) error {
	for i := range args {
		a := &args[i]
		if a.Out == "" {
			continue
		}
		content := make([]byte, a.Size)
		if err := a.buf.Read(0, content); err != nil {
			return fmt.Errorf("--arg %d: %w", i, err)
		}
		if err := a.WriteBack(content); err != nil {
			return fmt.Errorf("--arg %d: %w", i, err)
		}
	}
	for _, p := range prints {
		line, err := args[p.index].format(p)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(e.stdout, line); err != nil {
			return fmt.Errorf("--print: %w", err)
		}
	}
	return nil
}

// format is "arg N TYPE[TOTAL]: ELEMENT …".
func (a *argument) format(p printRequest) (string, error) {
	t := p.typ
	if !p.typed {
		t = a.Type
	}
	total := uint64(len(a.Bytes))
	if a.Buffer {
		total = a.Size
	}
	total /= uint64(t.Size())
	n := min(total, maxPrint)
	if p.count >= 0 {
		n = min(total, uint64(p.count))
	}
	content := make([]byte, n*uint64(t.Size()))
	if !a.Buffer {
		copy(content, a.Bytes)
	} else if err := a.buf.Read(0, content); err != nil {
		return "", fmt.Errorf("--print %d: %w", p.index, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "arg %d %s[%d]:", p.index, t, total)
	for i := range int(n) {
		b.WriteString(" " + t.Format(content[i*t.Size():]))
	}
	if p.count < 0 && n < total {
		fmt.Fprintf(&b, " … %d more", total-n)
	}
	return b.String(), nil
}
