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
	Object  string        `arg:"" help:"Code object, offload bundle or host executable that carries one."`
	Kernel  string        `arg:"" optional:"" help:"Kernel name; may be omitted when the object has one kernel."`
	Grid    dim           `placeholder:"X[,Y,Z]" xor:"extent" required:"" help:"Size of the launch in work-groups (or use --items)."`
	Items   dim           `placeholder:"X[,Y,Z]" xor:"extent" required:"" help:"Size of the launch in work-items; the last work-groups may be partial (or use --grid)."`
	Block   dim           `placeholder:"X[,Y,Z]" required:"" help:"Size of a work-group in work-items."`
	LDS     size          `name:"lds" placeholder:"N" help:"Dynamic LDS, bytes a work-group."`
	Stack   size          `placeholder:"N" help:"Stack beyond the kernel's own, bytes a work-item."`
	Timeout time.Duration `placeholder:"DURATION" help:"Give up after this time and tell where each wave stands."`
	Trace   traceFlag     `help:"Print each instruction of all waves, or with =X[,Y,Z],WAVE of that wave, and the registers it wrote (stderr)."`
	Device  string        `placeholder:"DEVICE" help:"sim[+seed=N][+portable][+threads=N][:TARGET]; by default the simulator of the object's own target."`
	Arg     []string      `name:"arg" sep:"none" placeholder:"SPEC" help:"Kernel argument, in order; repeat for each. SPEC is explained above."`
	Print   []string      `sep:"none" placeholder:"N[:TYPE[:COUNT]]" help:"Print argument N (from 0) after the run; repeatable."`
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
	s, err := openSession(e.ctx, dev, tr, runtime.WithOutput(e.stdout, e.stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tr.flush(), s.rt.Close()) }()
	mod, err := s.rt.LoadModule(e.ctx, data)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Object, err)
	}
	tr.setModule(mod)
	k, err := c.kernel(mod)
	if err != nil {
		return err
	}
	values, err := prepare(s.rt, args)
	if err != nil {
		return err
	}
	if err := c.launch(e, s, k, values); err != nil {
		return err
	}
	return finish(e, args, prints)
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
func (c *runCmd) launch(e *env, s *session, k *runtime.Kernel, values []runtime.Arg) (err error) {
	ctx := e.ctx
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = withTimeout(ctx, c.Timeout)
		defer cancel()
	}
	st, err := s.rt.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	cfg := runtime.LaunchConfig{Grid: c.Grid.dim3(), Items: c.Items.dim3(), Block: c.Block.dim3(), DynamicLDS: uint32(c.LDS), Stack: uint32(c.Stack)}
	if _, err = st.Launch(ctx, k, cfg, values...); err == nil {
		err = st.Wait(ctx)
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		s.reportWaves(e.stderr, k.Module())
		return interrupted(ctx)
	}
	return err
}

// withTimeout ends ctx after d with a cause that says so.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
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
		fmt.Fprintln(e.stdout, line)
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
