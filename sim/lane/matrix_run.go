package lane

import "math"

// tile is what one matrix instruction works on: elements of A by rows and of B
// by columns, and C's registers, where the result is formed.
type tile struct {
	a, b [maxMatrixElems]uint32
	c    [maxMatrixRegs]Row
	k    [maxMatrixElems]uint32 // sparse: place along k of each element of A
}

// load unpacks the operands of 32 bits and less. SMFMAC accumulates into d and
// has its index register in c.
func (t *tile) load(s *matrixShape, d, a, b, c *Row, e *Env) {
	_, _, regs := s.regs()
	unpack(&t.a, a, s.m, s.ka(), s.blocks, elemBits[s.a], s.lanesA(e))
	unpack(&t.b, b, s.n, s.k, s.blocks, elemBits[s.b], s.lanesB(e))
	if s.sparse {
		s.denseK(&t.k, c, e)
		c = d
	}
	copy(t.c[:], Rows(c, regs))
}

// store writes the result.
func (t *tile) store(s *matrixShape, d *Row) {
	_, _, regs := s.regs()
	copy(Rows(d, regs), t.c[:regs])
}

// runI8 accumulates signed bytes in 32 bits, wrapping around.
func (s *matrixShape) runI8(d, a, b, c *Row, _ uint64, e *Env) {
	var t tile
	t.load(s, d, a, b, c, e)
	var x, y [maxMatrixElems]int32
	for i := range x {
		x[i], y[i] = int32(int8(t.a[i])), int32(int8(t.b[i]))
	}
	ka := s.ka()
	var picked [64]int32
	for blk := range s.blocks {
		for i := range s.m {
			reg, lane := s.out(blk, i)
			out := t.c[reg][lane : lane+s.n]
			row := x[(blk*s.m+i)*ka:][:ka]
			for j := range out {
				col := y[(blk*s.n+j)*s.k:][:s.k]
				if s.sparse {
					for k, p := range t.k[i*ka:][:ka] {
						picked[k] = col[p]
					}
					col = picked[:ka]
				}
				sum := int32(out[j])
				for k, v := range row {
					sum += v * col[k]
				}
				out[j] = uint32(sum)
			}
		}
	}
	t.store(s, d)
}

// runF32 chains fused multiply-adds from C along k, nearest even, denormals
// kept (see matrix_dot.go for the source). The columns are the inner loop: their
// chains do not wait for one another.
func (s *matrixShape) runF32(d, a, b, c *Row, _ uint64, e *Env) {
	var t tile
	t.load(s, d, a, b, c, e)
	var y [maxMatrixElems]float64 // B by rows
	for j := range s.n * s.blocks {
		blk, col := j/s.n, j%s.n
		for k := range s.k {
			y[(blk*s.k+k)*s.n+col] = float64(f32(t.b[j*s.k+k]))
		}
	}
	for blk := range s.blocks {
		for i := range s.m {
			reg, lane := s.out(blk, i)
			out := t.c[reg][lane : lane+s.n]
			for k := range s.k {
				x := t.a[(blk*s.m+i)*s.k+k]
				v := float64(f32(x))
				for j, w := range y[(blk*s.k+k)*s.n:][:len(out)] {
					// The product is exact in float64, so it does not
					// matter whether the compiler fuses.
					if r := v*w + float64(f32(out[j])); fmaFast(r) {
						out[j] = bits32(float32(r))
					} else {
						out[j] = fmaF32(x, t.b[(blk*s.n+j)*s.k+k], out[j], modeF32Fast)
					}
				}
			}
		}
	}
	t.store(s, d)
}

// runF64 chains fused multiply-adds from C along k. On gfx940 and later the
// three BLGP bits negate A, B and C (LLVM: "neg" of v_mfma_f64).
func (s *matrixShape) runF64(d, a, b, c *Row, _ uint64, e *Env) {
	var lo, hi [maxMatrixElems]uint32
	var x, y [maxMatrixElems]float64
	var acc [8]Row
	neg := [3]uint64{}
	if e.Gen >= GenGFX940 {
		for i := range neg {
			neg[i] = uint64(e.Blgp>>i&1) << 63
		}
	}
	load := func(dst *[maxMatrixElems]float64, src *Row, edge int, neg uint64) {
		rows := Rows(src, 2)
		unpack(&lo, &rows[0], edge, s.k, s.blocks, 32, &sameLanes)
		unpack(&hi, &rows[1], edge, s.k, s.blocks, 32, &sameLanes)
		for i := range edge * s.k * s.blocks {
			dst[i] = f64((uint64(hi[i])<<32 | uint64(lo[i])) ^ neg)
		}
	}
	load(&x, a, s.m, neg[0])
	load(&y, b, s.n, neg[1])
	_, _, regs := s.regs()
	copy(acc[:], Rows(c, regs))
	for blk := range s.blocks {
		for i := range s.m {
			reg, lane := s.out(blk, i)
			for j := range s.n {
				l, h := &acc[reg][lane+j], &acc[reg+1][lane+j]
				sum := f64((uint64(*h)<<32 | uint64(*l)) ^ neg[2])
				for k := range s.k {
					sum = fmaChain64(x[(blk*s.m+i)*s.k+k], y[(blk*s.n+j)*s.k+k], sum)
				}
				v := bits64(sum)
				*l, *h = uint32(v), uint32(v>>32)
			}
		}
	}
	copy(Rows(d, regs), acc[:regs])
}

// fmaChain64 is the fused x*y+z with NaN results as the vector unit gives them.
func fmaChain64(x, y, z float64) float64 {
	r := math.FMA(x, y, z)
	if r != r {
		switch {
		case x != x:
			return x
		case y != y:
			return y
		case z != z:
			return z
		}
		return f64(nanF64)
	}
	return r
}

// runFused computes the 8- and 16-bit and xf32 products with the dot-product
// arithmetic of e.Gen.
func (s *matrixShape) runFused(d, a, b, c *Row, _ uint64, e *Env) {
	var t tile
	t.load(s, d, a, b, c, e)
	var x, y side
	ka := s.ka()
	flush := e.Gen < GenGFX940 && e.Gen != GenGFX908
	x.decode(&t.a, s.a, s.m*s.blocks, ka, flush, e.Gen)
	y.decode(&t.b, s.b, s.n*s.blocks, s.k, flush, e.Gen)
	group := s.group(e.Gen)
	anyB := false
	for _, bad := range y.special[:s.n*s.blocks] {
		anyB = anyB || bad
	}
	var xf, yf [maxMatrixElems]float32
	half := flush && s.a == elemF16 && !s.sparse
	if half {
		narrow(&xf, &x, s.m*s.blocks*ka)
		narrow(&yf, &y, s.n*s.blocks*s.k)
	}
	for blk := range s.blocks {
		for i := range s.m {
			reg, lane := s.out(blk, i)
			out := t.c[reg][lane : lane+s.n]
			r := blk*s.m + i
			switch {
			case half:
				rowFlush16(out, xf[r*ka:][:ka], yf[blk*s.n*s.k:])
			case group == 8 && !s.sparse && !anyB && !x.special[r]:
				rowTruncate16(out, x.v[r*ka:][:ka], x.e[r*ka:][:ka], &y, blk*s.n*s.k)
			default:
				s.rowFused(out, &t, &x, &y, blk, r, group, e.Gen)
			}
		}
	}
	t.store(s, d)
}

// rowFused computes row r of A (counted over the blocks) by all columns of a
// block.
func (s *matrixShape) rowFused(out []uint32, t *tile, x, y *side, blk, r, group int, gen Gen) {
	ka := s.ka()
	var pv [64]float64
	var pe [64]int32
	av, ae := x.v[r*ka:][:ka], x.e[r*ka:][:ka]
	for j := range out {
		q := blk*s.n + j
		bv, be := y.v[q*s.k:][:s.k], y.e[q*s.k:][:s.k]
		if s.sparse {
			for k, p := range t.k[r*ka:][:ka] {
				pv[k], pe[k] = bv[p], be[p]
			}
			bv, be = pv[:ka], pe[:ka]
		}
		out[j] = s.dot(out[j], av, bv, ae, be, group, gen, x.special[r] || y.special[q])
	}
}

// narrow copies n values, which are exact in float32.
func narrow(dst *[maxMatrixElems]float32, src *side, n int) {
	for i, v := range src.v[:n] {
		dst[i] = float32(v)
	}
}
