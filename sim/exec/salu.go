package exec

import (
	"math/bits"
	"unsafe"

	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// scalarOps is the meaning of every SOP1, SOP2, SOPC and SOPK instruction that
// does not touch control flow or wave state. Source: "Vega" and CDNA3 ISA
// documents, Scalar ALU instruction descriptions.
var scalarOps = [isa.NumOps]func(w *Wave, in *inst){
	// SOP2, 32 bits
	isa.SAddU32:  sAddU32,
	isa.SSubU32:  sSubU32,
	isa.SAddI32:  sAddI32,
	isa.SSubI32:  sSubI32,
	isa.SAddcU32: sAddcU32,
	isa.SSubbU32: sSubbU32,
	isa.SMinI32:  sop2(func(a, b, _ uint32) (uint32, uint32) { return pick(int32(a) < int32(b), a, b) }),
	isa.SMinU32:  sop2(func(a, b, _ uint32) (uint32, uint32) { return pick(a < b, a, b) }),
	// SCC of the maxima is "first operand chosen", with >= in the ISA text:
	// equal operands set it.
	isa.SMaxI32:       sop2(func(a, b, _ uint32) (uint32, uint32) { return pick(int32(a) >= int32(b), a, b) }),
	isa.SMaxU32:       sop2(func(a, b, _ uint32) (uint32, uint32) { return pick(a >= b, a, b) }),
	isa.SCselectB32:   sop2keep(func(a, b, scc uint32) uint32 { r, _ := pick(scc != 0, a, b); return r }),
	isa.SAndB32:       sAndB32,
	isa.SOrB32:        sOrB32,
	isa.SXorB32:       sXorB32,
	isa.SAndn2B32:     sAndn2B32,
	isa.SOrn2B32:      sop2(func(a, b, _ uint32) (uint32, uint32) { return nz(a | ^b) }),
	isa.SNandB32:      sop2(func(a, b, _ uint32) (uint32, uint32) { return nz(^(a & b)) }),
	isa.SNorB32:       sop2(func(a, b, _ uint32) (uint32, uint32) { return nz(^(a | b)) }),
	isa.SXnorB32:      sop2(func(a, b, _ uint32) (uint32, uint32) { return nz(^(a ^ b)) }),
	isa.SLshlB32:      sLshlB32,
	isa.SLshrB32:      sLshrB32,
	isa.SAshrI32:      sAshrI32,
	isa.SBfmB32:       sop2keep(func(a, b, _ uint32) uint32 { return (1<<(a&31) - 1) << (b & 31) }),
	isa.SMulI32:       sMulI32,
	isa.SMulHiU32:     sop2keep(func(a, b, _ uint32) uint32 { h, _ := bits.Mul32(a, b); return h }),
	isa.SMulHiI32:     sop2keep(func(a, b, _ uint32) uint32 { return uint32(int64(int32(a)) * int64(int32(b)) >> 32) }),
	isa.SBfeU32:       sop2(func(a, b, _ uint32) (uint32, uint32) { return nz(uint32(bfeU(uint64(a), b&31, b>>16&0x7f, 32))) }),
	isa.SBfeI32:       sop2(func(a, b, _ uint32) (uint32, uint32) { return nz(uint32(bfeI(uint64(a), b&31, b>>16&0x7f, 32))) }),
	isa.SLshl1AddU32:  sop2(lshlAdd(1)),
	isa.SLshl2AddU32:  sop2(lshlAdd(2)),
	isa.SLshl3AddU32:  sop2(lshlAdd(3)),
	isa.SLshl4AddU32:  sop2(lshlAdd(4)),
	isa.SPackLlB32B16: sop2keep(func(a, b, _ uint32) uint32 { return a&0xffff | b<<16 }),
	isa.SPackLhB32B16: sop2keep(func(a, b, _ uint32) uint32 { return a&0xffff | b&0xffff0000 }),
	isa.SPackHhB32B16: sop2keep(func(a, b, _ uint32) uint32 { return a>>16 | b&0xffff0000 }),
	isa.SAbsdiffI32: sop2(func(a, b, _ uint32) (uint32, uint32) {
		d := a - b
		if int32(d) < 0 {
			d = -d
		}
		return nz(d)
	}),

	// SOP2, 64 bits
	isa.SCselectB64: func(w *Wave, in *inst) {
		a, b := w.src64(in, 0), w.src64(in, 1)
		if w.scc == 0 {
			a = b
		}
		w.setS64(in.dst, a)
	},
	isa.SAndB64:   sAndB64,
	isa.SOrB64:    sOrB64,
	isa.SXorB64:   sXorB64,
	isa.SAndn2B64: sAndn2B64,
	isa.SOrn2B64:  sop2x64(func(a, b uint64) uint64 { return a | ^b }),
	isa.SNandB64:  sop2x64(func(a, b uint64) uint64 { return ^(a & b) }),
	isa.SNorB64:   sop2x64(func(a, b uint64) uint64 { return ^(a | b) }),
	isa.SXnorB64:  sop2x64(func(a, b uint64) uint64 { return ^(a ^ b) }),
	isa.SLshlB64:  shift64(func(a uint64, n uint32) uint64 { return a << (n & 63) }),
	isa.SLshrB64:  shift64(func(a uint64, n uint32) uint64 { return a >> (n & 63) }),
	isa.SAshrI64:  shift64(func(a uint64, n uint32) uint64 { return uint64(int64(a) >> (n & 63)) }),
	isa.SBfeU64:   shift64(func(a uint64, b uint32) uint64 { return bfeU(a, b&63, b>>16&0x7f, 64) }),
	isa.SBfeI64:   shift64(func(a uint64, b uint32) uint64 { return bfeI(a, b&63, b>>16&0x7f, 64) }),
	isa.SBfmB64: func(w *Wave, in *inst) {
		w.setS64(in.dst, (1<<(w.src32(in, 0)&63)-1)<<(w.src32(in, 1)&63))
	},

	// SOP1, 32 bits
	isa.SMovB32: func(w *Wave, in *inst) { w.setS(in.dst, w.src32(in, 0)) },
	isa.SCmovB32: func(w *Wave, in *inst) {
		if w.scc != 0 {
			w.setS(in.dst, w.src32(in, 0))
		}
	},
	isa.SNotB32:      sop1(func(a uint32) (uint32, uint32) { return nz(^a) }),
	isa.SWqmB32:      sop1(func(a uint32) (uint32, uint32) { return nz(uint32(wqm(uint64(a)))) }),
	isa.SQuadmaskB32: sop1(func(a uint32) (uint32, uint32) { return nz(uint32(quadmask(uint64(a)))) }),
	isa.SBrevB32:     sop1keep(bits.Reverse32),
	isa.SBcnt0I32B32: sop1(func(a uint32) (uint32, uint32) { return nz(uint32(bits.OnesCount32(^a))) }),
	isa.SBcnt1I32B32: sop1(func(a uint32) (uint32, uint32) { return nz(uint32(bits.OnesCount32(a))) }),
	isa.SFf0I32B32:   sop1keep(func(a uint32) uint32 { return findLow(uint64(^a), 32) }),
	isa.SFf1I32B32:   sop1keep(func(a uint32) uint32 { return findLow(uint64(a), 32) }),
	isa.SFlbitI32B32: sop1keep(func(a uint32) uint32 { return findHigh(uint64(a), 32) }),
	isa.SFlbitI32:    sop1keep(func(a uint32) uint32 { return findHigh(uint64(a^uint32(int32(a)>>31)), 32) }),
	isa.SSextI32I8:   sop1keep(func(a uint32) uint32 { return uint32(int8(a)) }),
	isa.SSextI32I16:  sop1keep(func(a uint32) uint32 { return uint32(int16(a)) }),
	isa.SAbsI32: sop1(func(a uint32) (uint32, uint32) {
		if int32(a) < 0 {
			a = -a
		}
		return nz(a)
	}),
	isa.SBitset0B32: func(w *Wave, in *inst) { w.setS(in.dst, w.s32(in.dst, 0)&^(1<<(w.src32(in, 0)&31))) },
	isa.SBitset1B32: func(w *Wave, in *inst) { w.setS(in.dst, w.s32(in.dst, 0)|1<<(w.src32(in, 0)&31)) },
	isa.SBitset0B64: func(w *Wave, in *inst) { w.setS64(in.dst, w.pair(in.dst)&^(1<<(w.src32(in, 0)&63))) },
	isa.SBitset1B64: func(w *Wave, in *inst) { w.setS64(in.dst, w.pair(in.dst)|1<<(w.src32(in, 0)&63)) },

	// SOP1, 64 bits
	isa.SMovB64: func(w *Wave, in *inst) { w.setS64(in.dst, w.src64(in, 0)) },
	isa.SCmovB64: func(w *Wave, in *inst) {
		if w.scc != 0 {
			w.setS64(in.dst, w.src64(in, 0))
		}
	},
	isa.SNotB64:      sop1x64(func(a uint64) uint64 { return ^a }, true),
	isa.SWqmB64:      sop1x64(wqm, true),
	isa.SQuadmaskB64: sop1x64(quadmask, true),
	isa.SBrevB64:     sop1x64(bits.Reverse64, false),
	isa.SBcnt0I32B64: sop1from64(func(a uint64) uint32 { return uint32(bits.OnesCount64(^a)) }, true),
	isa.SBcnt1I32B64: sop1from64(func(a uint64) uint32 { return uint32(bits.OnesCount64(a)) }, true),
	isa.SFf0I32B64:   sop1from64(func(a uint64) uint32 { return findLow(^a, 64) }, false),
	isa.SFf1I32B64:   sop1from64(func(a uint64) uint32 { return findLow(a, 64) }, false),
	isa.SFlbitI32B64: sop1from64(func(a uint64) uint32 { return findHigh(a, 64) }, false),
	isa.SFlbitI32I64: sop1from64(func(a uint64) uint32 { return findHigh(a^uint64(int64(a)>>63), 64) }, false),
	isa.SBitreplicateB64B32: func(w *Wave, in *inst) {
		a := w.src32(in, 0)
		var r uint64
		for i := range 32 {
			r |= uint64(a>>i&1) * 3 << (2 * i)
		}
		w.setS64(in.dst, r)
	},

	isa.SAndSaveexecB64:   sAndSaveexecB64,
	isa.SOrSaveexecB64:    saveexec(func(s, e uint64) uint64 { return s | e }),
	isa.SXorSaveexecB64:   saveexec(func(s, e uint64) uint64 { return s ^ e }),
	isa.SAndn2SaveexecB64: saveexec(func(s, e uint64) uint64 { return s &^ e }),
	isa.SOrn2SaveexecB64:  saveexec(func(s, e uint64) uint64 { return s | ^e }),
	isa.SNandSaveexecB64:  saveexec(func(s, e uint64) uint64 { return ^(s & e) }),
	isa.SNorSaveexecB64:   saveexec(func(s, e uint64) uint64 { return ^(s | e) }),
	isa.SXnorSaveexecB64:  saveexec(func(s, e uint64) uint64 { return ^(s ^ e) }),
	isa.SAndn1SaveexecB64: saveexec(func(s, e uint64) uint64 { return ^s & e }),
	isa.SOrn1SaveexecB64:  saveexec(func(s, e uint64) uint64 { return ^s | e }),
	isa.SAndn1WrexecB64:   wrexec(func(s, e uint64) uint64 { return ^s & e }),
	isa.SAndn2WrexecB64:   wrexec(func(s, e uint64) uint64 { return s &^ e }),

	// SOPC
	isa.SCmpEqI32:   sCmpEqI32,
	isa.SCmpLgI32:   sCmpLgI32,
	isa.SCmpGtI32:   sCmpGtI32,
	isa.SCmpGeI32:   sCmpGeI32,
	isa.SCmpLtI32:   sCmpLtI32,
	isa.SCmpLeI32:   sCmpLeI32,
	isa.SCmpEqU32:   sCmpEqU32,
	isa.SCmpLgU32:   sCmpLgU32,
	isa.SCmpGtU32:   sCmpGtU32,
	isa.SCmpGeU32:   sCmpGeU32,
	isa.SCmpLtU32:   sCmpLtU32,
	isa.SCmpLeU32:   sCmpLeU32,
	isa.SBitcmp0B32: sopc(func(a, b uint32) bool { return a>>(b&31)&1 == 0 }),
	isa.SBitcmp1B32: sopc(func(a, b uint32) bool { return a>>(b&31)&1 == 1 }),
	isa.SBitcmp0B64: func(w *Wave, in *inst) { w.scc = uint32(^(w.src64(in, 0) >> (w.src32(in, 1) & 63)) & 1) },
	isa.SBitcmp1B64: func(w *Wave, in *inst) { w.scc = uint32(w.src64(in, 0) >> (w.src32(in, 1) & 63) & 1) },
	isa.SCmpEqU64:   func(w *Wave, in *inst) { w.scc = b2u(w.src64(in, 0) == w.src64(in, 1)) },
	isa.SCmpLgU64:   func(w *Wave, in *inst) { w.scc = b2u(w.src64(in, 0) != w.src64(in, 1)) },

	// SOPK
	isa.SMovkI32: func(w *Wave, in *inst) { w.setS(in.dst, imm32(in)) },
	isa.SCmovkI32: func(w *Wave, in *inst) {
		if w.scc != 0 {
			w.setS(in.dst, imm32(in))
		}
	},
	isa.SCmpkEqI32: sopk(func(a, k uint32) bool { return a == k }, true),
	isa.SCmpkLgI32: sopk(func(a, k uint32) bool { return a != k }, true),
	isa.SCmpkGtI32: sopk(func(a, k uint32) bool { return int32(a) > int32(k) }, true),
	isa.SCmpkGeI32: sopk(func(a, k uint32) bool { return int32(a) >= int32(k) }, true),
	isa.SCmpkLtI32: sopk(func(a, k uint32) bool { return int32(a) < int32(k) }, true),
	isa.SCmpkLeI32: sopk(func(a, k uint32) bool { return int32(a) <= int32(k) }, true),
	isa.SCmpkEqU32: sopk(func(a, k uint32) bool { return a == k }, false),
	isa.SCmpkLgU32: sopk(func(a, k uint32) bool { return a != k }, false),
	isa.SCmpkGtU32: sopk(func(a, k uint32) bool { return a > k }, false),
	isa.SCmpkGeU32: sopk(func(a, k uint32) bool { return a >= k }, false),
	isa.SCmpkLtU32: sopk(func(a, k uint32) bool { return a < k }, false),
	isa.SCmpkLeU32: sopk(func(a, k uint32) bool { return a <= k }, false),
	isa.SAddkI32: func(w *Wave, in *inst) {
		a, k := w.s32(in.dst, 0), imm32(in)
		r := a + k
		w.scc = (^(a ^ k) & (a ^ r)) >> 31
		w.setS(in.dst, r)
	},
	isa.SMulkI32: func(w *Wave, in *inst) { w.setS(in.dst, w.s32(in.dst, 0)*imm32(in)) },
}

// src32 reads 32-bit source j of a scalar instruction, 0 or 1.
func (w *Wave) src32(in *inst, j int) uint32 { return w.S[in.sreg[j&1]] }

// src64 reads 64-bit source j.
func (w *Wave) src64(in *inst, j int) uint64 {
	return *(*uint64)(unsafe.Pointer(&w.S[in.sreg[j&1]]))
}

// fillSlots are the places in Wave.S, between the inline integers and the
// apertures in the operand numbering, where runFilled puts the sources that
// are not there already.
var fillSlots = [2]uint8{210, 212}

// scalarSources finds the places of the first two sources in Wave.S. It
// reports whether some have to be put there before each execution.
func (in *inst) scalarSources() bool {
	fill := false
	for j := range in.sreg {
		o := in.i.Src[j]
		wide := in.i.SrcWords[j] == 2
		switch {
		case o < isa.OperandInt && (!wide || o < isa.OperandExecHi):
			in.sreg[j] = uint8(o)
		case !wide && (o < isa.OperandSharedBase || o >= isa.OperandHalf && o <= isa.OperandInv2Pi):
			in.sreg[j] = uint8(o)
		case o.IsVGPR() || o.IsAGPR() || o == isa.OperandNone:
			in.sreg[j] = uint8(isa.OperandNull)
		default:
			in.sreg[j] = fillSlots[j]
			fill = true
		}
	}
	return fill
}

// runFilled puts literals, 64-bit constants and special sources in their
// slots, then executes. Literals of SALU instructions are unsigned (LLVM,
// AMDGPUOperandSyntax).
func runFilled(w *Wave, in *inst) {
	for j, slot := range fillSlots {
		if in.sreg[j] != slot {
			continue
		}
		x := w.s64(in.i.Src[j], in.i.Literal, lane.B64)
		w.S[slot], w.S[slot+1] = uint32(x), uint32(x>>32)
	}
	in.inner(w, in)
}

func imm32(in *inst) uint32 { return uint32(int32(int16(in.i.Imm))) }

func nz(x uint32) (uint32, uint32) { return x, b2u(x != 0) }

func pick(first bool, a, b uint32) (uint32, uint32) {
	if first {
		return a, 1
	}
	return b, 0
}

func lshlAdd(n uint) func(a, b, scc uint32) (uint32, uint32) {
	return func(a, b, _ uint32) (uint32, uint32) {
		r := uint64(a)<<n + uint64(b)
		return uint32(r), b2u(r>>32 != 0)
	}
}

// sop2 makes a two-operand instruction that sets SCC; f also gets the old SCC.
func sop2(f func(a, b, scc uint32) (r, scc2 uint32)) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) {
		r, scc := f(w.src32(in, 0), w.src32(in, 1), w.scc)
		w.setS(in.dst, r)
		w.scc = scc
	}
}

// sop2keep makes one that leaves SCC alone.
func sop2keep(f func(a, b, scc uint32) uint32) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) { w.setS(in.dst, f(w.src32(in, 0), w.src32(in, 1), w.scc)) }
}

func sop2x64(f func(a, b uint64) uint64) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) {
		r := f(w.src64(in, 0), w.src64(in, 1))
		w.setS64(in.dst, r)
		w.scc = b2u(r != 0)
	}
}

func shift64(f func(a uint64, n uint32) uint64) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) {
		r := f(w.src64(in, 0), w.src32(in, 1))
		w.setS64(in.dst, r)
		w.scc = b2u(r != 0)
	}
}

func sop1(f func(a uint32) (r, scc uint32)) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) {
		r, scc := f(w.src32(in, 0))
		w.setS(in.dst, r)
		w.scc = scc
	}
}

func sop1keep(f func(a uint32) uint32) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) { w.setS(in.dst, f(w.src32(in, 0))) }
}

func sop1x64(f func(a uint64) uint64, scc bool) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) {
		r := f(w.src64(in, 0))
		w.setS64(in.dst, r)
		if scc {
			w.scc = b2u(r != 0)
		}
	}
}

func sop1from64(f func(a uint64) uint32, scc bool) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) {
		r := f(w.src64(in, 0))
		w.setS(in.dst, r)
		if scc {
			w.scc = b2u(r != 0)
		}
	}
}

// saveexec makes D = EXEC; EXEC = f(S0, EXEC); SCC = EXEC != 0.
func saveexec(f func(s, e uint64) uint64) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) {
		s, e := w.src64(in, 0), w.exec()
		w.setS64(in.dst, e)
		r := f(s, e)
		w.setExec(r)
		w.scc = b2u(r != 0)
	}
}

// wrexec makes EXEC = f(S0, EXEC); D = EXEC; SCC = EXEC != 0.
func wrexec(f func(s, e uint64) uint64) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) {
		r := f(w.src64(in, 0), w.exec())
		w.setExec(r)
		w.setS64(in.dst, r)
		w.scc = b2u(r != 0)
	}
}

func sopc(f func(a, b uint32) bool) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) { w.scc = b2u(f(w.src32(in, 0), w.src32(in, 1))) }
}

// sopk compares a register with the constant, sign- or zero-extended.
func sopk(f func(a, k uint32) bool, signed bool) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) {
		k := uint32(in.i.Imm)
		if signed {
			k = imm32(in)
		}
		w.scc = b2u(f(w.s32(in.dst, 0), k))
	}
}

func bfeU(a uint64, off, width, size uint32) uint64 {
	a >>= off
	if width >= size {
		return a
	}
	return a & (1<<width - 1)
}

func bfeI(a uint64, off, width, size uint32) uint64 {
	if width == 0 {
		return 0
	}
	if size == 32 {
		a = uint64(int64(int32(a)))
	}
	a = uint64(int64(a) >> off)
	if width >= size {
		return a
	}
	return uint64(int64(a<<(64-width)) >> (64 - width))
}

// wqm sets all four bits of each quad that has any set.
func wqm(a uint64) uint64 { return quadmask64(a) * 15 }

func quadmask64(a uint64) uint64 {
	a |= a >> 1
	a |= a >> 2
	return a & 0x1111_1111_1111_1111
}

// quadmask packs one bit per quad.
func quadmask(a uint64) uint64 {
	q := quadmask64(a)
	var r uint64
	for i := range 16 {
		r |= q >> (4 * i) & 1 << i
	}
	return r
}

// findLow is the position of the lowest set bit, or -1.
func findLow(a uint64, size int) uint32 {
	if n := bits.TrailingZeros64(a); n < size {
		return uint32(n)
	}
	return ^uint32(0)
}

// findHigh is the number of zeros above the highest set bit, or -1.
func findHigh(a uint64, size int) uint32 {
	if a == 0 {
		return ^uint32(0)
	}
	return uint32(bits.LeadingZeros64(a) - (64 - size))
}
