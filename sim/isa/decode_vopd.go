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
