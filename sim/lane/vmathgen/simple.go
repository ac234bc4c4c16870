package main

// simpleKernel is a kernel of dwords: the body leaves the result for the sources
// Z0, Z1 and Z2 in Z3. It may use K5 to K7 and Z4 to Z11; constants are broadcast to
// Z16 and up. half tells that the sources are f16, converted to f32. Z14 is the bit
// that quiets an f16 NaN, and Z15 all ones with Env.Clamp.
type simpleKernel struct {
	name, ops string
	sources   int
	half      bool
	consts    []uint32
	body      func(a *asm)
}

// f32 to integers: Z0 truncated, saturating, NaN to 0; the constants are 2^31 and
// the greatest integer.
const saturateI32 = "VCVTTPS2DQ Z0, Z3; VCMPPS $0x1D, Z16, Z0, K5; VMOVDQA32 Z17, K5, Z3; VCMPPS $3, Z0, Z0, K5; VPXORD Z3, Z3, K5, Z3"

var simpleKernels = []simpleKernel{
	{"vmCvtFlrI32F32", "v_cvt_flr_i32_f32", 1, false, []uint32{0x4F000000, 0x7FFFFFFF}, func(a *asm) {
		a.p("VRNDSCALEPS $9, Z0, Z0; " + saturateI32)
	}},
	// x + 1/2 may round up to an integer, floor(x) + 1 may not.
	{"vmCvtRpiI32F32", "v_cvt_rpi_i32_f32", 1, false, []uint32{0x4F000000, 0x7FFFFFFF, 0x3F000000, 0x3F800000}, func(a *asm) {
		a.p("VRNDSCALEPS $9, Z0, Z4; VSUBPS Z4, Z0, Z5; VCMPPS $0x1D, Z18, Z5, K5; VMOVDQA32 Z4, Z0; VADDPS Z19, Z4, K5, Z0; " + saturateI32)
	}},
	{"vmCvtOffF32I4", "v_cvt_off_f32_i4", 1, false, []uint32{0x3D800000}, func(a *asm) {
		a.p("VPSLLD $28, Z0, Z0; VPSRAD $28, Z0, Z0; VCVTDQ2PS Z0, Z0; VMULPS Z16, Z0, Z3")
	}},
	{"vmCvtPkU8F32", "v_cvt_pk_u8_f32 v_cvt_pkaccum_u8_f32", 3, false, []uint32{0, 0x437F0000, 3, 0xFF}, func(a *asm) {
		a.p("VMAXPS Z16, Z0, Z0; VMINPS Z17, Z0, Z0; VCVTTPS2DQ Z0, Z0; VPANDD Z18, Z1, Z1; VPSLLD $3, Z1, Z1")
		a.p("VPSLLVD Z1, Z0, Z3; VPSLLVD Z1, Z19, Z4; VPANDND Z2, Z4, Z4; VPORD Z4, Z3, Z3")
	}},
	{"vmCvtPknormI16F32", "v_cvt_pknorm_i16_f32", 2, false, snorm, pairNorm},
	{"vmCvtPknormU16F32", "v_cvt_pknorm_u16_f32", 2, false, unorm, pairNorm},
	{"vmCvtPknormI16F16", "v_cvt_pknorm_i16_f16", 2, true, snorm, pairNorm},
	{"vmCvtPknormU16F16", "v_cvt_pknorm_u16_f16", 2, true, unorm, pairNorm},
	{"vmCvtNormI16F16", "v_cvt_norm_i16_f16", 1, true, snorm, func(a *asm) { a.norm(0); a.p("VMOVDQA32 Z0, Z3") }},
	{"vmCvtNormU16F16", "v_cvt_norm_u16_f16", 1, true, unorm, func(a *asm) { a.norm(0); a.p("VMOVDQA32 Z0, Z3") }},
	{"vmFrexpExpI16F16", "v_frexp_exp_i16_f16", 1, true, []uint32{0x7FFFFFFF, 0x7F800000, 1, 0xFFFF}, func(a *asm) {
		a.p("VPANDD Z16, Z0, Z4; VPTESTMD Z4, Z4, K5; VPCMPUD $1, Z17, Z4, K5, K5; VGETEXPPS Z0, Z3; VCVTPS2DQ Z3, Z3; VPADDD Z18, Z3, Z3; VPANDD.Z Z19, Z3, K5, Z3")
	}},
	{"vmFrexpMantF16", "v_frexp_mant_f16", 1, false, []uint32{0x7FFF, 0x7C00, 0xFFFF}, func(a *asm) {
		a.p("VPANDD Z18, Z0, Z3; VPANDD Z16, Z0, Z4; VPTESTMD Z4, Z4, K5; VPCMPUD $1, Z17, Z4, K5, K5")
		a.p("VPMOVDW Z0, Y5; VCVTPH2PS Y5, Z5; VGETMANTPS $2, Z5, Z5; VCVTPS2PH $0, Z5, Y5; VPMOVZXWD Y5, K5, Z3")
		a.p("VPCMPUD $6, Z17, Z4, K5; VPORD Z14, Z3, K5, Z3")
	}},
	{"vmDivFixupF16", "v_div_fixup_f16 v_div_fixup_legacy_f16", 3, false, []uint32{0x7FFF, 0x7C00, 0x8000, 0xFE00, 0xFFFF}, divFixupF16},

	{"vmSadU8", "v_sad_u8", 3, false, []uint32{0x01010101, 0x00010001}, func(a *asm) { a.bytesSad(); a.addClamped() }},
	{"vmSadHiU8", "v_sad_hi_u8", 3, false, []uint32{0x01010101, 0x00010001}, func(a *asm) {
		a.bytesSad()
		a.p("VPSLLD $16, Z4, Z4")
		a.addClamped()
	}},
	{"vmMsadU8", "v_msad_u8", 3, false, []uint32{0x01010101, 0x00010001}, func(a *asm) {
		a.p("VPTESTMB Z1, Z1, K5; VMOVDQU8.Z Z0, K5, Z0") // both bytes are 0 then
		a.bytesSad()
		a.addClamped()
	}},
	{"vmSadU16", "v_sad_u16", 3, false, []uint32{0xFFFF}, func(a *asm) {
		a.p("VPSUBUSW Z1, Z0, Z4; VPSUBUSW Z0, Z1, Z5; VPORD Z5, Z4, Z4; VPSRLD $16, Z4, Z5; VPANDD Z16, Z4, Z4; VPADDD Z5, Z4, Z4")
		a.addClamped()
	}},
	// The average instruction rounds up: take back where the sum is odd and the
	// third source's bit is 0.
	{"vmLerpU8", "v_lerp_u8", 3, false, []uint32{0x01010101}, func(a *asm) {
		a.p("VPAVGB Z1, Z0, Z3; VPXORD Z1, Z0, Z4; VPANDND Z4, Z2, Z4; VPANDD Z16, Z4, Z4; VPSUBB Z4, Z3, Z3")
	}},
	{"vmSatPkU8I16", "v_sat_pk_u8_i16", 1, false, []uint32{0, 0x00FF00FF, 0xFFFF}, func(a *asm) {
		a.p("VPMAXSW Z16, Z0, Z0; VPMINSW Z17, Z0, Z0; VPSRLD $8, Z0, Z4; VPORD Z4, Z0, Z0; VPANDD Z18, Z0, Z3")
	}},
}

// bytesSad leaves the sums of the absolute differences of bytes in Z4.
func (a *asm) bytesSad() {
	a.p("VPSUBUSB Z1, Z0, Z4; VPSUBUSB Z0, Z1, Z5; VPORD Z5, Z4, Z4; VPMADDUBSW Z16, Z4, Z4; VPMADDWD Z17, Z4, Z4")
}

// addClamped adds Z2 to Z4; a carry saturates with Env.Clamp.
func (a *asm) addClamped() {
	a.p("VPADDD Z2, Z4, Z3; VPCMPUD $1, Z2, Z3, K5; VPORD Z15, Z3, K5, Z3")
}

// divFixupF16: Z0 is the quotient, Z1 the denominator, Z2 the numerator; later lines
// win. Z6 is the sign, Z4 and Z5 the magnitudes.
func divFixupF16(a *asm) {
	a.p("VPXORD Z1, Z2, Z6; VPANDD Z18, Z6, Z6; VPANDD Z16, Z0, Z3; VPORD Z6, Z3, Z3; VPANDD Z16, Z1, Z4; VPANDD Z16, Z2, Z5")
	a.p("VPTESTNMD Z5, Z5, K5; VPCMPEQD Z17, Z4, K6; KORW K5, K6, K5; VMOVDQA32 Z6, K5, Z3")                                  // 0/x, x/inf
	a.p("VPTESTNMD Z4, Z4, K6; VPCMPEQD Z17, Z5, K7; KORW K6, K7, K6; VPORD Z17, Z6, K6, Z3")                                 // x/0, inf/x
	a.p("KANDW K5, K6, K5; VMOVDQA32 Z19, K5, Z3")                                                                            // 0/0, inf/inf
	a.p("VPCMPUD $6, Z17, Z4, K5; VPORD Z14, Z1, K5, Z3; VPCMPUD $6, Z17, Z5, K5; VPORD Z14, Z2, K5, Z3; VPANDD Z20, Z3, Z3") // NaNs
}

var (
	snorm = []uint32{0xBF800000, 0x3F800000, 0x46FFFE00, 0xFFFF}
	unorm = []uint32{0, 0x3F800000, 0x477FFF00, 0xFFFF}
)

// norm scales Zn, clamped, in f64, where the product is exact; NaN gives 0.
func (a *asm) norm(n int) {
	a.p("VCMPPS $7, Z%d, Z%d, K5; VMAXPS Z16, Z%d, Z%d; VMINPS Z17, Z%d, Z%d", n, n, n, n, n, n)
	a.p("VEXTRACTF64X4 $1, Z%d, Y4; VCVTPS2PD Y%d, Z5; VCVTPS2PD Y4, Z6; VCVTPS2PD Y18, Z7", n, n)
	a.p("VMULPD Z7, Z5, Z5; VMULPD Z7, Z6, Z6; VCVTPD2DQ Z5, Y5; VCVTPD2DQ Z6, Y6; VINSERTI64X4 $1, Y6, Z5, Z5; VPANDD.Z Z19, Z5, K5, Z%d", n)
}

func pairNorm(a *asm) {
	a.norm(0)
	a.norm(1)
	a.p("VPSLLD $16, Z1, Z1; VPORD Z1, Z0, Z3")
}

func (a *asm) simple(k simpleKernel) {
	a.text(k.ops, k.name, 48)
	a.p("MOVQ d+0(FP), DI")
	regs := []string{"SI", "DX", "CX"}[:k.sources]
	for n, r := range regs {
		a.p("MOVQ %c+%d(FP), %s", 'a'+n, 8+8*n, r)
	}
	a.masks("exec+32(FP)")
	a.p("MOVQ e+40(FP), R8; MOVL Env_Mode(R8), AX; ANDL $0x200, AX; VPBROADCASTD AX, Z14; MOVBLZX Env_Clamp(R8), AX; NEGL AX; VPBROADCASTD AX, Z15")
	for i, c := range k.consts {
		a.p("VPBROADCASTD %s, Z%d", a.d(c), 16+i)
	}
	for i := range 4 {
		for n, r := range regs {
			a.p("VMOVDQU32 %d(%s), Z%d", 64*i, r, n)
			if k.half {
				a.p("VPMOVDW Z%d, Y%d; VCVTPH2PS Y%d, Z%d", n, n, n, n)
			}
		}
		k.body(a)
		a.merged("Z3", i)
	}
	a.ret()
}

// frexpExpF64 has its result in rows of dwords.
func (a *asm) frexpExpF64() {
	a.text("v_frexp_exp_i32_f64", "vmFrexpExpI32F64", 48)
	a.p("MOVQ d+0(FP), DI; MOVQ a+8(FP), SI")
	a.masks("exec+32(FP)")
	for i, c := range []uint32{0x7FFFFFFF, 0x7FF00000, 1} {
		a.p("VPBROADCASTD %s, Z%d", a.d(c), 16+i)
	}
	for i := range 4 {
		a.p("VMOVDQU32 %d(SI), Z0; VMOVDQU32 %d(SI), Z1; VPUNPCKLDQ Z1, Z0, Z2; VPUNPCKHDQ Z1, Z0, Z3", 64*i, 64*i+256)
		a.p("VPANDD Z16, Z1, Z4; VPCMPUD $1, Z17, Z4, K5; VPORD Z0, Z4, Z4; VPTESTMD Z4, Z4, K5, K5") // finite, not zero
		a.p("VGETEXPPD Z2, Z2; VGETEXPPD Z3, Z3; VCVTPD2QQ Z2, Z2; VCVTPD2QQ Z3, Z3; VSHUFPS $0x88, Z3, Z2, Z2; VPADDD.Z Z18, Z2, K5, Z2")
		a.merged("Z2", i)
	}
	a.ret()
}

// fp8 writes the conversions from and to 8-bit floats; what differs between formats
// comes in structures.
func (a *asm) fp8() {
	field := func(s, f string, reg int) { a.p("VPBROADCASTD %s_%s(R9), Z%d", s, f, reg) }

	a.text("d = the 8-bit floats src>>shift&0xFF as f32 in the lanes of exec.", "vFP8Unpack", 36)
	a.p("MOVQ d+0(FP), DI; MOVQ src+8(FP), SI; MOVQ f+24(FP), R9; MOVL shift+32(FP), AX; VMOVD AX, X14; MOVL fp8Unpack_up(R9), AX; VMOVD AX, X15")
	a.masks("exec+16(FP)")
	for i, f := range []string{"scale", "nanFrom", "infAt", "nanAt"} {
		field("fp8Unpack", f, 16+i)
	}
	for i, c := range []uint32{0xFF, 0x7F, 0x80000000, 0x7FC00000, 0x7F800000, 0xFFC00000} {
		a.p("VPBROADCASTD %s, Z%d", a.d(c), 20+i)
	}
	for i := range 4 {
		a.p("VMOVDQU32 %d(SI), Z0; VPSRLD X14, Z0, Z0; VPANDD Z20, Z0, Z0; VPANDD Z21, Z0, Z1; VPSLLD $24, Z0, Z2; VPANDD Z22, Z2, Z2", 64*i)
		a.p("VPSLLD X15, Z1, Z3; VMULPS Z16, Z3, Z3; VPORD Z2, Z3, Z3")
		a.p("VPCMPUD $5, Z17, Z1, K5; VPORD Z23, Z2, K5, Z3; VPCMPEQD Z18, Z1, K5; VPORD Z24, Z2, K5, Z3; VPCMPEQD Z19, Z0, K5; VMOVDQA32 Z25, K5, Z3")
		a.merged("Z3", i)
	}
	a.ret()

	a.text("d = d&keep | (a | b<<8)<<shift in the lanes of exec, as 8-bit floats, nearest even.", "vFP8Pack", 40)
	a.p("MOVQ d+0(FP), DI; MOVQ a+8(FP), SI; MOVQ b+16(FP), DX; MOVQ f+32(FP), R9; MOVL fp8Pack_drop(R9), AX; VMOVD AX, X14; MOVL fp8Pack_shift(R9), AX; VMOVD AX, X15")
	a.masks("exec+24(FP)")
	for i, f := range []string{"half", "rebias", "least", "scale", "max", "over", "inf", "nan", "signed", "keep"} {
		field("fp8Pack", f, 16+i)
	}
	for i, c := range []uint32{0x7FFFFFFF, 0x7F800000, 1, 0x80, 0x17F} {
		a.p("VPBROADCASTD %s, Z%d", a.d(c), 26+i)
	}
	for i := range 4 {
		for n, r := range []string{"SI", "DX"} {
			s := []string{"A", "B"}[n]
			a.p("VPBROADCASTD fp8Pack_abs%s(R9), Z0; VPANDND %d(%s), Z0, Z0; VPXORD.BCST fp8Pack_neg%s(R9), Z0, Z0", s, 64*i, r, s)
			a.p("VPANDD Z26, Z0, Z1; VPSRLD X14, Z1, Z2; VPANDD Z28, Z2, Z2; VPADDD Z1, Z2, Z2; VPADDD Z16, Z2, Z2; VPSRLD X14, Z2, Z2; VPSUBD Z17, Z2, Z2")
			a.p("VPCMPUD $1, Z18, Z1, K5; VMULPS Z19, Z1, Z3; VCVTPS2DQ Z3, K5, Z2") // denormal results
			a.p("VPCMPUD $6, Z20, Z2, K5; VMOVDQA32 Z21, K5, Z2; VPCMPEQD Z27, Z1, K5; VMOVDQA32 Z22, K5, Z2; VPCMPUD $6, Z27, Z1, K5; VMOVDQA32 Z23, K5, Z2")
			a.p("VPSRLD $24, Z0, Z0; VPANDD Z29, Z0, Z0; VPORD Z24, Z2, Z3; VPTESTMD Z30, Z3, K5; VPORD Z0, Z2, K5, Z2; VMOVDQA32 Z2, Z%d", 4+n)
		}
		a.p("VPSLLD $8, Z5, Z5; VPORD Z5, Z4, Z4; VPSLLD X15, Z4, Z4; VMOVDQU32 %d(DI), Z0; VPTERNLOGD $0xEA, Z4, Z25, Z0", 64*i)
		a.merged("Z0", i)
	}
	a.ret()
}
