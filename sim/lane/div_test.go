package lane

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// seq runs kernels by name on whole rows, as compiled code does.
type seq struct {
	f    refFormat
	mode Mode
	vcc  uint64
}

type pair = [2]Row

func (s *seq) op(name string, src ...*pair) *pair {
	var in [3]*Row
	for i, p := range src {
		in[i] = &p[0]
	}
	d := new(pair)
	e := Env{Mode: s.mode, CarryIn: s.vcc}
	Kernels[name].Fn(&d[0], in[0], in[1], in[2], ^uint64(0), &e)
	s.vcc = e.CarryOut
	return d
}

func (s *seq) neg(p *pair) *pair {
	d := *p
	top := &d[0]
	if s.f == ref64 {
		top = &d[1]
	}
	for i := range top {
		top[i] ^= 1 << 31
	}
	return &d
}

func (s *seq) splat(v uint64) *pair {
	d := new(pair)
	for i := range 64 {
		d[0][i], d[1][i] = uint32(v), uint32(v>>32)
	}
	return d
}

// div32 is LLVM's expansion of an f32 division (legalizeFDIV32). Denormals are
// switched on around the fused steps when the mode flushes them.
func (s *seq) div32(num, den *pair) *pair {
	flush := s.mode
	d := s.op("v_div_scale_f32", den, den, num)
	n := s.op("v_div_scale_f32", num, den, num)
	vcc := s.vcc
	r := s.op("v_rcp_f32", d)
	nd := s.neg(d)
	s.mode |= 0x30
	e := s.op("v_fma_f32", nd, r, s.splat(0x3F800000))
	r = s.op("v_fma_f32", e, r, r)
	q := s.op("v_mul_f32", n, r)
	e = s.op("v_fma_f32", nd, q, n)
	q = s.op("v_fma_f32", e, r, q)
	e = s.op("v_fma_f32", nd, q, n)
	s.mode = flush
	s.vcc = vcc
	q = s.op("v_div_fmas_f32", e, r, q)
	return s.op("v_div_fixup_f32", q, den, num)
}

// div64 is LLVM's expansion of an f64 division (legalizeFDIV64).
func (s *seq) div64(num, den *pair) *pair {
	one := s.splat(math.Float64bits(1))
	d := s.op("v_div_scale_f64", den, den, num)
	nd := s.neg(d)
	r := s.op("v_rcp_f64", d)
	e := s.op("v_fma_f64", nd, r, one)
	r = s.op("v_fma_f64", r, e, r)
	e = s.op("v_fma_f64", nd, r, one)
	n := s.op("v_div_scale_f64", num, den, num)
	vcc := s.vcc
	r = s.op("v_fma_f64", r, e, r)
	q := s.op("v_mul_f64", n, r)
	e = s.op("v_fma_f64", nd, q, n)
	s.vcc = vcc
	q = s.op("v_div_fmas_f64", e, r, q)
	return s.op("v_div_fixup_f64", q, den, num)
}

// quotient is the correctly rounded num/den.
func quotient(f refFormat, num, den uint64, m Mode) uint64 {
	if r, ok := f.nan(m, num, den); ok {
		return r
	}
	num, den = f.in(num, m), f.in(den, m)
	sign := (num ^ den) & f.sign()
	switch n0, d0 := num&^f.sign() == 0, den&^f.sign() == 0; {
	case n0 && d0, f.isInf(num) && f.isInf(den):
		return f.defaultNaN()
	case d0 || f.isInf(num):
		return sign | f.inf()
	case n0 || f.isInf(den):
		return sign
	}
	// 3000 bits settle every tie: a quotient is never that close to a midpoint.
	v := new(big.Float).SetPrec(3000).Quo(f.value(num), f.value(den))
	return f.result(v, false, m)
}

func TestDivision(t *testing.T) {
	for _, f := range []refFormat{ref32, ref64} {
		t.Run(f.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
				m := Mode(0x2F0)
				if f == ref32 && rapid.Bool().Draw(t, "flush f32") {
					m = 0x2C0
				}
				num, den := new(pair), new(pair)
				for i := range 64 {
					x, y := f.draw(r), f.draw(r)
					if r.IntN(4) == 0 { // quotients around the smallest and largest numbers
						x = x&^f.inf() | uint64(1+r.IntN(1<<f.exp-2))<<f.man
						e := int(x>>f.man&(1<<f.exp-1)) + []int{f.emin(), -f.emin()}[r.IntN(2)] + r.IntN(60) - 30
						y = y&^f.inf() | uint64(min(max(e, 0), 1<<f.exp-2))<<f.man
					}
					num[0][i], num[1][i] = uint32(x), uint32(x>>32)
					den[0][i], den[1][i] = uint32(y), uint32(y>>32)
				}
				s := &seq{f: f, mode: m}
				div, at := s.div32, func(p *pair, i int) uint64 { return uint64(p[0][i]) }
				if f == ref64 {
					div, at = s.div64, func(p *pair, i int) uint64 { return uint64(p[1][i])<<32 | uint64(p[0][i]) }
				}
				q := div(num, den)
				for i := range 64 {
					if got, want := at(q, i), quotient(f, at(num, i), at(den, i), m); got != want {
						t.Fatalf("%#x / %#x = %#x, want %#x (mode %#x)", at(num, i), at(den, i), got, want, m)
					}
				}
			})
		})
	}
}

// TestDivScale: cases of the ISA documents' pseudocode and of observed hardware.
func TestDivScale(t *testing.T) {
	b := func(v float64) uint64 { return uint64(math.Float32bits(float32(v))) }
	for _, c := range []struct {
		name        string
		s, den, num uint64
		want, post  uint64
	}{
		{"plain", b(2), b(4), b(2), b(2), 0},
		{"zero denominator", b(1), 0, b(1), 0xFFC00000, 1},
		{"zero numerator", 0, b(1), 0, 0xFFC00000, 1},
		{"quotient near the largest: denominator", b(1), b(1), 0x7F7FFFFF, b(0x1p64), 1},
		{"quotient near the largest: numerator", 0x7F7FFFFF, b(1), 0x7F7FFFFF, 0x7F7FFFFF, 1},
		{"denormal denominator", b(0x1p-149), b(0x1p-149), b(0x1p-40), b(0x1p-85), 0},
		{"huge denominator", b(0x1.8p126), b(0x1.8p126), b(0x1p100), b(0x1.8p62), 0},
		{"2^126 has a normal reciprocal", b(0x1p126), b(0x1p126), b(0x1p100), b(0x1p126), 0},
		{"smallest normal over 1", b(0x1p-126), b(1), b(0x1p-126), b(0x1p-62), 1},
		{"denormal quotient: denominator stays", b(1), b(1), b(0x1p-130), b(1), 1},
		{"huge denominator and denormal quotient", b(0x1p127), b(0x1p127), b(0x1p-10), b(0x1p63), 1},
		{"tiny numerator scales both", b(0x1p-100), b(0x1p-100), b(0x1p-110), b(0x1p-36), 0},
	} {
		e := Env{Mode: 0x2F0}
		var w bench
		w.set(1, 5, c.s)
		w.set(2, 5, c.den)
		w.set(3, 5, c.num)
		post := w.run("v_div_scale_f32", 1<<5, &e)
		if got := w.get(0, 5, F32); got != c.want || post != c.post<<5 {
			t.Errorf("%s: %#x, mask %#x; want %#x, mask %#x", c.name, got, post, c.want, c.post<<5)
		}
	}
}

// TestDivFmas: the direction of the scale follows the addend's exponent.
func TestDivFmas(t *testing.T) {
	f := func(v float64) uint64 { return uint64(math.Float32bits(float32(v))) }
	d := math.Float64bits
	for _, c := range []struct {
		name    string
		x, y, z uint64
		vcc     uint64
		want    uint64
	}{
		{"v_div_fmas_f32", f(2), f(3), f(1), 0, f(7)},
		{"v_div_fmas_f32", f(1), f(1), f(2), 1, f(0x3p64)},
		{"v_div_fmas_f32", f(2), f(3), f(1), 1, f(0x7p-64)},
		{"v_div_fmas_f64", d(1), d(1), d(2), 1, d(0x3p128)},
		{"v_div_fmas_f64", d(2), d(3), d(1), 1, d(0x7p-128)},
		// One rounding: 1 + 2^-24 scaled into the denormals.
		{"v_div_fmas_f32", f(0x1p-85), f(0x1p-24), f(0x1p-85), 1, f(0x1p-149)},
	} {
		if got := eval1(c.name, Env{Mode: 0x2F0, CarryIn: c.vcc}, c.x, c.y, c.z); got != c.want {
			t.Errorf("%s(%#x, %#x, %#x) vcc %d = %#x, want %#x", c.name, c.x, c.y, c.z, c.vcc, got, c.want)
		}
	}
}

func TestDivFixup(t *testing.T) {
	b := func(v float64) uint64 { return uint64(math.Float32bits(float32(v))) }
	for _, c := range []struct {
		name, inst          string
		q, den, num, result uint64
		mode                Mode
	}{
		{"sign", "v_div_fixup_f32", b(3), b(-2), b(6), b(-3), 0x2F0},
		{"0/0", "v_div_fixup_f32", b(1), 0, 0, 0xFFC00000, 0x2F0},
		{"inf/inf", "v_div_fixup_f32", b(1), infF32, infF32, 0xFFC00000, 0x2F0},
		{"-x/0", "v_div_fixup_f32", b(1), 0, b(-1), infF32 | signF32, 0x2F0},
		{"x/inf", "v_div_fixup_f32", b(1), infF32, b(1), 0, 0x2F0},
		{"NaN quotient", "v_div_fixup_f32", 0x7FC00000, b(1), b(1), infF32, 0x2F0},
		{"NaN quotient towards zero", "v_div_fixup_f32", 0x7FC00000, b(1), b(1), 0x7F7FFFFF, 0x2F3},
		{"underflow", "v_div_fixup_f32", b(1), b(0x1p60), b(-0x1p-120), signF32, 0x2F0},
		{"underflow upwards", "v_div_fixup_f32", b(1), b(0x1p60), b(0x1p-120), 1, 0x2F1},
		{"signalling numerator", "v_div_fixup_f32", b(1), 0x7F800002, 0x7F800001, 0x7FC00001, 0x2F0},
		{"f16 0/0", "v_div_fixup_f16", 0, 0, 0, 0xFE00, 0x2F0},
		{"f16 sign", "v_div_fixup_legacy_f16", 0x3C00, 0xC000, 0x4000, 0xBC00, 0x2F0},
		{"f16 x/0", "v_div_fixup_f16", 0x3C00, 0x8000, 0x4000, 0xFC00, 0x2F0},
		{"f64 0/0", "v_div_fixup_f64", 0, 0, 0, 0xFFF8 << 48, 0x2F0},
	} {
		if got := eval1(c.inst, Env{Mode: c.mode}, c.q, c.den, c.num); got != c.result {
			t.Errorf("%s: %s = %#x, want %#x", c.name, c.inst, got, c.result)
		}
	}
}
