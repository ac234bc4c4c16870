package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gfxrt/elf"
	"gfxrt/runtime/device"
)

// codeAlign is the least alignment of a loaded image: what the KFD gives, and
// more than instruction prefetch (256 bytes) or any kernel descriptor asks for.
const codeAlign = 4096

// finiBudget bounds how long unloading waits for fini kernels: Close takes no
// context and must end.
const finiBudget = 10 * time.Second

// Module is a code object loaded on the device.
type Module struct {
	rt      *Runtime
	obj     *elf.CodeObject
	code    region
	base    uint64 // of the image
	kernels []*Kernel
	globals []*Global
	formats *printFormats
	uses    atomic.Int64 // outstanding launches and dependents; -1 once closed
	needs   []*Module    // modules that resolved this one's symbols
}

// LoadModule loads a code object for the device: bare, in an offload bundle
// (compressed or not) or inside a host executable. It applies relocations,
// sets up managed variables and runs the object's init kernels. Symbols it
// leaves undefined are taken from modules loaded before, which then cannot be
// closed before it. Either everything succeeds or nothing remains.
// Errors wrap elf.ErrInvalid, elf.ErrUnsupported, ErrIncompatible,
// ErrUndefinedSymbol, ErrUnsupported, ErrOutOfMemory, or an init kernel's fault.
func (rt *Runtime) LoadModule(ctx context.Context, data []byte) (*Module, error) {
	if err := rt.checkCallback("load module"); err != nil {
		return nil, err
	}
	obj, err := rt.openObject(data)
	if err != nil {
		return nil, fmt.Errorf("load module: %w", err)
	}
	rt.load.Lock()
	defer rt.load.Unlock()
	m := &Module{rt: rt, obj: obj}
	if err := m.load(ctx); err != nil {
		return nil, fmt.Errorf("load module: %w", errors.Join(err, m.unload()))
	}
	return m, nil
}

// openObject finds the code object for the device in data.
func (rt *Runtime) openObject(data []byte) (*elf.CodeObject, error) {
	target, err := elf.ParseTarget(rt.info.Target)
	if err != nil {
		return nil, fmt.Errorf("device target %q: %w", rt.info.Target, err)
	}
	obj, err := elf.Open(data, target)
	if err != nil {
		return nil, err
	}
	if obj.HasRPCClient {
		return nil, fmt.Errorf("code object needs %w", ErrLLVMRPC)
	}
	return obj, nil
}

func (m *Module) load(ctx context.Context) error {
	var err error
	if m.formats, err = makePrintFormats(m.obj); err != nil {
		return err
	}
	if err := m.makeKernels(); err != nil {
		return err
	}
	if err := m.rt.startServices(m.kernels); err != nil {
		return err
	}
	if err := m.place(); err != nil {
		return err
	}
	if err := m.makeGlobals(); err != nil {
		return err
	}
	if err := m.rt.dev.InvalidateCode(m.base, m.obj.ImageSize); err != nil {
		return fmt.Errorf("invalidate code: %w", err)
	}
	m.rt.mu.Lock()
	closed := m.rt.closed
	if !closed {
		m.rt.modules = append(m.rt.modules, m)
	}
	m.rt.mu.Unlock()
	if closed {
		return fmt.Errorf("runtime: %w", ErrClosed)
	}
	return m.runKernels(ctx, "init")
}

// place allocates the image as one range and writes it relocated.
func (m *Module) place() error {
	size, align := m.obj.ImageSize, max(m.obj.ImageAlign, codeAlign)
	if size == 0 {
		return fmt.Errorf("image is empty: %w", elf.ErrInvalid)
	}
	code, err := m.rt.allocAligned(size, align, device.Code)
	if err != nil {
		return fmt.Errorf("image of %d bytes, alignment %d: %w", size, align, err)
	}
	m.code, m.base = code, code.addr
	image, err := m.obj.Image(m.base, m.resolve)
	if err != nil {
		return err
	}
	if err := m.rt.dev.Write(m.base, image); err != nil {
		return fmt.Errorf("write image: %w", err)
	}
	return nil
}

// resolve finds an undefined symbol in the modules loaded before, the newest
// first, and keeps the module that has it.
func (m *Module) resolve(name string) (uint64, bool) {
	m.rt.mu.Lock()
	modules := slices.Clone(m.rt.modules)
	m.rt.mu.Unlock()
	for _, from := range slices.Backward(modules) {
		for i := range from.obj.Symbols {
			s := &from.obj.Symbols[i]
			if s.Name != name || !s.Defined || !s.Global || s.Absolute {
				continue
			}
			if !slices.Contains(m.needs, from) {
				if !from.retain() {
					continue
				}
				m.needs = append(m.needs, from)
			}
			return from.base + s.Value, true
		}
	}
	return 0, false
}

// retain keeps the module loaded until release.
func (m *Module) retain() bool {
	for {
		n := m.uses.Load()
		if n < 0 {
			return false
		}
		if m.uses.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (m *Module) release() { m.uses.Add(-1) }

// runKernels runs the kernels of a kind, one work-item each.
func (m *Module) runKernels(ctx context.Context, kind string) error {
	for _, k := range m.kernels {
		if k.meta.Kind != kind {
			continue
		}
		if err := m.rt.runInternal(ctx, k); err != nil {
			return fmt.Errorf("%s kernel: %w", kind, err)
		}
	}
	return nil
}

// Object is the parsed code object. It must not be changed.
func (m *Module) Object() *elf.CodeObject { return m.obj }

// Base is the GPU address of the loaded image.
func (m *Module) Base() uint64 { return m.base }

// Kernels lists the kernels in metadata order, init and fini kernels included.
func (m *Module) Kernels() []*Kernel { return slices.Clone(m.kernels) }

// Kernel finds a kernel by name. The error for an unknown name wraps
// ErrNotFound and lists the names there are.
func (m *Module) Kernel(name string) (*Kernel, error) {
	return find(m.kernels, "kernel", name)
}

// Globals lists the device and managed variables.
func (m *Module) Globals() []*Global {
	m.rt.mu.Lock()
	defer m.rt.mu.Unlock()
	return slices.Clone(m.globals)
}

// Global finds a variable by name. The error for an unknown name wraps
// ErrNotFound and lists the names there are.
func (m *Module) Global(name string) (*Global, error) {
	return find(m.Globals(), "variable", name)
}

func find[T interface{ Name() string }](all []T, what, name string) (T, error) {
	names := make([]string, len(all))
	for i, x := range all {
		if x.Name() == name {
			return x, nil
		}
		names[i] = x.Name()
	}
	var none T
	return none, fmt.Errorf("%s %q: %w (the module has: %s)", what, name, ErrNotFound, strings.Join(names, ", "))
}

// Close runs the fini kernels and unloads the module. It refuses with ErrBusy
// while launches of its kernels are outstanding or later modules refer to its
// symbols. A fini kernel that fails or does not end is reported, and the
// module is unloaded all the same.
func (m *Module) Close() error {
	if err := m.rt.checkCallback("close of a module"); err != nil {
		return err
	}
	m.rt.load.Lock()
	defer m.rt.load.Unlock()
	return m.closeLocked()
}

// closeLocked is Close with rt.load held.
func (m *Module) closeLocked() error {
	if m.uses.Load() > 0 {
		m.rt.retireStreams()
	}
	if !m.uses.CompareAndSwap(0, -1) {
		if m.uses.Load() < 0 {
			return fmt.Errorf("module: %w", ErrClosed)
		}
		return fmt.Errorf("module: %w: %d launches and modules", ErrBusy, m.uses.Load())
	}
	ctx, cancel := context.WithTimeout(context.Background(), finiBudget)
	defer cancel()
	return errors.Join(m.runKernels(ctx, "fini"), m.unload())
}

// unload takes back everything load did, as far as it came.
func (m *Module) unload() error {
	m.uses.Store(-1)
	m.rt.mu.Lock()
	m.rt.modules = slices.DeleteFunc(m.rt.modules, func(x *Module) bool { return x == m })
	globals := m.globals
	m.globals = nil
	m.rt.mu.Unlock()
	var errs []error
	for _, g := range globals {
		if g.value != nil {
			errs = append(errs, g.value.Free())
		}
	}
	if m.code.mem != nil {
		errs = append(errs, m.code.mem.Free())
	}
	for _, n := range m.needs {
		n.release()
	}
	m.code, m.needs = region{}, nil
	return errors.Join(errs...)
}
