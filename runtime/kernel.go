package runtime

import (
	"encoding/binary"
	"fmt"
	"slices"

	"gfxrt/elf"
	"gfxrt/services/kernarg"
)

// Kernel is a kernel of a loaded module.
type Kernel struct {
	m        *Module
	meta     *elf.Kernel
	explicit []elf.Arg
	layout   *kernarg.Layout
	slots    [kernarg.NumSlots]uint64 // addresses of services that live as long as the Runtime
}

// makeKernels checks what a launch relies on, once for all launches.
func (m *Module) makeKernels() error {
	for i := range m.obj.Kernels {
		k := &Kernel{m: m, meta: &m.obj.Kernels[i]}
		var args []kernarg.Arg
		for _, a := range k.meta.Args {
			args = append(args, kernarg.Arg{Offset: a.Offset, Size: a.Size, Kind: kernarg.Kind(a.ValueKind), Name: a.Name})
			if !a.Kind.Hidden() {
				k.explicit = append(k.explicit, a)
			}
		}
		var err error
		if k.layout, err = kernarg.NewLayout(k.meta.Name, m.obj.Version, k.kernargSize(), args); err != nil {
			return err
		}
		switch size := k.kernargBytes(); {
		case size > maxKernargs:
			return fmt.Errorf("kernel %s: %d bytes of kernargs, the limit is %d: %w", k.Name(), size, maxKernargs, ErrUnsupported)
		case k.meta.KernargAlign > kernargBlock:
			return fmt.Errorf("kernel %s: kernarg alignment %d, the limit is %d: %w", k.Name(), k.meta.KernargAlign, kernargBlock, ErrUnsupported)
		}
		for _, a := range k.explicit {
			if want := pointerSize(a.Kind); want != 0 && a.Size != want {
				return fmt.Errorf("kernel %s: argument %q (%s) of %d bytes, want %d: %w", k.Name(), a.Name, a.ValueKind, a.Size, want, elf.ErrInvalid)
			}
		}
		m.kernels = append(m.kernels, k)
	}
	return nil
}

// pointerSize is the size the ABI gives arguments that hold an address.
func pointerSize(kind elf.ArgKind) uint32 {
	switch kind {
	case elf.ArgGlobalBuffer:
		return 8
	case elf.ArgDynamicSharedPointer:
		return 4
	}
	return 0
}

// Name is the kernel's name in the source language's mangling.
func (k *Kernel) Name() string { return k.meta.Name }

// Module is the module that holds the kernel.
func (k *Kernel) Module() *Module { return k.m }

// Metadata is what the code object says of the kernel: arguments, segment
// sizes, register counts, limits. It must not be changed.
func (k *Kernel) Metadata() *elf.Kernel { return k.meta }

// Args lists the explicit arguments in the order Launch takes them.
func (k *Kernel) Args() []elf.Arg { return slices.Clone(k.explicit) }

// Object is the GPU address of the kernel descriptor, kernel_object of a
// dispatch packet.
func (k *Kernel) Object() uint64 { return k.m.base + k.meta.DescAddr }

// kernargSize is the size of the kernarg segment. Objects before V4 may leave
// it out of the descriptor, so metadata comes first.
func (k *Kernel) kernargSize() uint32 {
	if k.meta.NoMetadata {
		return k.meta.Descriptor.KernargSize
	}
	return k.meta.KernargSize
}

func (k *Kernel) kernargBytes() uint64 { return uint64(k.kernargSize()) }

// groupSize is the static LDS in bytes. Metadata and descriptor should agree;
// the larger is safe when they do not.
func (k *Kernel) groupSize() uint32 {
	return max(k.meta.GroupSize, k.meta.Descriptor.GroupSegmentSize)
}

// privateSize is the fixed private segment in bytes a lane, likewise.
func (k *Kernel) privateSize() uint32 {
	return max(k.meta.PrivateSize, k.meta.Descriptor.PrivateSegmentSize)
}

func (k *Kernel) dynamicStack() bool {
	return k.meta.UsesDynamicStack || k.meta.Descriptor.Properties&elf.PropDynamicStack != 0
}

// fillKernargs writes the whole segment at dst.
func (k *Kernel) fillKernargs(dst []byte, v *kernarg.LaunchValues, args []Arg) error {
	clear(dst)
	if k.meta.NoMetadata {
		if len(args) == 1 {
			copy(dst, args[0].data)
		}
		return nil
	}
	for i := range args {
		a := &k.explicit[i]
		args[i].put(dst[a.Offset:a.Offset+a.Size], k.groupSize())
	}
	return k.layout.Fill(dst, v)
}

// put writes the argument's bytes; plan has checked that they fill dst.
func (a *Arg) put(dst []byte, staticLDS uint32) {
	var v uint64
	switch a.kind {
	case argBytes:
		copy(dst, a.data)
		return
	case argBuffer:
		v = a.buf.Addr()
	case argLDS:
		v = a.bits + uint64(staticLDS)
	default:
		v = a.bits
	}
	switch len(dst) {
	case 1:
		dst[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(dst, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(dst, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(dst, v)
	}
}
