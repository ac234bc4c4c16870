package isa

import (
	"slices"
	"strings"
)

// vector prints the vector ALU encodings.
func (p *printer) vector() {
	in := p.in
	p.dsts()
	for i, sl := range p.form.src[:p.form.n] {
		p.sep()
		p.modified(i, sl)
	}
	switch in.Base {
	case EncVOP3:
		if bitop3(in.Op) && in.Imm != 0 {
			p.bitop(in.Imm)
		}
		p.opSel()
		p.when(in.Flags&FlagClamp != 0, " clamp")
		p.omod()
	case EncVOP3P:
		if p.form.matrix {
			p.matrix()
		} else if p.d.gen == 12 && (p.form.wmma || ldScale(in.Op)) {
			p.wmma()
		} else {
			p.packed()
		}
	}
	switch in.Enc {
	case EncSDWA:
		p.sdwa()
	case EncDPP:
		p.dpp()
	}
}

// half prints which half of a VGPR a 16-bit operand is: of source i, or of the
// destination as 3.
func (p *printer) half(o Operand, i int, sl slot) {
	if sl.file.half() && o.IsVGPR() {
		p.str([2]string{".l", ".h"}[p.in.OpSel>>i&1])
	}
}

// modified prints source i with its neg, abs and sext modifiers.
func (p *printer) modified(i int, sl slot) {
	in := p.in
	bit := uint8(1) << i
	neg, abs, sext := in.Neg&bit != 0, in.Abs&bit != 0, in.SDWA.Sext&bit != 0
	if in.Base == EncVOP3P && !mix(in.Op) || sl.field == fieldVcc {
		neg, abs, sext = false, false, false
	}
	// LLVM writes neg(1), because -1 would be another constant.
	o := in.Src[i]
	named := o >= OperandInt && o <= 208 || o >= OperandHalf && o <= OperandInv2Pi ||
		o == OperandLiteral && sl.typ == constantF64 && slices.Contains(inlineDouble[:], uint32(in.Literal))
	negCall := neg && !abs && named
	p.when(negCall, "neg(")
	p.when(neg && !negCall, "-")
	p.when(abs, "|")
	p.when(sext, "sext(")
	p.value(o, in.SrcWords[i], sl.typ)
	p.half(o, i, sl)
	p.when(sext, ")")
	p.when(abs, "|")
	p.when(negCall, ")")
}

// bitop prints a truth table.
func (p *printer) bitop(v uint16) {
	p.str(" bitop3:")
	if v <= 10 {
		p.int(int64(v))
	} else {
		p.hex(uint64(v))
	}
}

func (p *printer) omod() {
	p.str([4]string{"", " mul:2", " mul:4", " div:2"}[p.in.OMod&3])
}

// bitList prints name:[b0,b1,…] of the low n bits.
func (p *printer) bitList(name string, v uint8, n int) {
	p.str(name)
	for i := range n {
		p.when(i > 0, ",")
		p.int(int64(v >> i & 1))
	}
	p.str("]")
}

// byteSelects reports the FP8 conversions whose op_sel chooses a byte on gfx12.
func byteSelects(op Op) bool {
	switch op {
	case VCvtF32Fp8, VCvtF32Bf8, VCvtSrFp8F32, VCvtSrBf8F32, VCvtF16Fp8, VCvtF16Bf8:
		return true
	}
	return false
}

// byteSel prints the byte of the source, or that of the destination.
func (p *printer) byteSel() {
	v := p.in.OpSel
	switch p.in.Op {
	case VCvtSrFp8F32, VCvtSrBf8F32, VCvtSrFp8F16, VCvtSrBf8F16:
		v >>= 2
	default:
		v = v>>1&1 | v&1<<1
	}
	p.offset(" byte_sel:", int32(v&3))
}

// permlane reports the lane permutations that take two flags as op_sel.
func permlane(op Op) bool {
	switch op {
	case VPermlane16B32, VPermlanex16B32, VPermlane16VarB32, VPermlanex16VarB32:
		return true
	}
	return false
}

// opSel prints VOP3 op_sel: one bit a source and one for the destination.
func (p *printer) opSel() {
	if strings.HasPrefix(p.in.Op.String(), "v_cvt_scale_pk") {
		p.offset(" scale_sel:", int32(p.in.OpSel))
		return
	}
	if byteSelects(p.in.Op) && p.d.gen == 12 {
		if p.in.OpSel>>3 != 0 && (p.in.Op == VCvtF16Fp8 || p.in.Op == VCvtF16Bf8) {
			p.str(" op_sel:[0,1]")
		}
		p.byteSel()
		return
	}
	if p.in.Op == VPermlane16SwapB32 || p.in.Op == VPermlane32SwapB32 {
		p.when(p.in.OpSel&2 != 0, " bound_ctrl:1")
		p.when(p.in.OpSel&1 != 0, " fi:1")
		return
	}
	if p.in.OpSel == 0 || p.in.Op == VCndmaskB16 {
		return
	}
	n := int(p.form.n)
	switch p.in.Op {
	case VFmacF16: // the destination is the third source
		n = 3
	case VCvtSrFp8F32, VCvtSrBf8F32, VCvtScalef32PkFp4F32, VCvtScalef32PkFp4F16, VCvtScalef32PkFp4Bf16:
		n = 3 // the destination, whose byte OpSel chooses, counts as a source
	}
	v := p.in.OpSel&(1<<n-1) | p.in.OpSel>>3<<n
	permute := permlane(p.in.Op)
	if permute {
		n = 2 // fetch inactive and bound control
	}
	if p.in.Dst != OperandNone && !permute && (p.in.Enc != EncDPP || !p.in.Dst.IsScalar()) {
		n++
	}
	if p.in.Op == VCvtSrFp8F16 || p.in.Op == VCvtSrBf8F16 {
		v &= 3 // the others choose the byte
	}
	if v != 0 {
		p.bitList(" op_sel:[", v, n)
	}
	if p.in.Op == VCvtSrFp8F16 || p.in.Op == VCvtSrBf8F16 {
		p.byteSel()
	}
}

// matrix prints the modifiers of MFMA and SMFMAC.
func (p *printer) matrix() {
	in := p.in
	if in.Scale[0] != OperandNone {
		p.operand(in.Scale[0], 1, 0)
		p.operand(in.Scale[1], 1, 0)
		if in.ScaleOpSel != 0 {
			p.bitList(" op_sel:[", in.ScaleOpSel, 3)
		}
		p.bitList(" op_sel_hi:[", in.ScaleOpSelHi, 3)
	}
	p.offset(" cbsz:", int32(in.Cbsz))
	p.offset(" abid:", int32(in.Abid))
	if in.Blgp != 0 && p.d.gfx94 && p.form.src[2].typ == constant64 {
		p.bitList(" neg:[", in.Blgp, 3)
	} else {
		p.offset(" blgp:", int32(in.Blgp))
	}
}

// swmmac reports the sparse WMMA operations.
func swmmac(op Op) bool { return strings.HasPrefix(op.String(), "v_swmmac_") }

// packed prints the modifiers of VOP3P.
func (p *printer) packed() {
	in, n := p.in, int(p.form.n)
	all := uint8(1)<<n - 1
	if swmmac(in.Op) {
		p.offset(" index_key:", int32(in.OpSel&3))
	} else if in.OpSel&all != 0 {
		p.bitList(" op_sel:[", in.OpSel, n)
	}
	def := all
	if mix(in.Op) {
		def = 0
	}
	if in.OpSelHi&all != def && p.form.show>>59&3 != 0 {
		p.bitList(" op_sel_hi:[", in.OpSelHi, n)
	}
	if !mix(in.Op) {
		if in.Neg&all != 0 {
			p.bitList(" neg_lo:[", in.Neg, n)
		}
		if in.NegHi&all != 0 {
			p.bitList(" neg_hi:[", in.NegHi, n)
		}
	}
	p.when(in.Flags&FlagClamp != 0, " clamp")
}

var sdwaSels = [8]string{"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", ""}

func (p *printer) sdwa() {
	in := p.in
	p.when(in.Flags&FlagClamp != 0, " clamp")
	p.omod()
	if in.Base != EncVOPC && !fp8Source(in.Op) {
		p.str(" dst_sel:")
		p.str(sdwaSels[in.SDWA.DstSel&7])
		p.str(" dst_unused:UNUSED_")
		p.str([4]string{"PAD", "SEXT", "PRESERVE", ""}[in.SDWA.DstUnused&3])
	}
	p.str(" src0_sel:")
	p.str(sdwaSels[in.SDWA.Src0Sel&7])
	if in.Base != EncVOP1 {
		p.str(" src1_sel:")
		p.str(sdwaSels[in.SDWA.Src1Sel&7])
	}
}

// dpp prints dpp_ctrl, the masks and bound_ctrl.
func (p *printer) dpp() {
	c := p.in.DPP.Ctrl
	defer func() { p.when(p.in.Flags&FlagFI != 0, " fi:1") }()
	if p.in.DPP.DPP8 {
		p.str(" dpp8:[")
		for i := range 8 {
			p.when(i > 0, ",")
			p.int(int64(c >> (3 * i) & 7))
		}
		p.str("]")
		return
	}
	switch {
	case c <= 0xff:
		p.str(" quad_perm:[")
		for i := range 4 {
			p.when(i > 0, ",")
			p.int(int64(c >> (2 * i) & 3))
		}
		p.str("]")
	case c <= 0x12f:
		p.str([3]string{" row_shl:", " row_shr:", " row_ror:"}[(c>>4&3)%3])
		p.int(int64(c & 15))
	case c >= 0x160:
		p.str(" row_xmask:")
		p.int(int64(c & 15))
	case c >= 0x150:
		p.str([2]string{" row_newbcast:", " row_share:"}[min(p.d.gen-9, 1)])
		p.int(int64(c & 15))
	default:
		p.str(map[uint32]string{0x130: " wave_shl:1", 0x134: " wave_rol:1", 0x138: " wave_shr:1", 0x13c: " wave_ror:1",
			0x140: " row_mirror", 0x141: " row_half_mirror", 0x142: " row_bcast:15", 0x143: " row_bcast:31"}[c])
	}
	p.str(" row_mask:")
	p.hex(uint64(p.in.DPP.RowMask))
	p.str(" bank_mask:")
	p.hex(uint64(p.in.DPP.BankMask))
	p.when(p.in.Flags&FlagBoundCtrl != 0, " bound_ctrl:1")
}
