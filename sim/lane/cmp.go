package lane

import (
	"math"
	"math/bits"
)

func cmpNever(a, b *Row, exec uint64, e *Env) uint64  { return 0 }
func cmpAlways(a, b *Row, exec uint64, e *Env) uint64 { return exec }

// cmp16 is a float32 that compares as the f16 x does.
func cmp16(x uint32) float32 {
	v := x & 0x7FFF
	if v > infF16 {
		return float32(math.NaN())
	}
	if x&signF16 != 0 {
		return -float32(v)
	}
	return float32(v)
}

// classBit is the bit of a V_CMP_CLASS mask that stands for a float's class:
// 0 signalling NaN, 1 quiet NaN, 2 -inf, 3 -normal, 4 -denormal, 5 -0, 6 +0,
// 7 +denormal, 8 +normal, 9 +inf. Denormals are never flushed here.
func classBit(neg, expZero, expOnes bool, man uint64, qbit uint64) uint {
	var k uint
	switch {
	case expOnes && man != 0:
		if man&qbit != 0 {
			return 1
		}
		return 0
	case expOnes:
		k = 9
	case !expZero:
		k = 8
	case man != 0:
		k = 7
	default:
		k = 6
	}
	if neg {
		k = 11 - k
	}
	return k
}

func classF16(x uint32) uint {
	return classBit(x&signF16 != 0, x&infF16 == 0, x&infF16 == infF16, uint64(x&0x3FF), qbitF16)
}

func classF32(x uint32) uint {
	return classBit(x&signF32 != 0, x&infF32 == 0, x&infF32 == infF32, uint64(x&0x7FFFFF), qbitF32)
}

func classF64(x uint64) uint {
	return classBit(x&signF64 != 0, x&infF64 == 0, x&infF64 == infF64, x&(1<<52-1), qbitF64)
}

func cmpClassF16(a, b *Row, exec uint64, e *Env) (r uint64) {
	for ; exec != 0; exec &= exec - 1 {
		i := bits.TrailingZeros64(exec) & 63
		r |= uint64(b[i]>>classF16(a[i])&1) << i
	}
	return r
}

func cmpClassF32(a, b *Row, exec uint64, e *Env) (r uint64) {
	for ; exec != 0; exec &= exec - 1 {
		i := bits.TrailingZeros64(exec) & 63
		r |= uint64(b[i]>>classF32(a[i])&1) << i
	}
	return r
}

func cmpClassF64(a, b *Row, exec uint64, e *Env) (r uint64) {
	as := Rows(a, 2)
	for ; exec != 0; exec &= exec - 1 {
		i := bits.TrailingZeros64(exec) & 63
		x := uint64(as[1][i])<<32 | uint64(as[0][i])
		r |= uint64(b[i]>>classF64(x)&1) << i
	}
	return r
}
