package main

import "fmt"

// Gathers and scatters of one, two and four dwords per lane for a full EXEC. Lanes go
// through memory one by one, in order, but rows only as whole vectors.

func gatherFile(a *asm) {
	a.gatherDwords()
	a.gatherWide(4)
	a.gatherWide(2)
	a.scatterWide(4)
	a.scatterWide(2)
}

// gatherArgs leaves base-origin in R9 and the addresses in DX.
func (a *asm) gatherArgs() {
	a.p("MOVQ base+8(FP), R9")
	a.p("MOVQ addr+16(FP), DX")
	a.p("SUBQ origin+24(FP), R9")
}

// address loads the address of lane l to a register of its own.
func (a *asm) address(l int) string {
	reg := []string{"AX", "BX", "CX", "R8"}[l%4]
	a.p("MOVQ %d(DX), %s", 8*l, reg)
	return "(R9)(" + reg + "*1)"
}

func (a *asm) gatherDwords() {
	rows := func(address func(l int) string) {
		for c := range 4 {
			for x := range 4 {
				at := 16*c + 4*x
				a.p("VMOVD %s, X%d", address(at), x)
				for i := 1; i < 4; i++ {
					a.p("VPINSRD $%d, %s, X%d, X%d", i, address(at+i), x, x)
				}
			}
			a.p("VINSERTI128 $1, X1, Y0, Y0")
			a.p("VINSERTI128 $1, X3, Y2, Y2")
			a.p("VINSERTI64X4 $1, Y2, Z0, Z0")
			a.p("VMOVDQU32 Z0, %d(DI)", 64*c)
		}
		a.ret()
	}
	a.text("d[l] = the dword at base + addr[l] - origin.", "vGather1", 32)
	a.p("MOVQ d+0(FP), DI")
	a.gatherArgs()
	rows(a.address)

	a.text("d[l] = the dword at base + (addr[l] + off modulo 2^32).", "vGatherLDS", 28)
	a.p("MOVQ d+0(FP), DI")
	a.p("MOVQ base+8(FP), R9")
	a.p("MOVQ addr+16(FP), DX")
	a.p("MOVL off+24(FP), R10")
	rows(func(l int) string {
		reg := []string{"AX", "BX", "CX", "R8"}[l%4]
		a.p("MOVL %d(DX), %s", 4*l, reg)
		a.p("ADDL R10, %s", reg)
		return "(R9)(" + reg + "*1)"
	})
}

func (a *asm) gatherWide(n int) {
	a.text(fmt.Sprintf("d[k][l] = dword k of %d at base + addr[l] - origin.", n), fmt.Sprintf("vGather%d", n), 32)
	a.p("MOVQ d+0(FP), DI")
	a.gatherArgs()
	ps := a.preparePermutations(fmt.Sprintf("deinterleave%d", n), n, func(k, i int) (src, dw int) { return (n*i + k) / 16, (n*i + k) % 16 })
	for c := range 4 {
		for v := range n {
			for x := range 4 { // 128 bits: a lane of four dwords or two lanes of two
				at := 16*c + (4*v+x)*4/n
				x0 := v
				if x > 0 {
					x0 = 4 // assembled in X4 first
				}
				if n == 4 {
					if x == 0 {
						a.p("VMOVDQU %s, X%d", a.address(at), v)
					} else {
						a.p("VINSERTI32X4 $%d, %s, Z%d, Z%d", x, a.address(at), v, v)
					}
					continue
				}
				a.p("VMOVQ %s, X%d", a.address(at), x0)
				a.p("VMOVHPD %s, X%d, X%d", a.address(at+1), x0, x0)
				if x > 0 {
					a.p("VINSERTI32X4 $%d, X4, Z%d, Z%d", x, v, v)
				}
			}
		}
		for k := range n {
			a.permute(ps[k], n, 14)
			a.p("VMOVDQU32 Z14, %d(DI)", 256*k+64*c)
		}
	}
	a.ret()
}

func (a *asm) scatterWide(n int) {
	a.text(fmt.Sprintf("Dword k of %d at base + addr[l] - origin = s[k][l], in lane order.", n), fmt.Sprintf("vScatter%d", n), 32)
	a.p("MOVQ s+0(FP), SI")
	a.gatherArgs()
	ps := a.preparePermutations(fmt.Sprintf("interleave%d", n), n, func(k, i int) (src, dw int) { return (16*k + i) % n, (16*k + i) / n })
	for c := range 4 {
		for k := range n {
			a.p("VMOVDQU32 %d(SI), Z%d", 256*k+64*c, k)
		}
		for k := range n {
			a.permute(ps[k], n, 14)
			for x := range 4 {
				from := 14
				if x > 0 {
					a.p("VEXTRACTI32X4 $%d, Z14, X13", x)
					from = 13
				}
				at := 16*c + (4*k+x)*4/n
				if n == 4 {
					a.p("VMOVDQU X%d, %s", from, a.address(at))
					continue
				}
				a.p("VMOVQ X%d, %s", from, a.address(at))
				a.p("VMOVHPD X%d, %s", from, a.address(at+1))
			}
		}
	}
	a.ret()
}
