package lane

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"
)

// bigf is a float64 as a big.Float that loses nothing in the sums below.
func bigf(v float64) *big.Float { return new(big.Float).SetPrec(2400).SetFloat64(v) }

// expOf is the exponent of v with 1 <= |significand| < 2, at least low.
func expOf(v float64, low int) int {
	if v == 0 {
		return low
	}
	return max(math.Ilogb(v), low)
}

// roundAt rounds x to a multiple of 2^p, downwards or towards zero.
func roundAt(x *big.Float, p int, down bool) *big.Float {
	q := new(big.Float).SetPrec(2400).SetMantExp(x, -p)
	n, acc := q.Int(nil) // towards zero
	if down && acc == big.Above {
		n.Sub(n, big.NewInt(1))
	}
	return new(big.Float).SetPrec(2400).SetMantExp(new(big.Float).SetPrec(2400).SetInt(n), p)
}

// modelTruncate is Algorithm 10 (parts = 1) and 11 (parts = 2) of arXiv
// 2511.10909 in exact arithmetic, for finite inputs. low is the exponent of the
// lowest normal of a's and b's formats.
func modelTruncate(c float64, a, b []float64, lowA, lowB, parts int) float32 {
	const none = -999
	sums, exps := make([]*big.Float, parts), make([]int, parts)
	dot := none
	for p := range parts {
		exps[p] = none
		for i := p; i < len(a); i += parts {
			if a[i]*b[i] != 0 {
				exps[p] = max(exps[p], expOf(a[i], lowA)+expOf(b[i], lowB))
			}
		}
		dot = max(dot, exps[p])
		sums[p] = bigf(0)
		for i := p; i < len(a); i += parts {
			sums[p].Add(sums[p], roundAt(new(big.Float).Mul(bigf(a[i]), bigf(b[i])), exps[p]-24, false))
		}
	}
	t := bigf(0)
	for p := range parts {
		t.Add(t, roundAt(sums[p], dot-24, true))
	}
	ec := expOf(c, -126)
	top := max(dot, ec)
	t = roundAt(t, top-32, true)
	if parts == 1 || ec >= top-25 {
		t.Add(t, roundAt(bigf(c), top-24, true))
	}
	if t.Sign() != 0 {
		t = roundAt(t, max(t.MantExp(nil)-1, -126)-31, true)
	}
	f, _ := t.Float32()
	return f
}

// modelFlush is Algorithms 1 and 2: FTZ multiplications and additions.
func modelFlush(c float64, a, b []float64, low, p int) float32 {
	in := func(v float64, low int) float64 {
		if math.Abs(v) < math.Ldexp(1, low) {
			return 0
		}
		return v
	}
	round := func(x *big.Float) float64 {
		f, _ := x.Float32()
		if math.Abs(float64(f)) < 0x1p-126 {
			return math.Copysign(0, float64(f))
		}
		return float64(f)
	}
	mul := func(i int) float64 { return round(new(big.Float).Mul(bigf(in(a[i], low)), bigf(in(b[i], low)))) }
	add := func(x, y float64) float64 { return round(new(big.Float).Add(bigf(x), bigf(y))) }
	sum := in(c, -126)
	for i := 0; i < len(a); i += p {
		s := add(mul(i), mul(i+1))
		if p == 4 {
			s = add(s, add(mul(i+2), mul(i+3)))
		}
		sum = add(sum, s)
	}
	return float32(sum)
}

// modelFMA chains correctly rounded fused multiply-adds.
func modelFMA(c float64, a, b []float64) float32 {
	for i := range a {
		f, _ := new(big.Float).Add(new(big.Float).Mul(bigf(a[i]), bigf(b[i])), bigf(c)).Float32()
		c = float64(f)
	}
	return float32(c)
}

// modelExact rounds the exact sum of groups of n.
func modelExact(c float64, a, b []float64, n int) float32 {
	for i := 0; i < len(a); i += n {
		s := bigf(c)
		for k := i; k < i+n; k++ {
			s.Add(s, new(big.Float).Mul(bigf(a[k]), bigf(b[k])))
		}
		f, _ := s.Float32()
		c = float64(f)
	}
	return float32(c)
}

// elemValue decodes an input code by its format's definition.
func elemValue(code uint32, typ string) float64 {
	switch typ {
	case "f16":
		return smallFloat(code, 5, 10)
	case "bf16":
		return float64(math.Float32frombits(code << 16))
	case "fp8", "bf8":
		return fnuzValue(code, typ)
	case "xf32":
		return float64(math.Float32frombits(code >> 13 << 13))
	}
	return float64(math.Float32frombits(code))
}

var lowExp = map[string]int{"f16": -14, "bf16": -126, "xf32": -126, "f32": -126, "fp8": -7, "bf8": -15}

// randCode draws a finite code: any pattern, or one of a narrow exponent range
// where cancellation is likely.
func randCode(rnd *rand.Rand, typ string, width int) uint32 {
	for {
		code := rnd.Uint32()
		if width < 32 {
			code &= 1<<width - 1
		}
		switch rnd.IntN(8) {
		case 0:
			code &= 1 << (width - 1) // zero
		case 1: // denormal
			switch typ {
			case "f16":
				code &= 0x83FF
			case "bf16":
				code &= 0x807F
			case "f32", "xf32":
				code &= 0x807FFFFF
			}
		case 2, 3, 4: // near one
			switch typ {
			case "f16":
				code = code&0x8FFF | 0x3000
			case "bf16":
				code = code&0x83FF | 0x3C00
			case "f32", "xf32":
				code = code&0x83FFFFFF | 0x3C000000
			}
		}
		if v := elemValue(code, typ); v-v == 0 {
			return code
		}
	}
}

// TestMatrixArithmetic compares every element with the published models in
// exact arithmetic, on patterns of all magnitudes.
func TestMatrixArithmetic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for _, tc := range []struct {
		name string
		gen  Gen
		ref  func(c float64, a, b []float64, s matrixSpec) float32
	}{
		{"v_mfma_f32_16x16x16_f16", GenGFX940, refGroups(8, 1)},
		{"v_mfma_f32_4x4x4_16b_f16", GenGFX940, refGroups(4, 1)},
		{"v_mfma_f32_16x16x16_bf16", GenGFX940, refGroups(8, 1)},
		{"v_mfma_f32_16x16x8_xf32", GenGFX940, refGroups(4, 1)},
		{"v_mfma_f32_16x16x32_fp8_fp8", GenGFX940, refGroups(16, 2)},
		{"v_mfma_f32_16x16x32_bf8_bf8", GenGFX940, refGroups(16, 2)},
		{"v_mfma_f32_16x16x32_fp8_bf8", GenGFX940, refGroups(16, 2)},
		{"v_mfma_f32_16x16x16f16", GenGFX90A, refFlush(4)},
		{"v_mfma_f32_16x16x16bf16_1k", GenGFX90A, refFlush(4)},
		{"v_mfma_f32_16x16x8bf16", GenGFX90A, refFlush(2)},
		{"v_mfma_f32_16x16x16f16", GenGFX908, refExact(4)},
		{"v_mfma_f32_16x16x8bf16", GenGFX908, refExact(2)},
		{"v_mfma_f32_16x16x4f32", GenGFX90A, refFMA},
		{"v_mfma_f32_32x32x2_f32", GenGFX940, refFMA},
	} {
		s := parseMatrixName(tc.name)
		for range rounds {
			var c matrixCase
			c.a, c.b, c.c, c.env.Gen = make([]Row, 8), make([]Row, 8), make([]Row, 32), tc.gen
			A, B := make([]float64, s.blocks*s.m*s.k), make([]float64, s.blocks*s.n*s.k)
			for b := range s.blocks {
				for k := range s.k {
					for i := range s.m {
						elem, lane := s.input(s.m, s.k, i, k, b)
						x, y := randCode(rnd, s.a, s.bits()), randCode(rnd, s.b, s.bits())
						put(c.a, elem, lane, s.bits(), uint64(x))
						put(c.b, elem, lane, s.bits(), uint64(y))
						A[(b*s.m+i)*s.k+k], B[(b*s.n+i)*s.k+k] = elemValue(x, s.a), elemValue(y, s.b)
					}
				}
			}
			for r := range c.c {
				for l := range c.c[r] {
					c.c[r][l] = randCode(rnd, "f32", 32)
				}
			}
			d := s.run(&c)
			for b := range s.blocks {
				for i := range s.m {
					for j := range s.n {
						elem, lane := s.output(i, j, b)
						in := math.Float32frombits(c.c[elem][lane])
						got := math.Float32frombits(d[elem][lane])
						row, col := A[(b*s.m+i)*s.k:][:s.k], B[(b*s.n+j)*s.k:][:s.k]
						if want := tc.ref(float64(in), row, col, s); got != want && !math.IsInf(float64(want), 0) {
							t.Fatalf("%s gen %d block %d [%d][%d]: C %v A %v B %v: got %v, want %v", tc.name, tc.gen, b, i, j, in, row, col, got, want)
						}
					}
				}
			}
		}
	}
}

func refGroups(n, parts int) func(float64, []float64, []float64, matrixSpec) float32 {
	return func(c float64, a, b []float64, s matrixSpec) float32 {
		for i := 0; i < len(a); i += n {
			for k := i; k < i+n; k++ {
				if parts == 1 && math.Abs(a[k]*b[k]) >= 0x1p128 {
					return float32(math.Inf(1)) // not compared; see TestMatrixSpecials
				}
			}
			c = float64(modelTruncate(c, a[i:i+n], b[i:i+n], lowExp[s.a], lowExp[s.b], parts))
			if math.IsInf(c, 0) {
				return float32(c)
			}
		}
		return float32(c)
	}
}

func refFlush(p int) func(float64, []float64, []float64, matrixSpec) float32 {
	return func(c float64, a, b []float64, s matrixSpec) float32 {
		for i := range a {
			if math.Abs(a[i]*b[i]) >= 0x1p120 {
				return float32(math.Inf(1)) // an intermediate may overflow
			}
		}
		return modelFlush(c, a, b, lowExp[s.a], p)
	}
}

func refExact(n int) func(float64, []float64, []float64, matrixSpec) float32 {
	return func(c float64, a, b []float64, s matrixSpec) float32 { return finite(c, a, b, modelExact(c, a, b, n)) }
}

func refFMA(c float64, a, b []float64, s matrixSpec) float32 {
	return finite(c, a, b, modelFMA(c, a, b))
}

// finite replaces the reference by infinity (not compared) where a partial sum
// may have overflowed, which big.Float cannot continue from.
func finite(c float64, a, b []float64, want float32) float32 {
	for i := range a {
		if math.Abs(a[i]*b[i]) >= 0x1p120 {
			return float32(math.Inf(1))
		}
	}
	return want
}

// TestMatrixPublished holds the results of the paper's Table 8: its Eq. 10
// example, whose exact value is -0.875.
func TestMatrixPublished(t *testing.T) {
	a := []float64{-8192, -0.5, -0.25, -0.125}
	b := []float64{1024, 1, 1, 1}
	const c = 1 << 23
	for _, tc := range []struct {
		name string
		gen  Gen
		want float64
	}{
		{"v_mfma_f64_16x16x4_f64", GenGFX940, -0.875},
		{"v_mfma_f32_16x16x4_f32", GenGFX940, -0.875},
		{"v_mfma_f32_16x16x8bf16", GenGFX908, -0.875},
		{"v_mfma_f32_16x16x16f16", GenGFX908, -0.875},
		{"v_mfma_f32_16x16x8bf16", GenGFX90A, -0.375},
		{"v_mfma_f32_16x16x16bf16_1k", GenGFX90A, 0},
		{"v_mfma_f32_16x16x16f16", GenGFX90A, 0},
		{"v_mfma_f32_16x16x16_f16", GenGFX940, -0.5},
		{"v_mfma_f32_16x16x16_bf16", GenGFX940, -0.5},
		{"v_mfma_f32_16x16x32_bf8_bf8", GenGFX940, -1},
	} {
		s := parseMatrixName(tc.name)
		t8 := matrixCase{a: make([]Row, 8), b: make([]Row, 8), c: make([]Row, 32), env: Env{Gen: tc.gen}}
		for k := range a {
			for _, o := range []struct {
				rows []Row
				v    float64
			}{{t8.a, a[k]}, {t8.b, b[k]}} {
				elem, lane := s.input(16, s.k, 3, k, 0)
				put(o.rows, elem, lane, s.bits(), encodeExact(o.v, s.a))
			}
		}
		elem, lane := s.output(3, 3, 0)
		if s.a == "f64" {
			put(t8.c, elem, lane, 64, math.Float64bits(c))
		} else {
			put(t8.c, elem, lane, 32, uint64(math.Float32bits(c)))
		}
		d := s.run(&t8)
		got := float64(math.Float32frombits(d[elem&31][lane]))
		if s.a == "f64" {
			got = math.Float64frombits(get(d, elem, lane, 64))
		}
		if got != tc.want {
			t.Errorf("%s gen %d: got %v, want %v", tc.name, tc.gen, got, tc.want)
		}
	}
}

// encodeExact finds the code of a value that the type holds exactly.
func encodeExact(v float64, typ string) uint64 {
	switch typ {
	case "f64":
		return math.Float64bits(v)
	case "f32", "xf32":
		return uint64(math.Float32bits(float32(v)))
	}
	for c := range uint32(1 << 16) {
		if (typ == "f16" || typ == "bf16" || c < 256) && elemValue(c, typ) == v {
			return uint64(c)
		}
	}
	panic("not representable")
}

// TestMatrixSpecials covers infinities, NaNs and overflow of a single element.
func TestMatrixSpecials(t *testing.T) {
	inf := math.Inf(1)
	nan := math.NaN()
	for _, tc := range []struct {
		name    string
		gen     Gen
		a, b    uint64
		c, want float64
	}{
		{"v_mfma_f32_16x16x16_f16", GenGFX940, 0x7C00, 0x3C00, 1, inf},
		{"v_mfma_f32_16x16x16_f16", GenGFX940, 0xFC00, 0x3C00, 1, -inf},
		{"v_mfma_f32_16x16x16_f16", GenGFX940, 0x7C00, 0x3C00, -inf, nan},
		{"v_mfma_f32_16x16x16_f16", GenGFX940, 0x7C00, 0x0000, 1, nan},
		{"v_mfma_f32_16x16x16_f16", GenGFX940, 0x7E00, 0x3C00, 1, nan},
		{"v_mfma_f32_16x16x16_f16", GenGFX940, 0x3C00, 0x3C00, inf, inf},
		{"v_mfma_f32_16x16x16_bf16", GenGFX940, 0x7F00, 0xC000, 1, -inf}, // -2^128
		{"v_mfma_f32_16x16x16_bf16", GenGFX940, 0x7F00, 0xBF80, 1, -0x1p127},
		{"v_mfma_f32_16x16x16f16", GenGFX90A, 0x7C00, 0x3C00, 1, inf},
		{"v_mfma_f32_16x16x16f16", GenGFX90A, 0x7C00, 0x0001, 1, nan}, // the denormal is flushed
		{"v_mfma_f32_16x16x16_f16", GenGFX940, 0x7C00, 0x0001, 1, inf},
		{"v_mfma_f32_16x16x16f16", GenGFX90A, 0x0001, 0x7BFF, 1, 1},
		{"v_mfma_f32_16x16x16f16", GenGFX90A, 0x0001, 0x7BFF, 0, 0},
		{"v_mfma_f32_16x16x16_f16", GenGFX940, 0x0001, 0x7800, 0, 0x1p-9},
		{"v_mfma_f32_16x16x16f16", GenGFX908, 0x0001, 0x7800, 0, 0x1p-9},
		{"v_mfma_f32_16x16x16f16", GenGFX908, 0x7C00, 0x0000, 0, nan},
		{"v_mfma_f32_16x16x4f32", GenGFX90A, 0x7F800000, 0, 1, nan},
		{"v_mfma_f32_16x16x4f32", GenGFX90A, 0x00000001, 0x3F800000, 0, 0x1p-149},
		{"v_mfma_f32_16x16x32_fp8_fp8", GenGFX940, 0x80, 0x40, 1, nan},
		{"v_mfma_f32_16x16x32_fp8_fp8", GenGFX940, 0x40, 0x40, inf, inf},
		{"v_mfma_f32_16x16x32_bf8_bf8", GenGFX940, 0x7C, 0x7C, inf, 0x1p30}, // special truncation
		{"v_mfma_f64_16x16x4_f64", GenGFX940, 0x7FF0000000000000, 0x3FF0000000000000, -inf, nan},
		{"v_mfma_f64_16x16x4_f64", GenGFX940, 0x7FF0000000000000, 0x3FF0000000000000, 1, inf},
	} {
		s := parseMatrixName(tc.name)
		m := matrixCase{a: make([]Row, 8), b: make([]Row, 8), c: make([]Row, 32), env: Env{Gen: tc.gen}}
		elem, lane := s.input(16, s.k, 5, 0, 0)
		put(m.a, elem, lane, s.bits(), tc.a)
		put(m.b, elem, lane, s.bits(), tc.b)
		elem, lane = s.output(5, 5, 0)
		if s.a == "f64" {
			put(m.c, elem, lane, 64, math.Float64bits(tc.c))
		} else {
			put(m.c, elem, lane, 32, uint64(math.Float32bits(float32(tc.c))))
		}
		d := s.run(&m)
		got := float64(math.Float32frombits(d[elem][lane]))
		if s.a == "f64" {
			got = math.Float64frombits(get(d, elem, lane, 64))
		}
		if got != tc.want && !(got != got && tc.want != tc.want) {
			t.Errorf("%s gen %d: %#x * %#x + %v: got %v, want %v", tc.name, tc.gen, tc.a, tc.b, tc.c, got, tc.want)
		}
	}
}

// TestMatrixKernelCases runs the products of kernels/src/mfma.hip as its lanes
// do and compares with the results of its host program, computed in double.
func TestMatrixKernelCases(t *testing.T) {
	const dir = "../../kernels/cases/mfma/"
	read := func(name string) []byte {
		b, err := os.ReadFile(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for n, tc := range []struct {
		names  [2]string // on gfx90a and gfx942
		totalK int
	}{
		{[2]string{"v_mfma_f32_16x16x4f32", "v_mfma_f32_16x16x4_f32"}, 16},
		{[2]string{"v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16_f16"}, 32},
		{[2]string{"v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16"}, 16},
		{[2]string{"v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_16x16x16_bf16"}, 16},
		{[2]string{"v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64"}, 8},
		{[2]string{"v_mfma_f32_4x4x4f16", "v_mfma_f32_4x4x4_16b_f16"}, 4},
		{[2]string{"v_mfma_i32_16x16x16i8", "v_mfma_i32_16x16x32_i8"}, 32},
	} {
		A, B, C := read(fmt.Sprintf("a%d.in", n+1)), read(fmt.Sprintf("b%d.in", n+1)), read(fmt.Sprintf("c%d.exp", n+1))
		for g, name := range tc.names {
			s := parseMatrixName(name)
			bytes := s.bits() / 8
			at := func(mem []byte, i int) (v uint64) {
				for b := range bytes {
					v |= uint64(mem[i*bytes+b]) << (8 * b)
				}
				return v
			}
			m := matrixCase{a: make([]Row, 8), b: make([]Row, 8), c: make([]Row, 32), env: Env{Gen: []Gen{GenGFX90A, GenGFX940}[g]}}
			for k0 := 0; k0 < tc.totalK; k0 += s.k {
				for b := range s.blocks {
					for k := range s.k {
						for i := range s.m {
							elem, lane := s.input(s.m, s.k, i, k, b)
							put(m.a, elem, lane, s.bits(), at(A, (b*s.m+i)*tc.totalK+k0+k))
							put(m.b, elem, lane, s.bits(), at(B, (b*tc.totalK+k0+k)*s.n+i))
						}
					}
				}
				m.c = s.run(&m)
			}
			for b := range s.blocks {
				for i := range s.m {
					for j := range s.n {
						elem, lane := s.output(i, j, b)
						o := (b*s.m+i)*s.n + j
						var got, want float64
						tol := 1e-6
						switch s.a {
						case "f64":
							got, tol = math.Float64frombits(get(m.c, elem, lane, 64)), 1e-14
							want = math.Float64frombits(binary.LittleEndian.Uint64(C[o*8:]))
						case "i8":
							got, tol = float64(int32(m.c[elem][lane])), 0
							want = float64(int32(binary.LittleEndian.Uint32(C[o*4:])))
						default:
							got = float64(math.Float32frombits(m.c[elem][lane]))
							want = float64(math.Float32frombits(binary.LittleEndian.Uint32(C[o*4:])))
						}
						if math.Abs(got-want) > tol*max(1, math.Abs(want)) {
							t.Fatalf("%s block %d [%d][%d]: got %v, want %v", name, b, i, j, got, want)
						}
					}
				}
			}
		}
	}
}
