package main

import (
	"fmt"
	"strings"
)

// divFmasF32 computes in f64, where the product is exact, and rounds the sum to
// odd: of the sums rounded down and up it takes the odd one. That times a power of
// two rounds once.
func (a *asm) divFmasF32() {
	a.text("v_div_fmas_f32 with scaled lanes", "vmDivFmasF32", 48)
	a.p("MOVQ d+0(FP), DI; MOVQ a+8(FP), SI; MOVQ b+16(FP), DX; MOVQ c+24(FP), CX; MOVQ e+40(FP), R8")
	a.p("MOVL Env_Mode(R8), AX; ANDL $0x200, AX; SHLL $13, AX; VPBROADCASTD AX, Z15; MOVQ Env_CarryIn(R8), R9")
	for i, v := range []uint32{0x3F800000, 0x1F800000, 0x5F800000, 0x7F800000} { // 1, 2^-64, 2^64, the exponent
		a.p("VPBROADCASTD %s, Z%d", a.d(v), 16+i)
	}
	a.p("VPBROADCASTQ %s, Z20", a.q(1))
	a.masks("exec+32(FP)")
	for i := range 4 {
		a.p("VMOVDQU32 %d(SI), Z0; VMOVDQU32 %d(DX), Z1; VMOVDQU32 %d(CX), Z2", 64*i, 64*i, 64*i)
		a.p("KMOVW R9, K5; SHRQ $16, R9; VPBLENDMD Z17, Z16, K5, Z3")
		a.p("VPANDD Z19, Z2, Z4; VPCMPUD $6, Z16, Z4, K5, K5; VMOVDQA32 Z18, K5, Z3") // exponents above 127
		for h := range 2 {
			x, y, z, s := 4+4*h, 5+4*h, 6+4*h, 7+4*h
			for n, r := range []int{x, y, z, s} {
				if h == 0 {
					a.p("VCVTPS2PD Y%d, Z%d", n, r)
				} else {
					a.p("VEXTRACTF64X4 $1, Z%d, Y%d; VCVTPS2PD Y%d, Z%d", n, r, r, r)
				}
			}
			a.p("VMULPD Z%d, Z%d, Z%d; VADDPD.RD_SAE Z%d, Z%d, Z%d; VADDPD.RU_SAE Z%d, Z%d, Z%d", y, x, x, z, x, y, z, x, z)
			a.p("VPTESTNMQ Z20, Z%d, K5; VMOVAPD Z%d, K5, Z%d; VMULPD Z%d, Z%d, Z%d; VCVTPD2PS Z%d, Y%d", y, z, y, s, y, y, y, x)
		}
		a.p("VINSERTF64X4 $1, Y8, Z4, Z4")
		for n := 2; n >= 0; n-- { // the first NaN wins
			a.p("VCMPPS $3, Z%d, Z%d, K5; VPORD Z15, Z%d, K5, Z4", n, n, n)
		}
		a.merged("Z4", i)
	}
	a.ret()
}

// divFmasF64 scales the rounded sum. It hands over to the portable loop when
// that might round twice, before it stores anything.
func (a *asm) divFmasF64() {
	a.text("v_div_fmas_f64 with scaled lanes", "vmDivFmasF64", 48)
	a.p("MOVQ d+0(FP), DI; MOVQ a+8(FP), SI; MOVQ b+16(FP), DX; MOVQ c+24(FP), CX; MOVQ e+40(FP), R8")
	a.p("MOVL Env_Mode(R8), AX; ANDL $0x200, AX; SHLQ $42, AX; VPBROADCASTQ AX, Z15")
	// ±128, the magnitude, the exponent, 1, the least normal number, infinity.
	for i, v := range []uint64{0xC060000000000000, 0x4060000000000000, 1<<63 - 1, 0x7FF << 52, 0x3FF << 52, 1 << 52} {
		a.p("VPBROADCASTQ %s, Z%d", a.q(v), 16+i)
	}
	a.p("MOVQ exec+32(FP), R9; MOVQ Env_CarryIn(R8), R10; ANDQ R9, R10; XORL R11, R11")
	for i := range 4 {
		for n, reg := range []string{"SI", "DX", "CX"} {
			a.p("VMOVDQU32 %d(%s), Z12; VMOVDQU32 %d(%s), Z13", 64*i, reg, 64*i+256, reg)
			a.p("VPUNPCKLDQ Z13, Z12, Z%d; VPUNPCKHDQ Z13, Z12, Z%d", 2*n, 2*n+1)
		}
		a.p("KMOVW R10, K1; SHRQ $16, R10; VPMOVM2D K1, Z12; VPUNPCKLDQ Z12, Z12, Z6; VPUNPCKHDQ Z12, Z12, Z7")
		for h := range 2 {
			x, y, z, post, r := h, 2+h, 4+h, 6+h, 24+2*i+h
			a.p("VPMOVQ2M Z%d, K1", post) // scaled lanes
			a.p("VMOVAPD Z%d, Z%d; VFMADD213PD Z%d, Z%d, Z%d", x, r, z, y, r)
			a.p("VANDPD Z19, Z%d, Z8; VPCMPUQ $6, Z20, Z8, K2; VPBLENDMQ Z17, Z16, K2, Z9", z) // exponents above 1023
			// Bad: an infinite, denormal or zero sum, a denormal or zero result.
			a.p("VANDPD Z18, Z%d, Z8; VPCMPUQ $0, Z19, Z8, K1, K2; VPCMPUQ $1, Z21, Z8, K1, K3; KORW K2, K3, K2", r)
			a.p("VSCALEFPD Z9, Z%d, K1, Z%d; VANDPD Z18, Z%d, Z8; VPCMPUQ $1, Z21, Z8, K1, K3; KORW K2, K3, K2", r, r, r)
			a.p("KMOVB K2, AX; ORL AX, R11")
			for n := 2; n >= 0; n-- {
				s := []int{x, y, z}[n]
				a.p("VCMPPD $3, Z%d, Z%d, K2; VPORQ Z15, Z%d, K2, Z%d", s, s, s, r)
			}
		}
	}
	a.p("TESTL R11, R11; JNE portable")
	for i := range 4 {
		a.p("KMOVW R9, K1; SHRQ $16, R9")
		for row, sel := range []int{0x88, 0xDD} {
			a.p("VSHUFPS $%#x, Z%d, Z%d, Z0", sel, 25+2*i, 24+2*i)
			a.p("VMOVDQU32 %d(DI), Z1; VMOVDQA32 Z0, K1, Z1; VMOVDQU32 Z1, %d(DI)", 64*i+256*row, 64*i+256*row)
		}
	}
	a.ret()
	a.WriteString("\nportable:\n")
	a.p("VZEROUPPER; JMP ·loopDivFmasF64(SB)")
}

// scaleOps is what divScale needs to know of a format.
type scaleOps struct {
	d, ps string // suffixes of integer and float instructions
	width string
	man   int
}

// divScaleUnit computes divScaleF32 or divScaleF64 of Z0 (what to scale), Z1 (the
// denominator) and Z2 (the numerator); the result is in Z8, the mask in K1.
// The masks, in the order of the portable function's cases: K1 a zero operand, K2
// a huge quotient, K3 a denormal denominator, K4 a huge denominator, K5 a denormal
// quotient where none of the first three holds. K0 is what to scale up.
func (a *asm) divScaleUnit(o scaleOps, label string) {
	p := func(s string) { a.p("%s", strings.NewReplacer("#", o.d, "@", o.ps, "%w", o.width).Replace(s)) }
	p("VPAND# Z16, Z1, Z3; VPAND# Z16, Z2, Z4")
	a.p("VPSRL%s $%d, Z3, Z5; VPSRL%s $%d, Z4, Z6", o.d, o.man, o.d, o.man)
	p("VPSUB# Z5, Z6, Z7; VPTESTNM# Z3, Z3, K1; VPTESTNM# Z4, Z4, K2; KORW K2, K1, K1")
	// In most waves nothing is scaled.
	p("VPADD# Z28, Z7, Z8; VPCMPU# $6, Z29, Z8, K2; VPTESTNM# Z5, Z5, K3; KORW K3, K2, K2; VPCMPU# $6, Z18, Z3, K3; KORW K3, K2, K2")
	p("VPCMPU# $2, Z24, Z6, K3; KORW K3, K2, K2; KANDNW K2, K1, K2; VMOVDQA%w Z0, Z8; KORTESTW K2, K2; JEQ " + label)
	p("VPCMP# $5, Z22, Z7, K2; KANDNW K2, K1, K2; VPTESTNM# Z5, Z5, K3; KANDNW K3, K1, K3; KANDNW K3, K2, K3")
	p("VPCMPU# $6, Z18, Z3, K4; VPCMPU# $1, Z19, Z3, K4, K4; KANDNW K4, K1, K4")
	p("VPCMP# $2, Z23, Z7, K5; KANDNW K5, K1, K5; KANDNW K5, K3, K5; VPCMP# $0, Z1, Z0, K6; VPCMP# $0, Z2, Z0, K7")
	p("KANDW K2, K6, K0; KORW K3, K0, K0; KANDW K5, K7, K7; KANDNW K7, K4, K7; KORW K7, K0, K0")
	p("KORW K1, K2, K7; KORW K3, K7, K7; KORW K4, K7, K7; KORW K5, K7, K7; KNOTW K7, K7; VPCMPU# $2, Z24, Z6, K7, K7; KORW K7, K0, K7")
	p("VMUL@ Z20, Z0, K7, Z8")
	p("KNOTW K5, K0; KORW K0, K6, K6; KANDW K6, K4, K6; VMUL@ Z21, Z0, K6, Z8")
	p("KORW K6, K7, K7; VCMP@ $3, Z0, Z0, K7, K7; VPOR# Z15, Z0, K7, Z8")
	p("VMOVDQA%w Z17, K1, Z8; KORW K2, K1, K1; KORW K5, K1, K1; JMP " + label + "done")
	fmt.Fprintf(a, "\n%s:\n", label)
	p("VMOVDQA%w Z17, K1, Z8")
	fmt.Fprintf(a, "\n%sdone:\n", label)
}

func (a *asm) divScaleF32() {
	a.text("v_div_scale_f32", "vmDivScaleF32", 48)
	a.divScaleArgs(13, "VPBROADCASTD")
	for i, v := range []uint32{0x7FFFFFFF, 0xFFC00000, 0x7E800000, 0x7F800000, 0x5F800000, 0x1F800000, 96, 0xFFFFFF82, 23} {
		a.p("VPBROADCASTD %s, Z%d", a.d(v), 16+i)
	}
	a.p("VPBROADCASTD %s, Z28; VPBROADCASTD %s, Z29", a.d(125), a.d(125+95))
	for i := range 4 {
		a.p("VMOVDQU32 %d(SI), Z0; VMOVDQU32 %d(DX), Z1; VMOVDQU32 %d(CX), Z2", 64*i, 64*i, 64*i)
		a.divScaleUnit(scaleOps{"D", "PS", "32", 23}, fmt.Sprintf("plain%d", i))
		a.p("KMOVW K1, AX; SHLQ $%d, AX; ORQ AX, R10", 16*i)
		a.divScaleStore("Z8", i, 0)
	}
	a.p("ANDQ BX, R10; MOVQ R10, Env_CarryOut(R8)")
	a.ret()
}

func (a *asm) divScaleF64() {
	a.text("v_div_scale_f64", "vmDivScaleF64", 48)
	a.divScaleArgs(42, "VPBROADCASTQ")
	for i, v := range []uint64{1<<63 - 1, 0xFFF8 << 48, 2045 << 52, 0x7FF << 52, (1023 + 128) << 52, (1023 - 128) << 52, 768, 1<<64 - 1022, 53} {
		a.p("VPBROADCASTQ %s, Z%d", a.q(v), 16+i)
	}
	a.p("VPBROADCASTQ %s, Z28; VPBROADCASTQ %s, Z29", a.q(1021), a.q(1021+767))
	for i := range 4 {
		for n, reg := range []string{"SI", "DX", "CX"} {
			a.p("VMOVDQU32 %d(%s), Z12; VMOVDQU32 %d(%s), Z13", 64*i, reg, 64*i+256, reg)
			a.p("VPUNPCKLDQ Z13, Z12, Z%d; VPUNPCKHDQ Z13, Z12, Z%d", n, []int{10, 11, 14}[n])
		}
		for h := range 2 {
			if h == 1 {
				a.p("VMOVDQA64 Z8, Z9; VMOVDQA64 Z10, Z0; VMOVDQA64 Z11, Z1; VMOVDQA64 Z14, Z2")
			}
			a.divScaleUnit(scaleOps{"Q", "PD", "64", 52}, fmt.Sprintf("plain%d", 2*i+h))
			a.p("KMOVB K1, AX; SHLQ $%d, AX; ORQ AX, R1%d", 8*i, h)
		}
		a.p("VSHUFPS $0x88, Z8, Z9, Z0; VSHUFPS $0xDD, Z8, Z9, Z1")
		a.divScaleStore("Z0", i, 0)
		a.divScaleStore("Z1", i, 1)
	}
	// The halves are lanes 0, 1, 4, 5, … and 2, 3, 6, 7, ….
	a.p("MOVQ $0x3333333333333333, AX; PDEPQ AX, R10, R10; NOTQ AX; PDEPQ AX, R11, R11; ORQ R11, R10")
	a.p("ANDQ BX, R10; MOVQ R10, Env_CarryOut(R8)")
	a.ret()
}

func (a *asm) divScaleArgs(quiet int, broadcast string) {
	a.p("MOVQ d+0(FP), DI; MOVQ a+8(FP), SI; MOVQ b+16(FP), DX; MOVQ c+24(FP), CX; MOVQ exec+32(FP), BX; MOVQ e+40(FP), R8")
	a.p("MOVL Env_Mode(R8), AX; ANDL $0x200, AX; SHLQ $%d, AX; %s AX, Z15; XORL R10, R10; XORL R11, R11", quiet, broadcast)
}

// divScaleStore stores chunk i of row n under the mask in BX.
func (a *asm) divScaleStore(reg string, i, n int) {
	a.p("KMOVQ BX, K1")
	if i > 0 {
		a.p("KSHIFTRQ $%d, K1, K1", 16*i)
	}
	a.p("VMOVDQU32 %d(DI), Z13; VMOVDQA32 %s, K1, Z13; VMOVDQU32 Z13, %d(DI)", 64*i+256*n, reg, 64*i+256*n)
}
