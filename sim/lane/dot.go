package lane

// Dot products of 2, 4 or 8 elements of a dword, accumulated in 32 bits. The
// VOP2 forms (v_dot2c …) accumulate into the destination.

// dotInt makes an integer dot product of elements of the given width. The exact
// sum is cut to 32 bits, or saturated with clamp (LLVM: "clamp" of
// v_dot4_i32_i8).
//
// With sel, op_sel and op_sel_hi choose the halves.
func dotInt(width uint, signed, sel bool) Fn {
	ext := func(x uint32) int64 { return int64(x << (32 - width) >> (32 - width)) }
	if signed {
		ext = func(x uint32) int64 { return int64(int32(x<<(32-width)) >> (32 - width)) }
	}
	return func(d, a, b, c *Row, exec uint64, e *Env) {
		for i := range d {
			if exec>>i&1 == 0 {
				continue
			}
			x, y := a[i], b[i]
			if sel {
				x, y = pick(x, 0, e), pick(y, 1, e)
			}
			sum := int64(c[i])
			if signed {
				sum = int64(int32(c[i]))
			}
			for sh := uint(0); sh < 32; sh += width {
				sum += ext(x>>sh) * ext(y>>sh)
			}
			switch {
			case e.Clamp && signed:
				d[i] = satI32(sum)
			case e.Clamp:
				d[i] = satU32(uint64(sum))
			default:
				d[i] = uint32(sum)
			}
		}
	}
}

// pick returns x with the halves that op_sel and op_sel_hi name for source n.
func pick(x uint32, n uint, e *Env) uint32 {
	lo := x >> (e.OpSel >> n & 1 * 16) & 0xFFFF
	hi := x >> (e.OpSelHi >> n & 1 * 16) << 16
	return lo | hi
}

// dot2F16 is the chain of v_dot2_f32_f16: the products, exact in f32, are added
// to z one after the other. f32 denormals are flushed whatever MODE says (LLVM
// SIISelLowering: "fdot2_f32_f16 always flushes fp32 denormal operand and output
// to zero, regardless of the denorm mode setting").
func dot2F16(x, y, z uint32, m Mode) uint32 {
	flush := m &^ 0x30
	for range 2 {
		p := mulF32(cvtF32F16(x&0xFFFF, m), cvtF32F16(y&0xFFFF, m), m|0x30)
		z = addF32(z, p, flush)
		x, y = x>>16, y>>16
	}
	return z
}

// loopDot2F32F16 is v_dot2_f32_f16. The document's pseudocode adds in this order;
// how often the hardware rounds is not published, so it is marked Approx.
func loopDot2F32F16(d, a, b, c *Row, exec uint64, e *Env) {
	neg := func(n uint) uint32 {
		return uint32(e.NegLo>>n&1)<<15 | uint32(e.NegHi>>n&1)<<31
	}
	negA, negB, negC := neg(0), neg(1), uint32(e.NegLo>>2&1)<<31
	for i := range d {
		if exec>>i&1 != 0 {
			r := dot2F16(pick(a[i], 0, e)^negA, pick(b[i], 1, e)^negB, c[i]^negC, e.Mode)
			if e.Clamp {
				r = clampF32(r, e.Mode)
			}
			d[i] = r
		}
	}
}

func loopDot2cF32F16(d, a, b, c *Row, exec uint64, e *Env) {
	for i := range d {
		if exec>>i&1 != 0 {
			d[i] = dot2F16(a[i], b[i], c[i], e.Mode)
		}
	}
}

func init() {
	vop3p := func(fn Fn, acc, src Type) Kernel {
		return Kernel{Fn: fn, Dst: acc, Src: [3]Type{src, src, acc}, Packed: true}
	}
	vop2 := func(fn Fn, acc, src Type) Kernel {
		k := vop3p(fn, acc, src)
		k.DstIsSrc = true
		return k
	}
	approx := func(k Kernel) Kernel {
		k.Approx = true
		return k
	}
	register(map[string]Kernel{
		"v_dot2_f32_f16":  approx(vop3p(loopDot2F32F16, F32, V2F16)),
		"v_dot2_i32_i16":  vop3p(dotInt(16, true, true), I32, V2I16),
		"v_dot2_u32_u16":  vop3p(dotInt(16, false, true), U32, V2U16),
		"v_dot4_i32_i8":   vop3p(dotInt(8, true, false), I32, B32),
		"v_dot4_u32_u8":   vop3p(dotInt(8, false, false), U32, B32),
		"v_dot8_i32_i4":   vop3p(dotInt(4, true, false), I32, B32),
		"v_dot8_u32_u4":   vop3p(dotInt(4, false, false), U32, B32),
		"v_dot2c_f32_f16": approx(vop2(loopDot2cF32F16, F32, V2F16)),
		"v_dot2c_i32_i16": vop2(dotInt(16, true, false), I32, V2I16),
		"v_dot4c_i32_i8":  vop2(dotInt(8, true, false), I32, B32),
		"v_dot8c_i32_i4":  vop2(dotInt(4, true, false), I32, B32),
	})
}
