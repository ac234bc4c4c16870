package lane

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestDocumentedSpecialValues are the functional examples of the CDNA3 and
// CDNA4 ISA documents.
func TestDocumentedSpecialValues(t *testing.T) {
	for _, c := range []struct {
		name string
		x, r uint64
	}{
		{"v_exp_f32", 0xff800000, 0}, {"v_exp_f32", 0x80000000, 0x3f800000}, {"v_exp_f32", 0x7f800000, 0x7f800000},
		{"v_log_f32", 0xff800000, 0xffc00000}, {"v_log_f32", 0xbf800000, 0xffc00000}, {"v_log_f32", 0x80000000, 0xff800000},
		{"v_log_f32", 0, 0xff800000}, {"v_log_f32", 0x3f800000, 0}, {"v_log_f32", 0x7f800000, 0x7f800000},
		{"v_rcp_f32", 0xff800000, 0x80000000}, {"v_rcp_f32", 0xc0000000, 0xbf000000}, {"v_rcp_f32", 0x80000000, 0xff800000},
		{"v_rcp_f32", 0, 0x7f800000}, {"v_rcp_f32", 0x7f800000, 0},
		{"v_rsq_f32", 0xff800000, 0xffc00000}, {"v_rsq_f32", 0x80000000, 0xff800000}, {"v_rsq_f32", 0, 0x7f800000},
		{"v_rsq_f32", 0x40800000, 0x3f000000}, {"v_rsq_f32", 0x7f800000, 0},
		{"v_sqrt_f32", 0xff800000, 0xffc00000}, {"v_sqrt_f32", 0x80000000, 0x80000000}, {"v_sqrt_f32", 0, 0},
		{"v_sqrt_f32", 0x40800000, 0x40000000}, {"v_sqrt_f32", 0x7f800000, 0x7f800000},
		{"v_sin_f32", 0xff800000, 0xffc00000}, {"v_sin_f32", 0xff7fffff, 0}, {"v_sin_f32", 0x80000000, 0x80000000},
		{"v_sin_f32", 0x3e800000, 0x3f800000}, {"v_sin_f32", 0x7f800000, 0xffc00000},
		{"v_cos_f32", 0xff800000, 0xffc00000}, {"v_cos_f32", 0xff7fffff, 0x3f800000}, {"v_cos_f32", 0x80000000, 0x3f800000},
		{"v_cos_f32", 0x3e800000, 0}, {"v_cos_f32", 0x7f800000, 0xffc00000},
		{"v_rcp_f16", 0xfc00, 0x8000}, {"v_rcp_f16", 0xc000, 0xb800}, {"v_rcp_f16", 0x8000, 0xfc00}, {"v_rcp_f16", 0, 0x7c00}, {"v_rcp_f16", 0x7c00, 0},
		{"v_sqrt_f16", 0xfc00, 0xfe00}, {"v_sqrt_f16", 0x8000, 0x8000}, {"v_sqrt_f16", 0, 0}, {"v_sqrt_f16", 0x4400, 0x4000}, {"v_sqrt_f16", 0x7c00, 0x7c00},
		{"v_rsq_f16", 0xfc00, 0xfe00}, {"v_rsq_f16", 0x8000, 0xfc00}, {"v_rsq_f16", 0, 0x7c00}, {"v_rsq_f16", 0x4400, 0x3800}, {"v_rsq_f16", 0x7c00, 0},
		{"v_log_f16", 0xfc00, 0xfe00}, {"v_log_f16", 0xbc00, 0xfe00}, {"v_log_f16", 0x8000, 0xfc00}, {"v_log_f16", 0, 0xfc00}, {"v_log_f16", 0x3c00, 0}, {"v_log_f16", 0x7c00, 0x7c00},
		{"v_exp_f16", 0xfc00, 0}, {"v_exp_f16", 0x8000, 0x3c00}, {"v_exp_f16", 0x7c00, 0x7c00},
		{"v_sin_f16", 0xfc00, 0xfe00}, {"v_sin_f16", 0xfbff, 0}, {"v_sin_f16", 0x8000, 0x8000}, {"v_sin_f16", 0x3400, 0x3c00}, {"v_sin_f16", 0x7bff, 0}, {"v_sin_f16", 0x7c00, 0xfe00},
		{"v_cos_f16", 0xfc00, 0xfe00}, {"v_cos_f16", 0xfbff, 0x3c00}, {"v_cos_f16", 0x8000, 0x3c00}, {"v_cos_f16", 0x3400, 0}, {"v_cos_f16", 0x7bff, 0x3c00}, {"v_cos_f16", 0x7c00, 0xfe00},
	} {
		if got := eval1(c.name, Env{Mode: 0x2F0, Gen: GenGFX940}, c.x); got != c.r {
			t.Errorf("%s(%#x) = %#x, want %#x", c.name, c.x, got, c.r)
		}
	}
}

// TestTrigDomain: before gfx940 sin and cos take 256 turns at most; what lies
// outside counts as 0.
func TestTrigDomain(t *testing.T) {
	x := uint64(math.Float32bits(300.125))
	for _, c := range []struct {
		name string
		gen  Gen
		want float64
	}{
		{"v_sin_f32", GenGFX90A, 0}, {"v_cos_f32", GenGFX90A, 1},
		{"v_sin_f32", GenGFX940, math.Sqrt2 / 2}, {"v_cos_f32", GenGFX940, math.Sqrt2 / 2},
	} {
		got := math.Float32frombits(uint32(eval1(c.name, Env{Mode: 0xF0, Gen: c.gen}, x)))
		if got != float32(c.want) {
			t.Errorf("%s(300.125) on generation %d = %v, want %v", c.name, c.gen, got, c.want)
		}
	}
}

// ulps is the distance of got from the exact value want in units of the last
// place of the format at want.
func ulps(f refFormat, got uint64, want *big.Float) float64 {
	d := new(big.Float).SetPrec(200).Sub(f.value(got), want)
	e := max(want.MantExp(nil)-1, f.emin()) - f.man
	v, _ := d.SetMantExp(d, -e).Float64()
	return math.Abs(v)
}

// TestTranscendentals holds rcp, rsq and sqrt within half an ulp of exact big
// arithmetic, and exp, log, sin and cos within an ulp of an identity that does
// not use the same library function.
func TestTranscendentals(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	one := big.NewFloat(1).SetPrec(200)
	exact := map[string]func(x *big.Float) *big.Float{
		"rcp":  func(x *big.Float) *big.Float { return new(big.Float).SetPrec(200).Quo(one, x) },
		"sqrt": func(x *big.Float) *big.Float { return new(big.Float).SetPrec(200).Sqrt(x) },
		"rsq": func(x *big.Float) *big.Float {
			return new(big.Float).SetPrec(200).Quo(one, new(big.Float).SetPrec(200).Sqrt(x))
		},
	}
	for _, f := range []refFormat{ref16, ref32, ref64} {
		for op, fn := range exact {
			name := "v_" + op + "_" + f.name
			bound := 0.5
			if f == ref64 {
				bound = 1.5 // the root and the quotient each round
			}
			for range 2000 {
				// Exponents away from the ends, so that no result is denormal.
				x := f.one() + uint64(r.IntN(26)-13)<<f.man + r.Uint64()&(1<<f.man-1)
				if op == "rcp" && r.IntN(2) == 0 {
					x |= f.sign()
				}
				if got := eval1(name, Env{Mode: 0xF0}, x); ulps(f, got, fn(f.value(x))) > bound {
					t.Fatalf("%s(%#x) = %#x is %v ulp off", name, x, got, ulps(f, got, fn(f.value(x))))
				}
			}
		}
	}
	near := func(name string, x uint64, want float64) {
		t.Helper()
		got := eval1(name, Env{Mode: 0xF0, Gen: GenGFX940}, x)
		if want != 0 && ulps(ref32, got, big.NewFloat(want)) > 1 {
			t.Errorf("%s(%#x) = %#x, want %v", name, x, got, want)
		}
	}
	for range 2000 {
		x := uint64(math.Float32bits(float32(r.Float64()*200 - 100)))
		v := float64(math.Float32frombits(uint32(x)))
		near("v_exp_f32", x, math.Exp(v*math.Ln2))
		near("v_exp_legacy_f32", x, math.Exp(v*math.Ln2))
		near("v_sin_f32", x, 2*math.Sin(math.Pi*math.Mod(v, 1))*math.Cos(math.Pi*math.Mod(v, 1)))
		if c := 1 - 2*math.Pow(math.Sin(math.Pi*math.Mod(v, 1)), 2); math.Abs(c) > 1e-3 {
			near("v_cos_f32", x, c)
		}
		near("v_log_f32", x&^(1<<31), math.Log(math.Abs(v))/math.Ln2)
		near("v_log_legacy_f32", x&^(1<<31), math.Log(math.Abs(v))/math.Ln2)
	}
}

// TestTransFlush: rcp, rsq, sqrt, log and exp of f32 treat denormals as zero in
// every mode; those of f16 keep them.
func TestTransFlush(t *testing.T) {
	for _, m := range []Mode{0, 0xF0} {
		e := Env{Mode: m}
		for _, c := range []struct {
			name string
			x, r uint64
		}{
			{"v_rcp_f32", 1, infF32}, {"v_rcp_iflag_f32", 1 | signF32, infF32 | signF32},
			{"v_rsq_f32", 5, infF32}, {"v_sqrt_f32", 5, 0}, {"v_log_f32", 5, infF32 | signF32},
			{"v_rcp_f32", uint64(math.Float32bits(0x1p127)), 0},
			{"v_exp_f32", uint64(math.Float32bits(-130)), 0},
		} {
			if got := eval1(c.name, e, c.x); got != c.r {
				t.Errorf("%s(%#x) in mode %#x = %#x, want %#x", c.name, c.x, m, got, c.r)
			}
		}
	}
	if got := eval1("v_sqrt_f16", Env{Mode: 0xF0}, 0x0100); got != 0x1C00 { // sqrt(2^-16) = 2^-8
		t.Errorf("v_sqrt_f16(2^-16) = %#x, want 2^-8", got)
	}
}

// TestTrigPreop computes 2/π with big arithmetic and cuts out the segments.
func TestTrigPreop(t *testing.T) {
	// Machin: π = 16 atan(1/5) - 4 atan(1/239), to 1600 bits.
	unity := new(big.Int).Lsh(big.NewInt(1), 1600)
	atan := func(x int64) *big.Int {
		sum, term := new(big.Int), new(big.Int).Div(unity, big.NewInt(x))
		for n := int64(1); term.Sign() != 0; n += 2 {
			q := new(big.Int).Div(term, big.NewInt(n))
			if n%4 == 1 {
				sum.Add(sum, q)
			} else {
				sum.Sub(sum, q)
			}
			term.Div(term, big.NewInt(x*x))
		}
		return sum
	}
	pi := new(big.Int).Sub(new(big.Int).Mul(big.NewInt(16), atan(5)), new(big.Int).Mul(big.NewInt(4), atan(239)))
	bits := new(big.Int).Lsh(unity, 1201+1)
	bits.Div(bits, pi) // 2/π in units of 2^-1201
	if bits.BitLen() != 1201 {
		t.Fatalf("2/π has %d bits", bits.BitLen())
	}
	for seg := range 32 {
		for _, exp := range []int{0, 1, 1023, 1077, 1078, 1200, 1967, 1968, 2000, 2046, 2047} {
			shift := seg * 53
			if exp > 1077 {
				shift += exp - 1077
			}
			var part big.Int
			if shift <= 1201 {
				part.Lsh(bits, 53)
				part.Rsh(&part, uint(1201-shift))
			} else {
				part.Lsh(bits, uint(53+shift-1201))
			}
			part.And(&part, big.NewInt(1<<53-1))
			scale := -53 - shift
			if exp >= 1968 {
				scale += 128
			}
			want := ref64.result(new(big.Float).SetMantExp(new(big.Float).SetInt(&part), scale), false, 0xFC)
			x := uint64(exp)<<52 | 0x123456789
			if got := eval1("v_trig_preop_f64", Env{Mode: 0xF0}, x, uint64(seg|32)); got != want {
				t.Fatalf("v_trig_preop_f64(exponent %d, segment %d) = %#x, want %#x", exp, seg, got, want)
			}
		}
	}
}
