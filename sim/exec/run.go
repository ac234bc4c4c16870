package exec

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"gfxrt/runtime/device"
	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// run executes up to budget instructions, until the wave ends, faults, waits
// or yields. It returns how many it executed.
//
// pc and prog live in locals; an instruction that runs through inst.run finds
// them in the wave, and may change them there.
func (w *Wave) run(budget int) int {
	left := budget
	prog, pc := w.prog, w.pc
loop:
	for left > 0 {
		if pc >= windowInsts {
			w.at = windowInsts - 1
			w.jump(prog.base + uint64(pc)*4)
			prog, pc = w.prog, w.pc
		}
		in := &prog.insts[pc]
		f := atomic.LoadUint32(&in.form)
		if f < formV1 {
			if f == formUndecoded {
				if !w.m.cache.decode(prog, pc) {
					w.at = pc
					w.fetchFault()
					break
				}
				continue
			}
			left--
			if f == formNop {
				pc += uint32(in.size)
				continue
			}
			w.at, w.pc = pc, pc+uint32(in.size)
			in.run(w, in)
			if w.state != running {
				break
			}
			prog, pc = w.prog, w.pc
			continue
		}
		left--
		if uint32(in.maxV) > w.limit {
			w.at, w.pc = pc, pc+uint32(in.size)
			if !w.reachSlow(in) {
				if w.state != running {
					break
				}
				pc += uint32(in.size)
				continue
			}
			if w.gprIdx {
				f = formVFull
			}
		}
		fn := in.fn
		if w.general != 0 {
			fn = in.anyMode
		}
		d := (*lane.Row)(unsafe.Add(unsafe.Pointer(w.v), uintptr(in.dstOff)))
		switch f {
		case formV1:
			fn(d, w.rows(&in.src[0]), nil, nil, w.exec(), &w.env)
		case formV2:
			fn(d, w.rows(&in.src[0]), w.rows(&in.src[1]), nil, w.exec(), &w.env)
		case formV3:
			fn(d, w.rows(&in.src[0]), w.rows(&in.src[1]), w.rows(&in.src[2]), w.exec(), &w.env)
		case formVAcc:
			fn(d, w.rows(&in.src[0]), w.rows(&in.src[1]), d, w.exec(), &w.env)
		case formVCmp:
			w.setS64(in.dst, in.cmp[w.general&1](w.rows(&in.src[0]), w.rows(&in.src[1]), w.exec(), &w.env))
		case formVMask:
			w.env.CarryIn = w.pair(in.i.Src[2])
			fn(d, w.rows(&in.src[0]), w.rows(&in.src[1]), nil, w.exec(), &w.env)
		case formVCarry:
			w.carry(in, fn, d)
		case formVVCC:
			w.env.CarryIn = w.vcc()
			fn(d, w.rows(&in.src[0]), w.rows(&in.src[1]), w.rows(&in.src[2]), w.exec(), &w.env)
		case formVSigned:
			w.signed(in, fn, d)
		case formVPacked:
			e, sel := &w.env, &in.sel
			e.OpSel, e.OpSelHi, e.NegLo, e.NegHi, e.Abs, e.Clamp = sel.opSel, sel.opSelHi, sel.negLo, sel.negHi, sel.abs, sel.clamp
			fn(d, w.rows(&in.src[0]), w.rows(&in.src[1]), w.rows(&in.src[2]), w.exec(), e)
			e.Clamp = false
		default:
			w.at, w.pc = pc, pc+uint32(in.size)
			w.vfull(in)
			if w.state != running {
				break loop
			}
		}
		pc += uint32(in.size)
	}
	if w.state == running {
		w.prog, w.pc = prog, pc
	}
	w.executed += uint64(budget - left)
	return budget - left
}

// signed executes an instruction with abs or neg on some sources.
func (w *Wave) signed(in *inst, fn lane.Fn, d *lane.Row) {
	var p [3]*lane.Row
	neg, abs := in.sel.negLo, in.sel.abs
	for j := range p {
		s := &in.src[j]
		p[j] = w.rows(s)
		if (neg|abs)>>j&1 != 0 {
			t := &w.tmp.src[j][0]
			lane.ApplyNegAbs(t, p[j], s.typ, neg>>j&1 != 0, abs>>j&1 != 0)
			p[j] = t
		}
	}
	if in.k.DstIsSrc {
		p[2] = d
	}
	fn(d, p[0], p[1], p[2], w.exec(), &w.env)
}

// carry executes an instruction that writes a carry mask, and may read one.
func (w *Wave) carry(in *inst, fn lane.Fn, d *lane.Row) {
	if in.k.CarryIn {
		w.env.CarryIn = w.pair(in.i.Src[2])
	}
	var c *lane.Row
	if in.nsrc == 3 {
		c = w.rows(&in.src[2])
	}
	w.env.CarryOut = 0
	fn(d, w.rows(&in.src[0]), w.rows(&in.src[1]), c, w.exec(), &w.env)
	w.setS64(in.i.SDst, w.env.CarryOut)
}

// reachSlow decides about a vector instruction whose registers are not
// plainly within the limit: it reports whether to execute it.
func (w *Wave) reachSlow(in *inst) bool {
	if w.vskip {
		return false
	}
	if in.fits(w) {
		return true
	}
	w.illegal(in, "an operand reaches VGPR %d or AccVGPR %d; the wave has %d and %d", max(in.maxV&^accBit, 1)-1, max(in.maxA, 1)-1, w.nv, w.na)
	return false
}

// reaches is the check for instructions executed through inst.run.
func (w *Wave) reaches(in *inst) bool {
	if uint32(in.maxV) <= w.limit {
		return true
	}
	return w.reachSlow(in)
}

// setLimit recomputes limit after gprIdx or vskip changed.
func (w *Wave) setLimit() {
	w.limit = w.nv
	if w.gprIdx || w.vskip {
		w.limit = 0
	}
}

// jump continues at the code address va.
func (w *Wave) jump(va uint64) {
	if va&3 != 0 {
		w.setFault(device.FaultMemory, -1, va, fmt.Sprintf("jump to %#x, which is not a multiple of 4", va))
		return
	}
	if w.prog == nil || va-w.prog.base >= windowBytes {
		w.prog = w.m.cache.window(va)
	}
	w.pc = uint32(va-w.prog.base) / 4
}

// pcAddr is the address of the next instruction.
func (w *Wave) pcAddr() uint64 { return w.prog.base + uint64(w.pc)*4 }

// atAddr is the address of the instruction being executed. After a taken
// branch it is only meaningful for that instruction's own faults.
func (w *Wave) atAddr() uint64 { return w.prog.base + uint64(w.at)*4 }

// setFault stops the wave. The first fault stays.
func (w *Wave) setFault(kind device.FaultKind, lane int, addr uint64, reason string) {
	if w.state == faulted {
		return
	}
	w.state = faulted
	w.fault = &device.Fault{
		Kind: kind, Reason: reason, KernelObject: w.m.kobj, Group: w.m.group,
		Wave: w.index, Lane: lane, PC: w.atAddr(), Addr: addr,
	}
	if in := &w.prog.insts[w.at]; in.decoded() {
		w.fault.Instruction = w.m.target.Decoder.Format(in.i, w.fault.PC)
	}
}

func (w *Wave) illegal(in *inst, format string, args ...any) {
	w.setFault(device.FaultIllegal, -1, 0, fmt.Sprintf(format, args...))
}

func runIllegal(w *Wave, in *inst) {
	w.setFault(device.FaultIllegal, -1, 0, in.err.Error())
}

func runUnimplemented(w *Wave, in *inst) {
	w.setFault(device.FaultUnimplemented, -1, 0, fmt.Sprintf("%s has no implementation for %s", in.i.Op, w.m.target.Name))
}

func (w *Wave) fetchFault() {
	va := w.atAddr()
	w.setFault(device.FaultMemory, -1, va, fmt.Sprintf("instruction fetch from %#x: %s", va, w.m.space.Describe(va)))
}

// branch continues n dwords after the next instruction.
func (w *Wave) branch(n int64) {
	if t := int64(w.pc) + n; t >= 0 && t < windowInsts {
		w.pc = uint32(t)
		return
	}
	w.jump(w.pcAddr() + uint64(n*4))
}

func (w *Wave) branchIf(cond bool, in *inst) {
	if cond {
		w.branch(int64(int16(in.i.Imm)))
	}
}

// special holds the instructions that touch control flow, wave state, or
// lanes in ways no lane kernel does. It is filled by init functions so that
// the tables can refer to functions that refer to it.
var special [isa.NumOps]func(w *Wave, in *inst)
