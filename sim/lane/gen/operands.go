package main

import "log"

var (
	sourceRegs = []string{"SI", "DX", "CX"}
	highRegs   = []string{"R9", "R12", "R13"} // rows of the high result
)

// load brings chunk i of the sources to their registers.
func (a *asm) load(k *kern, i int) {
	_, src := k.kinds()
	for n, s := range src {
		p, at := sourceRegs[n], 64*i
		lo, hi := 8+2*n, 9+2*n
		switch {
		case s == "-":
		case s == "d":
			a.p("VMOVDQU32 %d(%s), Z%d", at, p, lo)
		case s == "dn":
			a.p("VPXORD %d(%s), Z%d, Z%d", at, p, 29+n, lo)
		case s == "mx":
			a.p("VMOVDQU32 %d(%s), Z14", at, p)
			a.p("VPSRLVD Z%d, Z14, Z15", 23+n)
			a.p("VPMOVDW Z15, Y15")
			a.p("VCVTPH2PS Y15, Z15")
			a.p("VMOVDQA32 Z15, K%d, Z14", 5+n)
			a.p("VPANDD Z%d, Z14, Z14", 26+n)
			a.p("VPXORD Z%d, Z14, Z%d", 29+n, lo)
		case s == "p", s == "ps", s == "ph":
			a.p("VMOVDQU32 %d(%s), Z14", at, p)
			a.p("VPSHUFB Z%d, Z14, Z%d", 26+n, lo)
			if s == "p" {
				break
			}
			if s == "ps" {
				a.p("VPXORD Z%d, Z%d, Z%d", 29+n, lo, lo)
				break
			}
			a.p("VPXORD Z%d, Z%d, Z14", 29+n, lo)
			a.p("VCVTPH2PS Y14, Z%d", lo)
			a.p("VEXTRACTI64X4 $1, Z14, Y14")
			a.p("VCVTPH2PS Y14, Z%d", hi)
		case s == "rr":
			a.p("VPXORD %d(%s), Z%d, Z%d", at, p, 26+2*n, lo)
			a.p("VPXORD %d(%s), Z%d, Z%d", at, highRegs[n], 27+2*n, hi)
		case s == "rm":
			a.p("VMOVDQU32 %d(%s), Z%d", at, p, lo)
			a.p("VMOVDQA32 Z%d, Z%d", lo, hi)
		case s == "w":
			a.p("VMOVDQU32 %d(%s), Z%d", at, p, lo)
			a.p("VPMOVDW Z%d, Y%d", lo, lo)
			a.p("VCVTPH2PS Y%d, Z%d", lo, lo)
		case s == "y":
			a.p("VMOVDQU %d(%s), Y%d", at, p, lo)
			a.p("VMOVDQU %d(%s), Y%d", at+32, p, hi)
		case k.linear() && s == "q":
			a.p("VMOVDQU32 %s(SB), Z%d", a.constant("interleaveLo", tables["interleaveLo"]), lo)
			a.p("VMOVDQU32 %s(SB), Z%d", a.constant("interleaveHi", tables["interleaveHi"]), hi)
			a.p("VMOVDQU32 %d(%s), Z14", at, p)
			a.p("VMOVDQU32 %d(%s), Z15", at+256, p)
			a.p("VPERMI2D Z15, Z14, Z%d", lo)
			a.p("VPERMI2D Z15, Z14, Z%d", hi)
		case s == "q":
			a.p("VMOVDQU32 %d(%s), Z14", at, p)
			a.p("VMOVDQU32 %d(%s), Z15", at+256, p)
			a.p("VPUNPCKLDQ Z15, Z14, Z%d", lo)
			a.p("VPUNPCKHDQ Z15, Z14, Z%d", hi)
		case s == "zx":
			a.p("VMOVDQU32 %d(%s), Z14", at, p)
			a.p("VPXORD Z15, Z15, Z15")
			a.p("VPUNPCKLDQ Z15, Z14, Z%d", lo)
			a.p("VPUNPCKHDQ Z15, Z14, Z%d", hi)
		default:
			log.Fatalf("%s: source kind %q", k.ops, s)
		}
	}
}

// merge stores the vector of chunk i to row n of the destination under EXEC. A
// full store, unlike a masked one, forwards to a load that follows.
func (a *asm) merge(reg, i, n int) {
	if a.whole {
		a.p("VMOVDQU32 Z%d, %d(DI)", reg, 64*i+256*n)
		return
	}
	a.p("VMOVDQU32 %d(DI), Z13", 64*i+256*n)
	a.p("VMOVDQA32 Z%d, K%d, Z13", reg, 1+i)
	a.p("VMOVDQU32 Z13, %d(DI)", 64*i+256*n)
}

func (a *asm) store(k *kern, i int) {
	dst, _ := k.kinds()
	r0, r1 := 2*i, 2*i+1
	switch {
	case !k.wide():
		a.merge(i, i, 0)
	case dst == "ph":
		a.p("VCVTPS2PH $0, Z%d, Y14", r0)
		a.p("VCVTPS2PH $0, Z%d, Y15", r1)
		a.p("VINSERTI64X4 $1, Y15, Z14, Z14")
		a.merge(14, i, 0)
	case dst == "rr":
		a.merge(r0, i, 0)
		a.merge(r1, i, 1)
	case dst == "y":
		a.p("VINSERTI64X4 $1, Y%d, Z%d, Z14", r1, r0)
		a.merge(14, i, 0)
	case k.linear():
		a.p("VMOVDQU32 %s(SB), Z14", a.constant("evenDwords", tables["evenDwords"]))
		a.p("VPERMI2D Z%d, Z%d, Z14", r1, r0)
		a.merge(14, i, 0)
		if dst == "q" {
			a.p("VMOVDQU32 %s(SB), Z14", a.constant("oddDwords", tables["oddDwords"]))
			a.p("VPERMI2D Z%d, Z%d, Z14", r1, r0)
			a.merge(14, i, 1)
		}
	default:
		a.p("VSHUFPS $0x88, Z%d, Z%d, Z14", r1, r0)
		a.merge(14, i, 0)
		if dst == "q" {
			a.p("VSHUFPS $0xDD, Z%d, Z%d, Z14", r1, r0)
			a.merge(14, i, 1)
		}
	}
}
