package lane

// 8-bit floating point: fp8 (E4M3) and bf8 (E5M2). gfx942 has the FNUZ
// encodings (bias one higher, no infinity, no negative zero, whose code is the
// only NaN); gfx950 and gfx12 have the OCP ones (CDNA3 ISA, "Data types";
// OCP 8-bit Floating Point Specification, OFP8).
type fp8Format struct {
	man  uint // fraction bits
	bias int
	max  uint32 // code of the largest finite value
	nan  uint32 // code of the NaN made from a positive NaN
	inf  uint32 // code of infinity, or of the NaN that stands for it
	fnuz bool

	decode [256]uint32 // f32 bits of every code
}

var (
	fp8FNUZ = newFP8(fp8Format{man: 3, bias: 8, max: 0x7F, nan: 0x80, inf: 0x80, fnuz: true})
	bf8FNUZ = newFP8(fp8Format{man: 2, bias: 16, max: 0x7F, nan: 0x80, inf: 0x80, fnuz: true})
	fp8OCP  = newFP8(fp8Format{man: 3, bias: 7, max: 0x7E, nan: 0x7F, inf: 0x7F})
	bf8OCP  = newFP8(fp8Format{man: 2, bias: 15, max: 0x7B, nan: 0x7F, inf: 0x7C})
)

// fp8Of returns gen's fp8, or its bf8.
func fp8Of(bf8 bool, gen Gen) *fp8Format {
	switch ocp := gen >= GenGFX950; {
	case ocp && bf8:
		return bf8OCP
	case ocp:
		return fp8OCP
	case bf8:
		return bf8FNUZ
	}
	return fp8FNUZ
}

func newFP8(f fp8Format) *fp8Format {
	for code := range uint32(256) {
		sign, mag := code>>7<<31, code&0x7F
		switch e, m := int(mag>>f.man), mag&(1<<f.man-1); {
		case f.fnuz && code == 0x80:
			f.decode[code] = nanF32
		case !f.fnuz && mag > f.inf, !f.fnuz && mag == f.nan:
			f.decode[code] = sign | infF32 | qbitF32
		case !f.fnuz && mag == f.inf:
			f.decode[code] = sign | infF32
		case e == 0: // m·2^(1-bias-man), exact
			f.decode[code] = sign | bits32(float32(m)*float32(pow2(int32(1-f.bias-int(f.man)))))
		default:
			f.decode[code] = sign | uint32(e-f.bias+127)<<23 | m<<(23-f.man)
		}
	}
	return &f
}

// encode converts the f32 x. With saturate (MODE.FP16_OVFL) a finite value that
// overflows gives the largest finite one; otherwise infinity, or NaN where the
// format has none. Infinities and NaNs stay what they are.
//
// noise nil rounds to nearest even. Otherwise *noise, of as many bits as the
// conversion drops from a normal, is added to the dropped bits and the result
// is cut: stochastic rounding.
func (f *fp8Format) encode(x uint32, saturate bool, noise *uint32) uint32 {
	sign := x >> 31 << 7
	signed := func(code uint32) uint32 {
		if f.fnuz && (code == 0 || code == f.nan) {
			return code
		}
		return sign | code
	}
	switch {
	case isNaN32(x):
		return signed(f.nan)
	case isInf32(x):
		return signed(f.inf)
	}
	exp := int(x >> 23 & 0xFF)
	sig := x & 0x7FFFFF
	if exp != 0 {
		sig |= 1 << 23
	} else {
		exp = 1
	}
	field := exp - 127 + f.bias // exponent field of the result
	drop := 23 - f.man
	low := uint(0) // dropped besides, because the result is denormal
	if field < 1 {
		low = uint(min(1-field, 30))
		field = 1
	}
	var q uint32
	if noise != nil {
		q = (sig>>low + *noise) >> drop
	} else {
		drop = min(drop+low, 30)
		q = sig >> drop
		rest, half := sig&(1<<drop-1), uint32(1)<<(drop-1)
		if rest > half || rest == half && q&1 != 0 {
			q++
		}
	}
	// q holds the hidden bit, if any: it carries into the exponent by itself.
	code := uint32(field-1)<<f.man + q
	if code > f.max {
		code = f.inf
		if saturate {
			code = f.max
		}
	}
	return signed(code)
}

// loopFromFP8 is v_cvt_f32_fp8 and v_cvt_f32_bf8: bits 7:0 of the source, which
// SDWA has moved there.
func loopFromFP8(bf8 bool) Fn {
	return func(d, a, _, _ *Row, exec uint64, e *Env) {
		table := &fp8Of(bf8, e.Gen).decode
		for i := range d {
			if exec>>i&1 != 0 {
				d[i] = table[a[i]&0xFF]
			}
		}
	}
}

// loopPkFromFP8 is v_cvt_pk_f32_fp8 and v_cvt_pk_f32_bf8: bits 15:0.
func loopPkFromFP8(bf8 bool) Fn {
	return func(d, a, _, _ *Row, exec uint64, e *Env) {
		table := &fp8Of(bf8, e.Gen).decode
		rows := Rows(d, 2)
		for i := range a {
			if exec>>i&1 != 0 {
				x := a[i]
				rows[0][i], rows[1][i] = table[x&0xFF], table[x>>8&0xFF]
			}
		}
	}
}

// neg32 applies the source modifiers of source n to an f32.
func neg32(x uint32, n uint, e *Env) uint32 {
	if e.Abs>>n&1 != 0 {
		x &^= signF32
	}
	return x ^ uint32(e.NegLo>>n&1)<<31
}

// loopPkToFP8 is v_cvt_pk_fp8_f32 and v_cvt_pk_bf8_f32: nearest even whatever
// MODE says, into the half of the destination that op_sel[3] names; the other
// half is kept.
func loopPkToFP8(bf8 bool) Fn {
	return func(d, a, b, _ *Row, exec uint64, e *Env) {
		f := fp8Of(bf8, e.Gen)
		sat := e.Mode&modeFP16Ovfl != 0
		shift := uint(e.OpSel>>3&1) * 16
		for i := range d {
			if exec>>i&1 != 0 {
				v := f.encode(neg32(a[i], 0, e), sat, nil) | f.encode(neg32(b[i], 1, e), sat, nil)<<8
				d[i] = d[i]&^(0xFFFF<<shift) | v<<shift
			}
		}
	}
}

// loopSrToFP8 is v_cvt_sr_fp8_f32 and v_cvt_sr_bf8_f32: stochastic rounding
// with the high bits of the second source, into the byte that op_sel[3:2]
// names; the others are kept.
//
// The ISA document's pseudocode adds S1[31:12] (bf8: S1[31:11]) to the fraction
// and then rounds to nearest even, which would round exact values away; AMD's
// host emulation (composable_kernel, cast_to_f8 with stoch) adds and cuts. The
// bits here are the document's, the cut is the emulation's: marked Approx.
func loopSrToFP8(bf8 bool) Fn {
	return func(d, a, b, _ *Row, exec uint64, e *Env) {
		f := fp8Of(bf8, e.Gen)
		sat := e.Mode&modeFP16Ovfl != 0
		shift := uint(e.OpSel>>2&3) * 8
		for i := range d {
			if exec>>i&1 != 0 {
				noise := b[i] >> (9 + f.man)
				v := f.encode(neg32(a[i], 0, e), sat, &noise)
				d[i] = d[i]&^(0xFF<<shift) | v<<shift
			}
		}
	}
}

func init() {
	pair := [3]Type{F32, F32}
	register(map[string]Kernel{
		"v_cvt_f32_fp8":    {Fn: loopFromFP8(false), Dst: F32, Src: [3]Type{B32}},
		"v_cvt_f32_bf8":    {Fn: loopFromFP8(true), Dst: F32, Src: [3]Type{B32}},
		"v_cvt_pk_f32_fp8": {Fn: loopPkFromFP8(false), Dst: V2F32, Src: [3]Type{B32}},
		"v_cvt_pk_f32_bf8": {Fn: loopPkFromFP8(true), Dst: V2F32, Src: [3]Type{B32}},
		"v_cvt_pk_fp8_f32": {Fn: loopPkToFP8(false), Dst: B32, Src: pair, Packed: true},
		"v_cvt_pk_bf8_f32": {Fn: loopPkToFP8(true), Dst: B32, Src: pair, Packed: true},
		"v_cvt_sr_fp8_f32": {Fn: loopSrToFP8(false), Dst: B32, Src: [3]Type{F32, U32}, Packed: true, Approx: true},
		"v_cvt_sr_bf8_f32": {Fn: loopSrToFP8(true), Dst: B32, Src: [3]Type{F32, U32}, Packed: true, Approx: true},
	})
}
