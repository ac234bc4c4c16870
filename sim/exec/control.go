package exec

import (
	"fmt"
	"math/bits"

	"gfxrt/runtime/device"
	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

func nop(*Wave, *inst) {}

// nops are the instructions that need nothing done in a simulator that
// executes in order over coherent memory.
var nops = [isa.NumOps]bool{
	isa.SNop: true, isa.SWaitcnt: true, isa.SSetprio: true, isa.SWakeup: true, isa.SIncperflevel: true,
	isa.SDecperflevel: true, isa.STtracedata: true, isa.VNop: true, isa.VClrexcp: true,
	// The conditional debug branches test COND_DBG_SYS and _USER, which only
	// a debugger sets.
	isa.SCbranchCdbgsys: true, isa.SCbranchCdbguser: true, isa.SCbranchCdbgsysOrUser: true, isa.SCbranchCdbgsysAndUser: true,
}

func init() {
	for op, f := range map[isa.Op]func(w *Wave, in *inst){
		isa.SBranch:        func(w *Wave, in *inst) { w.branch(int64(int16(in.i.Imm))) },
		isa.SCbranchScc0:   func(w *Wave, in *inst) { w.branchIf(w.scc == 0, in) },
		isa.SCbranchScc1:   func(w *Wave, in *inst) { w.branchIf(w.scc != 0, in) },
		isa.SCbranchVccz:   func(w *Wave, in *inst) { w.branchIf(w.vcc() == 0, in) },
		isa.SCbranchVccnz:  func(w *Wave, in *inst) { w.branchIf(w.vcc() != 0, in) },
		isa.SCbranchExecz:  func(w *Wave, in *inst) { w.branchIf(w.exec() == 0, in) },
		isa.SCbranchExecnz: func(w *Wave, in *inst) { w.branchIf(w.exec() != 0, in) },
		isa.SGetpcB64:      func(w *Wave, in *inst) { w.setS64(in.dst, w.pcAddr()) },
		isa.SSetpcB64:      func(w *Wave, in *inst) { w.jump(w.src64(in, 0)) },
		isa.SSwappcB64: func(w *Wave, in *inst) {
			to := w.src64(in, 0)
			w.setS64(in.dst, w.pcAddr())
			w.jump(to)
		},
		isa.SCallB64: func(w *Wave, in *inst) {
			w.setS64(in.dst, w.pcAddr())
			w.branch(int64(int16(in.i.Imm)))
		},
		isa.SCbranchGFork: func(w *Wave, in *inst) { w.fork(w.src64(in, 0), w.src64(in, 1)) },
		isa.SCbranchIFork: func(w *Wave, in *inst) {
			w.fork(w.pair(in.dst), w.pcAddr()+uint64(int64(int16(in.i.Imm))*4))
		},
		isa.SCbranchJoin:         join,
		isa.SEndpgm:              end,
		isa.SEndpgmSaved:         end,
		isa.SEndpgmOrderedPsDone: end,
		isa.SBarrier:             func(w *Wave, in *inst) { w.state = atBarrier },
		isa.SSleep:               func(w *Wave, in *inst) { w.state = yielded },
		isa.STrap:                trap,
		isa.SSethalt:             sethalt,
		isa.SSendmsg:             sendmsg,
		isa.SSendmsghalt:         func(w *Wave, in *inst) { sendmsg(w, in); sethaltNow(w) },
		isa.SIcacheInv:           func(w *Wave, in *inst) { w.m.cache.invalidate(0, ^uint64(0)); w.jump(w.pcAddr()) },
		isa.SRfeB64:              privileged,
		isa.SRfeRestoreB64:       privileged,
		isa.SGetregB32:           func(w *Wave, in *inst) { w.setS(in.dst, w.getreg(in)) },
		isa.SSetregB32:           func(w *Wave, in *inst) { w.setreg(in, w.src32(in, 0)) },
		isa.SSetregImm32B32:      func(w *Wave, in *inst) { w.setreg(in, uint32(in.i.Literal)) },
		isa.SMovrelsB32:          func(w *Wave, in *inst) { movrel(w, in, 1, false) },
		isa.SMovrelsB64:          func(w *Wave, in *inst) { movrel(w, in, 2, false) },
		isa.SMovreldB32:          func(w *Wave, in *inst) { movrel(w, in, 1, true) },
		isa.SMovreldB64:          func(w *Wave, in *inst) { movrel(w, in, 2, true) },
		isa.SSetvskip: func(w *Wave, in *inst) {
			w.vskip = w.src32(in, 0)>>(w.src32(in, 1)&31)&1 != 0
			w.setLimit()
		},
		isa.SSetGprIdxOn: func(w *Wave, in *inst) {
			m0 := &w.S[isa.OperandM0]
			*m0 = *m0&^0xf0ff | w.src32(in, 0)&0xff | uint32(in.i.Imm)&0xf<<12
			w.gprIdx = true
			w.setLimit()
		},
		isa.SSetGprIdxOff: func(w *Wave, in *inst) {
			w.gprIdx = false
			w.setLimit()
		},
		isa.SSetGprIdxMode: func(w *Wave, in *inst) {
			m0 := &w.S[isa.OperandM0]
			*m0 = *m0&^0xf000 | uint32(in.i.Imm)&0xf<<12
		},
		isa.SSetGprIdxIdx: func(w *Wave, in *inst) {
			m0 := &w.S[isa.OperandM0]
			*m0 = *m0&^0xff | w.src32(in, 0)&0xff
		},
		isa.SSetkill: func(w *Wave, in *inst) {
			if in.i.Imm&1 != 0 {
				w.state = ended
			}
		},
	} {
		special[op] = f
	}
}

func end(w *Wave, _ *inst) { w.state = ended }

// csp is the control-flow stack pointer, MODE[31:29]; the stack of 4-dword
// entries {PC, EXEC} starts at s0 (Vega ISA, S_CBRANCH_G_FORK).
func (w *Wave) csp() uint32     { return w.mode >> 29 }
func (w *Wave) setCSP(n uint32) { w.setMode(w.mode&^(7<<29) | n<<29) }

// fork takes the side of a divergent branch with fewer lanes first and
// pushes the other.
func (w *Wave) fork(mask, target uint64) {
	exec := w.exec()
	pass, fail := mask&exec, exec&^mask
	switch {
	case pass == exec:
		w.jump(target)
		return
	case fail == exec:
		return
	}
	n := w.csp()
	push := func(pc, ex uint64) {
		base := isa.Operand(n * 4)
		w.setS64(base, pc)
		w.setS64(base+2, ex)
		w.setCSP(n + 1)
	}
	if bits.OnesCount64(fail) < bits.OnesCount64(pass) {
		push(target, pass)
		w.setExec(fail)
		return
	}
	push(w.pcAddr(), fail)
	w.setExec(pass)
	w.jump(target)
}

// join pops the other side of a fork, or goes on when both were done.
func join(w *Wave, in *inst) {
	n := w.csp()
	if n == w.src32(in, 0) {
		return
	}
	n = (n - 1) & 7
	w.setCSP(n)
	base := isa.Operand(n * 4)
	w.setExec(w.pair(base + 2))
	w.jump(w.pair(base))
}

// trap handles s_trap as the HSA trap handler does (LLVM AMDGPUUsage, Trap
// Handler ABI): 2 aborts the queue, 1 and 3 are for debuggers.
func trap(w *Wave, in *inst) {
	switch id := in.i.Imm & 0xff; id {
	case 1, 3:
	case 2:
		w.setFault(device.FaultTrap, -1, 0, "the kernel executed s_trap 2 (abort, failed assert or __builtin_trap)")
	default:
		w.setFault(device.FaultTrap, -1, 0, fmt.Sprintf("the kernel executed s_trap %d", id))
	}
}

func sethalt(w *Wave, in *inst) {
	if in.i.Imm&1 != 0 {
		sethaltNow(w)
	}
}

func sethaltNow(w *Wave) {
	w.setFault(device.FaultHalted, -1, 0, "the wave halted itself and there is no debugger to resume it")
}

func privileged(w *Wave, in *inst) {
	w.illegal(in, "%s is only legal in a trap handler", in.i.Op)
}

// Message ids of s_sendmsg on gfx9 (abi.md C.8).
const (
	msgInterrupt = 1
	msgHalt      = 15
)

func sendmsg(w *Wave, in *inst) {
	switch id := in.i.Imm & 0xf; id {
	case msgInterrupt:
		if w.m.message != nil {
			w.m.message(uint32(id), w.S[isa.OperandM0])
		}
	default:
		w.setFault(device.FaultUnimplemented, -1, 0, fmt.Sprintf("s_sendmsg message %d is not for compute waves", id))
	}
}

// movrel moves SGPRs at an M0-relative index.
func movrel(w *Wave, in *inst, n int, dst bool) {
	from, to := in.i.Src[0], in.dst
	rel := &from
	if dst {
		rel = &to
	}
	if !rel.IsScalar() {
		w.illegal(in, "%s needs a scalar register", in.i.Op)
		return
	}
	idx := uint64(*rel) + uint64(w.S[isa.OperandM0])
	if idx+uint64(n) > uint64(isa.OperandFlatScratchLo) {
		w.illegal(in, "SGPR index %d (M0 %d) is beyond the 102 SGPRs", idx, w.S[isa.OperandM0])
		return
	}
	*rel = isa.Operand(idx)
	if n == 1 {
		w.setS(to, w.s32(from, in.i.Literal))
		return
	}
	w.setS64(to, w.s64(from, in.i.Literal, 0))
}

// Hardware register ids of s_getreg and s_setreg (abi.md C.8).
const (
	hwMode     = 1
	hwStatus   = 2
	hwTrapSts  = 3
	hwHWID     = 4
	hwGPRAlloc = 5
	hwLDSAlloc = 6
	hwIBSts    = 7
	hwShMem    = 15
	hwXCCID    = 20
)

func hwField(imm uint16) (id, off, width uint32) {
	return uint32(imm & 63), uint32(imm >> 6 & 31), uint32(imm>>11&31) + 1
}

func (w *Wave) getreg(in *inst) uint32 {
	id, off, width := hwField(in.i.Imm)
	var v uint32
	switch id {
	case hwMode:
		v = w.modeRegister()
	case hwStatus:
		v = w.statusRegister()
	case hwTrapSts:
		v = w.trapStatus
	case hwHWID:
		v = uint32(w.index)&0xf | uint32(w.index)>>4&3<<4
	case hwGPRAlloc:
		v = (max(w.nv, 1)-1)/uint32(w.m.target.VGPRGranule)<<8 | 0x0f<<24
	case hwLDSAlloc:
		v = uint32(len(w.m.lds)) / 256 << 12
	case hwIBSts, hwXCCID:
	case hwShMem:
		v = uint32(PrivateBase>>48) | uint32(SharedBase>>48)<<16
	default:
		w.setFault(device.FaultUnimplemented, -1, 0, fmt.Sprintf("hardware register %d cannot be read", id))
	}
	return uint32(bfeU(uint64(v), off, width, 32))
}

func (w *Wave) setreg(in *inst, x uint32) {
	id, off, width := hwField(in.i.Imm)
	mask := uint32(uint64(1)<<width-1) << off
	put := func(old uint32) uint32 { return old&^mask | x<<off&mask }
	switch id {
	case hwMode:
		m := put(w.modeRegister())
		w.setMode(m &^ (1<<27 | 1<<28))
		w.gprIdx, w.vskip = m>>27&1 != 0, m>>28&1 != 0
		w.setLimit()
	case hwTrapSts:
		w.trapStatus = put(w.trapStatus)
	case hwStatus, hwHWID, hwGPRAlloc, hwLDSAlloc, hwIBSts:
		// Not writable from user mode: hardware ignores it.
	default:
		w.setFault(device.FaultUnimplemented, -1, 0, fmt.Sprintf("hardware register %d cannot be written", id))
	}
}

// commonMode is the MODE that vector kernels are made for: round to nearest
// even, denormals kept, for all formats.
const commonMode = 0xf0

// setMode sets the arithmetic part of MODE and chooses the kernels for it.
func (w *Wave) setMode(m uint32) {
	w.mode = m
	w.env.Mode = lane.Mode(m)
	w.general = b2u8(m&0xff != commonMode)
}

func b2u8(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// modeRegister assembles MODE: bit 27 GPR_IDX_EN, bit 28 VSKIP, [31:29] CSP.
func (w *Wave) modeRegister() uint32 {
	return w.mode | b2u(w.gprIdx)<<27 | b2u(w.vskip)<<28
}

// statusRegister assembles STATUS: SCC, EXECZ 9, VCCZ 10, IN_TG 11,
// VALID 16 (Vega ISA, STATUS register).
func (w *Wave) statusRegister() uint32 {
	return w.scc | b2u(w.exec() == 0)<<9 | b2u(w.vcc() == 0)<<10 | b2u(w.m.waves > 1)<<11 | 1<<16
}
