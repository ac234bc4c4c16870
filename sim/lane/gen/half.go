package main

// halfKernels are further kernels of f16 lanes. Quotients and roots of f16 may be
// rounded to f32 first, as sums may: see floatKernels.
func halfKernels() []kern {
	const (
		flags = "ieee ovfl"
		sx16  = "VPSLLD $16, y, y; VPSRAD $16, y, y; "
	)
	round := func(op, imm string) kern {
		return kern{ops: op, sig: "d:w", flags: flags, body: "VRNDSCALEPS $" + imm + ", x, r; " + toF16}
	}
	return []kern{
		round("v_trunc_f16", "11"), round("v_ceil_f16", "10"), round("v_floor_f16", "9"), round("v_rndne_f16", "8"),
		{ops: "v_fract_f16", sig: "d:w", flags: flags, consts: "0x3f7fe000", body: "VRNDSCALEPS $9, x, t0; VSUBPS t0, x, t0; VMINPS t0, c0, r; " + toF16},
		{ops: "v_rcp_f16", sig: "d:w", flags: flags, consts: "0x3f800000", body: "VDIVPS x, c0, r; " + toF16},
		{ops: "v_sqrt_f16", sig: "d:w", flags: flags, body: "VSQRTPS x, r; " + toF16},
		{ops: "v_rsq_f16", sig: "d:w", flags: flags, consts: "0x3f800000", body: "VSQRTPS x, x; VDIVPS x, c0, r; " + toF16},
		{ops: "v_ldexp_f16", sig: "d:w,d", flags: flags, body: sx16 + "VCVTDQ2PS y, y; VSCALEFPS y, x, r; " + toF16},
		{ops: "v_min3_f16", sig: "d:w,w,w", flags: "bad", body: minImm + "y, x, r; " + minImm + "z, r, r; " + toF16 + nanXYZ},
		{ops: "v_max3_f16", sig: "d:w,w,w", flags: "bad", body: maxImm + "y, x, r; " + maxImm + "z, r, r; " + toF16 + nanXYZ},
		{ops: "v_med3_f16", sig: "d:w,w,w", flags: "bad", body: med3 + "; " + toF16 + nanXYZ},
		{ops: "v_cvt_f16_u16", sig: "d:d", flags: "ovfl", consts: "0xffff", body: "VPANDD c0, x, x; VCVTDQ2PS x, r; " + toF16},
		{ops: "v_cvt_f16_i16", sig: "d:d", flags: "ovfl", body: "VPSLLD $16, x, x; VPSRAD $16, x, x; VCVTDQ2PS x, r; " + toF16},
		{ops: "v_cvt_u16_f16", sig: "d:w", consts: "0x477fff00", body: "VPXORD t0, t0, t0; VMAXPS t0, x, x; VMINPS c0, x, x; VCVTTPS2DQ x, r"},
		{ops: "v_cvt_i16_f16", sig: "d:w", consts: "0x46fffe00 0xc7000000 0xffff",
			body: "VCMPPS $7, x, x, k5; VMAXPS c1, x, x; VMINPS c0, x, x; VCVTTPS2DQ x, x; VPANDD.Z c2, x, k5, r"},
	}
}
