package elf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const descriptorSuffix = ".kd"

// entryAlign is the alignment of kernel entries: COMPUTE_PGM_LO holds bits 8
// and up of the address, and every compiler aligns to it.
const entryAlign = 256

// bindKernels joins each metadata entry with its descriptor, checks both, and
// adds the kernels that only have a descriptor symbol.
func (co *CodeObject) bindKernels() error {
	symbols := make(map[string]int, len(co.Symbols))
	for i, s := range co.Symbols {
		if _, dup := symbols[s.Name]; !dup && s.Defined && !s.Absolute {
			symbols[s.Name] = i
		}
	}
	names := make(map[string]bool, len(co.Kernels))
	known := make(map[string]bool, len(co.Kernels))
	for i := range co.Kernels {
		k := &co.Kernels[i]
		path := fmt.Sprintf("amdhsa.kernels[%d]", i)
		if names[k.Name] || known[k.Symbol] {
			return bad(co.kernelAt[i], path+".name", "%.256q appears twice", k.Name)
		}
		names[k.Name], known[k.Symbol] = true, true
		index, ok := symbols[k.Symbol]
		if !ok {
			return bad(co.kernelAt[i], path+".symbol", "no symbol %.256q", k.Symbol)
		}
		if err := co.bindDescriptor(k, &co.Symbols[index]); err != nil {
			return err
		}
		if err := k.check(path, co.kernelAt[i]); err != nil {
			return err
		}
	}
	for i := range co.Symbols {
		s := &co.Symbols[i]
		name, isKD := strings.CutSuffix(s.Name, descriptorSuffix)
		if !isKD || !s.Global || !s.Defined || s.Absolute || known[s.Name] || names[name] {
			continue
		}
		known[s.Name] = true
		k := Kernel{Name: name, Symbol: s.Name, Kind: "normal", NoMetadata: true}
		if err := co.bindDescriptor(&k, s); err != nil {
			return err
		}
		co.Kernels = append(co.Kernels, k)
	}
	return nil
}

// bindDescriptor reads the kernel descriptor at a symbol.
func (co *CodeObject) bindDescriptor(k *Kernel, s *Symbol) error {
	field := fmt.Sprintf("kernel descriptor %.256q", s.Name)
	b, at, ok := co.fileRange(s.Value, DescriptorSize)
	if !ok || s.Size != 0 && s.Size != DescriptorSize {
		return bad(at, field, "%d bytes at address %#x are not 64 bytes of a segment in the file", s.Size, s.Value)
	}
	if s.Value%DescriptorSize != 0 {
		return bad(at, field, "address %#x is not a multiple of 64", s.Value)
	}
	d, reserved := decodeDescriptor(b)
	if reserved != "" {
		return bad(at, field, "%s are not zero", reserved)
	}
	if name, reason := d.check(co.Target); reason != "" {
		return bad(at, field+" "+name, "%s", reason)
	}
	k.Descriptor, k.DescAddr = d, s.Value
	k.Entry = s.Value + uint64(d.EntryOffset)
	if seg := co.segment(k.Entry, 4); seg == nil || !seg.Exec || k.Entry%entryAlign != 0 {
		return bad(at+16, field+" kernel_code_entry_byte_offset", "entry %#x is not a 256-aligned address in an executable segment", k.Entry)
	}
	// ROCr takes both sizes from the descriptor, CLR some from the metadata;
	// compilers make them equal. The larger is enough for either.
	k.GroupSize = max(k.GroupSize, d.GroupSegmentSize)
	k.PrivateSize = max(k.PrivateSize, d.PrivateSegmentSize)
	k.KernargSize = max(k.KernargSize, d.KernargSize)
	waveSize := 64
	if d.Wave32() {
		waveSize = 32
	}
	if k.NoMetadata {
		k.WavefrontSize, k.KernargAlign = waveSize, 16
		k.UsesDynamicStack = d.Properties&PropDynamicStack != 0
	}
	if k.WavefrontSize != waveSize {
		return bad(at+56, field+" kernel_code_properties", "wave size %d, but .wavefront_size is %d", waveSize, k.WavefrontSize)
	}
	if k.KernargSize > MaxKernargSize {
		return bad(at+8, field+" kernarg_size", "%d bytes are more than %d", k.KernargSize, MaxKernargSize)
	}
	if end := 4 * (d.KernargPreloadOffset() + d.KernargPreloadLength()); d.KernargPreloadLength() != 0 && end > int(k.KernargSize+3)&^3 {
		return bad(at+58, field+" kernarg_preload", "ends at byte %d of a kernarg segment of %d", end, k.KernargSize)
	}
	return nil
}

// check validates what the metadata says of one kernel.
func (k *Kernel) check(path string, at uint64) error {
	if a := k.KernargAlign; a == 0 || a&(a-1) != 0 || a > MaxKernargSize {
		return bad(at, path+".kernarg_segment_align", "%d is no power of two up to %d", a, MaxKernargSize)
	}
	if k.Kind != "normal" && k.Kind != "init" && k.Kind != "fini" {
		return bad(at, path+".kind", "%.64q is not normal, init or fini", k.Kind)
	}
	order := make([]int, 0, len(k.Args))
	for i, a := range k.Args {
		if !inside(uint64(a.Offset), uint64(a.Size), uint64(k.KernargSize)) {
			return bad(at, fmt.Sprintf("%s.args[%d].offset", path, i), "%d bytes at %d end beyond the kernarg segment, %d", a.Size, a.Offset, k.KernargSize)
		}
		if want := argKinds[a.Kind].size; want != 0 && a.Size != want {
			return bad(at, fmt.Sprintf("%s.args[%d].size", path, i), "%d bytes for %s, want %d", a.Size, a.ValueKind, want)
		}
		if a.Size != 0 && a.Kind != HiddenNone {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(k.Args[i].Offset, k.Args[j].Offset) })
	for n := 1; n < len(order); n++ {
		a, b := k.Args[order[n-1]], k.Args[order[n]]
		if a.Offset+a.Size > b.Offset {
			return bad(at, fmt.Sprintf("%s.args[%d].offset", path, order[n]), "%d overlaps argument %d, which ends at %d", b.Offset, order[n-1], a.Offset+a.Size)
		}
	}
	return nil
}

const (
	managedSuffix = ".managed"
	cuidPrefix    = "__hip_cuid_" // names a compilation unit, not a variable of the program
)

// findGlobals lists the variables a program can look up.
func (co *CodeObject) findGlobals() error {
	byName := make(map[string]int)
	for i, s := range co.Symbols {
		if s.Name == "__llvm_rpc_client" && s.Defined {
			co.HasRPCClient = true
		}
		if s.Type != SymbolObject || !s.Global || !s.Defined || s.Absolute || strings.HasSuffix(s.Name, descriptorSuffix) || strings.HasPrefix(s.Name, cuidPrefix) {
			continue
		}
		if _, dup := byName[s.Name]; !dup {
			byName[s.Name] = i
		}
	}
	for i, s := range co.Symbols {
		if n, ok := byName[s.Name]; !ok || n != i {
			continue
		}
		if co.segment(s.Value, s.Size) == nil {
			return bad(0, fmt.Sprintf("symbol %.256q", s.Name), "%#x bytes at %#x are in no segment", s.Size, s.Value)
		}
		if base, ok := strings.CutSuffix(s.Name, managedSuffix); ok {
			if _, managed := byName[base]; managed {
				continue // listed under the variable's own name
			}
		}
		g := Global{Name: s.Name, Addr: s.Value, Size: s.Size}
		if init, managed := byName[s.Name+managedSuffix]; managed {
			if s.Size != 8 {
				return bad(0, fmt.Sprintf("symbol %.256q", s.Name), "%d bytes, but the pointer of a managed variable has 8", s.Size)
			}
			g.Managed, g.Size, g.InitAddr = true, co.Symbols[init].Size, co.Symbols[init].Value
		}
		co.Globals = append(co.Globals, g)
	}
	return nil
}

// Kernel finds a kernel by its name, nil when there is none.
func (co *CodeObject) Kernel(name string) *Kernel {
	for i := range co.Kernels {
		if co.Kernels[i].Name == name {
			return &co.Kernels[i]
		}
	}
	return nil
}

// Global finds a variable by its name, nil when there is none.
func (co *CodeObject) Global(name string) *Global {
	for i := range co.Globals {
		if co.Globals[i].Name == name {
			return &co.Globals[i]
		}
	}
	return nil
}
