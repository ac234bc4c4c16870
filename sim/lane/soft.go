package lane

import (
	"math"
	"math/bits"
)

// Rounding modes as MODE encodes them.
const (
	roundEven = 0
	roundUp   = 1 // towards plus infinity
	roundDown = 2 // towards minus infinity
	roundZero = 3
)

// MODE fields. The f32 fields and the shared f16/f64 fields are moved to the
// same place by round32/round64 and denorm32/denorm64.
const (
	modeF32Mask  Mode = 0x33 // f32 rounding and denormals
	modeF32Fast  Mode = 0x30 // nearest even, denormals kept
	modeF64Mask  Mode = 0xCC // f16 and f64 rounding and denormals
	modeF64Fast  Mode = 0xC0
	modeFP16Ovfl Mode = 1 << 23

	denormIn  = 1 // keep denormal sources
	denormOut = 2 // keep denormal results
)

func (m Mode) round32() uint32  { return uint32(m) & 3 }
func (m Mode) round64() uint32  { return uint32(m) >> 2 & 3 }
func (m Mode) denorm32() uint32 { return uint32(m) >> 4 & 3 }
func (m Mode) denorm64() uint32 { return uint32(m) >> 6 & 3 }

// Bit patterns.
//
// An invalid operation gives the quiet NaN with the sign set: the CDNA3 and
// CDNA4 ISA documents give 0xffc00000, 0xfe00 and 0xfff8000000000000 wherever
// they name one (V_DIV_FIXUP, V_SQRT, V_RSQ, V_LOG, V_SIN, V_COS).
const (
	signF16 = 0x8000
	infF16  = 0x7C00
	nanF16  = 0xFE00
	qbitF16 = 0x0200

	signF32 = 0x80000000
	infF32  = 0x7F800000
	nanF32  = 0xFFC00000
	qbitF32 = 0x00400000

	signF64 = 1 << 63
	infF64  = 0x7FF << 52
	nanF64  = 0xFFF8 << 48
	qbitF64 = 1 << 51
)

func f32(x uint32) float32    { return math.Float32frombits(x) }
func bits32(f float32) uint32 { return math.Float32bits(f) }
func f64(x uint64) float64    { return math.Float64frombits(x) }
func bits64(f float64) uint64 { return math.Float64bits(f) }

func isNaN16(x uint32) bool { return x&0x7FFF > infF16 }
func isNaN32(x uint32) bool { return x&^signF32 > infF32 }
func isNaN64(x uint64) bool { return x&^signF64 > infF64 }

// quiet… is what a NaN operand becomes as a result. A signalling NaN is quieted
// only while MODE.IEEE is set: without it no floating-point instruction of
// gfx9 quiets (LLVM issue 139622, "AMDGPU mishandles canonicalize with ieee
// mode disabled").
func quiet16(x uint32, m Mode) uint32 {
	if m&modeIEEE != 0 {
		x |= qbitF16
	}
	return x & 0xFFFF
}

func quiet32(x uint32, m Mode) uint32 {
	if m&modeIEEE != 0 {
		x |= qbitF32
	}
	return x
}

func quiet64(x uint64, m Mode) uint64 {
	if m&modeIEEE != 0 {
		x |= qbitF64
	}
	return x
}

// flush… replaces a denormal by zero of its sign unless bit keep of denorm is set.
func flush16(x, denorm, keep uint32) uint32 {
	if x&infF16 == 0 && denorm&keep == 0 {
		return x & signF16
	}
	return x & 0xFFFF
}

func flush32(x, denorm, keep uint32) uint32 {
	if x&infF32 == 0 && denorm&keep == 0 {
		return x & signF32
	}
	return x
}

func flush64(x uint64, denorm, keep uint32) uint64 {
	if x&infF64 == 0 && denorm&keep == 0 {
		return x & signF64
	}
	return x
}

// in16, in32 and in64 apply MODE's source denormal control.
func in16(x uint32, m Mode) uint32 { return flush16(x, m.denorm64(), denormIn) }
func in32(x uint32, m Mode) uint32 { return flush32(x, m.denorm32(), denormIn) }
func in64(x uint64, m Mode) uint64 { return flush64(x, m.denorm64(), denormIn) }

// format describes a binary interchange format.
type format struct {
	man  uint // fraction bits
	exp  uint // exponent bits
	bias int
}

var (
	fmtF16 = format{10, 5, 15}
	fmtF32 = format{23, 8, 127}
	fmtF64 = format{52, 11, 1023}
)

// pack rounds sig·2^(exp-63) once into f. sig has bit 63 set (or is 0); its
// lowest bit may stand for any lost nonzero bits below (sticky). A denormal
// result is rounded at the denormal grid and then flushed unless keepDenorm.
func (f format) pack(neg bool, exp int, sig uint64, rm uint32, keepDenorm bool) uint64 {
	var sign uint64
	if neg {
		sign = 1 << (f.man + f.exp)
	}
	if sig == 0 {
		return sign
	}
	e := min(exp+f.bias, 1<<f.exp) // biased exponent of a normal result
	drop := 63 - f.man
	if e <= 0 { // denormal: one more bit is lost for each step below 1
		drop += uint(min(1-e, 80))
		e = 0
	}
	var q, rest uint64 // quotient, and the dropped bits aligned to bit 63
	switch {
	case drop < 64:
		q, rest = sig>>drop, sig<<(64-drop)
	case drop == 64:
		rest = sig
	default:
		rest = 1
	}
	up := false
	switch rm {
	case roundEven:
		up = rest > 1<<63 || rest == 1<<63 && q&1 != 0
	case roundUp:
		up = rest != 0 && !neg
	case roundDown:
		up = rest != 0 && neg
	}
	if up {
		q++
	}
	// q still holds the hidden bit, so adding it to the exponent field less
	// one is right for normals, for denormals and for a carry out of either.
	var r uint64
	if e == 0 {
		r = q
	} else {
		r = uint64(e-1)<<f.man + q
	}
	if r < 1<<f.man && !keepDenorm {
		return sign
	}
	inf := (uint64(1)<<f.exp - 1) << f.man
	if r >= inf {
		r = inf
		if rm == roundZero || rm == roundUp && neg || rm == roundDown && !neg {
			r--
		}
	}
	return sign | r
}

// unpack64 splits a finite float64 into sign, exponent and a significand with
// bit 63 set (0 for zero): |x| = sig·2^(exp-63).
func unpack64(x uint64) (neg bool, exp int, sig uint64) {
	neg = x>>63 != 0
	e := int(x >> 52 & 0x7FF)
	sig = x & (1<<52 - 1)
	if e == 0 {
		if sig == 0 {
			return neg, 0, 0
		}
		n := bits.LeadingZeros64(sig)
		return neg, -1022 + 11 - n, sig << n
	}
	return neg, e - 1023, (sig | 1<<52) << 11
}

// packFinite rounds the finite value v, exact or rounded to odd, into f.
func (f format) packFinite(v float64, rm uint32, keepDenorm bool) uint64 {
	neg, exp, sig := unpack64(math.Float64bits(v))
	return f.pack(neg, exp, sig, rm, keepDenorm)
}

// to32 rounds v (exact, or rounded to odd) to f32 under MODE; v may be
// infinite but not NaN.
func to32(v float64, m Mode) uint32 {
	if m.round32() == roundEven || math.IsInf(v, 0) {
		return flush32(bits32(float32(v)), m.denorm32(), denormOut)
	}
	return uint32(fmtF32.packFinite(v, m.round32(), m.denorm32()&denormOut != 0))
}

// to16 rounds v to f16 under MODE. With FP16_OVFL a finite value that
// overflows gives the largest finite f16, in any rounding mode.
func to16(v float64, m Mode) uint32 {
	return to16rm(v, m, m.round64())
}

func to16rm(v float64, m Mode, rm uint32) uint32 {
	if math.IsInf(v, 0) {
		return uint32(math.Float64bits(v)>>48)&signF16 | infF16
	}
	var r uint32
	if rm == roundEven {
		r = flush16(even16(v), m.denorm64(), denormOut)
	} else {
		r = uint32(fmtF16.packFinite(v, rm, m.denorm64()&denormOut != 0))
	}
	if r&0x7FFF == infF16 && m&modeFP16Ovfl != 0 {
		r--
	}
	return r
}

// even16 rounds v, which is not NaN, to the nearest f16, ties to even.
func even16(v float64) uint32 {
	b := math.Float64bits(v)
	sign := uint32(b>>48) & signF16
	b &^= signF64
	switch {
	case b < 0x3F10000000000000: // below 2^-14: let the sum round at 2^-24
		return sign | uint32(math.Float64bits(math.Float64frombits(b)+0x1p28))&0x7FF
	case b >= 0x40EFFE0000000000: // 65520 and above
		return sign | infF16
	}
	b += 1<<41 - 1 + b>>42&1
	return sign | (uint32(b>>42) - 1008<<10)
}

// from16 is the value of an f16; a NaN gives a NaN.
func from16(x uint32) float64 {
	sign, b := uint64(x&signF16)<<48, uint64(x&0x7FFF)<<42
	if x&infF16 == infF16 {
		return math.Float64frombits(sign | 0x7FF<<52 | b)
	}
	return math.Float64frombits(sign|b) * 0x1p1008 // moves the exponent's bias; exact
}

// odd moves s, the sum of two values rounded to nearest, to the exact sum
// s+err rounded to odd: rounding that again to a format with at least two
// fewer bits gives the exact sum rounded once.
func odd(s, err float64) float64 {
	if err == 0 {
		return s
	}
	b := math.Float64bits(s)
	if b&1 == 0 {
		if (err > 0) == (s > 0) {
			b++
		} else {
			b--
		}
	}
	return math.Float64frombits(b)
}

// sumOdd is a+b rounded to odd for finite a and b whose sum cannot overflow.
// A zero sum has the sign that rounding mode rm gives it.
func sumOdd(a, b float64, rm uint32) float64 {
	s := a + b
	if s == 0 {
		if rm == roundDown && (math.Signbit(a) || math.Signbit(b)) {
			return math.Copysign(0, -1)
		}
		return s
	}
	t := s - a
	err := (a - (s - t)) + (b - t)
	return odd(s, err)
}
