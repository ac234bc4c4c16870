package lane

// Matrix instructions (MFMA and SMFMAC): D = A x B + C on tuples of registers
// that all 64 lanes hold together, EXEC and MODE ignored.
//
// A kernel unpacks A and B into dense arrays, computes every element of C's
// registers in a local copy, and copies that to D, so that D may overlap
// anything. matrix_dot.go has the arithmetic of each generation.
//
// Layout source: AMD matrix_instruction_calculator (element to register and
// lane, CBSZ, ABID, BLGP); CDNA3 ISA, "Matrix Arithmetic Instructions".

// elem is the type of an element of A or B.
type elem uint8

const (
	elemF64 elem = iota
	elemF32
	elemXF32
	elemF16
	elemBF16
	elemI8
	elemFP8
	elemBF8
)

var elemBits = [...]int{elemF64: 64, elemF32: 32, elemXF32: 32, elemF16: 16, elemBF16: 16, elemI8: 8, elemFP8: 8, elemBF8: 8}

// matrixShape is one matrix instruction: blocks independent products of an
// m x k by a k x n matrix. With sparse, A holds two of every four elements
// along k, and an index register tells which.
type matrixShape struct {
	m, n, k, blocks int
	a, b            elem
	sparse          bool
}

// Most elements of A or B in one instruction, dwords of C, rows or columns.
const (
	maxMatrixElems = 1024
	maxMatrixRegs  = 32
	maxMatrixEdge  = 64 // m*blocks and n*blocks
)

// ka is the number of elements of A that are stored along k.
func (s *matrixShape) ka() int {
	if s.sparse {
		return s.k / 2
	}
	return s.k
}

// regs returns how many registers per lane A, B and C take.
func (s *matrixShape) regs() (a, b, c int) {
	a = s.m * s.ka() * s.blocks * elemBits[s.a] / 64 / 32
	b = s.n * s.k * s.blocks * elemBits[s.b] / 64 / 32
	c = s.m * s.n * s.blocks / 64
	if s.a == elemF64 {
		c *= 2
	}
	return a, b, c
}

// out returns the first register and lane of row i of block b of C. The n
// columns are in consecutive lanes. 32-bit results are grouped in four rows to
// as many registers; 64-bit results (a register pair each) are not grouped.
func (s *matrixShape) out(b, i int) (reg, lane int) {
	height := 4
	if s.a == elemF64 {
		height = 1
	}
	perReg := 64 / s.n                          // row groups side by side in a register
	blocksPerReg := max(1, 64*height/(s.n*s.m)) // blocks side by side
	reg = b*(s.m*s.n/64) + i/(height*perReg)*height + i%height
	lane = b%blocksPerReg*s.n + i/height%perReg*blocksPerReg*s.n
	if s.a == elemF64 {
		reg *= 2
	}
	return reg, lane
}

// unpack writes the elements of A or B, zero-extended, to dst: the k elements
// of row (A) or column (B) i of block b start at (b*edge+i)*k. Within a lane's
// registers lie consecutive elements along k; lanes walk the rows, then the
// blocks, then k. from gives the lane to read in place of each lane.
func unpack(dst *[maxMatrixElems]uint32, src *Row, edge, k, blocks, width int, from *[64]uint8) {
	each := k * edge * blocks / 64
	rows := Rows(src, (each*width+31)/32)
	mask := uint32(1)<<width - 1
	for lane := range 64 {
		g := lane / (edge * blocks) // which run of each elements along k
		at := lane%(edge*blocks)*k + g*each
		l := from[lane]
		for e := range each {
			dst[at+e] = rows[e*width/32][l] >> (e * width & 31) & mask
		}
	}
}

// sameLanes is the lane map of an operand without broadcast.
var sameLanes = func() (from [64]uint8) {
	for i := range from {
		from[i] = uint8(i)
	}
	return from
}()

// lanesA is the lane map of A: with CBSZ = s, every group of 2^s blocks uses
// the block of the group that ABID names.
func (s *matrixShape) lanesA(e *Env) *[64]uint8 {
	if e.Cbsz == 0 || s.blocks == 1 || s.a == elemF64 {
		return &sameLanes
	}
	group := s.blocks - 1
	if e.Cbsz < 4 {
		group = min(group, 1<<e.Cbsz-1)
	}
	var from [64]uint8
	for i := range from {
		block := i / s.m % s.blocks
		to := block&^group | int(e.Abid)&group
		from[i] = uint8(i + (to-block)*s.m)
	}
	return &from
}

// lanesB is the lane map of B: BLGP 1 and 2 broadcast the first and second 32
// lanes, 3 rotates by 16 lanes, 4 to 7 broadcast one group of 16 lanes. gfx940
// and later have it for f32 and for several blocks only (matrix_instruction_
// calculator), and use the field as negation for f64.
func (s *matrixShape) lanesB(e *Env) *[64]uint8 {
	blgp := e.Blgp & 7
	if blgp == 0 || s.a == elemF64 || s.sparse || e.Gen >= GenGFX940 && s.a != elemF32 && s.blocks == 1 {
		return &sameLanes
	}
	var from [64]uint8
	for i := range from {
		switch {
		case blgp <= 2:
			from[i] = uint8(i&31 + int(blgp-1)*32)
		case blgp == 3:
			from[i] = uint8((i + 16) & 63)
		default:
			from[i] = uint8(i&15 + int(blgp-4)*16)
		}
	}
	return &from
}

// denseK writes, for every stored element of A, its place along k in its row.
// Each pair of stored elements has two of four consecutive places; two bits of
// the index register name each. A lane's indices take one set of 8 bits
// (16-bit types) or 16 bits (8-bit types): ABID chooses the set when CBSZ is 0,
// otherwise it is the first.
//
// Source: CDNA3 ISA, "Sparse matrix"; LLVM MLIR amdgpu.sparse_mfma.
func (s *matrixShape) denseK(dst *[maxMatrixElems]uint32, index *Row, e *Env) {
	each := s.ka() * s.m / 64
	shift := 0
	if e.Cbsz == 0 {
		shift = int(e.Abid) * each * 2 & 31
	}
	for lane := range 64 {
		at := lane%s.m*s.ka() + lane/s.m*each
		set := index[lane] >> shift
		for j := range each {
			dst[at+j] = uint32((lane/s.m*each+j)/2*4) + set>>(2*j)&3
		}
	}
}

// kernel makes the Kernels entry of s.
func (s matrixShape) kernel() Kernel {
	wide := map[int]Type{1: B32, 2: B64, 4: B128, 8: B256, 16: B512, 32: B1024}
	a, b, c := s.regs()
	k := Kernel{Matrix: true, Dst: wide[c], Src: [3]Type{wide[a], wide[b], wide[c]}}
	switch {
	case s.a == elemF64:
		k.Fn = s.runF64
		if c == 2 {
			k.Src[2] = F64 // inline constants are doubles
		}
	case s.a == elemI8:
		k.Fn = s.runI8
	case s.a == elemF32:
		k.Fn = s.runF32
	default:
		k.Fn = s.runFused
	}
	if s.sparse {
		k.Src[2] = B32
		// How the hardware groups sparse products is not published.
		k.Approx = s.a != elemI8
	}
	return k
}

// matrixShapes lists the instructions of gfx908, gfx90a and gfx942 under the
// gfx90a and the gfx940 spelling.
var matrixShapes = []struct {
	old, new string
	shape    matrixShape
}{
	{"v_mfma_f32_32x32x1f32", "v_mfma_f32_32x32x1_2b_f32", matrixShape{32, 32, 1, 2, elemF32, elemF32, false}},
	{"v_mfma_f32_16x16x1f32", "v_mfma_f32_16x16x1_4b_f32", matrixShape{16, 16, 1, 4, elemF32, elemF32, false}},
	{"v_mfma_f32_4x4x1f32", "v_mfma_f32_4x4x1_16b_f32", matrixShape{4, 4, 1, 16, elemF32, elemF32, false}},
	{"v_mfma_f32_32x32x2f32", "v_mfma_f32_32x32x2_f32", matrixShape{32, 32, 2, 1, elemF32, elemF32, false}},
	{"v_mfma_f32_16x16x4f32", "v_mfma_f32_16x16x4_f32", matrixShape{16, 16, 4, 1, elemF32, elemF32, false}},
	{"", "v_mfma_f32_16x16x8_xf32", matrixShape{16, 16, 8, 1, elemXF32, elemXF32, false}},
	{"", "v_mfma_f32_32x32x4_xf32", matrixShape{32, 32, 4, 1, elemXF32, elemXF32, false}},
	{"v_mfma_f32_32x32x4f16", "v_mfma_f32_32x32x4_2b_f16", matrixShape{32, 32, 4, 2, elemF16, elemF16, false}},
	{"v_mfma_f32_16x16x4f16", "v_mfma_f32_16x16x4_4b_f16", matrixShape{16, 16, 4, 4, elemF16, elemF16, false}},
	{"v_mfma_f32_4x4x4f16", "v_mfma_f32_4x4x4_16b_f16", matrixShape{4, 4, 4, 16, elemF16, elemF16, false}},
	{"v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16", matrixShape{32, 32, 8, 1, elemF16, elemF16, false}},
	{"v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16_f16", matrixShape{16, 16, 16, 1, elemF16, elemF16, false}},
	{"v_mfma_f32_32x32x2bf16", "", matrixShape{32, 32, 2, 2, elemBF16, elemBF16, false}},
	{"v_mfma_f32_16x16x2bf16", "", matrixShape{16, 16, 2, 4, elemBF16, elemBF16, false}},
	{"v_mfma_f32_4x4x2bf16", "", matrixShape{4, 4, 2, 16, elemBF16, elemBF16, false}},
	{"v_mfma_f32_32x32x4bf16", "", matrixShape{32, 32, 4, 1, elemBF16, elemBF16, false}},
	{"v_mfma_f32_16x16x8bf16", "", matrixShape{16, 16, 8, 1, elemBF16, elemBF16, false}},
	{"v_mfma_f32_32x32x4bf16_1k", "v_mfma_f32_32x32x4_2b_bf16", matrixShape{32, 32, 4, 2, elemBF16, elemBF16, false}},
	{"v_mfma_f32_16x16x4bf16_1k", "v_mfma_f32_16x16x4_4b_bf16", matrixShape{16, 16, 4, 4, elemBF16, elemBF16, false}},
	{"v_mfma_f32_4x4x4bf16_1k", "v_mfma_f32_4x4x4_16b_bf16", matrixShape{4, 4, 4, 16, elemBF16, elemBF16, false}},
	{"v_mfma_f32_32x32x8bf16_1k", "v_mfma_f32_32x32x8_bf16", matrixShape{32, 32, 8, 1, elemBF16, elemBF16, false}},
	{"v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_16x16x16_bf16", matrixShape{16, 16, 16, 1, elemBF16, elemBF16, false}},
	{"v_mfma_i32_32x32x4i8", "v_mfma_i32_32x32x4_2b_i8", matrixShape{32, 32, 4, 2, elemI8, elemI8, false}},
	{"v_mfma_i32_16x16x4i8", "v_mfma_i32_16x16x4_4b_i8", matrixShape{16, 16, 4, 4, elemI8, elemI8, false}},
	{"v_mfma_i32_4x4x4i8", "v_mfma_i32_4x4x4_16b_i8", matrixShape{4, 4, 4, 16, elemI8, elemI8, false}},
	{"v_mfma_i32_32x32x8i8", "", matrixShape{32, 32, 8, 1, elemI8, elemI8, false}},
	{"v_mfma_i32_16x16x16i8", "", matrixShape{16, 16, 16, 1, elemI8, elemI8, false}},
	{"", "v_mfma_i32_32x32x16_i8", matrixShape{32, 32, 16, 1, elemI8, elemI8, false}},
	{"", "v_mfma_i32_16x16x32_i8", matrixShape{16, 16, 32, 1, elemI8, elemI8, false}},
	{"v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64", matrixShape{16, 16, 4, 1, elemF64, elemF64, false}},
	{"v_mfma_f64_4x4x4f64", "v_mfma_f64_4x4x4_4b_f64", matrixShape{4, 4, 4, 4, elemF64, elemF64, false}},
	{"", "v_mfma_f32_16x16x32_bf8_bf8", matrixShape{16, 16, 32, 1, elemBF8, elemBF8, false}},
	{"", "v_mfma_f32_16x16x32_bf8_fp8", matrixShape{16, 16, 32, 1, elemBF8, elemFP8, false}},
	{"", "v_mfma_f32_16x16x32_fp8_bf8", matrixShape{16, 16, 32, 1, elemFP8, elemBF8, false}},
	{"", "v_mfma_f32_16x16x32_fp8_fp8", matrixShape{16, 16, 32, 1, elemFP8, elemFP8, false}},
	{"", "v_mfma_f32_32x32x16_bf8_bf8", matrixShape{32, 32, 16, 1, elemBF8, elemBF8, false}},
	{"", "v_mfma_f32_32x32x16_bf8_fp8", matrixShape{32, 32, 16, 1, elemBF8, elemFP8, false}},
	{"", "v_mfma_f32_32x32x16_fp8_bf8", matrixShape{32, 32, 16, 1, elemFP8, elemBF8, false}},
	{"", "v_mfma_f32_32x32x16_fp8_fp8", matrixShape{32, 32, 16, 1, elemFP8, elemFP8, false}},
	{"", "v_smfmac_f32_16x16x32_f16", matrixShape{16, 16, 32, 1, elemF16, elemF16, true}},
	{"", "v_smfmac_f32_32x32x16_f16", matrixShape{32, 32, 16, 1, elemF16, elemF16, true}},
	{"", "v_smfmac_f32_16x16x32_bf16", matrixShape{16, 16, 32, 1, elemBF16, elemBF16, true}},
	{"", "v_smfmac_f32_32x32x16_bf16", matrixShape{32, 32, 16, 1, elemBF16, elemBF16, true}},
	{"", "v_smfmac_i32_16x16x64_i8", matrixShape{16, 16, 64, 1, elemI8, elemI8, true}},
	{"", "v_smfmac_i32_32x32x32_i8", matrixShape{32, 32, 32, 1, elemI8, elemI8, true}},
	{"", "v_smfmac_f32_16x16x64_bf8_bf8", matrixShape{16, 16, 64, 1, elemBF8, elemBF8, true}},
	{"", "v_smfmac_f32_16x16x64_bf8_fp8", matrixShape{16, 16, 64, 1, elemBF8, elemFP8, true}},
	{"", "v_smfmac_f32_16x16x64_fp8_bf8", matrixShape{16, 16, 64, 1, elemFP8, elemBF8, true}},
	{"", "v_smfmac_f32_16x16x64_fp8_fp8", matrixShape{16, 16, 64, 1, elemFP8, elemFP8, true}},
	{"", "v_smfmac_f32_32x32x32_bf8_bf8", matrixShape{32, 32, 32, 1, elemBF8, elemBF8, true}},
	{"", "v_smfmac_f32_32x32x32_bf8_fp8", matrixShape{32, 32, 32, 1, elemBF8, elemFP8, true}},
	{"", "v_smfmac_f32_32x32x32_fp8_bf8", matrixShape{32, 32, 32, 1, elemFP8, elemBF8, true}},
	{"", "v_smfmac_f32_32x32x32_fp8_fp8", matrixShape{32, 32, 32, 1, elemFP8, elemFP8, true}},
}

func init() {
	m := map[string]Kernel{}
	for _, e := range matrixShapes {
		k := e.shape.kernel()
		for _, name := range []string{e.old, e.new} {
			if name != "" {
				m[name] = k
			}
		}
	}
	// Copies between the two register files follow EXEC as any v_mov does.
	move := Kernel{
		Fn:  func(d, a, _, _ *Row, exec uint64, _ *Env) { MergeRow(d, a, exec) },
		Dst: B32, Src: [3]Type{B32},
	}
	m["v_accvgpr_read_b32"] = move
	m["v_accvgpr_write_b32"] = move
	m["v_accvgpr_mov_b32"] = move
	register(m)
}
