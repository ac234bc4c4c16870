package main

import "strings"

// mathKernels are the steps of divisions, exponentials and logarithms, scaling by
// powers of two, and the classes of floats.
func mathKernels() []kern {
	return []kern{
		{ops: "v_ldexp_f32", sig: "d:d,d", flags: "nanps", body: "VCVTDQ2PS y, y; VSCALEFPS y, x, r"},
		{ops: "v_ldexp_f64", sig: "q:q,y", flags: "nanpd", body: "VCVTDQ2PD y.y, y; VSCALEFPD y, x, r"},
		{ops: "v_frexp_exp_i32_f32", sig: "d:d", consts: "0x1 0x7f800000",
			body: "VGETEXPPS x, t0; VCVTPS2DQ t0, t0; VPADDD c0, t0, t0; VPXORD r, r, r; " +
				"VPADDD x, x, t1; VPTESTMD t1, t1, k5; VPANDD c1, x, x; VPCMPD $4, c1, x, k5, k5; VMOVDQA32 t0, k5, r"},
		{ops: "v_frexp_mant_f32", sig: "d:d", flags: "nanps", consts: "0x7fffffff 0x7f800000",
			body: "VMOVDQA32 x, r; VPANDD c0, x, t0; VPTESTMD t0, t0, k5; VPCMPD $4, c1, t0, k5, k5; VGETMANTPS $2, x, k5, r"},
		{ops: "v_frexp_mant_f64", sig: "q:q", flags: "nanpd", consts: "0x7fffffffffffffffq 0x7ff0000000000000q",
			body: "VMOVDQA64 x, r; VPANDQ c0, x, t0; VPTESTMQ t0, t0, k5; VPCMPQ $4, c1, t0, k5, k5; VGETMANTPD $2, x, k5, r"},

		// Divisions. Where nothing is scaled the first source passes through; a
		// zero operand gives NaN and sets the mask; the rest is left alone.
		{ops: "v_div_scale_f32", sig: "d:d,d,d", flags: "bad co", consts: "0x7fffffff 0xffc00000 0x7d 0xdd 0x7e800000 0x17",
			body: "VMOVDQA32 x, r; VPANDD c0, y, y; VPANDD c0, z, z; VPTESTNMD y, y, ko; VPTESTNMD z, z, k5; KORW k5, ko, ko; VMOVDQA32 c1, ko, r; " +
				"VPSRLD $23, y, t0; VPSRLD $23, z, t1; VPSUBD t0, t1, t2; VPADDD c2, t2, t2; " +
				"VPCMPUD $5, c3, t2, kb; VPTESTNMD t0, t0, k5; KORW k5, kb, kb; VPCMPUD $6, c4, y, k5; KORW k5, kb, kb; " +
				"VPCMPUD $2, c5, t1, k5; KORW k5, kb, kb; KANDNW kb, ko, kb; KANDW ke, kb, kb"},
		{ops: "v_div_scale_f64", sig: "q:q,q,q", flags: "bad co",
			consts: "0x7fffffffffffffffq 0xfff8000000000000q 0x3fdq 0x6fdq 0x7fd0000000000000q 0x35q",
			body: "VMOVDQA64 x, r; VPANDQ c0, y, y; VPANDQ c0, z, z; VPTESTNMQ y, y, ko; VPTESTNMQ z, z, k5; KORW k5, ko, ko; VMOVDQA64 c1, ko, r; " +
				"VPSRLQ $52, y, t0; VPSRLQ $52, z, t1; VPSUBQ t0, t1, t2; VPADDQ c2, t2, t2; " +
				"VPCMPUQ $5, c3, t2, kb; VPTESTNMQ t0, t0, k5; KORW k5, kb, kb; VPCMPUQ $6, c4, y, k5; KORW k5, kb, kb; " +
				"VPCMPUQ $2, c5, t1, k5; KORW k5, kb, kb; KANDNW kb, ko, kb"},
		{ops: "v_div_fmas_f32", sig: "d:d,d,d", flags: "nanps plain", body: fma132},
		{ops: "v_div_fmas_f64", sig: "q:q,q,q", flags: "nanpd plain", body: "VFMADD132PD y, z, x; VMOVDQA64 x, r"},
		// t0 is the sign, r the quotient with it; lanes of k5 become zero, of k6
		// infinite, of both NaN.
		{ops: "v_div_fixup_f32", sig: "d:d,d,d", flags: "bad", consts: "0x7fffffff 0x7f800000 0xffffff6a 0xffc00000",
			body: "VPXORD y, z, t0; VPANDND t0, c0, t0; VPTERNLOGD $0xEA, t0, c0, x; VMOVDQA32 x, r; VPANDD c0, y, y; VPANDD c0, z, z; " +
				"VPTESTNMD z, z, k5; VPCMPD $0, c1, y, k6; KORW k6, k5, k5; VPTESTNMD y, y, k6; VPCMPD $0, c1, z, kb; KORW kb, k6, k6; " +
				"VMOVDQA32 t0, k5, r; VPORD c1, t0, k6, r; KANDW k5, k6, kb; VMOVDQA32 c3, kb, r; KORW k5, k6, k5; " +
				"VPANDD c0, x, x; VPCMPD $6, c1, x, k6; VPSRLD $23, y, t1; VPSRLD $23, z, t2; VPSUBD t1, t2, t1; VPCMPD $1, c2, t1, kb; " +
				"KORW kb, k6, k6; KANDNW k6, k5, k6; KANDW ke, k6, k6; VCMPPS $3, y, z, ke, kb; KORW k6, kb, kb"},
		{ops: "v_div_fixup_f64", sig: "q:q,q,q", flags: "bad", consts: "0x7fffffffffffffffq 0x7ff0000000000000q 0xfffffffffffffbcdq 0xfff8000000000000q",
			body: "VPXORQ y, z, t0; VPANDNQ t0, c0, t0; VPTERNLOGQ $0xEA, t0, c0, x; VMOVDQA64 x, r; VPANDQ c0, y, y; VPANDQ c0, z, z; " +
				"VPTESTNMQ z, z, k5; VPCMPQ $0, c1, y, k6; KORW k6, k5, k5; VPTESTNMQ y, y, k6; VPCMPQ $0, c1, z, kb; KORW kb, k6, k6; " +
				"VMOVDQA64 t0, k5, r; VPORQ c1, t0, k6, r; KANDW k5, k6, kb; VMOVDQA64 c3, kb, r; KORW k5, k6, k5; " +
				"VPANDQ c0, x, x; VPCMPQ $6, c1, x, k6; VPSRLQ $52, y, t1; VPSRLQ $52, z, t2; VPSUBQ t1, t2, t1; VPCMPQ $1, c2, t1, kb; " +
				"KORW kb, k6, k6; KANDNW k6, k5, k6; VCMPPD $3, y, z, kb; KORW k6, kb, kb"},

		// The algorithms are those of Go's math.Exp2 and math.Log2 on amd64,
		// operation by operation.
		{ops: "v_exp_f32 v_exp_legacy_f32", sig: "y:y", flags: "ieee", cpu: "unfused", consts: flushConsts + " 0x00400000",
			body: flushY8 + "VCMPPS $3, x.y, x.y, k6; VMOVDQA32 x.y, t7.y; VCVTPS2PD x.y, x; " + exp2 + toF32Flushed + "; VPORD c2.y, t7.y, k6, r.y"},
		{ops: "v_log_f32 v_log_legacy_f32", sig: "y:y", flags: "ieee", cpu: "unfused", consts: flushConsts + " 0x00400000 0xff800000 0xffc00000",
			body: flushY8 + "VMOVDQA32 x.y, t7.y; VCVTPS2PD x.y, x; " + log2 + "VCVTPD2PS x, r.y; " +
				"VPXORD t0.y, t0.y, t0.y; VCMPPS $0, t0.y, t7.y, k5; VMOVDQA32 c3.y, k5, r.y; VCMPPS $0x11, t0.y, t7.y, k5; VMOVDQA32 c4.y, k5, r.y; " +
				"VPCMPD $0, c0.y, t7.y, k5; VMOVDQA32 c0.y, k5, r.y; VCMPPS $3, t7.y, t7.y, k5; VPORD c2.y, t7.y, k5, r.y"},
	}
}

const flushY8 = "VPTESTNMD c0.y, x.y, k5; VPANDD c1.y, x.y, k5, x.y; "

// classBody compares the class of x, as a bit in t1, with y. c0 to c9 are the bits.
const classBody = "VPMOVD2M x, k5; VMOVDQA32 c8, t1; VMOVDQA32 c3, k5, t1; " +
	"VFPCLASSPSZ $0x20, x, k6; VMOVDQA32 c7, k6, t1; KANDW k5, k6, k6; VMOVDQA32 c4, k6, t1; " +
	"VFPCLASSPSZ $0x04, x, k6; VMOVDQA32 c5, k6, t1; VFPCLASSPSZ $0x02, x, k6; VMOVDQA32 c6, k6, t1; " +
	"VFPCLASSPSZ $0x10, x, k6; VMOVDQA32 c2, k6, t1; VFPCLASSPSZ $0x08, x, k6; VMOVDQA32 c9, k6, t1; " +
	"VFPCLASSPSZ $0x01, x, k6; VMOVDQA32 c1, k6, t1; VFPCLASSPSZ $0x80, x, k6; VMOVDQA32 c0, k6, t1; VPTESTMD t1, y, kr"

func classKernels() []kern {
	wide := strings.NewReplacer("VPMOVD2M", "VPMOVQ2M", "PSZ", "PDZ", "A32", "A64", "VPTESTMD", "VPTESTMQ").Replace(classBody)
	return []kern{
		{ops: "v_cmp_class_f32", sig: "m:d,d", consts: "0x1 0x2 0x4 0x8 0x10 0x20 0x40 0x80 0x100 0x200", body: classBody},
		{ops: "v_cmp_class_f64", sig: "m:q,zx", consts: "0x1q 0x2q 0x4q 0x8q 0x10q 0x20q 0x40q 0x80q 0x100q 0x200q", body: wide},
	}
}

// exp2 is math.Exp2 of x, limited to ±900, in x.
const exp2 = "VBROADCASTSD q(900), t0; VMINPD x, t0, x; VBROADCASTSD q(-900), t0; VMAXPD x, t0, x; " +
	"VBROADCASTSD q(0.5), t0; VPTERNLOGQ.BCST $0xF8, q(-0), x, t0; " + // 0.5 with the sign of x
	"VADDPD t0, x, t0; VRNDSCALEPD $11, t0, t6; VSUBPD t6, x, t0; " +
	"VMULPD.BCST q(6.93147180369123816490e-01), t0, t1; VMULPD.BCST q(-1.90821492927058770002e-10), t0, t2; " +
	"VSUBPD t2, t1, t3; VMULPD t3, t3, t4; " +
	"VMULPD.BCST q(4.13813679705723846039e-08), t4, t5; VADDPD.BCST q(-1.65339022054652515390e-06), t5, t5; VMULPD t5, t4, t5; " +
	"VADDPD.BCST q(6.61375632143793436117e-05), t5, t5; VMULPD t5, t4, t5; VADDPD.BCST q(-2.77777777770155933842e-03), t5, t5; VMULPD t5, t4, t5; " +
	"VADDPD.BCST q(1.66666666666666657415e-01), t5, t5; VMULPD t5, t4, t5; VSUBPD t5, t3, t5; " +
	"VMULPD t5, t3, t3; VBROADCASTSD q(2), t4; VSUBPD t5, t4, t4; VDIVPD t4, t3, t3; VSUBPD t3, t2, t2; VSUBPD t1, t2, t2; " +
	"VBROADCASTSD q(1), t4; VSUBPD t2, t4, t4; VSCALEFPD t6, t4, x; "

// log2 is math.Log2 of x, positive and finite, in x: t0 the fraction, t1 the
// exponent, t2 k.
const log2 = "VGETEXPPD x, t1; VGETMANTPD $2, x, t0; VCMPPD.BCST $0, q(0.5), t0, k6; " +
	"VCMPPD.BCST $0x12, q(7.07106781186547524401e-01), t0, k5; VPXORQ t2, t2, t2; VSUBPD.BCST q(1), t2, k5, t2; VADDPD t0, t0, k5, t0; " +
	"VSUBPD.BCST q(1), t0, t0; VADDPD.BCST q(2), t0, t3; VDIVPD t3, t0, t3; VMULPD t3, t3, t4; VMULPD t4, t4, t5; " +
	"VMULPD.BCST q(1.479819860511658591e-01), t5, t6; VADDPD.BCST q(1.818357216161805012e-01), t6, t6; VMULPD t5, t6, t6; " +
	"VADDPD.BCST q(2.857142874366239149e-01), t6, t6; VMULPD t5, t6, t6; VADDPD.BCST q(6.666666666666735130e-01), t6, t6; VMULPD t6, t4, t4; " +
	"VMULPD.BCST q(1.531383769920937332e-01), t5, t6; VADDPD.BCST q(2.222219843214978396e-01), t6, t6; VMULPD t5, t6, t6; " +
	"VADDPD.BCST q(3.999999999940941908e-01), t6, t6; VMULPD t6, t5, t5; VADDPD t5, t4, t4; " +
	"VMULPD.BCST q(0.5), t0, t5; VMULPD t0, t5, t5; VADDPD t5, t4, t4; VMULPD t4, t3, t3; " +
	"VMULPD.BCST q(1.90821492927058770002e-10), t2, t4; VADDPD t4, t3, t3; VSUBPD t3, t5, t5; VSUBPD t0, t5, t5; " +
	"VMULPD.BCST q(6.93147180369123816490e-01), t2, t2; VSUBPD t5, t2, t2; " +
	"VMULPD.BCST q(1.4426950408889634), t2, t2; VADDPD.BCST q(1), t1, t3; VADDPD t3, t2, x; VMOVDQA64 t1, k6, x; "
