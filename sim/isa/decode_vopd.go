package isa

// vopd decodes VOPD: two VALU operations in one instruction. RDNA3 ISA document,
// section VOPD.
func (s *state) vopd() {
	if !s.start(EncVOPD, s.d.t.vopdX, s.bits(22, 4), ^uint64(0)) {
		return
	}
	opY, f := s.d.lookup(s.d.t.vopdY, s.bits(17, 5))
	if f == nil {
		s.fail()
		return
	}
	in := s.in
	x, y := s.bits(56, 8), s.bits(49, 7)<<1
	y |= ^x & 1 // the destinations are an even and an odd register
	in.OpY, in.DstY = opY, OperandVGPR+Operand(y)
	s.setDst(OperandVGPR+Operand(x), 1)
	srcX := s.dualSources(in.Op, s.bits(0, 9), s.bits(9, 8))
	for i, o := range srcX {
		if o != OperandNone {
			s.setSrc(i, o, 1)
		}
	}
	in.SrcY = s.dualSources(opY, s.bits(32, 9), s.bits(41, 8))
}

// dualSources maps the sources of one half in the order of the assembler text.
func (s *state) dualSources(op Op, src0, vsrc1 uint32) [3]Operand {
	a := s.src(src0, slot{width: 1, typ: constant32})
	b := OperandVGPR + Operand(vsrc1)
	switch op {
	case VDualMovB32:
		if vsrc1 != 0 {
			s.fail()
		}
		return [3]Operand{a, OperandNone, OperandNone}
	case VDualFmaakF32:
		return [3]Operand{a, b, s.literal()}
	case VDualFmamkF32:
		return [3]Operand{a, s.literal(), b}
	}
	return [3]Operand{a, b, OperandNone}
}

// vopd3 decodes the VOPD of 96 bits, which gfx1250 has: three sources, negation,
// double operations and lane masks.
func (s *state) vopd3() {
	if !s.third() || !s.start(EncVOPD, s.d.t.vopd3X, s.bits(18, 6), ^uint64(0)) {
		return
	}
	opY, f := s.d.lookup(s.d.t.vopd3Y, s.bits(12, 6))
	if f == nil {
		s.fail()
		return
	}
	in := s.in
	in.VOPD3, in.OpY = true, opY
	x, y := dualShapeOf(in.Op), dualShapeOf(opY)
	s.setDst(s.vgpr(s.w2&0xff, x.width), x.width)
	in.DstY = s.vgpr(s.w2>>24, 1)
	in.Neg, in.NegY = uint8(s.bits(41, 3)), uint8(s.bits(44, 3))
	if in.Neg&^x.neg != 0 || in.NegY&^y.neg != 0 {
		s.fail()
		return
	}
	for i, o := range s.dual3Sources(x, s.bits(0, 9), s.bits(48, 8), s.bits(56, 8)) {
		if o != OperandNone {
			s.setSrc(i, o, x.width)
		}
	}
	in.SrcY = s.dual3Sources(y, s.bits(32, 9), s.w2>>8&0xff, s.w2>>16&0xff)
	if opY == VDualBitop2B32 {
		in.ImmY = uint8(s.w2 >> 16)
	}
}

// dualShape tells the operands of one half of VOPD3.
type dualShape struct {
	sources uint8 // VGPRs and the first source
	mask    bool  // the third source is a lane mask
	imm     bool  // the field of the third source is an immediate
	width   uint8 // dwords of each operand
	neg     uint8 // sources that can be negated
}

func dualShapeOf(op Op) dualShape {
	switch op {
	case VDualMovB32:
		return dualShape{sources: 1, width: 1}
	case VDualCndmaskB32:
		return dualShape{sources: 2, mask: true, width: 1, neg: 3}
	case VDualBitop2B32:
		return dualShape{sources: 2, imm: true, width: 1}
	case VDualFmaF32:
		return dualShape{sources: 3, width: 1, neg: 7}
	case VDualFmaF64:
		return dualShape{sources: 3, width: 2, neg: 7}
	case VDualAddF64, VDualMulF64, VDualMaxNumF64, VDualMinNumF64:
		return dualShape{sources: 2, width: 2, neg: 3}
	case VDualAddNcU32, VDualSubNcU32, VDualLshlrevB32, VDualLshrrevB32, VDualAshrrevI32, VDualMaxI32, VDualMinI32:
		return dualShape{sources: 2, width: 1}
	}
	return dualShape{sources: 2, width: 1, neg: 3}
}

// dual3Sources maps the sources of one half of VOPD3.
func (s *state) dual3Sources(d dualShape, src0, vsrc1, vsrc2 uint32) [3]Operand {
	src := [3]Operand{OperandNone, OperandNone, OperandNone}
	if src0 == 254 || src0 == 255 || d.sources < 2 && vsrc1 != 0 || d.sources < 3 && !d.mask && !d.imm && vsrc2 != 0 {
		s.fail()
		return src
	}
	typ := constant32
	if d.width == 2 {
		typ = constant64
	}
	src[0] = s.src(src0, slot{width: d.width, typ: typ})
	if d.sources >= 2 {
		src[1] = s.vgpr(vsrc1, d.width)
	}
	switch {
	case d.sources == 3:
		src[2] = s.vgpr(vsrc2, d.width)
	case d.mask && vsrc2 < 128:
		src[2] = s.sreg(vsrc2, 1)
	case d.mask:
		s.fail()
	}
	return src
}
