package lane

import "math"

// The steps of the division expansions: V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP.
//
// The ISA documents' pseudocode of V_DIV_SCALE is followed except where it
// cannot give a correct quotient or where observed hardware differs:
//   - zero operands give NaN and set the mask (observed on hardware);
//   - a quotient "is denormal" when the exponents differ by the format's
//     minimum or more, without looking at the significands (observed: 2^-126
//     over 1 sets the mask);
//   - with a huge denominator and a denormal quotient the denominator is scaled
//     down, as in the next branch; scaling it up would overflow.
//
// V_DIV_FMAS scales up when the exponent of its addend, the quotient, says that
// the denominator was scaled up, and down otherwise (observed on hardware; the
// documents only give a factor).

func divExp32(x uint32) int { return int(x >> 23 & 0xFF) }
func divExp64(x uint64) int { return int(x >> 52 & 0x7FF) }

// divScaleF32 scales s, which is den or num, and reports whether the quotient
// has to be scaled back.
func divScaleF32(s, den, num uint32, m Mode) (r uint32, post uint64) {
	s, den, num = in32(s, m), in32(den, m), in32(num, m)
	if den&^signF32 == 0 || num&^signF32 == 0 {
		return nanF32, 1
	}
	up := func() uint32 { return ldexpF32(s, 64, m) }
	down := func() uint32 { return ldexpF32(s, 0xFFFFFFC0, m) }
	diff := divExp32(num) - divExp32(den)
	huge := den&^signF32 > 0x7E800000 && divExp32(den) < 255 // 1/den is denormal
	switch {
	case diff >= 96:
		if s == den {
			return up(), 1
		}
		return s, 1
	case divExp32(den) == 0:
		return up(), 0
	case huge && diff <= -126:
		if s == den {
			return down(), 1
		}
		return s, 1
	case huge:
		return down(), 0
	case diff <= -126:
		if s == num {
			return up(), 1
		}
		return s, 1
	case divExp32(num) <= 23:
		return up(), 0
	}
	return s, 0
}

func divScaleF64(s, den, num uint64, m Mode) (r uint64, post uint64) {
	s, den, num = in64(s, m), in64(den, m), in64(num, m)
	if den&^signF64 == 0 || num&^signF64 == 0 {
		return nanF64, 1
	}
	up := func() uint64 { return ldexpF64(s, 128, m) }
	down := func() uint64 { return ldexpF64(s, 0xFFFFFF80, m) }
	diff := divExp64(num) - divExp64(den)
	huge := den&^signF64 > 2045<<52 && divExp64(den) < 2047
	switch {
	case diff >= 768:
		if s == den {
			return up(), 1
		}
		return s, 1
	case divExp64(den) == 0:
		return up(), 0
	case huge && diff <= -1022:
		if s == den {
			return down(), 1
		}
		return s, 1
	case huge:
		return down(), 0
	case diff <= -1022:
		if s == num {
			return up(), 1
		}
		return s, 1
	case divExp64(num) <= 53:
		return up(), 0
	}
	return s, 0
}

// divFmasF32 is the fused x*y+z, scaled by 2^±64 if post, rounded once. Source
// denormals are kept (CDNA3 ISA, V_DIV_FMAS_F32).
func divFmasF32(x, y, z, post uint32, m Mode) uint32 {
	m |= 1 << 4
	scale := 1.0
	if post != 0 {
		scale = 0x1p-64
		if divExp32(z) > 127 {
			scale = 0x1p64
		}
	}
	return fmaScaleF32(x, y, z, scale, m)
}

func divFmasF64(x, y, z uint64, post uint32, m Mode) uint64 {
	m |= 1 << 6
	scale := 0
	if post != 0 {
		scale = -128
		if divExp64(z) > 1023 {
			scale = 128
		}
	}
	return fmaF64(x, y, z, scale, m)
}

// divFixupF32 turns quotient q of num/den into the final result. A NaN or
// infinite quotient of ordinary operands is an overflow (observed on hardware;
// the pseudocode tests the denominator's exponent, which cannot hold there).
func divFixupF32(q, den, num uint32, m Mode) uint32 {
	sign := (den ^ num) & signF32
	if isNaN32(num) {
		return quiet32(num, m)
	}
	if isNaN32(den) {
		return quiet32(den, m)
	}
	den, num = in32(den, m), in32(num, m)
	den0, num0 := den&^signF32 == 0, num&^signF32 == 0
	switch {
	case den0 && num0, isInf32(den) && isInf32(num):
		return nanF32
	case den0 || isInf32(num):
		return sign | infF32
	case num0 || isInf32(den):
		return sign
	case divExp32(num)-divExp32(den) < -150:
		return to32(math.Copysign(0x1p-300, float64(f32(sign))), m)
	case isNaN32(q):
		return to32(math.Copysign(0x1p300, float64(f32(sign))), m)
	}
	return sign | q&^signF32
}

func divFixupF64(q, den, num uint64, m Mode) uint64 {
	sign := (den ^ num) & signF64
	if isNaN64(num) {
		return quiet64(num, m)
	}
	if isNaN64(den) {
		return quiet64(den, m)
	}
	den, num = in64(den, m), in64(num, m)
	den0, num0 := den&^signF64 == 0, num&^signF64 == 0
	switch {
	case den0 && num0, isInf64(den) && isInf64(num):
		return nanF64
	case den0 || isInf64(num):
		return sign | infF64
	case num0 || isInf64(den):
		return sign
	case divExp64(num)-divExp64(den) < -1075:
		return exact{sign != 0, -3000, 1 << 63, 0}.round64(0, m)
	case isNaN64(q):
		return exact{sign != 0, 3000, 1 << 63, 0}.round64(0, m)
	}
	return sign | q&^signF64
}

func divFixupF16(q, den, num uint32, m Mode) uint32 {
	sign := (den ^ num) & signF16
	if isNaN16(num) {
		return quiet16(num, m)
	}
	if isNaN16(den) {
		return quiet16(den, m)
	}
	den, num = in16(den, m), in16(num, m)
	den0, num0 := den&0x7FFF == 0, num&0x7FFF == 0
	switch {
	case den0 && num0, isInf16(den) && isInf16(num):
		return nanF16
	case den0 || isInf16(num):
		return sign | infF16
	case num0 || isInf16(den):
		return sign
	}
	return sign | q&0x7FFF
}
