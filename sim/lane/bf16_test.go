package lane

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestAddBF16 holds the sum to the nearest bf16 of the exact one, found among
// the neighbours in exact arithmetic.
func TestAddBF16(t *testing.T) {
	value := func(b uint32) *big.Float {
		return new(big.Float).SetPrec(400).SetFloat64(float64(math.Float32frombits(b << 16)))
	}
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.Uint32Range(0, 0xffff).Draw(t, "x"), rapid.Uint32Range(0, 0xffff).Draw(t, "y")
		if x&0x7f80 == 0x7f80 || y&0x7f80 == 0x7f80 {
			t.Skip("infinities and NaNs have no exact sum")
		}
		got := addBF16(x, y, 0, Mode(0xf0)) & 0xffff
		exact := new(big.Float).SetPrec(400).Add(value(x), value(y))
		if got&0x7f80 == 0x7f80 {
			limit := new(big.Float).SetFloat64(math.Ldexp(511, 119)) // half an ulp above the largest bf16
			if exact.Abs(exact).Cmp(limit) < 0 {
				t.Fatalf("%#x + %#x overflows to %#x", x, y, got)
			}
			return
		}
		distance := func(b uint32) *big.Float {
			d := new(big.Float).SetPrec(400).Sub(value(b), exact)
			return d.Abs(d)
		}
		for _, n := range []uint32{got + 1, got - 1} {
			if n&0x7f80 == 0x7f80 || n&0x8000 != got&0x8000 {
				continue
			}
			if c := distance(n).Cmp(distance(got)); c < 0 || c == 0 && got&1 == 1 {
				t.Fatalf("%#x + %#x = %#x, but %#x is nearer", x, y, got, n)
			}
		}
	})
}
