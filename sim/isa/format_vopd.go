package isa

// vopd prints the operands of both halves.
func (p *printer) vopd() {
	in := p.in
	p.operand(in.Dst, 1, 0)
	p.dual(in.Op, [3]Operand(in.Src[:3]))
	p.str(" :: ")
	p.str(in.OpY.String())
	p.operands = 0
	p.operand(in.DstY, 1, 0)
	p.dual(in.OpY, in.SrcY)
}

// dual prints the sources of one half.
func (p *printer) dual(op Op, src [3]Operand) {
	for i, o := range src {
		switch {
		case o == OperandNone:
		case op == VDualFmaakF32 && i == 2, op == VDualFmamkF32 && i == 1:
			p.operand(o, 1, 0)
		default:
			p.operand(o, 1, constant32)
		}
	}
}
