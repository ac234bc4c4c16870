package exec

import (
	"math/bits"
	"unsafe"

	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// ldsBase is where lane 0's dword of a transfer between memory and LDS lies
// ("Memory Buffer Load to LDS"); lane l's is 4*l bytes further.
func (w *Wave) ldsBase(in *inst) uint32 {
	return w.S[isa.OperandM0]&0xffff + uint32(in.i.Offset)
}

func (w *Wave) rowToLDS(in *inst, r *lane.Row) {
	base := w.ldsBase(in)
	for x := w.exec(); x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		w.ldsWrite32(base+uint32(l)*4, r[l])
	}
}

// runBufferToLDS executes loads whose data goes to LDS, a dword a lane. Lanes
// out of range write 0, as gfx950 does.
func runBufferToLDS(w *Wave, in *inst) {
	var b bufferAccess
	if !w.startBuffer(in, &b) {
		return
	}
	var r lane.Row
	w.bufferLanes(in, &b, &r)
	if w.state == running {
		w.rowToLDS(in, &r)
	}
}

// runBufferFromLDS executes buffer_store_lds_dword.
func runBufferFromLDS(w *Wave, in *inst) {
	var b bufferAccess
	if !w.startBuffer(in, &b) {
		return
	}
	base := w.ldsBase(in)
	for x := w.exec(); x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		index, off := b.lane(l)
		if !b.inRange(index, uint64(off), in.m.bytes) {
			continue
		}
		v := w.ldsRead32(base + uint32(l)*4)
		if !w.bufferBytes(&b, index, uint64(off), unsafe.Slice((*byte)(unsafe.Pointer(&v)), 4), true, l) {
			return
		}
	}
}
