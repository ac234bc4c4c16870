package elf

import (
	"fmt"
	"math/bits"
)

// decodeDescriptor reads the 64 bytes of a kernel descriptor (LLVM
// AMDGPUUsage, Kernel Descriptor). reserved names the first reserved byte
// range that is not zero, "" when all are.
func decodeDescriptor(b []byte) (d Descriptor, reserved string) {
	d = Descriptor{
		GroupSegmentSize:   le.Uint32(b),
		PrivateSegmentSize: le.Uint32(b[4:]),
		KernargSize:        le.Uint32(b[8:]),
		EntryOffset:        int64(le.Uint64(b[16:])),
		Rsrc3:              le.Uint32(b[44:]),
		Rsrc1:              le.Uint32(b[48:]),
		Rsrc2:              le.Uint32(b[52:]),
		Properties:         le.Uint16(b[56:]),
		KernargPreload:     le.Uint16(b[58:]),
	}
	for _, r := range [][2]int{{12, 16}, {24, 44}, {60, 64}} {
		for _, v := range b[r[0]:r[1]] {
			if v != 0 {
				return d, fmt.Sprintf("reserved bytes %d to %d", r[0], r[1]-1)
			}
		}
	}
	return d, ""
}

// DecodeDescriptor reads a kernel descriptor from memory, as a command
// processor does for the kernel_object of a dispatch, and checks it for the
// target it is to run on. Errors wrap ErrInvalid; their offset is relative to
// the descriptor.
func DecodeDescriptor(b []byte, t Target) (Descriptor, error) {
	if len(b) < DescriptorSize {
		return Descriptor{}, &FormatError{Field: "kernel descriptor", Reason: fmt.Sprintf("%d bytes of %d", len(b), DescriptorSize)}
	}
	d, reserved := decodeDescriptor(b[:DescriptorSize])
	if reserved != "" {
		return Descriptor{}, &FormatError{Field: "kernel descriptor", Reason: reserved + " are not zero"}
	}
	if field, reason := d.check(t); field != "" {
		return Descriptor{}, &FormatError{Field: "kernel descriptor " + field, Reason: reason}
	}
	return d, nil
}

// reservedBits are the bits that must be zero in a file, as llvm-objdump
// checks them when it decodes a descriptor.
type reservedBits struct{ rsrc1, rsrc2, rsrc3 uint32 }

var reservedByGeneration = map[Generation]reservedBits{
	// rsrc1: priority, PRIV, DEBUG_MODE, BULKY, CDBG_USER and the tail.
	// rsrc2: trap handler, address watch, memory exceptions, LDS size, bit 31.
	Gfx9:    {0xfb500c00, 0x80ffe040, 0xffffffff},
	Gfx90a:  {0xfb500c00, 0x80ffe040, 0xfffeffc0},
	Gfx10:   {0x1b500fc0, 0x80ffe040, 0xfffffff0},
	Gfx11:   {0x1b500fc0, 0x80ffe040, 0x7ffff800},
	Gfx12:   {0x1bd00fc0, 0x80ffe000, 0x7fffd00f},
	Gfx1250: {0x13d00fc0, 0x80ffe000, 0x7fc0100f},
}

// check says what is wrong with a descriptor for the target: a field and a
// reason, or two empty strings.
func (d Descriptor) check(t Target) (field, reason string) {
	g := t.Generation()
	r := reservedByGeneration[g]
	for _, c := range []struct {
		name          string
		word, reserve uint32
	}{{"compute_pgm_rsrc1", d.Rsrc1, r.rsrc1}, {"compute_pgm_rsrc2", d.Rsrc2, r.rsrc2}, {"compute_pgm_rsrc3", d.Rsrc3, r.rsrc3},
		{"kernel_code_properties", uint32(d.Properties), 0xf380}} {
		if c.word&c.reserve != 0 {
			return c.name, fmt.Sprintf("%#x sets reserved bits %#x", c.word, c.word&c.reserve)
		}
	}
	const properties = "kernel_code_properties"
	if t.ArchitectedFlatScratch() && d.Properties&(PropPrivateSegmentBuffer|PropFlatScratchInit) != 0 {
		return properties, fmt.Sprintf("%#x asks for scratch SGPRs, which %s does not have", d.Properties, t.Processor)
	}
	if g <= Gfx90a && d.Wave32() {
		return properties, fmt.Sprintf("%#x asks for wave32 on %s", d.Properties, t.Processor)
	}
	if g == Gfx1250 && !d.Wave32() {
		return properties, fmt.Sprintf("%#x asks for wave64 on %s", d.Properties, t.Processor)
	}
	if d.Rsrc2>>11&3 == 3 {
		return "compute_pgm_rsrc2", "work-item id dimensions 3"
	}
	have := d.UserSGPRCount(g)
	if want := d.propertySGPRs() + d.KernargPreloadLength(); want > have {
		return "compute_pgm_rsrc2", fmt.Sprintf("%d user SGPRs, but the properties and preload need %d", have, want)
	}
	if d.AccumOffset(g) > d.VGPRs(g) {
		return "compute_pgm_rsrc3", fmt.Sprintf("accum_offset %d of %d VGPRs", d.AccumOffset(g), d.VGPRs(g))
	}
	return "", ""
}

// propertySGPRs counts the user SGPRs that kernel_code_properties enables.
func (d Descriptor) propertySGPRs() int {
	p := uint(d.Properties)
	return int(4*(p&1)) + 2*bits.OnesCount(p&(PropDispatchPtr|PropQueuePtr|PropKernargPtr|PropDispatchID|PropFlatScratchInit)) +
		bits.OnesCount(p&PropPrivateSegmentSize)
}

// Wave32 reports kernel_code_properties.ENABLE_WAVEFRONT_SIZE32.
func (d Descriptor) Wave32() bool { return d.Properties&PropWave32 != 0 }

// VGPRs gives the vector registers a lane is allocated, from the granulated
// count; on Gfx90a architectural and accumulation registers together.
func (d Descriptor) VGPRs(g Generation) int {
	unit := 4
	switch {
	case g == Gfx1250:
		unit = 16
	case g == Gfx90a, g >= Gfx10 && d.Wave32():
		unit = 8
	}
	return int(d.Rsrc1&0x3f+1) * unit
}

// SGPRs gives the scalar registers of a wave: from the granulated count on
// Gfx9 and Gfx90a, always 128 later.
func (d Descriptor) SGPRs(g Generation) int {
	if g >= Gfx10 {
		return 128
	}
	return int((d.Rsrc1>>6&15)/2+1) * 16
}

// AccumOffset gives the index of the first AccVGPR in the unified register
// file on Gfx90a, 0 elsewhere.
func (d Descriptor) AccumOffset(g Generation) int {
	if g != Gfx90a {
		return 0
	}
	return int(d.Rsrc3&0x3f+1) * 4
}

// TgSplit reports rsrc3.TG_SPLIT (Gfx90a): waves of a group may run on
// several compute units.
func (d Descriptor) TgSplit(g Generation) bool { return g == Gfx90a && d.Rsrc3>>16&1 != 0 }

// SharedVGPRs gives the shared VGPRs of a wave64 on Gfx10 and Gfx11, which
// come in blocks of 8.
func (d Descriptor) SharedVGPRs(g Generation) int {
	if g != Gfx10 && g != Gfx11 {
		return 0
	}
	return int(d.Rsrc3&15) * 8
}

// InstPrefSize gives the bytes of code to prefetch, 0 before Gfx11.
func (d Descriptor) InstPrefSize(g Generation) int {
	switch {
	case g == Gfx11:
		return int(d.Rsrc3>>4&0x3f) * 128
	case g >= Gfx12:
		return int(d.Rsrc3>>4&0xff) * 128
	}
	return 0
}

// NamedBarriers gives the named barriers of a work-group (Gfx1250).
func (d Descriptor) NamedBarriers(g Generation) int {
	if g != Gfx1250 {
		return 0
	}
	return int(d.Rsrc3>>14&7) * 4
}

// DynamicVGPR reports that waves may change their VGPR count while they run.
func (d Descriptor) DynamicVGPR(g Generation) bool {
	return g == Gfx12 && d.Rsrc2>>6&1 != 0 || g == Gfx1250 && d.Rsrc3>>17&1 != 0
}

// UserSGPRCount gives rsrc2.USER_SGPR_COUNT: system SGPRs start at this
// index, however many user SGPRs are enabled.
func (d Descriptor) UserSGPRCount(g Generation) int {
	if g == Gfx1250 {
		return int(d.Rsrc2 >> 1 & 0x3f)
	}
	return int(d.Rsrc2 >> 1 & 0x1f)
}

// PrivateSegment reports rsrc2.ENABLE_PRIVATE_SEGMENT: a scratch wave offset
// SGPR, or FLAT_SCRATCH set up by hardware on architected targets.
func (d Descriptor) PrivateSegment() bool { return d.Rsrc2&1 != 0 }

// WorkGroupIDX reports rsrc2.ENABLE_SGPR_WORKGROUP_ID_X.
func (d Descriptor) WorkGroupIDX() bool { return d.Rsrc2>>7&1 != 0 }

// WorkGroupIDY reports rsrc2.ENABLE_SGPR_WORKGROUP_ID_Y.
func (d Descriptor) WorkGroupIDY() bool { return d.Rsrc2>>8&1 != 0 }

// WorkGroupIDZ reports rsrc2.ENABLE_SGPR_WORKGROUP_ID_Z.
func (d Descriptor) WorkGroupIDZ() bool { return d.Rsrc2>>9&1 != 0 }

// WorkGroupInfo reports rsrc2.ENABLE_SGPR_WORKGROUP_INFO.
func (d Descriptor) WorkGroupInfo() bool { return d.Rsrc2>>10&1 != 0 }

// WorkItemIDDims gives how many work-item ids are set up, 1 (X) to 3.
func (d Descriptor) WorkItemIDDims() int { return int(d.Rsrc2>>11&3) + 1 }

// ExceptionEnables gives rsrc2's seven floating-point and integer exception
// enables, bit 0 invalid to bit 6 integer division by zero.
func (d Descriptor) ExceptionEnables() uint8 { return uint8(d.Rsrc2 >> 24 & 0x7f) }

// RoundMode32 gives rsrc1.FLOAT_ROUND_MODE_32: 0 nearest even, 1 +inf, 2
// -inf, 3 zero.
func (d Descriptor) RoundMode32() uint8 { return uint8(d.Rsrc1 >> 12 & 3) }

// RoundMode1664 gives rsrc1.FLOAT_ROUND_MODE_16_64.
func (d Descriptor) RoundMode1664() uint8 { return uint8(d.Rsrc1 >> 14 & 3) }

// DenormMode32 gives rsrc1.FLOAT_DENORM_MODE_32: 0 flush both, 1 flush
// results, 2 flush sources, 3 keep.
func (d Descriptor) DenormMode32() uint8 { return uint8(d.Rsrc1 >> 16 & 3) }

// DenormMode1664 gives rsrc1.FLOAT_DENORM_MODE_16_64.
func (d Descriptor) DenormMode1664() uint8 { return uint8(d.Rsrc1 >> 18 & 3) }

// FloatMode gives the eight float mode bits as MODE[7:0] holds them.
func (d Descriptor) FloatMode() uint8 { return uint8(d.Rsrc1 >> 12) }

// DX10Clamp reports rsrc1.ENABLE_DX10_CLAMP; false from Gfx12, which has none.
func (d Descriptor) DX10Clamp(g Generation) bool { return g < Gfx12 && d.Rsrc1>>21&1 != 0 }

// RoundRobin reports rsrc1.ENABLE_WG_RR_EN (Gfx12 on).
func (d Descriptor) RoundRobin(g Generation) bool { return g >= Gfx12 && d.Rsrc1>>21&1 != 0 }

// IEEEMode reports rsrc1.ENABLE_IEEE_MODE; false from Gfx12, which has none.
func (d Descriptor) IEEEMode(g Generation) bool { return g < Gfx12 && d.Rsrc1>>23&1 != 0 }

// FP16Ovfl reports rsrc1.FP16_OVFL.
func (d Descriptor) FP16Ovfl() bool { return d.Rsrc1>>26&1 != 0 }

// WGPMode reports rsrc1.WGP_MODE (Gfx10 on).
func (d Descriptor) WGPMode() bool { return d.Rsrc1>>29&1 != 0 }

// MemOrdered reports rsrc1.MEM_ORDERED (Gfx10 on).
func (d Descriptor) MemOrdered() bool { return d.Rsrc1>>30&1 != 0 }

// FwdProgress reports rsrc1.FWD_PROGRESS (Gfx10 on).
func (d Descriptor) FwdProgress() bool { return d.Rsrc1>>31&1 != 0 }

// KernargPreloadLength gives the kernarg dwords preloaded into user SGPRs.
func (d Descriptor) KernargPreloadLength() int { return int(d.KernargPreload & 0x7f) }

// KernargPreloadOffset gives the first preloaded dword of the kernarg segment.
func (d Descriptor) KernargPreloadOffset() int { return int(d.KernargPreload >> 7) }
