package lane

import (
	"bufio"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFamiliesComplete lists the packed, mixed, dot, matrix, AccVGPR and 8-bit
// float instructions of the opcode tables.
func TestFamiliesComplete(t *testing.T) {
	found := 0
	for _, target := range []string{"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"} {
		f, err := os.Open("../isa/ops/" + target + ".tsv")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			name := strings.Split(lines.Text(), "\t")[2]
			for _, suffix := range []string{"_e32", "_e64"} {
				name = strings.TrimSuffix(name, suffix)
			}
			for _, family := range []string{"v_pk_", "v_mad_mix", "v_fma_mix", "v_dot", "v_mfma_", "v_smfmac_", "v_accvgpr_", "v_cvt_f32_fp8", "v_cvt_f32_bf8", "v_cvt_pk_f32_", "v_cvt_pk_fp8_", "v_cvt_pk_bf8_", "v_cvt_sr_"} {
				if strings.HasPrefix(name, family) {
					found++
					k, ok := Kernels[name]
					if !ok || k.Fn == nil {
						t.Errorf("%s: no kernel for %s", target, name)
					}
				}
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d table lines matched: the tables are not read", found)
	}
}

// half extracts what op_sel chooses, as a dword with a 16-bit value.
func half(x uint32, high bool) uint32 {
	if high {
		return x >> 16
	}
	return x & 0xFFFF
}

func drawEnv(t *rapid.T) Env {
	return Env{
		Mode:    Mode(rapid.SampledFrom([]uint32{0xF0, 0x1F0, 0x3F0, 0, 0x100, 0x2F5, 0xFA, 0x800000F0}).Draw(t, "mode")),
		OpSel:   uint8(rapid.IntRange(0, 7).Draw(t, "op_sel")),
		OpSelHi: uint8(rapid.IntRange(0, 7).Draw(t, "op_sel_hi")),
		NegLo:   uint8(rapid.IntRange(0, 7).Draw(t, "neg_lo")),
		NegHi:   uint8(rapid.IntRange(0, 7).Draw(t, "neg_hi")),
		Clamp:   rapid.Bool().Draw(t, "clamp"),
	}
}

// TestPackedF16 compares each half with the unpacked instruction.
func TestPackedF16(t *testing.T) {
	for packed, single := range map[string]string{
		"v_pk_add_f16": "v_add_f16", "v_pk_mul_f16": "v_mul_f16", "v_pk_min_f16": "v_min_f16",
		"v_pk_max_f16": "v_max_f16", "v_pk_fma_f16": "v_fma_f16",
	} {
		t.Run(packed, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				e := drawEnv(t)
				rows := []Row{*drawRow(t, "a"), *drawRow(t, "b"), *drawRow(t, "c"), *drawRow(t, "d")}
				exec := rapid.Uint64().Draw(t, "exec")
				var want [2]Row
				for h, mods := range [2][2]uint8{{e.OpSel, e.NegLo}, {e.OpSelHi, e.NegHi}} {
					var s [3]Row
					for n := range s {
						Select16(&s[n], &rows[n], mods[0]&(1<<n) != 0)
						ApplyNegAbs(&s[n], &s[n], F16, mods[1]&(1<<n) != 0, false)
					}
					plain := Env{Mode: e.Mode}
					Kernels[single].Fn(&want[h], &s[0], &s[1], &s[2], ^uint64(0), &plain)
					OutMod(&want[h], F16, ^uint64(0), 0, e.Clamp, e.Mode)
				}
				got := rows[3]
				Kernels[packed].Fn(&got, &rows[0], &rows[1], &rows[2], exec, &e)
				for i := range got {
					w := want[0][i]&0xFFFF | want[1][i]<<16
					if exec&(1<<i) == 0 {
						w = rows[3][i]
					}
					if got[i] != w {
						t.Fatalf("lane %d of %#x %#x %#x: got %#x, want %#x", i, rows[0][i], rows[1][i], rows[2][i], got[i], w)
					}
				}
				// In place.
				Kernels[packed].Fn(&rows[0], &rows[0], &rows[1], &rows[2], ^uint64(0), &e)
				for i := range got {
					if exec&(1<<i) != 0 && rows[0][i] != got[i] {
						t.Fatalf("lane %d in place: got %#x, want %#x", i, rows[0][i], got[i])
					}
				}
			})
		})
	}
}

// TestPackedInt evaluates the pseudocode in 64 bits.
func TestPackedInt(t *testing.T) {
	signed := func(x uint32) int64 { return int64(int16(x)) }
	for name, f := range map[string]func(x, y, z uint32) int64{
		"v_pk_add_i16":     func(x, y, _ uint32) int64 { return signed(x) + signed(y) },
		"v_pk_sub_i16":     func(x, y, _ uint32) int64 { return signed(x) - signed(y) },
		"v_pk_mad_i16":     func(x, y, z uint32) int64 { return signed(x)*signed(y) + signed(z) },
		"v_pk_ashrrev_i16": func(x, y, _ uint32) int64 { return int64(math.Floor(float64(signed(y)) / math.Pow(2, float64(x%16)))) },
		"v_pk_min_i16":     func(x, y, _ uint32) int64 { return int64(math.Min(float64(signed(x)), float64(signed(y)))) },
		"v_pk_max_i16":     func(x, y, _ uint32) int64 { return int64(math.Max(float64(signed(x)), float64(signed(y)))) },
		"v_pk_add_u16":     func(x, y, _ uint32) int64 { return int64(x) + int64(y) },
		"v_pk_sub_u16":     func(x, y, _ uint32) int64 { return int64(x) - int64(y) },
		"v_pk_mad_u16":     func(x, y, z uint32) int64 { return int64(x)*int64(y) + int64(z) },
		"v_pk_mul_lo_u16":  func(x, y, _ uint32) int64 { return int64(x) * int64(y) },
		"v_pk_lshrrev_b16": func(x, y, _ uint32) int64 { return int64(y) / (1 << (x % 16)) },
		"v_pk_lshlrev_b16": func(x, y, _ uint32) int64 { return int64(y) * (1 << (x % 16)) },
		"v_pk_min_u16":     func(x, y, _ uint32) int64 { return int64(math.Min(float64(x), float64(y))) },
		"v_pk_max_u16":     func(x, y, _ uint32) int64 { return int64(math.Max(float64(x), float64(y))) },
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				e := drawEnv(t)
				rows := []Row{*drawRow(t, "a"), *drawRow(t, "b"), *drawRow(t, "c")}
				var got Row
				Kernels[name].Fn(&got, &rows[0], &rows[1], &rows[2], ^uint64(0), &e)
				for i := range got {
					for h, sel := range [2]uint8{e.OpSel, e.OpSelHi} {
						v := f(half(rows[0][i], sel&1 != 0), half(rows[1][i], sel&2 != 0), half(rows[2][i], sel&4 != 0))
						if e.Clamp && name != "v_pk_lshlrev_b16" {
							if strings.HasSuffix(name, "i16") {
								v = max(min(v, 32767), -32768)
							} else {
								v = max(min(v, 65535), 0)
							}
						}
						if w := uint32(v) & 0xFFFF; half(got[i], h == 1) != w {
							t.Fatalf("lane %d half %d of %#x %#x %#x (%+v): got %#x, want %#x", i, h, rows[0][i], rows[1][i], rows[2][i], e, got[i], w)
						}
					}
				}
			})
		})
	}
}

// TestPackedF32 compares each row with the unpacked instruction.
func TestPackedF32(t *testing.T) {
	for packed, single := range map[string]string{"v_pk_add_f32": "v_add_f32", "v_pk_mul_f32": "v_mul_f32", "v_pk_fma_f32": "v_fma_f32"} {
		t.Run(packed, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				e := drawEnv(t)
				exec := rapid.Uint64().Draw(t, "exec")
				rows := make([]Row, 8)
				for i := range rows {
					rows[i] = *drawRow(t, "row")
				}
				want := [2]Row{rows[6], rows[7]}
				for h, mods := range [2][2]uint8{{e.OpSel, e.NegLo}, {e.OpSelHi, e.NegHi}} {
					var s [3]Row
					for n := range s {
						ApplyNegAbs(&s[n], &rows[2*n+int(mods[0]>>n&1)], F32, mods[1]&(1<<n) != 0, false)
					}
					plain := Env{Mode: e.Mode}
					Kernels[single].Fn(&want[h], &s[0], &s[1], &s[2], exec, &plain)
					OutMod(&want[h], F32, exec, 0, e.Clamp, e.Mode)
				}
				inPlace := append([]Row(nil), rows...)
				Kernels[packed].Fn(&rows[6], &rows[0], &rows[2], &rows[4], exec, &e)
				if rows[6] != want[0] || rows[7] != want[1] {
					t.Fatalf("mode %#x: got %x, want %x", e.Mode, rows[6:], want)
				}
				Kernels[packed].Fn(&inPlace[1], &inPlace[0], &inPlace[2], &inPlace[4], ^uint64(0), &e)
				for i := range want[0] {
					if exec&(1<<i) != 0 && (inPlace[1][i] != want[0][i] || inPlace[2][i] != want[1][i]) {
						t.Fatalf("lane %d with the destination over two sources differs", i)
					}
				}
			})
		})
	}
}

// The examples of the ISA document: v_pk_mov_b32 v0, v2, v4 op_sel:[0,1]
// "evaluates v0 <- v2 and v1 <- v5".
func TestPkMov(t *testing.T) {
	for sel, want := range [][2]uint32{{2, 4}, {3, 4}, {2, 5}, {3, 5}} {
		v := make([]Row, 6)
		for i := range v {
			Splat(&v[i], uint32(i))
		}
		Kernels["v_pk_mov_b32"].Fn(&v[0], &v[2], &v[4], nil, 1<<9, &Env{OpSel: uint8(sel)})
		if v[0][9] != want[0] || v[1][9] != want[1] || v[0][8] != 0 || v[1][8] != 1 {
			t.Errorf("op_sel %d: got %d, %d", sel, v[0][9], v[1][9])
		}
	}
}

// TestMix evaluates the fused forms with exact arithmetic and big.Float's
// rounding, nearest even with denormals.
func TestMix(t *testing.T) {
	for _, name := range []string{"v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				e := drawEnv(t)
				e.Mode = 0x1F0
				rows := []Row{*drawRow(t, "a"), *drawRow(t, "b"), *drawRow(t, "c"), *drawRow(t, "d")}
				got := rows[3]
				Kernels[name].Fn(&got, &rows[0], &rows[1], &rows[2], ^uint64(0), &e)
				for i := range got {
					var v [3]float64
					for n := range v {
						x := rows[n][i]
						v[n] = float64(math.Float32frombits(x))
						if e.OpSelHi&(1<<n) != 0 {
							v[n] = smallFloat(half(x, e.OpSel&(1<<n) != 0), 5, 10)
						}
						if e.NegHi&(1<<n) != 0 {
							v[n] = math.Abs(v[n])
						}
						if e.NegLo&(1<<n) != 0 {
							v[n] = -v[n]
						}
					}
					want := fmaRef(v[0], v[1], v[2])
					if e.Clamp {
						switch {
						case want != want, want < 0:
							want = 0
						case want > 1:
							want = 1
						}
					}
					res, other, old := got[i], uint32(0), uint32(0)
					switch name {
					case "v_fma_mixlo_f16":
						res, other, old = got[i]&0xFFFF, got[i]>>16, rows[3][i]>>16
					case "v_fma_mixhi_f16":
						res, other, old = got[i]>>16, got[i]&0xFFFF, rows[3][i]&0xFFFF
					}
					if other != old {
						t.Fatalf("lane %d: the other half became %#x", i, other)
					}
					g := float64(math.Float32frombits(res))
					if name != "v_fma_mix_f32" {
						g, want = smallFloat(res, 5, 10), nearestF16(want)
					}
					if g != want && !(g != g && want != want) {
						t.Fatalf("lane %d of %v: got %v, want %v", i, v, g, want)
					}
				}
			})
		})
	}
}

// fmaRef is x*y+z rounded once to f32.
func fmaRef(x, y, z float64) float64 {
	if p := x*y + z; p != p || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsInf(z, 0) {
		return p
	}
	f, _ := new(big.Float).Add(new(big.Float).Mul(bigf(x), bigf(y)), bigf(z)).Float32()
	return float64(f)
}

// nearestF16 rounds to the nearest f16 value, ties to even, by its grid.
func nearestF16(v float64) float64 {
	if v == 0 || v-v != 0 {
		return v
	}
	ulp := math.Ldexp(1, max(math.Ilogb(v), -14)-10)
	r := math.RoundToEven(v/ulp) * ulp
	if math.Abs(r) >= 65536 {
		return math.Inf(int(math.Copysign(1, v)))
	}
	return r
}

// TestMadMix checks that v_mad_mix_f32 rounds the product.
func TestMadMix(t *testing.T) {
	var a, b, c, d Row
	x := math.Float32frombits(0x3F800001) // 1 + 2^-23; its square needs 2^-46
	Splat(&a, math.Float32bits(x))
	Splat(&b, math.Float32bits(x))
	Splat(&c, math.Float32bits(-float32(1+0x1p-22)))
	Kernels["v_mad_mix_f32"].Fn(&d, &a, &b, &c, 1, &Env{Mode: 0xF0})
	if d[0] != 0 {
		t.Errorf("v_mad_mix_f32 gave %#x, want 0", d[0])
	}
	Kernels["v_fma_mix_f32"].Fn(&d, &a, &b, &c, 1, &Env{Mode: 0xF0})
	if got := math.Float32frombits(d[0]); got != 0x1p-46 {
		t.Errorf("v_fma_mix_f32 gave %v, want 2^-46", got)
	}
}

func TestPkFmac(t *testing.T) {
	var a, b, c Row
	Splat(&a, 0x42004000) // 3, 2
	Splat(&b, 0x45004400) // 5, 4
	Splat(&c, 0x3C003C00) // 1, 1
	k := Kernels["v_pk_fmac_f16"]
	k.Fn(&c, &a, &b, &c, 1, &Env{Mode: 0xF0}) // VOP2: no op_sel_hi
	if c[0] != 0x4C004880 || c[1] != 0x3C003C00 || !k.DstIsSrc {
		t.Errorf("got %#x, want 16, 9", c[0])
	}
}
