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

// value is a decoded element of A or B: v = s·2^e with 1 <= |s| < 2, or less
// for denormals of the element's format. Zeros have e = zeroExp.
type value struct {
	v float64
	e int32
}

// zeroExp makes the exponent of a product with a zero lower than that of any
// other product.
const zeroExp = -4096

// specialExp is the exponent with which the alignment of dotTruncate8 sees a
// NaN or infinity.
const specialExp = -1

// dotFunc adds the products of a and b to c, an f32.
type dotFunc func(c uint32, a, b []value) uint32

// dot returns the arithmetic of s on gen and how many products it takes.
func (s *matrixShape) dot(gen Gen) (dotFunc, int) {
	perLane := s.ka() * s.m * s.blocks / 64
	switch {
	case s.a == elemFP8 || s.a == elemBF8:
		return dotTruncate8, min(s.ka(), 16)
	case gen >= GenGFX940 && s.a == elemXF32:
		return dotTruncate, 4
	case gen >= GenGFX940:
		return dotTruncate, min(s.ka(), 8)
	case gen == GenGFX908:
		return dotExact, perLane
	}
	return dotFlush, perLane
}

// decode writes the values of the first len(dst) codes of type t. flush turns
// denormals into +0.
func decode(dst []value, codes *[maxMatrixElems]uint32, t elem, flush bool, gen Gen) {
	for i := range dst {
		dst[i] = decodeElem(codes[i], t, flush, gen)
	}
}

func decodeElem(code uint32, t elem, flush bool, gen Gen) value {
	var v float64
	minExp, exp := int32(-126), uint32(0)
	switch t {
	case elemF16:
		if exp = code >> 10 & 0x1F; exp == 31 && code&0x3FF != 0 {
			return value{math.NaN(), specialExp}
		}
		v, minExp = from16(code), -14
	case elemFP8, elemBF8:
		f := fp8Of(t == elemBF8, gen)
		v, minExp = float64(f32(f.decode[code])), int32(1-f.bias)
	case elemXF32:
		// Truncated to 10 fraction bits, except that a NaN stays one.
		if !isNaN32(code) {
			code &^= 0x1FFF
		}
		v = float64(f32(code))
	default:
		exp = code >> 7 & 0xFF
		v = float64(f32(code << 16))
	}
	switch {
	case v == 0 || flush && exp == 0:
		if flush && exp == 0 {
			v = 0
		}
		return value{v, zeroExp}
	case v != v || math.IsInf(v, 0):
		return value{v, specialExp}
	}
	e := int32(bits64(v)>>52&0x7FF) - 1023
	return value{v, max(e, minExp)}
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
func dotFlush(c uint32, a, b []value) uint32 {
	mul := func(i int) float32 { return flushResult(float32(float32(a[i].v) * float32(b[i].v))) }
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
func dotSpecial(c uint32, a, b []value, overflow bool) uint32 {
	sum := float64(f32(c))
	for i := range a {
		p := a[i].v * b[i].v
		if overflow && math.Abs(p) >= 0x1p128 {
			p = math.Inf(int(math.Copysign(1, p)))
		}
		if math.IsInf(p, 0) || p != p {
			sum += p
		}
	}
	if sum != sum {
		return nanF32
	}
	return bits32(float32(sum))
}

// special reports whether a holds an infinity or NaN.
func special(a []value) bool {
	for i := range a {
		if a[i].v-a[i].v != 0 {
			return true
		}
	}
	return false
}

// truncatedSum adds the products of every step-th element, each cut towards
// zero to 24 fraction bits at the highest exponent e: the sum is t·2^(e-24).
func truncatedSum(a, b []value, first, step int) (t int64, e int32) {
	e = math.MinInt32
	for i := first; i < len(a); i += step {
		e = max(e, a[i].e+b[i].e)
	}
	if e < zeroExp/2 {
		return 0, e
	}
	scale := pow2(24 - e)
	for i := first; i < len(a); i += step {
		t += int64(a[i].v * b[i].v * scale)
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
func dotTruncate(c uint32, a, b []value) uint32 {
	if c&infF32 == infF32 || special(a) || special(b) {
		return dotSpecial(c, a, b, true)
	}
	t, e := truncatedSum(a, b, 0, 1)
	if e >= 127 {
		for i := range a {
			if math.Abs(a[i].v*b[i].v) >= 0x1p128 {
				return dotSpecial(c, a, b, true)
			}
		}
	}
	sig, ec := splitC(c)
	return roundSum(t, max(e, -1000), sig, ec)
}

// dotTruncate8 is the paper's GTR-FDPA (Algorithm 11): even and odd products
// are summed apart, and a C far below the products is dropped, even when it is
// an infinity or NaN, whose exponent reads as -1.
func dotTruncate8(c uint32, a, b []value) uint32 {
	t0, e0 := truncatedSum(a, b, 0, 2)
	t1, e1 := truncatedSum(a, b, 1, 2)
	e0, e1 = max(e0, -1000), max(e1, -1000)
	e := max(e0, e1)
	if c&infF32 == infF32 && e > 24 {
		c = 0
	}
	if c&infF32 == infF32 || special(a) || special(b) {
		return dotSpecial(c, a, b, false)
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
func dotExact(c uint32, a, b []value) uint32 {
	if c&infF32 == infF32 || special(a) || special(b) {
		return dotSpecial(c, a, b, false)
	}
	// A fixed-point number in two's complement. Its lowest bit is 2^-384, below the last
	// of the 64 bits in which unpack64 gives the least product; its highest is
	// above any sum.
	const low, words = -384, 11
	var acc [words]uint64
	add := func(v float64) {
		neg, exp, sig := unpack64(bits64(v))
		if sig == 0 {
			return
		}
		at := exp - 63 - low
		w, sh := at>>6, uint(at&63)
		part := [2]uint64{sig << sh, sig >> (64 - sh)}
		carry := uint64(0)
		for i := w; i < words; i++ {
			x := uint64(0)
			if i-w < 2 {
				x = part[i-w]
			}
			if neg {
				acc[i], carry = bits.Sub64(acc[i], x, carry)
			} else {
				acc[i], carry = bits.Add64(acc[i], x, carry)
			}
		}
	}
	for i := range a {
		add(a[i].v * b[i].v)
	}
	add(float64(f32(c)))
	neg := acc[words-1]>>63 != 0
	if neg {
		carry := uint64(0)
		for i := range acc {
			acc[i], carry = bits.Sub64(0, acc[i], carry)
		}
	}
	for i := words - 1; i >= 0; i-- {
		if acc[i] == 0 {
			continue
		}
		n := uint(bits.LeadingZeros64(acc[i]))
		sig, rest := acc[i]<<n, uint64(0)
		if i > 0 {
			sig |= acc[i-1] >> (64 - n)
			rest = acc[i-1] << n
			for _, x := range acc[:i-1] {
				rest |= x
			}
		}
		if rest != 0 {
			sig |= 1
		}
		return uint32(fmtF32.pack(neg, i*64+63-int(n)+low, sig, roundEven, true))
	}
	return 0
}
