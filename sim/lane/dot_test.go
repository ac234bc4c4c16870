package lane

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDotInt adds the products of elements taken bit by bit.
func TestDotInt(t *testing.T) {
	for name, width := range map[string]int{
		"v_dot2_i32_i16": 16, "v_dot2_u32_u16": 16, "v_dot4_i32_i8": 8, "v_dot4_u32_u8": 8, "v_dot8_i32_i4": 4, "v_dot8_u32_u4": 4,
		"v_dot2c_i32_i16": 16, "v_dot4c_i32_i8": 8, "v_dot8c_i32_i4": 4,
	} {
		t.Run(name, func(t *testing.T) {
			signed := strings.Contains(name, "_i32_")
			elem := func(x uint32, i int) (v int64) {
				for b := range width {
					if x&(1<<(i*width+b)) != 0 {
						if signed && b == width-1 {
							v -= 1 << b
						} else {
							v += 1 << b
						}
					}
				}
				return v
			}
			rapid.Check(t, func(t *rapid.T) {
				rows := []Row{*drawRow(t, "a"), *drawRow(t, "b"), *drawRow(t, "c")}
				e := Env{OpSelHi: 7, Clamp: rapid.Bool().Draw(t, "clamp")}
				swap := strings.HasPrefix(name, "v_dot2_") && rapid.Bool().Draw(t, "swap")
				if swap { // the second source with exchanged halves
					e.OpSel, e.OpSelHi = 2, 5
				}
				d := rows[2]
				Kernels[name].Fn(&d, &rows[0], &rows[1], &d, ^uint64(0)>>1, &e)
				for i := range 63 {
					sum := int64(rows[2][i])
					lo, hi := int64(0), int64(math.MaxUint32)
					if signed {
						sum, lo, hi = int64(int32(rows[2][i])), math.MinInt32, math.MaxInt32
					}
					for n := range 32 / width {
						m := n
						if swap {
							m = 1 - n
						}
						sum += elem(rows[0][i], n) * elem(rows[1][i], m)
					}
					if e.Clamp {
						sum = min(max(sum, lo), hi)
					}
					if d[i] != uint32(sum) {
						t.Fatalf("lane %d of %#x %#x %#x clamp %v: got %#x, want %#x", i, rows[0][i], rows[1][i], rows[2][i], e.Clamp, d[i], uint32(sum))
					}
				}
				if d[63] != rows[2][63] {
					t.Fatal("a lane outside exec changed")
				}
			})
		})
	}
}

// TestDot2F16 uses operands whose products and sums are exact, so that no order
// of rounding matters, and the selectors and signs around them.
func TestDot2F16(t *testing.T) {
	codes := []uint32{0, 0x3C00, 0x4000, 0x4200, 0xBC00, 0xC000, 0x3800, 0x4880, 0xCC00}
	rapid.Check(t, func(t *rapid.T) {
		e := drawEnv(t)
		e.Mode = 0x1F0
		code := rapid.SampledFrom(codes)
		var in [2][2]uint32
		for n := range in {
			in[n] = [2]uint32{code.Draw(t, "lo"), code.Draw(t, "hi")}
		}
		acc := float32(rapid.IntRange(-100, 100).Draw(t, "acc"))
		var a, b, c, d Row
		a[0], b[0], c[0] = in[0][0]|in[0][1]<<16, in[1][0]|in[1][1]<<16, math.Float32bits(acc)
		Kernels["v_dot2_f32_f16"].Fn(&d, &a, &b, &c, 1, &e)
		want := float64(acc)
		if e.NegLo&4 != 0 {
			want = -want
		}
		for h, mods := range [2][2]uint8{{e.OpSel, e.NegLo}, {e.OpSelHi, e.NegHi}} {
			p := 1.0
			for n := range in {
				v := smallFloat(in[n][mods[0]>>n&1], 5, 10)
				if mods[1]&(1<<n) != 0 {
					v = -v
				}
				p *= v
			}
			want += p
			_ = h
		}
		if e.Clamp {
			want = min(max(want, 0), 1)
		}
		if got := float64(math.Float32frombits(d[0])); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
		plain := float64(acc) + smallFloat(in[0][0], 5, 10)*smallFloat(in[1][0], 5, 10) + smallFloat(in[0][1], 5, 10)*smallFloat(in[1][1], 5, 10)
		Kernels["v_dot2c_f32_f16"].Fn(&c, &a, &b, &c, 1, &Env{Mode: 0xF0})
		if got := float64(math.Float32frombits(c[0])); got != plain {
			t.Fatalf("v_dot2c: got %v, want %v", got, plain)
		}
	})
}

// f32 denormals are flushed, f16 ones follow MODE.
func TestDot2F16Denormals(t *testing.T) {
	for _, tc := range []struct {
		a, b, c uint32
		mode    Mode
		want    uint32
	}{
		{0x3C00, 0x0001, 0, 0xF0, 0x33800000}, // 2^-24
		{0x3C00, 0x0001, 0, 0x30, 0},
		{0, 0, 0x00000001, 0xF0, 0},
	} {
		var a, b, c, d Row
		a[0], b[0], c[0] = tc.a, tc.b, tc.c
		Kernels["v_dot2_f32_f16"].Fn(&d, &a, &b, &c, 1, &Env{Mode: tc.mode, OpSelHi: 7})
		if d[0] != tc.want {
			t.Errorf("%#x * %#x + %#x in mode %#x: got %#x, want %#x", tc.a, tc.b, tc.c, tc.mode, d[0], tc.want)
		}
	}
}
