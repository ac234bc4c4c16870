package main

// mixKernels are the mixed-precision multiply-adds and the dot products.
func mixKernels() []kern {
	// Sums of byte products fit 16-bit lanes pairwise in VPMADDWD.
	const (
		dotI8 = "VPSLLW $8, x, t0; VPSRAW $8, t0, t0; VPSRAW $8, x, x; VPSLLW $8, y, t1; VPSRAW $8, t1, t1; VPSRAW $8, y, y; " +
			"VPMADDWD t1, t0, t0; VPMADDWD y, x, x; VPADDD z, x, x; VPADDD t0, x, r"
		dotU8 = "VPANDD c0, x, t0; VPSRLW $8, x, x; VPANDD c0, y, t1; VPSRLW $8, y, y; " +
			"VPMADDWD t1, t0, t0; VPMADDWD y, x, x; VPADDD z, x, x; VPADDD t0, x, r"
		dotI16 = "VPMADDWD y, x, x; VPADDD z, x, r"
		// Products of f16 are exact in f32, and so are multiples of 2^-48:
		// only z can be denormal.
		dotF16 = flushZ + "VPMOVDW x, t0.y; VCVTPH2PS t0.y, t0; VPMOVDW y, t1.y; VCVTPH2PS t1.y, t1; VMULPS t1, t0, t0; VADDPS t0, z, r; " +
			"VPSRLD $16, x, x; VPMOVDW x, t0.y; VCVTPH2PS t0.y, t0; VPSRLD $16, y, y; VPMOVDW y, t1.y; VCVTPH2PS t1.y, t1; VMULPS t1, t0, t0; VADDPS t0, r, r"
		f16Low  = "VCVTPS2PH $0, x, t0.y; VPMOVZXWD t0.y, t0; "
		infSign = "0x7f800000 0x80000000"
	)
	return []kern{
		{ops: "v_fma_mix_f32", sig: "d:mx,mx,mx", flags: "packed nanps", body: fma132},
		{ops: "v_fma_mixlo_f16", sig: "d:mx,mx,mx", flags: "packed ieee ovfl", consts: "0xffff0000",
			body: "VFMADD132PS y, z, x; " + f16Low + "VPTERNLOGD $0xF8, old, c0, t0; VMOVDQA32 t0, r"},
		{ops: "v_fma_mixhi_f16", sig: "d:mx,mx,mx", flags: "packed ieee ovfl", consts: "0x0000ffff",
			body: "VFMADD132PS y, z, x; " + f16Low + "VPSLLD $16, t0, t0; VPTERNLOGD $0xF8, old, c0, t0; VMOVDQA32 t0, r"},

		{ops: "v_dot2_f32_f16", sig: "d:ps,ps,dn", flags: "packed nanps", consts: infSign, body: dotF16},
		{ops: "v_dot2c_f32_f16", sig: "d:d,d,d", flags: "nanps", consts: infSign, body: dotF16},
		{ops: "v_dot2_i32_i16", sig: "d:p,p,d", flags: "packed", body: dotI16},
		{ops: "v_dot2c_i32_i16", sig: "d:d,d,d", flags: "packed", body: dotI16},
		{ops: "v_dot4_i32_i8", sig: "d:d,d,d", flags: "packed", body: dotI8},
		{ops: "v_dot4c_i32_i8", sig: "d:d,d,d", flags: "packed", body: dotI8},
		{ops: "v_dot4_u32_u8", sig: "d:d,d,d", flags: "packed", consts: "0x00ff00ff", body: dotU8},
	}
}
