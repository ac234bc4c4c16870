package lane

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// minmax is the CDNA3 ISA pseudocode of V_MIN and V_MAX.
func (f refFormat) minmax(x, y uint64, isMax bool, m Mode) uint64 {
	x, y = f.in(x, m), f.in(y, m)
	ieee := m&(1<<9) != 0
	signalling := func(v uint64) bool { return f.isNaN(v) && v&f.qbit() == 0 }
	pzero := func(v uint64) bool { return v == 0 }
	nzero := func(v uint64) bool { return v == f.sign() }
	switch {
	case ieee && signalling(x):
		return x | f.qbit()
	case ieee && signalling(y):
		return y | f.qbit()
	case f.isNaN(x):
		return y
	case f.isNaN(y):
		return x
	case pzero(x) && nzero(y):
		if isMax {
			return x
		}
		return y
	case nzero(x) && pzero(y):
		if isMax {
			return y
		}
		return x
	}
	if c := f.cmp(x, y); isMax && c > 0 || !isMax && c < 0 {
		return x
	}
	return y
}

// cmp compares two values that are not NaN.
func (f refFormat) cmp(x, y uint64) int {
	v := func(b uint64) *big.Float {
		if f.isInf(b) {
			return new(big.Float).SetInf(b&f.sign() != 0)
		}
		return f.value(b)
	}
	return v(x).Cmp(v(y))
}

func (f refFormat) med3(x, y, z uint64, m Mode) uint64 {
	if f.isNaN(x) || f.isNaN(y) || f.isNaN(z) {
		return f.minmax(f.minmax(x, y, false, m), z, false, m)
	}
	x, y, z = f.in(x, m), f.in(y, m), f.in(z, m)
	mx := f.minmax(f.minmax(x, y, true, m), z, true, m)
	switch {
	case f.cmp(mx, x) == 0:
		return f.minmax(y, z, true, m)
	case f.cmp(mx, y) == 0:
		return f.minmax(x, z, true, m)
	}
	return f.minmax(x, y, true, m)
}

func TestMinMaxFloat(t *testing.T) {
	for _, f := range []refFormat{ref16, ref32, ref64} {
		for _, op := range []string{"min", "max", "min3", "max3", "med3"} {
			if f == ref64 && len(op) > 3 {
				continue
			}
			name := fmt.Sprintf("v_%s_%s", op, f.name)
			n := 2
			if len(op) > 3 {
				n = 3
			}
			t.Run(name, func(t *testing.T) {
				against(t, name, f, n, func(s [3]uint64, m Mode) uint64 {
					if op == "med3" {
						return f.med3(s[0], s[1], s[2], m)
					}
					r := f.minmax(s[0], s[1], op[:3] == "max", m)
					if n == 3 {
						r = f.minmax(r, s[2], op[:3] == "max", m)
					}
					return r
				})
			})
		}
	}
}

// integral rounds a finite value to an integer in a rounding mode, keeping the
// sign of a zero.
func (f refFormat) integral(x uint64, mode int, m Mode) uint64 {
	if r, ok := f.nan(m, x); ok {
		return r
	}
	x = f.in(x, m)
	if f.isInf(x) {
		return x
	}
	v := f.value(x)
	n, acc := v.Int(nil) // towards zero
	if acc != big.Exact {
		frac := new(big.Float).SetPrec(6000).Sub(v, new(big.Float).SetInt(n))
		half := frac.Abs(frac).Cmp(big.NewFloat(0.5))
		away := mode == 1 && v.Sign() > 0 || mode == 2 && v.Sign() < 0 ||
			mode == 0 && (half > 0 || half == 0 && n.Bit(0) == 1)
		if away {
			n.Add(n, big.NewInt(int64(v.Sign())))
		}
	}
	return f.result(new(big.Float).SetInt(n), x&f.sign() != 0, m|0xF0)
}

func TestRoundToIntegral(t *testing.T) {
	for _, f := range []refFormat{ref16, ref32, ref64} {
		for op, mode := range map[string]int{"rndne": 0, "ceil": 1, "floor": 2, "trunc": 3} {
			name := fmt.Sprintf("v_%s_%s", op, f.name)
			t.Run(name, func(t *testing.T) {
				against(t, name, f, 1, func(s [3]uint64, m Mode) uint64 { return f.integral(s[0], mode, m) })
			})
		}
	}
}

// TestFract: x - floor(x), below 1; infinities are invalid.
func TestFract(t *testing.T) {
	for _, f := range []refFormat{ref16, ref32, ref64} {
		name := "v_fract_" + f.name
		t.Run(name, func(t *testing.T) {
			against(t, name, f, 1, func(s [3]uint64, m Mode) uint64 {
				if r, ok := f.nan(m, s[0]); ok {
					return r
				}
				x := f.in(s[0], m)
				if f.isInf(x) {
					return f.defaultNaN()
				}
				floor := f.integral(x, 2, 0xF0)
				r := f.sub(x, floor, m|0x10|0x40)
				if r&f.sign() == 0 {
					r = min(r, f.one()-1)
				}
				return r
			})
		})
	}
}

func TestLdexpFrexp(t *testing.T) {
	for _, f := range []refFormat{ref16, ref32, ref64} {
		name := "v_ldexp_" + f.name
		t.Run(name, func(t *testing.T) {
			// The second operand is drawn as a float; its low bits make a small
			// or an extreme exponent.
			shift := func(s uint64) int {
				if f == ref16 {
					return int(int16(s))
				}
				return int(int32(s))
			}
			against(t, name, f, 2, func(s [3]uint64, m Mode) uint64 {
				if r, ok := f.nan(m, s[0]); ok {
					return r
				}
				x := f.in(s[0], m)
				if f.isInf(x) || x&^f.sign() == 0 {
					return x
				}
				n := min(max(shift(s[1]), -6000), 6000)
				v := f.value(x)
				return f.result(new(big.Float).SetPrec(6000).SetMantExp(v, n), false, m)
			})
			for n := -160; n <= 160; n++ {
				for _, x := range []uint64{1, 3, f.one() + 1, f.inf() - 1} {
					want := f.result(new(big.Float).SetMantExp(f.value(x), n), false, 0xF0)
					if got := eval1(name, Env{Mode: 0xF0}, x, uint64(uint32(n))); got != want {
						t.Fatalf("%s(%#x, %d) = %#x, want %#x", name, x, n, got, want)
					}
				}
			}
		})
	}
	for _, f := range []refFormat{ref16, ref32, ref64} {
		exp := map[string]string{"f16": "v_frexp_exp_i16_f16", "f32": "v_frexp_exp_i32_f32", "f64": "v_frexp_exp_i32_f64"}[f.name]
		t.Run(exp, func(t *testing.T) {
			against(t, exp, f, 1, func(s [3]uint64, m Mode) uint64 {
				x := f.in(s[0], m)
				if f.isNaN(x) || f.isInf(x) || x&^f.sign() == 0 {
					return 0
				}
				e := f.value(x).MantExp(nil)
				if f == ref16 {
					return uint64(uint16(e))
				}
				return uint64(uint32(e))
			})
		})
		mant := "v_frexp_mant_" + f.name
		t.Run(mant, func(t *testing.T) {
			against(t, mant, f, 1, func(s [3]uint64, m Mode) uint64 {
				if r, ok := f.nan(m, s[0]); ok {
					return r
				}
				x := f.in(s[0], m)
				if f.isInf(x) || x&^f.sign() == 0 {
					return x
				}
				man := new(big.Float)
				f.value(x).MantExp(man)
				return f.result(man, false, 0xF0)
			})
		})
	}
}

// TestLegacyMultiply: zero times anything is +0.
func TestLegacyMultiply(t *testing.T) {
	zero := func(x uint64, m Mode) bool { return ref32.in(x, m)&^(1<<31) == 0 }
	against(t, "v_mul_legacy_f32", ref32, 2, func(s [3]uint64, m Mode) uint64 {
		if zero(s[0], m) || zero(s[1], m) {
			return 0
		}
		return ref32.mul(s[0], s[1], m)
	})
	against(t, "v_mad_legacy_f32", ref32, 3, func(s [3]uint64, m Mode) uint64 {
		m &^= 0x30
		if zero(s[0], m) || zero(s[1], m) {
			return ref32.add(0, s[2], m)
		}
		return ref32.mad(s[0], s[1], s[2], m)
	})
}

// TestCube compares with the face table of a cube map: for each face the major
// axis and the directions of s and t (OpenGL 4.6, table 8.19).
func TestCube(t *testing.T) {
	faces := []struct{ ma, sc, tc [3]float64 }{ // as multiples of (x, y, z)
		{[3]float64{1}, [3]float64{0, 0, -1}, [3]float64{0, -1}},
		{[3]float64{-1}, [3]float64{0, 0, 1}, [3]float64{0, -1}},
		{[3]float64{0, 1}, [3]float64{1}, [3]float64{0, 0, 1}},
		{[3]float64{0, -1}, [3]float64{1}, [3]float64{0, 0, -1}},
		{[3]float64{0, 0, 1}, [3]float64{1}, [3]float64{0, -1}},
		{[3]float64{0, 0, -1}, [3]float64{-1}, [3]float64{0, -1}},
	}
	dot := func(a [3]float64, p [3]float64) float64 { return a[0]*p[0] + a[1]*p[1] + a[2]*p[2] }
	at := func(name string, p [3]float64) float64 {
		var s []uint64
		for _, v := range p {
			s = append(s, uint64(math.Float32bits(float32(v))))
		}
		return float64(math.Float32frombits(uint32(eval1(name, Env{Mode: 0x2F0}, s...))))
	}
	for id, f := range faces {
		p := [3]float64{0.25, -0.5, 0.125}
		for i, v := range f.ma {
			if v != 0 {
				p[i] = 3 * v
			}
		}
		if got := at("v_cubeid_f32", p); got != float64(id) {
			t.Errorf("v_cubeid(%v) = %v, want %d", p, got, id)
		}
		if got, want := math.Abs(at("v_cubema_f32", p)), 2*dot(f.ma, p); got != want {
			t.Errorf("v_cubema(%v) = %v, want %v", p, got, want)
		}
		if got, want := at("v_cubesc_f32", p), dot(f.sc, p); got != want {
			t.Errorf("v_cubesc(%v) = %v, want %v", p, got, want)
		}
		if got, want := at("v_cubetc_f32", p), dot(f.tc, p); got != want {
			t.Errorf("v_cubetc(%v) = %v, want %v", p, got, want)
		}
	}
}
