package lane

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// cvtAgainst checks a conversion whose source bits come from draw.
func cvtAgainst(t *testing.T, name string, draw func(r *rand.Rand) uint64, want func(x, y uint64, m Mode) uint64) {
	t.Helper()
	k, ok := Kernels[name]
	if !ok {
		t.Fatalf("no kernel %s", name)
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		m := drawMode(t)
		var w bench
		var src [64][2]uint64
		for i := range 64 {
			src[i] = [2]uint64{draw(r), draw(r)}
			w.set(1, i, src[i][0])
			w.set(2, i, src[i][1])
		}
		w.run(name, ^uint64(0), &Env{Mode: m})
		for i := range 64 {
			x, y := src[i][0], src[i][1]
			if got, exp := w.get(0, i, k.Dst), want(x, y, m); got != exp {
				t.Fatalf("%s(%#x, %#x) mode %#x = %#x, want %#x", name, x, y, m, got, exp)
			}
		}
	})
}

// convert rounds a value of one format to another; a NaN keeps the sign and
// the top of the payload.
func convert(from, to refFormat, x uint64, m Mode) uint64 {
	var sign uint64
	if x&from.sign() != 0 {
		sign = to.sign()
	}
	if from.isNaN(x) {
		x, _ = from.nan(m, x)
		man := x & (1<<from.man - 1)
		if to.man < from.man {
			man >>= from.man - to.man
		} else {
			man <<= to.man - from.man
		}
		if man == 0 {
			man = to.qbit()
		}
		return sign | to.inf() | man
	}
	x = from.in(x, m)
	if from.isInf(x) {
		return sign | to.inf()
	}
	return to.result(from.value(x), sign != 0, m)
}

func TestConvertFloat(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to refFormat
	}{
		{"v_cvt_f16_f32", ref32, ref16}, {"v_cvt_f32_f16", ref16, ref32},
		{"v_cvt_f32_f64", ref64, ref32}, {"v_cvt_f64_f32", ref32, ref64},
	} {
		t.Run(c.name, func(t *testing.T) {
			draw := func(r *rand.Rand) uint64 {
				x := c.from.draw(r)
				if c.to.man < c.from.man && r.IntN(3) == 0 { // on or beside a tie of the target
					x = x&^(1<<(c.from.man-c.to.man)-1) | 1<<(c.from.man-c.to.man-1)
					x += uint64(r.IntN(3) - 1)
				}
				return x
			}
			cvtAgainst(t, c.name, draw, func(x, _ uint64, m Mode) uint64 { return convert(c.from, c.to, x, m) })
		})
	}
	t.Run("v_cvt_pkrtz_f16_f32", func(t *testing.T) {
		cvtAgainst(t, "v_cvt_pkrtz_f16_f32", ref32.draw, func(x, y uint64, m Mode) uint64 {
			m |= 0xC // both formats' f16 rounding: towards zero
			return convert(ref32, ref16, x, m) | convert(ref32, ref16, y, m)<<16
		})
	})
}

// TestF16RoundTrip is exhaustive: every f16 that is not a signalling NaN
// survives a trip through f32.
func TestF16RoundTrip(t *testing.T) {
	e := Env{Mode: 0x2F0}
	for base := 0; base < 1<<16; base += 64 {
		var w bench
		for i := range 64 {
			w.set(1, i, uint64(base+i))
		}
		w.run("v_cvt_f32_f16", ^uint64(0), &e)
		w.rows[1] = w.rows[0]
		w.run("v_cvt_f16_f32", ^uint64(0), &e)
		for i := range 64 {
			x := uint64(base + i)
			if ref16.isNaN(x) {
				x |= ref16.qbit()
			}
			if got := w.get(0, i, F16); got != x {
				t.Fatalf("f16 %#x came back as %#x", x, got)
			}
		}
	}
}

// toInt truncates (or floors) and saturates; NaN is 0.
func toInt(f refFormat, x uint64, width int, sign bool) uint64 {
	if f.isNaN(x) {
		return 0
	}
	if f.isInf(x) {
		v := new(big.Int).Lsh(big.NewInt(1), 80)
		if x&f.sign() != 0 {
			v.Neg(v)
		}
		return fold(v, width, sign, true)
	}
	v, _ := f.value(x).Int(nil)
	return fold(v, width, sign, true)
}

func TestConvertToInt(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     refFormat
		width int
		sign  bool
	}{
		{"v_cvt_i32_f32", ref32, 32, true}, {"v_cvt_u32_f32", ref32, 32, false},
		{"v_cvt_i32_f64", ref64, 32, true}, {"v_cvt_u32_f64", ref64, 32, false},
		{"v_cvt_i16_f16", ref16, 16, true}, {"v_cvt_u16_f16", ref16, 16, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cvtAgainst(t, c.name, c.f.draw, func(x, _ uint64, m Mode) uint64 { return toInt(c.f, x, c.width, c.sign) })
		})
	}
	for _, c := range []struct {
		name string
		x, r uint64
	}{ // the ends of the integer ranges
		{"v_cvt_i32_f32", 0x4F000000, 0x7FFFFFFF}, {"v_cvt_i32_f32", 0x4EFFFFFF, 0x7FFFFF80},
		{"v_cvt_i32_f32", 0xCF000000, 0x80000000}, {"v_cvt_i32_f32", 0xCF000001, 0x80000000},
		{"v_cvt_u32_f32", 0x4F800000, 0xFFFFFFFF}, {"v_cvt_u32_f32", 0x4F7FFFFF, 0xFFFFFF00}, {"v_cvt_u32_f32", 0xBF7FFFFF, 0},
		{"v_cvt_i32_f64", math.Float64bits(2147483647.5), 0x7FFFFFFF}, {"v_cvt_i32_f64", math.Float64bits(2147483648), 0x7FFFFFFF},
		{"v_cvt_i32_f64", math.Float64bits(-2147483648.5), 0x80000000}, {"v_cvt_i32_f64", math.Float64bits(-2147483647.5), 0x80000001},
		{"v_cvt_u32_f64", math.Float64bits(4294967295.5), 0xFFFFFFFF}, {"v_cvt_u32_f64", math.Float64bits(4294967294.5), 0xFFFFFFFE},
		{"v_cvt_i16_f16", 0xF800, 0x8000}, {"v_cvt_i16_f16", 0x7BFF, 0x7FFF}, {"v_cvt_i16_f16", 0xC500, 0xFFFB},
		{"v_cvt_u16_f16", 0x7BFF, 65504}, {"v_cvt_u16_f16", 0x7C00, 0xFFFF}, {"v_cvt_u16_f16", 0xC500, 0},
	} {
		if got := eval1(c.name, Env{Mode: 0xF0}, c.x); got != c.r {
			t.Errorf("%s(%#x) = %#x, want %#x", c.name, c.x, got, c.r)
		}
	}
	floor := func(x uint64, add float64, m Mode) uint64 {
		if ref32.isNaN(x) || ref32.isInf(x) {
			return toInt(ref32, x, 32, true)
		}
		v := ref32.value(ref32.in(x, m))
		v.Add(v, big.NewFloat(add))
		n, acc := v.Int(nil)
		if acc != big.Exact && v.Sign() < 0 {
			n.Sub(n, big.NewInt(1))
		}
		return fold(n, 32, true, true)
	}
	cvtAgainst(t, "v_cvt_flr_i32_f32", ref32.draw, func(x, _ uint64, m Mode) uint64 { return floor(x, 0, m) })
	cvtAgainst(t, "v_cvt_rpi_i32_f32", ref32.draw, func(x, _ uint64, m Mode) uint64 { return floor(x, 0.5, m) })
}

func TestConvertFromInt(t *testing.T) {
	draw := func(r *rand.Rand) uint64 { return r.Uint64() & (1<<32 - 1) >> r.IntN(32) }
	for _, c := range []struct {
		name string
		f    refFormat
		num  func(x uint64) *big.Int
	}{
		{"v_cvt_f32_i32", ref32, func(x uint64) *big.Int { return signed(x, 32) }},
		{"v_cvt_f32_u32", ref32, func(x uint64) *big.Int { return unsigned(x, 32) }},
		{"v_cvt_f64_i32", ref64, func(x uint64) *big.Int { return signed(x, 32) }},
		{"v_cvt_f64_u32", ref64, func(x uint64) *big.Int { return unsigned(x, 32) }},
		{"v_cvt_f16_i16", ref16, func(x uint64) *big.Int { return signed(x, 16) }},
		{"v_cvt_f16_u16", ref16, func(x uint64) *big.Int { return unsigned(x, 16) }},
		{"v_cvt_f32_ubyte0", ref32, func(x uint64) *big.Int { return unsigned(x, 8) }},
		{"v_cvt_f32_ubyte1", ref32, func(x uint64) *big.Int { return unsigned(x>>8, 8) }},
		{"v_cvt_f32_ubyte2", ref32, func(x uint64) *big.Int { return unsigned(x>>16, 8) }},
		{"v_cvt_f32_ubyte3", ref32, func(x uint64) *big.Int { return unsigned(x>>24, 8) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cvtAgainst(t, c.name, draw, func(x, _ uint64, m Mode) uint64 {
				return c.f.result(new(big.Float).SetInt(c.num(x)), false, m)
			})
		})
	}
}

// TestConvertNorm: a clamped value times 32767 or 65535, rounded once.
func TestConvertNorm(t *testing.T) {
	one := func(f refFormat, x uint64, sign bool, m Mode) uint64 {
		if f.isNaN(x) {
			return 0
		}
		scale, low := int64(65535), int64(0)
		if sign {
			scale, low = 32767, -1
		}
		v := new(big.Float).SetPrec(6000)
		switch x = f.in(x, m); {
		case f.isInf(x) && x&f.sign() != 0:
			v.SetInt64(low)
		case f.isInf(x):
			v.SetInt64(1)
		default:
			v = f.value(x)
		}
		if hi := big.NewFloat(1); v.Cmp(hi) > 0 {
			v = hi
		} else if lo := big.NewFloat(float64(low)); v.Cmp(lo) < 0 {
			v = lo
		}
		v = new(big.Float).SetPrec(6000).Mul(v, big.NewFloat(float64(scale)))
		n, acc := v.Int(nil)
		if acc != big.Exact {
			frac := new(big.Float).SetPrec(6000).Sub(v, new(big.Float).SetInt(n))
			half := frac.Abs(frac).Cmp(big.NewFloat(0.5))
			mode, _ := f.modes(m)
			if mode == 1 && v.Sign() > 0 || mode == 2 && v.Sign() < 0 || mode == 0 && (half > 0 || half == 0 && n.Bit(0) == 1) {
				n.Add(n, big.NewInt(int64(v.Sign())))
			}
		}
		return fold(n, 16, sign, false)
	}
	for _, f := range []refFormat{ref16, ref32} {
		for _, sign := range []bool{true, false} {
			kind := map[bool]string{true: "i16", false: "u16"}[sign]
			cvtAgainst(t, "v_cvt_pknorm_"+kind+"_"+f.name, f.draw, func(x, y uint64, m Mode) uint64 {
				return one(f, x, sign, m) | one(f, y, sign, m)<<16
			})
			if f == ref16 {
				cvtAgainst(t, "v_cvt_norm_"+kind+"_f16", f.draw, func(x, _ uint64, m Mode) uint64 { return one(f, x, sign, m) })
			}
		}
	}
}

func TestConvertSmall(t *testing.T) {
	// The table of V_CVT_OFF_F32_I4 in the ISA document.
	for x, want := range map[uint64]float32{
		8: -0.5, 9: -0.4375, 10: -0.375, 11: -0.3125, 12: -0.25, 13: -0.1875, 14: -0.125, 15: -0.0625,
		0: 0, 1: 0.0625, 2: 0.125, 3: 0.1875, 4: 0.25, 5: 0.3125, 6: 0.375, 7: 0.4375,
	} {
		if got := eval1("v_cvt_off_f32_i4", Env{Mode: 0xF0}, x|0xABCD0); math.Float32frombits(uint32(got)) != want {
			t.Errorf("v_cvt_off_f32_i4(%d) = %#x, want %v", x, got, want)
		}
	}
	b := func(v float32) uint64 { return uint64(math.Float32bits(v)) }
	for _, c := range []struct{ x, sel, z, want uint64 }{
		{b(200), 0, 0x11223344, 0x112233C8}, {b(200), 5, 0x11223344, 0x1122C844},
		{b(300), 2, 0x11223344, 0x11FF3344}, {b(-5), 3, 0x11223344, 0x00223344},
		{0x7FC00000, 1, 0x11223344, 0x11220044}, {b(float32(math.Inf(1))), 0, 0, 0xFF},
	} {
		for _, name := range []string{"v_cvt_pk_u8_f32", "v_cvt_pkaccum_u8_f32"} {
			if got := eval1(name, Env{Mode: 0xF0}, c.x, c.sel, c.z); got != c.want {
				t.Errorf("%s(%#x, %d, %#x) = %#x, want %#x", name, c.x, c.sel, c.z, got, c.want)
			}
		}
	}
}
