package lane

import (
	"sync"
	"unsafe"
)

// Matrix instructions on the vector unit: the dense one-block shapes of f16,
// bf16, f32, f64 and i8. Each runs 16 rows by 16 columns at a time; when it meets
// an operand that its kernel does not handle it leaves everything to the portable
// kernel.

// matrixTile holds the spread operands and C of one instruction: 16 vectors of
// values, and of exponents, for A and for B. Its size is one of the allocator's
// size classes, so that it is aligned for whole vectors.
type matrixTile struct {
	a, b [2][16][16]uint32
	c    [16]Row
}

// tiles keeps used tiles: clearing a fresh one would take as long as the smaller
// products.
var tiles = sync.Pool{New: func() any { return new(matrixTile) }}

// vectorShape is a matrixShape with where its rows lie in C: the byte offset of
// the columns of row i of row group g.
type vectorShape struct {
	matrixShape
	offsets [2][16]int32
	regs    int
	// run adds a product to C at c, and reports whether it could; if not, C is
	// spoilt.
	run func(t *matrixTile, c unsafe.Pointer, a, b *Row, e *Env) bool
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
	case (s.a == elemF16 || s.a == elemBF16) && (s.m == 32 && s.k == 8 || s.m == 16 && s.k == 16):
		v.run = v.half
	case s.a == elemF32 && (s.m == 32 && s.k == 2 || s.m == 16 && s.k == 4):
		v.run = v.f32
	case s.a == elemF64 && s.m == 16:
		v.run = v.f64
	case s.a == elemI8 && (s.m == 32 && s.k == 16 || s.m == 16 && s.k == 32):
		v.run = v.i8
	default:
		return nil
	}
	return func(d, a, b, c *Row, exec uint64, e *Env) {
		if !v.multiply(d, a, b, c, e) {
			portable(d, a, b, c, exec, e)
		}
	}
}

// multiply computes a product and reports whether it could.
func (v *vectorShape) multiply(d, a, b, c *Row, e *Env) bool {
	// Broadcasts are rare, and so is what BLGP does to f64.
	if e.Blgp != 0 && (e.Gen < GenGFX940 || v.a == elemF32 || v.a == elemF64) {
		return false
	}
	t := tiles.Get().(*matrixTile)
	defer tiles.Put(t)
	acc := Rows(c, v.regs)
	copy(t.c[:], acc)
	// Where A and B are spread first, C may be accumulated in place; t.c then
	// is what to go back to.
	if d == c && v.a != elemF32 {
		if v.run(t, unsafe.Pointer(c), a, b, e) {
			return true
		}
		copy(acc, t.c[:])
		return false
	}
	if !v.run(t, unsafe.Pointer(&t.c), a, b, e) {
		return false
	}
	copy(Rows(d, v.regs), t.c[:])
	return true
}

// half adds a product of f16 or bf16 to c.
func (v *vectorShape) half(t *matrixTile, c unsafe.Pointer, a, b *Row, e *Env) bool {
	if e.Gen == GenGFX908 || !v.spread(t, a, b, e.Gen) {
		return false
	}
	if v.a == elemBF16 && e.Gen < GenGFX940 {
		vFlushC((*Row)(c), (*Row)(c), v.regs)
	}
	// Vectors count k within a quad, then groups of 16 rows or columns, then
	// quads.
	const quad = 4 * 64
	groups := v.m / 16
	stride := uintptr(groups * quad)
	for k := 0; k < v.k; k += 8 {
		for g := range groups {
			x := unsafe.Add(unsafe.Pointer(&t.a), k*64+g*quad)
			for h := range groups {
				y := unsafe.Add(unsafe.Pointer(&t.b), k*64+h*quad)
				if !v.products(unsafe.Add(c, h*64), g, x, y, stride, e.Gen) {
					return false
				}
			}
		}
	}
	return true
}

// spread fills the operands of t and reports whether they can be handled.
func (v *vectorShape) spread(t *matrixTile, a, b *Row, gen Gen) bool {
	pa, pb := unsafe.Pointer(&t.a), unsafe.Pointer(&t.b)
	switch {
	case gen < GenGFX940 && v.a == elemF16:
		vSpreadFlush(pa, a)
		vSpreadFlush(pb, b)
		return true
	case gen < GenGFX940:
		vSpreadFlushBF16(pa, a)
		vSpreadFlushBF16(pb, b)
		return true
	case v.a == elemF16:
		return !vSpreadTruncate(pa, a) && !vSpreadTruncate(pb, b)
	default:
		return !vSpreadTruncateBF16(pa, a) && !vSpreadTruncateBF16(pb, b)
	}
}

// products adds eight products to the rows of group g of c.
func (v *vectorShape) products(c unsafe.Pointer, g int, a, b unsafe.Pointer, stride uintptr, gen Gen) bool {
	switch {
	case gen < GenGFX940 && v.a == elemF16:
		vFlush4(c, &v.offsets[g], a, b, stride)
		return true
	case gen < GenGFX940:
		vFlush4BF16(c, &v.offsets[g], a, b, stride)
		return true
	case v.a == elemF16:
		return !vTruncate8(c, &v.offsets[g], a, b, stride)
	default:
		return !vTruncate8BF16(c, &v.offsets[g], a, b, stride)
	}
}

// f32 adds a product of f32 to c, which must not overlap a or b.
func (v *vectorShape) f32(_ *matrixTile, c unsafe.Pointer, a, b *Row, _ *Env) bool {
	chain := vChain2
	if v.k == 4 {
		chain = vChain4
	}
	groups := v.m / 16
	stride := uintptr(v.m * 4)
	for g := range groups {
		for h := range groups {
			x, y := unsafe.Add(unsafe.Pointer(a), g*64), unsafe.Add(unsafe.Pointer(b), h*64)
			if chain(unsafe.Add(c, h*64), &v.offsets[g], x, y, stride) {
				return false
			}
		}
	}
	return true
}

// f64 adds a product of f64 to c.
func (v *vectorShape) f64(t *matrixTile, c unsafe.Pointer, a, b *Row, _ *Env) bool {
	vSpreadF64(unsafe.Pointer(&t.a), a)
	return !vChainF64(c, &v.offsets[0], unsafe.Pointer(&t.a), b)
}

// i8 adds a product of i8 to c.
func (v *vectorShape) i8(t *matrixTile, c unsafe.Pointer, a, b *Row, _ *Env) bool {
	pa, pb := unsafe.Pointer(&t.a), unsafe.Pointer(&t.b)
	vSpreadI8(pa, a)
	vSpreadI8(pb, b)
	// Two vectors for each 16 lanes: groups of rows or columns, then of k.
	const pair = 2 * 64
	groups := v.m / 16
	stride := uintptr(groups * pair)
	for k := 0; k < v.k; k += 16 {
		for g := range groups {
			for h := range groups {
				vProductsI8(unsafe.Add(c, h*64), &v.offsets[g], unsafe.Add(pa, k/8*pair+g*pair), unsafe.Add(pb, k/8*pair+h*pair), stride)
			}
		}
	}
	return true
}
