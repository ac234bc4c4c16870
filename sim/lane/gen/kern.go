package main

import (
	"slices"
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
	cpu    string // what else it needs: "cd", "popcnt"
}

// Unit kinds of sources and destinations:
//
//	d   dword
//	q   two rows as qwords
//	zx  dword zero-extended to a qword
//	w   low half of a dword as f16, converted to f32
//	p   pair of 16-bit integers, halves chosen by op_sel and op_sel_hi
//	ps  the same of f16, negated
//	mx  f32, or f16 converted to f32, as a mixed instruction chooses
//	dn  dword, its sign flipped by neg_lo
//	ph  pair of f16, chosen and negated, converted to f32; a unit is the pairs of
//	    8 lanes. As destination: r is converted to f16
//	rm  the row of two that op_sel chooses
//	rr  two rows of f32, chosen and negated; a unit is 16 lanes of a row
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
		case "q", "zx", "y", "ph", "rr":
			return true
		}
	}
	return false
}

func (k *kern) linear() bool {
	dst, src := k.kinds()
	return dst == "y" || slices.Contains(src, "y")
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
