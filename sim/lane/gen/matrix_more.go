package main

// chainF64 is the f64 chain of 16x16x4. Qwords of B and C are in the order that
// unpacking leaves, those of A in lane order.
func (a *asm) chainF64() {
	a.text("Qwords of 64 lanes.", "vSpreadF64", 16)
	a.p("MOVQ dst+0(FP), DI")
	a.p("MOVQ src+8(FP), SI")
	a.p("VMOVDQU32 %s(SB), Z1", a.constant("interleaveLo", tables["interleaveLo"]))
	a.p("VMOVDQU32 %s(SB), Z2", a.constant("interleaveHi", tables["interleaveHi"]))
	for i := range 4 {
		a.p("VMOVDQU32 %d(SI), Z3", 64*i)
		a.p("VMOVDQU32 %d(SI), Z4", 64*i+256)
		for h := range 2 {
			a.p("VMOVDQA32 Z%d, Z5", 1+h)
			a.p("VPERMI2D Z4, Z3, Z5")
			a.p("VMOVDQU64 Z5, %d(DI)", 128*i+64*h)
		}
	}
	a.ret()

	a.text("Chains four fused multiply-adds into 16 rows and columns of C; whether a result is NaN.", "vChainF64", 33)
	a.p("MOVQ c+0(FP), DI")
	a.p("MOVQ offsets+8(FP), R8")
	a.p("MOVQ a+16(FP), SI")
	a.p("MOVQ b+24(FP), R9")
	for k := range 4 {
		a.p("VMOVDQU32 %d(R9), Z0", 64*k)
		a.p("VMOVDQU32 %d(R9), Z1", 64*k+256)
		a.p("VPUNPCKLDQ Z1, Z0, Z%d", 16+2*k)
		a.p("VPUNPCKHDQ Z1, Z0, Z%d", 17+2*k)
	}
	a.p("KXORW K7, K7, K7")
	a.rows()
	a.p("VMOVDQU32 (R10), Z0")
	a.p("VMOVDQU32 256(R10), Z1")
	a.p("VPUNPCKLDQ Z1, Z0, Z2")
	a.p("VPUNPCKHDQ Z1, Z0, Z3")
	for k := range 4 {
		for h := range 2 {
			a.p("VFMADD231PD.BCST %d(SI), Z%d, Z%d", 128*k, 16+2*k+h, 2+h)
		}
	}
	for h := range 2 {
		a.p("VCMPPD $3, Z%d, Z%d, K1", 2+h, 2+h)
		a.p("KORW K1, K7, K7")
	}
	a.p("VSHUFPS $0x88, Z3, Z2, Z0")
	a.p("VSHUFPS $0xDD, Z3, Z2, Z1")
	a.p("VMOVDQU32 Z0, (R10)")
	a.p("VMOVDQU32 Z1, 256(R10)")
	a.p("ADDQ $8, SI")
	a.p("ADDQ $4, R8")
	a.p("DECQ CX")
	a.p("JNZ row")
	a.p("KTESTW K7, K7")
	a.p("SETNE ret+32(FP)")
	a.ret()
}

// bytes are the i8 products: a dword of A and of B holds four consecutive k, whose
// even and odd bytes are spread to words.
func (a *asm) bytes() {
	const odd = 8 * 64
	a.text("Even and odd bytes of two rows as words, by 16 lanes, then row.", "vSpreadI8", 16)
	a.p("MOVQ dst+0(FP), DI")
	a.p("MOVQ src+8(FP), SI")
	for n := range 8 {
		a.p("VMOVDQU32 %d(SI), Z0", n/2*64+n%2*256)
		a.p("VPSRAW $8, Z0, Z1")
		a.p("VPSLLW $8, Z0, Z0")
		a.p("VPSRAW $8, Z0, Z0")
		a.p("VMOVDQU32 Z0, %d(DI)", 64*n)
		a.p("VMOVDQU32 Z1, %d(DI)", 64*n+odd)
	}
	a.ret()

	a.text("Adds 16 products to 16 rows and columns of C.", "vProductsI8", 40)
	a.matrixArgs()
	for w := range 4 {
		base := []string{"R9", "R9", "R11", "R11"}[w]
		a.p("VMOVDQU32 %d(%s), Z%d", w%2*64, base, 16+w)
		a.p("VMOVDQU32 %d(%s), Z%d", w%2*64+odd, base, 20+w)
	}
	a.rows()
	for w := range 4 {
		base := []string{"SI", "SI", "DX", "DX"}[w]
		a.p("VPBROADCASTD %d(%s), Z%d", w%2*64, base, 2*w)
		a.p("VPBROADCASTD %d(%s), Z%d", w%2*64+odd, base, 2*w+1)
		a.p("VPMADDWD Z%d, Z%d, Z%d", 16+w, 2*w, 2*w)
		a.p("VPMADDWD Z%d, Z%d, Z%d", 20+w, 2*w+1, 2*w+1)
	}
	for n := 4; n > 0; n /= 2 {
		for i := range n {
			a.p("VPADDD Z%d, Z%d, Z%d", i+n, i, i)
		}
	}
	a.p("VPADDD (R10), Z0, Z0")
	a.p("VMOVDQU32 Z0, (R10)")
	a.nextRow()
	a.ret()
}
