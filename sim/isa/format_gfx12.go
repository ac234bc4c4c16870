package isa

import "strings"

// policy prints the temporal hint, the scope and the non-volatile bit of gfx12's
// memory instructions. LLVM AMDGPUUsage, "Memory Model gfx12"; RDNA4 ISA document,
// chapter Cache Controls.
func (p *printer) policy() {
	in := p.in
	p.when(in.Flags&FlagScaleOffset != 0, " scale_offset")
	if in.Th != 0 {
		p.str(" th:")
		p.temporalHint()
	}
	p.str([4]string{"", " scope:SCOPE_SE", " scope:SCOPE_DEV", " scope:SCOPE_SYS"}[in.Scope&3])
	p.when(in.Flags&FlagNV != 0, " nv")
}

func (p *printer) temporalHint() {
	th, name := p.in.Th, p.in.Op.String()
	if strings.Contains(name, "_atomic_") {
		p.atomicHint(th)
		return
	}
	store := strings.Contains(name, "_store_") || p.in.Op == TensorSave || p.in.Op == TensorStop
	if th == 7 && !store {
		p.hex(uint64(th))
		return
	}
	if store {
		p.str("TH_STORE_")
	} else {
		p.str("TH_LOAD_")
	}
	if th == 3 {
		switch {
		case p.in.Scope == 3:
			p.str("BYPASS")
		case store:
			p.str("WB")
		default:
			p.str("LU")
		}
		return
	}
	p.str([8]string{"", "NT", "HT", "", "NT_RT", "RT_NT", "NT_HT", "NT_WB"}[th&7])
}

// atomicHint prints the hint of an atomic: bit 0 returns the value before, bit 1 is
// non-temporal, bit 2 cascades.
func (p *printer) atomicHint(th uint8) {
	p.str("TH_ATOMIC_")
	switch {
	case th&4 != 0 && p.in.Scope < 2:
		p.hex(uint64(th))
	case th&4 != 0 && th&2 != 0:
		p.str("CASCADE_NT")
	case th&4 != 0:
		p.str("CASCADE_RT")
	case th == 3:
		p.str("NT_RETURN")
	case th == 2:
		p.str("NT")
	default:
		p.str("RETURN")
	}
}
