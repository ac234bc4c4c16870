package exec

import (
	"math/bits"
	"unsafe"

	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// ScratchWord3 is word 3 of the private segment buffer descriptor of gfx9:
// 32-bit elements of 4 bytes, index stride 64, ADD_TID (abi.md C.5, ROCr).
const ScratchWord3 = 0x00EA4FAC

// spillRows is the shortest path to private memory, for what compilers emit to
// spill registers: whole dwords at an offset that all lanes share, through the
// unchanged descriptor of the private segment. It reports whether it did the
// access.
func (w *Wave) spillRows(in *inst) bool {
	i, m := in.i, in.m
	d := i.Src[1] & 0x7c
	if w.S[d+3] != ScratchWord3 || w.S[d+1]>>16 != 1<<15 || m.format != 0 || m.bytes < swizzleElement || i.Flags&(isa.FlagIdxen|isa.FlagLDS|isa.FlagTFE) != 0 {
		return false
	}
	exec := w.exec()
	off := uint32(i.Offset)
	if i.Flags&isa.FlagOffen != 0 {
		v := w.row(i.Src[0])
		if !uniform(v, exec) {
			return false
		}
		off += v[bits.TrailingZeros64(exec)&63]
	}
	const rowBytes = uint64(unsafe.Sizeof(lane.Row{}))
	n := uint64(m.words) * rowBytes
	at := w.pair(d)&(1<<48-1) + uint64(w.s32(i.Src[2], 0)) + uint64(off/swizzleElement)*rowBytes - w.scratchVA
	if off%swizzleElement != 0 || at >= uint64(len(w.scratch)) || n > uint64(len(w.scratch))-at {
		return false
	}
	mem := unsafe.Slice((*lane.Row)(unsafe.Pointer(&w.scratch[at])), m.words)
	rows := lane.Rows(w.row(i.Dst), m.words)
	for k := range rows {
		if m.kind == memStore {
			lane.MergeRow(&mem[k], &rows[k], exec)
		} else {
			lane.MergeRow(&rows[k], &mem[k], exec)
		}
	}
	return true
}

// threadRows is the fast path of private memory: when all lanes use the same
// offset of a swizzled thread buffer, one dword of all lanes is one row in
// memory. It reports whether it did the access.
func (w *Wave) threadRows(in *inst, b *bufferAccess) bool {
	m := in.m
	// Dwords of consecutive elements are index stride apart: a whole row here.
	if !b.swizzle || !b.unchecked || b.indexStride != uint64(len(lane.Row{})) {
		return false
	}
	exec := w.exec()
	_, off := b.lane(bits.TrailingZeros64(exec))
	if b.voffset != nil && !uniform(b.voffset, exec) {
		return w.threadDwords(in, b)
	}
	const rowBytes = uint64(unsafe.Sizeof(lane.Row{}))
	low := uint64(off) % swizzleElement
	if m.bytes < swizzleElement && low+m.bytes > swizzleElement || m.bytes >= swizzleElement && low != 0 {
		return false
	}
	p := w.peek(b.addr(0, uint64(off)-low, 0), uint64(m.words)*rowBytes)
	if p == nil {
		return false
	}
	data := w.row(in.i.Dst)
	if m.bytes < swizzleElement {
		for x := exec; x != 0; x &= x - 1 {
			l := bits.TrailingZeros64(x)
			q := unsafe.Add(p, uint64(l)*swizzleElement+low)
			if m.kind == memStore {
				m.storeLane(data, l, q)
			} else {
				m.loadLane(data, l, q)
			}
		}
		return true
	}
	mem := unsafe.Slice((*lane.Row)(p), m.words)
	rows := lane.Rows(data, m.words)
	for k := range rows {
		if m.kind == memStore {
			lane.MergeRow(&mem[k], &rows[k], exec)
		} else {
			lane.MergeRow(&rows[k], &mem[k], exec)
		}
	}
	return true
}

// threadDwords is threadRows for lanes that use offsets of their own, in this
// wave's scratch.
func (w *Wave) threadDwords(in *inst, b *bufferAccess) bool {
	const rowBytes = uint64(unsafe.Sizeof(lane.Row{}))
	m, exec := in.m, w.exec()
	a := &w.tmp.addr
	span := uint64(m.words-1)*rowBytes + min(m.bytes, swizzleElement)
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		_, off := b.lane(l)
		a[l] = b.addr(0, uint64(off), l) - w.scratchVA
		if uint64(off)%swizzleElement+min(m.bytes, swizzleElement) > swizzleElement || a[l] >= uint64(len(w.scratch)) || span > uint64(len(w.scratch))-a[l] {
			return false
		}
	}
	rows := lane.Rows(w.row(in.i.Dst), m.words)
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		p := unsafe.Pointer(&w.scratch[a[l]])
		switch {
		case m.bytes < swizzleElement && m.kind == memStore:
			m.storeLane(&rows[0], l, p)
		case m.bytes < swizzleElement:
			m.loadLane(&rows[0], l, p)
		case m.kind == memStore:
			for k := range rows {
				*(*uint32)(unsafe.Add(p, uint64(k)*rowBytes)) = rows[k][l]
			}
		default:
			for k := range rows {
				rows[k][l] = *(*uint32)(unsafe.Add(p, uint64(k)*rowBytes))
			}
		}
	}
	return true
}

func uniform(r *lane.Row, exec uint64) bool {
	if exec == allLanes {
		return lane.Consecutive32(r, 0)
	}
	v := r[bits.TrailingZeros64(exec)]
	for x := exec; x != 0; x &= x - 1 {
		if r[bits.TrailingZeros64(x)] != v {
			return false
		}
	}
	return true
}
