package lane

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// matrixSpec is an instruction's shape as its name spells it.
type matrixSpec struct {
	name            string
	m, n, k, blocks int
	a, b            string // element types
	sparse          bool
}

func matrixSpecs() []matrixSpec {
	var specs []matrixSpec
	for name := range Kernels {
		if strings.HasPrefix(name, "v_mfma_") || strings.HasPrefix(name, "v_smfmac_") {
			specs = append(specs, parseMatrixName(name))
		}
	}
	return specs
}

// parseMatrixName reads v_mfma_OUT_MxNxK[_Bb_]TYPE[_TYPE]. The gfx90a spelling
// has no block count; there every product has at least one element per lane,
// so that m*k*blocks is what fills 64 lanes and the fewest registers.
func parseMatrixName(name string) matrixSpec {
	s := matrixSpec{name: name, sparse: strings.HasPrefix(name, "v_smfmac_"), blocks: 1}
	rest := strings.SplitN(name, "_", 4)[3]
	num := func() (v int) {
		for rest[0] >= '0' && rest[0] <= '9' {
			v, rest = v*10+int(rest[0]-'0'), rest[1:]
		}
		return v
	}
	s.m = num()
	rest = rest[1:]
	s.n = num()
	rest = rest[1:]
	s.k = num()
	if old := rest[0] != '_'; old {
		oldBlocks := map[string]int{
			"32x32x1f32": 2, "16x16x1f32": 4, "4x4x1f32": 16, "32x32x4f16": 2, "16x16x4f16": 4, "4x4x4f16": 16,
			"32x32x2bf16": 2, "16x16x2bf16": 4, "4x4x2bf16": 16, "32x32x4bf16_1k": 2, "16x16x4bf16_1k": 4, "4x4x4bf16_1k": 16,
			"32x32x4i8": 2, "16x16x4i8": 4, "4x4x4i8": 16, "4x4x4f64": 4,
		}
		if b := oldBlocks[strings.SplitN(name, "_", 4)[3]]; b != 0 {
			s.blocks = b
		}
		rest = "_" + strings.TrimSuffix(rest, "_1k")
	}
	parts := strings.Split(rest[1:], "_")
	if strings.HasSuffix(parts[0], "b") {
		rest = parts[0]
		s.blocks = num()
		parts = parts[1:]
	}
	s.a, s.b = parts[0], parts[len(parts)-1]
	return s
}

func (s matrixSpec) bits() int {
	switch {
	case strings.HasSuffix(s.a, "8"):
		return 8
	case strings.HasSuffix(s.a, "f16"):
		return 16
	case s.a == "f64":
		return 64
	}
	return 32
}

func (s matrixSpec) storedK() int {
	if s.sparse {
		return s.k / 2
	}
	return s.k
}

// input gives the element (in units of elements of the lane's registers) and
// the lane of A[i][k] or B[k][i] of block b, by matrix_calculator's steps.
func (s matrixSpec) input(edge, depth, i, k, b int) (elem, lane int) {
	perGroup := depth / (64 / (edge * s.blocks))
	return k % perGroup, b*edge + k/perGroup*edge*s.blocks + i
}

// output gives the register (in units of elements) and the lane of C[i][j].
func (s matrixSpec) output(i, j, b int) (elem, lane int) {
	height := 4
	if s.bits() == 64 {
		height = 1
	}
	rows := 64 / s.n // "multirows per register"
	blocksPer := int(math.Ceil(64 / (float64(s.n*s.m) / float64(height))))
	elem = b*(s.m*s.n/64) + i/(height*rows)*height + i%height
	lane = b%blocksPer*s.n + i/height%rows*blocksPer*s.n + j
	return elem, lane
}

// encodeSmall gives the code of a small integer in a type.
func encodeSmall(v int, typ string) uint64 {
	b := math.Float32bits(float32(v))
	switch typ {
	case "f64":
		return math.Float64bits(float64(v))
	case "f32", "xf32":
		return uint64(b)
	case "bf16":
		return uint64(b >> 16)
	case "i8":
		return uint64(uint8(v))
	case "f16":
		for c := range uint32(1 << 16) {
			if smallFloat(c, 5, 10) == float64(v) {
				return uint64(c)
			}
		}
	}
	for c := range uint32(256) {
		if fnuzValue(c, typ) == float64(v) {
			return uint64(c)
		}
	}
	panic("no code")
}

// fnuzValue decodes a gfx942 8-bit float by its definition.
func fnuzValue(c uint32, typ string) float64 {
	if c == 0x80 {
		return math.NaN()
	}
	exp, man, bias := uint(4), uint(3), 8
	if typ == "bf8" {
		exp, man, bias = 5, 2, 16
	}
	e, m, sign := int(c>>man&(1<<exp-1)), float64(c&(1<<man-1)), 1.0
	if c&0x80 != 0 {
		sign = -1
	}
	if e == 0 {
		return sign * math.Ldexp(m, 1-bias-int(man))
	}
	return sign * math.Ldexp(m+float64(int(1)<<man), e-bias-int(man))
}

func put(rows []Row, elem, lane, width int, v uint64) {
	if width == 64 {
		rows[2*elem][lane], rows[2*elem+1][lane] = uint32(v), uint32(v>>32)
		return
	}
	r, sh := elem*width/32, elem*width%32
	mask := uint32(1<<width - 1)
	rows[r][lane] = rows[r][lane]&^(mask<<sh) | uint32(v)&mask<<sh
}

func get(rows []Row, elem, lane, width int) uint64 {
	if width == 64 {
		return uint64(rows[2*elem+1][lane])<<32 | uint64(rows[2*elem][lane])
	}
	return uint64(rows[elem*width/32][lane] >> (elem * width % 32) & uint32(1<<width-1))
}

// matrixCase is one set of operands in registers with the modifiers.
type matrixCase struct {
	a, b, c, idx []Row
	env          Env
}

// fillSmall makes operands of small integers, so that every arithmetic is
// exact, and returns the dense matrices.
func (s matrixSpec) fillSmall(rnd *rand.Rand) (t matrixCase, A, B, C [][][]int) {
	t.a, t.b, t.c, t.idx = make([]Row, 8), make([]Row, 8), make([]Row, 32), make([]Row, 1)
	if s.sparse {
		t.env.Cbsz, t.env.Abid = uint8(rnd.IntN(2)), uint8(rnd.IntN(4))
	}
	mat := func(rows, cols int) [][]int {
		x := make([][]int, rows)
		for i := range x {
			x[i] = make([]int, cols)
		}
		return x
	}
	codes := map[[2]any]uint64{}
	code := func(v int, typ string) uint64 {
		key := [2]any{v, typ}
		if _, ok := codes[key]; !ok {
			codes[key] = encodeSmall(v, typ)
		}
		return codes[key]
	}
	accum := "f32"
	if s.a == "f64" {
		accum = "f64"
	}
	for b := range s.blocks {
		A, B, C = append(A, mat(s.m, s.k)), append(B, mat(s.k, s.n)), append(C, mat(s.m, s.n))
		for i := range s.m {
			for k := range s.storedK() {
				v := rnd.IntN(7) - 3
				elem, lane := s.input(s.m, s.storedK(), i, k, b)
				put(t.a, elem, lane, s.bits(), code(v, s.a))
				if !s.sparse {
					A[b][i][k] = v
					continue
				}
				// Two of four places in ascending order.
				place := [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}[(i*7+k/2*5)%6]
				A[b][i][k/2*4+place[k%2]] = v
				set := 0
				if t.env.Cbsz == 0 {
					set = int(t.env.Abid) % (s.bits() * 4 / 16)
					if s.bits() == 8 {
						set = int(t.env.Abid) % 2
					}
				}
				perSet := map[int]int{16: 8, 8: 16}[s.bits()]
				t.idx[0][lane] |= uint32(place[k%2]) << (set*perSet + 2*elem)
			}
			for j := range s.n {
				v := rnd.IntN(201) - 100
				C[b][i][j] = v
				elem, lane := s.output(i, j, b)
				if s.a == "i8" {
					put(t.c, elem, lane, 32, uint64(uint32(v)))
				} else {
					put(t.c, elem, lane, max(32, s.bits()), code(v, accum))
				}
			}
		}
		for k := range s.k {
			for j := range s.n {
				v := rnd.IntN(7) - 3
				B[b][k][j] = v
				elem, lane := s.input(s.n, s.k, j, k, b)
				put(t.b, elem, lane, s.bits(), code(v, s.b))
			}
		}
	}
	return t, A, B, C
}

func (s matrixSpec) run(t *matrixCase) []Row {
	d := make([]Row, 32)
	k := Kernels[s.name]
	if s.sparse {
		copy(d, t.c)
		k.Fn(&d[0], &t.a[0], &t.b[0], &t.idx[0], 0, &t.env)
	} else {
		k.Fn(&d[0], &t.a[0], &t.b[0], &t.c[0], 0, &t.env)
	}
	return d
}

func (s matrixSpec) check(t *testing.T, d []Row, A, B, C [][][]int) {
	t.Helper()
	for b := range s.blocks {
		for i := range s.m {
			for j := range s.n {
				want := C[b][i][j]
				for k := range s.k {
					want += A[b][i][k] * B[b][k][j]
				}
				elem, lane := s.output(i, j, b)
				var got float64
				switch {
				case s.a == "i8":
					got = float64(int32(get(d, elem, lane, 32)))
				case s.a == "f64":
					got = math.Float64frombits(get(d, elem, lane, 64))
				default:
					got = float64(math.Float32frombits(uint32(get(d, elem, lane, 32))))
				}
				if got != float64(want) {
					t.Fatalf("%s block %d D[%d][%d]: got %v, want %d", s.name, b, i, j, got, want)
				}
			}
		}
	}
}

func gens(s matrixSpec) []Gen {
	if s.sparse || s.bits() == 8 && s.a != "i8" || s.a == "xf32" {
		return []Gen{GenGFX940}
	}
	return []Gen{GenGFX908, GenGFX90A, GenGFX940}
}

// TestMatrixLayout multiplies integer matrices the textbook way.
func TestMatrixLayout(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, s := range matrixSpecs() {
		for _, gen := range gens(s) {
			c, A, B, C := s.fillSmall(rnd)
			c.env.Gen = gen
			s.check(t, s.run(&c), A, B, C)
		}
	}
}

// TestMatrixBroadcast checks CBSZ, ABID and BLGP: blocks of A and lanes of B
// are replaced before a plain product.
func TestMatrixBroadcast(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, s := range matrixSpecs() {
		if s.sparse || s.a == "f64" {
			continue
		}
		for _, gen := range gens(s) {
			hasBLGP := gen != GenGFX940 || s.a == "f32" || s.blocks > 1
			c, A, B, C := s.fillSmall(rnd)
			c.env.Gen = gen
			c.env.Cbsz = uint8(rnd.IntN(5))
			for 1<<c.env.Cbsz > s.blocks {
				c.env.Cbsz--
			}
			c.env.Abid = uint8(rnd.IntN(1 << c.env.Cbsz))
			c.env.Blgp = uint8(rnd.IntN(8))
			A2 := make([][][]int, s.blocks)
			for b := range A2 {
				A2[b] = A[b/(1<<c.env.Cbsz)*(1<<c.env.Cbsz)+int(c.env.Abid)]
			}
			B2 := B
			if hasBLGP {
				at := map[[2]int]int{}
				for b := range s.blocks {
					for k := range s.k {
						for j := range s.n {
							e, l := s.input(s.n, s.k, j, k, b)
							at[[2]int{e, l}] = B[b][k][j]
						}
					}
				}
				B2 = nil
				for b := range s.blocks {
					B2 = append(B2, make([][]int, s.k))
					for k := range s.k {
						B2[b][k] = make([]int, s.n)
						for j := range s.n {
							e, l := s.input(s.n, s.k, j, k, b)
							l = [...]int{l, l % 32, l%32 + 32, (l + 16) % 64, l % 16, l%16 + 16, l%16 + 32, l%16 + 48}[c.env.Blgp]
							B2[b][k][j] = at[[2]int{e, l}]
						}
					}
				}
			}
			s.check(t, s.run(&c), A2, B2, C)
		}
	}
}

// TestMatrixNegF64 checks BLGP as negation on gfx940, and that gfx90a ignores it.
func TestMatrixNegF64(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	scale := func(x [][][]int, by int) [][][]int {
		for _, b := range x {
			for _, r := range b {
				for i := range r {
					r[i] *= by
				}
			}
		}
		return x
	}
	for _, name := range []string{"v_mfma_f64_16x16x4_f64", "v_mfma_f64_4x4x4_4b_f64"} {
		s := parseMatrixName(name)
		for blgp := range 8 {
			c, A, B, C := s.fillSmall(rnd)
			c.env.Gen, c.env.Blgp = GenGFX90A, uint8(blgp)
			s.check(t, s.run(&c), A, B, C)
			c.env.Gen = GenGFX940
			sign := func(bit int) int { return 1 - blgp>>bit&1*2 }
			s.check(t, s.run(&c), scale(A, sign(0)), scale(B, sign(1)), scale(C, sign(2)))
		}
	}
}

// TestMatrixAlias places D over A, B and C in several ways.
func TestMatrixAlias(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, s := range matrixSpecs() {
		if s.sparse {
			continue
		}
		c, _, _, _ := s.fillSmall(rnd)
		c.env.Gen = gens(s)[0]
		want := s.run(&c)
		for shift := range 3 {
			buf := make([]Row, 100)
			copy(buf[4:], c.c)
			copy(buf[60:], c.a)
			copy(buf[70:], c.b)
			d := []int{4, 2, 60}[shift]
			Kernels[s.name].Fn(&buf[d], &buf[60], &buf[70], &buf[4], 0, &c.env)
			elems, _ := s.output(s.m-1, s.n-1, s.blocks-1)
			for r := range (elems + 1) * max(32, s.bits()) / 32 {
				if buf[d+r] != want[r] {
					t.Fatalf("%s with D at %d: register %d differs", s.name, d, r)
				}
			}
		}
	}
}

func TestMatrixWraps(t *testing.T) {
	s := parseMatrixName("v_mfma_i32_16x16x16i8")
	c, _, _, _ := s.fillSmall(rand.New(rand.NewPCG(9, 9)))
	for i := range c.a {
		Splat(&c.a[i], 0x7F7F7F7F)
		Splat(&c.b[i], 0x7F7F7F7F)
	}
	for i := range c.c {
		Splat(&c.c[i], math.MaxInt32)
	}
	sum := int64(math.MaxInt32) + 16*127*127
	if d := s.run(&c); d[0][0] != uint32(sum) {
		t.Errorf("got %#x", d[0][0])
	}
}

func TestAccMoves(t *testing.T) {
	for _, name := range []string{"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"} {
		var d, a Row
		Splat(&d, 1)
		Splat(&a, 2)
		Kernels[name].Fn(&d, &a, nil, nil, 1<<63, &Env{})
		if d[63] != 2 || d[0] != 1 {
			t.Errorf("%s: lanes 0 and 63 are %d, %d", name, d[0], d[63])
		}
	}
}
