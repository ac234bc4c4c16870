package exec

import (
	"fmt"
	"math/bits"
	"strings"
	"sync/atomic"

	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// Observer watches a launch. It is chosen before the launch; waves of a
// launch without one run a loop that knows nothing of it.
type Observer struct {
	// Want selects the waves to report; nil means all.
	Want func(group [3]uint32, wave int) bool
	// Step, when not nil, is called after each instruction, from the goroutine
	// that runs the wave: calls for different groups may overlap.
	Step func(TraceEvent)
	// Probe, when not nil, makes what follows all waves of a group; Want does
	// not apply to it.
	Probe ProbeFunc
}

// TraceEvent is one executed instruction.
type TraceEvent struct {
	Group  [3]uint32
	Wave   int
	PC     uint64
	Text   string // disassembly
	Exec   uint64 // EXEC before the instruction
	Writes []RegWrite
}

// RegWrite is one register the instruction wrote: its destinations, and what
// else changed.
type RegWrite struct {
	Name   string   // "v3", "s4", "vcc_lo", "exec_hi", "scc", "a0"
	Lanes  uint64   // vector registers: lanes that were written; 0 for scalars
	Values []uint32 // vector: 64 values; scalar: one or two dwords
}

// runObserved is run with a report after each instruction.
func (w *Wave) runObserved(budget int) int {
	o := w.m.observe
	trace := o.Step != nil && (o.Want == nil || o.Want(w.m.group, w.index))
	probe := w.m.probe
	if !trace && probe == nil {
		return w.run(budget)
	}
	done := 0
	for done < budget && w.state == running {
		prog, pc := w.prog, w.pc
		if pc >= windowInsts {
			w.jump(prog.base + uint64(pc)*4)
			continue
		}
		in := &prog.insts[pc]
		if atomic.LoadUint32(&in.form) == formUndecoded {
			w.m.cache.decode(prog, pc)
		}
		var snap snapshot
		if trace {
			snap = w.snapshot(in)
		}
		va, exec := prog.base+uint64(pc)*4, w.exec()
		if probe != nil {
			w.beforeStep(in, va)
		}
		w.run(1)
		done++
		if probe != nil {
			w.afterStep()
			probe.Step(&w.tmp.step)
		}
		if trace {
			w.reportStep(in, va, exec, &snap)
		}
	}
	return done
}

func (w *Wave) reportStep(in *inst, va, exec uint64, snap *snapshot) {
	ev := TraceEvent{Group: w.m.group, Wave: w.index, PC: va, Exec: exec, Text: "not an instruction"}
	if in.decoded() {
		ev.Text = w.m.target.Decoder.Format(in.i, va)
	}
	ev.Writes = w.changes(snap, exec)
	w.m.observe.Step(ev)
}

// snapshot holds the registers an instruction may write. The scalar
// destinations are those from first on, of which there are words.
type snapshot struct {
	s            [isa.OperandInt]uint32
	scc          uint32
	rows         []lane.Row
	at           []isa.Operand
	first, words int
}

// writesDst reports whether the destination field of in is written: it names
// the data of stores and the compared register of s_cmpk too.
func (in *inst) writesDst() bool {
	if m := in.m; m != nil && (m.kind == memStore || m.kind == memFromLDS || m.kind == memAtomic && !m.ret) {
		return false
	}
	return !strings.HasPrefix(in.i.Op.String(), "s_cmpk_")
}

func (w *Wave) snapshot(in *inst) snapshot {
	s := snapshot{scc: w.scc}
	copy(s.s[:], w.S[:isa.OperandInt])
	if !in.decoded() || !in.fits(w) || !in.writesDst() {
		return s
	}
	if o := in.i.Dst; o.IsScalar() {
		s.first, s.words = int(o), max(int(in.i.DstWords), 1)
	}
	if o := in.i.Dst; o.IsVGPR() || o.IsAGPR() {
		for k := range max(int(in.i.DstWords), 1) {
			s.at = append(s.at, o+isa.Operand(k))
			s.rows = append(s.rows, *w.row(o + isa.Operand(k)))
		}
	}
	return s
}

// changes lists the registers that were written since the snapshot, with the
// lanes exec of vector destinations.
func (w *Wave) changes(s *snapshot, exec uint64) []RegWrite {
	var out []RegWrite
	for k, o := range s.at {
		r := w.row(o)
		m := exec
		for l := range r { // v_writelane and matrix instructions ignore EXEC
			if r[l] != s.rows[k][l] {
				m |= 1 << l
			}
		}
		if m != 0 {
			name := fmt.Sprintf("v%d", o-isa.OperandVGPR)
			if o.IsAGPR() {
				name = fmt.Sprintf("a%d", o-isa.OperandAGPR)
			}
			out = append(out, RegWrite{Name: name, Lanes: m, Values: append([]uint32(nil), r[:]...)})
		}
	}
	for o := range s.s {
		if w.S[o] != s.s[o] || o >= s.first && o < s.first+s.words {
			out = append(out, RegWrite{Name: scalarName(isa.Operand(o)), Values: []uint32{w.S[o]}})
		}
	}
	if w.scc != s.scc {
		out = append(out, RegWrite{Name: "scc", Values: []uint32{w.scc}})
	}
	return out
}

var scalarNames = map[isa.Operand]string{
	isa.OperandFlatScratchLo: "flat_scratch_lo", isa.OperandFlatScratchLo + 1: "flat_scratch_hi",
	isa.OperandXnackMaskLo: "xnack_mask_lo", isa.OperandXnackMaskLo + 1: "xnack_mask_hi",
	isa.OperandVCCLo: "vcc_lo", isa.OperandVCCHi: "vcc_hi", isa.OperandM0: "m0",
	isa.OperandExecLo: "exec_lo", isa.OperandExecHi: "exec_hi", isa.OperandNull: "null",
}

func scalarName(o isa.Operand) string {
	if n := scalarNames[o]; n != "" {
		return n
	}
	if o >= isa.OperandTTMP && o < isa.OperandM0 {
		return fmt.Sprintf("ttmp%d", o-isa.OperandTTMP)
	}
	return fmt.Sprintf("s%d", o)
}

// String prints the event as a trace line.
func (e TraceEvent) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d,%d,%d/%d %#x: %s", e.Group[0], e.Group[1], e.Group[2], e.Wave, e.PC, e.Text)
	for _, r := range e.Writes {
		if r.Lanes == 0 {
			fmt.Fprintf(&b, "  %s=%#x", r.Name, r.Values[0])
			continue
		}
		fmt.Fprintf(&b, "  %s=", r.Name)
		writeLanes(&b, r)
	}
	return b.String()
}

// writeLanes prints changed lanes, runs of equal values folded.
func writeLanes(b *strings.Builder, r RegWrite) {
	first := bits.TrailingZeros64(r.Lanes)
	same := true
	for m := r.Lanes; m != 0; m &= m - 1 {
		if r.Values[bits.TrailingZeros64(m)] != r.Values[first] {
			same = false
			break
		}
	}
	if same {
		fmt.Fprintf(b, "%#x(%d lanes)", r.Values[first], bits.OnesCount64(r.Lanes))
		return
	}
	b.WriteByte('[')
	sep := ""
	for m := r.Lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m)
		fmt.Fprintf(b, "%s%d:%#x", sep, l, r.Values[l])
		sep = " "
	}
	b.WriteByte(']')
}
