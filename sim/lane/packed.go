package lane

// VOP3P instructions on pairs of 16- and 32-bit values, and the mixed-precision
// multiply-adds.
//
// Each half of a result takes from every source the half that op_sel (low
// result) or op_sel_hi (high result) names, negated by neg_lo or neg_hi where
// the elements are floating point. The kernels clamp by themselves: floats to
// [0, 1] as OutMod does, integers to the range of their type.
//
// Source: CDNA3 ISA, "VOP3P" and the pseudocode of each instruction.

// op16 computes one half: operands and result in bits 15:0.
type op16 func(x, y, z uint32, m Mode) uint32

// halves are the shifts and sign masks that select one half of each source.
type halves struct {
	shift [3]uint32
	neg   [3]uint32
}

func selectHalves(sel, neg uint8) (h halves) {
	for i := range h.shift {
		h.shift[i] = uint32(sel>>i&1) * 16
		h.neg[i] = uint32(neg>>i&1) * signF16
	}
	return h
}

func (h *halves) apply(op op16, x, y, z uint32, m Mode) uint32 {
	return op(x>>h.shift[0]&0xFFFF^h.neg[0], y>>h.shift[1]&0xFFFF^h.neg[1], z>>h.shift[2]&0xFFFF^h.neg[2], m)
}

// pk16 runs op over both halves of every lane of exec. c may be nil.
func pk16(d, a, b, c *Row, exec uint64, m Mode, lo, hi halves, op op16) {
	if c == nil {
		c = b
	}
	for i := range d {
		if exec>>i&1 != 0 {
			x, y, z := a[i], b[i], c[i]
			d[i] = lo.apply(op, x, y, z, m) | hi.apply(op, x, y, z, m)<<16
		}
	}
}

// pkF16 makes a packed f16 kernel.
func pkF16(op op16) Fn {
	clamped := func(x, y, z uint32, m Mode) uint32 { return clampF16(op(x, y, z, m), m) }
	return func(d, a, b, c *Row, exec uint64, e *Env) {
		f := op
		if e.Clamp {
			f = clamped
		}
		pk16(d, a, b, c, exec, e.Mode, selectHalves(e.OpSel, e.NegLo), selectHalves(e.OpSelHi, e.NegHi), f)
	}
}

// pkInt makes a packed integer kernel; sat is its saturating form. Integer
// elements are not negated.
func pkInt(op, sat op16) Fn {
	return func(d, a, b, c *Row, exec uint64, e *Env) {
		f := op
		if e.Clamp {
			f = sat
		}
		pk16(d, a, b, c, exec, e.Mode, selectHalves(e.OpSel, 0), selectHalves(e.OpSelHi, 0), f)
	}
}

// clampF16 and clampF32 are the clamp of OutMod for one value.
func clampF16(x uint32, m Mode) uint32 {
	return uint32(fmtF16.clamp(uint64(x), uint64(fmtF16.bias)<<10, m&modeDX10Clamp != 0))
}

func clampF32(x uint32, m Mode) uint32 {
	return uint32(fmtF32.clamp(uint64(x), uint64(fmtF32.bias)<<23, m&modeDX10Clamp != 0))
}

// loopPkFmacF16 is v_pk_fmac_f16: a VOP2 instruction, without selectors.
func loopPkFmacF16(d, a, b, c *Row, exec uint64, e *Env) {
	pk16(d, a, b, c, exec, e.Mode, selectHalves(0, 0), selectHalves(7, 0), fmaF16)
}

func sx16(x uint32) int64 { return int64(int16(x)) }

// wrap16 makes the plain form of an operation from its exact value.
func wrap16(exact func(x, y, z uint32) int64) op16 {
	return func(x, y, z uint32, _ Mode) uint32 { return uint32(uint16(exact(x, y, z))) }
}

// sat16 makes the saturating form of an operation from its exact value.
func sat16(exact func(x, y, z uint32) int64, signed bool) op16 {
	if signed {
		return func(x, y, z uint32, _ Mode) uint32 { return satI16(exact(x, y, z)) }
	}
	return func(x, y, z uint32, _ Mode) uint32 { return satU16(uint64(max(exact(x, y, z), 0))) }
}

// pkExact makes a packed integer kernel from the exact value of an element.
func pkExact(signed bool, exact func(x, y, z uint32) int64) Fn {
	return pkInt(wrap16(exact), sat16(exact, signed))
}

// op32 names the unpacked loop that a packed f32 kernel runs per row.
type op32 uint8

const (
	op32Add op32 = iota
	op32Mul
	op32Fma
)

func (op op32) run(d, a, b, c *Row, exec uint64, e *Env) {
	switch op {
	case op32Add:
		loopAddF32(d, a, b, nil, exec, e)
	case op32Mul:
		loopMulF32(d, a, b, nil, exec, e)
	case op32Fma:
		loopFmaF32(d, a, b, c, exec, e)
	}
}

// pkF32 makes a packed f32 kernel over pairs of rows: op_sel and op_sel_hi name
// the row of each source.
func pkF32(op op32) Fn {
	return func(d, a, b, c *Row, exec uint64, e *Env) {
		var lo Row
		var neg [3]Row
		half := func(d *Row, sel, negs uint8) {
			src := [3]*Row{a, b, c}
			for n := range src {
				if src[n] == nil || n == 2 && op != op32Fma {
					continue
				}
				src[n] = &Rows(src[n], 2)[sel>>n&1]
				if negs>>n&1 != 0 {
					ApplyNegAbs(&neg[n], src[n], F32, true, false)
					src[n] = &neg[n]
				}
			}
			op.run(d, src[0], src[1], src[2], exec, e)
			if e.Clamp {
				OutMod(d, F32, exec, 0, true, e.Mode)
			}
		}
		// The low result waits until the sources of the high one are read.
		out := Rows(d, 2)
		half(&lo, e.OpSel, e.NegLo)
		half(&out[1], e.OpSelHi, e.NegHi)
		MergeRow(&out[0], &lo, exec)
	}
}

// loopPkMovB32 takes the low dword from the first source and the high one from
// the second, each from the row that its op_sel bit names.
func loopPkMovB32(d, a, b, _ *Row, exec uint64, e *Env) {
	x, y := &Rows(a, 2)[e.OpSel&1], &Rows(b, 2)[e.OpSel>>1&1]
	out := Rows(d, 2)
	for i := range d {
		if exec>>i&1 != 0 {
			l, h := x[i], y[i]
			out[0][i], out[1][i] = l, h
		}
	}
}

// mixSource is source n of a mixed instruction as f32: with op_sel_hi the f16
// in the half that op_sel names, otherwise the f32. In these instructions the
// neg_hi bits mean abs.
func mixSource(x uint32, n uint, e *Env) uint32 {
	if e.OpSelHi>>n&1 != 0 {
		x = cvtF32F16(x>>(e.OpSel>>n&1*16)&0xFFFF, e.Mode)
	}
	if (e.NegHi|e.Abs)>>n&1 != 0 {
		x &^= signF32
	}
	return x ^ uint32(e.NegLo>>n&1)<<31
}

// mixTo says where a mixed instruction puts its result.
type mixTo uint8

const (
	mixF32 mixTo = iota
	mixLo
	mixHi
)

// mix makes v_fma_mix… and v_mad_mix…. The f16 forms round to f32 first, as
// the ISA document's pseudocode writes and LLVM assumes when it selects them
// for fptrunc(fma), and keep the other half of the destination.
func mix(op func(x, y, z uint32, m Mode) uint32, to mixTo) Fn {
	return func(d, a, b, c *Row, exec uint64, e *Env) {
		for i := range d {
			if exec>>i&1 == 0 {
				continue
			}
			r := op(mixSource(a[i], 0, e), mixSource(b[i], 1, e), mixSource(c[i], 2, e), e.Mode)
			if e.Clamp {
				r = clampF32(r, e.Mode)
			}
			switch to {
			case mixLo:
				r = d[i]&^0xFFFF | cvtF16F32(r, e.Mode)
			case mixHi:
				r = d[i]&0xFFFF | cvtF16F32(r, e.Mode)<<16
			}
			d[i] = r
		}
	}
}

func init() {
	f2 := func(f func(x, y uint32, m Mode) uint32) op16 {
		return func(x, y, _ uint32, m Mode) uint32 { return f(x, y, m) }
	}
	m := map[string]Kernel{}
	add := func(t Type, srcs int, name string, fn Fn) {
		k := Kernel{Fn: fn, Dst: t, Packed: true}
		for i := range srcs {
			k.Src[i] = t
		}
		m[name] = k
	}
	add(V2F16, 2, "v_pk_add_f16", pkF16(f2(addF16)))
	add(V2F16, 2, "v_pk_mul_f16", pkF16(f2(mulF16)))
	add(V2F16, 2, "v_pk_min_f16", pkF16(f2(minF16)))
	add(V2F16, 2, "v_pk_max_f16", pkF16(f2(maxF16)))
	add(V2F16, 3, "v_pk_fma_f16", pkF16(fmaF16))
	add(V2F16, 3, "v_pk_fmac_f16", loopPkFmacF16)

	add(V2I16, 2, "v_pk_add_i16", pkExact(true, func(x, y, _ uint32) int64 { return sx16(x) + sx16(y) }))
	add(V2I16, 2, "v_pk_sub_i16", pkExact(true, func(x, y, _ uint32) int64 { return sx16(x) - sx16(y) }))
	add(V2I16, 2, "v_pk_min_i16", pkExact(true, func(x, y, _ uint32) int64 { return min(sx16(x), sx16(y)) }))
	add(V2I16, 2, "v_pk_max_i16", pkExact(true, func(x, y, _ uint32) int64 { return max(sx16(x), sx16(y)) }))
	add(V2I16, 3, "v_pk_mad_i16", pkExact(true, func(x, y, z uint32) int64 { return sx16(x)*sx16(y) + sx16(z) }))
	add(V2I16, 2, "v_pk_ashrrev_i16", pkExact(true, func(x, y, _ uint32) int64 { return sx16(y) >> (x & 15) }))
	add(V2U16, 2, "v_pk_add_u16", pkExact(false, func(x, y, _ uint32) int64 { return int64(x) + int64(y) }))
	add(V2U16, 2, "v_pk_sub_u16", pkExact(false, func(x, y, _ uint32) int64 { return int64(x) - int64(y) }))
	add(V2U16, 2, "v_pk_min_u16", pkExact(false, func(x, y, _ uint32) int64 { return int64(min(x, y)) }))
	add(V2U16, 2, "v_pk_max_u16", pkExact(false, func(x, y, _ uint32) int64 { return int64(max(x, y)) }))
	add(V2U16, 2, "v_pk_mul_lo_u16", pkExact(false, func(x, y, _ uint32) int64 { return int64(x) * int64(y) }))
	add(V2U16, 3, "v_pk_mad_u16", pkExact(false, func(x, y, z uint32) int64 { return int64(x)*int64(y) + int64(z) }))
	shl := wrap16(func(x, y, _ uint32) int64 { return int64(y) << (x & 15) })
	add(V2U16, 2, "v_pk_lshlrev_b16", pkInt(shl, shl)) // shifts do not saturate
	add(V2U16, 2, "v_pk_lshrrev_b16", pkExact(false, func(x, y, _ uint32) int64 { return int64(y) >> (x & 15) }))

	add(V2F32, 2, "v_pk_add_f32", pkF32(op32Add))
	add(V2F32, 2, "v_pk_mul_f32", pkF32(op32Mul))
	add(V2F32, 3, "v_pk_fma_f32", pkF32(op32Fma))
	add(V2B32, 2, "v_pk_mov_b32", loopPkMovB32)

	// The mixed forms are f32 to constants and modifiers, whatever op_sel_hi.
	for i, suffix := range []string{"_f32", "lo_f16", "hi_f16"} {
		add(F32, 3, "v_fma_mix"+suffix, mix(fmaF32, mixTo(i)))
		add(F32, 3, "v_mad_mix"+suffix, mix(madF32, mixTo(i)))
		if mixTo(i) != mixF32 {
			for _, name := range []string{"v_fma_mix" + suffix, "v_mad_mix" + suffix} {
				k := m[name]
				k.Dst = B32
				m[name] = k
			}
		}
	}
	pkFmac := m["v_pk_fmac_f16"]
	pkFmac.DstIsSrc = true
	m["v_pk_fmac_f16"] = pkFmac
	register(m)
}
