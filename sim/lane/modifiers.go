package lane

import "math"

// The functions of this file do what surrounds an unpacked kernel: constants,
// source modifiers, sub-dword selection, DPP and the output modifiers. They
// take no decision about which operand they apply to; that is the caller's.

// Mode bits that output modifiers depend on (abi.md C.4 positions, see Mode).
const (
	modeDX10Clamp Mode = 1 << 8
	modeIEEE      Mode = 1 << 9
)

// Splat sets all lanes of dst to v.
func Splat(dst *Row, v uint32) {
	for i := range dst {
		dst[i] = v
	}
}

// typeBits returns the width of one element of t in bits: 16, 32 or 64.
// Packed and wide types count as dwords.
func typeBits(t Type) int {
	switch t {
	case B16, I16, U16, F16, BF16:
		return 16
	case B64, I64, U64, F64:
		return 64
	}
	return 32
}

// ApplyNegAbs writes src to dst with abs and then neg applied to the sign bit
// of t's width. 16- and 32-bit types use one row, 64-bit types two. dst may be
// src. Packed kernels (Kernel.Packed) apply their own modifiers.
//
// Source: CDNA3 ISA, Vector ALU Operations, "Instruction Inputs": ABS is applied
// before NEG.
func ApplyNegAbs(dst, src *Row, t Type, neg, abs bool) {
	clear, flip := uint32(0), uint32(0)
	sign := uint32(1) << 31
	if typeBits(t) == 16 {
		sign = 1 << 15
	}
	if abs {
		clear = sign
	}
	if neg {
		flip = sign
	}
	if typeBits(t) == 64 {
		d, s := Rows(dst, 2), Rows(src, 2)
		d[0] = s[0]
		dst, src = &d[1], &s[1]
	}
	if useVector {
		vSignBits(dst, src, clear, flip)
		return
	}
	for i, v := range src {
		dst[i] = v&^clear ^ flip
	}
}

// Select16 writes the low or the high half of src to bits 15:0 of dst: the
// op_sel of a 16-bit source.
func Select16(dst, src *Row, high bool) {
	shift := 0
	if high {
		shift = 16
	}
	for i, v := range src {
		dst[i] = v >> shift & 0xFFFF
	}
}

// Merge16 writes the 16-bit results r to d in the lanes of exec. With high
// they go to bits 31:16 and bits 15:0 are kept (op_sel of the destination).
// Otherwise they go to bits 15:0; bits 31:16 are kept with keep
// (Kernel.KeepHigh) and zeroed without.
func Merge16(d, r *Row, exec uint64, high, keep bool) {
	switch {
	case high:
		deposit(d, r, exec, 16, 16, 0xFFFF, 0xFFFF<<16)
	case keep:
		deposit(d, r, exec, 16, 0, 0xFFFF<<16, 0xFFFF)
	default:
		deposit(d, r, exec, 16, 0, 0, 0xFFFF)
	}
}

// sdwaField returns the first bit and the width of an SDWA selector
// (BYTE_0..3, WORD_0, WORD_1, DWORD).
func sdwaField(sel uint8) (shift, width uint) {
	switch {
	case sel < 4:
		return uint(sel) * 8, 8
	case sel < 6:
		return uint(sel-4) * 16, 16
	}
	return 0, 32
}

// SDWASource writes the byte or word of src that sel selects to the low bits
// of dst, zero-extended, or sign-extended with sext. Neg and abs act on what
// this yields.
//
// Source: CDNA3 ISA, "SDWA" (SRC0_SEL, SRC0_SEXT).
func SDWASource(dst, src *Row, sel uint8, sext bool) {
	shift, width := sdwaField(sel)
	up := 32 - width
	if sext {
		for i, v := range src {
			dst[i] = uint32(int32(v>>shift<<up) >> up)
		}
		return
	}
	for i, v := range src {
		dst[i] = v >> shift << up >> up
	}
}

// SDWADest writes the results r to the byte or word of d that sel selects, in
// the lanes of exec. unused says what happens to the other bits: 0 PAD zeroes
// them, 1 SEXT zeroes the lower ones and fills the upper ones with the sign of
// the selected field, 2 PRESERVE keeps them.
//
// Source: CDNA3 ISA, "SDWA" (DST_SEL, DST_UNUSED).
func SDWADest(d, r *Row, exec uint64, sel, unused uint8) {
	shift, width := sdwaField(sel)
	up := 32 - width
	mask := ^uint32(0) >> up << shift
	switch unused {
	case 2:
		deposit(d, r, exec, uint32(up), uint32(shift), ^mask, mask)
	case 1:
		deposit(d, r, exec, uint32(up), uint32(shift), 0, ^uint32(0))
	default:
		deposit(d, r, exec, uint32(up), uint32(shift), 0, mask)
	}
}

// ConstValue expands the inline constant with operand code 128..208 or
// 240..248 for an operand of type t. hi is the second dword of 64-bit types
// and of pairs of dwords; it is meaningless for narrower ones.
//
// Integers are sign-extended to the operand's width. A floating constant is
//
//   - for 64-bit types, the f64 pattern;
//   - for F16 and V2F16, the f16 pattern in bits 15:0 with bits 31:16 zero;
//     packed instructions get it in both halves with op_sel_hi = 0;
//   - for 16-bit integer types, packed or not, the f32 pattern, of which the
//     instruction then reads the halves;
//   - for 32-bit types the f32 pattern, and for pairs of dwords the f32
//     pattern in the low dword with the high dword zero.
//
// Types wider than 64 bits occur as the accumulator of matrix instructions,
// where every element is the constant: the caller repeats lo (or lo, hi) over
// the rows. B256 is the f64 accumulator, the others hold dwords.
//
// Source: LLVM AMDGPUBaseInfo.cpp, getInlineEncodingV216 ("the actual HW
// behavior is: …") and SIInstrInfo::isInlineConstant on 16-bit integer operands.
// For the pair, LLVM only ever uses the low dword (op_sel_hi = 0); that the high
// one is zero is an assumption.
func ConstValue(t Type, code uint16) (lo, hi uint32) {
	if code < 240 {
		v := int32(code) - 128
		if v > 64 {
			v = 64 - v
		}
		return uint32(v), uint32(v >> 31)
	}
	f := [...]float64{0.5, -0.5, 1, -1, 2, -2, 4, -4, 0}[min(code-240, 8)]
	inv2Pi := code == 248
	switch t {
	case B64, I64, U64, F64, B256:
		b := math.Float64bits(f)
		if inv2Pi {
			b = 0x3FC45F306DC9C882
		}
		return uint32(b), uint32(b >> 32)
	case F16, V2F16:
		if inv2Pi {
			return 0x3118, 0
		}
		// Powers of two: the exponent rebiased, no rounding.
		b := math.Float64bits(f)
		return uint32(b>>48&0x8000 | (b>>52&0x7FF-1023+15)<<10), 0
	case BF16, V2BF16:
		if inv2Pi {
			return 0x3E22, 0
		}
		return math.Float32bits(float32(f)) >> 16, 0
	}
	if inv2Pi {
		return 0x3E22F983, 0
	}
	return math.Float32bits(float32(f)), 0
}

// LiteralValue expands a 32-bit literal constant for an operand of type t. For
// F64 the literal is the high dword; I64 sign-extends it; other types
// zero-extend it.
//
// Source: LLVM AMDGPUOperandSyntax, "literal": conversion of 32-bit literals.
func LiteralValue(t Type, v uint32) (lo, hi uint32) {
	switch t {
	case F64:
		return 0, v
	case I64:
		return v, uint32(int32(v) >> 31)
	}
	return v, 0
}

// DPP16 controls (CDNA3 ISA, "DPP_CTRL").
const (
	dppRowShl       = 0x100
	dppRowShr       = 0x110
	dppRowRor       = 0x120
	dppWaveShl      = 0x130
	dppWaveRol      = 0x134
	dppWaveShr      = 0x138
	dppWaveRor      = 0x13C
	dppRowMirror    = 0x140
	dppHalfMirror   = 0x141
	dppRowBcast15   = 0x142
	dppRowBcast31   = 0x143
	dppRowNewBcast  = 0x150 // gfx90a and later; row_share on gfx10 and later
	dppRowXmask     = 0x160 // gfx10 and later
	dppRowXmaskLast = 0x16F
)

// DPPValid reports whether ctrl is a DPP16 control of gen. DPPSource disables
// every lane for one that is of no generation.
func DPPValid(ctrl uint32, gen Gen) bool {
	gfx10 := gen >= GenGFX10
	switch {
	case ctrl < 0x100:
		return true
	case ctrl < dppWaveShl:
		return ctrl&15 != 0
	case ctrl == dppRowMirror, ctrl == dppHalfMirror:
		return true
	case ctrl >= dppRowNewBcast && ctrl < dppRowXmask:
		return gen >= GenGFX90A
	case ctrl >= dppRowXmask && ctrl <= dppRowXmaskLast:
		return gfx10
	}
	switch ctrl {
	case dppWaveShl, dppWaveRol, dppWaveShr, dppWaveRor, dppRowBcast15, dppRowBcast31:
		return !gfx10
	}
	return false
}

// dppLane returns the lane that lane i reads under ctrl, or a negative number
// when there is none.
func dppLane(ctrl uint32, i int) int {
	row, n := i&^15, int(ctrl&15)
	inRow := func(j int) int {
		if j < 0 || j > 15 {
			return -1
		}
		return row + j
	}
	switch {
	case ctrl < 0x100: // quad_perm
		return i&^3 + int(ctrl>>(2*(i&3))&3)
	case ctrl < dppRowShr:
		return inRow(i&15 + n)
	case ctrl < dppRowRor:
		return inRow(i&15 - n)
	case ctrl < dppWaveShl:
		return row + (i-n)&15
	case ctrl >= dppRowNewBcast && ctrl < dppRowXmask:
		return row + n
	case ctrl >= dppRowXmask && ctrl <= dppRowXmaskLast:
		return i ^ n
	}
	switch ctrl {
	case dppWaveShl:
		if i == 63 {
			return -1
		}
		return i + 1
	case dppWaveRol:
		return (i + 1) & 63
	case dppWaveShr:
		return i - 1
	case dppWaveRor:
		return (i - 1) & 63
	case dppRowMirror:
		return i ^ 15
	case dppHalfMirror:
		return i ^ 7
	case dppRowBcast15:
		return row - 1
	case dppRowBcast31:
		if i >= 32 {
			return 31
		}
	}
	return -1
}

// DPPSource writes to dst the operand that each lane of exec reads from src
// under the DPP16 control ctrl, and returns the lanes the instruction then
// executes for. n is the number of rows of the operand: 2 for 64-bit types.
// dst may be src.
//
// A lane whose source lane does not exist or is outside exec reads 0 with
// boundCtrl and is disabled without. Lanes outside rowMask (a bit per 16
// lanes) or bankMask (a bit per 4 lanes of each 16) are disabled; the masks do
// not affect which lanes can be read.
//
// Source: CDNA3 ISA, "DPP" (DPP_CTRL, BOUND_CTRL, ROW_MASK, BANK_MASK).
func DPPSource(dst, src *Row, n int, exec uint64, ctrl uint32, rowMask, bankMask uint8, boundCtrl bool) uint64 {
	var from [64]int8
	run := uint64(0)
	for i := range from {
		from[i] = -1
		if exec>>i&1 == 0 {
			continue
		}
		if j := dppLane(ctrl, i); j >= 0 && exec>>j&1 != 0 {
			from[i] = int8(j)
		} else if !boundCtrl || (j < 0 && ctrl > dppRowXmaskLast) {
			continue
		}
		if rowMask>>(i>>4)&1 != 0 && bankMask>>(i>>2&3)&1 != 0 {
			run |= 1 << i
		}
	}
	d, s := Rows(dst, n), Rows(src, n)
	for r := range d {
		in := s[r]
		for i, j := range from {
			v := uint32(0)
			if j >= 0 {
				v = in[j]
			}
			d[r][i] = v
		}
	}
	return run
}
