package isa

import (
	"strconv"
	"strings"
)

// hwregNames lists the hardware registers of each generation by number, as LLVM
// spells them without HW_REG_.
var hwregNames = struct{ gfx9, gfx94, gfx101, gfx103, gfx11, gfx12, gfx1250 []string }{
	gfx9: []string{1: "MODE", 2: "STATUS", 3: "TRAPSTS", 4: "HW_ID", 5: "GPR_ALLOC", 6: "LDS_ALLOC", 7: "IB_STS",
		15: "SH_MEM_BASES", 16: "TBA_LO", 17: "TBA_HI", 18: "TMA_LO", 19: "TMA_HI"},
	gfx94: []string{1: "MODE", 2: "STATUS", 3: "TRAPSTS", 4: "HW_ID", 5: "GPR_ALLOC", 6: "LDS_ALLOC", 7: "IB_STS",
		15: "SH_MEM_BASES", 16: "TBA_LO", 17: "TBA_HI", 18: "TMA_LO", 19: "TMA_HI", 20: "XCC_ID",
		21: "SQ_PERF_SNAPSHOT_DATA", 22: "SQ_PERF_SNAPSHOT_DATA1", 23: "SQ_PERF_SNAPSHOT_PC_LO", 24: "SQ_PERF_SNAPSHOT_PC_HI"},
	gfx101: []string{1: "MODE", 2: "STATUS", 3: "TRAPSTS", 5: "GPR_ALLOC", 6: "LDS_ALLOC", 7: "IB_STS", 15: "SH_MEM_BASES",
		16: "TBA_LO", 17: "TBA_HI", 18: "TMA_LO", 19: "TMA_HI", 20: "FLAT_SCR_LO", 21: "FLAT_SCR_HI", 22: "XNACK_MASK",
		23: "HW_ID1", 24: "HW_ID2", 25: "POPS_PACKER"},
	gfx103: []string{1: "MODE", 2: "STATUS", 3: "TRAPSTS", 5: "GPR_ALLOC", 6: "LDS_ALLOC", 7: "IB_STS", 15: "SH_MEM_BASES",
		16: "TBA_LO", 17: "TBA_HI", 18: "TMA_LO", 19: "TMA_HI", 20: "FLAT_SCR_LO", 21: "FLAT_SCR_HI",
		23: "HW_ID1", 24: "HW_ID2", 25: "POPS_PACKER", 29: "SHADER_CYCLES"},
	gfx11: []string{1: "MODE", 2: "STATUS", 3: "TRAPSTS", 5: "GPR_ALLOC", 6: "LDS_ALLOC", 7: "IB_STS", 15: "SH_MEM_BASES",
		18: "PERF_SNAPSHOT_PC_LO", 19: "PERF_SNAPSHOT_PC_HI", 20: "FLAT_SCR_LO", 21: "FLAT_SCR_HI",
		23: "HW_ID1", 24: "HW_ID2", 27: "PERF_SNAPSHOT_DATA", 29: "SHADER_CYCLES"},
	gfx12: []string{1: "WAVE_MODE", 2: "WAVE_STATUS", 4: "WAVE_STATE_PRIV", 5: "WAVE_GPR_ALLOC", 6: "WAVE_LDS_ALLOC", 7: "IB_STS",
		10: "PERF_SNAPSHOT_DATA", 11: "PERF_SNAPSHOT_PC_LO", 12: "PERF_SNAPSHOT_PC_HI", 15: "PERF_SNAPSHOT_DATA1", 16: "PERF_SNAPSHOT_DATA2",
		17: "WAVE_EXCP_FLAG_PRIV", 18: "WAVE_EXCP_FLAG_USER", 19: "WAVE_TRAP_CTRL", 20: "WAVE_SCRATCH_BASE_LO", 21: "WAVE_SCRATCH_BASE_HI",
		23: "WAVE_HW_ID1", 24: "WAVE_HW_ID2", 26: "WAVE_SCHED_MODE", 29: "SHADER_CYCLES_LO", 30: "SHADER_CYCLES_HI",
		31: "WAVE_DVGPR_ALLOC_LO", 32: "WAVE_DVGPR_ALLOC_HI"},
	gfx1250: []string{28: "IB_STS2", 33: "XNACK_STATE_PRIV", 34: "XNACK_MASK"}, // and those of gfx12
}

// hwregName names a hardware register. AMD ISA documents, S_GETREG_B32.
func (d *Decoder) hwregName(id uint16) string {
	all := &hwregNames
	names := all.gfx9
	switch {
	case d.gfx1250 && int(id) < len(all.gfx1250) && all.gfx1250[id] != "":
		names = all.gfx1250
	case d.gen == 12:
		names = all.gfx12
	case d.gen == 11:
		names = all.gfx11
	case d.gfx103:
		names = all.gfx103
	case d.gen == 10:
		names = all.gfx101
	case d.gfx94:
		names = all.gfx94
	}
	if int(id) >= len(names) || names[id] == "" {
		return ""
	}
	return "HW_REG_" + names[id]
}

// message11 names a message of gfx11 and later. LLVM AMDGPUUsage, s_sendmsg; RDNA3
// and RDNA4 ISA documents, S_SENDMSG.
func (d *Decoder) message11(id uint16) string {
	switch id {
	case 1:
		return "MSG_INTERRUPT"
	case 2:
		return "MSG_HS_TESSFACTOR"
	case 3:
		return "MSG_DEALLOC_VGPRS"
	case 9:
		return "MSG_GS_ALLOC_REQ"
	case 0x80:
		return "MSG_RTN_GET_DOORBELL"
	case 0x81:
		return "MSG_RTN_GET_DDID"
	case 0x82:
		return "MSG_RTN_GET_TMA"
	case 0x83:
		return "MSG_RTN_GET_REALTIME"
	case 0x84:
		return "MSG_RTN_SAVE_WAVE"
	case 0x85:
		return "MSG_RTN_GET_TBA"
	case 0x86:
		return "MSG_RTN_GET_TBA_TO_PC"
	}
	switch {
	case id == 5 && d.gen == 11:
		return "MSG_STALL_WAVE_GEN"
	case id == 6 && d.gen == 11:
		return "MSG_HALT_WAVES"
	case id == 0x87 && d.gen == 12:
		return "MSG_RTN_GET_SE_AID_ID"
	case id == 10 && d.gfx1250:
		return "MSG_SAVEWAVE_HAS_TDM"
	case id == 0x88 && d.gfx1250:
		return "MSG_RTN_GET_CLUSTER_BARRIER_STATE"
	}
	return ""
}

// Unified buffer formats by number: BUF_FMT of the RDNA and RDNA3 ISA documents.
var (
	unifiedFormats10 = unified("8:n 16:N 8_8:n 32:i 16_16:N 10_11_11:N 11_11_10:N 10_10_10_2:n 2_10_10_10:n 8_8_8_8:n 32_32:i 16_16_16_16:N 32_32_32:i 32_32_32_32:i")
	unifiedFormats11 = unified("8:n 16:N 8_8:n 32:i 16_16:N 10_11_11:f 11_11_10:f 10_10_10_2:u 2_10_10_10:n 8_8_8_8:n 32_32:i 16_16_16_16:N 32_32_32:i 32_32_32_32:i")
)

// unified expands a list of data formats and kinds of number formats.
func unified(list string) []string {
	numbers := map[string]string{"n": "UNORM SNORM USCALED SSCALED UINT SINT", "N": "UNORM SNORM USCALED SSCALED UINT SINT FLOAT",
		"i": "UINT SINT FLOAT", "f": "FLOAT", "u": "UNORM SNORM UINT SINT"}
	names := []string{"INVALID"}
	for _, f := range strings.Fields(list) {
		data, kind, _ := strings.Cut(f, ":")
		for _, n := range strings.Fields(numbers[kind]) {
			names = append(names, data+"_"+n)
		}
	}
	return names
}

// unifiedFormat prints the format of MTBUF on gfx10 and later; BUF_FMT_8_UNORM is
// the default and is left out.
func (p *printer) unifiedFormat() {
	names := unifiedFormats10
	if p.d.gen >= 11 {
		names = unifiedFormats11
	}
	switch f := int(p.in.Format); {
	case f == 1:
	case f < len(names):
		p.str(" format:[BUF_FMT_")
		p.str(names[f])
		p.str("]")
	default:
		p.str(" format:")
		p.int(int64(f))
	}
}

// version prints the SIMM16 of s_version.
func (p *printer) version() {
	v := p.in.Imm
	p.sep()
	if v&0x1f00 != 0 {
		p.hex(uint64(v))
		return
	}
	text := strconv.Itoa(int(v & 0xff))
	if name := versionNames[v&0xff]; name != "" {
		text = "UC_VERSION_" + name
	}
	flags := 0
	for i, bit := range [...]string{"|UC_VERSION_W64_BIT", "|UC_VERSION_W32_BIT", "|UC_VERSION_MDP_BIT"} {
		if v>>(13+i)&1 != 0 {
			if flags++; flags > 1 { // LLVM's nested expression
				text = "(" + text + ")"
			}
			text += bit
		}
	}
	p.str(text)
}

var versionNames = map[uint16]string{0: "GFX7", 4: "GFX10", 6: "GFX11", 9: "GFX12"}

// delayALU prints the SIMM16 of s_delay_alu: two dependencies and the distance
// between the instructions that have them. RDNA3 ISA document, S_DELAY_ALU.
func (p *printer) delayALU() {
	v := p.in.Imm
	id0, skip, id1 := v&15, v>>4&7, v>>7&15
	if v&0x7ff == 0 {
		p.str(" 0")
		return
	}
	first := true
	item := func(name, kind string, v uint16, names []string) {
		if v == 0 {
			return
		}
		p.str(" ")
		p.when(!first, "| ")
		first = false
		p.str(name)
		p.str("(")
		if int(v) < len(names) {
			p.str(names[v])
		} else {
			p.str("/* invalid ")
			p.str(kind)
			p.str(" value */")
		}
		p.str(")")
	}
	ids := []string{"", "VALU_DEP_1", "VALU_DEP_2", "VALU_DEP_3", "VALU_DEP_4", "TRANS32_DEP_1", "TRANS32_DEP_2", "TRANS32_DEP_3",
		"FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1", "SALU_CYCLE_2", "SALU_CYCLE_3"}
	item("instid0", "instid", id0, ids)
	item("instskip", "instskip", skip, []string{"", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"})
	item("instid1", "instid", id1, ids)
}

// depctr prints the counters of s_waitcnt_depctr that are waited for, all of them
// when none is, or the SIMM16 when other bits are set.
func (p *printer) depctr() {
	v := p.in.Imm
	fields := []struct {
		name   string
		lo, n  uint
		unused bool
	}{{"hold_cnt", 7, 1, p.d.gen == 10 && !p.d.gfx103}, {"sa_sdst", 0, 1, false}, {"va_vdst", 12, 4, false}, {"va_sdst", 9, 3, false},
		{"va_ssrc", 8, 1, false}, {"va_vcc", 1, 1, false}, {"vm_vsrc", 2, 3, false}}
	used, all := uint16(0), true
	for _, f := range fields {
		mask := (uint16(1)<<f.n - 1) << f.lo
		if !f.unused {
			used |= mask
			all = all && v&mask == mask
		}
	}
	if v&^used != 0 {
		p.str(" ")
		p.hex(uint64(v))
		return
	}
	for _, f := range fields {
		max := uint16(1)<<f.n - 1
		if x := v >> f.lo & max; !f.unused && (x != max || all) {
			p.str(" depctr_")
			p.str(f.name)
			p.str("(")
			p.int(int64(x))
			p.str(")")
		}
	}
}
