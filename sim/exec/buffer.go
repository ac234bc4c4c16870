package exec

import (
	"fmt"
	"math/bits"
	"unsafe"

	"gfxrt/runtime/device"
	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// Buffer instructions address memory through a buffer resource descriptor (V#)
// in four SGPRs. The layout, the addressing and the kinds of range check are
// those of the CDNA3, CDNA4 and "Vega" ISA documents, "Vector Memory Buffer
// Instructions". Where a check meets the end of a buffer, the code follows what
// AMD's own emulator found gfx950 hardware to do (ROCm rocm-systems pull request
// 10928), which the documents leave out: SOFFSET counts, and an access has to
// end within the buffer, not only to begin there.

// vsharp is a V# as one instruction sees it.
type vsharp struct {
	base        uint64
	records     uint64
	stride      uint64 // bytes; 14 bits, or 18 of a swizzled or linear thread buffer
	indexStride uint64 // swizzled: indices that lie next to each other
	numFormat   uint8
	dataFormat  uint8
	dstSel      [4]uint8
	swizzle     bool
	addTID      bool
	// addLane: the lane number is part of the index. gfx950 leaves it out of
	// a linear buffer with IDXEN.
	addLane bool
	// One of the three range checks applies: none (scratch), the index
	// against records, or bytes.
	unchecked, byIndex bool
	// unbound: the data format is INVALID, so loads give 0 and stores and
	// atomics do nothing.
	unbound bool
}

// swizzleElement is the element size of a swizzled buffer in bytes. gfx9 has
// no field for it: bits 116:115 became the User VM bits.
const swizzleElement = 4

// bufferAccess is one buffer instruction in execution.
type bufferAccess struct {
	vsharp
	soffset uint64
	offset  uint32 // instruction offset
	// index and voffset are the address VGPRs, or nil.
	index, voffset *lane.Row
}

// compileBuffer chooses the executor of a MUBUF or MTBUF instruction from its
// mnemonic after "buffer_" or "tbuffer_".
func compileBuffer(in *inst, rest string) func(w *Wave, in *inst) {
	switch rest {
	case "wbinvl1", "wbinvl1_vol", "wbl2", "inv", "invl2", "gl0_inv", "gl1_inv":
		return nop // memory is coherent here: there is no cache to control
	}
	m := parseMemOp(rest)
	if m == nil {
		return nil
	}
	in.m = m
	m.ret = m.kind == memAtomic && in.i.Flags&isa.FlagGLC != 0
	toLDS := m.kind == memLoad && in.i.Flags&isa.FlagLDS != 0
	if toLDS && (m.words != 1 || m.half != wholeReg || m.d16) {
		return nil // only gfx950 moves more than a dword a lane
	}
	if !toLDS && !m.operandsFit(in.i, in.i.Dst) {
		return nil
	}
	in.reachBuffer(toLDS)
	switch {
	case m.format != 0:
		if m.kind == memLoad {
			return runBufferLoadFormat
		}
		return runBufferStoreFormat
	case toLDS:
		m.kind = memToLDS
		return runBufferToLDS
	case m.kind == memFromLDS:
		return runBufferFromLDS
	case m.kind == memAtomic:
		return runBufferAtomic
	}
	return runBuffer
}

// reachBuffer records the registers used, which depend on modifiers.
func (in *inst) reachBuffer(toLDS bool) {
	if n := in.addressRegs(); n > 0 {
		in.reach(in.i.Src[0], n)
	}
	if toLDS || in.m.kind == memFromLDS {
		return
	}
	n := in.m.words
	if in.m.atom == atomCmpSwap {
		n *= 2
	}
	if in.i.Flags&isa.FlagTFE != 0 {
		n++
	}
	in.reach(in.i.Dst, n)
}

func (in *inst) addressRegs() int {
	return int(b2u(in.i.Flags&isa.FlagIdxen != 0) + b2u(in.i.Flags&isa.FlagOffen != 0))
}

// startBuffer reads the operands that all lanes share. It reports whether
// there is anything to do.
func (w *Wave) startBuffer(in *inst, b *bufferAccess) bool {
	if !w.reaches(in) || w.exec() == 0 {
		return false
	}
	i := in.i
	var d [4]uint32
	for k := range d {
		d[k] = w.S[(i.Src[1]+isa.Operand(k))&0x7f]
	}
	idxen := i.Flags&isa.FlagIdxen != 0
	b.decode(d, idxen, in.m.format != 0)
	if t := d[3] >> 30; t != 0 {
		w.setFault(device.FaultIllegal, -1, b.base, fmt.Sprintf("resource type %d in bits 127:126 of the descriptor %#08x: not a buffer", t, d))
		return false
	}
	if i.Enc == isa.EncMTBUF {
		b.dataFormat, b.numFormat = i.Format&0xf, i.Format>>4&7
		b.dstSel = identitySel
		b.unbound = false
	}
	b.soffset = uint64(w.s32(i.Src[2], 0))
	b.offset = uint32(i.Offset)
	v := i.Src[0]
	if idxen {
		b.index = w.row(v)
		v++
	}
	if i.Flags&isa.FlagOffen != 0 {
		b.voffset = w.row(v)
	}
	return true
}

// decode unpacks the descriptor ("Buffer Resource Descriptor").
func (v *vsharp) decode(d [4]uint32, idxen, format bool) {
	v.base = uint64(d[0]) | uint64(d[1]&0xffff)<<32
	v.stride = uint64(d[1] >> 16 & 0x3fff)
	v.swizzle = d[1]>>31 != 0
	v.records = uint64(d[2])
	for k := range v.dstSel {
		v.dstSel[k] = uint8(d[3] >> (3 * k) & 7)
	}
	v.numFormat = uint8(d[3] >> 12 & 7)
	v.dataFormat = uint8(d[3] >> 15 & 0xf)
	v.indexStride = 8 << (d[3] >> 21 & 3)
	v.addTID = d[3]>>23&1 != 0
	v.unchecked = v.addTID && !idxen
	v.byIndex = idxen && v.stride != 0
	v.addLane = v.addTID && (v.swizzle || !idxen)
	// The data format of a thread buffer is the top of its stride, except for
	// the instructions that need a data format.
	if v.addTID && !format {
		if v.addLane {
			v.stride |= uint64(v.dataFormat) << 14
		}
		return
	}
	v.unbound = v.dataFormat == 0
}

// lane returns lane l's index and offset. The index is the VGPR's, without
// the lane number; the offset is formed in 32 bits.
func (b *bufferAccess) lane(l int) (index, off uint32) {
	off = b.offset
	if b.voffset != nil {
		off += b.voffset[l]
	}
	if b.index != nil {
		index = b.index[l]
	}
	return index, off
}

// addr is the address of the byte at off of lane l's record ("Buffer
// Addressing"). SOFFSET is outside the swizzle.
func (b *bufferAccess) addr(index uint32, off uint64, l int) uint64 {
	if b.addLane {
		index += uint32(l)
	}
	i := uint64(index)
	if !b.swizzle {
		return b.base + b.soffset + i*b.stride + off
	}
	return b.base + b.soffset +
		(i/b.indexStride*b.stride+off/swizzleElement*swizzleElement)*b.indexStride +
		i%b.indexStride*swizzleElement + off%swizzleElement
}

// inRange applies the range check to n bytes at off.
func (b *bufferAccess) inRange(index uint32, off, n uint64) bool {
	switch {
	case b.unbound:
		return false
	case b.unchecked:
		return true
	case b.byIndex:
		return uint64(index) < b.records
	}
	return off+b.soffset+n <= b.records
}

// bufferBytes loads or stores len(buf) bytes at off of lane l's record. In a swizzled
// buffer each element of four bytes has its own address; accesses that are not
// aligned to elements continue in the next one, as the compiler expects of
// unaligned private accesses.
func (w *Wave) bufferBytes(b *bufferAccess, index uint32, off uint64, buf []byte, store bool, l int) bool {
	for len(buf) > 0 {
		n := uint64(len(buf))
		if b.swizzle {
			n = min(n, swizzleElement-off%swizzleElement)
		}
		va := b.addr(index, off, l)
		p := w.peek(va, n) // sees scratch first
		if p == nil {
			p = w.access(va, n, store, l)
		}
		if p == nil {
			return false
		}
		mem := unsafe.Slice((*byte)(p), n)
		if store {
			copy(mem, buf)
		} else {
			copy(buf, mem)
		}
		off += n
		buf = buf[n:]
	}
	return true
}

// runBuffer executes loads and stores without format conversion.
func runBuffer(w *Wave, in *inst) {
	if !w.reaches(in) || w.exec() == 0 || w.spillRows(in) {
		return
	}
	var b bufferAccess
	if !w.startBuffer(in, &b) {
		return
	}
	if !w.threadRows(in, &b) && !w.linearBuffer(in, &b) {
		w.bufferLanes(in, &b, w.row(in.i.Dst))
	}
	w.texelFail(in)
}

// texelFail writes what TFE asks for: 0, no texel failed.
func (w *Wave) texelFail(in *inst) {
	if in.i.Flags&isa.FlagTFE == 0 || in.m.kind != memLoad || w.state != running {
		return
	}
	d := w.row(in.i.Dst + isa.Operand(in.m.words))
	for x := w.exec(); x != 0; x &= x - 1 {
		d[bits.TrailingZeros64(x)] = 0
	}
}

// bufferLanes loads or stores lane by lane. Dwords of multi-dword accesses
// are range-checked one by one ("Range Checking", note 4).
func (w *Wave) bufferLanes(in *inst, b *bufferAccess, data *lane.Row) {
	m := in.m
	part := min(m.bytes, 4)
	for x := w.exec(); x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		index, o := b.lane(l)
		var words [4]uint32
		buf := unsafe.Slice((*byte)(unsafe.Pointer(&words)), 16)
		store := m.kind == memStore
		if store {
			m.storeLane(data, l, unsafe.Pointer(&words))
		}
		for k := uint64(0); k < m.bytes; k += part {
			off := uint64(o) + k
			if b.inRange(index, off, part) && !w.bufferBytes(b, index, off, buf[k:k+part], store, l) {
				return
			}
		}
		if !store {
			m.loadLane(data, l, unsafe.Pointer(&words))
		}
	}
}

// peek is access without a fault: nil when [va, va+n) is not in one piece.
func (w *Wave) peek(va, n uint64) unsafe.Pointer {
	if off := va - w.scratchVA; off < uint64(len(w.scratch)) {
		if n > uint64(len(w.scratch))-off {
			return nil
		}
		return unsafe.Pointer(&w.scratch[off])
	}
	r := w.findRegion(va, n)
	if r == nil {
		return nil
	}
	return r.Ptr(va - r.Base)
}

// linearBuffer is the fast path of linear buffers: all lanes in range and in
// one region. It reports whether it did the access.
func (w *Wave) linearBuffer(in *inst, b *bufferAccess) bool {
	if b.swizzle {
		return false
	}
	m, exec := in.m, w.exec()
	a := &w.tmp.addr
	if !b.addresses(a, exec, m.bytes) {
		return false
	}
	r := w.oneRegion(m, a, exec)
	if r == nil {
		return false
	}
	data := w.row(in.i.Dst)
	if m.kind == memLoad {
		m.loadLanes(data, r.Ptr(0), a, r.Base, exec)
		return true
	}
	m.storeLanes(data, r.Ptr(0), a, r.Base, exec)
	return true
}

// addresses fills in the addresses of the active lanes' accesses of n bytes to
// a linear buffer. It reports whether all are in range.
func (b *bufferAccess) addresses(a *[64]uint64, exec, n uint64) bool {
	if b.index == nil && b.voffset != nil && !b.addTID && !b.unbound {
		return b.rawAddresses(a, exec, n)
	}
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		index, off := b.lane(l)
		if !b.inRange(index, uint64(off), n) {
			return false
		}
		a[l] = b.addr(index, uint64(off), l)
	}
	return true
}

// rawAddresses is addresses for what nearly all buffer instructions are: one
// VGPR offset into a raw buffer.
func (b *bufferAccess) rawAddresses(a *[64]uint64, exec, n uint64) bool {
	if b.records < b.soffset+n {
		return false
	}
	base, last := b.base+b.soffset, b.records-b.soffset-n
	beyond := uint64(0)
	for l, v := range b.voffset {
		off := uint64(v + b.offset)
		a[l] = base + off
		beyond |= uint64(b2u(off > last)) << l
	}
	return beyond&exec == 0
}

// runBufferAtomic executes atomics. One that is out of range does nothing and
// returns 0. Alignment is checked first: hardware faults on a misaligned atomic
// even when it is out of range (ROCm composable_kernel pull request 616).
func runBufferAtomic(w *Wave, in *inst) {
	var b bufferAccess
	if !w.startBuffer(in, &b) {
		return
	}
	m := in.m
	if b.swizzle && m.bytes > swizzleElement {
		w.setFault(device.FaultIllegal, -1, b.base, "64-bit atomic on a swizzled buffer, whose elements are 4 bytes")
		return
	}
	data := w.row(in.i.Dst)
	for x := w.exec(); x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		index, off := b.lane(l)
		va := b.addr(index, uint64(off), l)
		if va%m.bytes != 0 {
			w.misaligned(l, va, m.bytes)
			return
		}
		var old uint64
		if b.inRange(index, uint64(off), m.bytes) {
			p := w.access(va, m.bytes, true, l)
			if p == nil {
				return
			}
			x, y := m.atomicData(data, l)
			old = w.atomicAt(m, p, x, y)
		}
		if m.ret {
			m.putOld(data, l, old)
		}
	}
}
