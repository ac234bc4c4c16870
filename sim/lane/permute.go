package lane

import (
	"encoding/binary"
	"math/bits"
)

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
	if exec == ^uint64(0) {
		for i, v := range data {
			tmp[(i&^mask|int((addr[i]+offset)>>2)&mask)&63] = v
		}
		*d = tmp
		return
	}
	for m := exec; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		tmp[(i&^mask|int((addr[i]+offset)>>2)&mask)&63] = data[i]
	}
	MergeRow(d, &tmp, exec)
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
	MergeRow(d, &tmp, exec)
}

// DSSwizzle is ds_swizzle_b32: every lane of exec reads the data of the lane
// that the 16-bit offset pattern names, or 0 when that lane is outside exec.
//
// Source: CDNA3 ISA, DS_SWIZZLE_B32: FFT from 0xE000, rotate from 0xC000,
// quad permute with bit 15, else and/or/xor masks within 32 lanes.
func DSSwizzle(d, data *Row, offset uint16, exec uint64) {
	idx := swizzleLanes(offset)
	if useVector {
		vPermuteBytes(d, data, &idx, exec)
		return
	}
	permuteLanes(d, data, &idx, exec)
}

// swizzleLanes is the lane that each lane reads; it computes eight at a time, in
// the bytes of a word.
func swizzleLanes(offset uint16) (idx [64]uint8) {
	const each = 0x0101010101010101
	mask := uint64(offset&31) * each
	for g := range uint64(8) {
		lanes := g<<3*each + 0x0706050403020100
		in := lanes & (31 * each)
		from := lanes - in // 0 or 32
		switch {
		case offset >= 0xE000:
			j := in // reversed as five bits: 4 and 0, 3 and 1 change places
			j = j>>4&each | j>>2&(2*each) | j&(4*each) | j<<2&(8*each) | j<<4&(16*each)
			n := bits.OnesCount16(offset & 31)
			from |= j>>n&(0xFF>>n*each) | in&mask
		case offset >= 0xC000:
			by := uint64(offset >> 5 & 31)
			if offset>>10&1 != 0 {
				by = 32 - by
			}
			from |= in&mask | (in+by*each)&^mask&(31*each)
		case offset >= 0x8000:
			quad := uint64(offset&3 | offset>>2&3<<8)
			quad |= uint64(offset>>4&3)<<16 | uint64(offset>>6&3)<<24
			from = lanes&^(3*each) | quad | quad<<32
		default:
			from |= (in&mask | uint64(offset>>5&31)*each) ^ uint64(offset>>10&31)*each
		}
		binary.LittleEndian.PutUint64(idx[8*g:], from)
	}
	return idx
}

// permuteLanes is a permutation under EXEC: every lane of exec reads the data of
// lane idx[l], or 0 when that is outside exec.
func permuteLanes(d, data *Row, idx *[64]uint8, exec uint64) {
	var tmp Row
	for l, from := range idx {
		if exec>>(from&63)&1 != 0 {
			tmp[l] = data[from&63]
		}
	}
	mergeLanes(d, &tmp, exec)
}

// MergeRow copies r to d in the lanes of exec.
func MergeRow(d, r *Row, exec uint64) {
	switch {
	case exec == ^uint64(0):
		*d = *r
	case useVector:
		vMerge(d, r, exec)
	default:
		mergeLanes(d, r, exec)
	}
}

func mergeLanes(d, r *Row, exec uint64) {
	for i := range d {
		if exec>>i&1 != 0 {
			d[i] = r[i]
		}
	}
}

// deposit moves the low bits of r to a field of d in the lanes of exec: shifted up
// and back with the sign, then by shift, they replace the bits of take; the bits
// of keep stay.
func deposit(d, r *Row, exec uint64, up, shift, keep, take uint32) {
	if useVector {
		vDeposit(d, r, exec, up, shift, keep, take)
		return
	}
	depositLanes(d, r, exec, up, shift, keep, take)
}

func depositLanes(d, r *Row, exec uint64, up, shift, keep, take uint32) {
	for i := range d {
		if exec>>i&1 != 0 {
			d[i] = d[i]&keep | uint32(int32(r[i]<<(up&31))>>(up&31))<<(shift&31)&take
		}
	}
}
