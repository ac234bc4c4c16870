package main

import "fmt"

// The kernels of matrix instructions. Operands are first spread to vectors of
// 16 rows of A or columns of B at one k: quads of four vectors, k counting
// within the quad. A kernel then computes 16 rows by 16 columns over two quads,
// with B in registers and A broadcast from memory.
//
// The arithmetic is that of matrix_dot.go: dotTruncate (gfx940), dotFlush of f16
// (gfx90a), and the f32 chain.
func matrixFile(a *asm) {
	a.spread()
	a.spreadBF16()
	a.truncate(false)
	a.truncate(true)
	a.flush(false)
	a.flush(true)
	a.flushC()
	a.chain()
	a.chainF64()
	a.bytes()
}

// spreadVectors is the number of vectors of a spread operand; exponents follow
// the values.
const spreadVectors = 16

// halfVector loads vector n of an operand of two rows of f16 pairs as f32.
func (a *asm) halfVector(n, to int) {
	a.p("VMOVDQU32 %d(SI), Z%d", n/2%2*256+n/4*64, to)
	if n%2 == 1 {
		a.p("VPSRLD $16, Z%d, Z%d", to, to)
	}
	a.p("VPMOVDW Z%d, Y%d", to, to)
	a.p("VCVTPH2PS Y%d, Z%d", to, to)
}

func (a *asm) spread() {
	a.text("Values and exponents of f16 operands; whether one is infinite or NaN. Denormals have exponent -14, zeros -4096.", "vSpreadTruncate", 17)
	a.p("MOVQ dst+0(FP), DI")
	a.p("MOVQ src+8(FP), SI")
	a.broadcasts("0x7fffffff 0xfffffff2 0xfffff000 0x7f800000")
	a.p("VPXORD Z0, Z0, Z0")
	for n := range spreadVectors {
		a.halfVector(n, 1)
		a.p("VMOVDQU32 Z1, %d(DI)", 64*n)
		a.p("VPANDD Z22, Z1, Z2")
		a.p("VPMAXUD Z2, Z0, Z0")
		a.p("VGETEXPPS Z1, Z3")
		a.p("VCVTPS2DQ Z3, Z3")
		a.p("VPMAXSD Z23, Z3, Z3")
		a.p("VPTESTNMD Z2, Z2, K1")
		a.p("VMOVDQA32 Z24, K1, Z3")
		a.p("VMOVDQU32 Z3, %d(DI)", 64*(n+spreadVectors))
	}
	a.p("VPCMPUD $5, Z25, Z0, K1")
	a.p("KTESTW K1, K1")
	a.p("SETNE ret+16(FP)")
	a.ret()

	a.text("Values of f16 operands, denormals and zeros as +0.", "vSpreadFlush", 16)
	a.p("MOVQ dst+0(FP), DI")
	a.p("MOVQ src+8(FP), SI")
	a.broadcasts("0x7fffffff 0x38800000")
	for n := range spreadVectors {
		a.halfVector(n, 1)
		a.p("VPANDD Z22, Z1, Z2")
		a.p("VPCMPUD $5, Z23, Z2, K1")
		a.p("VMOVDQA32.Z Z1, K1, Z1")
		a.p("VMOVDQU32 Z1, %d(DI)", 64*n)
	}
	a.ret()
}

// bf16Vector loads vector n of an operand of two rows of bf16 pairs as f32.
func (a *asm) bf16Vector(n, to int) {
	a.p("VMOVDQU32 %d(SI), Z%d", n/2%2*256+n/4*64, to)
	if n%2 == 0 {
		a.p("VPSLLD $16, Z%d, Z%d", to, to)
	} else {
		a.p("VPANDD.BCST %s, Z%d, Z%d", a.mem(0xFFFF0000), to, to)
	}
}

func (a *asm) spreadBF16() {
	a.text("Significands and exponents of bf16 operands; whether one is infinite or NaN. Denormals have exponent -126, zeros -4096.", "vSpreadTruncateBF16", 17)
	a.p("MOVQ dst+0(FP), DI")
	a.p("MOVQ src+8(FP), SI")
	a.broadcasts("0x7fffffff 0xffffff82 0xfffff000 0x7f800000")
	a.p("VPXORD Z0, Z0, Z0")
	a.p("VPXORD Z5, Z5, Z5")
	for n := range spreadVectors {
		a.bf16Vector(n, 1)
		a.p("VPANDD Z22, Z1, Z2")
		a.p("VPMAXUD Z2, Z0, Z0")
		a.p("VGETEXPPS Z1, Z3")
		a.p("VCVTPS2DQ Z3, Z3")
		a.p("VPMAXSD Z23, Z3, Z3")
		a.p("VPTESTNMD Z2, Z2, K1")
		a.p("VMOVDQA32 Z24, K1, Z3")
		a.p("VMOVDQU32 Z3, %d(DI)", 64*(n+spreadVectors))
		a.p("VPSUBD Z3, Z5, Z3")
		a.p("VCVTDQ2PS Z3, Z3")
		a.p("VSCALEFPS Z3, Z1, Z1")
		a.p("VMOVDQU32 Z1, %d(DI)", 64*n)
	}
	a.p("VPCMPUD $5, Z25, Z0, K1")
	a.p("KTESTW K1, K1")
	a.p("SETNE ret+16(FP)")
	a.ret()

	a.text("Values of bf16 operands, denormals and zeros as +0.", "vSpreadFlushBF16", 16)
	a.p("MOVQ dst+0(FP), DI")
	a.p("MOVQ src+8(FP), SI")
	a.broadcasts("0x7f800000")
	for n := range spreadVectors {
		a.bf16Vector(n, 1)
		a.p("VPTESTMD Z22, Z1, K1")
		a.p("VMOVDQA32.Z Z1, K1, Z1")
		a.p("VMOVDQU32 Z1, %d(DI)", 64*n)
	}
	a.ret()
}

// mem is a dword constant in memory.
func (a *asm) mem(v uint32) string {
	return a.constant(fmt.Sprintf("vd%08x", v), dwords(v)) + "(SB)"
}

// rows begins a loop over 16 rows: R10 becomes the address of the row's columns
// of C, SI and DX advance through A's two quads.
func (a *asm) rows() {
	a.p("MOVQ $16, CX")
	a.WriteString("\nrow:\n")
	a.p("MOVLQSX (R8), R10")
	a.p("ADDQ DI, R10")
}

func (a *asm) nextRow() {
	a.p("ADDQ $4, SI")
	a.p("ADDQ $4, DX")
	a.p("ADDQ $4, R8")
	a.p("DECQ CX")
	a.p("JNZ row")
}

func (a *asm) matrixArgs() {
	a.p("MOVQ c+0(FP), DI")
	a.p("MOVQ offsets+8(FP), R8")
	a.p("MOVQ a+16(FP), SI")
	a.p("MOVQ b+24(FP), R9")
	a.p("MOVQ stride+32(FP), AX")
	a.p("LEAQ (SI)(AX*1), DX")
	a.p("LEAQ (R9)(AX*1), R11")
}

// at is the address of vector k of eight in two quads.
func at(quad0, quad1 string, k, off int) string {
	if k < 4 {
		return fmt.Sprintf("%d(%s)", 64*k+off, quad0)
	}
	return fmt.Sprintf("%d(%s)", 64*(k-4)+off, quad1)
}

// truncate is roundSum(truncatedSum) of eight products. Exponents are biased by
// 127. Products are cut at 24 bits below the highest exponent by the conversion
// to integers.
//
// Products of f16 share one scale. The range of bf16 is that of f32, so each of
// its products is one of significands with a scale of its own; exponents from
// 2^127 up are left to the caller like special values.
func (a *asm) truncate(bf16 bool) {
	if bf16 {
		a.text("Adds eight products to 16 rows and columns of C; whether it met what it does not handle.", "vTruncate8BF16", 41)
	} else {
		a.text("Adds eight products to 16 rows and columns of C; whether it met what it does not handle.", "vTruncate8", 41)
	}
	const exps = 64 * spreadVectors
	a.matrixArgs()
	for k := range 8 {
		a.p("VMOVDQU32 %s, Z%d", at("R9", "R11", k, 0), 16+k)
		a.p("VMOVDQU32 %s, Z%d", at("R9", "R11", k, exps), 24+k)
	}
	a.p("MOVL $127, AX")
	a.p("VPBROADCASTD AX, Z0")
	for k := range 8 {
		a.p("VPADDD Z0, Z%d, Z%d", 24+k, 24+k)
	}
	a.p("KXORW K7, K7, K7")
	a.rows()
	if bf16 {
		a.productsBF16(exps)
	} else {
		a.productsF16(exps)
	}
	for n := 4; n > 0; n /= 2 {
		for k := range n {
			a.p("VPADDD Z%d, Z%d, Z%d", 3+k+n, 3+k, 3+k)
		}
	}
	a.roundSum()
	a.nextRow()
	a.p("KTESTW K7, K7")
	a.p("SETNE ret+40(FP)")
	a.ret()
}

// roundSum is the function of that name for the sum in Z3, its exponent in Z0 and
// C at R10.
//
// The sum of 38 bits is kept as A, all but its 8 lowest bits, and B, those. Of its
// 32 highest bits the lowest goes into the one above it, which then tells like it
// that something is left below; so they fit a dword, and the conversion to f32
// rounds as it should. Where a result that is not zero might be denormal, which
// would round again, the kernel gives up.
func (a *asm) roundSum() {
	// Z5: exponent of C. Z6: twice its significand.
	a.p("VMOVDQU32 (R10), Z4")
	a.p("VPADDD Z4, Z4, Z6")
	a.p("VPSRLD $24, Z6, Z5")
	a.p("VPCMPEQD.BCST %s, Z5, K1", a.mem(255))
	a.p("KORW K1, K7, K7")
	a.p("VPTESTMD Z5, Z5, K1")
	a.p("VPMOVD2M Z4, K2")
	a.p("VPANDD.BCST %s, Z6, Z6", a.mem(0xFFFFFE))
	a.p("VPORD.BCST %s, Z6, K1, Z6", a.mem(1<<24))
	a.p("VPXORD Z7, Z7, Z7")
	a.p("VPSUBD Z6, Z7, K2, Z6")
	a.p("VPMAXUD.BCST %s, Z5, Z5", a.mem(1))
	// Z8: the higher exponent; Z0, Z5: distances from it.
	a.p("VPMAXSD Z5, Z0, Z8")
	a.p("VPSUBD Z0, Z8, Z0")
	a.p("VPSUBD Z5, Z8, Z5")
	// Z9: A.
	a.p("VPSRAVD Z5, Z6, Z6")
	a.p("VPSRAVD Z0, Z3, Z9")
	a.p("VPADDD Z6, Z9, Z9")
	// Z3: twice B, the bits of the sum between the units of A and 1/256.
	a.p("VPBROADCASTD %s, Z10", a.mem(8))
	a.p("VPSUBD Z0, Z10, Z11")
	a.p("VPMAXSD Z7, Z11, Z12")
	a.p("VPSUBD Z11, Z12, Z11")
	a.p("VPSLLVD Z12, Z3, Z3")
	a.p("VPSRAVD Z11, Z3, Z3")
	a.p("VPADDD Z3, Z3, Z3")
	a.p("VPANDD.BCST %s, Z3, Z3", a.mem(255*2))
	// Z13: how many bits to drop.
	a.p("VPSRAD $31, Z9, Z11")
	a.p("VPXORD Z11, Z9, Z11")
	a.p("VPLZCNTD Z11, Z11")
	a.p("VPBROADCASTD %s, Z12", a.mem(9))
	a.p("VPSUBD Z11, Z12, Z13")
	a.p("VPMAXSD Z7, Z13, Z13")
	// Z9: what is left.
	a.p("VPSUBD Z13, Z10, Z10")
	a.p("VPSLLVD Z10, Z9, Z9")
	a.p("VPSRLVD Z13, Z3, Z3")
	a.p("VPSRLD $1, Z3, Z11")
	a.p("VPORD Z11, Z9, Z9")
	a.p("VPTERNLOGD.BCST $0xF8, %s, Z3, Z9", a.mem(1))
	a.p("VPTESTMD Z9, Z9, K1")
	a.p("VPCMPUD.BCST $1, %s, Z8, K1, K1", a.mem(64))
	a.p("KORW K1, K7, K7")
	// Z8: its power of two.
	a.p("VPADDD Z13, Z8, Z8")
	a.p("VPSUBD.BCST %s, Z8, Z8", a.mem(32))
	a.p("VPMAXSD.BCST %s, Z8, Z8", a.mem(1))
	a.p("VPSLLD $23, Z8, Z8")
	a.p("VCVTDQ2PS Z9, Z9")
	a.p("VMULPS Z8, Z9, Z9")
	a.p("VMOVDQU32 Z9, (R10)")
}

// productsF16 leaves the cut products in Z3 to Z10 and the highest exponent in Z0.
func (a *asm) productsF16(exps int) {
	// Z0: highest exponent.
	a.p("VPADDD.BCST %s, Z24, Z0", at("SI", "DX", 0, exps))
	a.p("VPADDD.BCST %s, Z25, Z1", at("SI", "DX", 1, exps))
	for k := 2; k < 8; k++ {
		a.p("VPADDD.BCST %s, Z%d, Z2", at("SI", "DX", k, exps), 24+k)
		a.p("VPMAXSD Z2, Z%d, Z%d", k&1, k&1)
	}
	a.p("VPMAXSD Z1, Z0, Z0")
	// Z1: 2^(24-e); any that is finite where all products are zero.
	a.p("VPMAXSD.BCST %s, Z0, Z1", a.mem(64))
	a.p("VPBROADCASTD %s, Z2", a.mem(278))
	a.p("VPSUBD Z1, Z2, Z1")
	a.p("VPSLLD $23, Z1, Z1")
	for k := range 8 {
		t := 3 + k
		a.p("VMULPS.BCST %s, Z%d, Z%d", at("SI", "DX", k, 0), 16+k, t)
		a.p("VMULPS Z1, Z%d, Z%d", t, t)
		a.p("VCVTTPS2DQ Z%d, Z%d", t, t)
	}
}

func (a *asm) productsBF16(exps int) {
	for k := range 8 {
		a.p("VPADDD.BCST %s, Z%d, Z%d", at("SI", "DX", k, exps), 24+k, 3+k)
	}
	a.p("VPMAXSD Z4, Z3, Z0")
	a.p("VPMAXSD Z6, Z5, Z1")
	for k := 4; k < 8; k++ {
		a.p("VPMAXSD Z%d, Z%d, Z%d", 3+k, k&1, k&1)
	}
	a.p("VPMAXSD Z1, Z0, Z0")
	a.p("VPCMPD.BCST $5, %s, Z0, K1", a.mem(254))
	a.p("KORW K1, K7, K7")
	// The scale of a product is 2^(24-e+its exponent), or a tiny one.
	a.p("VPSUBD.BCST %s, Z0, Z1", a.mem(151))
	a.p("VPBROADCASTD %s, Z11", a.mem(64))
	for k := range 8 {
		t := 3 + k
		a.p("VPSUBD Z1, Z%d, Z%d", t, t)
		a.p("VPMAXSD Z11, Z%d, Z%d", t, t)
		a.p("VPSLLD $23, Z%d, Z%d", t, t)
		a.p("VMULPS Z%d, Z%d, Z%d", 16+k, t, t)
		a.p("VMULPS.BCST %s, Z%d, Z%d", at("SI", "DX", k, 0), t, t)
		a.p("VCVTTPS2DQ Z%d, Z%d", t, t)
	}
}

// flush is dotFlush. Sums of products of normal f16 cannot be denormal, those of
// bf16 are flushed at each step; its C must have been flushed first.
func (a *asm) flush(bf16 bool) {
	if bf16 {
		a.text("Adds two sums of four products to 16 rows and columns of C.", "vFlush4BF16", 40)
	} else {
		a.text("Adds two sums of four products to 16 rows and columns of C, denormals of C taken as +0.", "vFlush4", 40)
	}
	a.matrixArgs()
	for k := range 8 {
		a.p("VMOVDQU32 %s, Z%d", at("R9", "R11", k, 0), 16+k)
	}
	a.broadcastTo(24, 0x7F800000)
	a.broadcastTo(25, 0xFFC00000)
	a.broadcastTo(26, 0x80000000)
	result := func(r int) {
		if bf16 {
			a.p("VPTESTNMD Z24, Z%d, K1", r)
			a.p("VPANDD Z26, Z%d, K1, Z%d", r, r)
		}
	}
	add := func(x, y int) {
		a.p("VADDPS Z%d, Z%d, Z%d", y, x, x)
		result(x)
	}
	a.rows()
	a.p("VMOVDQU32 (R10), Z0")
	if !bf16 {
		a.p("VPTESTMD Z24, Z0, K1")
		a.p("VMOVDQA32.Z Z0, K1, Z0")
	}
	for q := 0; q < 8; q += 4 {
		for k := q; k < q+4; k++ {
			a.p("VMULPS.BCST %s, Z%d, Z%d", at("SI", "DX", k, 0), 16+k, 1+k)
			result(1 + k)
		}
		add(1+q, 2+q)
		add(3+q, 4+q)
		add(1+q, 3+q)
		add(0, 1+q)
	}
	a.p("VCMPPS $3, Z0, Z0, K1")
	a.p("VMOVDQA32 Z25, K1, Z0")
	a.p("VMOVDQU32 Z0, (R10)")
	a.nextRow()
	a.ret()
}

func (a *asm) flushC() {
	a.text("Copies n rows of C, denormals and zeros as +0.", "vFlushC", 24)
	a.p("MOVQ dst+0(FP), DI")
	a.p("MOVQ src+8(FP), SI")
	a.p("MOVQ n+16(FP), CX")
	a.broadcastTo(24, 0x7F800000)
	a.WriteString("\nrow:\n")
	for i := range 4 {
		a.p("VMOVDQU32 %d(SI), Z0", 64*i)
		a.p("VPTESTMD Z24, Z0, K1")
		a.p("VMOVDQA32.Z Z0, K1, Z0")
		a.p("VMOVDQU32 Z0, %d(DI)", 64*i)
	}
	a.p("ADDQ $256, SI")
	a.p("ADDQ $256, DI")
	a.p("DECQ CX")
	a.p("JNZ row")
	a.ret()
}

func (a *asm) broadcastTo(reg int, v uint32) {
	a.p("VPBROADCASTD %s, Z%d", a.mem(v), reg)
}

// chain handles up to four k with 16 rows of columns each.
func (a *asm) chain() {
	for _, n := range []int{2, 4} {
		a.text(fmt.Sprintf("Chains %d fused multiply-adds into 16 rows and columns of C; whether a result is NaN.", n), fmt.Sprintf("vChain%d", n), 41)
		a.p("MOVQ c+0(FP), DI")
		a.p("MOVQ offsets+8(FP), R8")
		a.p("MOVQ a+16(FP), SI")
		a.p("MOVQ b+24(FP), R9")
		a.p("MOVQ stride+32(FP), DX")
		a.p("LEAQ (DX)(DX*2), R12")
		for k := range n {
			a.p("VMOVDQU32 %s, Z%d", chainAt("R9", k), 16+k)
		}
		a.p("KXORW K7, K7, K7")
		a.p("MOVQ $16, CX")
		a.WriteString("\nrow:\n")
		a.p("MOVLQSX (R8), R10")
		a.p("ADDQ DI, R10")
		a.p("VMOVDQU32 (R10), Z0")
		for k := range n {
			a.p("VFMADD231PS.BCST %s, Z%d, Z0", chainAt("SI", k), 16+k)
		}
		a.p("VCMPPS $3, Z0, Z0, K1")
		a.p("KORW K1, K7, K7")
		a.p("VMOVDQU32 Z0, (R10)")
		a.p("ADDQ $4, SI")
		a.p("ADDQ $4, R8")
		a.p("DECQ CX")
		a.p("JNZ row")
		a.p("KTESTW K7, K7")
		a.p("SETNE ret+40(FP)")
		a.ret()
	}
}

// chainAt is the address of k with stride DX, thrice that in R12.
func chainAt(base string, k int) string {
	return []string{"(" + base + ")", "(" + base + ")(DX*1)", "(" + base + ")(DX*2)", "(" + base + ")(R12*1)"}[k]
}
