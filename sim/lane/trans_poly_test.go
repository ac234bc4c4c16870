package lane

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const seriesPrec = 160

func bigFloat(v float64) *big.Float { return big.NewFloat(v).SetPrec(seriesPrec) }

// series sums term until it is below 2^-seriesPrec; next makes term n+1 of term n.
func series(term *big.Float, next func(n int64, t *big.Float)) *big.Float {
	sum := bigFloat(0)
	for n := int64(0); term.Sign() != 0 && term.MantExp(nil) > -seriesPrec; n++ {
		sum.Add(sum, term)
		next(n, term)
	}
	return sum
}

// bigAtanh2 is 2*atanh(x) = ln((1+x)/(1-x)) for |x| <= 1/3.
func bigAtanh2(x *big.Float) *big.Float {
	sq, power := bigFloat(0).Mul(x, x), bigFloat(0).Add(x, x)
	return series(bigFloat(0).Set(power), func(n int64, t *big.Float) {
		power.Mul(power, sq)
		t.Quo(power, bigFloat(float64(2*n+3)))
	})
}

var (
	bigLn2 = bigAtanh2(bigFloat(0).Quo(bigFloat(1), bigFloat(3)))
	bigPi  = func() *big.Float {
		atan := func(d float64) *big.Float { // of 1/d
			power := bigFloat(0).Quo(bigFloat(1), bigFloat(d))
			return series(bigFloat(0).Set(power), func(n int64, t *big.Float) {
				power.Quo(power, bigFloat(-d*d))
				t.Quo(power, bigFloat(float64(2*n+3)))
			})
		}
		a, b := atan(5), atan(239) // Machin
		return a.Sub(a.Mul(a, bigFloat(16)), b.Mul(b, bigFloat(4)))
	}()
)

// bigExp2 is 2^v.
func bigExp2(v float64) *big.Float {
	k := math.Floor(v)
	x := bigFloat(0).Mul(bigFloat(v-k), bigLn2)
	r := series(bigFloat(1), func(n int64, t *big.Float) {
		t.Mul(t, x).Quo(t, bigFloat(float64(n+1)))
	})
	return r.SetMantExp(r, int(k))
}

// bigLog2 is the logarithm of v, positive and finite.
func bigLog2(v float64) *big.Float {
	m, e := math.Frexp(v)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	x := bigFloat(m)
	x.Quo(bigFloat(0).Sub(x, bigFloat(1)), bigFloat(0).Add(x, bigFloat(1)))
	r := bigAtanh2(x)
	return r.Add(r.Quo(r, bigLn2), bigFloat(float64(e)))
}

// bigSin is the sine of v turns plus k quarter turns.
func bigSin(v float64, k int64) *big.Float {
	q := math.RoundToEven(4 * v)
	x := bigFloat(4*v - q) // exact
	k += int64(math.Mod(q, 4)) + 4
	x.Mul(x, bigPi).Quo(x, bigFloat(2))
	sq := bigFloat(0).Mul(x, x)
	from := k & 1 // sine and cosine differ in where the factorial starts
	if from == 1 {
		x = bigFloat(1)
	}
	r := series(x, func(n int64, t *big.Float) {
		a := 2*n + 2 - from
		t.Mul(t, sq).Quo(t, bigFloat(float64(-a*(a+1))))
	})
	if k&2 != 0 {
		r.Neg(r)
	}
	return r
}

// TestTranscendentalBounds holds the float64 functions to relative bounds that are
// far below half an ulp of f32, 2^-25, against series in 160-bit arithmetic.
func TestTranscendentalBounds(t *testing.T) {
	n := 4000
	if testing.Short() {
		n = 500
	}
	edges := []uint32{1, 0x7FFFFF, 0x800000, 0x3E800000, 0x3F000000, 0x3F800000, 0x3FB504F3, 0x3FB504F4, 0x3F880000, 0x3F78FFFF, 0x7F7FFFFF}
	for j := range uint32(33) { // where the tables change over
		edges = append(edges, bits32(1+float32(j)/16), bits32(float32(j)/32), bits32(-float32(j)/32))
	}
	for _, f := range []struct {
		name  string
		got   func(float64) float64
		want  func(float64) *big.Float
		valid func(v float64) bool
		bound float64
	}{
		{"exp2", exp2, bigExp2, func(v float64) bool { return math.Abs(v) < 200 }, 0x1p-51},
		{"log2", log2, bigLog2, func(v float64) bool { return v >= 0x1p-126 }, 0x1p-48},
		{"sin", sinTurns, func(v float64) *big.Float { return bigSin(v, 0) }, func(v float64) bool { return true }, 0x1p-51},
		{"cos", cosTurns, func(v float64) *big.Float { return bigSin(v, 1) }, func(v float64) bool { return true }, 0x1p-51},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		worst, at := 0.0, 0.0
		check := func(x uint32) {
			v := float64(f32(x))
			if v != v || math.IsInf(v, 0) || !f.valid(v) {
				return
			}
			got, want := f.got(v), f.want(v)
			if want.Sign() == 0 {
				if got != 0 {
					t.Errorf("%s(%v) = %v, want 0", f.name, v, got)
				}
				return
			}
			d := bigFloat(got)
			d.Quo(d.Sub(d, want), want)
			if e, _ := d.Float64(); math.Abs(e) > worst {
				worst, at = math.Abs(e), v
			}
		}
		for _, x := range edges {
			for _, d := range []uint32{0, 1, ^uint32(0)} {
				check(x + d)
				check((x + d) ^ signF32)
			}
		}
		for range n {
			check(r.Uint32())                               // any exponent
			check(bits32(float32(r.Float64()*8 - 4)))       // few turns, small powers
			check(bits32(float32(r.Float64()*300 - 150)))   // all powers
			check(bits32(1 + float32(r.NormFloat64())*0.1)) // near 1
		}
		if worst > f.bound {
			t.Errorf("%s(%v) is off by 2^%.2f, more than 2^%v", f.name, at, math.Log2(worst), math.Log2(f.bound))
		}
		t.Logf("%s is within 2^%.2f, worst at %v", f.name, math.Log2(worst), at)
	}
}

// TestTranscendentalExact are the results that are exact by contract.
func TestTranscendentalExact(t *testing.T) {
	for e := -149; e <= 128; e++ {
		v := math.Ldexp(1, e)
		if got := exp2(float64(e)); got != v {
			t.Errorf("exp2(%d) = %v", e, got)
		}
		if got := log2(v); got != float64(e) {
			t.Errorf("log2(2^%d) = %v", e, got)
		}
	}
	for q := -64; q <= 64; q++ {
		want := []float64{0, 1, 0, -1}
		if got := sinTurns(float64(q) / 4); got != want[q&3] || math.Signbit(got) && got == 0 {
			t.Errorf("sin(%d/4 turns) = %v", q, got)
		}
		if got := cosTurns(float64(q) / 4); got != want[(q+1)&3] || math.Signbit(got) && got == 0 {
			t.Errorf("cos(%d/4 turns) = %v", q, got)
		}
	}
}
