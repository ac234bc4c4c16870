package check

import (
	"strings"
	"sync"

	"gfxrt/sim/exec"
	"gfxrt/sim/isa"
)

// opKind is how an instruction moves marks.
type opKind uint8

const (
	opOther   opKind = iota // nothing that matters here: waits, hints, barriers
	opVector                // lanes to lanes
	opScalar                // scalar ALU
	opBranch                // condition or target of a branch
	opMemory                // has addresses
	opMessage               // s_sendmsg: reads M0
)

// opFacts is what decides about one opcode.
type opFacts struct {
	kind      opKind
	effect    exec.Effect
	cross     bool // lanes read other lanes
	movRel    bool // a register chosen by M0
	bitwise   bool // scalar: bit i of the result comes from bit i of the sources
	saveExec  bool
	readsSCC  bool
	writesSCC bool
	readsVCC  bool // without naming it
	reads     branchReads
	atomic    bool
	store     bool
	toLDS     bool
}

// branchReads is what a conditional branch depends on.
type branchReads uint8

const (
	readsNothing branchReads = iota
	readsBranchSCC
	readsBranchVCC
	readsBranchExec
	readsTarget // an address in SGPRs
)

// facts is opFacts by opcode.
var facts = sync.OnceValue(func() *[isa.NumOps]opFacts {
	var t [isa.NumOps]opFacts
	for op := isa.Op(1); op < isa.NumOps; op++ {
		t[op] = factsOf(op)
	}
	return &t
})

func factsOf(op isa.Op) (f opFacts) {
	name := op.String()
	family, rest, _ := strings.Cut(name, "_")
	switch family {
	case "v":
		f.kind = opVector
		f.effect, _ = exec.EffectOf(op)
		f.cross = f.effect.Cross || hasAny(rest, "permlane", "readlane", "writelane", "readfirstlane", "movrel", "swaprel")
		f.movRel = hasAny(rest, "movrel", "swaprel")
		f.readsVCC = strings.HasPrefix(rest, "div_fmas")
	case "s":
		return scalarFacts(rest)
	case "ds":
		f.kind = opMemory
		if hasAny(rest, "permute", "swizzle") {
			f.kind, f.cross = opVector, true
			break
		}
		f.store = hasAny(rest, "write", "store")
		f.atomic = !f.store && !hasAny(rest, "read", "load", "nop")
	case "flat", "global", "scratch", "buffer", "tbuffer", "cluster", "tensor":
		f.kind = opMemory
		f.store = strings.HasPrefix(rest, "store")
		f.atomic = strings.Contains(rest, "atomic")
		f.toLDS = strings.Contains(rest, "lds")
	}
	return f
}

func hasAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// scalarFacts describes s_NAME.
func scalarFacts(name string) (f opFacts) {
	switch {
	case strings.HasPrefix(name, "cbranch_scc"):
		return opFacts{kind: opBranch, reads: readsBranchSCC}
	case strings.HasPrefix(name, "cbranch_vcc"):
		return opFacts{kind: opBranch, reads: readsBranchVCC}
	case strings.HasPrefix(name, "cbranch_exec"):
		return opFacts{kind: opBranch, reads: readsBranchExec}
	case hasAny(name, "setpc", "swappc", "swap_pc", "set_pc", "cbranch_i_fork", "cbranch_g_fork", "cbranch_join"):
		return opFacts{kind: opBranch, reads: readsTarget}
	case strings.HasPrefix(name, "sendmsg"):
		return opFacts{kind: opMessage}
	case hasAny(name, "load_", "store_", "buffer_", "atomic_", "scratch_"):
		return opFacts{kind: opMemory, atomic: strings.Contains(name, "atomic"), store: strings.Contains(name, "store_")}
	case hasAny(name, "waitcnt", "wait_", "nop", "barrier", "sleep", "endpgm", "branch", "setprio", "code_end", "clause", "delay",
		"trap", "icache", "dcache", "prefetch", "ttrace", "round_mode", "denorm_mode", "version", "inst_prefetch", "getpc", "get_pc",
		"memtime", "memrealtime", "sethalt", "decperf", "incperf", "setreg", "getreg"):
		return f
	}
	f.kind = opScalar
	f.saveExec = strings.Contains(name, "saveexec") || strings.Contains(name, "wrexec")
	f.readsSCC = hasAny(name, "cselect", "cmov", "addc_", "subb_", "add_co_ci", "sub_co_ci")
	f.bitwise = f.saveExec || hasAny(name, "and_", "or_", "xor_", "andn", "orn", "nand", "nor_", "xnor", "not_", "mov_", "wqm", "cselect", "cmov")
	f.writesSCC = !(hasAny(name, "mov", "cselect", "mul_", "bfm", "pack", "brev", "ff0", "ff1", "flbit", "clz", "ctz", "cls", "sext", "bitset",
		"bitreplicate", "quadmask", "cvt_", "_f16", "_f32", "ceil", "floor", "trunc", "rndne") && !strings.HasPrefix(name, "cmp"))
	return f
}

// waveTaint marks what may hold an approximate result in one wave.
type waveTaint struct {
	v       [1024]uint64 // VGPRs, then AccVGPRs from the step's Acc on: lanes
	s       [isa.OperandInt]uint32
	scc     bool
	private map[uint64]uint64 // lanes by dword
	dirty   bool              // something was ever marked
}

// groupTaint is the Probe of one work-group.
type groupTaint struct {
	f      *Fidelity
	kernel uint64
	waves  []*waveTaint
	lds    shadow
	allLDS bool // marks went where nobody follows them
}

func (g *groupTaint) wave(s *exec.Step) *waveTaint {
	for len(g.waves) <= s.Wave {
		g.waves = append(g.waves, &waveTaint{})
	}
	w := g.waves[s.Wave]
	if s.First && w.dirty {
		*w = waveTaint{}
	}
	return w
}

// Step counts the instruction and moves the marks.
func (g *groupTaint) Step(s *exec.Step) {
	if s.Inst == nil {
		g.f.other.Add(1)
		return
	}
	i := s.Inst
	if s.Refused {
		g.f.refused[i.Op].Add(1)
		return
	}
	if s.Faulted {
		return
	}
	g.f.counts[i.Op].Add(1)
	if i.OpY != isa.OpInvalid {
		g.f.counts[i.OpY].Add(1)
	}
	w := g.wave(s)
	f := &facts()[i.Op]
	if !w.dirty && !f.effect.Approx && !(f.kind == opMemory && g.memoryMarked()) && (i.OpY == isa.OpInvalid || !facts()[i.OpY].effect.Approx) {
		return
	}
	switch f.kind {
	case opVector:
		g.vector(w, s, f)
	case opScalar:
		g.scalar(w, s, f)
	case opBranch:
		if w.branches(i, f.reads) {
			g.reached(sinkBranch, s)
		}
		if i.Dst.IsScalar() {
			w.setScalar(i.Dst, int(i.DstWords), 0)
		}
	case opMessage:
		if w.s[isa.OperandM0] != 0 {
			g.reached(sinkSync, s)
		}
	case opMemory:
		g.memory(w, s, f)
	}
}

// memoryMarked reports whether a load may find a mark.
func (g *groupTaint) memoryMarked() bool {
	return g.allLDS || g.f.global.any.Load() || g.lds.any.Load()
}

func (g *groupTaint) reached(k sink, s *exec.Step) {
	g.f.hit(k, place{g.kernel, s.PC, s.Inst.Op})
}

// branches reports whether the branch i depends on a mark.
func (w *waveTaint) branches(i *isa.Inst, r branchReads) bool {
	switch r {
	case readsBranchSCC:
		return w.scc
	case readsBranchVCC:
		return w.s[isa.OperandVCCLo]|w.s[isa.OperandVCCHi] != 0
	case readsBranchExec:
		return w.s[isa.OperandExecLo]|w.s[isa.OperandExecHi] != 0
	case readsTarget:
		return w.scalarBits(i.Src[0], 2) != 0
	}
	return false
}

// scalarBits are the marks of a scalar operand, one bit for each of its bits.
func (w *waveTaint) scalarBits(o isa.Operand, words int) uint64 {
	switch {
	case o == isa.OperandSCC && w.scc:
		return ^uint64(0)
	case !o.IsScalar() || o == isa.OperandNull:
		return 0
	}
	m := uint64(w.s[o])
	if words > 1 && o+1 < isa.OperandInt {
		m |= uint64(w.s[o+1]) << 32
	}
	for k := 2; k < words && o+isa.Operand(k) < isa.OperandInt; k++ {
		if w.s[o+isa.Operand(k)] != 0 {
			m = ^uint64(0)
		}
	}
	return m
}

func (w *waveTaint) setScalar(o isa.Operand, words int, m uint64) {
	for k := range max(words, 1) {
		if r := o + isa.Operand(k); r.IsScalar() && r != isa.OperandNull {
			x := uint32(m)
			if k&1 == 1 {
				x = uint32(m >> 32)
			}
			w.s[r] = x
			w.dirty = w.dirty || x != 0
		}
	}
}

// whole spreads a mark to all bits: of arithmetic any input bit can reach any
// output bit.
func whole(m uint64) uint64 {
	if m != 0 {
		return ^uint64(0)
	}
	return 0
}

func (g *groupTaint) scalar(w *waveTaint, s *exec.Step, f *opFacts) {
	i := s.Inst
	var m uint64
	for j, o := range i.Src {
		m |= w.scalarBits(o, int(i.SrcWords[j]))
	}
	if i.Enc == isa.EncSOPK || f.readsSCC && w.scc {
		m |= w.scalarBits(i.Dst, int(i.DstWords))
		if f.readsSCC && w.scc {
			m = ^uint64(0)
		}
	}
	if !f.bitwise {
		m = whole(m)
	}
	if f.saveExec {
		old := w.scalarBits(isa.OperandExecLo, 2)
		w.setScalar(i.Dst, int(i.DstWords), old)
		w.setScalar(isa.OperandExecLo, s.Lanes/32, m|old)
		w.scc = m|old != 0
		g.execReached(s, m)
		return
	}
	if i.Dst.IsScalar() {
		w.setScalar(i.Dst, int(i.DstWords), m)
		if i.Dst == isa.OperandExecLo {
			g.execReached(s, m)
		}
	}
	if f.writesSCC {
		w.scc = m != 0
		w.dirty = w.dirty || w.scc
	}
}

// execReached: lanes that a mask switches on and off took a branch.
func (g *groupTaint) execReached(s *exec.Step, m uint64) {
	if m != 0 {
		g.reached(sinkBranch, s)
	}
}
