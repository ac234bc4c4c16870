package cases

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"gfxrt/runtime"
	"gfxrt/runtime/device"
)

// Config says what a case runs on.
type Config struct {
	Object []byte // the code object, or what LoadModule takes in its place
	// Open makes a fresh runtime for a case: a fault, or a variable that a
	// case changes, stays its own affair. Run closes it.
	Open func(ctx context.Context, opts ...runtime.Option) (*runtime.Runtime, error)
	// Tolerance replaces the manifest's for floating-point buffers where it is
	// the larger one.
	Tolerance float64
	// Interrupted, when set, is called before anything is closed when ctx ended a wait.
	Interrupted func(*runtime.Module)
	// Ended, when set, is called when the launches are over, before anything is closed.
	Ended func(*runtime.Module)
}

// Result is what came of a case.
type Result struct {
	Name       string
	Duration   time.Duration
	Mismatches []Mismatch
	Err        error // what ended the case early, or was expected and did not happen
	Stdout     []byte
	Stderr     []byte
}

// OK reports whether the case passed.
func (r *Result) OK() bool { return r.Err == nil && len(r.Mismatches) == 0 }

// ErrNoTrap is in the result of a case that should have trapped and did not.
var ErrNoTrap = errors.New("the run completed, expected a trap")

// Run runs the case. What goes wrong is in the result.
func (m *Manifest) Run(ctx context.Context, cfg Config) Result {
	start := time.Now()
	var stdout, stderr capture
	r := Result{Name: m.Name}
	r.Mismatches, r.Err = m.run(ctx, cfg, &stdout, &stderr)
	r.Stdout, r.Stderr = stdout.take(), stderr.take()
	if r.Err == nil {
		r.Err = m.compareOutput(&r)
	}
	r.Duration = time.Since(start)
	return r
}

// run does everything that needs a device.
func (m *Manifest) run(ctx context.Context, cfg Config, stdout, stderr io.Writer) (_ []Mismatch, err error) {
	rt, err := cfg.Open(ctx, runtime.WithOutput(stdout, stderr))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	mod, err := rt.LoadModule(ctx, cfg.Object)
	if err != nil {
		return nil, err
	}
	c := running{m: m, rt: rt, mod: mod, buffers: map[string]*runtime.Buffer{}, globals: map[string]*runtime.Global{}}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	err = c.launchAll(ctx, cfg.Interrupted)
	if cfg.Ended != nil {
		cfg.Ended(mod)
	}
	var fault *runtime.Fault
	switch {
	case m.Trap && errors.As(err, &fault) && fault.Kind == device.FaultTrap:
		return nil, nil
	case err != nil:
		return nil, err
	case m.Trap:
		return nil, ErrNoTrap
	}
	return c.compare(cfg.Tolerance)
}

// running is a case on a device.
type running struct {
	m       *Manifest
	rt      *runtime.Runtime
	mod     *runtime.Module
	buffers map[string]*runtime.Buffer
	globals map[string]*runtime.Global
}

func (c *running) prepare() error {
	for i := range c.m.Buffers {
		b := &c.m.Buffers[i]
		in, err := c.m.initial(b)
		if err != nil {
			return err
		}
		buf, err := c.rt.Alloc(b.Size, runtime.DeviceLocal)
		if err != nil {
			return fmt.Errorf("buffer %s: %w", b.Name, err)
		}
		c.buffers[b.Name] = buf
		if err := buf.Write(0, in); err != nil {
			return fmt.Errorf("buffer %s: %w", b.Name, err)
		}
	}
	for i := range c.m.Globals {
		if err := c.prepareGlobal(&c.m.Globals[i]); err != nil {
			return err
		}
	}
	for _, t := range c.m.Tables {
		var addrs []byte
		for _, name := range t.Targets {
			addrs = binary.LittleEndian.AppendUint64(addrs, c.addr(name))
		}
		if err := c.write(t.Buffer, addrs); err != nil {
			return fmt.Errorf("ptrtab %s: %w", t.Buffer, err)
		}
	}
	return nil
}

func (c *running) prepareGlobal(b *Buffer) error {
	g, err := c.mod.Global(b.Name)
	if err != nil {
		return err
	}
	if g.Size() != b.Size {
		return fmt.Errorf("global %s has %d bytes, the manifest says %d", b.Name, g.Size(), b.Size)
	}
	c.globals[b.Name] = g
	if b.In == "" {
		return nil
	}
	in, err := c.m.initial(b)
	if err != nil {
		return err
	}
	if err := g.Write(0, in); err != nil {
		return fmt.Errorf("global %s: %w", b.Name, err)
	}
	return nil
}

func (c *running) addr(name string) uint64 {
	if g := c.globals[name]; g != nil {
		return g.Addr()
	}
	return c.buffers[name].Addr()
}

func (c *running) write(name string, p []byte) error {
	if g := c.globals[name]; g != nil {
		return g.Write(0, p)
	}
	return c.buffers[name].Write(0, p)
}

func (c *running) arg(a Arg) runtime.Arg {
	if a.Buffer == "" {
		return a.Value
	}
	if g := c.globals[a.Buffer]; g != nil {
		return runtime.Addr(g.Addr())
	}
	return runtime.Ptr(c.buffers[a.Buffer])
}

func (c *running) launchAll(ctx context.Context, interrupted func(*runtime.Module)) (err error) {
	s, err := c.rt.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for i := range c.m.Launches {
		l := &c.m.Launches[i]
		k, err := c.mod.Kernel(l.Kernel)
		if err != nil {
			return err
		}
		cfg := runtime.LaunchConfig{Block: dim(l.Block), DynamicLDS: l.DynamicLDS, Cooperative: l.Cooperative}
		if l.Items {
			cfg.Items = dim(l.Extent)
		} else {
			cfg.Grid = dim(l.Extent)
		}
		args := make([]runtime.Arg, len(l.Args))
		for i, a := range l.Args {
			args[i] = c.arg(a)
		}
		if _, err := s.Launch(ctx, k, cfg, args...); err != nil {
			return err
		}
		// The stream's Wait, not the launch's: what the kernel printed is then
		// complete too.
		err = s.Wait(ctx)
		if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			if interrupted != nil {
				interrupted(c.mod)
			}
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func dim(v [3]uint32) runtime.Dim3 { return runtime.Dim3{X: v[0], Y: v[1], Z: v[2]} }

// compare reads back every buffer and variable that has an expectation.
func (c *running) compare(tolerance float64) ([]Mismatch, error) {
	var all []Mismatch
	one := func(what string, b *Buffer, read func(uint64, []byte) error) error {
		if b.Expected == "" {
			return nil
		}
		want, err := c.m.expected(b)
		if err != nil {
			return err
		}
		got := make([]byte, len(want))
		if err := read(0, got); err != nil {
			return fmt.Errorf("%s %s: %w", what, b.Name, err)
		}
		if d := Compare(b.Type, max(b.Tolerance, tolerance), got, want); d != nil {
			d.What, d.Name = what, b.Name
			all = append(all, *d)
		}
		return nil
	}
	for i := range c.m.Buffers {
		b := &c.m.Buffers[i]
		if err := one("buffer", b, c.buffers[b.Name].Read); err != nil {
			return all, err
		}
	}
	for i := range c.m.Globals {
		b := &c.m.Globals[i]
		if err := one("global", b, c.globals[b.Name].Read); err != nil {
			return all, err
		}
	}
	return all, nil
}

// compareOutput compares what was printed, also before an expected trap.
func (m *Manifest) compareOutput(r *Result) error {
	for _, o := range []struct {
		what, file string
		got        []byte
	}{{"stdout", m.Stdout, r.Stdout}, {"stderr", m.Stderr, r.Stderr}} {
		if o.file == "" {
			continue
		}
		want, err := m.readFile(o.file, MaxBuffer)
		if err != nil {
			return err
		}
		got := o.got
		if m.Trap && o.what == "stderr" && !bytes.Equal(got, want) {
			got = withoutLocation(got, want)
		}
		if d := compareText(o.what, got, want); d != nil {
			r.Mismatches = append(r.Mismatches, *d)
		}
	}
	return nil
}

// location is what a failed assertion prints before its message.
var location = regexp.MustCompile(`(?m)^[^\n]+:[0-9]+: `)

// withoutLocation takes the source locations off the lines of a failed
// assertion, for expectations that hold the message alone: the path is the
// compiler's business and differs between builds of one kernel. The final
// newline goes too when the expectation has none.
func withoutLocation(got, want []byte) []byte {
	if location.Match(want) {
		return got
	}
	bare := location.ReplaceAll(got, nil)
	if !bytes.HasSuffix(want, []byte("\n")) {
		bare = bytes.TrimSuffix(bare, []byte("\n"))
	}
	return bare
}

// initial is a buffer's first content: the file, continued with zeros.
func (m *Manifest) initial(b *Buffer) ([]byte, error) {
	content := make([]byte, b.Size)
	if b.In == "" {
		return content, nil
	}
	in, err := m.readFile(b.In, b.Size)
	if err != nil {
		return nil, fmt.Errorf("buffer %s: IN: %w", b.Name, err)
	}
	copy(content, in)
	return content, nil
}

func (m *Manifest) expected(b *Buffer) ([]byte, error) {
	want, err := m.readFile(b.Expected, b.Size)
	if err != nil {
		return nil, fmt.Errorf("buffer %s: EXP: %w", b.Name, err)
	}
	if uint64(len(want)) != b.Size {
		return nil, fmt.Errorf("buffer %s: EXP: %s has %d bytes, the buffer has %d: %w", b.Name, b.Expected, len(want), b.Size, ErrManifest)
	}
	if len(want)%b.Type.Size() != 0 {
		return nil, fmt.Errorf("buffer %s: %d bytes are not whole elements of %s: %w", b.Name, len(want), b.Type, ErrManifest)
	}
	return want, nil
}

// readFile reads a file of the case that has at most limit bytes.
func (m *Manifest) readFile(name string, limit uint64) ([]byte, error) {
	f, err := os.Open(filepath.Join(m.Dir, name))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrManifest)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrManifest)
	}
	if uint64(len(b)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes: %w", name, limit, ErrManifest)
	}
	return b, nil
}

// CheckFiles reports the first file that the manifest names and that is
// missing or has the wrong size.
func (m *Manifest) CheckFiles() error {
	for _, list := range [][]Buffer{m.Buffers, m.Globals} {
		for i := range list {
			b := &list[i]
			if b.In != "" {
				if _, err := m.initial(b); err != nil {
					return err
				}
			}
			if b.Expected != "" {
				if _, err := m.expected(b); err != nil {
					return err
				}
			}
		}
	}
	for _, name := range []string{m.Stdout, m.Stderr} {
		if name != "" {
			if _, err := m.readFile(name, MaxBuffer); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxOutput bounds what a kernel may print in a test.
const maxOutput = 64 << 20

// capture keeps what a kernel prints. Several device threads may write.
type capture struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.b.Len()+len(p) > maxOutput {
		return 0, fmt.Errorf("the kernel printed more than %d bytes", maxOutput)
	}
	return c.b.Write(p)
}

func (c *capture) take() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.b.Bytes())
}
