package isa

import "slices"

// sopk prints SOPK operands.
func (p *printer) sopk(pc uint64, sym func(uint64) string) {
	in := p.in
	switch in.Op {
	case SGetregB32:
		p.dsts()
		p.hwreg()
	case SSetregB32:
		p.hwreg()
		p.operand(in.Src[0], 1, 0)
	case SSetregImm32B32:
		p.hwreg()
		p.sep()
		p.imm32(uint32(in.Literal))
	case SVersion:
		p.version()
	case SCallB64, SCallI64, SCbranchIFork, SSubvectorLoopBegin, SSubvectorLoopEnd:
		p.dsts()
		p.target(pc, sym)
	default:
		p.dsts()
		p.sep()
		p.hex(uint64(in.Imm))
	}
}

// imm32 prints a 32-bit immediate as the inline constant of its value, or in hex.
func (p *printer) imm32(v uint32) {
	if i := slices.Index(inlineSingle[:], v); i >= 0 {
		p.str(inlineText[i])
	} else if int32(v) >= -16 && int32(v) <= 64 {
		p.int(int64(int32(v)))
	} else {
		p.hex(uint64(v))
	}
}

// hwreg prints a hardware register field: id, first bit, width.
func (p *printer) hwreg() {
	id, offset, size := p.in.Imm&63, p.in.Imm>>6&31, p.in.Imm>>11+1
	p.sep()
	p.str("hwreg(")
	if name := p.d.hwregName(id); name != "" {
		p.str(name)
	} else {
		p.int(int64(id))
	}
	if offset != 0 || size != 32 {
		p.str(", ")
		p.int(int64(offset))
		p.str(", ")
		p.int(int64(size))
	}
	p.str(")")
}

// target prints a branch target.
func (p *printer) target(pc uint64, sym func(uint64) string) {
	p.sep()
	if sym != nil {
		if name := sym(BranchTarget(p.in, pc)); name != "" {
			p.str(name)
			return
		}
	}
	p.int(int64(p.in.Imm))
}

// sopp prints SOPP operands.
func (p *printer) sopp(pc uint64, sym func(uint64) string) {
	in := p.in
	switch op := in.Op; {
	case noImm(op):
	case op == SEndpgm:
		if in.Imm != 0 {
			p.sep()
			p.int(int64(in.Imm))
		}
	case isBranch(op):
		p.target(pc, sym)
	case op == SWaitcnt:
		p.waitcnt()
	case op == SWaitcntDepctr, op == SWaitAlu:
		p.depctr()
	case op == SDelayAlu:
		p.delayALU()
	case op == SSendmsg, op == SSendmsghalt:
		p.sep()
		p.sendmsg()
	case hexImm(op):
		p.sep()
		p.hex(uint64(in.Imm))
	case op == SSetGprIdxMode:
		p.sep()
		p.gprIdx(in.Imm)
	default:
		p.sep()
		p.imm(in.Imm)
	}
}

// noImm reports the SOPP instructions whose SIMM16 must be 0.
func noImm(op Op) bool {
	switch op {
	case SWakeup, SBarrier, SIcacheInv, STtracedata, SEndpgmSaved, SSetGprIdxOff, SEndpgmOrderedPsDone,
		SCodeEnd, SWaitIdle, SBarrierLeave:
		return true
	}
	return false
}

// hexImm reports the SOPP instructions whose SIMM16 LLVM prints in hex.
func hexImm(op Op) bool {
	switch op {
	case SClause, SInstPrefetch, SSetInstPrefetchDistance, SRoundMode, STtracedataImm, SWaitEvent, SWaitAsynccnt, SWaitBvhcnt, SWaitDscnt,
		SWaitExpcnt, SWaitKmcnt, SWaitLoadcnt, SWaitLoadcntDscnt, SWaitSamplecnt, SWaitStorecnt, SWaitStorecntDscnt, SWaitTensorcnt, SWaitXcnt:
		return true
	}
	return false
}

func isBranch(op Op) bool {
	switch op {
	case SBranch, SCbranchScc0, SCbranchScc1, SCbranchVccz, SCbranchVccnz, SCbranchExecz, SCbranchExecnz,
		SCbranchCdbgsys, SCbranchCdbguser, SCbranchCdbgsysOrUser, SCbranchCdbgsysAndUser:
		return true
	}
	return false
}

// waitcnt prints the counters that are waited for; all of them when none is.
// gfx9: vmcnt is bits 3:0 and 15:14, expcnt 6:4, lgkmcnt 11:8; gfx10: lgkmcnt 13:8;
// gfx11: vmcnt 15:10, expcnt 2:0, lgkmcnt 9:4.
func (p *printer) waitcnt() {
	v := p.in.Imm
	vm, exp, lgkm, maxLgkm := v&15|v>>14<<4, v>>4&7, v>>8&15, uint16(15)
	switch {
	case p.d.gen == 10:
		lgkm, maxLgkm = v>>8&63, 63
	case p.d.gen >= 11:
		vm, exp, lgkm, maxLgkm = v>>10, v&7, v>>4&63, 63
	}
	all := vm == 63 && exp == 7 && lgkm == maxLgkm
	count := func(name string, v, none uint16) {
		if v == none && !all {
			return
		}
		p.str(" ")
		p.str(name)
		p.str("(")
		p.int(int64(v))
		p.str(")")
	}
	count("vmcnt", vm, 63)
	count("expcnt", exp, 7)
	count("lgkmcnt", lgkm, maxLgkm)
}

// gprIdx prints the operand set of VGPR index mode.
func (p *printer) gprIdx(v uint16) {
	if v > 15 {
		p.hex(uint64(v))
		return
	}
	p.str("gpr_idx(")
	first := true
	for i, n := range [...]string{"SRC0", "SRC1", "SRC2", "DST"} {
		if v>>i&1 != 0 {
			p.when(!first, ",")
			p.str(n)
			first = false
		}
	}
	p.str(")")
}

// Messages of s_sendmsg on gfx9. LLVM AMDGPUUsage, s_sendmsg; AMD ISA documents, S_SENDMSG.
const (
	msgGS     = 2
	msgGSDone = 3
	msgSysmsg = 15
)

var (
	msgNames = [16]string{1: "MSG_INTERRUPT", 2: "MSG_GS", 3: "MSG_GS_DONE", 4: "MSG_SAVEWAVE", 5: "MSG_STALL_WAVE_GEN", 6: "MSG_HALT_WAVES",
		7: "MSG_ORDERED_PS_DONE", 8: "MSG_EARLY_PRIM_DEALLOC", 9: "MSG_GS_ALLOC_REQ", 10: "MSG_GET_DOORBELL", 15: "MSG_SYSMSG"}
	msgGSOps  = [8]string{"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"}
	msgSysOps = [8]string{1: "SYSMSG_OP_ECC_ERR_INTERRUPT", 2: "SYSMSG_OP_REG_RD", 4: "SYSMSG_OP_TTRACE_PC"}
)

// sendmsg prints message, operation and stream by name, by number when they have
// no name, or the whole SIMM16 when bits outside those fields are set. LLVM ignores
// bits 7 and 15:10 when it names a message.
func (p *printer) sendmsg() {
	if p.d.gen >= 11 {
		p.sendmsg11()
		return
	}
	id, op, stream := p.in.Imm&15, p.in.Imm>>4&7, p.in.Imm>>8&3
	name := msgNames[id]
	if id == 11 && p.d.gen == 10 {
		name = "MSG_GET_DDID"
	}
	opName, wantStream := "", false
	switch id {
	case msgGS, msgGSDone:
		opName = msgGSOps[op]
		wantStream = op != 0
		if id == msgGS && op == 0 || opName == "" || op == 0 && stream != 0 {
			name = ""
		}
	case msgSysmsg:
		opName = msgSysOps[op]
		if opName == "" || stream != 0 {
			name = ""
		}
	default:
		if op != 0 || stream != 0 {
			name = ""
		}
	}
	switch {
	case name != "":
		p.str("sendmsg(")
		p.str(name)
		if opName != "" {
			p.str(", ")
			p.str(opName)
		}
		if wantStream {
			p.str(", ")
			p.int(int64(stream))
		}
		p.str(")")
	case p.in.Imm&^0x37f == 0:
		p.str("sendmsg(")
		p.int(int64(id))
		p.str(", ")
		p.int(int64(op))
		p.str(", ")
		p.int(int64(stream))
		p.str(")")
	default:
		p.int(int64(p.in.Imm))
	}
}

// sendmsg11 prints a message of gfx11 and later, which is 8 bits. LLVM ignores the
// other bits when it names one.
func (p *printer) sendmsg11() {
	name := p.d.message11(p.in.Imm & 0xff)
	if name == "" {
		if p.in.Imm > 0xff {
			p.int(int64(p.in.Imm))
			return
		}
		p.str("sendmsg(")
		p.int(int64(p.in.Imm))
		p.str(", 0, 0)")
		return
	}
	p.str("sendmsg(")
	p.str(name)
	p.str(")")
}
