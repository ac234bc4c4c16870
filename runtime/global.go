package runtime

import (
	"encoding/binary"
	"fmt"

	"gfxrt/elf"
	"gfxrt/runtime/device"
)

// Global is a variable of a loaded module.
type Global struct {
	m     *Module
	meta  *elf.Global
	addr  uint64
	value device.Memory // of a managed variable; nil for others
}

// makeGlobals makes the module's variables, managed ones with their storage.
// The image is loaded and relocated.
func (m *Module) makeGlobals() error {
	for i := range m.obj.Globals {
		meta := &m.obj.Globals[i]
		g := &Global{m: m, meta: meta, addr: m.base + meta.Addr}
		m.globals = append(m.globals, g) // first, so that unload finds it
		if !meta.Managed {
			if err := m.inImage(meta.Name, meta.Addr, meta.Size); err != nil {
				return err
			}
			continue
		}
		if err := g.makeManaged(); err != nil {
			return fmt.Errorf("managed variable %s: %w", meta.Name, err)
		}
	}
	return nil
}

// makeManaged gives a managed variable memory that host and device share,
// copies its initial value there, and points the device code to it.
func (g *Global) makeManaged() error {
	m, meta := g.m, g.meta
	if err := m.inImage("initial value", meta.InitAddr, meta.Size); err != nil {
		return err
	}
	if err := m.inImage("pointer", meta.Addr, 8); err != nil {
		return err
	}
	mem, err := m.rt.allocMemory(max(meta.Size, minAlloc), HostVisible)
	if err != nil {
		return err
	}
	g.value, g.addr = mem, mem.Addr()
	if meta.Size > 0 {
		// From the device, not from the file: relocations are part of it.
		if err := m.rt.dev.Copy(mem.Addr(), m.base+meta.InitAddr, meta.Size); err != nil {
			return err
		}
	}
	var p [8]byte
	binary.LittleEndian.PutUint64(p[:], mem.Addr())
	return m.rt.dev.Write(m.base+meta.Addr, p[:])
}

func (m *Module) inImage(what string, addr, size uint64) error {
	if addr > m.obj.ImageSize || size > m.obj.ImageSize-addr {
		return fmt.Errorf("%s: %d bytes at %#x of an image of %#x bytes: %w", what, size, addr, m.obj.ImageSize, elf.ErrInvalid)
	}
	return nil
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
func (g *Global) Addr() uint64 { return g.addr }

// Read fills p from the value at off.
func (g *Global) Read(off uint64, p []byte) error {
	if err := g.check("read", off, uint64(len(p))); err != nil || len(p) == 0 {
		return err
	}
	defer g.m.release()
	return g.m.rt.dev.Read(p, g.addr+off)
}

// Write copies p into the value at off. It does not wait for launches.
func (g *Global) Write(off uint64, p []byte) error {
	if err := g.check("write", off, uint64(len(p))); err != nil || len(p) == 0 {
		return err
	}
	defer g.m.release()
	return g.m.rt.dev.Write(g.addr+off, p)
}

// check verifies a range and, for n > 0, retains the module.
func (g *Global) check(op string, off, n uint64) error {
	if off > g.meta.Size || n > g.meta.Size-off {
		return fmt.Errorf("%s of %d bytes at offset %d of variable %s of %d bytes: %w", op, n, off, g.Name(), g.meta.Size, ErrOutOfRange)
	}
	if n > 0 && !g.m.retain() {
		return fmt.Errorf("%s of variable %s: module: %w", op, g.Name(), ErrClosed)
	}
	return nil
}
