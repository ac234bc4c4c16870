package isa

// tensor prints the groups of the descriptor, the last two if either is there.
func (p *printer) tensor() {
	in := p.in
	n := 4
	if in.Src[2] == OperandNone && in.Src[3] == OperandNone {
		n = 2
	}
	for i, o := range in.Src[:n] {
		if o == OperandNone {
			o = OperandNull
		}
		p.operand(o, in.SrcWords[i], 0)
	}
	p.when(in.Flags&FlagR128 != 0, " r128")
	p.policy()
}
