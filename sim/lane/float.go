package lane

import "math"

// One-lane f32 arithmetic under any MODE. The loops in float_loops.go use
// native arithmetic in nearest-even mode with denormals kept and call these
// for everything else.

// nan32 is the result of an operation with NaN operands: the first NaN in
// operand order. ok is false when neither is one.
func nan32(x, y uint32, m Mode) (r uint32, ok bool) {
	if isNaN32(x) {
		return quiet32(x, m), true
	}
	if isNaN32(y) {
		return quiet32(y, m), true
	}
	return 0, false
}

func isInf32(x uint32) bool { return x&^signF32 == infF32 }

func addF32(x, y uint32, m Mode) uint32 {
	if r, ok := nan32(x, y, m); ok {
		return r
	}
	x, y = in32(x, m), in32(y, m)
	if isInf32(x) || isInf32(y) {
		if isInf32(x) && isInf32(y) && x != y {
			return nanF32
		}
		return bits32(f32(x) + f32(y))
	}
	return to32(sumOdd(float64(f32(x)), float64(f32(y)), m.round32()), m)
}

// subF32 is x - y. A NaN y keeps its sign.
func subF32(x, y uint32, m Mode) uint32 {
	if r, ok := nan32(x, y, m); ok {
		return r
	}
	return addF32(x, y^signF32, m)
}

func mulF32(x, y uint32, m Mode) uint32 {
	if r, ok := nan32(x, y, m); ok {
		return r
	}
	x, y = in32(x, m), in32(y, m)
	p := float64(f32(x)) * float64(f32(y)) // exact: 48 bits
	if p != p {
		return nanF32 // 0 * inf
	}
	return to32(p, m)
}

// mulLegacyF32 follows DX9: zero times anything is +0 (CDNA3 ISA,
// V_MUL_LEGACY_F32). A flushed source denormal counts as zero.
func mulLegacyF32(x, y uint32, m Mode) uint32 {
	if in32(x, m)&^signF32 == 0 || in32(y, m)&^signF32 == 0 {
		return 0
	}
	return mulF32(x, y, m)
}

// madMode is the mode of the unfused multiply-adds v_mad_f32, v_mac_f32 and
// their kin: denormals are flushed whatever MODE says (LLVM: "v_mad_f32 does
// not support denormals").
func madMode(m Mode) Mode { return m &^ 0x30 }

// madF32 rounds the product and then the sum.
func madF32(x, y, z uint32, m Mode) uint32 {
	m = madMode(m)
	if r, ok := nan32(x, y, m); ok {
		return r
	}
	if isNaN32(z) {
		return quiet32(z, m)
	}
	return addF32(mulF32(x, y, m), z, m)
}

// madEvenF32 is madF32 in nearest-even mode.
func madEvenF32(x, y, z uint32, m Mode) uint32 {
	p := f32(flush32(x, 0, denormIn)) * f32(flush32(y, 0, denormIn))
	p = f32(flush32(bits32(p), 0, denormOut))
	s := p + f32(flush32(z, 0, denormIn))
	if s != s {
		return madF32(x, y, z, m)
	}
	return flush32(bits32(s), 0, denormOut)
}

func madLegacyF32(x, y, z uint32, m Mode) uint32 {
	m = madMode(m)
	if in32(x, m)&^signF32 == 0 || in32(y, m)&^signF32 == 0 {
		return addF32(0, z, m)
	}
	return madF32(x, y, z, m)
}

// fmaF32 is the fused x*y+z, rounded once.
func fmaF32(x, y, z uint32, m Mode) uint32 { return fmaScaleF32(x, y, z, 1, m) }

// fmaScaleF32 is (x*y+z)*scale rounded once; scale is a power of two.
func fmaScaleF32(x, y, z uint32, scale float64, m Mode) uint32 {
	if r, ok := nan32(x, y, m); ok {
		return r
	}
	if isNaN32(z) {
		return quiet32(z, m)
	}
	x, y, z = in32(x, m), in32(y, m), in32(z, m)
	p := float64(f32(x)) * float64(f32(y)) // exact: 48 bits
	c := float64(f32(z))
	if math.IsInf(p, 0) || isInf32(z) || p != p {
		s := float64(p) + c
		if s != s {
			return nanF32
		}
		return bits32(float32(s))
	}
	return to32(sumOdd(p, c, m.round32())*scale, m)
}

// fmaFast reports whether s, the nearest float64 to an exact sum, rounds to the
// same float32 as the exact sum does: it does not when s lies on the midpoint of
// two float32 or where the result may be denormal or NaN. A zero sum is exact.
func fmaFast(s float64) bool {
	b := math.Float64bits(s)
	return b&0x1FFFFFFF != 0x10000000 && b<<1 >= 0x3810000000000000<<1 && b<<1 <= 0x7FF0000000000000<<1 || b<<1 == 0
}

// minF32 and maxF32 follow the CDNA3 ISA pseudocode of V_MIN_F32 and V_MAX_F32:
// with MODE.IEEE a signalling NaN is quieted and returned; otherwise the
// operand that is a number wins; -0 is less than +0.
func minF32(x, y uint32, m Mode) uint32 {
	x, y = in32(x, m), in32(y, m)
	switch {
	case m&modeIEEE != 0 && isSNaN32(x):
		return x | qbitF32
	case m&modeIEEE != 0 && isSNaN32(y):
		return y | qbitF32
	case isNaN32(x):
		return y
	case isNaN32(y):
		return x
	}
	if order32(x) < order32(y) {
		return x
	}
	return y
}

func maxF32(x, y uint32, m Mode) uint32 {
	x, y = in32(x, m), in32(y, m)
	switch {
	case m&modeIEEE != 0 && isSNaN32(x):
		return x | qbitF32
	case m&modeIEEE != 0 && isSNaN32(y):
		return y | qbitF32
	case isNaN32(x):
		return y
	case isNaN32(y):
		return x
	}
	if order32(x) > order32(y) {
		return x
	}
	return y
}

func isSNaN32(x uint32) bool { return isNaN32(x) && x&qbitF32 == 0 }

// order32 maps the bits of floats that are not NaN to integers of the same
// order, -0 below +0.
func order32(x uint32) int32 { return int32(x) ^ int32(uint32(int32(x)>>31)>>1) }

func min3F32(x, y, z uint32, m Mode) uint32 { return minF32(minF32(x, y, m), z, m) }
func max3F32(x, y, z uint32, m Mode) uint32 { return maxF32(maxF32(x, y, m), z, m) }

// med3F32 follows the CDNA3 ISA pseudocode of V_MED3_F32: with a NaN operand
// the result is that of V_MIN3.
func med3F32(x, y, z uint32, m Mode) uint32 {
	if isNaN32(x) || isNaN32(y) || isNaN32(z) {
		return min3F32(x, y, z, m)
	}
	x, y, z = in32(x, m), in32(y, m), in32(z, m)
	switch f32(max3F32(x, y, z, m)) { // compared as floats: +0 equals -0
	case f32(x):
		return maxF32(y, z, m)
	case f32(y):
		return maxF32(x, z, m)
	}
	return maxF32(x, y, m)
}

// roundInt32 applies a rounding-to-integer function of float64 to an f32.
func roundInt32(x uint32, m Mode, f func(float64) float64) uint32 {
	if isNaN32(x) {
		return quiet32(x, m)
	}
	x = in32(x, m)
	return bits32(float32(f(float64(f32(x)))))
}

func truncF32(x uint32, m Mode) uint32 { return roundInt32(x, m, math.Trunc) }
func ceilF32(x uint32, m Mode) uint32  { return roundInt32(x, m, math.Ceil) }
func floorF32(x uint32, m Mode) uint32 { return roundInt32(x, m, math.Floor) }
func rndneF32(x uint32, m Mode) uint32 { return roundInt32(x, m, math.RoundToEven) }

// fractF32 is x - floor(x), at most the largest f32 below 1 (CDNA3 ISA,
// V_FRACT_F32). fract of an infinity is inf - inf.
func fractF32(x uint32, m Mode) uint32 {
	if isNaN32(x) {
		return quiet32(x, m)
	}
	x = in32(x, m)
	if isInf32(x) {
		return nanF32
	}
	v := float64(f32(x))
	r := to32(sumOdd(v, -math.Floor(v), m.round32()), m)
	if r&signF32 == 0 && r > 0x3F7FFFFF {
		return 0x3F7FFFFF
	}
	return r
}

// ldexpF32 is x·2^n rounded once.
func ldexpF32(x, n uint32, m Mode) uint32 {
	if isNaN32(x) {
		return quiet32(x, m)
	}
	x = in32(x, m)
	k := min(max(int32(n), -400), 400)
	return to32(float64(f32(x))*math.Float64frombits(uint64(1023+k)<<52), m)
}

// frexpExpF32 is the exponent e of x = ±m·2^e with m in [0.5, 1); 0 for zero,
// infinity and NaN.
func frexpExpF32(x uint32, m Mode) uint32 {
	x = in32(x, m)
	if x&infF32 == infF32 || x&^signF32 == 0 {
		return 0
	}
	_, e := math.Frexp(float64(f32(x)))
	return uint32(e)
}

func frexpMantF32(x uint32, m Mode) uint32 {
	if isNaN32(x) {
		return quiet32(x, m)
	}
	x = in32(x, m)
	if isInf32(x) {
		return x
	}
	f, _ := math.Frexp(float64(f32(x)))
	return bits32(float32(f))
}

// subrevF32 is y - x; NaN operands count in operand order.
func subrevF32(x, y uint32, m Mode) uint32 {
	if r, ok := nan32(x, y, m); ok {
		return r
	}
	return addF32(y, x^signF32, m)
}
