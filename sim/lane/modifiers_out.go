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
	even := round&3 == roundEven
	if !useVector || t == F64 || omod != 0 && (t == F16 || !even) {
		outModLanes(d, t, f, exec, omod, clamp, round&3, m&modeDX10Clamp != 0)
		return
	}
	if omod != 0 {
		// What becomes denormal is flushed before it is rounded.
		by := [...]struct{ factor, least float32 }{{1, 0x1p-126}, {2, 0x1p-126}, {4, 0x1p-126}, {0.5, 0x1p-125}}[omod&3]
		vOMod(d, exec, bits32(by.factor), bits32(by.least))
	}
	if clamp {
		top := uint32(1) << (f.man + f.exp)
		vClamp(d, exec, top-1, uint32(f.one()), top-1<<f.man, m&modeDX10Clamp != 0)
	}
}

// outModLanes is OutMod lane by lane.
func outModLanes(d *Row, t Type, f format, exec uint64, omod uint8, clamp bool, round Mode, nanToZero bool) {
	hi := d
	if t == F64 {
		hi = &Rows(d, 2)[1]
	}
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
			v = f.scale(v, [4]int{0, 1, 2, -1}[omod&3], round)
		}
		if clamp {
			v = f.clamp(v, f.one(), nanToZero)
		}
		d[i] = uint32(v)
		if t == F64 {
			hi[i] = uint32(v >> 32)
		}
	}
}

// one is the bit pattern of 1.
func (f format) one() uint64 { return (1<<(f.exp-1) - 1) << f.man }

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
