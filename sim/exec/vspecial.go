package exec

import (
	"math/bits"

	"gfxrt/sim/isa"
)

// Vector instructions that move values between lanes and scalar registers.
func init() {
	for op, f := range map[isa.Op]func(w *Wave, in *inst){
		isa.VReadfirstlaneB32: readFirstLane,
		isa.VReadlaneB32:      readLane,
		isa.VWritelaneB32:     writeLane,
		isa.VSwapB32:          swapLanes,
	} {
		special[op] = f
	}
}

// readFirstLane copies the first active lane, or lane 0 when none is.
func readFirstLane(w *Wave, in *inst) {
	if !w.reaches(in) {
		return
	}
	l := bits.TrailingZeros64(w.exec())
	w.setS(in.dst, w.laneOf(in, in.i.Src[0], l&63))
}

// laneOf reads one lane of a vector operand, or a scalar operand.
func (w *Wave) laneOf(in *inst, o isa.Operand, l int) uint32 {
	if o.IsVGPR() || o.IsAGPR() {
		return w.row(o)[l]
	}
	return w.s32(o, in.i.Literal)
}

// readLane ignores EXEC; the lane select wraps at the wave size.
func readLane(w *Wave, in *inst) {
	if !w.reaches(in) {
		return
	}
	l := int(w.src32(in, 1)) & (w.lanes - 1)
	w.setS(in.dst, w.laneOf(in, in.i.Src[0], l))
}

func writeLane(w *Wave, in *inst) {
	if !w.reaches(in) {
		return
	}
	w.row(in.dst)[int(w.src32(in, 1))&(w.lanes-1)] = w.src32(in, 0)
}

func swapLanes(w *Wave, in *inst) {
	if !w.reaches(in) {
		return
	}
	a, b := w.row(in.dst), w.row(in.i.Src[0])
	for x := w.exec(); x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		a[l], b[l] = b[l], a[l]
	}
}
