package main

// transKernel is a function computed in f64, of f32 and of f16. The operations and
// their order are those of trans_poly.go, whose tables these kernels read.
//
// Registers: Z0 the source as f32, Z1 the same with denormals flushed or numbers
// outside the domain replaced, then the result; Z12 the source as f16; K5 and K6
// masks of dwords. Each half of eight lanes has its value in f64 in Z2 or Z3 and
// its result there, its own temporaries among Z4 to Z11, and a mask, K5 or K6. Z14
// and Z16 to Z31 hold constants, Z15 the bits that quiet a NaN.
type transKernel struct {
	fn, ops32, ops16 string
	prepare          func(a *asm)                                 // constants to registers
	source           func(a *asm)                                 // Z1 of Z0
	half             func(a *asm, v, t0, t1, t2 string, k string) // v of v
	result           func(a *asm, half bool)                      // special results in Z1
}

var transKernels = []transKernel{
	{"Exp", "v_exp_f32 v_exp_legacy_f32", "v_exp_f16", expPrepare, flushSource, expHalf, expResult},
	{"Log", "v_log_f32 v_log_legacy_f32", "v_log_f16", logPrepare, flushSource, logHalf, logResult},
	{"Sin", "v_sin_f32", "v_sin_f16", trigPrepare, trigSource,
		func(a *asm, v, t0, t1, t2, k string) { trigHalf(a, v, t0, t1, t2, k, false) },
		func(a *asm, half bool) {
			trigResult(a, half)
			a.p("VPTESTNMD.BCST %s, Z0, K5; VMOVDQA32 Z0, K5, Z1", a.d(0x7FFFFFFF))
		}},
	{"Cos", "v_cos_f32", "v_cos_f16", trigPrepare, trigSource,
		func(a *asm, v, t0, t1, t2, k string) { trigHalf(a, v, t0, t1, t2, k, true) }, trigResult},
}

// kernels of the table: of f32 and of f16.
func (k transKernel) entries() []entry {
	return []entry{{"vm" + k.fn + "F32", k.ops32}, {"vm" + k.fn + "F16", k.ops16}}
}

func (a *asm) trans(k transKernel, half bool) {
	e := k.entries()[0]
	if half {
		e = k.entries()[1]
	}
	a.text(e.ops, e.name, 48)
	a.p("MOVQ d+0(FP), DI; MOVQ a+8(FP), SI; MOVQ e+40(FP), R8")
	a.masks("exec+32(FP)")
	// MODE.IEEE is bit 9, which is the quiet bit of an f16; that of an f32 is bit 22.
	a.p("MOVL Env_Mode(R8), AX; ANDL $0x200, AX")
	if !half {
		a.p("SHLL $13, AX")
	}
	a.p("VPBROADCASTD AX, Z15")
	k.prepare(a)
	for i := range 4 {
		a.p("VMOVDQU32 %d(SI), Z0", 64*i)
		if half {
			a.p("VPANDD.BCST %s, Z0, Z12; VPMOVDW Z0, Y0; VCVTPH2PS Y0, Z0", a.d(0xFFFF))
		}
		k.source(a)
		a.p("VEXTRACTF64X4 $1, Z1, Y3; VCVTPS2PD Y1, Z2; VCVTPS2PD Y3, Z3")
		k.half(a, "Z2", "Z4", "Z5", "Z6", "K5")
		k.half(a, "Z3", "Z8", "Z9", "Z10", "K6")
		if half {
			a.odd("Z2", "Y1", "Z4", "K5")
			a.odd("Z3", "Y2", "Z8", "K6")
		} else {
			a.p("VCVTPD2PS Z2, Y1; VCVTPD2PS Z3, Y2")
		}
		a.p("VINSERTF64X4 $1, Y2, Z1, Z1")
		k.result(a, half)
		if half {
			a.p("VCVTPS2PH $0, Z1, Y1; VPMOVZXWD Y1, Z1; VCMPPS $3, Z0, Z0, K5; VPORD Z15, Z12, K5, Z1")
		} else {
			a.p("VCMPPS $3, Z0, Z0, K5; VPORD Z15, Z0, K5, Z1")
		}
		a.merged("Z1", i)
	}
	a.ret()
}

// odd rounds eight f64 to odd f32, so that rounding them to f16 is rounding once.
func (a *asm) odd(v, to, t, k string) {
	a.p("VCVTPD2PS.RZ_SAE %s, %s; VCVTPS2PD %s, %s; VCMPPD $4, %s, %s, %s; VPORD.BCST %s, %s, %s, %s", v, to, to, t, t, v, k, a.d(1), to, k, to)
}

// flushSource replaces denormals by zeros of their sign.
func flushSource(a *asm) {
	a.p("VMOVDQA32 Z0, Z1; VPTESTNMD.BCST %s, Z0, K5; VPANDD.BCST %s, Z0, K5, Z1", a.d(0x7F800000), a.d(0x80000000))
}

// table loads the sixteen numbers of a Go variable to two registers.
func (a *asm) table(name string, reg int) {
	a.p("VMOVUPD ·%s+0(SB), Z%d; VMOVUPD ·%s+64(SB), Z%d", name, reg, name, reg+1)
}

// polynomial broadcasts the coefficients of a Go variable to registers.
func (a *asm) polynomial(name string, n, reg int) {
	for i := range n {
		a.p("VBROADCASTSD ·%s+%d(SB), Z%d", name, 8*i, reg+i)
	}
}

// horner leaves the polynomial of n coefficients from register reg, at x, in p.
func (a *asm) horner(n, reg int, x, p string) {
	a.p("VMOVAPD Z%d, %s", reg+n-1, p)
	for i := n - 2; i >= 0; i-- {
		a.p("VFMADD213PD Z%d, %s, %s", reg+i, x, p)
	}
}

func expPrepare(a *asm) {
	a.table("exp2Table", 16)
	a.polynomial("exp2Poly", 7, 18)
	for i, v := range []uint64{0x408C200000000000, 0xC08C200000000000, 0x42F8000000000000} { // ±900 and exp2Shift
		a.p("VBROADCASTSD %s, Z%d", a.q(v), 25+i)
	}
	// Infinity, and what bounds finite f16.
	a.p("MOVL $0x7F800000, AX; VPBROADCASTD AX, Z28; MOVL $0x477FE000, BX; TESTL $0x800000, Env_Mode(R8); CMOVLNE BX, AX; VPBROADCASTD AX, Z29")
}

func expHalf(a *asm, v, s, t, p string, _ string) {
	a.p("VMINPD Z25, %s, %s; VMAXPD Z26, %s, %s", v, v, v, v)
	a.p("VADDPD Z27, %s, %s; VSUBPD Z27, %s, %s; VSUBPD %s, %s, %s", v, s, s, t, t, v, v)
	a.p("VPERMI2PD Z17, Z16, %s", s)
	a.horner(7, 18, v, p)
	a.p("VMULPD %s, %s, %s; VSCALEFPD %s, %s, %s", s, p, p, t, p, v)
}

// expResult flushes denormals. As f16, a finite power that overflows is the
// largest finite number with MODE.FP16_OVFL.
func expResult(a *asm, half bool) {
	if !half {
		a.p("VPTESTNMD.BCST %s, Z1, K5; VPXORD Z1, Z1, K5, Z1", a.d(0x7F800000))
		return
	}
	a.p("VCMPPS $0x11, Z28, Z0, K5; VMINPS Z29, Z1, K5, Z1")
}

func logPrepare(a *asm) {
	a.table("log2Recip", 16)
	a.table("log2Table", 18)
	a.polynomial("log2Poly", 9, 20)
	a.p("VBROADCASTSD %s, Z29", a.q(0xBFF0000000000000)) // -1
}

// logHalf gives -inf and +inf for zero and infinity by themselves.
func logHalf(a *asm, v, k, j, p string, _ string) {
	a.p("VGETEXPPD %s, %s; VGETMANTPD $0, %s, %s", v, k, v, v)
	a.p("VPSRLQ $48, %s, %s; VMOVDQA64 %s, %s", v, j, j, p)
	a.p("VPERMI2PD Z19, Z18, %s; VPERMI2PD Z17, Z16, %s", j, p)
	a.p("VFMADD213PD Z29, %s, %s; VADDPD %s, %s, %s", p, v, j, k, k)
	a.horner(9, 20, v, p)
	a.p("VFMADD213PD %s, %s, %s; VMOVAPD %s, %s", k, v, p, p, v)
}

func logResult(a *asm, _ bool) {
	a.p("VPTESTMD.BCST %s, Z0, K5; VPTESTMD.BCST %s, Z0, K5, K5; VPBROADCASTD %s, K5, Z1",
		a.d(0x80000000), a.d(0x7F800000), a.d(0xFFC00000)) // below zero
}

// trigPrepare puts into BX and Z14 the largest magnitude of a source: 256 before
// gfx940, then any finite one.
func trigPrepare(a *asm) {
	a.polynomial("sinPoly", 7, 16)
	a.polynomial("cosPoly", 7, 23)
	a.p("MOVL $0x43800000, AX; MOVL $0x7F7FFFFF, BX; CMPB Env_Gen(R8), $const_GenGFX940; CMOVLCC BX, AX; VPBROADCASTD AX, Z14")
	a.p("VBROADCASTSD %s, Z30; VPXORQ Z31, Z31, Z31", a.q(0x3FF0000000000000))
}

// trigSource zeroes what lies outside the domain, with infinities and NaNs.
func trigSource(a *asm) {
	a.p("VPANDD.BCST %s, Z0, Z1; VPCMPUD $2, Z14, Z1, K5; VMOVDQA32.Z Z0, K5, Z1", a.d(0x7FFFFFFF))
}

func trigHalf(a *asm, v, u, k, s string, m string, cos bool) {
	a.p("VMULPD.BCST %s, %s, %s; VRNDSCALEPD $8, %s, %s; VCVTPD2QQ %s, %s; VSUBPD %s, %s, %s",
		a.q(0x4010000000000000), v, v, v, u, v, k, u, v, v)
	if cos {
		a.p("VPADDQ.BCST %s, %s, %s", a.q(1), k, k)
	}
	a.p("VPTESTMQ.BCST %s, %s, %s; VMULPD %s, %s, %s", a.q(1), k, m, v, v, u)
	a.p("VBLENDMPD Z29, Z22, %s, %s", m, s)
	c := map[string]string{"Z6": "Z7", "Z10": "Z11"}[s]
	for i := 5; i >= 0; i-- {
		a.p("VBLENDMPD Z%d, Z%d, %s, %s; VFMADD213PD %s, %s, %s", 23+i, 16+i, m, c, c, u, s)
	}
	a.p("VMOVAPD Z30, %s, %s; VMULPD %s, %s, %s", m, v, v, s, s)
	a.p("VPSLLQ $62, %s, %s; VPTERNLOGQ.BCST $0x78, %s, %s, %s", k, k, a.q(1<<63), k, s) // s ^ k&sign
	a.p("VADDPD Z31, %s, %s", s, v)
}

// trigResult: infinities give the default NaN.
func trigResult(a *asm, _ bool) {
	a.p("VPANDD.BCST %s, Z0, Z2; VPCMPEQD.BCST %s, Z2, K5; VPBROADCASTD %s, K5, Z1",
		a.d(0x7FFFFFFF), a.d(0x7F800000), a.d(0xFFC00000))
}
