package lane

// addBF16 is x + y rounded to nearest even. The f32 sum in between rounds
// first: that is harmless, as 24 bits are at least two more than twice the 8
// of bf16, and both formats have the same exponents, so that sums of bf16
// denormals are exact.
func addBF16(x, y, _ uint32, m Mode) uint32 {
	r := addF32(x<<16, y<<16, m)
	if r&^signF32 > 0x7f800000 {
		return r>>16 | 0x40 // a NaN stays one without its low bits
	}
	return (r + 0x7fff + r>>16&1) >> 16
}

func init() {
	register(map[string]Kernel{"v_pk_add_bf16": {
		Fn: func(d, a, b, c *Row, exec uint64, e *Env) {
			pk16(d, a, b, c, exec, e.Mode, selectHalves(e.OpSel, e.NegLo), selectHalves(e.OpSelHi, e.NegHi), addBF16)
		},
		Dst: V2BF16, Src: [3]Type{V2BF16, V2BF16}, Packed: true,
	}})
}
