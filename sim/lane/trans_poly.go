package lane

import "math"

// Exponentials, logarithms and sines in float64, the same bits on every
// processor: fused multiply-adds are explicit and no product is added to anything
// otherwise. The vector kernels do the same operations in the same order and
// read the tables below.
//
// The polynomials are minimax in the relative error; trans_poly_test.go holds the
// functions to their bounds.

// exp2Table holds 2^(j/16).
var exp2Table = [...]float64{
	1, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
	0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
	0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f09p+0,
	0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0,
}

// exp2Poly is 2^r for |r| <= 1/32, within 2^-54.
var exp2Poly = [...]float64{
	1, 0x1.62e42fefa3a18p-1, 0x1.ebfbdff82a34p-3, 0x1.c6b08d6d42146p-5,
	0x1.3b2ab89268f97p-7, 0x1.5d8a31984c43p-10, 0x1.41f410ebe6dd6p-13,
}

// exp2Shift, added to a number, leaves its nearest multiple of 1/16 in the low
// bits of the sum, in sixteenths.
const exp2Shift = 0x1.8p48

// exp2 is 2^v. It keeps away from float64's own range so that a tiny result still
// rounds as nonzero. The result of an integer is exact.
func exp2(v float64) float64 {
	if math.IsInf(v, 0) {
		return max(v, 0)
	}
	v = min(max(v, -900), 900)
	s := v + exp2Shift
	n := math.Float64bits(s) - math.Float64bits(exp2Shift)
	r := v - (s - exp2Shift)
	c := &exp2Poly
	p := math.FMA(c[6], r, c[5])
	p = math.FMA(p, r, c[4])
	p = math.FMA(p, r, c[3])
	p = math.FMA(p, r, c[2])
	p = math.FMA(p, r, c[1])
	p = math.FMA(p, r, c[0])
	p *= exp2Table[n&15]
	return p * math.Float64frombits(uint64(1023+int64(n)>>4)<<52)
}

// log2Recip[j] is about 1/m for the m from 1+j/16 to 1+(j+1)/16, exactly 1 and 1/2
// at the ends so that logarithms of numbers near 1 lose nothing.
var log2Recip = [...]float64{
	1, 0x1.d4p-1, 0x1.bbp-1, 0x1.a4p-1,
	0x1.9p-1, 0x1.7dp-1, 0x1.6cp-1, 0x1.5dp-1,
	0x1.4ep-1, 0x1.41p-1, 0x1.35p-1, 0x1.2ap-1,
	0x1.1fp-1, 0x1.16p-1, 0x1.0dp-1, 0.5,
}

// log2Table is -log2 of log2Recip.
var log2Table = [...]float64{
	0, 0x1.097e38ce60649p-3, 0x1.abb2ca9ec7472p-3, 0x1.249cd2b13cd6cp-2,
	0x1.6cb0f6865c8eap-2, 0x1.b495d4e9185f7p-2, 0x1.f804ae8d0cd02p-2, 0x1.1b17e849adc26p-1,
	0x1.3b8b1c68fa6edp-1, 0x1.58de3bf8b824bp-1, 0x1.7502cc4a27b8p-1, 0x1.8fc924c89ac84p-1,
	0x1.ab9151be168ddp-1, 0x1.c31a27dd00b4ap-1, 0x1.db694903d94b8p-1, 1,
}

// log2Poly is log2(1+r)/r for r in [-1/32, 1/16], within 2^-50.
var log2Poly = [...]float64{
	0x1.71547652b82fep+0, -0x1.71547652b86e2p-1, 0x1.ec709dc3a9f6fp-2, -0x1.715476461d758p-2,
	0x1.2776c4151eb4p-2, -0x1.ec713cc772d68p-3, 0x1.a62744eae17dcp-3, -0x1.7074499c12aefp-3,
	0x1.233ad378b806p-3,
}

// log2 is the logarithm of a v that is not a denormal float64 or NaN. The result
// of a power of two is exact.
func log2(v float64) float64 {
	switch {
	case v == 0:
		return math.Inf(-1)
	case v < 0:
		return math.NaN()
	case v > math.MaxFloat64:
		return v
	}
	b := math.Float64bits(v)
	j := b >> 48 & 15
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	r := math.FMA(m, log2Recip[j], -1)
	c := &log2Poly
	p := math.FMA(c[8], r, c[7])
	p = math.FMA(p, r, c[6])
	p = math.FMA(p, r, c[5])
	p = math.FMA(p, r, c[4])
	p = math.FMA(p, r, c[3])
	p = math.FMA(p, r, c[2])
	p = math.FMA(p, r, c[1])
	p = math.FMA(p, r, c[0])
	return math.FMA(p, r, float64(int64(b>>52)-1023)+log2Table[j])
}

// sinPoly is sin(r π/2)/r for u = r^2 and |r| <= 1/2, within 2^-57.
var sinPoly = [...]float64{
	0x1.921fb54442d18p+0, -0x1.4abbce625be41p-1, 0x1.466bc677587fdp-4, -0x1.32d2cce2e60e4p-8,
	0x1.50782fda6c315p-13, -0x1.e30071ff2da0cp-19, 0x1.e3f39e11ac85ep-25,
}

// cosPoly is cos(r π/2) for u = r^2 and |r| <= 1/2, within 2^-54.
var cosPoly = [...]float64{
	1, -0x1.3bd3cc9be45a5p+0, 0x1.03c1f081b14bep-2, -0x1.55d3c7dcb5f54p-6,
	0x1.e1f4fbfc01101p-11, -0x1.a6ca009620da1p-16, 0x1.f3ef42322d0d8p-22,
}

// sinTurns is sin(2πv). Multiples of a quarter turn are exact, and the zeros
// of whole and half turns are +0 except at v = -0 (V_SIN_F32(0xff7fffff) is
// +0). The reduction is exact.
func sinTurns(v float64) float64 {
	if v == 0 {
		return v
	}
	return quadrant(v, 0)
}

func cosTurns(v float64) float64 { return quadrant(v, 1) }

// quadrant is the sine of v turns plus k quarter turns.
func quadrant(v float64, k int64) float64 {
	t := v * 4
	switch {
	case math.IsInf(v, 0):
		return math.NaN()
	case math.Abs(t) < 1<<52:
		q := math.RoundToEven(t)
		k += int64(q)
		t -= q
	default:
		t = 0
	}
	c, f := &sinPoly, t
	if k&1 != 0 {
		c, f = &cosPoly, 1
	}
	u := t * t
	s := math.FMA(c[6], u, c[5])
	s = math.FMA(s, u, c[4])
	s = math.FMA(s, u, c[3])
	s = math.FMA(s, u, c[2])
	s = math.FMA(s, u, c[1])
	s = math.FMA(s, u, c[0])
	s *= f
	if k&2 != 0 {
		s = -s
	}
	return s + 0 // no -0
}
