package isa

// wmma prints the modifiers of WMMA and SWMMAC of gfx12.
func (p *printer) wmma() {
	in := p.in
	scaled := in.Scale[0] != OperandNone
	if scaled {
		width := uint8(1)
		if in.Op == VWmmaScale16F3216x16x128F8f6f4 || in.Op == VWmmaScale16F3232x16x128F4 {
			width = 2
		}
		p.operand(in.Scale[0], width, constant32)
		p.operand(in.Scale[1], width, constant32)
	}
	if f8f6f4(in.Op) {
		p.matrixFormat(" matrix_a_fmt:", in.Cbsz)
		p.matrixFormat(" matrix_b_fmt:", in.Blgp)
	} else {
		p.offset(" index_key:", int32(in.OpSel&3))
	}
	if scaled || ldScale(in.Op) {
		p.when(in.ScaleOpSel&1 != 0, " matrix_a_scale:MATRIX_SCALE_ROW1")
		p.when(in.ScaleOpSel&2 != 0, " matrix_b_scale:MATRIX_SCALE_ROW1")
		p.scaleFormat(" matrix_a_scale_fmt:", in.ScaleFmt[0])
		p.scaleFormat(" matrix_b_scale_fmt:", in.ScaleFmt[1])
	}
	p.when(in.Flags&FlagReuseA != 0, " matrix_a_reuse")
	p.when(in.Flags&FlagReuseB != 0, " matrix_b_reuse")
	if in.Neg != 0 {
		p.bitList(" neg_lo:[", in.Neg, 3)
	}
	if in.NegHi != 0 {
		p.bitList(" neg_hi:[", in.NegHi, 3)
	}
	p.when(in.Flags&FlagClamp != 0, " clamp")
}

// matrixFormat prints the format of the elements of A or B other than FP8.
func (p *printer) matrixFormat(name string, v uint8) {
	if v == 0 {
		return
	}
	p.str(name)
	if v > 4 {
		p.int(int64(v))
		return
	}
	p.str("MATRIX_FMT_")
	p.str([5]string{"FP8", "BF8", "FP6", "BF6", "FP4"}[v])
}

// scaleFormat prints the format of scales other than E8.
func (p *printer) scaleFormat(name string, v uint8) {
	if v == 0 {
		return
	}
	p.str(name)
	if v > 2 {
		p.int(int64(v))
		return
	}
	p.str("MATRIX_SCALE_FMT_")
	p.str([3]string{"E8", "E5M3", "E4M3"}[v])
}
