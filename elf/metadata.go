package elf

import (
	"fmt"
	"strings"
)

const (
	noteMetadata = 32 // NT_AMDGPU_METADATA
	// MaxKernargSize bounds .kernarg_segment_size. Compilers stay far below
	// (HIP and OpenCL guarantee 1 to 4 KiB); a launch allocates this much.
	MaxKernargSize = 1 << 20
)

// readNotes walks the PT_NOTE segments for the metadata note (LLVM
// AMDGPUUsage, Code Object V3 and above Note Records).
func (co *CodeObject) readNotes() error {
	found := false
	for i, p := range co.elf.progs {
		if p.typ != progNote {
			continue
		}
		field := fmt.Sprintf("program header %d note", i)
		// A note's name and descriptor are padded to 4 bytes.
		pad := func(n uint32) uint64 { return (uint64(n) + 3) &^ 3 }
		for off := uint64(0); off < p.filesz; {
			at := p.off + off
			if p.filesz-off < 12 {
				return bad(at, field, "%d bytes are less than a note header", p.filesz-off)
			}
			b := co.File[at : p.off+p.filesz]
			namesz, descsz := le.Uint32(b), le.Uint32(b[4:])
			desc := 12 + pad(namesz)
			// The padding of the last note may be cut.
			if !inside(desc, uint64(descsz), uint64(len(b))) {
				return bad(at, field, "name of %d and descriptor of %d bytes do not fit in %d", namesz, descsz, len(b))
			}
			if le.Uint32(b[8:]) == noteMetadata && string(b[12:12+namesz]) == "AMDGPU\x00" {
				if found {
					return bad(at, field, "second metadata note")
				}
				found = true
				m := &metaReader{b: b[desc : desc+uint64(descsz)], end: at + desc + uint64(descsz)}
				if err := co.readMetadata(m); err != nil {
					return err
				}
			}
			off += desc + pad(descsz)
		}
	}
	return nil
}

// readMetadata decodes the top-level map.
func (co *CodeObject) readMetadata(m *metaReader) error {
	version := false
	err := m.eachKey(func(key string) error {
		switch key {
		case "amdhsa.version":
			version = true
			return m.eachItem(func(i int) error {
				v, err := m.uint(1 << 31)
				if err == nil && i == 0 && v != 1 {
					return fmt.Errorf("%w: amdhsa.version major %d", ErrUnsupported, v)
				}
				return err
			})
		case "amdhsa.target":
			return m.string(&co.MetadataTarget)
		case "amdhsa.printf":
			return m.eachItem(func(int) error {
				at := *m
				s, err := m.str()
				if err != nil {
					return err
				}
				p, reason := parsePrintf(s)
				if reason != "" {
					return at.fail("%s", reason)
				}
				co.Printf = append(co.Printf, p)
				return nil
			})
		case "amdhsa.kernels":
			return m.eachItem(func(int) error {
				at := m.pos()
				k, err := m.kernel()
				if err == nil {
					co.Kernels = append(co.Kernels, k)
					co.kernelAt = append(co.kernelAt, at)
				}
				return err
			})
		}
		return m.skip()
	})
	if err == nil && !version {
		return m.fail("amdhsa.version is missing")
	}
	return err
}

// required collects which of the required keys a map had.
type required map[string]bool

func (r required) check(m *metaReader, keys ...string) error {
	for _, k := range keys {
		if !r[k] {
			return m.fail("%s is missing", k)
		}
	}
	return nil
}

// kernel reads one map of amdhsa.kernels (LLVM AMDGPUUsage, Kernel Metadata
// Map). Keys it does not know are skipped: newer compilers add some without
// raising the version.
func (m *metaReader) kernel() (Kernel, error) {
	k := Kernel{Kind: "normal"}
	seen := required{}
	err := m.eachKey(func(key string) error {
		if seen[key] {
			return m.fail("key appears twice")
		}
		seen[key] = true
		switch key {
		case ".name":
			return m.string(&k.Name)
		case ".symbol":
			return m.string(&k.Symbol)
		case ".kind":
			return m.string(&k.Kind)
		case ".language":
			return m.string(&k.Language)
		case ".args":
			return m.eachItem(func(int) error {
				a, err := m.arg()
				if err == nil {
					k.Args = append(k.Args, a)
				}
				return err
			})
		case ".reqd_workgroup_size":
			return m.triple(&k.RequiredGroupSize)
		case ".cluster_dims":
			return m.triple(&k.ClusterDims)
		case ".uses_dynamic_stack":
			return m.bool(&k.UsesDynamicStack)
		case ".uniform_work_group_size":
			return m.bool(&k.UniformGroupSize)
		case ".workgroup_processor_mode":
			return m.bool(&k.WorkgroupProcessorMode)
		}
		if p := k.u32Key(key); p != nil {
			return m.u32(p)
		}
		if p := k.intKey(key); p != nil {
			return m.num(p)
		}
		return m.skip()
	})
	if err != nil {
		return k, err
	}
	return k, seen.check(m, ".name", ".symbol", ".kernarg_segment_size", ".kernarg_segment_align", ".group_segment_fixed_size",
		".private_segment_fixed_size", ".wavefront_size", ".sgpr_count", ".vgpr_count", ".max_flat_workgroup_size")
}

func (k *Kernel) u32Key(key string) *uint32 {
	switch key {
	case ".kernarg_segment_size":
		return &k.KernargSize
	case ".kernarg_segment_align":
		return &k.KernargAlign
	case ".group_segment_fixed_size":
		return &k.GroupSize
	case ".private_segment_fixed_size":
		return &k.PrivateSize
	case ".max_flat_workgroup_size":
		return &k.MaxFlatGroupSize
	// LLVM writes the first spelling, its documentation has the second.
	case ".max_num_workgroups_x", ".max_num_work_groups_x":
		return &k.MaxGroups[0]
	case ".max_num_workgroups_y", ".max_num_work_groups_y":
		return &k.MaxGroups[1]
	case ".max_num_workgroups_z", ".max_num_work_groups_z":
		return &k.MaxGroups[2]
	}
	return nil
}

func (k *Kernel) intKey(key string) *int {
	switch key {
	case ".wavefront_size":
		return &k.WavefrontSize
	case ".sgpr_count":
		return &k.SGPRs
	case ".vgpr_count":
		return &k.VGPRs
	case ".agpr_count":
		return &k.AGPRs
	case ".sgpr_spill_count":
		return &k.SGPRSpills
	case ".vgpr_spill_count":
		return &k.VGPRSpills
	}
	return nil
}

// arg reads one map of .args (LLVM AMDGPUUsage, Kernel Argument Metadata Map).
func (m *metaReader) arg() (Arg, error) {
	var a Arg
	var access string
	seen := required{}
	err := m.eachKey(func(key string) error {
		if seen[key] {
			return m.fail("key appears twice")
		}
		seen[key] = true
		switch key {
		case ".name":
			return m.string(&a.Name)
		case ".type_name":
			return m.string(&a.TypeName)
		case ".offset":
			return m.u32(&a.Offset)
		case ".size":
			return m.u32(&a.Size)
		case ".value_kind":
			return m.string(&a.ValueKind)
		case ".address_space":
			return m.string(&a.AddressSpace)
		case ".actual_access":
			return m.string(&a.Access)
		case ".access":
			return m.string(&access)
		case ".pointee_align":
			return m.u32(&a.PointeeAlign)
		case ".is_const":
			return m.bool(&a.IsConst)
		}
		return m.skip()
	})
	if err != nil {
		return a, err
	}
	if a.Access == "" {
		a.Access = access
	}
	a.Kind = kindOf(a.ValueKind)
	return a, seen.check(m, ".size", ".offset", ".value_kind")
}

// argKinds has each kind's .value_kind and the size that is fixed by the ABI,
// 0 where it is free (LLVM AMDGPUUsage; sizes as compilers emit them).
var argKinds = [numArgKinds]struct {
	name string
	size uint32
}{
	ArgByValue:              {"by_value", 0},
	ArgGlobalBuffer:         {"global_buffer", 8},
	ArgDynamicSharedPointer: {"dynamic_shared_pointer", 4},
	ArgSampler:              {"sampler", 8},
	ArgImage:                {"image", 8},
	ArgPipe:                 {"pipe", 8},
	ArgQueue:                {"queue", 8},
	HiddenNone:              {"hidden_none", 0},
	HiddenGlobalOffsetX:     {"hidden_global_offset_x", 8},
	HiddenGlobalOffsetY:     {"hidden_global_offset_y", 8},
	HiddenGlobalOffsetZ:     {"hidden_global_offset_z", 8},
	HiddenPrintfBuffer:      {"hidden_printf_buffer", 8},
	HiddenHostcallBuffer:    {"hidden_hostcall_buffer", 8},
	HiddenMultigridSyncArg:  {"hidden_multigrid_sync_arg", 8},
	HiddenDefaultQueue:      {"hidden_default_queue", 8},
	HiddenCompletionAction:  {"hidden_completion_action", 8},
	HiddenBlockCountX:       {"hidden_block_count_x", 4},
	HiddenBlockCountY:       {"hidden_block_count_y", 4},
	HiddenBlockCountZ:       {"hidden_block_count_z", 4},
	HiddenGroupSizeX:        {"hidden_group_size_x", 2},
	HiddenGroupSizeY:        {"hidden_group_size_y", 2},
	HiddenGroupSizeZ:        {"hidden_group_size_z", 2},
	HiddenRemainderX:        {"hidden_remainder_x", 2},
	HiddenRemainderY:        {"hidden_remainder_y", 2},
	HiddenRemainderZ:        {"hidden_remainder_z", 2},
	HiddenGridDims:          {"hidden_grid_dims", 2},
	HiddenHeapV1:            {"hidden_heap_v1", 8},
	HiddenDynamicLDSSize:    {"hidden_dynamic_lds_size", 4},
	HiddenPrivateBase:       {"hidden_private_base", 4},
	HiddenSharedBase:        {"hidden_shared_base", 4},
	HiddenQueuePtr:          {"hidden_queue_ptr", 8},
	HiddenUnknown:           {"hidden_unknown", 0},
}

func kindOf(valueKind string) ArgKind {
	for k := range argKinds {
		if argKinds[k].name == valueKind && valueKind != "" {
			return ArgKind(k)
		}
	}
	if strings.HasPrefix(valueKind, "hidden_") {
		return HiddenUnknown
	}
	return ArgUnknown
}

// String gives the .value_kind spelling, "unknown" for ArgUnknown.
func (k ArgKind) String() string {
	if k == ArgUnknown || k >= numArgKinds {
		return "unknown"
	}
	return argKinds[k].name
}
