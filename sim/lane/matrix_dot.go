package lane

import (
	"math"
	"math/bits"
)

// Arithmetic of the matrix units. AMD documents the operations but not their
// rounding; these are the models of P. Xie, S. Xu, Y. Wang, F. Yang, M. Yang,
// "Bit-Accurate Modeling of GPU Matrix Multiply-Accumulate Units" (arXiv
// 2511.10909; code: github.com/microsoft/MMA-Sim), found by probing MI100,
// MI200 and MI300 and validated bit for bit against them:
//
//	all      f32, f64        FMA chain from C along k
//	gfx908   f16, bf16       dotExact over 4 (f16) or 2 (bf16)
//	gfx90a   f16, bf16_1k    dotFlush over 4; bf16 over 2
//	gfx940   xf32            dotTruncate over 4
//	         f16, bf16       dotTruncate over 8
//	         fp8, bf8        dotTruncate8 over 16
//
// Each takes that many products at a time and chains the result into C. Where
// the paper's Algorithm 10 and its code differ (where the sum is rounded down),
// the code is followed. AMD's own word on gfx90a is that "MFMA_F16, MFMA_BF16,
// and MFMA_BF16_1K flush subnormal input/output data to zero" (MIOpen, "MI200
// MFMA behavior specifics"). gfx950 is not covered by the paper and computed as
// gfx940. A NaN result that comes from no single operand is nanF32: the paper
// compares NaNs without their bits.

// zeroExp makes the exponent of a product with a zero lower than that of any
// other product.
const zeroExp = -4096

// specialExp is the exponent with which the alignment of dotTruncate8 sees a
// NaN or infinity.
const specialExp = -1

// side is A by rows or B by columns, decoded: element i is v[i] = s·2^e[i] with
// 1 <= |s| < 2, or less for denormals of its format.
type side struct {
	v [maxMatrixElems]float64
	e [maxMatrixElems]int32
	// special tells, per row or column, whether it holds an infinity or NaN.
	special [maxMatrixEdge]bool
}

// decode fills o from rows*k codes of type t. flush turns denormals into +0.
func (o *side) decode(codes *[maxMatrixElems]uint32, t elem, rows, k int, flush bool, gen Gen) {
	f := fp8Of(t == elemBF8, gen)
	minExp := int32(-126)
	switch t {
	case elemF16:
		minExp = -14
	case elemFP8, elemBF8:
		minExp = int32(1 - f.bias)
	}
	for r := range rows {
		bad := false
		v, e := o.v[r*k:][:k], o.e[r*k:][:k]
		for i, code := range codes[r*k:][:k] {
			x, exp := 0.0, int32(0)
			switch t {
			case elemF16:
				x = value16(code)
			case elemFP8, elemBF8:
				x = float64(f32(f.decode[code&0xFF]))
			case elemXF32:
				// Truncated to 10 fraction bits, except that a NaN stays one.
				if !isNaN32(code) {
					code &^= 0x1FFF
				}
				x = float64(f32(code))
			default:
				x = float64(f32(code << 16))
			}
			switch exp = int32(bits64(x)>>52&0x7FF) - 1023; {
			case exp == 1024:
				bad, exp = true, specialExp
			case x == 0:
				exp = zeroExp
			case exp < minExp && flush:
				x, exp = 0, zeroExp
			default:
				exp = max(exp, minExp)
			}
			if flush && x == 0 {
				x = 0 // without a sign
			}
			v[i], e[i] = x, exp
		}
		o.special[r] = bad
	}
}

// value16 is from16 with NaN.
func value16(code uint32) float64 {
	if isNaN16(code) {
		return f64(nanF64)
	}
	return from16(code)
}

// group returns how many products s takes at a time on gen.
func (s *matrixShape) group(gen Gen) int {
	switch perLane := s.ka() * s.m * s.blocks / 64; {
	case s.a == elemFP8 || s.a == elemBF8:
		return min(s.ka(), 16)
	case gen >= GenGFX940 && s.a == elemXF32:
		return 4
	case gen >= GenGFX940:
		return min(s.ka(), 8)
	default:
		return perLane
	}
}

// dot chains the products of a row and a column into c, an f32. bad tells that
// one of them holds an infinity or NaN.
func (s *matrixShape) dot(c uint32, a, b []float64, ae, be []int32, group int, gen Gen, bad bool) uint32 {
	n := len(a)
	b, ae, be = b[:n], ae[:n], be[:n]
	for k := 0; k < n; k += group {
		x, y, xe, ye := a[k:k+group], b[k:k+group], ae[k:k+group], be[k:k+group]
		switch {
		case s.a == elemFP8 || s.a == elemBF8:
			c = dotTruncate8(c, x, y, xe, ye, bad)
		case gen >= GenGFX940 || s.a == elemXF32:
			c = dotTruncate(c, x, y, xe, ye, bad)
		case gen == GenGFX908:
			c = dotExact(c, x, y, bad)
		default:
			if k == 0 {
				c = flushC(c)
			}
			c = dotFlush(c, x, y)
		}
	}
	return c
}

// rowFlush16 is dot with dotFlush for f16 in groups of four, for all columns of
// a row. Nothing of normal f16 values can come out denormal, as their products
// are multiples of 2^-48, so only C needs flushing. Products of two f16 are
// exact in float32.
func rowFlush16(out []uint32, a, b []float32) {
	for j := range out {
		col := b[j*len(a):][:len(a)]
		c := f32(flushC(out[j]))
		for k := 0; k+4 <= len(a) && k+4 <= len(col); k += 4 {
			x, y := (*[4]float32)(a[k:]), (*[4]float32)(col[k:])
			p, q := x[0]*y[0], x[1]*y[1]
			r, t := x[2]*y[2], x[3]*y[3]
			c += float32(float32(p)+float32(q)) + float32(float32(r)+float32(t))
		}
		if c != c {
			out[j] = nanF32
		} else {
			out[j] = bits32(c)
		}
	}
}

// rowTruncate16 is dot with dotTruncate in groups of eight, for all columns of a
// row without infinities and NaNs.
func rowTruncate16(out []uint32, a []float64, ae []int32, b *side, at int) {
	for j := range out {
		c := out[j]
		for k := 0; k+8 <= len(a); k += 8 {
			o := at + j*len(a) + k
			x, y := (*[8]float64)(a[k:]), (*[8]float64)(b.v[o:])
			xe, ye := (*[8]int32)(ae[k:]), (*[8]int32)(b.e[o:])
			e := max(max(max(xe[0]+ye[0], xe[1]+ye[1]), max(xe[2]+ye[2], xe[3]+ye[3])),
				max(max(xe[4]+ye[4], xe[5]+ye[5]), max(xe[6]+ye[6], xe[7]+ye[7])))
			if e >= 127 || e < zeroExp/2 || c&infF32 == infF32 {
				c = dotTruncate(c, x[:], y[:], xe[:], ye[:], false)
				continue
			}
			scale := pow2(24 - e)
			t := int64(x[0]*y[0]*scale) + int64(x[1]*y[1]*scale) + int64(x[2]*y[2]*scale) + int64(x[3]*y[3]*scale) +
				int64(x[4]*y[4]*scale) + int64(x[5]*y[5]*scale) + int64(x[6]*y[6]*scale) + int64(x[7]*y[7]*scale)
			sig, ec := splitC(c)
			c = roundSum(t, e, sig, ec)
		}
		out[j] = c
	}
}

// pow2 is 2^e for e within the range of normal float64.
func pow2(e int32) float64 { return f64(uint64(e+1023) << 52) }

// flushC replaces a denormal or a zero of C by +0.
func flushC(c uint32) uint32 {
	if c&infF32 == 0 {
		return 0
	}
	return c
}

// flushResult keeps the sign of a denormal that it flushes.
func flushResult(v float32) float32 {
	if b := bits32(v); b&infF32 == 0 {
		return f32(b & signF32)
	}
	return v
}

// dotFlush rounds every product and every sum to f32, nearest even, and flushes
// it: the products pairwise, then the pairs, then C.
func dotFlush(c uint32, a, b []float64) uint32 {
	mul := func(i int) float32 { return flushResult(float32(float32(a[i]) * float32(b[i]))) }
	sum := flushResult(mul(0) + mul(1))
	if len(a) == 4 {
		sum = flushResult(sum + flushResult(mul(2)+mul(3)))
	}
	r := flushResult(f32(c) + sum)
	if r != r {
		return nanF32
	}
	return bits32(r)
}

// dotSpecial is the sum where a product or C is an infinity or NaN. overflow
// counts a product of 2^128 and more as infinite.
func dotSpecial(c uint32, a, b []float64, overflow bool) uint32 {
	sum, found := 0.0, c&infF32 == infF32
	if found {
		sum = float64(f32(c))
	}
	for i := range a {
		p := a[i] * b[i]
		if overflow && math.Abs(p) >= 0x1p128 {
			p = math.Inf(int(math.Copysign(1, p)))
		}
		if math.IsInf(p, 0) || p != p {
			sum, found = sum+p, true
		}
	}
	switch {
	case !found:
		return notSpecial
	case sum != sum:
		return nanF32
	}
	return bits32(float32(sum))
}

// notSpecial is what dotSpecial returns for finite operands: a NaN that it
// never gives otherwise.
const notSpecial = 0x7F800001

// truncatedSum adds the products of every step-th element, each cut towards
// zero to 24 fraction bits at the highest exponent e: the sum is t·2^(e-24).
func truncatedSum(a, b []float64, ae, be []int32, first, step int) (t int64, e int32) {
	b, ae, be = b[:len(a)], ae[:len(a)], be[:len(a)]
	e = math.MinInt32
	for i := first; i < len(a); i += step {
		e = max(e, ae[i]+be[i])
	}
	if e < zeroExp/2 {
		return 0, -1000
	}
	scale := pow2(24 - e)
	for i := first; i < len(a); i += step {
		t += int64(a[i] * b[i] * scale)
	}
	return t, e
}

// splitC is c = sig·2^(e-23), with the exponent of the lowest normal for
// denormals and zero.
func splitC(c uint32) (sig int64, e int32) {
	e = int32(c >> 23 & 0xFF)
	sig = int64(c & 0x7FFFFF)
	if e != 0 {
		sig |= 1 << 23
	} else {
		e = 1
	}
	if c&signF32 != 0 {
		sig = -sig
	}
	return sig, e - 127
}

// floorShift is x·2^-n rounded down.
func floorShift(x int64, n int32) int64 { return x >> min(uint32(n), 63) }

// roundSum adds t·2^(e-24) to c: the sum is rounded down to 32 fraction bits
// and C to 24 at the higher of their exponents, the total is rounded down to 31
// at its own, and then to f32, nearest even.
func roundSum(t int64, e int32, sig int64, ec int32) uint32 {
	top := max(e, ec)
	sum := floorShift(t<<8, top-e) + floorShift(sig<<1, top-ec)<<8
	if sum == 0 {
		return 0
	}
	own := max(top-33+int32(bits.Len64(uint64(max(sum, -sum)))), -126)
	if drop := own - top + 1; drop > 0 {
		sum = floorShift(sum, drop) << drop
	}
	return bits32(float32(float64(sum) * pow2(top-32)))
}

// dotTruncate is the paper's TR-FDPA (Algorithm 10).
func dotTruncate(c uint32, a, b []float64, ae, be []int32, bad bool) uint32 {
	if bad || c&infF32 == infF32 {
		if r := dotSpecial(c, a, b, true); r != notSpecial {
			return r
		}
	}
	t, e := truncatedSum(a, b, ae, be, 0, 1)
	if e >= 127 {
		if r := dotSpecial(c, a, b, true); r != notSpecial {
			return r
		}
	}
	sig, ec := splitC(c)
	return roundSum(t, e, sig, ec)
}

// dotTruncate8 is the paper's GTR-FDPA (Algorithm 11): even and odd products
// are summed apart, and a C far below the products is dropped, even when it is
// an infinity or NaN, whose exponent reads as -1.
func dotTruncate8(c uint32, a, b []float64, ae, be []int32, bad bool) uint32 {
	t0, e0 := truncatedSum(a, b, ae, be, 0, 2)
	t1, e1 := truncatedSum(a, b, ae, be, 1, 2)
	e := max(e0, e1)
	if c&infF32 == infF32 && e > 24 {
		c = 0
	}
	if bad || c&infF32 == infF32 {
		if r := dotSpecial(c, a, b, false); r != notSpecial {
			return r
		}
	}
	t := floorShift(t0, e-e0) + floorShift(t1, e-e1)
	sig, ec := splitC(c)
	if ec < e-25 {
		sig = 0
	}
	return roundSum(t, e, sig, ec)
}

// dotExact adds the products to C exactly and rounds once, nearest even (the
// paper's E-FDPA, Algorithm 6).
func dotExact(c uint32, a, b []float64, bad bool) uint32 {
	if bad || c&infF32 == infF32 {
		if r := dotSpecial(c, a, b, false); r != notSpecial {
			return r
		}
	}
	var acc fixedSum
	for i := range a {
		acc.add(a[i] * b[i])
	}
	acc.add(float64(f32(c)))
	return acc.round32()
}

// fixedSum is a fixed-point number in two's complement. Its lowest bit is
// 2^fixedLow, below the last of the 64 bits in which unpack64 gives the least
// product; its highest is above any sum.
type fixedSum [11]uint64

const fixedLow = -384

func (s *fixedSum) add(v float64) {
	neg, exp, sig := unpack64(bits64(v))
	if sig == 0 {
		return
	}
	at := exp - 63 - fixedLow
	w, sh := at>>6, uint(at&63)
	part := [2]uint64{sig << sh, sig >> (64 - sh)}
	carry := uint64(0)
	for i := w; i < len(s); i++ {
		x := uint64(0)
		if i-w < 2 {
			x = part[i-w]
		}
		if neg {
			s[i], carry = bits.Sub64(s[i], x, carry)
		} else {
			s[i], carry = bits.Add64(s[i], x, carry)
		}
	}
}

// round32 rounds the sum to f32, nearest even, and leaves its magnitude in s.
func (s *fixedSum) round32() uint32 {
	neg := s[len(s)-1]>>63 != 0
	if neg {
		carry := uint64(0)
		for i := range s {
			s[i], carry = bits.Sub64(0, s[i], carry)
		}
	}
	i := len(s) - 1
	for ; i > 0 && s[i] == 0; i-- {
	}
	if s[i] == 0 {
		return 0
	}
	n := uint(bits.LeadingZeros64(s[i]))
	sig, rest := s[i]<<n, uint64(0)
	if i > 0 {
		sig |= s[i-1] >> (64 - n)
		rest = s[i-1] << n
		for _, x := range s[:i-1] {
			rest |= x
		}
	}
	if rest != 0 {
		sig |= 1
	}
	return uint32(fmtF32.pack(neg, i*64+63-int(n)+fixedLow, sig, roundEven, true))
}
