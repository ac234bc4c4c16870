package main

// rows writes the functions around kernels; their Go declarations are in
// vmath_amd64.go.
func (a *asm) rows() {
	a.permute()
	a.mergeRow()
	a.deposit()
	a.clamp()
	a.omod()
}

// masks puts the quarters of a mask argument into K1 to K4.
func (a *asm) masks(arg string) {
	a.p("KMOVQ %s, K1; KSHIFTRQ $16, K1, K2; KSHIFTRQ $32, K1, K3; KSHIFTRQ $48, K1, K4", arg)
}

// merged stores the vector of chunk i under its mask. A full store, unlike a
// masked one, forwards to a load that follows.
func (a *asm) merged(reg string, i int) {
	a.p("VMOVDQU32 %d(DI), Z13; VMOVDQA32 %s, K%d, Z13; VMOVDQU32 Z13, %d(DI)", 64*i, reg, 1+i, 64*i)
}

func (a *asm) permute() {
	a.text("d[l] = src[idx[l]] in the lanes of exec; other lanes of src read as 0.", "vPermuteBytes", 32)
	a.p("MOVQ d+0(FP), DI; MOVQ src+8(FP), SI; MOVQ idx+16(FP), DX; VPBROADCASTD %s, Z16", a.d(32))
	a.masks("exec+24(FP)")
	for i := range 4 {
		a.p("VMOVDQU32.Z %d(SI), K%d, Z%d", 64*i, 1+i, i)
	}
	for i := range 4 {
		a.p("VPMOVZXBD %d(DX), Z4; VPTESTMD Z16, Z4, K5", 16*i)
		a.p("VMOVDQA32 Z4, Z5; VPERMI2D Z1, Z0, Z4; VPERMI2D Z3, Z2, Z5; VMOVDQA32 Z5, K5, Z4")
		a.merged("Z4", i)
	}
	a.ret()
}

func (a *asm) mergeRow() {
	a.text("d = r in the lanes of exec.", "vMerge", 24)
	a.p("MOVQ d+0(FP), DI; MOVQ r+8(FP), SI")
	a.masks("exec+16(FP)")
	for i := range 4 {
		a.p("VMOVDQU32 %d(SI), Z0", 64*i)
		a.merged("Z0", i)
	}
	a.ret()
}

func (a *asm) deposit() {
	a.text("d = d&keep | (r<<up>>up<<shift)&take in the lanes of exec; the shift right is signed.", "vDeposit", 40)
	a.p("MOVQ d+0(FP), DI; MOVQ r+8(FP), SI; MOVL up+24(FP), AX; VMOVD AX, X1; MOVL shift+28(FP), AX; VMOVD AX, X2")
	a.p("MOVL keep+32(FP), AX; VPBROADCASTD AX, Z3; MOVL take+36(FP), AX; VPBROADCASTD AX, Z4")
	a.masks("exec+16(FP)")
	for i := range 4 {
		a.p("VMOVDQU32 %d(SI), Z0; VPSLLD X1, Z0, Z0; VPSRAD X1, Z0, Z0; VPSLLD X2, Z0, Z0; VPANDD Z4, Z0, Z0", 64*i)
		a.p("VMOVDQU32 %d(DI), Z5; VPTERNLOGD $0xEA, Z0, Z3, Z5", 64*i) // d&keep | r
		a.merged("Z5", i)
	}
	a.ret()
}

func (a *asm) clamp() {
	a.text("Clamps floats with the sign bit above abs to 0 and one, in the lanes of exec; the bits above the sign are dropped.", "vClamp", 29)
	a.p("MOVQ d+0(FP), DI")
	for i, n := range []string{"abs+16(FP)", "one+20(FP)", "inf+24(FP)"} {
		a.p("MOVL %s, AX; VPBROADCASTD AX, Z%d", n, 16+i)
	}
	a.p("VPADDD.BCST %s, Z16, Z19; VPORD Z16, Z19, Z20", a.d(1)) // the sign; all bits
	// NaNs become the float itself or 0: keep is all ones or zero.
	a.p("MOVBLZX nanToZero+28(FP), AX; DECL AX; VPBROADCASTD AX, Z21")
	a.masks("exec+8(FP)")
	for i := range 4 {
		a.p("VPANDD %d(DI), Z20, Z0; VPMINUD Z17, Z0, Z1", 64*i)
		a.p("VPCMPUD $5, Z19, Z0, K5; VPXORD Z1, Z1, K5, Z1; VPCMPEQD Z19, Z0, K5; VMOVDQA32 Z0, K5, Z1") // below 0; -0
		a.p("VPANDD Z16, Z0, Z2; VPCMPUD $6, Z18, Z2, K5; VPANDD Z21, Z0, K5, Z1")
		a.merged("Z1", i)
	}
	a.ret()
}

func (a *asm) omod() {
	a.text("Multiplies f32 by a power of two in the lanes of exec, nearest even; magnitudes below least become +0.", "vOMod", 24)
	a.p("MOVQ d+0(FP), DI; MOVL factor+16(FP), AX; VPBROADCASTD AX, Z16; MOVL least+20(FP), AX; VPBROADCASTD AX, Z17")
	a.p("VPBROADCASTD %s, Z18", a.d(0x7FFFFFFF))
	a.masks("exec+8(FP)")
	for i := range 4 {
		a.p("VMOVDQU32 %d(DI), Z0; VMULPS Z16, Z0, Z1", 64*i)
		a.p("VPANDD Z18, Z0, Z2; VPCMPUD $5, Z17, Z2, K5; VMOVDQA32.Z Z1, K5, Z1")
		a.p("VCMPPS $3, Z0, Z0, K5; VMOVDQA32 Z0, K5, Z1")
		a.merged("Z1", i)
	}
	a.ret()
}
