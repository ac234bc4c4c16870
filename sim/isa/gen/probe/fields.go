package main

// field is an operand field: its first bit, its width, and what it holds:
// 'v' a VGPR number, 's' a scalar or constant code, 'i' an immediate.
// The encoded value is the register number shifted right by shift.
type field struct {
	name  string
	lo    int
	bits  int
	kind  byte
	shift int
	probe int // a value that differs from every base encoding
}

func (f field) mask() word     { return shifted(1<<f.bits-1, f.lo) }
func (f field) enc(v int) word { return shifted(uint64(v)>>f.shift&(1<<f.bits-1), f.lo) }

// fieldsOf lists the operand fields of an encoding family. AMD ISA documents,
// chapter Microcode Formats.
func fieldsOf(gen int, family, variant string) []field {
	v := func(name string, lo int) field { return field{name, lo, 8, 'v', 0, 32} }
	s := func(name string, lo, bits int) field { return field{name, lo, bits, 's', 0, 32} }
	vs := func(name string, lo int) field { return field{name, lo, 9, 's', 0, 256 + 32} }
	imm := field{"simm16", 0, 16, 'i', 0, 0x1041}
	switch variant {
	case "sdwa":
		switch family {
		case "VOP1":
			return []field{v("vdst", 17), {"src0", 32, 8, 'v', 0, 32}}
		case "VOP2":
			return []field{v("vdst", 17), {"src0", 32, 8, 'v', 0, 32}, v("src1", 9)}
		}
		return []field{s("sdst", 40, 7), {"src0", 32, 8, 'v', 0, 32}, v("src1", 9)}
	case "dpp", "dpp8":
		switch family {
		case "VOP1":
			return []field{v("vdst", 17), v("src0", 32)}
		case "VOP2":
			return []field{v("vdst", 17), v("src0", 32), v("src1", 9)}
		case "VOPC":
			return []field{v("src0", 32), v("src1", 9)}
		}
		return []field{v("vdst", 0), v("src0", 64), vs("src1", 41), vs("src2", 50)}
	}
	if gen >= 12 {
		switch family {
		case "SMEM":
			return []field{s("sdata", 6, 7), {"sbase", 0, 6, 's', 1, 32}, {"offset", 32, 24, 'i', 0, 32}, s("soffset", 57, 7)}
		case "FLAT", "GLOBAL", "SCRATCH":
			return []field{{"offset", 72, 24, 'i', 0, 0}, v("vdst", 32), v("addr", 64), v("data", 55), s("saddr", 0, 7)}
		case "VBUFFER":
			return []field{{"offset", 72, 24, 'i', 0, 0}, v("vdata", 32), v("vaddr", 64), s("srsrc", 41, 9), s("soffset", 0, 7)}
		}
	}
	switch family {
	case "SOP2":
		return []field{s("sdst", 16, 7), s("src0", 0, 8), s("src1", 8, 8)}
	case "SOPK":
		return []field{s("sdst", 16, 7), imm}
	case "SOP1":
		return []field{s("sdst", 16, 7), s("src0", 0, 8)}
	case "SOPC":
		return []field{s("src0", 0, 8), s("src1", 8, 8)}
	case "SOPP":
		return []field{imm}
	case "SMEM":
		return []field{s("sdata", 6, 7), {"sbase", 0, 6, 's', 1, 32}, {"offset", 32, 21, 'i', 0, 32}, s("soffset", 57, 7)}
	case "VOP1":
		return []field{v("vdst", 17), vs("src0", 0)}
	case "VOP2":
		return []field{v("vdst", 17), vs("src0", 0), v("src1", 9)}
	case "VOPC":
		return []field{vs("src0", 0), v("src1", 9)}
	case "VOP3":
		return []field{v("vdst", 0), vs("src0", 32), vs("src1", 41), vs("src2", 50)}
	case "VOP3P":
		return []field{v("vdst", 0), vs("src0", 32), vs("src1", 41), vs("src2", 50)}
	case "DS", "DS_GDS":
		return []field{{"offset", 0, 16, 'i', 0, 0}, v("vdst", 56), v("addr", 32), v("data0", 40), v("data1", 48)}
	case "FLAT", "GLOBAL", "SCRATCH":
		return []field{{"offset", 0, 13, 'i', 0, 0}, v("vdst", 56), v("addr", 32), v("data", 40), s("saddr", 48, 7)}
	case "MUBUF", "MTBUF":
		return []field{{"offset", 0, 12, 'i', 0, 0}, v("vdata", 40), v("vaddr", 32), {"srsrc", 48, 5, 's', 2, 32}, s("soffset", 56, 8)}
	case "MIMG":
		return []field{v("vdata", 40), v("vaddr", 32), {"srsrc", 48, 5, 's', 2, 32}, {"ssamp", 53, 5, 's', 2, 32}}
	}
	return nil
}

// opcodeMask gives the bits of the first dword that hold the encoding and the opcode.
func opcodeMask(gen int, family string) uint64 {
	if m := opcodeMask10(gen, family); m != 0 && gen >= 10 {
		return m
	}
	switch family {
	case "SOP2", "SOPK":
		return 0xff800000
	case "SOP1":
		return 0xff80ff00
	case "SOPC", "SOPP", "VOP3P":
		return 0xffff0000
	case "SMEM", "DS", "DS_GDS", "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MIMG":
		m := uint64(0xfdfc0000)
		switch family {
		case "DS", "DS_GDS":
			m = 0xfdff0000
		case "FLAT", "GLOBAL", "SCRATCH":
			m |= 0xc000
		case "SMEM":
			m = 0xfffc0000
		}
		return m
	case "MTBUF":
		return 0xfc078000
	case "VOP1":
		return 0xfe01fe00
	case "VOP2":
		return 0xfe000000
	case "VOPC":
		return 0xfffe0000
	}
	return 0xffff0000 // VOP3
}

// opcodeMask10 is opcodeMask where gfx10 and later differ from gfx9, or 0.
func opcodeMask10(gen int, family string) uint64 {
	switch family {
	case "DS", "DS_GDS":
		return 0xfffe0000
	case "SMEM":
		if gen >= 12 {
			return 0xfc07e000
		}
	case "FLAT", "GLOBAL", "SCRATCH":
		switch gen {
		case 11:
			return 0xfdff0000
		case 12:
			return 0xff3fc000
		}
	case "MUBUF":
		return 0xfffc0000 // bit 25 is the opcode's high bit, on gfx10 too
	case "VBUFFER":
		return 0xfc3fc000
	case "MTBUF":
		if gen == 10 {
			return 0xfc070000 | 1<<53
		}
	}
	return 0
}

// selectors masks the SDWA selector fields, DST_UNUSED and dpp_ctrl: llvm-mc dies
// on their reserved values, and every opcode has the same ones.
func selectors(family, variant string) uint64 {
	switch variant {
	case "sdwa":
		switch family {
		case "VOP1":
			return 0x00071f0000000000
		case "VOPC":
			return 0x0707000000000000
		}
		return 0x07071f0000000000
	}
	return 0
}
