package lane

import "math"

// One-lane conversions. The rounding mode and the denormal control of a result
// are those of the destination format, the denormal control of a source those
// of the source format (CDNA3 ISA, V_CVT_F16_F32 and V_CVT_F32_F16).

// A NaN keeps its sign and the top of its payload. What would be left of a
// signalling payload after narrowing must not become an infinity.

func cvtF16F32(x uint32, m Mode) uint32 { return cvtF16F32rm(x, m, m.round64()) }

func cvtF16F32rm(x uint32, m Mode, rm uint32) uint32 {
	if isNaN32(x) {
		man := quiet32(x, m) >> 13 & 0x3FF
		if man == 0 {
			man = qbitF16
		}
		return x>>16&signF16 | infF16 | man
	}
	return to16rm(float64(f32(in32(x, m))), m, rm)
}

func cvtF32F16(x uint32, m Mode) uint32 {
	if isNaN16(x) {
		return x&signF16<<16 | infF32 | quiet16(x, m)&0x3FF<<13
	}
	return bits32(float32(from16(in16(x, m))))
}

func cvtF32F64(x uint64, m Mode) uint32 {
	if isNaN64(x) {
		man := uint32(quiet64(x, m)>>29) & 0x7FFFFF
		if man == 0 {
			man = qbitF32
		}
		return uint32(x>>32)&signF32 | infF32 | man
	}
	return to32(f64(in64(x, m)), m)
}

func cvtF64F32(x uint32, m Mode) uint64 {
	if isNaN32(x) {
		return uint64(x&signF32)<<32 | infF64 | uint64(quiet32(x, m)&0x7FFFFF)<<29
	}
	return bits64(float64(f32(in32(x, m))))
}

// toI32 truncates v, saturating; NaN gives 0. toU32, toI16 and toU16 likewise.
func toI32(v float64) uint32 {
	switch {
	case v != v:
		return 0
	case v >= math.MaxInt32:
		return math.MaxInt32
	case v <= math.MinInt32:
		return 1 << 31
	}
	return uint32(int32(v))
}

func toU32(v float64) uint32 { return toUnsigned(v, math.MaxUint32) }

func toUnsigned(v, limit float64) uint32 {
	switch {
	case v != v || v <= 0:
		return 0
	case v >= limit:
		return uint32(limit)
	}
	return uint32(uint64(v))
}

func cvtI16F16(x uint32, m Mode) uint32 {
	if isNaN16(x) {
		return 0
	}
	return uint32(uint16(int32(min(max(from16(in16(x, m)), math.MinInt16), math.MaxInt16))))
}

func cvtU16F16(x uint32, m Mode) uint32 {
	if isNaN16(x) {
		return 0
	}
	return toUnsigned(from16(in16(x, m)), math.MaxUint16)
}

// cvtOffF32I4 is the signed nibble over 16.
func cvtOffF32I4(x uint32) uint32 { return bits32(float32(int32(x<<28)>>28) / 16) }

// norm scales v, clamped to [low, 1], by scale and rounds under rm; NaN gives 0.
func norm(v, low, scale float64, rm uint32) uint32 {
	if v != v {
		return 0
	}
	v = min(max(v, low), 1) * scale // exact: at most 24 + 16 bits
	switch rm {
	case roundUp:
		v = math.Ceil(v)
	case roundDown:
		v = math.Floor(v)
	case roundZero:
		v = math.Trunc(v)
	default:
		v = math.RoundToEven(v)
	}
	return uint32(uint16(int32(v)))
}

func snormF32(x uint32, m Mode) uint32 {
	return norm(float64(f32(in32(x, m))), -1, 32767, m.round32())
}

func unormF32(x uint32, m Mode) uint32 {
	return norm(float64(f32(in32(x, m))), 0, 65535, m.round32())
}

func snormF16(x uint32, m Mode) uint32 {
	if isNaN16(x) {
		return 0
	}
	return norm(from16(in16(x, m)), -1, 32767, m.round64())
}

func unormF16(x uint32, m Mode) uint32 {
	if isNaN16(x) {
		return 0
	}
	return norm(from16(in16(x, m)), 0, 65535, m.round64())
}

// putU8 replaces byte sel of z by f32 x converted to u8.
func putU8(x, sel, z uint32) uint32 {
	n := sel & 3 * 8
	return z&^(0xFF<<n) | toUnsigned(float64(f32(x)), 255)<<n
}
