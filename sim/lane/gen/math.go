package main

import "strings"

// mathKernels are the steps of divisions and scaling by powers of two.
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
	}
}

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
