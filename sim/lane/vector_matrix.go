package lane

import "unsafe"

// Matrix instructions on the vector unit: the dense one-block f16 and f32
// shapes. Each runs 16 rows by 16 columns at a time on a copy of C; when it meets
// an operand that its kernel does not handle it leaves everything to the portable
// kernel.

// matrixTile holds the spread operands and C of one instruction: 16 vectors of
// values, and of exponents, for A and for B. It is used 64-byte aligned.
type matrixTile struct {
	a, b [2][16][16]uint32
	c    [16]Row
}

const tileAlign = 64

// alignedTile returns a matrixTile inside buf.
func alignedTile(buf *[unsafe.Sizeof(matrixTile{}) + tileAlign]byte) *matrixTile {
	p := unsafe.Pointer(buf)
	return (*matrixTile)(unsafe.Add(p, -uintptr(p)&(tileAlign-1)))
}

// vectorShape is a matrixShape with where its rows lie in C: the byte offset of
// the columns of row i of row group g.
type vectorShape struct {
	matrixShape
	offsets [2][16]int32
	regs    int
}

// vectorMatrix returns the vector form of the kernel of s, or nil.
func vectorMatrix(s matrixShape, portable Fn) Fn {
	if s.blocks != 1 || s.sparse {
		return nil
	}
	v := &vectorShape{matrixShape: s}
	_, _, v.regs = s.regs()
	for i := range s.m {
		reg, lane := s.out(0, i)
		v.offsets[i/16][i%16] = int32(reg*256 + lane*4)
	}
	switch {
	case s.a == elemF16 && (s.m == 32 && s.k == 8 || s.m == 16 && s.k == 16):
		return func(d, a, b, c *Row, exec uint64, e *Env) {
			if !v.f16(d, a, b, c, e) {
				portable(d, a, b, c, exec, e)
			}
		}
	case s.a == elemF32 && (s.m == 32 && s.k == 2 || s.m == 16 && s.k == 4):
		return func(d, a, b, c *Row, exec uint64, e *Env) {
			if !v.f32(d, a, b, c, e) {
				portable(d, a, b, c, exec, e)
			}
		}
	}
	return nil
}

// f16 computes a product of f16 and reports whether it could.
func (v *vectorShape) f16(d, a, b, c *Row, e *Env) bool {
	if e.Gen == GenGFX908 || e.Gen < GenGFX940 && e.Blgp != 0 {
		return false
	}
	truncate := e.Gen >= GenGFX940
	var buf [unsafe.Sizeof(matrixTile{}) + tileAlign]byte
	t := alignedTile(&buf)
	pa, pb := unsafe.Pointer(&t.a), unsafe.Pointer(&t.b)
	if !truncate {
		vSpreadFlush(pa, a)
		vSpreadFlush(pb, b)
	} else if vSpreadTruncate(pa, a) || vSpreadTruncate(pb, b) {
		return false
	}
	copy(t.c[:], Rows(c, v.regs))
	// Vectors count k within a quad, then groups of 16 rows or columns, then
	// quads.
	const quad = 4 * 64
	groups := v.m / 16
	stride := uintptr(groups * quad)
	for k := 0; k < v.k; k += 8 {
		for g := range groups {
			for h := range groups {
				to := unsafe.Add(unsafe.Pointer(&t.c), h*64)
				x, y := unsafe.Add(pa, k*64+g*quad), unsafe.Add(pb, k*64+h*quad)
				if !truncate {
					vFlush4(to, &v.offsets[g], x, y, stride)
				} else if vTruncate8(to, &v.offsets[g], x, y, stride) {
					return false
				}
			}
		}
	}
	copy(Rows(d, v.regs), t.c[:])
	return true
}

// f32 computes a product of f32 and reports whether it could.
func (v *vectorShape) f32(d, a, b, c *Row, e *Env) bool {
	if e.Blgp != 0 {
		return false
	}
	var buf [unsafe.Sizeof(matrixTile{}) + tileAlign]byte
	t := alignedTile(&buf)
	copy(t.c[:], Rows(c, v.regs))
	groups := v.m / 16
	stride := uintptr(v.m * 4)
	for g := range groups {
		for h := range groups {
			to := unsafe.Add(unsafe.Pointer(&t.c), h*64)
			x, y := unsafe.Add(unsafe.Pointer(a), g*64), unsafe.Add(unsafe.Pointer(b), h*64)
			nan := false
			if v.k == 2 {
				nan = vChain2(to, &v.offsets[g], x, y, stride)
			} else {
				nan = vChain4(to, &v.offsets[g], x, y, stride)
			}
			if nan {
				return false
			}
		}
	}
	copy(Rows(d, v.regs), t.c[:])
	return true
}
