package exec

import (
	"math/bits"
	"strings"
	"unsafe"

	"gfxrt/runtime/device"
	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// dsNames maps the operation part of a DS mnemonic, without _rtn and type.
var dsNames = map[string]atomicOp{
	"add": atomAdd, "sub": atomSub, "rsub": atomRSub, "inc": atomInc, "dec": atomDec,
	"and": atomAnd, "or": atomOr, "xor": atomXor, "mskor": atomMskOr, "cmpst": atomCmpSwap,
	"wrxchg": atomSwap, "wrap": atomWrap,
}

// dsTyped maps operations whose meaning depends on the type.
var dsTyped = map[string]atomicOp{
	"min_i32": atomSMin, "max_i32": atomSMax, "min_u32": atomUMin, "max_u32": atomUMax,
	"min_i64": atomSMin, "max_i64": atomSMax, "min_u64": atomUMin, "max_u64": atomUMax,
	"add_f32": atomFAdd32, "min_f32": atomFMin32, "max_f32": atomFMax32,
	"add_f64": atomFAdd64, "min_f64": atomFMin64, "max_f64": atomFMax64,
	"cmpst_f32": atomFCmpSt, "cmpst_f64": atomFCmpSt,
	"pk_add_f16": atomPkAddF16, "pk_add_bf16": atomPkAddBF16,
}

// compileDS chooses the executor of a DS instruction from the mnemonic after
// "ds_".
func compileDS(in *inst, name string) func(w *Wave, in *inst) {
	switch name {
	case "nop":
		return nop
	case "permute_b32":
		return dsCross(func(w *Wave, d, a, x *lane.Row, in *inst) {
			lane.DSPermute(d, a, x, uint32(in.i.Offset), w.exec(), w.lanes)
		})
	case "bpermute_b32":
		return dsCross(func(w *Wave, d, a, x *lane.Row, in *inst) {
			lane.BpermuteRow(d, a, x, uint32(in.i.Offset), w.exec(), w.lanes)
		})
	case "swizzle_b32":
		return dsCross(func(w *Wave, d, a, _ *lane.Row, in *inst) {
			lane.DSSwizzle(d, a, uint16(in.i.Offset), w.exec())
		})
	case "append":
		return func(w *Wave, in *inst) { dsCount(w, in, 1) }
	case "consume":
		return func(w *Wave, in *inst) { dsCount(w, in, -1) }
	case "read_addtid_b32":
		return dsReadAddTID
	case "write_addtid_b32":
		return dsWriteAddTID
	case "condxchg32_rtn_b64":
		in.m = &memOp{kind: memAtomic, bytes: 8, words: 2, ret: true}
		return func(w *Wave, in *inst) { w.dsLanes(in, dsCondXchg) }
	}
	if rest, ok := strings.CutPrefix(name, "gws_"); ok {
		return compileGWS(rest)
	}
	if m, two, ok := parseDSAccess(name); ok {
		in.m = m
		if !in.i.Src[0].IsVGPR() || !m.operandsFit(in.i, in.i.Src[1]) || two != 0 && m.kind == memStore && !m.operandsFit(in.i, in.i.Src[2]) {
			return nil
		}
		if two != 0 {
			return func(w *Wave, in *inst) { w.dsPair(in, two) }
		}
		if m.kind == memLoad {
			return dsRead
		}
		return dsWrite
	}
	if m, two := parseDSAtomic(name); m != nil {
		in.m = m
		if !in.i.Src[0].IsVGPR() || !m.operandsFit(in.i, in.i.Src[1]) || two != 0 && !m.operandsFit(in.i, in.i.Src[2]) {
			return nil
		}
		if two != 0 {
			return func(w *Wave, in *inst) { w.dsExchangePair(in, two) }
		}
		return func(w *Wave, in *inst) { w.dsLanes(in, dsAtomic) }
	}
	return nil
}

// parseDSAccess reads read/write mnemonics. two is the scale of the two
// offsets of read2 and write2 forms in elements, 0 for single accesses.
func parseDSAccess(name string) (m *memOp, two uint32, ok bool) {
	m = &memOp{}
	switch {
	case strings.HasPrefix(name, "read"):
		m.kind, name = memLoad, name[4:]
	case strings.HasPrefix(name, "write"):
		m.kind, name = memStore, name[5:]
	default:
		return nil, 0, false
	}
	if r, cut := strings.CutPrefix(name, "2st64"); cut {
		two, name = 64, r
	} else if r, cut := strings.CutPrefix(name, "2"); cut {
		two, name = 1, r
	}
	if r, cut := strings.CutSuffix(name, "_d16_hi"); cut {
		m.half, name = highHalf, r
	} else if r, cut := strings.CutSuffix(name, "_d16"); cut {
		m.half, name = lowHalf, r
	}
	switch name {
	case "_b8", "_u8":
		m.bytes = 1
	case "_i8":
		m.bytes, m.signed = 1, true
	case "_b16", "_u16":
		m.bytes = 2
	case "_i16":
		m.bytes, m.signed = 2, true
	case "_b32":
		m.bytes = 4
	case "_b64":
		m.bytes = 8
	case "_b96":
		m.bytes = 12
	case "_b128":
		m.bytes = 16
	default:
		return nil, 0, false
	}
	m.words = int(max(m.bytes, 4) / 4)
	return m, two, true
}

func parseDSAtomic(name string) (m *memOp, two uint32) {
	m = &memOp{kind: memAtomic, bytes: 4, words: 1}
	if i := strings.Index(name, "_rtn"); i >= 0 {
		m.ret = true
		name = name[:i] + name[i+4:]
	}
	if r, ok := strings.CutPrefix(name, "wrxchg2st64_"); ok {
		two, name = 64, "wrxchg_"+r
	} else if r, ok := strings.CutPrefix(name, "wrxchg2_"); ok {
		two, name = 1, "wrxchg_"+r
	}
	op, ok := dsTyped[name]
	if !ok {
		base, _, _ := strings.Cut(name, "_")
		if op, ok = dsNames[base]; !ok {
			return nil, 0
		}
	}
	m.atom = op
	if strings.HasSuffix(name, "64") {
		m.wide, m.bytes, m.words = true, 8, 2
	}
	return m, two
}

// share returns the memory a DS instruction works on, and for GDS the base to
// add, from M0 (Vega ISA, GDS: M0[31:16] base, M0[15:0] size).
func (w *Wave) share(in *inst) (mem []byte, base uint32) {
	if in.i.Flags&isa.FlagGDS == 0 {
		return w.m.lds, 0
	}
	m0 := w.S[isa.OperandM0]
	base = m0 >> 16
	end := min(uint64(base)+uint64(m0&0xffff), uint64(len(w.m.gds.bytes)))
	return w.m.gds.bytes[:end], base
}

// lockGDS takes the lock of the global data share, which work-groups on other
// threads use too.
func (w *Wave) lockGDS(in *inst) func() {
	if in.i.Flags&isa.FlagGDS == 0 {
		return func() {}
	}
	w.m.gds.mu.Lock()
	return w.m.gds.mu.Unlock
}

// zeros is what out-of-range LDS reads return.
var zeros [16]byte

func dsRead(w *Wave, in *inst) {
	exec := w.exec()
	if !w.reaches(in) || exec == 0 {
		return
	}
	m := in.m
	mem, base := w.m.lds, uint32(0)
	if in.i.Flags&isa.FlagGDS != 0 {
		defer w.lockGDS(in)()
		mem, base = w.share(in)
	}
	a, d := &w.tmp.addr, w.row(in.i.Dst)
	if m.bytes == 4 {
		lane.GatherLDS32(d, mem, w.row(in.i.Src[0]), base+uint32(in.i.Offset), exec)
		return
	}
	ok := ldsAddresses(a, w.row(in.i.Src[0]), base+uint32(in.i.Offset), m.bytes, uint64(len(mem)), exec)
	if ok != exec {
		m.loadZeros(d, exec&^ok)
	}
	if ok != 0 {
		m.loadLanes(d, unsafe.Pointer(&mem[0]), a, 0, ok)
	}
}

// loadZeros is what a load out of range gives.
func (m *memOp) loadZeros(d *lane.Row, mask uint64) {
	for x := mask; x != 0; x &= x - 1 {
		m.loadLane(d, bits.TrailingZeros64(x)&63, unsafe.Pointer(&zeros))
	}
}

// rangeOrZero is the address of n bytes of LDS, or of zeros when they are not
// all inside: hardware returns 0 for reads out of range.
func rangeOrZero(mem []byte, off uint32, n uint64) unsafe.Pointer {
	if uint64(off)+n <= uint64(len(mem)) {
		return unsafe.Pointer(&mem[off])
	}
	return unsafe.Pointer(&zeros)
}

func dsWrite(w *Wave, in *inst) {
	exec := w.exec()
	if !w.reaches(in) || exec == 0 {
		return
	}
	m := in.m
	mem, base := w.m.lds, uint32(0)
	if in.i.Flags&isa.FlagGDS != 0 {
		defer w.lockGDS(in)()
		mem, base = w.share(in)
	}
	if m.bytes == 4 {
		lane.ScatterLDS32(mem, w.row(in.i.Src[0]), base+uint32(in.i.Offset), w.row(in.i.Src[1]), exec)
		return
	}
	a := &w.tmp.addr
	if ok := ldsAddresses(a, w.row(in.i.Src[0]), base+uint32(in.i.Offset), m.bytes, uint64(len(mem)), exec); ok != 0 {
		m.storeLanes(w.row(in.i.Src[1]), unsafe.Pointer(&mem[0]), a, 0, ok)
	}
}

// dsPair executes the forms with two addresses: read2, write2 and wrxchg2.
func (w *Wave) dsPair(in *inst, scale uint32) {
	exec := w.exec()
	if !w.reaches(in) || exec == 0 {
		return
	}
	m := in.m
	mem, base := w.m.lds, uint32(0)
	if in.i.Flags&isa.FlagGDS != 0 {
		defer w.lockGDS(in)()
		mem, base = w.share(in)
	}
	size := uint32(m.bytes)
	// A copy: the first result may replace the address.
	w.tmp.old = *w.row(in.i.Src[0])
	for k, off := range [2]uint32{uint32(in.i.Offset), uint32(in.i.Offset1)} {
		a := &w.tmp.addr
		ok := ldsAddresses(a, &w.tmp.old, base+off*size*scale, m.bytes, uint64(len(mem)), exec)
		switch m.kind {
		case memLoad:
			d := &lane.Rows(w.row(in.i.Dst), 2*m.words)[k*m.words]
			if ok != exec {
				m.loadZeros(d, exec&^ok)
			}
			if ok != 0 {
				m.loadLanes(d, unsafe.Pointer(&mem[0]), a, 0, ok)
			}
		case memStore:
			if ok != 0 {
				m.storeLanes(w.row(in.i.Src[1+k]), unsafe.Pointer(&mem[0]), a, 0, ok)
			}
		}
	}
}

// dsExchangePair executes wrxchg2: lane by lane, both exchanges of a lane
// before the next lane's.
func (w *Wave) dsExchangePair(in *inst, scale uint32) {
	exec := w.exec()
	if !w.reaches(in) || exec == 0 {
		return
	}
	defer w.lockGDS(in)()
	m := in.m
	mem, base := w.share(in)
	size := uint32(m.bytes)
	offs := [2]uint32{base + uint32(in.i.Offset)*size*scale, base + uint32(in.i.Offset1)*size*scale}
	a := w.row(in.i.Src[0])
	d := lane.Rows(w.row(in.i.Dst), 2*m.words)
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		var olds [2]uint64
		for k := range 2 {
			if off := a[l] + offs[k]; uint64(off)+m.bytes <= uint64(len(mem)) {
				va, _ := m.atomicData(w.row(in.i.Src[1+k]), l)
				olds[k] = w.plainAt(m, unsafe.Pointer(&mem[off]), va, 0)
			}
		}
		m.putOld(&d[0], l, olds[0])
		m.putOld(&d[m.words], l, olds[1])
	}
}

// dsLanes runs f for each active lane with the address of its element, or
// with zeros that absorb the write when it is out of range.
func (w *Wave) dsLanes(in *inst, f func(w *Wave, in *inst, l int, p unsafe.Pointer)) {
	exec := w.exec()
	if !w.reaches(in) || exec == 0 {
		return
	}
	defer w.lockGDS(in)()
	m := in.m
	mem, base := w.share(in)
	base += uint32(in.i.Offset)
	a := w.row(in.i.Src[0])
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		off := base + a[l]
		if uint64(off)%m.bytes != 0 {
			w.setFault(device.FaultAperture, l, SharedBase+uint64(off), "LDS atomic at an address that is not a multiple of its size")
			return
		}
		if uint64(off)+m.bytes <= uint64(len(mem)) {
			f(w, in, l, unsafe.Pointer(&mem[off]))
			continue
		}
		var sink [2]uint64
		f(w, in, l, unsafe.Pointer(&sink))
	}
}

func dsAtomic(w *Wave, in *inst, l int, p unsafe.Pointer) {
	m, i := in.m, in.i
	var a, b uint64
	if i.Src[1] != isa.OperandNone {
		a = lane64(w.row(i.Src[1]), l, m.wide)
	}
	if i.Src[2] != isa.OperandNone {
		b = lane64(w.row(i.Src[2]), l, m.wide)
	}
	if m.atom == atomCmpSwap || m.atom == atomFCmpSt {
		// DS compares with data0 and stores data1.
		a, b = b, a
	}
	old := w.plainAt(m, p, a, b)
	if m.ret {
		m.putOld(w.row(i.Dst), l, old)
	}
}

func lane64(r *lane.Row, l int, wide bool) uint64 {
	x := uint64(r[l])
	if wide {
		x |= uint64(lane.Rows(r, 2)[1][l]) << 32
	}
	return x
}

// dsCondXchg writes each dword whose data has bit 31 set, without that bit
// (Vega ISA, DS_CONDXCHG32_RTN_B64).
func dsCondXchg(w *Wave, in *inst, l int, p unsafe.Pointer) {
	q := (*[2]uint32)(p)
	old := uint64(q[0]) | uint64(q[1])<<32
	s := lane.Rows(w.row(in.i.Src[1]), 2)
	for k := range q {
		if x := s[k][l]; x>>31 != 0 {
			q[k] = x &^ (1 << 31)
		}
	}
	in.m.putOldWide(w.row(in.i.Dst), l, old)
}

func (m *memOp) putOldWide(d *lane.Row, l int, old uint64) {
	r := lane.Rows(d, 2)
	r[0][l], r[1][l] = uint32(old), uint32(old>>32)
}

// dsCross makes an instruction that moves data between lanes.
func dsCross(f func(w *Wave, d, a, x *lane.Row, in *inst)) func(w *Wave, in *inst) {
	return func(w *Wave, in *inst) {
		if !w.reaches(in) {
			return
		}
		var x *lane.Row
		if o := in.i.Src[1]; o != isa.OperandNone {
			x = w.row(o)
		}
		f(w, w.row(in.i.Dst), w.row(in.i.Src[0]), x, in)
	}
}

// dsCount is ds_append and ds_consume: the counter at M0[15:0] + offset moves
// by the number of active lanes; all of them get its old value.
func dsCount(w *Wave, in *inst, sign int) {
	exec := w.exec()
	if !w.reaches(in) || exec == 0 {
		return
	}
	defer w.lockGDS(in)()
	mem, base := w.share(in)
	off := base + w.S[isa.OperandM0]&0xffff + uint32(in.i.Offset)
	if in.i.Flags&isa.FlagGDS != 0 {
		off = base + uint32(in.i.Offset)
	}
	off &^= 3
	var old uint32
	if uint64(off)+4 <= uint64(len(mem)) {
		p := (*uint32)(unsafe.Pointer(&mem[off]))
		old = *p
		*p = old + uint32(sign*bits.OnesCount64(exec))
	}
	var r lane.Row
	lane.Splat(&r, old)
	lane.MergeRow(w.row(in.i.Dst), &r, exec)
}

func (w *Wave) addTID(in *inst, l int) uint32 {
	return w.S[isa.OperandM0]&0xffff + uint32(in.i.Offset) + uint32(l)*4
}

func dsReadAddTID(w *Wave, in *inst) {
	if !w.reaches(in) {
		return
	}
	d := w.row(in.i.Dst)
	for x := w.exec(); x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		d[l] = w.ldsRead32(w.addTID(in, l))
	}
}

func dsWriteAddTID(w *Wave, in *inst) {
	if !w.reaches(in) {
		return
	}
	s := w.row(in.i.Src[1])
	for x := w.exec(); x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		w.ldsWrite32(w.addTID(in, l), s[l])
	}
}

// ldsRead32 reads a dword of LDS, 0 out of range.
func (w *Wave) ldsRead32(off uint32) uint32 {
	return *(*uint32)(rangeOrZero(w.m.lds, off, 4))
}

// ldsWrite32 writes a dword of LDS; out of range it is dropped.
func (w *Wave) ldsWrite32(off, v uint32) {
	if uint64(off)+4 <= uint64(len(w.m.lds)) {
		*(*uint32)(unsafe.Pointer(&w.m.lds[off])) = v
	}
}
