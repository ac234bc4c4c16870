package lane

import "math"

// Transcendental functions. The hardware's are within 1 ulp (f32, f16) or 2^29
// ulp (f64); these are computed in float64 and rounded under MODE, and marked
// Approx. Before that rounding exp, log, sin and cos are within 2^-48
// (trans_poly.go), the others within the roundings of one or two float64
// operations. Special values follow the functional examples of the CDNA3 and CDNA4
// ISA documents.
//
// The f32 forms of exp, log, rcp, rsq and sqrt flush denormal sources and
// results whatever MODE says ("denormals are flushed" in the same documents);
// sin and cos and all f16 and f64 forms obey MODE.

func flushMode(m Mode) Mode { return m &^ 0x30 }

// fn32 applies f to an f32 and rounds; a NaN from a source that is not NaN is
// the default NaN.
func fn32(x uint32, m Mode, f func(float64) float64) uint32 {
	if isNaN32(x) {
		return quiet32(x, m)
	}
	v := f(float64(f32(in32(x, m))))
	if v != v {
		return nanF32
	}
	return to32(v, m)
}

func fn16(x uint32, m Mode, f func(float64) float64) uint32 {
	if isNaN16(x) {
		return quiet16(x, m)
	}
	v := f(from16(in16(x, m)))
	if v != v {
		return nanF16
	}
	return to16(v, m)
}

func fn64(x uint64, m Mode, f func(float64) float64) uint64 {
	if isNaN64(x) {
		return quiet64(x, m)
	}
	v := f(f64(in64(x, m)))
	if v != v {
		return nanF64
	}
	return flush64(bits64(v), m.denorm64(), denormOut)
}

func rcp(v float64) float64 { return 1 / v }

// rsq of -0 is -inf.
func rsq(v float64) float64 { return 1 / math.Sqrt(v) }

// trigRange reports whether v is a valid source of sin and cos. Before gfx940
// the domain is [-256, 256] turns and what lies outside counts as 0 (Vega ISA,
// V_SIN_F32; LLVM's FeatureTrigReducedRange); later the full range is supported
// (CDNA4 ISA).
func trigRange(v float64, g Gen) float64 {
	if g < GenGFX940 && math.Abs(v) > 256 && !math.IsInf(v, 0) {
		return 0
	}
	return v
}

func sinF32(x uint32, m Mode, g Gen) uint32 {
	return fn32(x, m, func(v float64) float64 { return sinTurns(trigRange(v, g)) })
}

func cosF32(x uint32, m Mode, g Gen) uint32 {
	return fn32(x, m, func(v float64) float64 { return cosTurns(trigRange(v, g)) })
}

func sinF16(x uint32, m Mode, g Gen) uint32 {
	return fn16(x, m, func(v float64) float64 { return sinTurns(trigRange(v, g)) })
}

func cosF16(x uint32, m Mode, g Gen) uint32 {
	return fn16(x, m, func(v float64) float64 { return cosTurns(trigRange(v, g)) })
}

// trigPreopF64 is segment seg&31 of 53 bits of 2/π, aligned for a product with
// x and rounded towards zero (CDNA3 ISA, V_TRIG_PREOP_F64).
func trigPreopF64(x uint64, seg uint32, m Mode) uint64 {
	e := divExp64(x)
	shift := int(seg&31) * 53
	if e > 1077 {
		shift += e - 1077
	}
	sig := twoOverPiBits(shift)
	scale := -53 - shift
	if e >= 1968 {
		scale += 128
	}
	a := exact64(bits64(float64(sig)))
	return fmtF64.pack(false, a.exp+scale, a.hi, roundZero, m.denorm64()&denormOut != 0)
}

// twoOverPiBits is the 53 bits of 2/π that follow the first n fraction bits;
// bits past the 1201st are 0.
func twoOverPiBits(n int) uint64 {
	w, s := n/64, uint(n%64)
	word := func(i int) uint64 {
		if i < len(twoOverPi) {
			return twoOverPi[i]
		}
		return 0
	}
	return (word(w)<<s | word(w+1)>>(64-s)) >> 11
}

// twoOverPi holds the first 1201 fraction bits of 2/π, most significant first.
var twoOverPi = [19]uint64{
	0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561,
	0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484,
	0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F,
	0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B,
	0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B0000,
}
