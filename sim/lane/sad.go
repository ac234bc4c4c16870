package lane

// Sums of absolute differences of packed unsigned bytes and halves.

func absDiff(x, y uint32) uint32 { return max(x, y) - min(x, y) }

func sadU8(x, y uint32) uint32 {
	return absDiff(x&0xFF, y&0xFF) + absDiff(x>>8&0xFF, y>>8&0xFF) +
		absDiff(x>>16&0xFF, y>>16&0xFF) + absDiff(x>>24, y>>24)
}

func sadU16(x, y uint32) uint32 {
	return absDiff(x&0xFFFF, y&0xFFFF) + absDiff(x>>16, y>>16)
}

// msadU8 leaves out the bytes whose reference (the second operand) is 0.
func msadU8(x, y uint32) uint32 {
	var s uint32
	for n := uint(0); n < 32; n += 8 {
		if r := y >> n & 0xFF; r != 0 {
			s += absDiff(x>>n&0xFF, r)
		}
	}
	return s
}

// qsadPkU16 is four sums over byte windows of x that start at bytes 0 to 3,
// each added to a 16-bit element of z.
func qsadPkU16(x uint64, y uint32, z uint64, sad func(x, y uint32) uint32, clamp bool) uint64 {
	var r uint64
	for k := uint(0); k < 4; k++ {
		s := sad(uint32(x>>(8*k)), y) + uint32(z>>(16*k)&0xFFFF)
		if clamp {
			s = min(s, 0xFFFF)
		}
		r |= uint64(s&0xFFFF) << (16 * k)
	}
	return r
}

func mqsadU32(x uint64, y uint32, z [4]uint32, clamp bool) [4]uint32 {
	for k := range z {
		s := msadU8(uint32(x>>(8*k)), y)
		if clamp {
			z[k] = addSatU32(z[k], s)
		} else {
			z[k] += s
		}
	}
	return z
}

// lerpU8 averages packed bytes; bit 0 of each byte of z rounds the half up.
func lerpU8(x, y, z uint32) uint32 {
	var r uint32
	for n := uint(0); n < 32; n += 8 {
		r |= (x>>n&0xFF + y>>n&0xFF + z>>n&1) >> 1 << n
	}
	return r
}
