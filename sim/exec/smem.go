package exec

import (
	"strings"
	"unsafe"

	"gfxrt/runtime/device"
	"gfxrt/sim/isa"
)

// compileSMEM chooses the executor of a scalar memory instruction.
func (c *codeCache) compileSMEM(in *inst) func(w *Wave, in *inst) {
	name := strings.TrimPrefix(in.i.Op.String(), "s_")
	switch name {
	case "dcache_inv", "dcache_wb", "dcache_inv_vol", "dcache_wb_vol", "dcache_discard", "dcache_discard_x2", "atc_probe", "atc_probe_buffer":
		return nop // the scalar cache is coherent here
	case "memtime":
		return func(w *Wave, in *inst) { w.setS64(in.dst, w.m.cycles()) }
	case "memrealtime":
		return func(w *Wave, in *inst) { w.setS64(in.dst, w.m.clock()) }
	}
	buffer := false
	scratch := false
	if r, ok := strings.CutPrefix(name, "buffer_"); ok {
		buffer, name = true, r
	} else if r, ok := strings.CutPrefix(name, "scratch_"); ok {
		scratch, name = true, r
	}
	var m *memOp
	if n, ok := scalarWords(name); ok {
		m = &memOp{kind: memLoad, words: n, bytes: uint64(n) * 4}
		if strings.HasPrefix(name, "store") {
			m.kind = memStore
		}
	} else {
		m = parseMemOp(name)
		if m == nil || m.kind != memAtomic {
			return nil
		}
		m.ret = in.i.Flags&isa.FlagGLC != 0
	}
	in.m = m
	switch {
	case buffer:
		return runSBuffer
	case scratch:
		return runSScratch
	}
	return runSMEM
}

// scalarWords reads load_dwordxN and store_dwordxN.
func scalarWords(name string) (int, bool) {
	r, ok := strings.CutPrefix(name, "load_dword")
	if !ok {
		r, ok = strings.CutPrefix(name, "store_dword")
	}
	if !ok {
		return 0, false
	}
	n, ok := map[string]int{"": 1, "x2": 2, "x3": 3, "x4": 4, "x8": 8, "x16": 16}[r]
	return n, ok
}

// smemOffset is the immediate plus the scalar offset register.
func (w *Wave) smemOffset(in *inst) uint64 {
	off := uint64(int64(in.i.Offset))
	if o := in.i.Src[1]; o != isa.OperandNone {
		off += uint64(w.s32(o, in.i.Literal))
	}
	return off
}

func runSMEM(w *Wave, in *inst) {
	// Scalar memory addresses ignore bits 1:0 (CDNA3 ISA, Scalar Memory
	// Addressing).
	w.scalarMemory(in, (w.pair(in.i.Src[0])+w.smemOffset(in))&^3)
}

// runSScratch scales the scalar offset by 64 bytes, as the wave's scratch is
// swizzled by lanes (Vega ISA, S_SCRATCH_LOAD_DWORD).
func runSScratch(w *Wave, in *inst) {
	off := uint64(int64(in.i.Offset))
	if o := in.i.Src[1]; o != isa.OperandNone {
		off = uint64(w.s32(o, in.i.Literal)) * 64
	}
	w.scalarMemory(in, (w.pair(in.i.Src[0])+off)&^3)
}

// runSBuffer bounds the offset by the descriptor: num_records, times the
// stride when there is one. Out of range reads give 0.
func runSBuffer(w *Wave, in *inst) {
	s := in.i.Src[0]
	w1, records := w.S[(s+1)&0x7f], uint64(w.S[(s+2)&0x7f])
	base := uint64(w.S[s&0x7f]) | uint64(w1&0xffff)<<32
	if stride := uint64(w1 >> 16 & 0x3fff); stride != 0 {
		records *= stride
	}
	off := w.smemOffset(in) &^ 3
	m := in.m
	if off+m.bytes <= records {
		w.scalarMemory(in, (base+off)&^3)
		return
	}
	if m.kind != memLoad {
		return
	}
	for k := range m.words {
		var x uint32
		if o := off + uint64(k)*4; o+4 <= records {
			p := w.access((base+o)&^3, 4, false, -1)
			if p == nil {
				return
			}
			x = *(*uint32)(p)
		}
		w.setS(in.dst+isa.Operand(k), x)
	}
}

func (w *Wave) scalarMemory(in *inst, va uint64) {
	m := in.m
	if int(in.dst)+m.words > int(isa.OperandInt) {
		w.illegal(in, "scalar destination reaches beyond the register file")
		return
	}
	p := w.access(va, m.bytes, m.kind != memLoad, -1)
	if p == nil {
		return
	}
	switch m.kind {
	case memLoad:
		copy(w.S[in.dst:int(in.dst)+m.words], unsafe.Slice((*uint32)(p), m.words))
	case memStore:
		copy(unsafe.Slice((*uint32)(p), m.words), w.S[in.dst:int(in.dst)+m.words])
	case memAtomic:
		w.scalarAtomic(in, p, va)
	default:
		w.setFault(device.FaultUnimplemented, -1, va, in.i.Op.String())
	}
}

// scalarAtomic is an atomic whose data and result are SGPRs.
func (w *Wave) scalarAtomic(in *inst, p unsafe.Pointer, va uint64) {
	m := in.m
	if va%m.bytes != 0 {
		w.misaligned(-1, va, m.bytes)
		return
	}
	read := func(o isa.Operand) uint64 {
		if m.wide {
			return w.pair(o)
		}
		return uint64(w.S[o&0x7f])
	}
	a := read(in.dst)
	var b uint64
	if m.atom == atomCmpSwap {
		b = read(in.dst + isa.Operand(m.words))
	}
	old := w.atomicAt(m, p, a, b)
	if !m.ret {
		return
	}
	w.setS(in.dst, uint32(old))
	if m.wide {
		w.setS(in.dst+1, uint32(old>>32))
	}
}
