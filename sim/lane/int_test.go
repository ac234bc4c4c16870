package lane

import (
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// bit returns bit n of x.
func bit(x uint64, n int) uint64 { return x >> n & 1 }

// field returns x[hi:lo].
func field(x uint64, hi, lo int) uint64 { return x >> lo & (1<<(hi-lo+1) - 1) }

// signed is the low n bits of x as a signed integer.
func signed(x uint64, n int) *big.Int {
	v := new(big.Int).SetUint64(x & (1<<n - 1))
	if n == 64 {
		v.SetUint64(x)
	}
	if v.Bit(n-1) == 1 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(n)))
	}
	return v
}

func unsigned(x uint64, n int) *big.Int {
	if n < 64 {
		x &= 1<<n - 1
	}
	return new(big.Int).SetUint64(x)
}

// fold gives the low n bits of v, or v saturated to n bits.
func fold(v *big.Int, n int, sign, clamp bool) uint64 {
	one := big.NewInt(1)
	if clamp {
		lo, hi := big.NewInt(0), new(big.Int).Lsh(one, uint(n))
		if sign {
			hi.Rsh(hi, 1)
			lo.Neg(hi)
		}
		hi.Sub(hi, one)
		if v.Cmp(hi) > 0 {
			v = hi
		} else if v.Cmp(lo) < 0 {
			v = lo
		}
	}
	return new(big.Int).And(v, new(big.Int).Sub(new(big.Int).Lsh(one, uint(n)), one)).Uint64()
}

// TestIntegerArithmetic checks sums and products, plain and saturated, against
// unbounded integers: x*y+z, x+y+z or x-y of the given widths.
func TestIntegerArithmetic(t *testing.T) {
	type shape struct {
		name         string
		n            int // sources
		width        int // of the result
		w            [3]int
		sign         bool
		clamps       bool
		fn           func(x, y, z *big.Int) *big.Int
		shiftProduct uint
	}
	add := func(x, y, _ *big.Int) *big.Int { return new(big.Int).Add(x, y) }
	sub := func(x, y, _ *big.Int) *big.Int { return new(big.Int).Sub(x, y) }
	rsub := func(x, y, _ *big.Int) *big.Int { return new(big.Int).Sub(y, x) }
	mul := func(x, y, _ *big.Int) *big.Int { return new(big.Int).Mul(x, y) }
	mulhi := func(x, y, _ *big.Int) *big.Int { return new(big.Int).Rsh(new(big.Int).Mul(x, y), 32) }
	mad := func(x, y, z *big.Int) *big.Int { return new(big.Int).Add(new(big.Int).Mul(x, y), z) }
	add3 := func(x, y, z *big.Int) *big.Int { return new(big.Int).Add(new(big.Int).Add(x, y), z) }
	w32, w16 := [3]int{32, 32, 32}, [3]int{16, 16, 16}
	for _, s := range []shape{
		{"v_add_u32", 2, 32, w32, false, true, add, 0},
		{"v_sub_u32", 2, 32, w32, false, true, sub, 0},
		{"v_subrev_u32", 2, 32, w32, false, true, rsub, 0},
		{"v_add_i32", 2, 32, w32, true, true, add, 0},
		{"v_sub_i32", 2, 32, w32, true, true, sub, 0},
		{"v_add_u16", 2, 16, w16, false, true, add, 0},
		{"v_sub_u16", 2, 16, w16, false, true, sub, 0},
		{"v_subrev_u16", 2, 16, w16, false, true, rsub, 0},
		{"v_add_i16", 2, 16, w16, true, true, add, 0},
		{"v_sub_i16", 2, 16, w16, true, true, sub, 0},
		{"v_mul_lo_u16", 2, 16, w16, false, true, mul, 0},
		{"v_mad_u16", 3, 16, w16, false, true, mad, 0},
		{"v_mad_i16", 3, 16, w16, true, true, mad, 0},
		{"v_mad_legacy_u16", 3, 16, w16, false, true, mad, 0},
		{"v_mad_legacy_i16", 3, 16, w16, true, true, mad, 0},
		{"v_mad_u32_u16", 3, 32, [3]int{16, 16, 32}, false, true, mad, 0},
		{"v_mad_i32_i16", 3, 32, [3]int{16, 16, 32}, true, true, mad, 0},
		{"v_mad_u32_u24", 3, 32, [3]int{24, 24, 32}, false, true, mad, 0},
		{"v_mad_i32_i24", 3, 32, [3]int{24, 24, 32}, true, true, mad, 0},
		{"v_mad_u64_u32", 3, 64, [3]int{32, 32, 64}, false, true, mad, 0},
		{"v_mad_i64_i32", 3, 64, [3]int{32, 32, 64}, true, true, mad, 0},
		{"v_add3_u32", 3, 32, w32, false, false, add3, 0},
		{"v_mul_lo_u32", 2, 32, w32, false, false, mul, 0},
		{"v_mul_hi_u32", 2, 32, w32, false, false, mulhi, 0},
		{"v_mul_hi_i32", 2, 32, w32, true, false, mulhi, 0},
		{"v_mul_u32_u24", 2, 32, [3]int{24, 24}, false, false, mul, 0},
		{"v_mul_i32_i24", 2, 32, [3]int{24, 24}, true, false, mul, 0},
		{"v_mul_hi_u32_u24", 2, 32, [3]int{24, 24}, false, false, mulhi, 0},
		{"v_mul_hi_i32_i24", 2, 32, [3]int{24, 24}, true, false, mulhi, 0},
	} {
		t.Run(s.name, func(t *testing.T) {
			intAgainst(t, s.name, func(x [3]uint64, e *Env) (uint64, uint64) {
				var v [3]*big.Int
				for i := range s.n {
					v[i] = unsigned(x[i], s.w[i])
					if s.sign {
						v[i] = signed(x[i], s.w[i])
					}
				}
				sum := s.fn(v[0], v[1], v[2])
				carry := uint64(0)
				if s.width == 64 {
					carry = uint64(sum.Bit(64))
					if sum.Sign() < 0 {
						carry = 1
					}
				}
				return fold(sum, s.width, s.sign, e.Clamp && s.clamps), carry
			})
		})
	}
}

// intAgainst checks an integer kernel and its carry mask lane by lane.
func intAgainst(t *testing.T, name string, want func(x [3]uint64, e *Env) (r, carry uint64)) {
	t.Helper()
	k, ok := Kernels[name]
	if !ok {
		t.Fatalf("no kernel %s", name)
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		e := Env{Clamp: rapid.Bool().Draw(t, "clamp"), CarryIn: rapid.Uint64().Draw(t, "carry in")}
		var w bench
		var src [64][3]uint64
		for i := range 64 {
			for j := range 3 {
				v := r.Uint64()
				switch r.IntN(5) {
				case 0:
					v = []uint64{0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFF, 0x800000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
						1<<63 - 1, 1 << 63, 1<<64 - 1}[r.IntN(13)]
				case 1:
					v = uint64(r.IntN(70))
				case 2:
					v >>= r.IntN(64)
				}
				src[i][j] = v
				w.set(j+1, i, v)
			}
		}
		out := w.run(name, ^uint64(0), &e)
		for i := range 64 {
			x := src[i]
			for j, st := range k.Src {
				if typeBits(st) < 64 { // what a 64-bit operand holds, others do not see
					x[j] &= 1<<32 - 1
				}
			}
			lane := e
			lane.CarryIn = e.CarryIn >> i & 1
			exp, carry := want(x, &lane)
			if got := w.get(0, i, k.Dst); got != exp {
				t.Fatalf("%s(%#x) clamp %v carry %d = %#x, want %#x", name, x, e.Clamp, lane.CarryIn, got, exp)
			}
			if k.CarryOut && out>>i&1 != carry {
				t.Fatalf("%s(%#x) carries %d, want %d", name, x, out>>i&1, carry)
			}
		}
	})
}

// TestCarry checks the carry instructions against 33-bit sums.
func TestCarry(t *testing.T) {
	for _, name := range []string{"v_add_co_u32", "v_sub_co_u32", "v_subrev_co_u32", "v_addc_co_u32", "v_subb_co_u32", "v_subbrev_co_u32"} {
		t.Run(name, func(t *testing.T) {
			intAgainst(t, name, func(x [3]uint64, e *Env) (uint64, uint64) {
				a, b := int64(x[0]), int64(x[1])
				if strings.Contains(name, "rev") {
					a, b = b, a
				}
				c := int64(0)
				if strings.HasPrefix(name, "v_addc") || strings.HasPrefix(name, "v_subb") {
					c = int64(e.CarryIn)
				}
				s := a - b - c
				if strings.HasPrefix(name, "v_add") {
					s = a + b + c
				}
				var carry uint64
				if s < 0 || s > 1<<32-1 {
					carry = 1
				}
				return fold(big.NewInt(s), 32, false, e.Clamp), carry
			})
		})
	}
}

// TestBits checks the bit instructions against bit-by-bit definitions of the
// CDNA3 ISA document.
func TestBits(t *testing.T) {
	build := func(width int, f func(n int) uint64) uint64 {
		var r uint64
		for n := range width {
			r |= f(n) << n
		}
		return r
	}
	// at is bit n of a width-bit value, 0 outside.
	at := func(x uint64, n, width int) uint64 {
		if n < 0 || n >= width {
			return 0
		}
		return bit(x, n)
	}
	type fn = func(x [3]uint64, e *Env) uint64
	for name, f := range map[string]fn{
		"v_mov_b32": func(x [3]uint64, e *Env) uint64 { return x[0] },
		"v_mov_b64": func(x [3]uint64, e *Env) uint64 { return x[0] },
		"v_not_b32": func(x [3]uint64, e *Env) uint64 { return build(32, func(n int) uint64 { return 1 - bit(x[0], n) }) },
		"v_and_b32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 { return bit(x[0], n) * bit(x[1], n) })
		},
		"v_or_b32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 { return max(bit(x[0], n), bit(x[1], n)) })
		},
		"v_xor_b32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 { return (bit(x[0], n) + bit(x[1], n)) % 2 })
		},
		"v_xnor_b32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 { return (bit(x[0], n) + bit(x[1], n) + 1) % 2 })
		},
		"v_or3_b32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 { return max(bit(x[0], n), bit(x[1], n), bit(x[2], n)) })
		},
		"v_and_or_b32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 { return max(bit(x[0], n)*bit(x[1], n), bit(x[2], n)) })
		},
		"v_bfi_b32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 {
				if bit(x[0], n) == 1 {
					return bit(x[1], n)
				}
				return bit(x[2], n)
			})
		},
		"v_bfrev_b32": func(x [3]uint64, e *Env) uint64 { return build(32, func(n int) uint64 { return bit(x[0], 31-n) }) },
		"v_cndmask_b32": func(x [3]uint64, e *Env) uint64 {
			if e.CarryIn == 1 {
				return x[1]
			}
			return x[0]
		},
		"v_bfm_b32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 {
				if o := int(x[1] & 31); n >= o && n < o+int(x[0]&31) {
					return 1
				}
				return 0
			})
		},
		"v_bfe_u32": func(x [3]uint64, e *Env) uint64 {
			return build(int(x[2]&31), func(n int) uint64 { return at(x[0], n+int(x[1]&31), 32) })
		},
		"v_bfe_i32": func(x [3]uint64, e *Env) uint64 {
			w := int(x[2] & 31)
			if w == 0 {
				return 0
			}
			return build(32, func(n int) uint64 { return bit(x[0], min(31, min(n, w-1)+int(x[1]&31))) })
		},
		"v_alignbit_b32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 { return bit(x[0]<<32|x[1], n+int(x[2]&31)) })
		},
		"v_alignbyte_b32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 { return bit(x[0]<<32|x[1], n+8*int(x[2]&3)) })
		},
		"v_lshlrev_b32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 { return at(x[1], n-int(x[0]&31), 32) })
		},
		"v_lshrrev_b32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 { return at(x[1], n+int(x[0]&31), 32) })
		},
		"v_ashrrev_i32": func(x [3]uint64, e *Env) uint64 {
			return build(32, func(n int) uint64 { return bit(x[1], min(31, n+int(x[0]&31))) })
		},
		"v_lshlrev_b64": func(x [3]uint64, e *Env) uint64 {
			return build(64, func(n int) uint64 { return at(x[1], n-int(x[0]&63), 64) })
		},
		"v_lshrrev_b64": func(x [3]uint64, e *Env) uint64 {
			return build(64, func(n int) uint64 { return at(x[1], n+int(x[0]&63), 64) })
		},
		"v_ashrrev_i64": func(x [3]uint64, e *Env) uint64 {
			return build(64, func(n int) uint64 { return bit(x[1], min(63, n+int(x[0]&63))) })
		},
		"v_lshlrev_b16": func(x [3]uint64, e *Env) uint64 {
			return build(16, func(n int) uint64 { return at(x[1], n-int(x[0]&15), 16) })
		},
		"v_lshrrev_b16": func(x [3]uint64, e *Env) uint64 {
			return build(16, func(n int) uint64 { return at(x[1], n+int(x[0]&15), 16) })
		},
		"v_ashrrev_i16": func(x [3]uint64, e *Env) uint64 {
			return build(16, func(n int) uint64 { return bit(x[1], min(15, n+int(x[0]&15))) })
		},
		"v_lshl_add_u32": func(x [3]uint64, e *Env) uint64 { return (x[0]*(1<<(x[1]%32)) + x[2]) % (1 << 32) },
		"v_add_lshl_u32": func(x [3]uint64, e *Env) uint64 { return (x[0] + x[1]) * (1 << (x[2] % 32)) % (1 << 32) },
		"v_lshl_or_b32":  func(x [3]uint64, e *Env) uint64 { return x[0]*(1<<(x[1]%32))%(1<<32) | x[2] },
		"v_xad_u32":      func(x [3]uint64, e *Env) uint64 { return ((x[0] | x[1]) - (x[0] & x[1]) + x[2]) % (1 << 32) },
		"v_lshl_add_u64": func(x [3]uint64, e *Env) uint64 {
			return x[0]*[]uint64{1, 2, 4, 8, 16, 1, 1, 1}[x[1]%8] + x[2]
		},
		"v_bcnt_u32_b32": func(x [3]uint64, e *Env) uint64 {
			s := x[1]
			for n := range 32 {
				s += bit(x[0], n)
			}
			return s % (1 << 32)
		},
		"v_ffbh_u32": func(x [3]uint64, e *Env) uint64 {
			for i := range 32 {
				if bit(x[0], 31-i) == 1 {
					return uint64(i)
				}
			}
			return 0xFFFFFFFF
		},
		"v_ffbl_b32": func(x [3]uint64, e *Env) uint64 {
			for i := range 32 {
				if bit(x[0], i) == 1 {
					return uint64(i)
				}
			}
			return 0xFFFFFFFF
		},
		"v_ffbh_i32": func(x [3]uint64, e *Env) uint64 {
			for i := 1; i < 32; i++ {
				if bit(x[0], 31-i) != bit(x[0], 31) {
					return uint64(i)
				}
			}
			return 0xFFFFFFFF
		},
		"v_pack_b32_f16": func(x [3]uint64, e *Env) uint64 { return field(x[1], 15, 0)*65536 + field(x[0], 15, 0) },
		"v_sat_pk_u8_i16": func(x [3]uint64, e *Env) uint64 {
			return fold(signed(x[0], 16), 8, false, true) + 256*fold(signed(x[0]>>16, 16), 8, false, true)
		},
		"v_cvt_pk_u16_u32": func(x [3]uint64, e *Env) uint64 {
			return fold(unsigned(x[0], 32), 16, false, true) + 65536*fold(unsigned(x[1], 32), 16, false, true)
		},
		"v_cvt_pk_i16_i32": func(x [3]uint64, e *Env) uint64 {
			return fold(signed(x[0], 32), 16, true, true) + 65536*fold(signed(x[1], 32), 16, true, true)
		},
		"v_perm_b32": func(x [3]uint64, e *Env) uint64 {
			in := x[0]<<32 | x[1]
			return build(32, func(n int) uint64 {
				switch s := int(field(x[2], n/8*8+7, n/8*8)); {
				case s >= 13:
					return 1
				case s == 12:
					return 0
				case s >= 8:
					return bit(in, []int{15, 31, 47, 63}[s-8])
				default:
					return bit(in, 8*s+n%8)
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			intAgainst(t, name, func(x [3]uint64, e *Env) (uint64, uint64) { return f(x, e), 0 })
		})
	}
}

// TestDocumentedBitExamples are the functional examples of the ISA documents.
func TestDocumentedBitExamples(t *testing.T) {
	for _, c := range []struct {
		name string
		x, r uint64
	}{
		{"v_ffbh_u32", 0, 0xFFFFFFFF}, {"v_ffbh_u32", 0x800000FF, 0}, {"v_ffbh_u32", 0x100000FF, 3},
		{"v_ffbh_u32", 0xFFFF, 16}, {"v_ffbh_u32", 1, 31},
		{"v_ffbl_b32", 0, 0xFFFFFFFF}, {"v_ffbl_b32", 0xFF000001, 0}, {"v_ffbl_b32", 0xFF000008, 3},
		{"v_ffbl_b32", 0xFFFF0000, 16}, {"v_ffbl_b32", 0x80000000, 31},
		{"v_ffbh_i32", 0, 0xFFFFFFFF}, {"v_ffbh_i32", 0x40000000, 1}, {"v_ffbh_i32", 0x80000000, 1},
		{"v_ffbh_i32", 0x0FFFFFFF, 4}, {"v_ffbh_i32", 0xFFFF0000, 16}, {"v_ffbh_i32", 0xFFFFFFFE, 31},
		{"v_ffbh_i32", 0xFFFFFFFF, 0xFFFFFFFF},
	} {
		if got := eval1(c.name, Env{}, c.x); got != c.r {
			t.Errorf("%s(%#x) = %#x, want %#x", c.name, c.x, got, c.r)
		}
	}
}

// TestMbcnt: lane numbers, and the position among the lanes of a mask.
func TestMbcnt(t *testing.T) {
	for _, mask := range []uint64{1<<64 - 1, 0x8000000180000001, 0xF0F0123456789ABC, 0} {
		var w bench
		for i := range 64 {
			w.rows[1][0][i] = uint32(mask)
			w.rows[2][0][i] = 7
		}
		w.run("v_mbcnt_lo_u32_b32", ^uint64(0), &Env{})
		w.rows[2] = w.rows[0]
		for i := range 64 {
			w.rows[1][0][i] = uint32(mask >> 32)
		}
		w.run("v_mbcnt_hi_u32_b32", ^uint64(0), &Env{})
		for i := range 64 {
			if got, want := w.get(0, i, U32), uint64(7+bits.OnesCount64(mask&(1<<i-1))); got != want {
				t.Errorf("mbcnt(%#x) in lane %d = %d, want %d", mask, i, got, want)
			}
		}
	}
}

// TestMinMaxInt checks min, max, min3, max3 and med3 by sorting.
func TestMinMaxInt(t *testing.T) {
	for _, typ := range []string{"i32", "u32", "i16", "u16"} {
		width := map[byte]int{'3': 32, '1': 16}[typ[1]]
		for _, op := range []string{"min", "max", "min3", "max3", "med3"} {
			name := "v_" + op + "_" + typ
			t.Run(name, func(t *testing.T) {
				intAgainst(t, name, func(x [3]uint64, e *Env) (uint64, uint64) {
					n := 2
					if strings.HasSuffix(op, "3") {
						n = 3
					}
					var v []*big.Int
					for _, s := range x[:n] {
						i := unsigned(s, width)
						if typ[0] == 'i' {
							i = signed(s, width)
						}
						v = append(v, i)
						for k := len(v) - 1; k > 0 && v[k].Cmp(v[k-1]) < 0; k-- {
							v[k], v[k-1] = v[k-1], v[k]
						}
					}
					k := map[string]int{"min": 0, "max": n - 1, "med": 1}[op[:3]]
					return fold(v[k], width, false, false), 0
				})
			})
		}
	}
}

// TestPerm: selectors that compilers emit, on {0x88776655, 0x44332211}.
func TestPerm(t *testing.T) {
	for _, c := range []struct{ sel, want uint64 }{
		{0x03020100, 0x44332211}, {0x07060504, 0x88776655}, {0x05040100, 0x66552211}, {0x07030602, 0x88447733},
		{0x0C070C06, 0x00880077}, {0x0D0B0A09, 0xFFFF0000}, {0x00010203, 0x11223344}, {0x080C0D04, 0x0000FF55},
	} {
		if got := eval1("v_perm_b32", Env{}, 0x88776655, 0x44332211, c.sel); got != c.want {
			t.Errorf("v_perm_b32(selector %#x) = %#x, want %#x", c.sel, got, c.want)
		}
	}
}
