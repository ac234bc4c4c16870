// Package cases reads test-case manifests (kernels/README.md has the format),
// runs them on a runtime and compares what the kernels left with what was
// expected. The command line and the property tests share it.
package cases

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gfxrt/cmd/gfxrt/internal/num"
	"gfxrt/runtime"
)

// ErrManifest is wrapped by every error about a manifest, or a file it names,
// that cannot be read or is wrong.
var ErrManifest = errors.New("invalid manifest")

// Limits on what a manifest may ask of the host.
const (
	maxManifest = 1 << 20 // bytes of text
	MaxBuffer   = 1 << 30 // bytes of one buffer or file
)

// Manifest is one test case.
type Manifest struct {
	Name     string // of the case: its folder, or the file when that is not called "manifest"
	Dir      string // file names are relative to it
	Buffers  []Buffer
	Globals  []Buffer // module variables
	Tables   []Table
	Launches []Launch
	Stdout   string // file with the expected output; "" when not stated
	Stderr   string
	Trap     bool // the run must end in a trap
}

// Buffer is a "buf" or "global" line.
type Buffer struct {
	Name      string
	Size      uint64 // bytes
	Type      num.Type
	Tolerance float64 // |x-y| <= Tolerance*max(1,|y|), floating-point types only
	In        string  // file with the first bytes; "" for zeros, for globals: as loaded
	Expected  string  // file to compare with; "" for none
}

// Table is a "ptrtab" line: the addresses of Targets fill Buffer, 8 bytes each.
type Table struct {
	Buffer  string
	Targets []string
}

// Launch is a "launch" or "launchi" line.
type Launch struct {
	Kernel      string
	Extent      [3]uint32 // work-groups, or work-items when Items is set
	Items       bool
	Block       [3]uint32
	DynamicLDS  uint32 // bytes
	Cooperative bool
	Args        []Arg
}

// Arg is a launch argument: the address of a buffer when Buffer is set,
// otherwise Value.
type Arg struct {
	Buffer string
	Value  runtime.Arg
}

// Load reads the manifest at path: a file, or a folder with a file "manifest".
func Load(path string) (*Manifest, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, "manifest")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrManifest)
	}
	defer f.Close()
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	name := strings.TrimSuffix(base, filepath.Ext(base))
	if base == "manifest" {
		if abs, err := filepath.Abs(dir); err == nil {
			name = filepath.Base(abs)
		}
	}
	m, err := Parse(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	m.Name, m.Dir = name, filepath.Clean(dir)
	return m, nil
}

// Parse reads manifest text. Errors begin with the line number.
func Parse(r io.Reader) (*Manifest, error) {
	p := parser{m: &Manifest{}, names: map[string]*Buffer{}}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxManifest)
	for line := 1; sc.Scan(); line++ {
		if err := p.line(strings.Fields(sc.Text())); err != nil {
			return nil, fmt.Errorf("%d: %w: %w", line, err, ErrManifest)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("1: %w: %w", err, ErrManifest)
	}
	if err := p.finish(); err != nil {
		return nil, fmt.Errorf("1: %w: %w", err, ErrManifest)
	}
	return p.m, nil
}

type parser struct {
	m     *Manifest
	names map[string]*Buffer // of buffers and globals
	coop  bool               // the next launch is cooperative
}

// line reads one directive. Its errors lack only the position.
func (p *parser) line(f []string) error {
	if len(f) == 0 || strings.HasPrefix(f[0], "#") {
		return nil
	}
	switch word, args := f[0], f[1:]; word {
	case "buf":
		b, err := p.buffer(args)
		p.m.Buffers = append(p.m.Buffers, b)
		return err
	case "global":
		b, err := p.buffer(args)
		p.m.Globals = append(p.m.Globals, b)
		return err
	case "ptrtab":
		return p.table(args)
	case "launch", "launchi":
		return p.launch(args, word == "launchi")
	case "coop":
		p.coop = true
		return expectFields(args, 0)
	case "expect":
		return p.expect(args)
	default:
		return fmt.Errorf("unknown directive %q (known: buf, global, ptrtab, launch, launchi, coop, expect)", word)
	}
}

func expectFields(f []string, n int) error {
	if len(f) != n {
		return fmt.Errorf("%d fields after the directive, want %d", len(f), n)
	}
	return nil
}

// buffer reads NAME BYTES TYPE TOL IN EXP.
func (p *parser) buffer(f []string) (b Buffer, err error) {
	if err := expectFields(f, 6); err != nil {
		return b, err
	}
	b = Buffer{Name: f[0]}
	if p.names[b.Name] != nil {
		return b, fmt.Errorf("buffer %s is defined twice", b.Name)
	}
	if b.Size, err = num.ParseSize(f[1], MaxBuffer); err != nil {
		return b, fmt.Errorf("buffer %s: BYTES: %w", b.Name, err)
	}
	var ok bool
	if b.Type, ok = num.ParseType(f[2]); !ok || b.Type != num.Raw && b.Type != num.F16 && b.Type != num.F32 && b.Type != num.F64 {
		return b, fmt.Errorf("buffer %s: TYPE %q is not raw, f16, f32 or f64", b.Name, f[2])
	}
	b.Tolerance, err = strconv.ParseFloat(f[3], 64)
	if err != nil || !(b.Tolerance >= 0) || math.IsInf(b.Tolerance, 0) {
		return b, fmt.Errorf("buffer %s: TOL %q is not a finite number from 0", b.Name, f[3])
	}
	if b.In, err = fileName(f[4]); err != nil {
		return b, fmt.Errorf("buffer %s: IN: %w", b.Name, err)
	}
	if b.Expected, err = fileName(f[5]); err != nil {
		return b, fmt.Errorf("buffer %s: EXP: %w", b.Name, err)
	}
	p.names[b.Name] = &b
	return b, nil
}

// fileName checks that a file lies in the manifest's folder; "-" is none.
func fileName(s string) (string, error) {
	if s == "-" {
		return "", nil
	}
	name := filepath.FromSlash(s)
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("file %q is outside the manifest's folder", s)
	}
	return name, nil
}

func (p *parser) table(f []string) error {
	if len(f) < 2 {
		return errors.New("ptrtab needs a buffer and at least one target")
	}
	for _, name := range f {
		if p.names[name] == nil {
			return fmt.Errorf("ptrtab: no buffer %s", name)
		}
	}
	if size := p.names[f[0]].Size; uint64(len(f)-1)*8 > size {
		return fmt.Errorf("ptrtab: %d addresses do not fit buffer %s of %d bytes", len(f)-1, f[0], size)
	}
	p.m.Tables = append(p.m.Tables, Table{Buffer: f[0], Targets: f[1:]})
	return nil
}

func (p *parser) launch(f []string, items bool) error {
	if len(f) < 8 {
		return fmt.Errorf("launch has %d fields, want at least 8: KERNEL, 3 of the grid, 3 of the block, DYNLDS", len(f))
	}
	l := Launch{Kernel: f[0], Items: items, Cooperative: p.coop}
	p.coop = false
	var n [7]uint32
	for i, field := range f[1:8] {
		v, err := num.ParseSize(field, math.MaxUint32)
		if err != nil {
			return fmt.Errorf("launch %s: field %d: %w", l.Kernel, i+2, err)
		}
		if v == 0 && i < 6 {
			return fmt.Errorf("launch %s: field %d: grid and block dimensions start at 1", l.Kernel, i+2)
		}
		n[i] = uint32(v)
	}
	l.Extent, l.Block, l.DynamicLDS = [3]uint32(n[:3]), [3]uint32(n[3:6]), n[6]
	for i, s := range f[8:] {
		a, err := p.arg(s)
		if err != nil {
			return fmt.Errorf("launch %s: argument %d: %w", l.Kernel, i, err)
		}
		l.Args = append(l.Args, a)
	}
	p.m.Launches = append(p.m.Launches, l)
	return nil
}

func (p *parser) arg(s string) (Arg, error) {
	kind, value, ok := strings.Cut(s, ":")
	if !ok {
		return Arg{}, fmt.Errorf("%q is not KIND:VALUE", s)
	}
	switch t, known := num.ParseType(kind); {
	case kind == "b":
		if p.names[value] == nil {
			return Arg{}, fmt.Errorf("no buffer %s", value)
		}
		return Arg{Buffer: value}, nil
	case kind == "lds":
		off, err := num.ParseSize(value, math.MaxUint32)
		return Arg{Value: runtime.LDS(uint32(off))}, err
	case known && t != num.Raw:
		b, err := t.Parse(value)
		if err != nil {
			return Arg{}, err
		}
		return Arg{Value: t.Arg(b)}, nil
	}
	return Arg{}, fmt.Errorf("unknown kind %q (known: b, lds, %s)", kind, num.Names())
}

func (p *parser) expect(f []string) error {
	if err := expectFields(f, 2); err != nil {
		return err
	}
	name, err := fileName(f[1])
	switch {
	case err != nil:
		return fmt.Errorf("expect: %w", err)
	case f[0] == "trap" && name == "":
		p.m.Trap = true
	case f[0] == "stdout" && name != "" && p.m.Stdout == "":
		p.m.Stdout = name
	case f[0] == "stderr" && name != "" && p.m.Stderr == "":
		p.m.Stderr = name
	default:
		return fmt.Errorf("expect %s %s: want stdout FILE, stderr FILE (once each) or trap -", f[0], f[1])
	}
	return nil
}

// finish checks what only the whole manifest shows.
func (p *parser) finish() error {
	if p.coop {
		return errors.New("coop is not followed by a launch")
	}
	if len(p.m.Launches) == 0 {
		return errors.New("no launch")
	}
	return nil
}
