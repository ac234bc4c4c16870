// Command gen writes the AVX-512 kernels of sim/lane: Go assembly and the table
// that names them.
//
// It is a template of its own rather than avo because the kernels are regular,
// because the newest avo (v0.5.0) needs a newer x/tools than it asks for, and
// because generating then needs nothing but the Go distribution.
//
// A kernel handles 16 lanes at a time: it loads the sources of all 64 lanes and
// computes, and only then merges with EXEC and stores. Whatever it does not
// handle it hands to the portable loop by a tail jump, which is possible because
// it has not stored anything yet.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kern is one kernel. Its body is Go assembly, instructions separated by
// semicolons, for one unit of lanes: 16 lanes of 32 bits, or 8 of 64 bits when a
// source or the destination is wide. Lower-case words are registers:
//
//	x y z     sources
//	r         result
//	t0 to t7  temporary vectors
//	c0 to c9  constants
//	k5 k6     temporary masks
//	ke        EXEC of the unit (32-bit units only)
//	ki ko     carry in (32-bit units only) and out
//	kr        result of a compare
//	kb        lanes to give up on: any of them active means the portable loop
//	old       the destination before
//	row(name) the unit's part of a 64-dword table
//	q(value)  an f64 constant in memory
//
// A suffix .y names the lower half of a vector. A bar separates the body of the
// low from that of the high result, where they differ.
type kern struct {
	ops  string // mnemonics that share the kernel; the first one names it
	sig  string // "DST:SRC,SRC,SRC" of unit kinds, see below
	body string
	// consts are dwords, or qwords with a suffix q, broadcast to c0, c1, …
	consts string
	flags  string
	cpu    string // what else it needs: "cd", "popcnt", "unfused"
}

// Unit kinds of sources and destinations:
//
//	d   dword
//	q   two rows as qwords
//	zx  dword zero-extended to a qword
//	sx  dword sign-extended to a qword
//	w   low half of a dword as f16, converted to f32
//	p   pair of 16-bit integers, halves chosen by op_sel and op_sel_hi
//	ps  the same of f16, negated
//	mx  f32, or f16 converted to f32, as a mixed instruction chooses
//	dn  dword, its sign flipped by neg_lo
//	ph  pair of f16, chosen and negated, converted to f32; a unit is the pairs of
//	    8 lanes. As destination: r is converted to f16
//	rm  the row of two that op_sel chooses
//	rr  two rows of f32, chosen and negated; a unit is 16 lanes of a row
//	lo  (destination) the low dwords of qwords
//	y   eight dwords in half a vector
//	m   (destination) a compare
//
// Qwords lie in the order in which VPUNPCKLDQ and VPUNPCKHDQ leave them, and in
// lane order when a y takes part.

// Flags:
//
//	clamp     Env.Clamp goes to the portable loop
//	ieee      only with MODE.IEEE
//	ovfl      not with MODE.FP16_OVFL
//	nanps     without MODE.IEEE, NaN results (f32 in r) go to the portable loop
//	nanpd     the same for f64
//	badps     NaN results always do
//	badpd     the same for f64
//	bad       the body computes kb
//	jump      the body jumps to portable by itself
//	plain     only when no active lane has its carry-in bit
//	ci co     carry in and out
//	linear    qwords in lane order
//	packed    a VOP3P kernel: clamp goes to the portable one

func (k *kern) has(flag string) bool { return slices.Contains(strings.Fields(k.flags), flag) }

func (k *kern) kinds() (dst string, src []string) {
	dst, rest, _ := strings.Cut(k.sig, ":")
	if rest == "" {
		return dst, nil
	}
	return dst, strings.Split(rest, ",")
}

// wide tells whether the body works on qwords.
func (k *kern) wide() bool {
	dst, src := k.kinds()
	for _, s := range append(src, dst) {
		switch s {
		case "q", "zx", "sx", "lo", "y", "ph", "rr":
			return true
		}
	}
	return false
}

func (k *kern) linear() bool {
	dst, src := k.kinds()
	return k.has("linear") || dst == "y" || slices.Contains(src, "y")
}

func (k *kern) cmp() bool { dst, _ := k.kinds(); return dst == "m" }

// camel is the mnemonic as the portable loops are named.
func camel(mnemonic string) string {
	var b strings.Builder
	for _, w := range strings.Split(mnemonic, "_")[1:] {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

func (k *kern) name() string { return "v" + camel(strings.Fields(k.ops)[0]) }

func (k *kern) portable() string {
	n := camel(strings.Fields(k.ops)[0])
	switch {
	case k.cmp():
		return strings.ToLower(n[:1]) + n[1:]
	case k.has("packed"):
		return "portable" + n
	}
	return "loop" + n
}

// asm collects one file of assembly.
type asm struct {
	bytes.Buffer
	data map[string][]byte // of the constants used
	// whole tells that stores need no merge: EXEC is full.
	whole bool
}

func (a *asm) p(format string, args ...any) { fmt.Fprintf(a, "\t"+format+"\n", args...) }

// lines writes the instructions of a body.
func (a *asm) lines(body string) {
	for _, l := range strings.Split(body, ";") {
		if l = strings.TrimSpace(l); l != "" {
			a.p("%s", l)
		}
	}
}

// constant makes sure that a read-only symbol holds data and returns its name.
func (a *asm) constant(name string, data []byte) string {
	a.data[name] = data
	return name + "<>"
}

func dwords(v ...uint32) (b []byte) {
	for _, x := range v {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return b
}

func (a *asm) broadcasts(consts string) {
	for i, c := range strings.Fields(consts) {
		var v uint64
		if q, ok := strings.CutSuffix(c, "q"); ok {
			if _, err := fmt.Sscanf(q, "0x%x", &v); err != nil {
				log.Fatal(c, err)
			}
			a.p("VPBROADCASTQ %s(SB), Z%d", a.constant(fmt.Sprintf("vq%016x", v), dwords(uint32(v), uint32(v>>32))), 22+i)
			continue
		}
		if _, err := fmt.Sscanf(c, "0x%x", &v); err != nil {
			log.Fatal(c, err)
		}
		a.p("VPBROADCASTD %s(SB), Z%d", a.constant(fmt.Sprintf("vd%08x", v), dwords(uint32(v))), 22+i)
	}
}

// double is the constant of an f64 value.
func (a *asm) double(value string) string {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil {
		log.Fatal(err)
	}
	v := math.Float64bits(f)
	return a.constant(fmt.Sprintf("vq%016x", v), dwords(uint32(v), uint32(v>>32)))
}

var word = regexp.MustCompile(`\b(row\(\w+\)|q\([^)]*\)|old|[xyzr]|t[0-7]|c[0-9]|k[56]|ke|ki|ko|kr|kb)(\.y)?\b|row\(\w+\)|q\([^)]*\)`)

// unit writes a body for chunk i (16 lanes), half h of it when wide.
func (a *asm) unit(k *kern, body string, i, h int) {
	w := k.wide()
	if first, second, ok := strings.Cut(body, "|"); ok {
		body = []string{first, second}[h]
	}
	a.lines(word.ReplaceAllStringFunc(body, func(s string) string {
		s, half := strings.CutSuffix(s, ".y")
		reg := 0
		switch {
		case strings.HasPrefix(s, "row("):
			return fmt.Sprintf("%s+%d(SB)", a.constant(s[4:len(s)-1], tables[s[4:len(s)-1]]), 64*i)
		case strings.HasPrefix(s, "q("):
			return a.double(s[2:len(s)-1]) + "(SB)"
		case s == "old":
			return fmt.Sprintf("%d(DI)", 64*i)
		case s == "ke":
			return fmt.Sprintf("K%d", 1+i)
		case s == "kr" && !w:
			return fmt.Sprintf("K%d", 1+i)
		case s == "kr", s == "ko":
			return "K6"
		case s == "ki", s == "kb":
			return "K7"
		case s[0] == 'k':
			return "K" + s[1:]
		case s == "r" && w:
			reg = 2*i + h
		case s == "r":
			reg = i
		case s[0] == 't':
			reg = 14 + int(s[1]-'0')
		case s[0] == 'c':
			reg = 22 + int(s[1]-'0')
		default:
			reg = 8 + 2*int(s[0]-'x') + h
		}
		if half {
			return fmt.Sprintf("Y%d", reg)
		}
		return fmt.Sprintf("Z%d", reg)
	}))
}

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
		case s == "zx", s == "sx":
			a.p("VMOVDQU32 %d(%s), Z14", at, p)
			if s == "zx" {
				a.p("VPXORD Z15, Z15, Z15")
			} else {
				a.p("VPSRAD $31, Z14, Z15")
			}
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
	always := k.has("bad") || k.has("badps") || k.has("badpd")
	if always {
		a.p("KXORW K0, K0, K0")
	}
	a.broadcasts(k.consts)
	a.selectors(k)
	for i := range 4 {
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
	if always {
		a.p("KORTESTW K0, K0")
		a.p("JNE portable")
	}
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
	if k.bails() {
		a.WriteString("\nportable:\n")
		a.p("VZEROUPPER")
		a.p("JMP ·%s(SB)", k.portable())
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

const header = "// Code generated by sim/lane/gen; DO NOT EDIT.\n\n"

// file writes one assembly file.
func file(kernels []kern, special func(*asm)) []byte {
	a := &asm{data: map[string][]byte{}}
	for i := range kernels {
		a.kernel(&kernels[i])
	}
	if special != nil {
		special(a)
	}
	var b bytes.Buffer
	b.WriteString(header + "#include \"textflag.h\"\n#include \"go_asm.h\"\n\n")
	names := make([]string, 0, len(a.data))
	for n := range a.data {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		d := a.data[n]
		for o := 0; o < len(d); o += min(8, len(d)) {
			size := min(8, len(d)-o)
			var v uint64
			for j := range size {
				v |= uint64(d[o+j]) << (8 * j)
			}
			fmt.Fprintf(&b, "DATA %s<>+%d(SB)/%d, $0x%0*x\n", n, o, size, 2*size, v)
		}
		fmt.Fprintf(&b, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", n, len(d))
	}
	b.Write(a.Bytes())
	return b.Bytes()
}

// outputs is the text of every generated file.
func outputs() map[string][]byte {
	out := map[string][]byte{}
	var all []kern
	for _, f := range []struct {
		name    string
		kernels []kern
	}{
		{"int", intKernels}, {"float", floatKernels()}, {"wide", wideKernels}, {"cmp", cmpKernels()}, {"packed", append(packedKernels(), mixKernels()...)},
		{"math", append(mathKernels(), classKernels()...)},
	} {
		out["vector_"+f.name+"_amd64.s"] = file(f.kernels, nil)
		all = append(all, f.kernels...)
	}
	out["vector_mem_amd64.s"] = file(nil, memFile)
	out["vector_matrix_amd64.s"] = file(nil, matrixFile)
	out["vector_table_amd64.go"] = table(all)
	return out
}

// table is the Go side: declarations and the kernels by mnemonic.
func table(all []kern) []byte {
	var b bytes.Buffer
	b.WriteString(header + "package lane\n\n")
	for i := range all {
		k := &all[i]
		if k.cmp() {
			fmt.Fprintf(&b, "//go:noescape\nfunc %s(a, b *Row, exec uint64, e *Env) uint64\n\n", k.name())
		} else {
			fmt.Fprintf(&b, "//go:noescape\nfunc %s(d, a, b, c *Row, exec uint64, e *Env)\n\n", k.name())
		}
	}
	for i := range all {
		if k := &all[i]; k.has("packed") {
			fmt.Fprintf(&b, "func %s(d, a, b, c *Row, exec uint64, e *Env) {\nKernels[%q].Fn(d, a, b, c, exec, e)\n}\n\n", k.portable(), strings.Fields(k.ops)[0])
		}
	}
	b.WriteString("var vectorTable = []vectorEntry{\n")
	for i := range all {
		k := &all[i]
		field := "fn"
		if k.cmp() {
			field = "cmp"
		}
		cpu := ""
		if k.cpu != "" {
			cpu = ", cpu: " + map[string]string{"cd": "cpuCD", "popcnt": "cpuPopcnt", "unfused": "cpuUnfused"}[k.cpu]
		}
		for _, op := range strings.Fields(k.ops) {
			fmt.Fprintf(&b, "{op: %q, %s: %s%s},\n", op, field, k.name(), cpu)
			if k.cmp() {
				fmt.Fprintf(&b, "{op: %q, %s: %s%s},\n", strings.Replace(op, "v_cmp_", "v_cmpx_", 1), field, k.name(), cpu)
			}
		}
	}
	b.WriteString("}\n")
	src, err := format.Source(b.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	return src
}

func main() {
	for name, src := range outputs() {
		if err := os.WriteFile(name, src, 0o666); err != nil {
			log.Fatal(err)
		}
	}
}
