package main

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
