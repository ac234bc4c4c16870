package main

import (
	"fmt"
	"strings"
)

// args loads the arguments.
func (a *asm) args(k *kern) {
	_, src := k.kinds()
	if k.cmp() {
		a.p("MOVQ a+0(FP), SI")
		a.p("MOVQ b+8(FP), DX")
		return
	}
	a.p("MOVQ d+0(FP), DI")
	for n, s := range src {
		if s != "-" {
			a.p("MOVQ %c+%d(FP), %s", 'a'+n, 8+8*n, sourceRegs[n])
		}
	}
	a.p("MOVQ exec+32(FP), BX")
	a.p("KMOVQ BX, K1")
	for i := 1; i < 4; i++ {
		a.p("KSHIFTRQ $%d, K1, K%d", 16*i, 1+i)
	}
}

// bails tells whether the kernel may hand over to the portable loop.
func (k *kern) bails() bool {
	for _, f := range []string{"clamp", "ieee", "ovfl", "nanps", "nanpd", "badps", "badpd", "bad", "jump", "packed", "plain"} {
		if k.has(f) {
			return true
		}
	}
	return false
}

// guard writes the tests that come before the work.
func (a *asm) guard(k *kern) {
	if k.has("clamp") || k.has("packed") {
		a.p("CMPB Env_Clamp(R8), $0")
		a.p("JNE portable")
	}
	if k.has("plain") {
		a.p("MOVQ Env_CarryIn(R8), AX")
		a.p("TESTQ AX, exec+32(FP)")
		a.p("JNE portable")
	}
	if k.has("ieee") {
		a.p("TESTL $0x200, Env_Mode(R8)")
		a.p("JEQ portable")
	}
	if k.has("ovfl") {
		a.p("TESTL $0x800000, Env_Mode(R8)")
		a.p("JNE portable")
	}
}

// nanMask sets kb for the NaN results of chunk i.
func (a *asm) nanMask(k *kern, i int, double bool) {
	dst, _ := k.kinds()
	switch {
	case dst == "rr":
		for h := range 2 {
			a.p("VCMPPS $3, Z%d, Z%d, K%d, K7", 2*i+h, 2*i+h, 1+i)
			a.p("KORW K7, K0, K0")
		}
		return
	case !double:
		a.p("VCMPPS $3, Z%d, Z%d, K%d, K7", i, i, 1+i)
		a.p("KORW K7, K0, K0")
		return
	}
	for h := range 2 {
		a.p("VCMPPD $3, Z%d, Z%d, K7", 2*i+h, 2*i+h)
		a.p("KORW K7, K0, K0")
	}
}

func (a *asm) kernel(k *kern) {
	if k.cmp() {
		a.compare(k)
		return
	}
	fmt.Fprintf(a, "\n// %s\nTEXT ·%s(SB), NOSPLIT, $0-48\n", strings.ReplaceAll(k.ops, " ", ", "), k.name())
	a.p("MOVQ e+40(FP), R8")
	a.guard(k)
	a.args(k)
	if k.has("ci") {
		a.p("MOVQ Env_CarryIn(R8), R9")
	}
	if k.has("co") {
		a.p("XORL R10, R10")
		a.p("XORL R11, R11")
	}
	if k.mayGiveUp() {
		a.p("KXORW K0, K0, K0")
	}
	a.broadcasts(k.consts)
	a.selectors(k)
	for i := range 4 {
		a.chunk(k, i)
	}
	if k.mayGiveUp() {
		a.p("KORTESTW K0, K0")
		a.p("JNE portable")
	}
	a.finish(k)
	if k.bails() {
		a.WriteString("\nportable:\n")
		a.p("VZEROUPPER")
		a.p("JMP ·%s(SB)", k.portable())
	}
}

// mayGiveUp tells whether lanes to give up on collect in K0.
func (k *kern) mayGiveUp() bool { return k.has("bad") || k.has("badps") || k.has("badpd") }

// chunk computes 16 lanes.
func (a *asm) chunk(k *kern, i int) {
	a.load(k, i)
	if k.has("ci") {
		a.p("KMOVW R9, K7")
		a.p("SHRQ $16, R9")
	}
	for h := range a.halves(k) {
		a.unit(k, k.body, i, h)
		a.carry(k, i, h)
		if k.has("bad") {
			a.p("KORW K7, K0, K0")
		}
	}
	if k.has("badps") || k.has("badpd") {
		a.nanMask(k, i, k.has("badpd"))
	}
}

// finish stores the results and returns, or looks for NaNs first.
func (a *asm) finish(k *kern) {
	lenient := k.has("nanps") || k.has("nanpd")
	if lenient {
		a.p("TESTL $0x200, Env_Mode(R8)")
		a.p("JEQ nans")
		a.WriteString("\nstore:\n")
	}
	a.p("CMPQ BX, $-1")
	a.p("JNE merge")
	for _, a.whole = range []bool{true, false} {
		if !a.whole {
			a.WriteString("\nmerge:\n")
		}
		for i := range 4 {
			a.store(k, i)
		}
		a.carryOut(k)
		a.ret()
	}
	if lenient {
		a.WriteString("\nnans:\n")
		a.p("KXORW K0, K0, K0")
		for i := range 4 {
			a.nanMask(k, i, k.has("nanpd"))
		}
		a.p("KORTESTW K0, K0")
		a.p("JEQ store")
	}
}

func (a *asm) halves(k *kern) int {
	if k.wide() {
		return 2
	}
	return 1
}

// carry collects a mask of one unit: R10 gets those of 16 lanes, or of the first
// halves; R11 of the second halves.
func (a *asm) carry(k *kern, i, h int) {
	switch {
	case !k.has("co") && !k.cmp():
	case !k.wide():
		a.p("KMOVW K6, AX")
		if i > 0 {
			a.p("SHLQ $%d, AX", 16*i)
		}
		a.p("ORQ AX, R10")
	default:
		a.p("KMOVB K6, AX")
		if i > 0 {
			a.p("SHLQ $%d, AX", 8*i)
		}
		a.p("ORQ AX, R1%d", h)
	}
}

// gather makes R10 the mask in lane order. The halves of unpacked qwords hold
// lanes 0, 1, 4, 5, … and 2, 3, 6, 7, ….
func (a *asm) gather(k *kern) {
	if !k.wide() {
		return
	}
	a.p("MOVQ $0x3333333333333333, AX")
	a.p("PDEPQ AX, R10, R10")
	a.p("NOTQ AX")
	a.p("PDEPQ AX, R11, R11")
	a.p("ORQ R11, R10")
}

func (a *asm) carryOut(k *kern) {
	if !k.has("co") {
		return
	}
	a.gather(k)
	a.p("ANDQ BX, R10")
	a.p("MOVQ R10, Env_CarryOut(R8)")
}

func (a *asm) compare(k *kern) {
	fmt.Fprintf(a, "\n// %s\nTEXT ·%s(SB), NOSPLIT, $0-40\n", strings.ReplaceAll(k.ops, " ", ", "), k.name())
	a.args(k)
	if k.wide() {
		a.p("XORL R10, R10")
		a.p("XORL R11, R11")
	}
	a.broadcasts(k.consts)
	for i := range 4 {
		a.load(k, i)
		for h := range a.halves(k) {
			a.unit(k, k.body, i, h)
			if k.wide() {
				a.carry(k, i, h)
			}
		}
	}
	if k.wide() {
		a.gather(k)
	} else {
		a.p("KUNPCKWD K1, K2, K1")
		a.p("KUNPCKWD K3, K4, K3")
		a.p("KUNPCKDQ K1, K3, K1")
		a.p("KMOVQ K1, R10")
	}
	a.p("ANDQ exec+16(FP), R10")
	a.p("MOVQ R10, ret+32(FP)")
	a.p("VZEROUPPER")
	a.p("RET")
}
