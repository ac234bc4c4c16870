package runtime

import (
	"context"
	"fmt"

	"gfxrt/elf"
)

// Module is a code object loaded on the device.
type Module struct {
	rt *Runtime
}

// LoadModule loads a code object for the device: bare, in an offload bundle
// (compressed or not) or inside a host executable. It applies relocations,
// sets up managed variables and runs the object's init kernels. Symbols it
// leaves undefined are taken from modules loaded before, which then cannot be
// closed before it. Either everything succeeds or nothing remains.
// Errors wrap elf.ErrInvalid, ErrIncompatible, ErrUndefinedSymbol,
// ErrUnsupported or ErrOutOfMemory.
func (rt *Runtime) LoadModule(ctx context.Context, data []byte) (*Module, error) {
	return nil, fmt.Errorf("load module: %w", ErrUnsupported)
}

// Object is the parsed code object. It must not be changed.
func (m *Module) Object() *elf.CodeObject { return nil }

// Base is the GPU address of the loaded image.
func (m *Module) Base() uint64 { return 0 }

// Kernels lists the kernels in metadata order, init and fini kernels included.
func (m *Module) Kernels() []*Kernel { return nil }

// Kernel finds a kernel by name. The error for an unknown name wraps
// ErrNotFound and lists the names there are.
func (m *Module) Kernel(name string) (*Kernel, error) {
	return nil, fmt.Errorf("kernel %q: %w", name, ErrNotFound)
}

// Globals lists the device and managed variables.
func (m *Module) Globals() []*Global { return nil }

// Global finds a variable by name. The error for an unknown name wraps
// ErrNotFound and lists the names there are.
func (m *Module) Global(name string) (*Global, error) {
	return nil, fmt.Errorf("variable %q: %w", name, ErrNotFound)
}

// Close runs the fini kernels and unloads the module. It refuses with ErrBusy
// while launches of its kernels are outstanding or later modules refer to its
// symbols.
func (m *Module) Close() error { return nil }

// Kernel is a kernel of a loaded module.
type Kernel struct {
	m    *Module
	meta *elf.Kernel
}

// Name is the kernel's name in the source language's mangling.
func (k *Kernel) Name() string { return k.meta.Name }

// Module is the module that holds the kernel.
func (k *Kernel) Module() *Module { return k.m }

// Metadata is what the code object says of the kernel: arguments, segment
// sizes, register counts, limits. It must not be changed.
func (k *Kernel) Metadata() *elf.Kernel { return k.meta }

// Args lists the explicit arguments in the order Launch takes them.
func (k *Kernel) Args() []elf.Arg { return nil }

// Object is the GPU address of the kernel descriptor, kernel_object of a
// dispatch packet.
func (k *Kernel) Object() uint64 { return 0 }

// Global is a variable of a loaded module.
type Global struct {
	m    *Module
	meta *elf.Global
}

// Name is the variable's symbol.
func (g *Global) Name() string { return g.meta.Name }

// Size is the size of the value in bytes.
func (g *Global) Size() uint64 { return g.meta.Size }

// Managed reports a __managed__ variable, whose value lives in host-visible
// memory.
func (g *Global) Managed() bool { return g.meta.Managed }

// Addr is the GPU address of the value; for a managed variable that of the
// value, not of the pointer device code follows.
func (g *Global) Addr() uint64 { return 0 }

// Read fills p from the value at off.
func (g *Global) Read(off uint64, p []byte) error { return ErrUnsupported }

// Write copies p into the value at off.
func (g *Global) Write(off uint64, p []byte) error { return ErrUnsupported }
