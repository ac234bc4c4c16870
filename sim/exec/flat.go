package exec

import (
	"fmt"
	"math/bits"
	"unsafe"

	"gfxrt/runtime/device"
	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
	"gfxrt/sim/mem"
)

// access resolves n bytes at the GPU address va for lane l, or faults and
// returns nil.
func (w *Wave) access(va, n uint64, store bool, l int) unsafe.Pointer {
	if r := w.lastRegion[0]; r != nil {
		if off := va - r.Base; off < r.Size && n <= r.Size-off {
			return r.Ptr(off)
		}
	}
	return w.accessSlow(va, n, store, l)
}

func (w *Wave) accessSlow(va, n uint64, store bool, l int) unsafe.Pointer {
	if va-mem.ScratchBase < mem.ScratchEnd-mem.ScratchBase {
		return w.accessScratch(va, n, store, l)
	}
	r := w.findRegion(va, n)
	if r == nil {
		return w.accessMiss(va, n, store, l)
	}
	return r.Ptr(va - r.Base)
}

// findRegion looks [va, va+n) up in the wave's recent regions and then in the
// address space, and makes the one found the most recent.
func (w *Wave) findRegion(va, n uint64) *mem.Region {
	c := &w.lastRegion
	for i, r := range c {
		if r != nil && r.Contains(va, n) {
			copy(c[1:i+1], c[:i])
			c[0] = r
			return r
		}
	}
	r := w.m.space.Find(va)
	if r == nil || !r.Contains(va, n) {
		return nil
	}
	copy(c[1:], c[:len(c)-1])
	c[0] = r
	return r
}

// accessScratch resolves an address in the scratch range, which no region
// covers: it must lie in this wave's own part.
func (w *Wave) accessScratch(va, n uint64, store bool, l int) unsafe.Pointer {
	off := va - w.scratchVA
	if off < uint64(len(w.scratch)) && n <= uint64(len(w.scratch))-off {
		return unsafe.Pointer(&w.scratch[off])
	}
	w.setFault(device.FaultStack, l, va, fmt.Sprintf("%s beyond the wave's private segment of %d bytes a lane (scratch offset %#x of %#x bytes)",
		verb(store, n), w.private, off, len(w.scratch)))
	return nil
}

func (w *Wave) accessMiss(va, n uint64, store bool, l int) unsafe.Pointer {
	w.setFault(device.FaultMemory, l, va, fmt.Sprintf("%s at %#x: %s", verb(store, n), va, w.m.space.Describe(va)))
	return nil
}

func verb(store bool, n uint64) string {
	if store {
		return fmt.Sprintf("write of %d bytes", n)
	}
	return fmt.Sprintf("read of %d bytes", n)
}

// privateAt resolves n bytes at offset off of lane l's private segment. The
// bytes of one dword are contiguous; dwords of neighbouring lanes interleave
// (abi.md C.5), so only accesses inside a dword have one address.
func (w *Wave) privateAt(off uint32, l int) unsafe.Pointer {
	return unsafe.Pointer(&w.scratch[off/4*uint32(w.lanes)*4+uint32(l)*4+off%4])
}

func (w *Wave) privateInRange(off uint32, n uint64, store bool, l int) bool {
	if uint64(off)+n <= uint64(w.private) {
		return true
	}
	w.setFault(device.FaultStack, l, PrivateBase+uint64(off), fmt.Sprintf("%s at private offset %#x, beyond the %d bytes a lane that this dispatch has",
		verb(store, n), off, w.private))
	return false
}

// privateAccess does a load or store of lane l at private offset off, by bytes
// when it is not aligned to dwords.
func (w *Wave) privateAccess(m *memOp, data *lane.Row, off uint32, l int) {
	store := m.kind == memStore
	if !w.privateInRange(off, m.bytes, store, l) {
		return
	}
	var buf [16]byte
	step := uint32(1)
	if off%4 == 0 && m.bytes%4 == 0 {
		step = 4
	}
	if store {
		m.storeLane(data, l, unsafe.Pointer(&buf))
	}
	for k := uint32(0); k < uint32(m.bytes); k += step {
		p := w.privateAt(off+k, l)
		switch {
		case store && step == 4:
			*(*uint32)(p) = *(*uint32)(unsafe.Pointer(&buf[k]))
		case store:
			*(*byte)(p) = buf[k]
		case step == 4:
			*(*uint32)(unsafe.Pointer(&buf[k])) = *(*uint32)(p)
		default:
			buf[k] = *(*byte)(p)
		}
	}
	if !store {
		m.loadLane(data, l, unsafe.Pointer(&buf))
	}
}

// data is the register operand of a load (destination) or store (source).
func (in *inst) data(w *Wave) *lane.Row {
	if in.m.kind == memLoad {
		return w.row(in.i.Dst)
	}
	if o := in.i.Src[1]; o != isa.OperandNone {
		return w.row(o)
	}
	return nil
}

// runGlobal executes GLOBAL instructions: addresses are VGPR pairs, or an
// SGPR pair plus a 32-bit VGPR offset.
func runGlobal(w *Wave, in *inst) {
	if !w.reaches(in) {
		return
	}
	exec := w.exec()
	if exec == 0 {
		return
	}
	a := &w.tmp.addr
	w.flatAddresses(in, a)
	w.memory(in, a, exec)
}

// flatAddresses computes every lane's 64-bit address.
func (w *Wave) flatAddresses(in *inst, a *[64]uint64) {
	off := uint64(int64(in.i.Offset))
	v := in.i.Src[0]
	if in.i.Flags&isa.FlagSAddr != 0 {
		base := w.pair(in.i.Src[2]) + off
		if v == isa.OperandNone {
			for l := range a {
				a[l] = base
			}
			return
		}
		lane.AddressesOffset(a, base, w.row(v))
		return
	}
	r := (*[2]lane.Row)(unsafe.Pointer(w.row(v)))
	lane.Addresses(a, &r[0], &r[1], off)
}

// memory performs a load, store or atomic on global addresses.
func (w *Wave) memory(in *inst, a *[64]uint64, exec uint64) {
	m := in.m
	switch m.kind {
	case memLoad:
		d := in.data(w)
		if base := w.oneRegion(m, a, exec); base != nil {
			m.loadLanes(d, base.Ptr(0), a, base.Base, exec)
			return
		}
		for x := exec; x != 0; x &= x - 1 {
			l := bits.TrailingZeros64(x)
			p := w.access(a[l], m.bytes, false, l)
			if p == nil {
				return
			}
			m.loadLane(d, l, p)
		}
	case memStore:
		s := in.data(w)
		if base := w.oneRegion(m, a, exec); base != nil {
			m.storeLanes(s, base.Ptr(0), a, base.Base, exec)
			return
		}
		for x := exec; x != 0; x &= x - 1 {
			l := bits.TrailingZeros64(x)
			p := w.access(a[l], m.bytes, true, l)
			if p == nil {
				return
			}
			m.storeLane(s, l, p)
		}
	case memAtomic:
		w.globalAtomic(in, a, exec)
	case memToLDS:
		w.globalToLDS(in, a, exec)
	default:
		runUnimplemented(w, in)
	}
}

// oneRegion returns the region that holds all active lanes' accesses, when
// there is one.
func (w *Wave) oneRegion(m *memOp, a *[64]uint64, exec uint64) *mem.Region {
	l := bits.TrailingZeros64(exec)
	r := w.findRegion(a[l], m.bytes)
	if r == nil {
		return nil
	}
	if !lane.AllWithin(a, exec, r.Base, r.Size-m.bytes) {
		return nil
	}
	return r
}

func (w *Wave) globalAtomic(in *inst, a *[64]uint64, exec uint64) {
	m := in.m
	s := in.data(w)
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		if a[l]%m.bytes != 0 {
			w.misaligned(l, a[l], m.bytes)
			return
		}
		p := w.access(a[l], m.bytes, true, l)
		if p == nil {
			return
		}
		va, vb := m.atomicData(s, l)
		old := w.atomicAt(m, p, va, vb)
		if m.ret {
			m.putOld(w.row(in.i.Dst), l, old)
		}
	}
}

// globalToLDS is the LDS DMA load: lane l's dword goes to LDS at
// M0[15:0] + instruction offset + 4*l (CDNA3 ISA, "Memory Instructions that
// load to LDS"; sub-dword loads are widened to a dword).
func (w *Wave) globalToLDS(in *inst, a *[64]uint64, exec uint64) {
	m := in.m
	base := w.S[isa.OperandM0]&0xffff + uint32(in.i.Offset)
	var r lane.Row
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		p := w.access(a[l], m.bytes, false, l)
		if p == nil {
			return
		}
		m.loadLane(&r, l, p)
		w.ldsWrite32(base+uint32(l)*4*uint32(m.words), r[l])
	}
}

// runFlat executes FLAT instructions, whose lanes may each address memory,
// LDS or the private segment.
func runFlat(w *Wave, in *inst) {
	if !w.reaches(in) {
		return
	}
	exec := w.exec()
	if exec == 0 {
		return
	}
	a := &w.tmp.addr
	w.flatAddresses(in, a)
	var shared, private uint64
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		switch a[l] >> 32 {
		case SharedBase >> 32:
			shared |= 1 << l
		case PrivateBase >> 32:
			private |= 1 << l
		}
	}
	if shared != 0 {
		w.flatShared(in, a, shared)
	}
	if private != 0 && w.state == running {
		w.flatPrivate(in, a, private)
	}
	if rest := exec &^ (shared | private); rest != 0 && w.state == running {
		w.memory(in, a, rest)
	}
}

func (w *Wave) flatShared(in *inst, a *[64]uint64, exec uint64) {
	m := in.m
	data := in.data(w)
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		off := uint64(uint32(a[l]))
		if off+m.bytes > uint64(len(w.m.lds)) {
			w.setFault(device.FaultAperture, l, a[l], fmt.Sprintf("%s at LDS offset %#x through a flat address, beyond the %d bytes of the work-group",
				verb(m.kind != memLoad, m.bytes), off, len(w.m.lds)))
			return
		}
		p := unsafe.Pointer(&w.m.lds[off])
		switch m.kind {
		case memLoad:
			m.loadLane(data, l, p)
		case memStore:
			m.storeLane(data, l, p)
		case memAtomic:
			va, vb := m.atomicData(data, l)
			old := w.plainAt(m, p, va, vb)
			if m.ret {
				m.putOld(w.row(in.i.Dst), l, old)
			}
		}
	}
}

func (w *Wave) flatPrivate(in *inst, a *[64]uint64, exec uint64) {
	m := in.m
	if !w.scratchReady(in) {
		return
	}
	data := in.data(w)
	for x := exec; x != 0 && w.state == running; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		off := uint32(a[l])
		if m.kind != memAtomic {
			w.privateAccess(m, data, off, l)
			continue
		}
		w.privateAtomic(in, data, off, l)
	}
}

// privateAtomic does an atomic on the private segment, which only its lane
// can reach. A 64-bit value lies in two interleaved dwords.
func (w *Wave) privateAtomic(in *inst, data *lane.Row, off uint32, l int) {
	m := in.m
	if uint64(off)%m.bytes != 0 {
		w.misaligned(l, PrivateBase+uint64(off), m.bytes)
		return
	}
	if !w.privateInRange(off, m.bytes, true, l) {
		return
	}
	var tmp [2]uint32
	for k := range m.words {
		tmp[k] = *(*uint32)(w.privateAt(off+uint32(k)*4, l))
	}
	va, vb := m.atomicData(data, l)
	old := w.plainAt(m, unsafe.Pointer(&tmp), va, vb)
	for k := range m.words {
		*(*uint32)(w.privateAt(off+uint32(k)*4, l)) = tmp[k]
	}
	if m.ret {
		m.putOld(w.row(in.i.Dst), l, old)
	}
}

// scratchReady checks that FLAT_SCRATCH holds this wave's scratch, which on
// targets without architected flat scratch is the kernel's own duty.
func (w *Wave) scratchReady(in *inst) bool {
	if w.m.target.ArchitectedScratch || w.pair(isa.OperandFlatScratchLo) == w.scratchVA {
		return true
	}
	w.setFault(device.FaultStack, -1, w.pair(isa.OperandFlatScratchLo), fmt.Sprintf(
		"FLAT_SCRATCH is %#x, but this wave's scratch is at %#x: the kernel did not set it up", w.pair(isa.OperandFlatScratchLo), w.scratchVA))
	return false
}

// runScratch executes SCRATCH instructions: the address is a private offset.
func runScratch(w *Wave, in *inst) {
	if !w.reaches(in) || w.exec() == 0 || !w.scratchReady(in) {
		return
	}
	m := in.m
	off := uint32(in.i.Offset)
	if in.i.Flags&isa.FlagSAddr != 0 {
		off += w.s32(in.i.Src[2], 0)
	}
	var v *lane.Row
	if in.i.Src[0] != isa.OperandNone {
		v = w.row(in.i.Src[0])
	}
	var data *lane.Row
	var toLDS lane.Row
	if m.kind == memToLDS {
		data = &toLDS
	} else {
		data = in.data(w)
	}
	for x := w.exec(); x != 0 && w.state == running; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		o := off
		if v != nil {
			o += v[l]
		}
		w.privateAccess(m, data, o, l)
		if m.kind == memToLDS && w.state == running {
			base := w.S[isa.OperandM0]&0xffff + uint32(in.i.Offset)
			w.ldsWrite32(base+uint32(l)*4, data[l])
		}
	}
}
