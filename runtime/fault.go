package runtime

import (
	"errors"
	"fmt"

	"gfxrt/runtime/device"
)

// decorate adds to a device's fault what only the runtime knows: the kernel's
// name, and symbol and source line of the PC.
func (rt *Runtime) decorate(err error) error {
	var f *device.Fault
	if !errors.As(err, &f) {
		return err
	}
	d := *f // the device may still hold its own
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for _, m := range rt.modules {
		if d.Kernel == "" && m.holds(d.KernelObject) {
			d.Kernel = m.kernelAt(d.KernelObject)
		}
		if !m.holds(d.PC) {
			continue
		}
		pc := d.PC - m.base
		if name, off, ok := m.obj.SymbolAt(pc); ok && d.Symbol == "" {
			d.Symbol = fmt.Sprintf("%s+%#x", name, off)
		}
		if file, line, ok := m.obj.Line(pc); ok && d.Source == "" {
			d.Source = fmt.Sprintf("%s:%d", file, line)
		}
	}
	return &d
}

// holds reports whether an address lies in the loaded image.
func (m *Module) holds(addr uint64) bool {
	return addr >= m.base && addr-m.base < m.obj.ImageSize
}

func (m *Module) kernelAt(object uint64) string {
	for _, k := range m.kernels {
		if k.Object() == object {
			return k.Name()
		}
	}
	return ""
}
