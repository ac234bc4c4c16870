package main

// intKernels are the kernels of 32-bit lanes without floating point.
var intKernels = []kern{
	{ops: "v_mov_b32 v_accvgpr_read_b32 v_accvgpr_write_b32 v_accvgpr_mov_b32", sig: "d:d", body: "VMOVDQA32 x, r"},
	{ops: "v_not_b32", sig: "d:d", body: "VPTERNLOGD $0x0F, x, x, x; VMOVDQA32 x, r"},
	{ops: "v_cndmask_b32", sig: "d:d,d", flags: "ci", body: "VPBLENDMD y, x, ki, r"},
	{ops: "v_and_b32", sig: "d:d,d", body: "VPANDD y, x, r"},
	{ops: "v_or_b32", sig: "d:d,d", body: "VPORD y, x, r"},
	{ops: "v_xor_b32", sig: "d:d,d", body: "VPXORD y, x, r"},
	{ops: "v_xnor_b32", sig: "d:d,d", body: "VPTERNLOGD $0xA5, y, x, x; VMOVDQA32 x, r"},
	{ops: "v_or3_b32", sig: "d:d,d,d", body: "VPTERNLOGD $0xFE, z, y, x; VMOVDQA32 x, r"},
	{ops: "v_and_or_b32", sig: "d:d,d,d", body: "VPTERNLOGD $0xEA, z, y, x; VMOVDQA32 x, r"},
	{ops: "v_bfi_b32", sig: "d:d,d,d", body: "VPTERNLOGD $0xCA, z, y, x; VMOVDQA32 x, r"},
	{ops: "v_bfm_b32", sig: "d:d,d", consts: "0x1f 0x1", body: "VPANDD c0, x, t0; VPSLLVD t0, c1, t0; VPSUBD c1, t0, t0; VPANDD c0, y, t1; VPSLLVD t1, t0, r"},
	{ops: "v_bfe_u32", sig: "d:d,d,d", consts: "0x1f 0x1",
		body: "VPANDD c0, y, t0; VPSRLVD t0, x, t0; VPANDD c0, z, t1; VPSLLVD t1, c1, t1; VPSUBD c1, t1, t1; VPANDD t1, t0, r"},
	{ops: "v_bfe_i32", sig: "d:d,d,d", consts: "0x1f 0x20",
		body: "VPANDD c0, y, t0; VPSRAVD t0, x, t0; VPANDD c0, z, t1; VPSUBD t1, c1, t1; VPSLLVD t1, t0, t0; VPSRAVD t1, t0, r"},
	{ops: "v_alignbit_b32", sig: "d:d,d,d", consts: "0x1f 0x20",
		body: "VPANDD c0, z, t0; VPSRLVD t0, y, t1; VPSUBD t0, c1, t0; VPSLLVD t0, x, t0; VPORD t1, t0, r"},
	{ops: "v_alignbyte_b32", sig: "d:d,d,d", consts: "0x3 0x20",
		body: "VPANDD c0, z, t0; VPSLLD $3, t0, t0; VPSRLVD t0, y, t1; VPSUBD t0, c1, t0; VPSLLVD t0, x, t0; VPORD t1, t0, r"},
	{ops: "v_bfrev_b32", sig: "d:d", consts: "0x0f0f0f0f",
		body: "VMOVDQU32 row(reversedToHigh), t2; VMOVDQU32 row(reversedToLow), t3; VPANDD c0, x, t0; VPSRLD $4, x, t1; VPANDD c0, t1, t1; " +
			"VPSHUFB t0, t2, t0; VPSHUFB t1, t3, t1; VPORD t1, t0, t0; VPSHUFB row(swapBytes), t0, r"},
	{ops: "v_bcnt_u32_b32", sig: "d:d,d", cpu: "popcnt", body: "VPOPCNTD x, x; VPADDD y, x, r"},
	{ops: "v_mbcnt_lo_u32_b32", sig: "d:d,d", cpu: "popcnt", body: "VPANDD row(lanesBelowLo), x, x; VPOPCNTD x, x; VPADDD y, x, r"},
	{ops: "v_mbcnt_hi_u32_b32", sig: "d:d,d", cpu: "popcnt", body: "VPANDD row(lanesBelowHi), x, x; VPOPCNTD x, x; VPADDD y, x, r"},
	{ops: "v_ffbh_u32", sig: "d:d", cpu: "cd", consts: "0xffffffff", body: "VPLZCNTD x, r; VPTESTNMD x, x, k5; VMOVDQA32 c0, k5, r"},
	{ops: "v_ffbl_b32", sig: "d:d", cpu: "cd", consts: "0x1f", body: "VPXORD t0, t0, t0; VPSUBD x, t0, t0; VPANDD t0, x, t0; VPLZCNTD t0, t0; VPSUBD t0, c0, r"},
	{ops: "v_ffbh_i32", sig: "d:d", cpu: "cd", consts: "0xffffffff", body: "VPSRAD $31, x, t0; VPXORD t0, x, x; VPLZCNTD x, r; VPTESTNMD x, x, k5; VMOVDQA32 c0, k5, r"},

	{ops: "v_lshlrev_b32", sig: "d:d,d", consts: "0x1f", body: "VPANDD c0, x, x; VPSLLVD x, y, r"},
	{ops: "v_lshrrev_b32", sig: "d:d,d", consts: "0x1f", body: "VPANDD c0, x, x; VPSRLVD x, y, r"},
	{ops: "v_ashrrev_i32", sig: "d:d,d", consts: "0x1f", body: "VPANDD c0, x, x; VPSRAVD x, y, r"},
	{ops: "v_lshl_add_u32", sig: "d:d,d,d", consts: "0x1f", body: "VPANDD c0, y, y; VPSLLVD y, x, x; VPADDD z, x, r"},
	{ops: "v_add_lshl_u32", sig: "d:d,d,d", consts: "0x1f", body: "VPANDD c0, z, z; VPADDD y, x, x; VPSLLVD z, x, r"},
	{ops: "v_lshl_or_b32", sig: "d:d,d,d", consts: "0x1f", body: "VPANDD c0, y, y; VPSLLVD y, x, x; VPORD z, x, r"},

	{ops: "v_add_u32", sig: "d:d,d", flags: "clamp", body: "VPADDD y, x, r"},
	{ops: "v_sub_u32", sig: "d:d,d", flags: "clamp", body: "VPSUBD y, x, r"},
	{ops: "v_subrev_u32", sig: "d:d,d", flags: "clamp", body: "VPSUBD x, y, r"},
	{ops: "v_add_i32", sig: "d:d,d", flags: "clamp", body: "VPADDD y, x, r"},
	{ops: "v_sub_i32", sig: "d:d,d", flags: "clamp", body: "VPSUBD y, x, r"},
	{ops: "v_add3_u32", sig: "d:d,d,d", body: "VPADDD y, x, x; VPADDD z, x, r"},
	{ops: "v_xad_u32", sig: "d:d,d,d", body: "VPXORD y, x, x; VPADDD z, x, r"},
	{ops: "v_add_co_u32", sig: "d:d,d", flags: "clamp co", body: "VPADDD y, x, r; VPCMPUD $1, x, r, ko"},
	{ops: "v_sub_co_u32", sig: "d:d,d", flags: "clamp co", body: "VPSUBD y, x, r; VPCMPUD $1, y, x, ko"},
	{ops: "v_subrev_co_u32", sig: "d:d,d", flags: "clamp co", body: "VPSUBD x, y, r; VPCMPUD $1, x, y, ko"},
	{ops: "v_addc_co_u32", sig: "d:d,d", flags: "clamp ci co", consts: "0xffffffff",
		body: "VPADDD y, x, r; VPCMPUD $1, x, r, ko; VPCMPUD $0, c0, r, ki, k5; KORW k5, ko, ko; VPSUBD c0, r, ki, r"},
	{ops: "v_subb_co_u32", sig: "d:d,d", flags: "clamp ci co", consts: "0xffffffff",
		body: "VPSUBD y, x, r; VPCMPUD $1, y, x, ko; VPTESTNMD r, r, ki, k5; KORW k5, ko, ko; VPADDD c0, r, ki, r"},
	{ops: "v_subbrev_co_u32", sig: "d:d,d", flags: "clamp ci co", consts: "0xffffffff",
		body: "VPSUBD x, y, r; VPCMPUD $1, x, y, ko; VPTESTNMD r, r, ki, k5; KORW k5, ko, ko; VPADDD c0, r, ki, r"},

	{ops: "v_mul_lo_u32", sig: "d:d,d", body: "VPMULLD y, x, r"},
	{ops: "v_mul_hi_u32", sig: "d:d,d", consts: "0xffffffff00000000q", body: mulHi("VPMULUDQ")},
	{ops: "v_mul_hi_i32", sig: "d:d,d", consts: "0xffffffff00000000q", body: mulHi("VPMULDQ")},
	{ops: "v_mul_u32_u24", sig: "d:d,d", consts: "0xffffff", body: u24 + "VPMULLD y, x, r"},
	{ops: "v_mul_hi_u32_u24", sig: "d:d,d", consts: "0xffffffff00000000q 0xffffff", body: "VPANDD c1, x, x; VPANDD c1, y, y; " + mulHi("VPMULUDQ")},
	{ops: "v_mul_i32_i24", sig: "d:d,d", body: i24 + "VPMULLD y, x, r"},
	{ops: "v_mul_hi_i32_i24", sig: "d:d,d", consts: "0xffffffff00000000q", body: i24 + mulHi("VPMULDQ")},
	{ops: "v_mad_u32_u24", sig: "d:d,d,d", flags: "clamp", consts: "0xffffff", body: u24 + "VPMULLD y, x, x; VPADDD z, x, r"},
	{ops: "v_mad_i32_i24", sig: "d:d,d,d", flags: "clamp", body: i24 + "VPMULLD y, x, x; VPADDD z, x, r"},
	{ops: "v_mad_u32_u16", sig: "d:d,d,d", flags: "clamp", consts: "0xffff", body: u24 + "VPMULLD y, x, x; VPADDD z, x, r"},
	{ops: "v_mad_i32_i16", sig: "d:d,d,d", flags: "clamp", body: i16 + "VPMULLD y, x, x; VPADDD z, x, r"},

	{ops: "v_min_i32", sig: "d:d,d", body: "VPMINSD y, x, r"},
	{ops: "v_max_i32", sig: "d:d,d", body: "VPMAXSD y, x, r"},
	{ops: "v_min_u32", sig: "d:d,d", body: "VPMINUD y, x, r"},
	{ops: "v_max_u32", sig: "d:d,d", body: "VPMAXUD y, x, r"},
	{ops: "v_min3_i32", sig: "d:d,d,d", body: "VPMINSD y, x, x; VPMINSD z, x, r"},
	{ops: "v_max3_i32", sig: "d:d,d,d", body: "VPMAXSD y, x, x; VPMAXSD z, x, r"},
	{ops: "v_min3_u32", sig: "d:d,d,d", body: "VPMINUD y, x, x; VPMINUD z, x, r"},
	{ops: "v_max3_u32", sig: "d:d,d,d", body: "VPMAXUD y, x, x; VPMAXUD z, x, r"},
	{ops: "v_med3_i32", sig: "d:d,d,d", body: "VPMINSD y, x, t0; VPMAXSD y, x, t1; VPMINSD z, t1, t1; VPMAXSD t1, t0, r"},
	{ops: "v_med3_u32", sig: "d:d,d,d", body: "VPMINUD y, x, t0; VPMAXUD y, x, t1; VPMINUD z, t1, t1; VPMAXUD t1, t0, r"},

	{ops: "v_add_u16", sig: "d:d,d", flags: "clamp", consts: "0xffff", body: "VPADDD y, x, x; VPANDD c0, x, r"},
	{ops: "v_sub_u16", sig: "d:d,d", flags: "clamp", consts: "0xffff", body: "VPSUBD y, x, x; VPANDD c0, x, r"},
	{ops: "v_subrev_u16", sig: "d:d,d", flags: "clamp", consts: "0xffff", body: "VPSUBD x, y, x; VPANDD c0, x, r"},
	{ops: "v_add_i16", sig: "d:d,d", flags: "clamp", consts: "0xffff", body: "VPADDD y, x, x; VPANDD c0, x, r"},
	{ops: "v_sub_i16", sig: "d:d,d", flags: "clamp", consts: "0xffff", body: "VPSUBD y, x, x; VPANDD c0, x, r"},
	{ops: "v_mul_lo_u16", sig: "d:d,d", flags: "clamp", consts: "0xffff", body: "VPMULLW y, x, x; VPANDD c0, x, r"},
	{ops: "v_mad_legacy_u16", sig: "d:d,d,d", flags: "clamp", consts: "0xffff", body: mad16},
	{ops: "v_mad_legacy_i16", sig: "d:d,d,d", flags: "clamp", consts: "0xffff", body: mad16},
	{ops: "v_mad_u16", sig: "d:d,d,d", flags: "clamp", consts: "0xffff", body: mad16},
	{ops: "v_mad_i16", sig: "d:d,d,d", flags: "clamp", consts: "0xffff", body: mad16},
	{ops: "v_lshlrev_b16", sig: "d:d,d", consts: "0xffff 0xf", body: "VPANDD c1, x, x; VPSLLVD x, y, y; VPANDD c0, y, r"},
	{ops: "v_lshrrev_b16", sig: "d:d,d", consts: "0xffff 0xf", body: "VPANDD c1, x, x; VPANDD c0, y, y; VPSRLVD x, y, r"},
	{ops: "v_ashrrev_i16", sig: "d:d,d", consts: "0xffff 0xf", body: "VPANDD c1, x, x; VPSLLD $16, y, y; VPSRAD $16, y, y; VPSRAVD x, y, y; VPANDD c0, y, r"},
	{ops: "v_min_i16", sig: "d:d,d", consts: "0xffff", body: "VPMINSW y, x, x; VPANDD c0, x, r"},
	{ops: "v_max_i16", sig: "d:d,d", consts: "0xffff", body: "VPMAXSW y, x, x; VPANDD c0, x, r"},
	{ops: "v_min_u16", sig: "d:d,d", consts: "0xffff", body: "VPMINUW y, x, x; VPANDD c0, x, r"},
	{ops: "v_max_u16", sig: "d:d,d", consts: "0xffff", body: "VPMAXUW y, x, x; VPANDD c0, x, r"},
	{ops: "v_min3_i16", sig: "d:d,d,d", consts: "0xffff", body: "VPMINSW y, x, x; VPMINSW z, x, x; VPANDD c0, x, r"},
	{ops: "v_max3_i16", sig: "d:d,d,d", consts: "0xffff", body: "VPMAXSW y, x, x; VPMAXSW z, x, x; VPANDD c0, x, r"},
	{ops: "v_min3_u16", sig: "d:d,d,d", consts: "0xffff", body: "VPMINUW y, x, x; VPMINUW z, x, x; VPANDD c0, x, r"},
	{ops: "v_max3_u16", sig: "d:d,d,d", consts: "0xffff", body: "VPMAXUW y, x, x; VPMAXUW z, x, x; VPANDD c0, x, r"},
	{ops: "v_med3_i16", sig: "d:d,d,d", consts: "0xffff", body: "VPMINSW y, x, t0; VPMAXSW y, x, t1; VPMINSW z, t1, t1; VPMAXSW t1, t0, t0; VPANDD c0, t0, r"},
	{ops: "v_med3_u16", sig: "d:d,d,d", consts: "0xffff", body: "VPMINUW y, x, t0; VPMAXUW y, x, t1; VPMINUW z, t1, t1; VPMAXUW t1, t0, t0; VPANDD c0, t0, r"},

	{ops: "v_pack_b32_f16", sig: "d:d,d", consts: "0xffff", body: "VPSLLD $16, y, y; VPTERNLOGD $0xF8, c0, x, y; VMOVDQA32 y, r"},
	{ops: "v_sad_u32", sig: "d:d,d,d", flags: "clamp", body: "VPMAXUD y, x, t0; VPMINUD y, x, t1; VPSUBD t1, t0, t0; VPADDD z, t0, r"},
	{ops: "v_cvt_pk_u16_u32", sig: "d:d,d", consts: "0xffff", body: "VPMINUD c0, x, x; VPMINUD c0, y, y; VPSLLD $16, y, y; VPORD x, y, r"},

	{ops: "v_cvt_pk_i16_i32", sig: "d:d,d", consts: "0x7fff 0xffff8000 0xffff",
		body: "VPMINSD c0, x, x; VPMAXSD c1, x, x; VPMINSD c0, y, y; VPMAXSD c1, y, y; VPSLLD $16, y, y; VPTERNLOGD $0xF8, c2, x, y; VMOVDQA32 y, r"},

	// Bytes 0 to 7 of {x, y} and the constants 0x00 (12) and 0xFF (13 and up);
	// the sign selectors 8 to 11 are left to the portable loop.
	{ops: "v_perm_b32", sig: "d:d,d,d", flags: "jump", consts: "0x04040404 0x08080808 0x0c0c0c0c 0x0d0d0d0d 0x80808080 0xffffffff",
		body: "VPSUBB c1, z, t0; VPCMPUB $1, c0, t0, k5; KTESTQ k5, k5; JNE portable; " +
			"VPCMPUB $5, c3, z, k6; VPCMPUB $5, c2, z, k5; VMOVDQU8 c4, k5, z; " +
			"VPUNPCKLDQ x, y, t0; VPUNPCKHDQ x, y, t1; VPUNPCKLDQ z, z, t2; VPUNPCKHDQ z, z, t3; " +
			permHalf("t0", "t2") + permHalf("t1", "t3") +
			"VSHUFPS $0x88, t1, t0, r; VMOVDQU8 c5, k6, r"},
}

const (
	u24   = "VPANDD c0, x, x; VPANDD c0, y, y; "
	i24   = "VPSLLD $8, x, x; VPSRAD $8, x, x; VPSLLD $8, y, y; VPSRAD $8, y, y; "
	i16   = "VPSLLD $16, x, x; VPSRAD $16, x, x; VPSLLD $16, y, y; VPSRAD $16, y, y; "
	mad16 = "VPMULLW y, x, x; VPADDW z, x, x; VPANDD c0, x, r"
)

// mulHi multiplies even and odd lanes and picks the high dwords; c0 selects the
// odd ones.
func mulHi(mul string) string {
	return mul + " y, x, t0; VPSRLQ $32, x, x; VPSRLQ $32, y, y; " + mul + " y, x, t1; VPSRLQ $32, t0, t0; VPTERNLOGD $0xD8, c0, t1, t0; VMOVDQA32 t0, r"
}

// permHalf selects bytes of the qwords q by the low dwords of s.
func permHalf(q, s string) string {
	return "VPORD row(secondQword), " + s + ", " + s + "; VPSHUFB " + s + ", " + q + ", " + q + "; "
}
