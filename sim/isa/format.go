package isa

import (
	"slices"
	"strconv"
)

// Format returns the instruction in LLVM's syntax, exactly as llvm-objdump prints
// it for this target. Branch targets are the encoded SIMM16.
func (d *Decoder) Format(in *Inst, pc uint64) string {
	return d.FormatTarget(in, pc, nil)
}

// FormatTarget is Format with branch targets named: sym gets the byte address
// that a branch at pc goes to and returns its text, or "" to keep the number.
func (d *Decoder) FormatTarget(in *Inst, pc uint64, sym func(addr uint64) string) string {
	f := d.formOf(in)
	if f == nil {
		return "invalid"
	}
	p := printer{d: d, in: in, form: f, b: make([]byte, 0, 96)}
	p.str(in.Op.String())
	p.str([...]string{"", "_e32", "_e64", "_sdwa", "_dpp", "_e64_dpp"}[f.suffix])
	switch in.Enc {
	case EncSOP2, EncSOP1, EncSOPC:
		p.dsts()
		p.sources()
	case EncSOPK:
		p.sopk(pc, sym)
	case EncSOPP:
		p.sopp(pc, sym)
	case EncSMEM:
		p.smem()
	case EncDS:
		p.ds()
	case EncFLAT:
		p.flat()
	case EncMUBUF, EncMTBUF:
		p.buffer()
	case EncVOPD:
		p.vopd()
	case EncMIMG:
		p.tensor()
	default:
		p.vector()
	}
	return string(p.b)
}

// BranchTarget returns the byte address that a branch or call at pc goes to:
// SIMM16 counts dwords from the next instruction.
func BranchTarget(in *Inst, pc uint64) uint64 {
	return pc + 4 + uint64(int64(int16(in.Imm))*4)
}

// formOf finds the operand layout that in was decoded with.
func (d *Decoder) formOf(in *Inst) *form {
	if in.Enc == EncMIMG {
		return &tensorForm
	}
	t := d.tableOf(in)
	op := in.Op
	if in.Enc == EncVOP3P && in.Size == 16 {
		scaled, ok := scaledOp(t, uint32(in.opcode))
		if !ok {
			if scaled, ok = scaledWMMAOp(t, uint32(in.opcode), VWmmaLdScalePairedB32); scaled != op {
				scaled, ok = scaledWMMAOp(t, uint32(in.opcode), VWmmaLdScale16PairedB64)
			}
		}
		if ok && scaled == op {
			op = t[in.opcode].op
		}
	}
	if in.opcode >= uint16(len(t)) || t[in.opcode].op != op || op == OpInvalid {
		return nil
	}
	_, f := d.lookup(t, uint32(in.opcode))
	return f
}

// printer builds the text of one instruction.
type printer struct {
	d        *Decoder
	in       *Inst
	form     *form
	b        []byte
	operands int
}

func (p *printer) str(s string) { p.b = append(p.b, s...) }

func (p *printer) int(v int64) { p.b = strconv.AppendInt(p.b, v, 10) }

func (p *printer) hex(v uint64) {
	p.str("0x")
	p.b = strconv.AppendUint(p.b, v, 16)
}

// sep starts the next operand.
func (p *printer) sep() {
	if p.operands > 0 {
		p.str(",")
	}
	p.str(" ")
	p.operands++
}

// when prints s if ok.
func (p *printer) when(ok bool, s string) {
	if ok {
		p.str(s)
	}
}

// imm prints an immediate as LLVM does: inline integers in decimal, the rest in hex.
func (p *printer) imm(v uint16) {
	if v <= 64 {
		p.int(int64(v))
	} else {
		p.hex(uint64(v))
	}
}

func (p *printer) operand(o Operand, width uint8, typ constant) {
	p.sep()
	p.value(o, width, typ)
}

// value prints an operand without a separator.
func (p *printer) value(o Operand, width uint8, typ constant) {
	switch {
	case o < 102, o < OperandVCCLo && p.d.gen >= 10:
		p.reg("s", int(o), width)
	case o >= OperandTTMP && o < OperandM0:
		p.reg("ttmp", int(o-OperandTTMP), width)
	case o < OperandInt:
		p.special(o, width)
	case o == OperandLiteral:
		p.literal(typ)
	case o < OperandVGPR:
		p.constant(o, typ)
	case o < OperandAGPR:
		p.reg("v", int(o-OperandVGPR), width)
	default:
		p.reg("a", int(o-OperandAGPR), width)
	}
}

func (p *printer) reg(file string, n int, width uint8) {
	p.str(file)
	if width <= 1 {
		p.int(int64(n))
		return
	}
	p.str("[")
	p.int(int64(n))
	p.str(":")
	p.int(int64(n + int(width) - 1))
	p.str("]")
}

func (p *printer) special(o Operand, width uint8) {
	switch o {
	case OperandM0:
		p.str("m0")
		return
	case OperandNull:
		p.str("null")
		return
	}
	p.str(map[Operand]string{OperandFlatScratchLo: "flat_scratch", OperandXnackMaskLo: "xnack_mask", OperandVCCLo: "vcc", OperandExecLo: "exec"}[o&^1])
	if width == 1 {
		p.str([2]string{"_lo", "_hi"}[o&1])
	}
}

// Operands 240..248 as text, as singles, as halfs and, but for 1/(2*pi), as the
// high halves of doubles.
var (
	inlineText   = [...]string{"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"}
	inlineSingle = [...]uint32{0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983}
	inlineHalf   = [...]uint16{0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118}
	inlineDouble = [...]uint32{0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000, 0x40000000, 0xc0000000, 0x40100000, 0xc0100000}
)

// constant prints an inline constant or one of the named sources 235..253.
func (p *printer) constant(o Operand, typ constant) {
	switch {
	case o <= 192:
		p.int(int64(o) - 128)
	case o <= 208:
		p.int(192 - int64(o))
	case o >= OperandHalf && o <= OperandInv2Pi && typ == constantI16:
		p.hex(uint64(inlineHalf[o-OperandHalf]))
	case o == OperandInv2Pi && (typ == constant64 || typ == constantF64):
		p.str("0.15915494309189532")
	case o >= OperandHalf && o <= OperandInv2Pi:
		p.str(inlineText[o-OperandHalf])
	default:
		p.str(map[Operand]string{OperandSharedBase: "src_shared_base", OperandFlatScratchBaseLo: "src_flat_scratch_base_lo",
			OperandFlatScratchBaseLo + 1: "src_flat_scratch_base_hi", OperandSharedLimit: "src_shared_limit",
			OperandPrivateBase: "src_private_base", OperandPrivateLimit: "src_private_limit", OperandPopsExiting: "src_pops_exiting_wave_id",
			OperandVCCZ: "src_vccz", OperandExecZ: "src_execz", OperandSCC: "src_scc", OperandLDSDirect: "src_lds_direct"}[o])
	}
}

// inlineBFloat reports the bfloat16 values that have an inline constant: the high
// halves of the singles.
func inlineBFloat(v uint16) bool {
	for _, s := range inlineSingle {
		if v == uint16(s>>16) {
			return true
		}
	}
	return false
}

// literal64 prints a 64-bit literal; lit64() marks one that a 32-bit literal or an
// inline constant could be.
func (p *printer) literal64(typ constant) {
	v := p.in.Literal
	if i := slices.Index(inlineDouble[:], uint32(v>>32)); i >= 0 && uint32(v) == 0 {
		p.str(inlineText[i])
		return
	}
	switch {
	case v == 0x3fc45f306dc9c882:
		p.str("0.15915494309189532")
	case int64(v) >= -16 && int64(v) < 0:
		p.int(int64(v))
	case v>>32 == 0:
		p.str("lit64(")
		p.hex(v)
		p.str(")")
	case typ == constantF64 && uint32(v) == 0:
		p.hex(v >> 32)
	default:
		p.hex(v)
	}
}

// literal prints the literal constant; lit() marks one that has an inline form.
func (p *printer) literal(typ constant) {
	v := p.in.Literal
	if p.in.Flags&FlagLiteral64 != 0 {
		p.literal64(typ)
		return
	}
	inline := false
	switch typ {
	case constantF64:
		if i := slices.Index(inlineDouble[:], uint32(v)); i >= 0 {
			p.str(inlineText[i])
			return
		}
		if v == 0 {
			p.str("0")
			return
		}
	case constant32:
		inline = int32(v) >= -16 && int32(v) <= 64 || slices.Contains(inlineSingle[:], uint32(v))
	case constant64:
		inline = v <= 64
	case constantI16:
		inline = int32(v) >= -16 && int32(v) <= 64 || slices.Contains(inlineSingle[:], uint32(v))
	case constantPkF16:
		inline = int32(v) >= -16 && int32(v) <= 64 || v>>16 == 0 && slices.Contains(inlineHalf[:], uint16(v))
	case constantPkBF16:
		inline = int32(v) >= -16 && int32(v) <= 64 || v>>16 == 0 && inlineBFloat(uint16(v))
	case constantBF16:
		inline = int16(v) >= -16 && int16(v) <= 64 || inlineBFloat(uint16(v))
	case constantF16:
		inline = int16(v) >= -16 && int16(v) <= 64 || slices.Contains(inlineHalf[:], uint16(v))
	}
	if !inline && (typ == constantI16 || typ == constantF16 || typ == constantBF16) {
		v &= 0xffff
	}
	p.when(inline, "lit(")
	p.hex(v)
	p.when(inline, ")")
}

func (p *printer) dsts() {
	if p.in.Dst != OperandNone {
		p.operand(p.in.Dst, p.in.DstWords, 0)
		p.half(p.in.Dst, 3, p.form.dst)
	}
	if p.in.SDst != OperandNone {
		p.operand(p.in.SDst, p.in.SDstWords, 0)
	}
}

// sources prints scalar sources.
func (p *printer) sources() {
	for i, sl := range p.form.src[:p.form.n] {
		if sl.width == 0 {
			p.sep()
			if p.in.Op == SSetGprIdxOn {
				p.gprIdx(p.in.Imm)
			} else {
				p.sendmsg()
			}
			continue
		}
		p.operand(p.in.Src[i], p.in.SrcWords[i], sl.typ)
	}
}
