package lane

import "math/bits"

// DSPermute is ds_permute_b32: every lane of exec sends its data to the lane
// at byte address addr+offset (divided by 4, modulo lanes), the highest-numbered
// sender winning. Lanes of exec that receive nothing get 0.
//
// lanes is how many lanes exchange data: 64 on gfx9; on gfx10 and later 32, in
// which case each half of a wave64 exchanges among itself.
//
// Source: CDNA3 ISA, DS_PERMUTE_B32.
func DSPermute(d, addr, data *Row, offset uint32, exec uint64, lanes int) {
	var tmp Row
	mask := lanes - 1
	for i := range data {
		if exec>>i&1 != 0 {
			to := i&^mask | int((addr[i]+offset)>>2)&mask
			tmp[to] = data[i]
		}
	}
	merge(d, &tmp, exec)
}

// DSBpermute is ds_bpermute_b32: every lane of exec reads the data of the lane
// at byte address addr+offset (divided by 4, modulo lanes), or 0 when that lane
// is outside exec. lanes is as for DSPermute.
//
// Source: CDNA3 ISA, DS_BPERMUTE_B32.
func DSBpermute(d, addr, data *Row, offset uint32, exec uint64, lanes int) {
	var tmp Row
	mask := lanes - 1
	for i := range tmp {
		from := i&^mask | int((addr[i]+offset)>>2)&mask
		if exec>>from&1 != 0 {
			tmp[i] = data[from]
		}
	}
	merge(d, &tmp, exec)
}

// DSSwizzle is ds_swizzle_b32: every lane of exec reads the data of the lane
// that the 16-bit offset pattern names, or 0 when that lane is outside exec.
//
// Source: CDNA3 ISA, DS_SWIZZLE_B32: FFT from 0xE000, rotate from 0xC000,
// quad permute with bit 15, else and/or/xor masks within 32 lanes.
func DSSwizzle(d, data *Row, offset uint16, exec uint64) {
	var tmp Row
	for i := range tmp {
		if from := swizzleLane(offset, i); exec>>from&1 != 0 {
			tmp[i] = data[from]
		}
	}
	merge(d, &tmp, exec)
}

func swizzleLane(offset uint16, i int) int {
	half, in, mask := i&32, i&31, int(offset&31)
	switch {
	case offset >= 0xE000:
		j := int(bits.Reverse8(uint8(in)) >> 3)
		return half | j>>bits.OnesCount16(offset&31) | in&mask
	case offset >= 0xC000:
		by := int(offset >> 5 & 31)
		if offset>>10&1 != 0 {
			by = -by
		}
		return half | in&mask | (in+by)&^mask&31
	case offset >= 0x8000:
		return i&^3 | int(offset>>(2*(i&3))&3)
	}
	return half | (in&mask | int(offset>>5&31)) ^ int(offset>>10&31)
}

// merge copies r to d in the lanes of exec.
func merge(d, r *Row, exec uint64) {
	if exec == ^uint64(0) {
		*d = *r
		return
	}
	for i := range d {
		if exec>>i&1 != 0 {
			d[i] = r[i]
		}
	}
}
