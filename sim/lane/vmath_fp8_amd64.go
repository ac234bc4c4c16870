package lane

// fp8Unpack is what vFP8Unpack needs to know of a format. Magnitudes are codes
// without the sign; one that does not occur is 256.
type fp8Unpack struct {
	up      uint32 // from the fraction of a code to that of an f32
	scale   float32
	nanFrom uint32 // the least magnitude that is a NaN
	infAt   uint32 // the magnitude of infinity
	nanAt   uint32 // the code of a NaN without sign
}

// fp8Pack is what vFP8Pack needs to know of a format and of an instruction.
type fp8Pack struct {
	drop, half  uint32 // bits to round away, and half of their weight less one
	rebias      uint32 // between the exponents, at the code's place
	least       uint32 // the f32 that is the least normal number
	scale       float32
	max, over   uint32 // the largest finite code, and what stands for more
	inf, nan    uint32
	signed      uint32 // not 0 when zeros and NaNs have a sign
	absA, absB  uint32 // bits to clear and then to flip
	negA, negB  uint32
	shift, keep uint32
}

//go:noescape
func vFP8Unpack(d, src *Row, exec uint64, f *fp8Unpack, shift uint32)

//go:noescape
func vFP8Pack(d, a, b *Row, exec uint64, f *fp8Pack)

func (f *fp8Format) unpack() fp8Unpack {
	u := fp8Unpack{up: uint32(23 - f.man), scale: float32(pow2(int32(127 - f.bias))), nanFrom: 256, infAt: 256, nanAt: 256}
	switch {
	case f.fnuz:
		u.nanAt = f.nan
	case f.inf == f.nan:
		u.nanFrom = f.nan
	default:
		u.nanFrom, u.infAt = f.inf+1, f.inf
	}
	return u
}

func (f *fp8Format) pack(saturate bool) fp8Pack {
	drop := uint32(23 - f.man)
	p := fp8Pack{
		drop: drop, half: 1<<(drop-1) - 1, rebias: uint32(127-f.bias) << f.man, least: uint32(128-f.bias) << 23,
		scale: float32(pow2(int32(f.bias - 1 + int(f.man)))), max: f.max, over: f.inf, inf: f.inf, nan: f.nan,
	}
	if saturate {
		p.over = f.max
	}
	if !f.fnuz {
		p.signed = 256
	}
	return p
}

func fromFP8Vector(d, a, _, _ *Row, exec uint64, e *Env) { unpackFP8(d, a, exec, e, false) }
func fromBF8Vector(d, a, _, _ *Row, exec uint64, e *Env) { unpackFP8(d, a, exec, e, true) }

func unpackFP8(d, a *Row, exec uint64, e *Env, bf8 bool) {
	f := fp8Of(bf8, e.Gen).unpack()
	vFP8Unpack(d, a, exec, &f, 0)
}

func pkFromFP8Vector(d, a, _, _ *Row, exec uint64, e *Env) { unpackPkFP8(d, a, exec, e, false) }
func pkFromBF8Vector(d, a, _, _ *Row, exec uint64, e *Env) { unpackPkFP8(d, a, exec, e, true) }

func unpackPkFP8(d, a *Row, exec uint64, e *Env, bf8 bool) {
	f := fp8Of(bf8, e.Gen).unpack()
	src := *a // d may be a
	rows := Rows(d, 2)
	vFP8Unpack(&rows[0], &src, exec, &f, 0)
	vFP8Unpack(&rows[1], &src, exec, &f, 8)
}

func pkToFP8Vector(d, a, b, _ *Row, exec uint64, e *Env) { packFP8(d, a, b, exec, e, false) }
func pkToBF8Vector(d, a, b, _ *Row, exec uint64, e *Env) { packFP8(d, a, b, exec, e, true) }

func packFP8(d, a, b *Row, exec uint64, e *Env, bf8 bool) {
	p := fp8Of(bf8, e.Gen).pack(e.Mode&modeFP16Ovfl != 0)
	p.absA, p.absB = uint32(e.Abs&1)<<31, uint32(e.Abs>>1&1)<<31
	p.negA, p.negB = uint32(e.NegLo&1)<<31, uint32(e.NegLo>>1&1)<<31
	p.shift = uint32(e.OpSel>>3&1) * 16
	p.keep = ^(uint32(0xFFFF) << p.shift)
	vFP8Pack(d, a, b, exec, &p)
}
