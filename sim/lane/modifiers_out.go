package lane

// OutMod applies the output modifiers to the results d of type t in the lanes
// of exec: omod (1 *2, 2 *4, 3 /2), then clamp to [0, 1]. 64-bit types use two
// rows. Types other than F16, F32 and F64 are left alone: integer kernels
// clamp themselves (Env.Clamp).
//
// omod is ignored when the mode keeps denormal results of that type or has the
// IEEE bit set; otherwise denormals are flushed and -0 becomes +0 (CDNA3 ISA,
// Vector ALU Operations, "Instruction Outputs": "Output modifiers are not
// compatible with output denormals …"; LLVM review D30209). Overflow follows the
// rounding mode; for f16 with FP16_OVFL it gives the largest finite value.
//
// clamp keeps -0, which is not below zero. A NaN becomes 0 with DX10_CLAMP and
// is kept without (CDNA3 ISA, MODE register, DX10_CLAMP).
func OutMod(d *Row, t Type, exec uint64, omod uint8, clamp bool, m Mode) {
	f, denorm, round := fmtF32, m>>4, m
	switch t {
	case F16:
		f, denorm, round = fmtF16, m>>6, m>>2
		if m&modeFP16Ovfl != 0 {
			round = roundZero
		}
	case F64:
		f, denorm, round = fmtF64, m>>6, m>>2
	case F32:
	default:
		return
	}
	if denorm&2 != 0 || m&modeIEEE != 0 {
		omod = 0
	}
	if omod == 0 && !clamp {
		return
	}
	hi := d
	if t == F64 {
		hi = &Rows(d, 2)[1]
	}
	one := uint64(1)<<(f.exp-1) - 1
	for i := range d {
		if exec>>i&1 == 0 {
			continue
		}
		v := uint64(d[i])
		switch t {
		case F64:
			v |= uint64(hi[i]) << 32
		case F16:
			v &= 0xFFFF
		}
		if omod != 0 {
			v = f.scale(v, [4]int{0, 1, 2, -1}[omod&3], round&3)
		}
		if clamp {
			v = f.clamp(v, one<<f.man, m&modeDX10Clamp != 0)
		}
		d[i] = uint32(v)
		if t == F64 {
			hi[i] = uint32(v >> 32)
		}
	}
}

// clamp returns v clamped to [0, one], all as bit patterns.
func (f format) clamp(v, one uint64, nanToZero bool) uint64 {
	sign := v >> (f.man + f.exp)
	mag := v &^ (sign << (f.man + f.exp))
	inf := (uint64(1)<<f.exp - 1) << f.man
	switch {
	case mag > inf:
		if nanToZero {
			return 0
		}
		return v
	case sign != 0 && mag != 0:
		return 0
	case sign == 0 && mag > one:
		return one
	}
	return v
}

// scale multiplies v by 2^by, flushing denormals and the sign of zero.
func (f format) scale(v uint64, by int, round Mode) uint64 {
	maxExp := int(1)<<f.exp - 1
	e := int(v >> f.man & uint64(maxExp))
	sign := v >> (f.man + f.exp) << (f.man + f.exp)
	switch {
	case e == maxExp: // infinity and NaN
		return v
	case e == 0 || e+by <= 0:
		return 0
	case e+by >= maxExp:
		inf := uint64(maxExp) << f.man
		if round == roundZero || round == roundUp && sign != 0 || round == roundDown && sign == 0 {
			return sign | (inf - 1)
		}
		return sign | inf
	}
	return v + uint64(int64(by)<<f.man)
}
