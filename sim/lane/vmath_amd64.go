package lane

// Functions of vmath_rows_amd64.s, described there.

//go:noescape
func vPermuteBytes(d, src *Row, idx *[64]uint8, exec uint64)

//go:noescape
func vMerge(d, r *Row, exec uint64)

//go:noescape
func vDeposit(d, r *Row, exec uint64, up, shift, keep, take uint32)

//go:noescape
func vClamp(d *Row, exec uint64, abs, one, inf uint32, nanToZero bool)

//go:noescape
func vOMod(d *Row, exec uint64, factor, least uint32)

// Functions of vmath_div_amd64.s.

//go:noescape
func vmDivFmasF32(d, a, b, c *Row, exec uint64, e *Env)

//go:noescape
func vmDivFmasF64(d, a, b, c *Row, exec uint64, e *Env)

// A zero operand of a division sets its lane's bit of the mask that V_DIV_FMAS
// reads, so scaled lanes are common; plain fused multiply-adds are more so.
func divFmasVectorF32(d, a, b, c *Row, exec uint64, e *Env) {
	if e.CarryIn&exec == 0 {
		vDivFmasF32(d, a, b, c, exec, e)
		return
	}
	vmDivFmasF32(d, a, b, c, exec, e)
}

func divFmasVectorF64(d, a, b, c *Row, exec uint64, e *Env) {
	if e.CarryIn&exec == 0 {
		vDivFmasF64(d, a, b, c, exec, e)
		return
	}
	vmDivFmasF64(d, a, b, c, exec, e)
}
