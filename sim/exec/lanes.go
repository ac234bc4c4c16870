package exec

import (
	"math/bits"
	"unsafe"

	"gfxrt/sim/lane"
)

const allLanes = ^uint64(0)

// loadLanes loads every lane of exec from base plus its address less origin.
// The caller has checked that all of them lie in one allocation.
func (m *memOp) loadLanes(d *lane.Row, base unsafe.Pointer, a *[64]uint64, origin, exec uint64) {
	if m.bytes >= 4 && exec == allLanes && lane.Consecutive(a, m.bytes) {
		lane.Deinterleave(d, unsafe.Add(base, a[0]-origin), m.words, exec)
		return
	}
	switch m.bytes {
	case 4:
		lane.Gather32(d, base, a, origin, exec)
	case 8, 12, 16:
		lane.GatherWide(d, m.words, base, a, origin, exec)
	default:
		for x := exec; x != 0; x &= x - 1 {
			l := bits.TrailingZeros64(x) & 63
			m.loadLane(d, l, unsafe.Add(base, a[l]-origin))
		}
	}
}

// storeLanes stores every lane of exec, in ascending order: where lanes
// overlap the highest wins.
func (m *memOp) storeLanes(s *lane.Row, base unsafe.Pointer, a *[64]uint64, origin, exec uint64) {
	if m.bytes >= 4 && exec == allLanes && lane.Consecutive(a, m.bytes) {
		lane.Interleave(unsafe.Add(base, a[0]-origin), s, m.words)
		return
	}
	switch m.bytes {
	case 4:
		lane.Scatter32(base, a, origin, s, exec)
	case 8, 12, 16:
		lane.ScatterWide(base, a, origin, s, m.words, exec)
	default:
		for x := exec; x != 0; x &= x - 1 {
			l := bits.TrailingZeros64(x) & 63
			m.storeLane(s, l, unsafe.Add(base, a[l]-origin))
		}
	}
}

// ldsAddresses computes the lanes' LDS addresses, row plus off with 32-bit
// wrap, and which lanes of exec have n bytes inside size.
func ldsAddresses(to *[64]uint64, row *lane.Row, off uint32, n, size, exec uint64) (inside uint64) {
	if n > size {
		return 0
	}
	last := size - n
	// Without 32-bit wrap in any active lane the 64-bit sum is the address.
	const half = 1<<31 - 1
	if off <= half && lane.AllWithin32(row, exec, 0, half) && lane.AllWithin32(row, exec, off, uint32(last)) {
		lane.AddressesOffset(to, uint64(off), row)
		return exec
	}
	bad := uint64(0)
	for l := range to {
		x := uint64(row[l] + off)
		to[l] = x
		bad |= (last - x) >> 63 << l
	}
	return exec &^ bad
}
