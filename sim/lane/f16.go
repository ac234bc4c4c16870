package lane

import "math"

// One-lane f16 arithmetic. f16 values are computed in float64, where products
// are exact and sums are rounded to odd, then rounded once to f16.

func isInf16(x uint32) bool  { return x&0x7FFF == infF16 }
func isSNaN16(x uint32) bool { return isNaN16(x) && x&qbitF16 == 0 }

// nan16 is the first NaN of the operands in order, as a result.
func nan16(x, y uint32, m Mode) (r uint32, ok bool) {
	if isNaN16(x) {
		return quiet16(x, m), true
	}
	if isNaN16(y) {
		return quiet16(y, m), true
	}
	return 0, false
}

func addF16(x, y uint32, m Mode) uint32 {
	if r, ok := nan16(x, y, m); ok {
		return r
	}
	return sum16(from16(in16(x, m)), from16(in16(y, m)), m)
}

// sum16 is a+b rounded to f16, for a and b that are not NaN.
func sum16(a, b float64, m Mode) uint32 {
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		s := a + b
		if s != s {
			return nanF16
		}
		return to16(s, m)
	}
	return to16(sumOdd(a, b, m.round64()), m)
}

func subF16(x, y uint32, m Mode) uint32 {
	if r, ok := nan16(x, y, m); ok {
		return r
	}
	return addF16(x, y^signF16, m)
}

func subrevF16(x, y uint32, m Mode) uint32 {
	if r, ok := nan16(x, y, m); ok {
		return r
	}
	return addF16(y, x^signF16, m)
}

func mulF16(x, y uint32, m Mode) uint32 {
	if r, ok := nan16(x, y, m); ok {
		return r
	}
	p := from16(in16(x, m)) * from16(in16(y, m))
	if p != p {
		return nanF16
	}
	return to16(p, m)
}

// madF16 rounds the product and the sum and flushes denormals whatever MODE
// says (CDNA3 ISA, V_MAD_F16: "1ULP accuracy, denormals are flushed").
func madF16(x, y, z uint32, m Mode) uint32 {
	m &^= 0xC0
	if r, ok := nan16(x, y, m); ok {
		return r
	}
	if isNaN16(z) {
		return quiet16(z, m)
	}
	return addF16(mulF16(x, y, m), z, m)
}

func fmaF16(x, y, z uint32, m Mode) uint32 {
	if r, ok := nan16(x, y, m); ok {
		return r
	}
	if isNaN16(z) {
		return quiet16(z, m)
	}
	p := from16(in16(x, m)) * from16(in16(y, m))
	if p != p {
		return nanF16
	}
	return sum16(p, from16(in16(z, m)), m)
}

// fmaEvenF16 is fmaF16 in nearest-even mode with denormals kept.
func fmaEvenF16(x, y, z uint32, m Mode) uint32 {
	p, c := from16(x)*from16(y), from16(z)
	s := p + c
	if s-s != 0 { // infinite or NaN
		return fmaF16(x, y, z, m)
	}
	t := s - p
	return even16(odd(s, (p-(s-t))+(c-t)))
}

// order16 is order32 for f16.
func order16(x uint32) int32 {
	v := int32(int16(x))
	return v ^ v>>31&0x7FFF
}

// pickNaN16 is the result of a minimum or maximum with a NaN operand: see
// minF32.
func pickNaN16(x, y uint32, m Mode) (r uint32, ok bool) {
	switch {
	case m&modeIEEE != 0 && isSNaN16(x):
		return x | qbitF16, true
	case m&modeIEEE != 0 && isSNaN16(y):
		return y | qbitF16, true
	case isNaN16(x):
		return y, true
	case isNaN16(y):
		return x, true
	}
	return 0, false
}

func minF16(x, y uint32, m Mode) uint32 {
	x, y = in16(x, m), in16(y, m)
	if r, ok := pickNaN16(x, y, m); ok {
		return r
	}
	if order16(x) < order16(y) {
		return x
	}
	return y
}

func maxF16(x, y uint32, m Mode) uint32 {
	x, y = in16(x, m), in16(y, m)
	if r, ok := pickNaN16(x, y, m); ok {
		return r
	}
	if order16(x) > order16(y) {
		return x
	}
	return y
}

func min3F16(x, y, z uint32, m Mode) uint32 { return minF16(minF16(x, y, m), z, m) }
func max3F16(x, y, z uint32, m Mode) uint32 { return maxF16(maxF16(x, y, m), z, m) }

// med3F16: see med3F32.
func med3F16(x, y, z uint32, m Mode) uint32 {
	if isNaN16(x) || isNaN16(y) || isNaN16(z) {
		return min3F16(x, y, z, m)
	}
	switch cmp16(max3F16(x, y, z, m)) {
	case cmp16(in16(x, m)):
		return maxF16(y, z, m)
	case cmp16(in16(y, m)):
		return maxF16(x, z, m)
	}
	return maxF16(x, y, m)
}

func roundInt16(x uint32, m Mode, f func(float64) float64) uint32 {
	if isNaN16(x) {
		return quiet16(x, m)
	}
	return to16(f(from16(in16(x, m))), m)
}

func truncF16(x uint32, m Mode) uint32 { return roundInt16(x, m, math.Trunc) }
func ceilF16(x uint32, m Mode) uint32  { return roundInt16(x, m, math.Ceil) }
func floorF16(x uint32, m Mode) uint32 { return roundInt16(x, m, math.Floor) }
func rndneF16(x uint32, m Mode) uint32 { return roundInt16(x, m, math.RoundToEven) }

// fractF16: see fractF32.
func fractF16(x uint32, m Mode) uint32 {
	if isNaN16(x) {
		return quiet16(x, m)
	}
	if isInf16(x) {
		return nanF16
	}
	v := from16(in16(x, m))
	if r := to16(sumOdd(v, -math.Floor(v), m.round64()), m); r&signF16 != 0 || r <= 0x3BFF {
		return r
	}
	return 0x3BFF
}

// ldexpF16 takes a 16-bit exponent.
func ldexpF16(x, n uint32, m Mode) uint32 {
	if isNaN16(x) {
		return quiet16(x, m)
	}
	k := min(max(int(int16(n)), -100), 100)
	return to16(from16(in16(x, m))*math.Float64frombits(uint64(1023+k)<<52), m)
}

func frexpExpF16(x uint32, m Mode) uint32 {
	x = in16(x, m)
	if x&infF16 == infF16 || x&0x7FFF == 0 {
		return 0
	}
	_, e := math.Frexp(from16(x))
	return uint32(uint16(e))
}

func frexpMantF16(x uint32, m Mode) uint32 {
	if isNaN16(x) {
		return quiet16(x, m)
	}
	f, _ := math.Frexp(from16(in16(x, m)))
	return to16(f, m)
}
