package lane

import (
	"math"
	"math/bits"
)

// One-lane f64 arithmetic under any MODE, and the 128-bit exact sums that it
// and the division steps need.

// exact is a finite value (hi:lo)·2^(exp-127) with the top bit of hi set, or
// zero. The lowest bit may stand for lost nonzero bits below it.
type exact struct {
	neg    bool
	exp    int
	hi, lo uint64
}

func exact64(x uint64) exact {
	neg, exp, sig := unpack64(x)
	return exact{neg, exp, sig, 0}
}

func (a exact) isZero() bool { return a.hi == 0 }

// mul is the exact product of two values whose lo is 0.
func (a exact) mul(b exact) exact {
	neg := a.neg != b.neg
	if a.isZero() || b.isZero() {
		return exact{neg: neg}
	}
	hi, lo := bits.Mul64(a.hi, b.hi)
	exp := a.exp + b.exp + 1
	if hi>>63 == 0 {
		hi, lo, exp = hi<<1|lo>>63, lo<<1, exp-1
	}
	return exact{neg, exp, hi, lo}
}

// shiftRight moves the significand n bits down and keeps what falls off as a
// sticky lowest bit.
func (a exact) shiftRight(n int) exact {
	for n > 0 && a.hi|a.lo != 0 {
		k := uint(min(n, 63))
		lost := a.lo << (64 - k)
		a.lo = a.lo>>k | a.hi<<(64-k)
		a.hi >>= k
		if lost != 0 {
			a.lo |= 1
		}
		if a.hi == 0 && a.lo == 1 {
			break
		}
		n -= int(k)
	}
	return a
}

// add is a+b. Both hold at least 20 spare low bits when they come from exact64
// or mul, so the sticky bit never reaches a rounding position. A zero sum of
// unlike signs is -0 only when rounding down.
func (a exact) add(b exact, rm uint32) exact {
	switch {
	case a.isZero() && b.isZero():
		if a.neg != b.neg {
			return exact{neg: rm == roundDown}
		}
		return a
	case a.isZero():
		return b
	case b.isZero():
		return a
	}
	if a.exp < b.exp || a.exp == b.exp && (a.hi < b.hi || a.hi == b.hi && a.lo < b.lo) {
		a, b = b, a
	}
	b = b.shiftRight(a.exp - b.exp)
	if a.neg == b.neg {
		lo, c := bits.Add64(a.lo, b.lo, 0)
		hi, c := bits.Add64(a.hi, b.hi, c)
		exp := a.exp
		if c != 0 {
			lo = lo>>1 | hi<<63 | lo&1
			hi = hi>>1 | 1<<63
			exp++
		}
		return exact{a.neg, exp, hi, lo}
	}
	lo, c := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, c)
	if hi|lo == 0 {
		return exact{neg: rm == roundDown}
	}
	exp := a.exp
	if hi == 0 {
		hi, lo, exp = lo, 0, exp-64
	}
	if n := uint(bits.LeadingZeros64(hi)); n > 0 {
		hi, lo, exp = hi<<n|lo>>(64-n), lo<<n, exp-int(n)
	}
	return exact{a.neg, exp, hi, lo}
}

// round64 rounds a·2^scale to f64 under MODE.
func (a exact) round64(scale int, m Mode) uint64 {
	sig := a.hi
	if a.lo != 0 {
		sig |= 1
	}
	return fmtF64.pack(a.neg, a.exp+scale, sig, m.round64(), m.denorm64()&denormOut != 0)
}

func isInf64(x uint64) bool  { return x&^signF64 == infF64 }
func isSNaN64(x uint64) bool { return isNaN64(x) && x&qbitF64 == 0 }

// nan64 is the first NaN of the operands in order, as a result.
func nan64(x, y uint64, m Mode) (r uint64, ok bool) {
	if isNaN64(x) {
		return quiet64(x, m), true
	}
	if isNaN64(y) {
		return quiet64(y, m), true
	}
	return 0, false
}

func addF64(x, y uint64, m Mode) uint64 {
	if r, ok := nan64(x, y, m); ok {
		return r
	}
	x, y = in64(x, m), in64(y, m)
	if isInf64(x) || isInf64(y) {
		if isInf64(x) && isInf64(y) && x != y {
			return nanF64
		}
		return bits64(f64(x) + f64(y))
	}
	return exact64(x).add(exact64(y), m.round64()).round64(0, m)
}

func mulF64(x, y uint64, m Mode) uint64 {
	if r, ok := nan64(x, y, m); ok {
		return r
	}
	x, y = in64(x, m), in64(y, m)
	if isInf64(x) || isInf64(y) {
		if x&^signF64 == 0 || y&^signF64 == 0 {
			return nanF64
		}
		return (x^y)&signF64 | infF64
	}
	return exact64(x).mul(exact64(y)).round64(0, m)
}

// fmaF64 is (x*y+z)·2^scale rounded once.
func fmaF64(x, y, z uint64, scale int, m Mode) uint64 {
	if r, ok := nan64(x, y, m); ok {
		return r
	}
	if isNaN64(z) {
		return quiet64(z, m)
	}
	x, y, z = in64(x, m), in64(y, m), in64(z, m)
	if isInf64(x) || isInf64(y) {
		p := (x^y)&signF64 | infF64
		if x&^signF64 == 0 || y&^signF64 == 0 || isInf64(z) && z != p {
			return nanF64
		}
		return p
	}
	if isInf64(z) {
		return z
	}
	return exact64(x).mul(exact64(y)).add(exact64(z), m.round64()).round64(scale, m)
}

// order64 is order32 for f64.
func order64(x uint64) int64 { return int64(x) ^ int64(uint64(int64(x)>>63)>>1) }

// minF64 and maxF64: see minF32.
func minF64(x, y uint64, m Mode) uint64 {
	x, y = in64(x, m), in64(y, m)
	if r, ok := pickNaN64(x, y, m); ok {
		return r
	}
	if order64(x) < order64(y) {
		return x
	}
	return y
}

func maxF64(x, y uint64, m Mode) uint64 {
	x, y = in64(x, m), in64(y, m)
	if r, ok := pickNaN64(x, y, m); ok {
		return r
	}
	if order64(x) > order64(y) {
		return x
	}
	return y
}

func pickNaN64(x, y uint64, m Mode) (r uint64, ok bool) {
	switch {
	case m&modeIEEE != 0 && isSNaN64(x):
		return x | qbitF64, true
	case m&modeIEEE != 0 && isSNaN64(y):
		return y | qbitF64, true
	case isNaN64(x):
		return y, true
	case isNaN64(y):
		return x, true
	}
	return 0, false
}

func roundInt64(x uint64, m Mode, f func(float64) float64) uint64 {
	if isNaN64(x) {
		return quiet64(x, m)
	}
	return bits64(f(f64(in64(x, m))))
}

func truncF64(x uint64, m Mode) uint64 { return roundInt64(x, m, math.Trunc) }
func ceilF64(x uint64, m Mode) uint64  { return roundInt64(x, m, math.Ceil) }
func floorF64(x uint64, m Mode) uint64 { return roundInt64(x, m, math.Floor) }
func rndneF64(x uint64, m Mode) uint64 { return roundInt64(x, m, math.RoundToEven) }

// fractF64: see fractF32.
func fractF64(x uint64, m Mode) uint64 {
	if isNaN64(x) {
		return quiet64(x, m)
	}
	if isInf64(x) {
		return nanF64
	}
	const below1 = 0x3FEFFFFFFFFFFFFF
	if r := addF64(x, bits64(-math.Floor(f64(in64(x, m)))), m); r&signF64 != 0 || r <= below1 {
		return r
	}
	return below1
}

func ldexpF64(x uint64, n uint32, m Mode) uint64 {
	if isNaN64(x) {
		return quiet64(x, m)
	}
	x = in64(x, m)
	if isInf64(x) {
		return x
	}
	return exact64(x).round64(int(min(max(int32(n), -5000), 5000)), m)
}

func frexpExpF64(x uint64, m Mode) uint32 {
	x = in64(x, m)
	if x&infF64 == infF64 || x&^signF64 == 0 {
		return 0
	}
	_, exp, _ := unpack64(x)
	return uint32(exp + 1)
}

func frexpMantF64(x uint64, m Mode) uint64 {
	if isNaN64(x) {
		return quiet64(x, m)
	}
	f, _ := math.Frexp(f64(in64(x, m)))
	return bits64(f)
}
