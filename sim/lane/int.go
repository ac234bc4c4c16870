package lane

import (
	"math"
	"math/bits"
)

//go:generate go run ./loopgen

// One-lane integer operations that are longer than an expression.

// ffbhU32 counts the leading zeros; -1 for 0.
func ffbhU32(x uint32) uint32 {
	if x == 0 {
		return math.MaxUint32
	}
	return uint32(bits.LeadingZeros32(x))
}

// ffblB32 counts the trailing zeros; -1 for 0.
func ffblB32(x uint32) uint32 {
	if x == 0 {
		return math.MaxUint32
	}
	return uint32(bits.TrailingZeros32(x))
}

// ffbhI32 counts the leading bits equal to the sign; -1 when all are.
func ffbhI32(x uint32) uint32 { return ffbhU32(x ^ uint32(int32(x)>>31)) }

// bfeI32 extracts z&31 bits from bit y&31 and extends their top bit; a width
// of 0 gives 0.
func bfeI32(x, y, z uint32) uint32 {
	w := z & 31
	if w == 0 {
		return 0
	}
	v := uint32(int32(x) >> (y & 31)) // bits past 31 copy the sign
	return uint32(int32(v<<(32-w)) >> (32 - w))
}

// permB32 selects each byte of the result from {x, y} by a byte of sel.
func permB32(x, y, sel uint32) uint32 {
	in := uint64(x)<<32 | uint64(y)
	if sel&0xF8F8F8F8 == 0 { // plain bytes only
		return uint32(in>>(sel&7*8)&0xFF) | uint32(in>>(sel>>8&7*8)&0xFF)<<8 |
			uint32(in>>(sel>>16&7*8)&0xFF)<<16 | uint32(in>>(sel>>24*8))<<24
	}
	var r uint32
	for n := uint(0); n < 32; n += 8 {
		s := sel >> n & 0xFF
		var b uint32
		switch {
		case s >= 13:
			b = 0xFF
		case s == 12:
		case s >= 8: // the sign of byte 1, 3, 5 or 7
			b = uint32(in>>((s-8)*16+15)&1) * 0xFF
		default:
			b = uint32(in>>(s*8)) & 0xFF
		}
		r |= b << n
	}
	return r
}

// lshlAddShift is the shift of V_LSHL_ADD_U64: counts above 4 act as 0.
func lshlAddShift(y uint32) uint32 {
	if y &= 7; y > 4 {
		return 0
	}
	return y
}

func addSatU32(x, y uint32) uint32 {
	if s := x + y; s >= x {
		return s
	}
	return math.MaxUint32
}

func subSatU32(x, y uint32) uint32 {
	if x < y {
		return 0
	}
	return x - y
}

func satI32(v int64) uint32  { return uint32(min(max(v, math.MinInt32), math.MaxInt32)) }
func satU32(v uint64) uint32 { return uint32(min(v, math.MaxUint32)) }
func satI16(v int64) uint32  { return uint32(uint16(min(max(v, math.MinInt16), math.MaxInt16))) }
func satU16(v uint64) uint32 { return uint32(min(v, math.MaxUint16)) }
func satU8(v int32) uint32   { return uint32(min(max(v, 0), 255)) }

func sext24(x uint32) int64 { return int64(int32(x<<8) >> 8) }

// madI64 is the 65-bit sum of the signed product and z: its low 64 bits and
// bit 64.
func madI64(x, y uint32, z uint64) (r, bit64 uint64) {
	p := uint64(int64(int32(x)) * int64(int32(y)))
	r, carry := bits.Add64(p, z, 0)
	return r, p>>63 ^ z>>63 ^ carry
}

func madSatI64(x, y uint32, z uint64) (r, bit64 uint64) {
	r, bit64 = madI64(x, y, z)
	if bit64 != r>>63 { // out of the signed range; bit 64 is the sign
		r = math.MaxInt64 + bit64
	}
	return r, bit64
}
