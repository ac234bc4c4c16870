package isa

import "encoding/binary"

// wmma decodes the modifiers of WMMA and SWMMAC. The operands are filled but for the
// sizes of sources whose format the instruction tells.
func (s *state) wmma() {
	in := s.in
	if f8f6f4(in.Op) {
		in.Cbsz = uint8(s.bits(11, 3))
		in.Blgp = uint8(s.bits(59, 2) | s.bits(14, 1)<<2)
		for i, format := range [2]uint8{in.Cbsz, in.Blgp} {
			width := 2 * f8f6f4Words(format)
			s.setSrc(i, s.vgpr(uint32(in.Src[i]-OperandVGPR), width), width)
		}
	} else {
		in.OpSel = uint8(s.shown(11, 2)) // index_key
		if s.d.gen == 11 {
			in.OpSel = uint8(s.shown(11, 3))
			in.OpSelHi = uint8(s.shown(59, 2) | s.shown(14, 1)<<2)
		} else {
			s.flagShown(13, FlagReuseA)
			s.flagShown(14, FlagReuseB)
		}
	}
	in.NegHi = uint8(s.shown(8, 3))
	in.Neg = uint8(s.shown(61, 3))
	s.flagShown(15, FlagClamp)
}

// scaledWMMA decodes a WMMA with block scales: v_wmma_ld_scale_paired_b32, or
// v_wmma_ld_scale16_paired_b64, and the matrix operation in one. It reports false
// when another instruction follows.
func (s *state) scaledWMMA() bool {
	prefix, prefixOp, before := s.w, s.in.Op, *s.in
	next := binary.LittleEndian.Uint64(s.code[8:])
	opcode := uint32(next >> 16 & 0xff)
	op, ok := scaledWMMAOp(s.d.t.vop3p, opcode, prefixOp)
	if uint32(next)>>24 != 0xcc || !ok {
		return false
	}
	_, f := s.d.lookup(s.d.t.vop3p, opcode)
	if next&^(0xffff0000|f.mask) != f.ones {
		return false
	}
	in := s.in
	width := uint8(1)
	if prefixOp == VWmmaLdScale16PairedB64 {
		width = 2
	}
	for i := range in.Scale {
		in.Scale[i] = s.src(uint32(prefix>>(32+9*i)&0x1ff), slot{width: width, typ: constant32})
	}
	s.scaleFields(prefix)
	s.w = next
	s.in.Size = 8
	if s.start(EncVOP3P, s.d.t.vop3p, opcode, 0xffff0000) {
		s.vop3pOperands()
		in.Op, in.Size = op, 16
		s.wmma()
	}
	if s.status == unknown { // not a pair
		s.again(&before)
		return false
	}
	return true
}

// scalePrefix masks the bits that mean something in the prefix of a scaled matrix
// operation, all of them when the next instruction does not make a pair with it.
func (s *state) scalePrefix(opcode uint32) uint64 {
	if len(s.code) < 16 {
		return ^uint64(0)
	}
	op, _ := s.d.lookup(s.d.t.vop3p, opcode)
	next := binary.LittleEndian.Uint32(s.code[8:])
	switch {
	case op == VMfmaLdScaleB32:
		if _, ok := scaledOp(s.d.t.vop3p, next>>16&0x7f); ok && scaledHalf(next) {
			return 3<<59 | 0x3ffff<<32 | 0xffff1800
		}
	case ldScale(op):
		if _, ok := scaledWMMAOp(s.d.t.vop3p, next>>16&0xff, op); ok && next>>24 == 0xcc {
			return ^uint64(0xff) // VDST has no meaning
		}
	}
	return ^uint64(0)
}

// ldScale reports the instructions that give the next one its scales.
func ldScale(op Op) bool { return op == VWmmaLdScalePairedB32 || op == VWmmaLdScale16PairedB64 }

// scaleFields fills the fields of the prefix.
func (s *state) scaleFields(prefix uint64) {
	in := s.in
	in.ScaleOpSel = uint8(prefix>>11&1 | prefix>>59&1<<1)
	in.ScaleFmt = [2]uint8{uint8(prefix >> 61 & 3), uint8(prefix >> 8 & 3)}
	if prefix>>13&1 != 0 {
		in.Flags |= FlagReuseA
	}
	if prefix>>14&1 != 0 {
		in.Flags |= FlagReuseB
	}
}

// scaledWMMAOp returns the scaled form of a WMMA after a prefix.
func scaledWMMAOp(t []entry, opcode uint32, prefix Op) (Op, bool) {
	op, _ := lookup(t, opcode)
	pair := prefix == VWmmaLdScale16PairedB64
	switch {
	case op == VWmmaF3216x16x128F8f6f4 && pair:
		return VWmmaScale16F3216x16x128F8f6f4, true
	case op == VWmmaF3216x16x128F8f6f4:
		return VWmmaScaleF3216x16x128F8f6f4, true
	case op == VWmmaF3232x16x128F4 && pair:
		return VWmmaScale16F3232x16x128F4, true
	case op == VWmmaF3232x16x128F4:
		return VWmmaScaleF3232x16x128F4, true
	}
	return OpInvalid, false
}
