package exec

import (
	"math/bits"
	"strings"

	"gfxrt/runtime/device"
	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// Probe follows the waves of one work-group. Its calls come from one
// goroutine at a time.
type Probe interface {
	// Step is called after each instruction that a wave executed or faulted
	// on. s is only valid during the call.
	Step(s *Step)
}

// ProbeFunc makes the probe of a work-group that starts, or returns nil to let
// it run unwatched. Groups run at the same time, and so do calls.
type ProbeFunc func(kernelObject uint64, group [3]uint32) Probe

// Step is an executed instruction as a Probe sees it.
type Step struct {
	Wave    int
	First   bool // the first instruction of the wave
	PC      uint64
	Inst    *isa.Inst // nil when the bytes are not an instruction
	Lanes   int       // of the wave, 32 or 64
	VGPRs   int       // registers of the wave, AccVGPRs included
	Acc     int       // of these, the number of a0
	Exec    uint64    // EXEC before the instruction
	Faulted bool
	Refused bool // the fault is that the instruction is not implemented
	// Touches are the memory accesses; lanes without an effect may be among
	// them, such as those out of the range of a buffer.
	Touches []Touch
}

// MemSpace is where a Touch lies.
type MemSpace uint8

// Memory spaces.
const (
	SpaceGlobal  MemSpace = iota // an address of the GPU
	SpaceLDS                     // bytes from the work-group's first
	SpacePrivate                 // bytes from the lane's first
)

// Touch is one lane's access to memory.
type Touch struct {
	Space MemSpace
	Lane  int    // -1 for scalar instructions
	Addr  uint64 // in the space
	Bytes uint32
}

// Effect is what an analysis needs to know of a vector instruction's meaning.
type Effect struct {
	Approx   bool    // within a documented bound rather than exact
	Cross    bool    // matrix instructions: a lane's result comes from other lanes
	Compare  bool    // the result is a lane mask
	CmpX     bool    // and goes to EXEC, too
	DstIsSrc bool    // the destination's old value is a source
	Half     bool    // the result is 16 bits, so that half of the register may stay
	Mask     [3]bool // sources that are lane masks
}

// EffectOf describes a vector instruction. It reports false when op is none,
// or has no implementation.
func EffectOf(op isa.Op) (Effect, bool) {
	k := kernelOf(op)
	if k == nil {
		return Effect{}, false
	}
	e := Effect{Approx: k.Approx, Cross: k.Matrix, Compare: k.Cmp != nil, CmpX: k.CmpX, DstIsSrc: k.DstIsSrc || k.Matrix, Half: is16(k.Dst)}
	for j, t := range k.Src {
		e.Mask[j] = t == lane.Mask
	}
	return e, true
}

func kernelOf(op isa.Op) *lane.Kernel {
	if k := kernels[op]; k != nil {
		return k
	}
	if name, ok := strings.CutPrefix(op.String(), "v_dual_"); ok {
		if k, ok := lane.Kernels["v_"+name]; ok {
			return &k
		}
	}
	return nil
}

// beforeStep fills in what is known of a step before the instruction at va
// executes.
func (w *Wave) beforeStep(in *inst, va uint64) {
	s := &w.tmp.step
	*s = Step{Wave: w.index, First: w.executed == 0, PC: va, Lanes: w.lanes, VGPRs: int(w.acc + w.na), Acc: int(w.acc), Exec: w.exec(), Touches: s.Touches[:0]}
	if in.decoded() {
		s.Inst = in.i
		s.Touches = w.touches(in, s.Touches)
	}
}

func (w *Wave) afterStep() {
	if s := &w.tmp.step; w.state == faulted {
		s.Faulted, s.Refused = true, w.fault.Kind == device.FaultUnimplemented
	}
}

// touches appends the memory accesses that in is about to make.
func (w *Wave) touches(in *inst, to []Touch) []Touch {
	m := in.m
	if m == nil || m.kind == memNone || !in.fits(w) {
		return to
	}
	i, n := in.i, uint32(m.bytes)
	exec := w.exec()
	switch i.Enc {
	case isa.EncSMEM:
		base := w.pair(i.Src[0])
		if strings.HasPrefix(i.Op.String(), "s_buffer_") {
			base &= 1<<48 - 1
		}
		return append(to, Touch{Lane: -1, Addr: (base + w.smemOffset(in)) &^ 3, Bytes: n})
	case isa.EncDS:
		return w.dsTouches(in, to)
	case isa.EncFLAT:
		return w.flatTouches(in, to)
	case isa.EncMUBUF, isa.EncMTBUF:
		var b bufferAccess
		if exec == 0 || !w.startBuffer(in, &b) {
			return to
		}
		n = max(n, uint32(m.words)*4)
		for x := exec; x != 0; x &= x - 1 {
			l := bits.TrailingZeros64(x)
			index, off := b.lane(l)
			to = append(to, Touch{Lane: l, Addr: b.addr(index, uint64(off), l), Bytes: n})
		}
	}
	return to
}

func (w *Wave) flatTouches(in *inst, to []Touch) []Touch {
	i, n := in.i, uint32(in.m.bytes)
	exec := w.exec()
	if i.Seg == isa.SegScratch {
		off := uint32(i.Offset)
		if i.Flags&isa.FlagSAddr != 0 {
			off += w.s32(i.Src[2], 0)
		}
		for x := exec; x != 0; x &= x - 1 {
			l, o := bits.TrailingZeros64(x), off
			if i.Src[0] != isa.OperandNone {
				o += w.row(i.Src[0])[l]
			}
			to = append(to, Touch{SpacePrivate, l, uint64(o), n})
		}
		return to
	}
	var a [64]uint64
	w.flatAddresses(in, &a)
	for x := exec; x != 0; x &= x - 1 {
		t := Touch{Lane: bits.TrailingZeros64(x), Bytes: n}
		t.Addr = a[t.Lane]
		if i.Seg == isa.SegFlat {
			switch t.Addr >> 32 {
			case SharedBase >> 32:
				t.Space, t.Addr = SpaceLDS, uint64(uint32(t.Addr))
			case PrivateBase >> 32:
				t.Space, t.Addr = SpacePrivate, uint64(uint32(t.Addr))
			}
		}
		to = append(to, t)
	}
	return to
}

func (w *Wave) dsTouches(in *inst, to []Touch) []Touch {
	i, n := in.i, uint32(in.m.bytes)
	if i.Flags&isa.FlagGDS != 0 || !i.Src[0].IsVGPR() {
		return to
	}
	a := w.row(i.Src[0])
	offs := []uint32{uint32(i.Offset)}
	if name := i.Op.String(); strings.Contains(name, "st64") {
		offs = []uint32{offs[0] * n * 64, uint32(i.Offset1) * n * 64}
	} else if twoAddresses(name) {
		offs = []uint32{offs[0] * n, uint32(i.Offset1) * n}
	}
	for x := w.exec(); x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		for _, o := range offs {
			to = append(to, Touch{SpaceLDS, l, uint64(a[l] + o), n})
		}
	}
	return to
}

// twoAddresses tells the DS instructions with two offsets.
func twoAddresses(name string) bool {
	for _, s := range []string{"read2", "write2", "wrxchg2", "2addr"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}
