package isa

// swizzle prints the offset of ds_swizzle_b32 as a lane pattern.
// LLVM AMDGPUModifierSyntax, swizzle pattern.
func (p *printer) swizzle() {
	v := uint16(p.in.Offset)
	if v == 0 {
		return
	}
	p.str(" offset:")
	switch {
	case v&0xff00 == 0x8000:
		p.str("swizzle(QUAD_PERM")
		for i := range 4 {
			p.str(",")
			p.int(int64(v >> (2 * i) & 3))
		}
		p.str(")")
	case v >= 0xe000:
		p.str("swizzle(FFT,")
		p.int(int64(v & 31))
		p.str(")")
	case v >= 0xc000:
		p.str("swizzle(ROTATE,")
		p.int(int64(v >> 10 & 1))
		p.str(",")
		p.int(int64(v >> 5 & 31))
		p.str(")")
	case v < 0x8000:
		p.bitmask(v&31, v>>5&31, v>>10&31)
	default:
		p.int(int64(v))
	}
}

// bitmask prints a BITMASK_PERM: lane' = (lane & and | or) ^ xor within 32 lanes.
func (p *printer) bitmask(and, or, xor uint16) {
	single := xor != 0 && xor&(xor-1) == 0
	switch {
	case and == 31 && or == 0 && single:
		p.str("swizzle(SWAP,")
		p.int(int64(xor))
	case and == 31 && or == 0 && xor > 0 && xor&(xor+1) == 0:
		p.str("swizzle(REVERSE,")
		p.int(int64(xor) + 1)
	default:
		group := 32 - and
		if group > 1 && group&(group-1) == 0 && or < group && xor == 0 {
			p.str("swizzle(BROADCAST,")
			p.int(int64(group))
			p.str(",")
			p.int(int64(or))
			break
		}
		p.str("swizzle(BITMASK_PERM,\"")
		for i := 4; i >= 0; i-- {
			p0 := (0&and | or) ^ xor
			p1 := (31&and | or) ^ xor
			switch p0>>i&1<<1 | p1>>i&1 {
			case 0:
				p.str("0")
			case 3:
				p.str("1")
			case 1:
				p.str("p")
			default:
				p.str("i")
			}
		}
		p.str("\"")
	}
	p.str(")")
}
