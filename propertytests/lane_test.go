package propertytests

import (
	"math"
	"math/big"
	"testing"

	"gfxrt/sim/lane"

	"pgregory.net/rapid"
)

// bigModes are MODE's rounding modes as math/big names them.
var bigModes = [4]big.RoundingMode{big.ToNearestEven, big.ToPositiveInf, big.ToNegativeInf, big.ToZero}

// laneFormat is one of the formats of the arithmetic laws.
type laneFormat struct {
	suffix    string
	prec      uint // significant bits
	maxExp    int  // finite values are below 2^maxExp
	roundAt   int  // bit position of the format's rounding field in MODE
	rows      int
	bits      func(v float64) uint64
	float     func(b uint64) float64
	drawValue *rapid.Generator[float64]
}

var laneFormats = []laneFormat{
	{"f32", 24, 128, 0, 1,
		func(v float64) uint64 { return uint64(math.Float32bits(float32(v))) },
		func(b uint64) float64 { return float64(math.Float32frombits(uint32(b))) },
		rapid.Map(rapid.Float32(), func(v float32) float64 { return float64(v) })},
	{"f64", 53, 1024, 2, 2, math.Float64bits, math.Float64frombits, rapid.Float64()},
}

// TestLaneArithmeticLaw: in every rounding mode and any EXEC, a sum, a product
// and a fused multiply-add are what math/big computes with the format's
// precision, wherever that is a normal number of the format; inactive lanes
// keep their value.
func TestLaneArithmeticLaw(t *testing.T) {
	ops := map[string]func(z, x, y, c *big.Float) *big.Float{
		"add": func(z, x, y, _ *big.Float) *big.Float { return z.Add(x, y) },
		"mul": func(z, x, y, _ *big.Float) *big.Float { return z.Mul(x, y) },
		"fma": func(z, x, y, c *big.Float) *big.Float { return z.Add(new(big.Float).SetPrec(0).Mul(x, y), c) },
	}
	for _, f := range laneFormats {
		for op, fn := range ops {
			name := "v_" + op + "_" + f.suffix
			t.Run(name, func(t *testing.T) {
				kernel := lane.Kernels[name]
				rapid.Check(t, func(t *rapid.T) {
					mode := rapid.IntRange(0, 3).Draw(t, "rounding")
					exec := rapid.Uint64().Draw(t, "exec")
					values := rapid.SliceOfN(f.drawValue, 3, 24).Draw(t, "values")
					var rows [4][2]lane.Row // d, a, b, c
					at := func(k, i int) float64 { return values[(i*(k+1)+k)%len(values)] }
					for k := range rows {
						for i := range 64 {
							b := f.bits(at(k, i))
							rows[k][0][i], rows[k][1][i] = uint32(b), uint32(b>>32)
						}
					}
					env := lane.Env{Mode: 0x2F0 | lane.Mode(mode<<f.roundAt)}
					kernel.Fn(&rows[0][0], &rows[1][0], &rows[2][0], &rows[3][0], exec, &env)
					for i := range 64 {
						got := f.float(uint64(rows[0][0][i]))
						if f.rows == 2 {
							got = f.float(uint64(rows[0][1][i])<<32 | uint64(rows[0][0][i]))
						}
						if exec>>i&1 == 0 {
							if f.bits(got) != f.bits(at(0, i)) {
								t.Fatalf("lane %d is inactive and changed", i)
							}
							continue
						}
						x, y, c := at(1, i), at(2, i), at(3, i)
						if math.IsInf(x+y+c, 0) || math.IsNaN(x+y+c) && (math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsInf(c, 0)) {
							continue
						}
						z := new(big.Float).SetPrec(f.prec).SetMode(bigModes[mode])
						fn(z, exactly(x), exactly(y), exactly(c))
						if e := z.MantExp(nil); z.Sign() == 0 || e > f.maxExp || e < 3-f.maxExp {
							continue // zero, overflow or denormal: other tests
						}
						if want, _ := z.Float64(); got != want {
							t.Fatalf("%s(%v, %v, %v) rounding %d = %v, want %v", name, x, y, c, mode, got, want)
						}
					}
				})
			})
		}
	}
}

// exactly is v with room for any sum of products of two formats' values.
func exactly(v float64) *big.Float { return new(big.Float).SetPrec(5000).SetFloat64(v) }

// TestLaneIntegerLaws: what the carry chain, the multiplies and the bit fields
// compute fits together as 64-bit integers do.
func TestLaneIntegerLaws(t *testing.T) {
	run := func(name string, env *lane.Env, src ...uint64) uint64 {
		var rows [4][2]lane.Row
		for i, s := range src {
			rows[i+1][0][7], rows[i+1][1][7] = uint32(s), uint32(s>>32)
		}
		lane.Kernels[name].Fn(&rows[0][0], &rows[1][0], &rows[2][0], &rows[3][0], 1<<7, env)
		return uint64(rows[0][1][7])<<32 | uint64(rows[0][0][7])
	}
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.Uint64().Draw(t, "x"), rapid.Uint64().Draw(t, "y")
		lo, hi := func(v uint64) uint64 { return v & (1<<32 - 1) }, func(v uint64) uint64 { return v >> 32 }
		env := &lane.Env{}
		sumLo := run("v_add_co_u32", env, lo(x), lo(y))
		env.CarryIn = env.CarryOut
		sum := run("v_addc_co_u32", env, hi(x), hi(y))<<32 | sumLo
		if sum != x+y {
			t.Fatalf("add with carry: %#x + %#x = %#x", x, y, sum)
		}
		subLo := run("v_sub_co_u32", env, lo(x), lo(y))
		env.CarryIn = env.CarryOut
		if sub := run("v_subb_co_u32", env, hi(x), hi(y))<<32 | subLo; sub != x-y {
			t.Fatalf("subtract with borrow: %#x - %#x = %#x", x, y, sub)
		}
		a, b := lo(x), lo(y)
		product := run("v_mul_hi_u32", env, a, b)<<32 | run("v_mul_lo_u32", env, a, b)
		if product != a*b || run("v_mad_u64_u32", env, a, b, x) != a*b+x {
			t.Fatalf("multiply: %#x * %#x = %#x", a, b, product)
		}
		off, width := lo(y)%32, hi(y)%(32-lo(y)%32)
		mask := run("v_bfm_b32", env, width, off)
		field := run("v_bfe_u32", env, a, off, width)
		if back := run("v_bfi_b32", env, mask, run("v_lshlrev_b32", env, off, field), a); back != a {
			t.Fatalf("bit field %d+%d of %#x put back gives %#x", off, width, a, back)
		}
	})
}
