package isa

// vopd prints the operands of both halves.
func (p *printer) vopd() {
	in := p.in
	p.operand(in.Dst, in.DstWords, 0)
	p.dual(in.Op, [3]Operand(in.Src[:3]), in.Neg, in.DstWords)
	p.str(" :: ")
	p.str(in.OpY.String())
	p.operands = 0
	p.operand(in.DstY, 1, 0)
	p.dual(in.OpY, in.SrcY, in.NegY, 1)
	if in.OpY == VDualBitop2B32 && in.ImmY != 0 {
		p.bitop(uint16(in.ImmY))
	}
}

// dual prints the sources of one half.
func (p *printer) dual(op Op, src [3]Operand, neg, width uint8) {
	typ := constant32
	if width == 2 {
		typ = constant64
	}
	for i, o := range src {
		switch {
		case o == OperandNone:
		case op == VDualFmaakF32 && i == 2, op == VDualFmamkF32 && i == 1:
			p.operand(o, 1, 0)
		default:
			p.sep()
			constant := o >= OperandInt && o < OperandVGPR
			n := neg>>i&1 != 0
			p.when(n && constant, "neg(")
			p.when(n && !constant, "-")
			p.value(o, width, typ)
			p.when(n && constant, ")")
		}
	}
}
