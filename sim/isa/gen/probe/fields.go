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

func (f field) mask() uint64     { return (1<<f.bits - 1) << f.lo }
func (f field) enc(v int) uint64 { return uint64(v) >> f.shift << f.lo & f.mask() }

// fieldsOf lists the operand fields of a gfx9 encoding family.
func fieldsOf(family, variant, mnemonic string) []field {
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
	case "dpp":
		switch family {
		case "VOP1":
			return []field{v("vdst", 17), v("src0", 32)}
		case "VOP2":
			return []field{v("vdst", 17), v("src0", 32), v("src1", 9)}
		}
		return []field{v("src0", 32), v("src1", 9)}
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
func opcodeMask(family string) uint64 {
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
	case "dpp":
		return 0x0001ff0000000000
	}
	return 0
}
