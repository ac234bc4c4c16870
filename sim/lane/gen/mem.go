package main

import "fmt"

// memFile writes the helpers of memory instructions: addresses, tests on
// addresses, and the exchange between lanes' consecutive dwords and rows.
func memFile(a *asm) {
	a.splat()
	a.addresses()
	a.tests()
	for n := 2; n <= 4; n++ {
		a.deinterleave(n)
		a.interleave(n)
	}
	a.signBits()
	a.permute64()
}

func (a *asm) text(doc, name string, args int) {
	fmt.Fprintf(a, "\n// %s\nTEXT ·%s(SB), NOSPLIT, $0-%d\n", doc, name, args)
}

func (a *asm) ret() {
	a.p("VZEROUPPER")
	a.p("RET")
}

func (a *asm) splat() {
	a.text("All lanes of dst become v.", "vSplat", 12)
	a.p("MOVQ dst+0(FP), DI")
	a.p("MOVL v+8(FP), AX")
	a.p("VPBROADCASTD AX, Z0")
	for i := range 4 {
		a.p("VMOVDQU32 Z0, %d(DI)", 64*i)
	}
	a.ret()
}

func (a *asm) addresses() {
	a.text("dst[l] = hi[l]<<32 + lo[l] + off.", "vAddresses", 32)
	a.p("MOVQ dst+0(FP), DI")
	a.p("MOVQ lo+8(FP), SI")
	a.p("MOVQ hi+16(FP), DX")
	a.p("VPBROADCASTQ off+24(FP), Z0")
	a.p("VMOVDQU32 %s(SB), Z1", a.constant("interleaveLo", tables["interleaveLo"]))
	a.p("VMOVDQU32 %s(SB), Z2", a.constant("interleaveHi", tables["interleaveHi"]))
	for i := range 4 {
		a.p("VMOVDQU32 %d(SI), Z3", 64*i)
		a.p("VMOVDQU32 %d(DX), Z4", 64*i)
		for h := range 2 {
			a.p("VMOVDQA32 Z%d, Z5", 1+h)
			a.p("VPERMI2D Z4, Z3, Z5")
			a.p("VPADDQ Z0, Z5, Z5")
			a.p("VMOVDQU64 Z5, %d(DI)", 128*i+64*h)
		}
	}
	a.ret()

	a.text("dst[l] = base + off[l].", "vAddressesOffset", 24)
	a.p("MOVQ dst+0(FP), DI")
	a.p("VPBROADCASTQ base+8(FP), Z0")
	a.p("MOVQ off+16(FP), SI")
	for i := range 8 {
		a.p("VPMOVZXDQ %d(SI), Z1", 32*i)
		a.p("VPADDQ Z0, Z1, Z1")
		a.p("VMOVDQU64 Z1, %d(DI)", 64*i)
	}
	a.ret()
}

func (a *asm) tests() {
	t := tables
	a.text("Whether a[l] = a[0] + l*stride.", "vConsecutive", 17)
	a.p("MOVQ a+0(FP), SI")
	a.p("VPBROADCASTQ stride+8(FP), Z0")
	a.p("VPBROADCASTQ (SI), Z1")
	a.p("VPMULLQ %s(SB), Z0, Z2", a.constant("countQ", t["countQ"]))
	a.p("VPADDQ Z2, Z1, Z1")
	a.p("VPSLLQ $3, Z0, Z0")
	a.p("VPXORQ Z3, Z3, Z3")
	for i := range 8 {
		a.p("VPXORQ %d(SI), Z1, Z2", 64*i)
		a.p("VPORQ Z2, Z3, Z3")
		a.p("VPADDQ Z0, Z1, Z1")
	}
	a.p("VPTESTMQ Z3, Z3, K1")
	a.p("KTESTW K1, K1")
	a.p("SETEQ ret+16(FP)")
	a.ret()

	a.text("The same of dwords, modulo 2^32.", "vConsecutive32", 17)
	a.p("MOVQ a+0(FP), SI")
	a.p("MOVL stride+8(FP), AX")
	a.p("VPBROADCASTD AX, Z0")
	a.p("VPBROADCASTD (SI), Z1")
	a.p("VPMULLD %s(SB), Z0, Z2", a.constant("countD", t["countD"]))
	a.p("VPADDD Z2, Z1, Z1")
	a.p("VPSLLD $4, Z0, Z0")
	a.p("VPXORD Z3, Z3, Z3")
	for i := range 4 {
		a.p("VPXORD %d(SI), Z1, Z2", 64*i)
		a.p("VPORD Z2, Z3, Z3")
		a.p("VPADDD Z0, Z1, Z1")
	}
	a.p("VPTESTMD Z3, Z3, K1")
	a.p("KTESTW K1, K1")
	a.p("SETEQ ret+16(FP)")
	a.ret()

	a.text("Whether a[l]-base <= room in the lanes of exec.", "vAllWithin", 33)
	a.p("MOVQ a+0(FP), SI")
	a.p("KMOVQ exec+8(FP), K1")
	a.p("VPBROADCASTQ base+16(FP), Z0")
	a.p("VPXORQ Z2, Z2, Z2")
	for i := range 8 {
		a.p("VMOVDQU64 %d(SI), Z1", 64*i)
		a.p("VPSUBQ.Z Z0, Z1, K1, Z1")
		a.p("VPMAXUQ Z1, Z2, Z2")
		if i < 7 {
			a.p("KSHIFTRQ $8, K1, K1")
		}
	}
	a.p("VPCMPUQ.BCST $6, room+24(FP), Z2, K1")
	a.p("KTESTW K1, K1")
	a.p("SETEQ ret+32(FP)")
	a.ret()

	a.text("Whether a[l]+off <= room, modulo 2^32, in the lanes of exec.", "vAllWithin32", 25)
	a.p("MOVQ a+0(FP), SI")
	a.p("KMOVQ exec+8(FP), K1")
	a.p("MOVL off+16(FP), AX")
	a.p("VPBROADCASTD AX, Z0")
	a.p("VPXORD Z2, Z2, Z2")
	for i := range 4 {
		a.p("VMOVDQU32 %d(SI), Z1", 64*i)
		a.p("VPADDD.Z Z0, Z1, K1, Z1")
		a.p("VPMAXUD Z1, Z2, Z2")
		if i < 3 {
			a.p("KSHIFTRQ $16, K1, K1")
		}
	}
	a.p("MOVL room+20(FP), AX")
	a.p("VPBROADCASTD AX, Z1")
	a.p("VPCMPUD $6, Z1, Z2, K1")
	a.p("KTESTW K1, K1")
	a.p("SETEQ ret+24(FP)")
	a.ret()
}

// permutation picks each dword of a vector from up to four vectors.
type permutation struct {
	first, second int // registers of the indices into sources 0, 1 and 2, 3
	mask          int // of the dwords from sources 2 and 3
}

// preparePermutations loads the indices of out(i), (source, dword), for each of
// n outputs.
func (a *asm) preparePermutations(name string, n int, out func(k, i int) (src, dw int)) []permutation {
	ps := make([]permutation, n)
	for k := range ps {
		var idx [2][16]uint32
		mask := 0
		for i := range 16 {
			src, dw := out(k, i)
			idx[src/2][i] = uint32(src%2*16 + dw)
			mask |= src / 2 << i
		}
		ps[k] = permutation{16 + 2*k, 17 + 2*k, 1 + k}
		a.p("VMOVDQU32 %s(SB), Z%d", a.constant(fmt.Sprintf("%s%da", name, k), dwords(idx[0][:]...)), ps[k].first)
		if n > 2 {
			a.p("VMOVDQU32 %s(SB), Z%d", a.constant(fmt.Sprintf("%s%db", name, k), dwords(idx[1][:]...)), ps[k].second)
			a.p("MOVL $%#x, AX", mask)
			a.p("KMOVW AX, K%d", ps[k].mask)
		}
	}
	return ps
}

// permute makes one output of sources Z0 to Z(n-1) in register to.
func (a *asm) permute(p permutation, n, to int) {
	a.p("VMOVDQA32 Z%d, Z%d", p.first, to)
	a.p("VPERMI2D Z1, Z0, Z%d", to)
	switch n {
	case 3:
		a.p("VPERMD Z2, Z%d, K%d, Z%d", p.second, p.mask, to)
	case 4:
		a.p("VMOVDQA32 Z%d, Z15", p.second)
		a.p("VPERMI2D Z3, Z2, Z15")
		a.p("VMOVDQA32 Z15, K%d, Z%d", p.mask, to)
	}
}

func (a *asm) deinterleave(n int) {
	a.text(fmt.Sprintf("d[k][l] = src[%d*l+k] in the lanes of exec.", n), fmt.Sprintf("vDeinterleave%d", n), 24)
	a.p("MOVQ d+0(FP), DI")
	a.p("MOVQ src+8(FP), SI")
	a.p("MOVQ exec+16(FP), BX")
	ps := a.preparePermutations(fmt.Sprintf("deinterleave%d", n), n, func(k, i int) (src, dw int) { return (n*i + k) / 16, (n*i + k) % 16 })
	for c := range 4 {
		a.p("KMOVW BX, K5")
		a.p("SHRQ $16, BX")
		for k := range n {
			a.p("VMOVDQU32 %d(SI), Z%d", 64*(n*c+k), k)
		}
		for k := range n {
			a.permute(ps[k], n, 14)
			a.p("VMOVDQU32 %d(DI), Z13", 256*k+64*c)
			a.p("VMOVDQA32 Z14, K5, Z13")
			a.p("VMOVDQU32 Z13, %d(DI)", 256*k+64*c)
		}
	}
	a.ret()
}

func (a *asm) interleave(n int) {
	a.text(fmt.Sprintf("dst[%d*l+k] = s[k][l].", n), fmt.Sprintf("vInterleave%d", n), 16)
	a.p("MOVQ dst+0(FP), DI")
	a.p("MOVQ s+8(FP), SI")
	ps := a.preparePermutations(fmt.Sprintf("interleave%d", n), n, func(k, i int) (src, dw int) { return (16*k + i) % n, (16*k + i) / n })
	for c := range 4 {
		for k := range n {
			a.p("VMOVDQU32 %d(SI), Z%d", 256*k+64*c, k)
		}
		for k := range n {
			a.permute(ps[k], n, 14)
			a.p("VMOVDQU32 Z14, %d(DI)", 64*(n*c+k))
		}
	}
	a.ret()
}

// signBits is the source modifiers: clear bits, then flip bits.
func (a *asm) signBits() {
	a.text("dst = src &^ clear ^ flip.", "vSignBits", 24)
	a.p("MOVQ dst+0(FP), DI")
	a.p("MOVQ src+8(FP), SI")
	a.p("MOVL clear+16(FP), AX")
	a.p("VPBROADCASTD AX, Z1")
	a.p("MOVL flip+20(FP), AX")
	a.p("VPBROADCASTD AX, Z2")
	for i := range 4 {
		a.p("VPANDND %d(SI), Z1, Z0", 64*i)
		a.p("VPXORD Z2, Z0, Z0")
		a.p("VMOVDQU32 Z0, %d(DI)", 64*i)
	}
	a.ret()
}

// permute64 exchanges between all lanes.
func (a *asm) permute64() {
	a.text("d[l] = src[index[l]%64] in the lanes of exec, where lanes of src outside srcMask count as 0.", "vPermute", 40)
	a.p("MOVQ d+0(FP), DI")
	a.p("MOVQ src+8(FP), SI")
	a.p("MOVQ index+16(FP), DX")
	a.p("KMOVQ srcMask+24(FP), K1")
	a.p("KMOVQ exec+32(FP), K2")
	for i := range 4 {
		a.p("VMOVDQU32.Z %d(SI), K1, Z%d", 64*i, i)
		if i < 3 {
			a.p("KSHIFTRQ $16, K1, K1")
		}
	}
	a.broadcastTo(8, 32)
	for i := range 4 {
		a.p("VMOVDQU32 %d(DX), Z4", 64*i)
		a.p("VPTESTMD Z8, Z4, K3")
		a.p("VMOVDQA32 Z4, Z%d", 10+i)
		a.p("VPERMI2D Z3, Z2, Z4")
		a.p("VPERMI2D Z1, Z0, Z%d", 10+i)
		a.p("VMOVDQA32 Z4, K3, Z%d", 10+i)
	}
	for i := range 4 {
		a.p("VMOVDQU32 %d(DI), Z4", 64*i)
		a.p("VMOVDQA32 Z%d, K2, Z4", 10+i)
		a.p("VMOVDQU32 Z4, %d(DI)", 64*i)
		if i < 3 {
			a.p("KSHIFTRQ $16, K2, K2")
		}
	}
	a.ret()

	a.text("index[l] = (addr[l] + offset) / 4.", "vDwordIndex", 20)
	a.p("MOVQ index+0(FP), DI")
	a.p("MOVQ addr+8(FP), SI")
	a.p("MOVL offset+16(FP), AX")
	a.p("VPBROADCASTD AX, Z0")
	for i := range 4 {
		a.p("VPADDD %d(SI), Z0, Z1", 64*i)
		a.p("VPSRLD $2, Z1, Z1")
		a.p("VMOVDQU32 Z1, %d(DI)", 64*i)
	}
	a.ret()

	a.text("dst = src << up >> down, the second shift arithmetic if signed.", "vField", 25)
	a.p("MOVQ dst+0(FP), DI")
	a.p("MOVQ src+8(FP), SI")
	a.p("MOVL up+16(FP), AX")
	a.p("VMOVD AX, X0")
	a.p("MOVL down+20(FP), AX")
	a.p("VMOVD AX, X1")
	a.p("MOVBLZX signed+24(FP), AX")
	for i := range 4 {
		a.p("VMOVDQU32 %d(SI), Z6", 64*i)
		a.p("VPSLLD X0, Z6, Z%d", 2+i)
	}
	a.p("TESTL AX, AX")
	a.p("JNE signed")
	for i := range 4 {
		a.p("VPSRLD X1, Z%d, Z%d", 2+i, 2+i)
	}
	a.p("JMP store")
	a.WriteString("\nsigned:\n")
	for i := range 4 {
		a.p("VPSRAD X1, Z%d, Z%d", 2+i, 2+i)
	}
	a.WriteString("\nstore:\n")
	for i := range 4 {
		a.p("VMOVDQU32 Z%d, %d(DI)", 2+i, 64*i)
	}
	a.ret()
}
