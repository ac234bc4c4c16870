package check

import (
	"gfxrt/sim/exec"
	"gfxrt/sim/isa"
)

// row is the index in waveTaint.v of a vector register, or -1.
func row(s *exec.Step, o isa.Operand) int {
	n := -1
	switch {
	case o.IsVGPR():
		n = int(o - isa.OperandVGPR)
	case o.IsAGPR():
		n = int(o-isa.OperandAGPR) + s.Acc
	}
	if n >= s.VGPRs {
		return -1
	}
	return n
}

// lanes are the marks of an operand by lane: of a scalar one all or none,
// unless it is a lane mask.
func (w *waveTaint) lanes(s *exec.Step, o isa.Operand, words int, mask bool) uint64 {
	if n := row(s, o); n >= 0 {
		var m uint64
		for k := range max(words, 1) {
			if n+k < len(w.v) {
				m |= w.v[n+k]
			}
		}
		return m
	}
	if o >= isa.OperandVGPR {
		return 0
	}
	if mask {
		return w.scalarBits(o, s.Lanes/32)
	}
	return whole(w.scalarBits(o, words))
}

// setLanes marks the lanes of m among those of exec, and clears the others of
// exec unless the register keeps some of its old bits.
func (w *waveTaint) setLanes(s *exec.Step, o isa.Operand, words int, m, exec uint64, keep bool) {
	n := row(s, o)
	if n < 0 {
		return
	}
	for k := n; k < min(n+max(words, 1), len(w.v)); k++ {
		if !keep {
			w.v[k] &^= exec
		}
		w.v[k] |= m & exec
	}
	w.dirty = w.dirty || m&exec != 0
}

// vector moves marks through an instruction of the vector ALU, or one that
// exchanges lanes through LDS.
func (g *groupTaint) vector(w *waveTaint, s *exec.Step, f *opFacts) {
	i := s.Inst
	if i.Enc == isa.EncVOPD {
		g.dual(w, s)
		return
	}
	m := w.sources(s, f)
	write := s.Exec
	cross := f.cross || i.Enc == isa.EncDPP
	if cross {
		m = whole(m)
	}
	if f.effect.Cross || f.cross {
		write = ^uint64(0)
	}
	if f.effect.Approx {
		m = ^uint64(0)
	}
	if w.selectsLane(s) {
		g.reached(sinkAddress, s)
	}
	switch {
	case f.effect.Compare:
		m &= s.Exec
		if i.Dst.IsScalar() {
			w.setScalar(i.Dst, s.Lanes/32, m)
		}
		if f.effect.CmpX {
			w.setScalar(isa.OperandExecLo, s.Lanes/32, m)
			g.execReached(s, m)
		}
	case i.Dst.IsScalar():
		w.setScalar(i.Dst, int(i.DstWords), whole(m))
	default:
		keep := f.effect.Half || i.Enc == isa.EncSDWA || i.Enc == isa.EncDPP || i.OpSel != 0 || f.cross
		w.setLanes(s, i.Dst, int(i.DstWords), m, write, keep)
		if f.movRel && m != 0 {
			for k := range s.VGPRs { // M0 chooses the register
				w.v[k] |= ^uint64(0)
			}
		}
		if i.SDst.IsScalar() {
			w.setScalar(i.SDst, s.Lanes/32, m&s.Exec)
		}
	}
	if isSwap(i.Op) { // Src[0] is written as well
		w.setLanes(s, i.Src[0], 1, m, write, true)
	}
}

// sources are the marks of all that an instruction reads.
func (w *waveTaint) sources(s *exec.Step, f *opFacts) uint64 {
	i := s.Inst
	var m uint64
	for j, o := range i.Src {
		if o != isa.OperandNone {
			m |= w.lanes(s, o, int(i.SrcWords[j]), j < 3 && f.effect.Mask[j])
		}
	}
	for _, o := range i.Scale {
		if o != isa.OperandNone {
			m |= w.lanes(s, o, 2, false)
		}
	}
	if f.effect.DstIsSrc || isSwap(i.Op) {
		m |= w.lanes(s, i.Dst, int(i.DstWords), false)
	}
	if f.readsVCC {
		m |= w.scalarBits(isa.OperandVCCLo, s.Lanes/32)
	}
	if f.movRel {
		for k := range s.VGPRs {
			m |= w.v[k]
		}
	}
	return m
}

func isSwap(op isa.Op) bool {
	switch op.String() {
	case "v_swap_b32", "v_swap_b16", "v_permlane16_swap_b32", "v_permlane32_swap_b32":
		return true
	}
	return false
}

// selectsLane reports whether a mark decides which lane or register is read:
// that is an address.
func (w *waveTaint) selectsLane(s *exec.Step) bool {
	i := s.Inst
	switch name := i.Op.String(); {
	case hasAny(name, "v_readlane", "v_writelane"):
		return w.scalarBits(i.Src[1], 1) != 0
	case hasAny(name, "ds_permute", "ds_bpermute"):
		return w.lanes(s, i.Src[0], 1, false)&s.Exec != 0
	case hasAny(name, "movrel", "swaprel"):
		return w.s[isa.OperandM0] != 0
	}
	return false
}

// dual moves marks through both halves of a VOPD instruction, which read
// before either writes.
func (g *groupTaint) dual(w *waveTaint, s *exec.Step) {
	i := s.Inst
	fx, fy := facts()[i.Op].effect, facts()[i.OpY].effect
	half := func(e exec.Effect, dst isa.Operand, src []isa.Operand) uint64 {
		var m uint64
		for _, o := range src {
			if o != isa.OperandNone {
				m |= w.lanes(s, o, 1, o.IsScalar() && o == isa.OperandVCCLo)
			}
		}
		if e.DstIsSrc {
			m |= w.lanes(s, dst, 1, false)
		}
		if e.Mask[2] { // v_dual_cndmask_b32 reads VCC without naming it
			m |= w.scalarBits(isa.OperandVCCLo, 1)
		}
		if e.Approx {
			m = ^uint64(0)
		}
		return m
	}
	mx, my := half(fx, i.Dst, i.Src[:3]), half(fy, i.DstY, i.SrcY[:])
	w.setLanes(s, i.Dst, 1, mx, s.Exec, false)
	w.setLanes(s, i.DstY, 1, my, s.Exec, false)
}

// memory moves marks between registers and memory.
func (g *groupTaint) memory(w *waveTaint, s *exec.Step, f *opFacts) {
	i := s.Inst
	if i.Enc == isa.EncSMEM {
		g.scalarMemory(w, s, f)
		return
	}
	addr, data := w.memoryOperands(s)
	if addr&s.Exec != 0 {
		g.reached(sinkAddress, s)
	}
	if f.atomic && (addr|data)&s.Exec != 0 {
		g.reached(sinkSync, s)
	}
	var found uint64
	for _, t := range s.Touches {
		bit := uint64(1) << (t.Lane & 63)
		if !f.store && g.marked(w, t) {
			found |= bit
		}
		switch {
		case f.store:
			g.mark(w, t, data&bit != 0)
		case f.atomic && data&bit != 0:
			g.mark(w, t, true)
		}
	}
	if f.toLDS && found|data != 0 {
		g.allLDS = true
		return
	}
	if f.store || f.atomic && i.Flags&isa.FlagGLC == 0 && i.Enc != isa.EncDS {
		return
	}
	if g.allLDS && (i.Enc == isa.EncDS || i.Seg == isa.SegFlat && i.Enc == isa.EncFLAT) {
		found = ^uint64(0)
	}
	w.setLanes(s, i.Dst, int(i.DstWords), found|addr, s.Exec, i.DstWords <= 1)
}

// memoryOperands are the marks of the operands that make addresses, and of
// the data to be written.
func (w *waveTaint) memoryOperands(s *exec.Step) (addr, data uint64) {
	i := s.Inst
	at := func(j int) uint64 {
		if i.Src[j] == isa.OperandNone {
			return 0
		}
		return w.lanes(s, i.Src[j], int(i.SrcWords[j]), false)
	}
	switch i.Enc {
	case isa.EncDS:
		return at(0), at(1) | at(2)
	case isa.EncMUBUF, isa.EncMTBUF:
		return at(0) | at(1) | at(2), w.lanes(s, i.Dst, int(i.DstWords), false)
	}
	return at(0) | at(2), at(1)
}

func (g *groupTaint) scalarMemory(w *waveTaint, s *exec.Step, f *opFacts) {
	i := s.Inst
	if w.scalarBits(i.Src[0], int(i.SrcWords[0]))|w.scalarBits(i.Src[1], 1) != 0 {
		g.reached(sinkAddress, s)
	}
	data := w.scalarBits(i.Dst, int(i.DstWords))
	var found bool
	for _, t := range s.Touches {
		switch {
		case f.store:
			g.mark(w, t, data != 0)
		default:
			found = found || g.marked(w, t)
		}
	}
	if f.atomic && data != 0 {
		g.reached(sinkSync, s)
	}
	if f.store || !i.Dst.IsScalar() {
		return
	}
	var m uint64
	if found {
		m = ^uint64(0)
	}
	w.setScalar(i.Dst, int(i.DstWords), m)
}

func (g *groupTaint) marked(w *waveTaint, t exec.Touch) bool {
	switch t.Space {
	case exec.SpaceLDS:
		return g.lds.marked(t.Addr, t.Bytes)
	case exec.SpacePrivate:
		for a := t.Addr / 4; a*4 < t.Addr+uint64(t.Bytes); a++ {
			if w.private[a]>>t.Lane&1 != 0 {
				return true
			}
		}
		return false
	}
	return g.f.global.marked(t.Addr, t.Bytes)
}

func (g *groupTaint) mark(w *waveTaint, t exec.Touch, on bool) {
	switch t.Space {
	case exec.SpaceLDS:
		g.lds.mark(t.Addr, t.Bytes, on)
	case exec.SpacePrivate:
		if w.private == nil {
			if !on {
				return
			}
			w.private = map[uint64]uint64{}
		}
		for a := t.Addr / 4; a*4 < t.Addr+uint64(t.Bytes); a++ {
			if on {
				w.private[a] |= 1 << t.Lane
			} else if a*4 >= t.Addr && a*4+4 <= t.Addr+uint64(t.Bytes) {
				w.private[a] &^= 1 << t.Lane
			}
		}
	default:
		g.f.global.mark(t.Addr, t.Bytes, on)
	}
}
