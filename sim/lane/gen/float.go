package main

// The kernels of f32 and f16 lanes. They hold for nearest-even rounding with
// denormals kept, which is what the processor does by default.
//
// With MODE.IEEE set the processor's NaN rules are those of gfx9 too: the first
// NaN in operand order, quieted, or the negative default NaN. Without it
// signalling NaNs stay signalling; then any NaN result goes to the portable
// loop. VRANGE chooses like v_min and v_max, -0 below +0, except among NaNs.

const (
	fma132 = "VFMADD132PS y, z, x; VMOVDQA32 x, r"
	// flush replaces denormals by zeros of their sign; c0 is the exponent
	// field and c1 the sign.
	flushX = "VPTESTNMD c0, x, k5; VPANDD c1, x, k5, x; "
	flushY = "VPTESTNMD c0, y, k5; VPANDD c1, y, k5, y; "
	flushZ = "VPTESTNMD c0, z, k5; VPANDD c1, z, k5, z; "
	flushR = "VPTESTNMD c0, r, k5; VPANDD c1, r, k5, r; "

	nanXYZ = "; VCMPPS $3, y, x, ke, kb; VCMPPS $3, z, z, ke, k5; KORW k5, kb, kb"

	minImm, maxImm = "VRANGEPS $4, ", "VRANGEPS $5, "

	// med3 is the greater of the two that are not the maximum, compared as
	// floats.
	med3 = maxImm + "y, x, r; " + maxImm + "z, x, t0; " + maxImm + "z, y, t1; " + maxImm + "z, r, t2; " +
		"VCMPPS $0, y, t2, k5; VMOVDQA32 t0, k5, r; VCMPPS $0, x, t2, k5; VMOVDQA32 t1, k5, r"

	toF16 = "VCVTPS2PH $0, r, t0.y; VPMOVZXWD t0.y, r"
)

func floatKernels() []kern {
	mad := flushX + flushY + "VMULPS y, x, r; " + flushR + flushZ + "VADDPS z, r, r; " + flushR
	infSign := "0x7f800000 0x80000000"
	ks := []kern{
		{ops: "v_add_f32", sig: "d:d,d", flags: "nanps", body: "VADDPS y, x, r"},
		{ops: "v_sub_f32", sig: "d:d,d", flags: "nanps", body: "VSUBPS y, x, r"},
		{ops: "v_subrev_f32", sig: "d:d,d", flags: "nanps", consts: "0x00400000", body: "VSUBPS x, y, r; VCMPPS $3, x, x, k5; VPORD c0, x, k5, r"},
		{ops: "v_mul_f32", sig: "d:d,d", flags: "nanps", body: "VMULPS y, x, r"},
		{ops: "v_fma_f32 v_fmamk_f32 v_fmaak_f32 v_fmac_f32", sig: "d:d,d,d", flags: "nanps", body: fma132},
		{ops: "v_mad_f32 v_madmk_f32 v_madak_f32 v_mac_f32", sig: "d:d,d,d", flags: "badps", consts: infSign, body: mad},
		{ops: "v_mul_legacy_f32", sig: "d:d,d", flags: "nanps", consts: "0x7fffffff",
			body: "VMULPS y, x, r; VPTESTNMD c0, x, k5; VPTESTNMD c0, y, k6; KORW k5, k6, k5; VPXORD r, r, k5, r"},
		{ops: "v_min_f32", sig: "d:d,d", flags: "badps", body: minImm + "y, x, r"},
		{ops: "v_max_f32", sig: "d:d,d", flags: "badps", body: maxImm + "y, x, r"},
		{ops: "v_min3_f32", sig: "d:d,d,d", flags: "bad", body: minImm + "y, x, r; " + minImm + "z, r, r" + nanXYZ},
		{ops: "v_max3_f32", sig: "d:d,d,d", flags: "bad", body: maxImm + "y, x, r; " + maxImm + "z, r, r" + nanXYZ},
		{ops: "v_med3_f32", sig: "d:d,d,d", flags: "bad", body: med3 + nanXYZ},
		{ops: "v_trunc_f32", sig: "d:d", flags: "nanps", body: "VRNDSCALEPS $11, x, r"},
		{ops: "v_ceil_f32", sig: "d:d", flags: "nanps", body: "VRNDSCALEPS $10, x, r"},
		{ops: "v_floor_f32", sig: "d:d", flags: "nanps", body: "VRNDSCALEPS $9, x, r"},
		{ops: "v_rndne_f32", sig: "d:d", flags: "nanps", body: "VRNDSCALEPS $8, x, r"},
		{ops: "v_fract_f32", sig: "d:d", flags: "nanps", consts: "0x3f7fffff", body: "VRNDSCALEPS $9, x, t0; VSUBPS t0, x, t0; VMINPS t0, c0, r"},

		{ops: "v_cvt_f32_i32", sig: "d:d", body: "VCVTDQ2PS x, r"},
		{ops: "v_cvt_f32_u32", sig: "d:d", body: "VCVTUDQ2PS x, r"},
		{ops: "v_cvt_i32_f32", sig: "d:d", consts: "0x4f000000 0x7fffffff",
			body: "VCVTTPS2DQ x, r; VCMPPS $0x1D, c0, x, k5; VMOVDQA32 c1, k5, r; VCMPPS $3, x, x, k5; VPXORD r, r, k5, r"},
		{ops: "v_cvt_u32_f32", sig: "d:d", body: "VPXORD t0, t0, t0; VMAXPS t0, x, x; VCVTTPS2UDQ x, r"},
		{ops: "v_cvt_f32_ubyte0", sig: "d:d", consts: "0xff", body: "VPANDD c0, x, x; VCVTDQ2PS x, r"},
		{ops: "v_cvt_f32_ubyte1", sig: "d:d", consts: "0xff", body: "VPSRLD $8, x, x; VPANDD c0, x, x; VCVTDQ2PS x, r"},
		{ops: "v_cvt_f32_ubyte2", sig: "d:d", consts: "0xff", body: "VPSRLD $16, x, x; VPANDD c0, x, x; VCVTDQ2PS x, r"},
		{ops: "v_cvt_f32_ubyte3", sig: "d:d", body: "VPSRLD $24, x, x; VCVTDQ2PS x, r"},
		{ops: "v_cvt_f32_f16", sig: "d:w", flags: "nanps", body: "VMOVDQA32 x, r"},
		{ops: "v_cvt_f16_f32", sig: "d:d", flags: "ieee ovfl", body: "VMOVDQA32 x, r; " + toF16},
		{ops: "v_cvt_pkrtz_f16_f32", sig: "d:d,d", flags: "ieee ovfl",
			body: "VCVTPS2PH $3, x, t0.y; VPMOVZXWD t0.y, t0; VCVTPS2PH $3, y, t1.y; VPMOVZXWD t1.y, t1; VPSLLD $16, t1, t1; VPORD t1, t0, r"},

		// Sums and products of two f16 may be rounded to f32 before they are
		// rounded to f16: 24 bits are at least twice 11 and 2.
		{ops: "v_add_f16", sig: "d:w,w", flags: "ieee ovfl", body: "VADDPS y, x, r; " + toF16},
		{ops: "v_sub_f16", sig: "d:w,w", flags: "ieee ovfl", body: "VSUBPS y, x, r; " + toF16},
		{ops: "v_subrev_f16", sig: "d:w,w", flags: "ieee ovfl", consts: "0x00400000", body: "VSUBPS x, y, r; VCMPPS $3, x, x, k5; VPORD c0, x, k5, r; " + toF16},
		{ops: "v_mul_f16", sig: "d:w,w", flags: "ieee ovfl", body: "VMULPS y, x, r; " + toF16},
		{ops: "v_fma_f16", sig: "d:w,w,w", flags: "ieee ovfl", consts: "0x1", body: fmaOdd("x", "y", "z", "t0") + "VMOVDQA32 x, r; " + toF16},
		{ops: "v_fma_legacy_f16", sig: "d:w,w,w", flags: "ieee ovfl", consts: "0x1", body: fmaOdd("x", "y", "z", "t0") + "VMOVDQA32 x, r; " + toF16},
		{ops: "v_min_f16", sig: "d:w,w", flags: "bad", body: "VCMPPS $3, y, x, ke, kb; " + minImm + "y, x, r; " + toF16},
		{ops: "v_max_f16", sig: "d:w,w", flags: "bad", body: "VCMPPS $3, y, x, ke, kb; " + maxImm + "y, x, r; " + toF16},
	}
	return ks
}

// fmaOdd leaves x*y+z, rounded to odd, in x: of the sums rounded down and up,
// which are the same when exact, it takes the odd one. Rounding that to fewer
// bits is rounding once. A zero sum of unlike signs comes out as +0. c0 is 1.
func fmaOdd(x, y, z, t string) string {
	return "VMOVDQA32 " + x + ", " + t + "; VFMADD132PS.RD_SAE " + y + ", " + z + ", " + x + "; VFMADD132PS.RU_SAE " + y + ", " + z + ", " + t + "; " +
		"VPTESTNMD c0, " + x + ", k5; VMOVDQA32 " + t + ", k5, " + x + "; "
}
