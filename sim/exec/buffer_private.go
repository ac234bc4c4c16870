package exec

import (
	"math/bits"
	"unsafe"

	"gfxrt/sim/lane"
)

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
			copyRow(&mem[k], &rows[k], exec)
		} else {
			copyRow(&rows[k], &mem[k], exec)
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

func copyRow(d, s *lane.Row, exec uint64) {
	if exec == ^uint64(0) {
		*d = *s
		return
	}
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		d[l] = s[l]
	}
}

func uniform(r *lane.Row, exec uint64) bool {
	v := r[bits.TrailingZeros64(exec)]
	for x := exec; x != 0; x &= x - 1 {
		if r[bits.TrailingZeros64(x)] != v {
			return false
		}
	}
	return true
}
