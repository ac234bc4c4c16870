package lane

// Cube map coordinates (CDNA3 ISA, V_CUBEID_F32 and its kin).

// cubeAxis is the major axis: 0 for x, 1 for y, 2 for z.
func cubeAxis(x, y, z uint32) int {
	ax, ay, az := f32(x&^signF32), f32(y&^signF32), f32(z&^signF32)
	switch {
	case az >= ax && az >= ay:
		return 2
	case ay >= ax:
		return 1
	}
	return 0
}

func cubeIn(x, y, z uint32, m Mode) (uint32, uint32, uint32, int) {
	x, y, z = in32(x, m), in32(y, m), in32(z, m)
	return x, y, z, cubeAxis(x, y, z)
}

func cubeID(x, y, z uint32, m Mode) uint32 {
	x, y, z, axis := cubeIn(x, y, z, m)
	id := 2 * axis
	if f32([3]uint32{x, y, z}[axis]) < 0 {
		id++
	}
	return bits32(float32(id))
}

func cubeSC(x, y, z uint32, m Mode) uint32 {
	x, _, z, axis := cubeIn(x, y, z, m)
	switch axis {
	case 2:
		if f32(z) < 0 {
			return x ^ signF32
		}
		return x
	case 1:
		return x
	}
	if f32(x) < 0 {
		return z
	}
	return z ^ signF32
}

func cubeTC(x, y, z uint32, m Mode) uint32 {
	_, y, z, axis := cubeIn(x, y, z, m)
	if axis == 1 {
		if f32(y) < 0 {
			return z ^ signF32
		}
		return z
	}
	return y ^ signF32
}

// cubeMA is twice the major axis.
func cubeMA(x, y, z uint32, m Mode) uint32 {
	x, y, z, axis := cubeIn(x, y, z, m)
	return mulF32([3]uint32{x, y, z}[axis], 0x40000000, m)
}
