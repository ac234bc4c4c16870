package lane

import "sync"

// Fast forms of functions of modifiers.go and permute.go, with the same results.

// BpermuteRow is DSBpermute.
func BpermuteRow(d, addr, data *Row, offset uint32, exec uint64, lanes int) {
	if !useVector || lanes != 64 {
		DSBpermute(d, addr, data, offset, exec, lanes)
		return
	}
	var index Row
	vDwordIndex(&index, addr, offset)
	vPermute(d, data, &index, exec, exec)
}

// SDWARow is SDWASource.
func SDWARow(dst, src *Row, sel uint8, sext bool) {
	if !useVector {
		SDWASource(dst, src, sel, sext)
		return
	}
	shift, width := sdwaField(sel)
	vField(dst, src, uint32(32-width-shift), uint32(32-width), sext)
}

// Select16Row is Select16.
func Select16Row(dst, src *Row, high bool) {
	switch {
	case !useVector:
		Select16(dst, src, high)
	case high:
		vField(dst, src, 0, 16, false)
	default:
		vField(dst, src, 16, 16, false)
	}
}

// dppPlan is what a DPP16 control does: the lane that each lane reads, and which
// lanes have one.
type dppPlan struct {
	from  Row
	valid uint64
}

var dppPlans = sync.OnceValue(func() *[dppRowXmaskLast + 1]dppPlan {
	var ps [dppRowXmaskLast + 1]dppPlan
	for ctrl := range ps {
		for i := range 64 {
			if j := dppLane(uint32(ctrl), i); j >= 0 {
				ps[ctrl].from[i] = uint32(j)
				ps[ctrl].valid |= 1 << i
			}
		}
	}
	return &ps
})

// DPPRow is DPPSource.
func DPPRow(dst, src *Row, n int, exec uint64, ctrl uint32, rowMask, bankMask uint8, boundCtrl bool) uint64 {
	if !useVector || ctrl > dppRowXmaskLast {
		return DPPSource(dst, src, n, exec, ctrl, rowMask, bankMask, boundCtrl)
	}
	p := &dppPlans()[ctrl]
	// read is the lanes that read an active lane.
	read := p.valid & exec
	if exec != ^uint64(0) {
		for l, j := range p.from {
			read &^= (^exec >> (j & 63) & 1) << l
		}
	}
	d, s := Rows(dst, n), Rows(src, n)
	for r := range d {
		in := s[r]
		d[r] = Row{}
		vPermute(&d[r], &in, &p.from, exec, read)
	}
	run := read
	if boundCtrl {
		run = exec
	}
	rows := uint64(rowMask&1)*0xFFFF | uint64(rowMask>>1&1)*(0xFFFF<<16) | uint64(rowMask>>2&1)*(0xFFFF<<32) | uint64(rowMask>>3&1)*(0xFFFF<<48)
	const firstBanks = 0x000F000F000F000F
	banks := uint64(bankMask&1)*firstBanks | uint64(bankMask>>1&1)*(firstBanks<<4) | uint64(bankMask>>2&1)*(firstBanks<<8) | uint64(bankMask>>3&1)*(firstBanks<<12)
	return run & rows & banks
}
