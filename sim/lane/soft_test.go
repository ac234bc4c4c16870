package lane

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// refFormat is a binary floating-point format as the reference arithmetic,
// which works on math/big, knows it.
type refFormat struct {
	name     string
	man, exp int
}

var (
	ref16 = refFormat{"f16", 10, 5}
	ref32 = refFormat{"f32", 23, 8}
	ref64 = refFormat{"f64", 52, 11}
)

func (f refFormat) sign() uint64        { return 1 << (f.man + f.exp) }
func (f refFormat) inf() uint64         { return (1<<f.exp - 1) << f.man }
func (f refFormat) emin() int           { return 2 - 1<<(f.exp-1) }
func (f refFormat) isNaN(x uint64) bool { return x&^f.sign() > f.inf() }
func (f refFormat) isInf(x uint64) bool { return x&^f.sign() == f.inf() }
func (f refFormat) isDenorm(x uint64) bool {
	return x&f.inf() == 0 && x&^f.sign() != 0
}
func (f refFormat) qbit() uint64 { return 1 << (f.man - 1) }

// defaultNaN is what invalid operations give: 0xffc00000 and its kin.
func (f refFormat) defaultNaN() uint64 { return f.sign() | f.inf() | f.qbit() }

// modes of the format: the fields of m that apply to it.
func (f refFormat) modes(m Mode) (round, denorm int) {
	if f == ref32 {
		return int(m & 3), int(m >> 4 & 3)
	}
	return int(m >> 2 & 3), int(m >> 6 & 3)
}

// value of a finite x, exactly.
func (f refFormat) value(x uint64) *big.Float {
	man := x & (1<<f.man - 1)
	e := int(x >> f.man & (1<<f.exp - 1))
	if e == 0 {
		e = 1
	} else {
		man |= 1 << f.man
	}
	v := new(big.Float).SetPrec(6000).SetUint64(man)
	v.SetMantExp(v, e-1+f.emin()-f.man)
	if x&f.sign() != 0 {
		v.Neg(v)
	}
	return v
}

// round rounds v, not zero, to the format.
func (f refFormat) round(v *big.Float, mode int, keepDenorm bool) uint64 {
	neg := v.Signbit()
	a := new(big.Float).Abs(v)
	e := a.MantExp(nil) - 1 // a in [2^e, 2^(e+1))
	quantum := max(e, f.emin()) - f.man
	scaled := new(big.Float).SetPrec(6000).SetMantExp(a, -quantum)
	n, acc := scaled.Int(nil)
	if acc != big.Exact {
		rest := new(big.Float).SetPrec(6000).Sub(scaled, new(big.Float).SetInt(n))
		half := rest.Cmp(big.NewFloat(0.5))
		switch mode {
		case 0:
			if half > 0 || half == 0 && n.Bit(0) == 1 {
				n.Add(n, big.NewInt(1))
			}
		case 1:
			if !neg {
				n.Add(n, big.NewInt(1))
			}
		case 2:
			if neg {
				n.Add(n, big.NewInt(1))
			}
		}
	}
	var r uint64
	if n.BitLen() > f.man+1 { // carried into the next binade
		n.Rsh(n, 1)
		quantum++
	}
	switch {
	case n.BitLen() <= f.man: // denormal or zero
		if keepDenorm {
			r = n.Uint64()
		}
	case quantum+f.man > -f.emin()+1: // overflow
		r = f.inf()
		if mode == 3 || mode == 1 && neg || mode == 2 && !neg {
			r--
		}
	default:
		r = uint64(quantum+f.man-f.emin()+1)<<f.man | n.Uint64()&(1<<f.man-1)
	}
	if neg {
		r |= f.sign()
	}
	return r
}

// in flushes a denormal source if the mode says so.
func (f refFormat) in(x uint64, m Mode) uint64 {
	if _, d := f.modes(m); d&1 == 0 && f.isDenorm(x) {
		return x & f.sign()
	}
	return x
}

// result rounds an exact value; a zero gets the sign zeroNeg.
func (f refFormat) result(v *big.Float, zeroNeg bool, m Mode) uint64 {
	if v.Sign() == 0 {
		if zeroNeg {
			return f.sign()
		}
		return 0
	}
	round, d := f.modes(m)
	r := f.round(v, round, d&2 != 0)
	if f == ref16 && m&(1<<23) != 0 && f.isInf(r) {
		r--
	}
	return r
}

// nan returns the first NaN of xs as a result.
func (f refFormat) nan(m Mode, xs ...uint64) (uint64, bool) {
	for _, x := range xs {
		if f.isNaN(x) {
			if m&(1<<9) != 0 {
				x |= f.qbit()
			}
			return x, true
		}
	}
	return 0, false
}

func (f refFormat) mul(x, y uint64, m Mode) uint64 {
	if r, ok := f.nan(m, x, y); ok {
		return r
	}
	x, y = f.in(x, m), f.in(y, m)
	neg := (x^y)&f.sign() != 0
	if f.isInf(x) || f.isInf(y) {
		if x&^f.sign() == 0 || y&^f.sign() == 0 {
			return f.defaultNaN()
		}
		return (x^y)&f.sign() | f.inf()
	}
	return f.result(new(big.Float).SetPrec(6000).Mul(f.value(x), f.value(y)), neg, m)
}

// fma is x*y+z; with x = 1 it is the sum y+z.
func (f refFormat) fma(x, y, z uint64, m Mode) uint64 {
	if r, ok := f.nan(m, x, y, z); ok {
		return r
	}
	x, y, z = f.in(x, m), f.in(y, m), f.in(z, m)
	psign := (x ^ y) & f.sign()
	if f.isInf(x) || f.isInf(y) {
		p := psign | f.inf()
		if x&^f.sign() == 0 || y&^f.sign() == 0 || f.isInf(z) && z != p {
			return f.defaultNaN()
		}
		return p
	}
	if f.isInf(z) {
		return z
	}
	p := new(big.Float).SetPrec(6000).Mul(f.value(x), f.value(y))
	round, _ := f.modes(m)
	zneg := round == 2 && (psign != 0 || z&f.sign() != 0)
	if psign == z&f.sign() {
		zneg = psign != 0
	}
	return f.result(p.Add(p, f.value(z)), zneg, m)
}

func (f refFormat) one() uint64 { return uint64(1<<(f.exp-1)-1) << f.man }

func (f refFormat) add(x, y uint64, m Mode) uint64 { return f.fma(f.one(), x, y, m) }

func (f refFormat) sub(x, y uint64, m Mode) uint64 {
	if r, ok := f.nan(m, x, y); ok {
		return r
	}
	return f.add(x, y^f.sign(), m)
}

// mad rounds twice and never keeps a denormal.
func (f refFormat) mad(x, y, z uint64, m Mode) uint64 {
	if f == ref32 {
		m &^= 0x30
	} else {
		m &^= 0xC0
	}
	if r, ok := f.nan(m, x, y, z); ok {
		return r
	}
	return f.add(f.mul(x, y, m), z, m)
}

// draw gives bits of the format: special values, values near each other, and
// anything.
func (f refFormat) draw(r *rand.Rand) uint64 {
	special := []uint64{0, 1, 2, 1<<f.man - 1, 1 << f.man, 1<<f.man + 1, f.one(), f.one() + 1, f.one() - 1,
		f.inf() - 1, f.inf(), f.inf() | 1, f.inf() | f.qbit(), f.inf() | f.qbit() | 5, f.one() + 1<<f.man}
	var x uint64
	switch r.IntN(8) {
	case 0, 1:
		x = special[r.IntN(len(special))]
	case 2, 3: // exponents near 1
		x = f.one() + uint64(r.IntN(60)-30)<<f.man + r.Uint64()&(1<<f.man-1)
	case 4: // few significant bits: ties and exact results
		x = f.one() + uint64(r.IntN(60)-30)<<f.man + r.Uint64()&(1<<f.man-1)&^(1<<(f.man-4)-1)
	case 5: // tiny
		x = r.Uint64() & (1<<(f.man+2) - 1)
	default:
		x = r.Uint64()
	}
	x &= f.sign() - 1
	if r.IntN(2) == 0 {
		x |= f.sign()
	}
	return x
}

// operand rows of a test: up to 4 dwords of up to 3 sources and a destination.
type bench struct {
	rows [4][4]Row // d, a, b, c
}

func (w *bench) set(k, lane int, v uint64) {
	w.rows[k][0][lane], w.rows[k][1][lane] = uint32(v), uint32(v>>32)
}

func (w *bench) get(k, lane int, t Type) uint64 {
	v := uint64(w.rows[k][0][lane])
	if typeBits(t) == 64 {
		v |= uint64(w.rows[k][1][lane]) << 32
	}
	return v
}

func (w *bench) run(name string, exec uint64, e *Env) uint64 {
	k := Kernels[name]
	d, a, b, c := &w.rows[0][0], &w.rows[1][0], &w.rows[2][0], &w.rows[3][0]
	if k.Cmp != nil {
		return k.Cmp(a, b, exec, e)
	}
	k.Fn(d, a, b, c, exec, e)
	return e.CarryOut
}

// eval1 runs one kernel in lane 0.
func eval1(name string, e Env, src ...uint64) uint64 {
	var w bench
	for i, s := range src {
		w.set(i+1, 0, s)
	}
	w.run(name, 1, &e)
	return w.get(0, 0, Kernels[name].Dst)
}

// drawMode is any MODE, the default one more often.
func drawMode(t *rapid.T) Mode {
	m := Mode(rapid.Uint32Range(0, 1<<8-1).Draw(t, "round and denorm"))
	if rapid.Bool().Draw(t, "default") {
		m = 0xF0
	}
	if rapid.Bool().Draw(t, "ieee") {
		m |= 1 << 9
	}
	if rapid.Bool().Draw(t, "fp16_ovfl") {
		m |= 1 << 23
	}
	return m
}

// against checks a kernel of one format lane by lane against want.
func against(t *testing.T, name string, f refFormat, n int, want func(s [3]uint64, m Mode) uint64) {
	t.Helper()
	k, ok := Kernels[name]
	if !ok {
		t.Fatalf("no kernel %s", name)
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		m := drawMode(t)
		var w bench
		var src [64][3]uint64
		for i := range 64 {
			for j := range n {
				src[i][j] = f.draw(r)
				if j == 2 && r.IntN(4) == 0 && !f.isNaN(src[i][0]) { // cancel the product
					src[i][2] = f.mul(src[i][0], src[i][1], 0xF0) ^ f.sign()
				}
				w.set(j+1, i, src[i][j])
			}
		}
		w.run(name, ^uint64(0), &Env{Mode: m})
		for i := range 64 {
			if got, exp := w.get(0, i, k.Dst), want(src[i], m); got != exp {
				t.Fatalf("%s(%#x) mode %#x = %#x, want %#x", name, src[i][:n], m, got, exp)
			}
		}
	})
}

// TestArithmetic holds add, sub, mul, mad and fma of every format in every MODE
// to exact big arithmetic rounded once.
func TestArithmetic(t *testing.T) {
	for _, f := range []refFormat{ref16, ref32, ref64} {
		type test struct {
			op string
			n  int
			fn func(s [3]uint64, m Mode) uint64
		}
		tests := []test{
			{"add", 2, func(s [3]uint64, m Mode) uint64 { return f.add(s[0], s[1], m) }},
			{"mul", 2, func(s [3]uint64, m Mode) uint64 { return f.mul(s[0], s[1], m) }},
			{"fma", 3, func(s [3]uint64, m Mode) uint64 { return f.fma(s[0], s[1], s[2], m) }},
		}
		if f != ref64 {
			tests = append(tests,
				test{"sub", 2, func(s [3]uint64, m Mode) uint64 { return f.sub(s[0], s[1], m) }},
				test{"mad", 3, func(s [3]uint64, m Mode) uint64 { return f.mad(s[0], s[1], s[2], m) }},
				test{"mac", 3, func(s [3]uint64, m Mode) uint64 { return f.mad(s[0], s[1], s[2], m) }})
		}
		for _, tt := range tests {
			name := fmt.Sprintf("v_%s_%s", tt.op, f.name)
			t.Run(name, func(t *testing.T) { against(t, name, f, tt.n, tt.fn) })
		}
	}
}

// TestFMAOnce: a product and a sum rounded separately would give another result
// for these.
func TestFMAOnce(t *testing.T) {
	e := Env{Mode: 0xF0}
	x := uint64(math.Float32bits(1 + 0x1p-12))
	z := uint64(math.Float32bits(-1 - 0x1p-11))
	if got := eval1("v_fma_f32", e, x, x, z); got != uint64(math.Float32bits(0x1p-24)) {
		t.Errorf("v_fma_f32 = %#x, want 2^-24", got)
	}
	if got := eval1("v_mad_f32", e, x, x, z); got != 0 {
		t.Errorf("v_mad_f32 = %#x, want 0: the product is rounded first", got)
	}
}

// TestInvalidNaN: x86 and arm64 disagree on the sign of a new NaN; we do not.
func TestInvalidNaN(t *testing.T) {
	e := Env{Mode: 0x2F0}
	inf, ninf := uint64(infF32), uint64(infF32|signF32)
	for _, c := range []struct {
		name string
		src  []uint64
	}{
		{"v_add_f32", []uint64{inf, ninf}}, {"v_sub_f32", []uint64{inf, inf}}, {"v_mul_f32", []uint64{0, inf}},
		{"v_fma_f32", []uint64{0, inf, 0}}, {"v_sqrt_f32", []uint64{0xBF800000}}, {"v_fract_f32", []uint64{inf}},
		{"v_div_fixup_f32", []uint64{0, 0, 0}},
	} {
		if got := eval1(c.name, e, c.src...); got != 0xFFC00000 {
			t.Errorf("%s(%#x) = %#x, want 0xffc00000", c.name, c.src, got)
		}
	}
}
