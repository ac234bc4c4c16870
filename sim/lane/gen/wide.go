package main

// wideKernels are the kernels with 64-bit operands, and those that compute in
// f64.
var wideKernels = []kern{
	{ops: "v_mov_b64", sig: "q:q", body: "VMOVDQA64 x, r"},
	{ops: "v_lshlrev_b64", sig: "q:zx,q", consts: "0x3fq", body: "VPANDQ c0, x, x; VPSLLVQ x, y, r"},
	{ops: "v_lshrrev_b64", sig: "q:zx,q", consts: "0x3fq", body: "VPANDQ c0, x, x; VPSRLVQ x, y, r"},
	{ops: "v_ashrrev_i64", sig: "q:zx,q", consts: "0x3fq", body: "VPANDQ c0, x, x; VPSRAVQ x, y, r"},
	// Counts above 4 act as 0.
	{ops: "v_lshl_add_u64", sig: "q:q,zx,q", consts: "0x7q 0x4q",
		body: "VPANDQ c0, y, y; VPCMPUQ $6, c1, y, k5; VPXORQ y, y, k5, y; VPSLLVQ y, x, x; VPADDQ z, x, r"},
	{ops: "v_mad_u64_u32", sig: "q:zx,zx,q", flags: "clamp co", body: "VPMULUDQ y, x, x; VPADDQ z, x, r; VPCMPUQ $1, z, r, ko"},
	// Bit 64 of the signed sum is carry ^ sign of product ^ sign of z.
	{ops: "v_mad_i64_i32", sig: "q:zx,zx,q", flags: "clamp co",
		body: "VPMULDQ y, x, x; VPADDQ z, x, r; VPCMPUQ $1, z, r, ko; VPXORQ z, x, x; VPMOVQ2M x, k5; KXORB k5, ko, ko"},

	{ops: "v_add_f64", sig: "q:q,q", flags: "nanpd", body: "VADDPD y, x, r"},
	{ops: "v_mul_f64", sig: "q:q,q", flags: "nanpd", body: "VMULPD y, x, r"},
	{ops: "v_fma_f64 v_fmac_f64", sig: "q:q,q,q", flags: "nanpd", body: "VFMADD132PD y, z, x; VMOVDQA64 x, r"},
	{ops: "v_min_f64", sig: "q:q,q", flags: "badpd", body: "VRANGEPD $4, y, x, r"},
	{ops: "v_max_f64", sig: "q:q,q", flags: "badpd", body: "VRANGEPD $5, y, x, r"},
	{ops: "v_trunc_f64", sig: "q:q", flags: "nanpd", body: "VRNDSCALEPD $11, x, r"},
	{ops: "v_ceil_f64", sig: "q:q", flags: "nanpd", body: "VRNDSCALEPD $10, x, r"},
	{ops: "v_floor_f64", sig: "q:q", flags: "nanpd", body: "VRNDSCALEPD $9, x, r"},
	{ops: "v_rndne_f64", sig: "q:q", flags: "nanpd", body: "VRNDSCALEPD $8, x, r"},
	{ops: "v_fract_f64", sig: "q:q", flags: "nanpd", consts: "0x3fefffffffffffffq", body: "VRNDSCALEPD $9, x, t0; VSUBPD t0, x, t0; VMINPD t0, c0, r"},

	{ops: "v_cvt_f64_i32", sig: "q:y", body: "VCVTDQ2PD x.y, r"},
	{ops: "v_cvt_f64_u32", sig: "q:y", body: "VCVTUDQ2PD x.y, r"},
	{ops: "v_cvt_f64_f32", sig: "q:y", flags: "nanpd", body: "VCVTPS2PD x.y, r"},
	{ops: "v_cvt_f32_f64", sig: "y:q", flags: "ieee", body: "VCVTPD2PS x, r.y"},
	{ops: "v_cvt_i32_f64", sig: "y:q", consts: "0x41dfffffffc00000q",
		body: "VCMPPD $3, x, x, k5; VMINPD c0, x, x; VPXORQ x, x, k5, x; VCVTTPD2DQ x, r.y"},
	{ops: "v_cvt_u32_f64", sig: "y:q", body: "VPXORQ t0, t0, t0; VMAXPD t0, x, x; VCVTTPD2UDQ x, r.y"},

	// The f32 forms flush denormals whatever MODE says. c0 and c1 are the least
	// normal f32 and the sign, as f64.
	{ops: "v_rcp_f32 v_rcp_iflag_f32", sig: "y:y", flags: "ieee", consts: flushConsts + " 0x3ff0000000000000q", body: flushWide + "VDIVPD x, c2, x; " + toF32Flushed},
	{ops: "v_rsq_f32", sig: "y:y", flags: "ieee", consts: flushConsts + " 0x3ff0000000000000q", body: flushWide + "VSQRTPD x, x; VDIVPD x, c2, x; " + toF32Flushed},
	{ops: "v_sqrt_f32", sig: "y:y", flags: "ieee", consts: flushConsts, body: flushWide + "VSQRTPD x, x; " + toF32Flushed},
	{ops: "v_rcp_f64", sig: "q:q", flags: "nanpd", consts: "0x3ff0000000000000q", body: "VDIVPD x, c0, r"},
	{ops: "v_rsq_f64", sig: "q:q", flags: "nanpd", consts: "0x3ff0000000000000q", body: "VSQRTPD x, x; VDIVPD x, c0, r"},
	{ops: "v_sqrt_f64", sig: "q:q", flags: "nanpd", body: "VSQRTPD x, r"},
}

const (
	flushConsts  = "0x7f800000 0x80000000"
	flushWide    = "VPTESTNMD c0.y, x.y, k5; VPANDD c1.y, x.y, k5, x.y; VCVTPS2PD x.y, x; "
	toF32Flushed = "VCVTPD2PS x, r.y; VPTESTNMD c0.y, r.y, k5; VPANDD c1.y, r.y, k5, r.y"
)
