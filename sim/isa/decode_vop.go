package isa

import "encoding/binary"

// Codes of the first source that announce another dword.
const (
	srcDPP8   = 233 // gfx10 and later
	srcDPP8FI = 234 // fetching inactive lanes
	srcSDWA   = 249 // to gfx10
	srcDPP    = 250
)

// vop12c decodes VOP1, VOP2 and VOPC with their SDWA and DPP forms.
func (s *state) vop12c(w uint32) {
	t := s.d.t
	plain, sdwa, dpp, dpp8 := t.vop2, t.vop2SDWA, t.vop2DPP, t.vop2DPP8
	enc, opcode, fixed := EncVOP2, w>>25, uint64(0xfe000000)
	switch opcode {
	case 0x3e:
		enc, opcode, fixed = EncVOPC, w>>17&0xff, 0xfffe0000
		plain, sdwa, dpp, dpp8 = t.vopc, t.vopcSDWA, t.vopcDPP, t.vopcDPP8
	case 0x3f:
		enc, opcode, fixed = EncVOP1, w>>9&0xff, 0xfe01fe00
		plain, sdwa, dpp, dpp8 = t.vop1, t.vop1SDWA, t.vop1DPP, t.vop1DPP8
	}
	switch low := w & 0x1ff; {
	case low == srcSDWA && s.d.gen <= 10:
		if s.second() && s.start(EncSDWA, sdwa, opcode, fixed|0x1ff) {
			s.in.Base = enc
			s.sdwa()
		}
	case low == srcDPP, s.d.dpp8(low):
		if low != srcDPP {
			dpp = dpp8
		}
		if s.second() && s.start(EncDPP, dpp, opcode, fixed|0x1ff) {
			s.in.Base = enc
			s.dpp(low)
		}
	default:
		s.w &= 0xffffffff
		if s.start(enc, plain, opcode, fixed) {
			s.vopOperands(w&0x1ff, w>>9&0xff, w>>17&0xff)
		}
	}
}

// maskM0 reports that M0 may take a lane mask, as LLVM has it.
func (d *Decoder) maskM0() bool { return d.gen >= 10 && d.wave == 32 }

// notM0 refuses M0, which a vector instruction cannot write.
func (s *state) notM0(o Operand) Operand {
	if o == OperandM0 {
		s.fail()
	}
	return o
}

// second asks for a second dword.
func (s *state) second() bool {
	s.in.Size = 8
	if len(s.code) < 8 {
		s.status = truncated
		return false
	}
	return true
}

// vopOperands fills the operands of VOP1, VOP2 and VOPC.
func (s *state) vopOperands(src0, src1, vdst uint32) {
	f := s.form
	switch {
	case f.dst.field == fieldVcc:
		s.setDst(OperandVCCLo, f.dst.width)
	case f.dst.file == fileSGPR: // v_readfirstlane_b32
		s.setDst(s.notM0(s.sreg(vdst, f.dst.width)), f.dst.width)
	case f.dst.file == fileAGPR:
		s.setDst(s.agpr(vdst, f.dst.width), f.dst.width)
	case f.dst.file.half():
		s.setDst(s.halfVGPR(vdst, 3), 1)
	case f.dst.width > 0:
		s.setDst(s.vgpr(vdst, f.dst.width), f.dst.width)
	}
	if f.sdst.field == fieldVcc {
		s.setSDst(OperandVCCLo, f.sdst.width)
	}
	if f.dst.file == fileLow && vdst > 127 {
		s.fail()
	}
	for i, sl := range f.src[:f.n] {
		var o Operand
		if sl.file == fileLow && (sl.field == fieldSrc0 && src0 >= 256+128 || sl.field == fieldSrc1 && src1 > 127) {
			s.fail()
		}
		switch sl.field {
		case fieldSrc0:
			if src0 >= 256 && sl.file.half() {
				o = s.halfVGPR(src0-256, i)
			} else {
				o = s.src(src0, sl)
			}
		case fieldSrc1:
			if sl.file.half() {
				o = s.halfVGPR(src1, i)
			} else {
				o = s.vgpr(src1, sl.width)
			}
		case fieldVcc:
			o = OperandVCCLo
		case fieldLiteral:
			if o = OperandLiteral; sl.width == 2 {
				s.literal64()
			} else {
				s.literal()
			}
		}
		s.setSrc(i, o, sl.width)
	}
}

// halfVGPR maps a register number whose bit 7 chooses the high half of v0..v127,
// and records the half of source i, or of the destination as 3.
func (s *state) halfVGPR(code uint32, i int) Operand {
	s.in.OpSel |= uint8(code>>7) << i
	return OperandVGPR + Operand(code&0x7f)
}

// dpp8 reports whether a first source announces a DPP8 dword.
func (d *Decoder) dpp8(code uint32) bool {
	return d.gen >= 10 && (code == srcDPP8 || code == srcDPP8FI)
}

func (s *state) sdwa() {
	in := s.in
	s.vopOperands(256, s.bits(9, 8), s.bits(17, 8))
	src0 := s.bits(32, 8)
	if s.bit(55) {
		in.Src[0] = s.src(src0, slot{width: in.SrcWords[0], typ: constant32})
	} else {
		in.Src[0] = s.vgpr(src0, in.SrcWords[0])
	}
	two := in.Base != EncVOP1
	if two && s.bit(63) {
		in.Src[1] = s.src(s.bits(9, 8), slot{width: in.SrcWords[1], typ: constant32})
	}
	if in.Base == EncVOPC {
		in.SDWA.DstSel = 6
		if s.bit(47) && in.DstWords > 0 {
			s.setDst(s.sreg(s.bits(40, 7), in.DstWords), in.DstWords)
		}
	} else {
		if !fp8Source(in.Op) {
			in.SDWA.DstSel, in.SDWA.DstUnused = uint8(s.bits(40, 3)), uint8(s.bits(43, 2))
		} else if in.SDWA.DstSel = 6; s.bits(40, 3) != 6 {
			s.fail()
			return
		}
		s.flagShown(45, FlagClamp)
		in.OMod = uint8(s.shown(46, 2))
	}
	if s.bits(40, 3) == 7 && in.Base != EncVOPC || in.SDWA.DstUnused == 3 || s.bits(48, 3) == 7 || s.bits(56, 3) == 7 {
		s.fail()
		return
	}
	in.SDWA.Src0Sel, in.SDWA.Src1Sel = uint8(s.bits(48, 3)), uint8(s.bits(56, 3))
	in.SDWA.Sext = uint8(s.shown(51, 1) | s.shown(59, 1)<<1)
	in.Neg = uint8(s.shown(52, 1) | s.shown(60, 1)<<1)
	in.Abs = uint8(s.shown(53, 1) | s.shown(61, 1)<<1)
}

// fp8Source reports the FP8 conversions, whose SDWA form selects only a source byte.
func fp8Source(op Op) bool {
	return op == VCvtF32Fp8 || op == VCvtF32Bf8 || op == VCvtPkF32Fp8 || op == VCvtPkF32Bf8
}

// flag sets f when bit i is set.
func (s *state) flag(i uint, f Flags) {
	if s.bit(i) {
		s.in.Flags |= f
	}
}

// flagShown sets f when bit i is set and means something to this opcode.
func (s *state) flagShown(i uint, f Flags) {
	if s.shown(i, 1) != 0 {
		s.in.Flags |= f
	}
}

// dpp decodes the DPP forms of VOP1, VOP2 and VOPC. kind is the code of the first
// source.
func (s *state) dpp(kind uint32) {
	in := s.in
	s.vopOperands(256+s.bits(32, 8), s.bits(9, 8), s.bits(17, 8))
	s.dppControl(kind, s.bits(32, 32))
	if kind == srcDPP {
		in.Neg = uint8(s.shown(52, 1) | s.shown(54, 1)<<1)
		in.Abs = uint8(s.shown(53, 1) | s.shown(55, 1)<<1)
	}
}

// dppControl decodes a DPP16 or DPP8 dword but for the modifiers of sources.
func (s *state) dppControl(kind, w uint32) {
	in := s.in
	if kind != srcDPP {
		in.DPP = DPP{Ctrl: w >> 8, DPP8: true}
		if kind == srcDPP8FI {
			in.Flags |= FlagFI
		}
		return
	}
	ctrl := w >> 8 & 0x1ff
	double := in.DstWords == 2 && in.Base != EncVOPC || in.SrcWords[0] == 2 || in.SrcWords[1] == 2
	// gfx90a and later: row_newbcast, and nothing else for the 64-bit ALU.
	if !s.d.dppCtrlKnown(ctrl) || double && ctrl < 0x150 && s.d.gfx90a {
		s.fail()
		return
	}
	in.DPP = DPP{Ctrl: ctrl, BankMask: uint8(w >> 24 & 15), RowMask: uint8(w >> 28)}
	if w>>19&1 != 0 {
		in.Flags |= FlagBoundCtrl
	}
	if w>>18&1 != 0 && s.d.gen >= 10 {
		in.Flags |= FlagFI
	}
}

// noHalves masks the op_sel bits of operands that a VOP3 operation on 16-bit halves
// does not have.
func (f *form) noHalves() uint32 {
	half := f.dst.file.half()
	used := uint32(0)
	if half || f.dst.width > 0 && f.dst.file != fileSGPR {
		used |= 8
	}
	for i, sl := range f.src[:f.n] {
		if sl.file != fileSGPR { // a lane mask
			used |= 1 << i
		}
		half = half || sl.file.half()
	}
	if !half {
		return 0
	}
	return 15 &^ used
}

func (s *state) vop3() {
	t := s.d.t
	kind, ok := s.vop3Start(EncVOP3, t.vop3, t.vop3DPP, t.vop3DPP8, s.bits(16, 10))
	if !ok {
		return
	}
	in, f := s.in, s.form
	switch vdst := s.bits(0, 8); {
	case f.dst.file == fileSGPR:
		o := s.sreg(vdst, f.dst.width)
		if cmp := in.Op >= VCmpClassF16 && in.Op <= VCmpUF64; !cmp || !s.d.maskM0() {
			o = s.notM0(o)
		}
		s.setDst(o, f.dst.width)
	case f.dst.width > 0:
		s.setDst(s.vgpr(vdst, f.dst.width), f.dst.width)
	}
	if f.sdst.width > 0 {
		s.setSDst(s.sreg(s.bits(8, 7), f.sdst.width), f.sdst.width)
	} else {
		if bitop3(in.Op) {
			s.bitop3(kind)
			return
		}
		in.Abs = uint8(s.shown(8, 3))
		in.OpSel = uint8(s.shown(11, 4))
		if s.bits(11, 4)&f.noHalves() != 0 { // LLVM reads it as an operation on whole registers
			s.fail()
			return
		}
	}
	s.vop3Sources(kind)
	s.flagShown(15, FlagClamp)
	in.OMod = uint8(s.shown(59, 2))
	in.Neg = uint8(s.shown(61, 3))
}

// bitop3 reports the three-input logic operations, whose truth table lies in the
// fields of the modifiers that they do not have.
func bitop3(op Op) bool { return op == VBitop3B16 || op == VBitop3B32 }

func (s *state) bitop3(kind uint32) {
	s.in.Imm = uint16(s.bits(59, 2)<<6 | s.bits(8, 3)<<3 | s.bits(61, 3))
	s.in.OpSel = uint8(s.shown(11, 4))
	s.vop3Sources(kind)
}

// shown returns the bits of a field that mean something to this opcode.
func (s *state) shown(lo, n uint) uint32 { return uint32(s.w & s.form.show >> lo & (1<<n - 1)) }

// vop3Start looks up an opcode of VOP3 or VOP3P. On gfx11 and later, these have
// DPP forms; then kind is the code of the first source, otherwise 0.
func (s *state) vop3Start(enc Enc, plain, dpp, dpp8 []entry, opcode uint32) (kind uint32, ok bool) {
	fixed := uint64(0xffff0000)
	if code := s.bits(32, 9); s.d.gen >= 11 && (code == srcDPP || s.d.dpp8(code)) {
		kind = code
		if plain = dpp; kind != srcDPP {
			plain = dpp8
		}
		if !s.third() {
			return 0, false
		}
		s.in.Base = enc
		enc, fixed = EncDPP, fixed|0x1ff<<32
	}
	return kind, s.start(enc, plain, opcode, fixed)
}

// vop3Sources fills the sources of VOP3 and VOP3P, and the DPP control if kind
// says so.
func (s *state) vop3Sources(kind uint32) {
	for i, sl := range s.form.src[:s.form.n] {
		lo := uint(32)
		switch sl.field {
		case fieldSrc1:
			lo = 41
		case fieldSrc2:
			lo = 50
		}
		code := s.bits(lo, 9)
		switch {
		case kind == 0:
		case lo == 32:
			code = 256 + s.w2&0xff
		case lo == 41 && code < 256 && s.d.gen == 11 && !s.d.gfx115: // before gfx11.5, a VGPR
			s.fail()
			return
		}
		if sl.file == fileSGPR && sl.width <= 2 && sl.typ == 0 && lo == 50 && code >= 128 { // a lane mask
			s.fail()
			return
		}
		s.setSrc(i, s.src(code, sl), sl.width)
	}
	if kind != 0 {
		s.dppControl(kind, s.w2)
	}
}

func (s *state) vop3p() {
	t := s.d.t
	opcode := s.bits(16, 7)
	if s.d.gen >= 10 {
		opcode = s.bits(16, 8)
	}
	s.prefix = s.w
	s.w &= s.scalePrefix(opcode)
	kind, ok := s.vop3Start(EncVOP3P, t.vop3p, t.vop3pDPP, t.vop3pDPP8, opcode)
	if !ok {
		return
	}
	in, f := s.in, s.form
	if in.Op == VMfmaLdScaleB32 && len(s.code) >= 16 && s.scaled() {
		return
	}
	if ldScale(in.Op) {
		if len(s.code) < 16 || !s.scaledWMMA() {
			s.vop3Sources(0)
			s.scaleFields(s.w)
		}
		return
	}
	if f.matrix {
		s.mai()
		return
	}
	if f.wmma {
		s.vop3pOperands()
		s.wmma()
		return
	}
	if f.dst.file == fileAGPR {
		s.setDst(s.agpr(s.bits(0, 8), 1), 1)
	} else if f.dst.width > 0 {
		s.setDst(s.vgpr(s.bits(0, 8), f.dst.width), f.dst.width)
	}
	if f.src[0].file == fileAGPR { // v_accvgpr_read_b32
		if !s.bit(40) {
			s.fail()
			return
		}
		s.setSrc(0, s.agpr(s.bits(32, 8), 1), 1)
		return
	}
	s.vop3Sources(kind)
	in.NegHi = uint8(s.shown(8, 3))
	if mix(in.Op) {
		in.Abs, in.NegHi = in.NegHi, 0
	}
	in.OpSel = uint8(s.shown(11, 3))
	in.OpSelHi = uint8(s.shown(59, 2) | s.shown(14, 1)<<2)
	s.flagShown(15, FlagClamp)
	in.Neg = uint8(s.shown(61, 3))
}

// vop3pOperands fills destination and sources of VOP3P without DPP.
func (s *state) vop3pOperands() {
	width := s.form.dst.width
	s.setDst(s.vgpr(s.bits(0, 8), width), width)
	s.vop3Sources(0)
}

// mix reports the mixed-precision FMA instructions, whose neg_hi field is abs and
// whose op_sel_hi chooses the source format.
func mix(op Op) bool {
	switch op {
	case VFmaMixF32, VFmaMixloF16, VFmaMixhiF16, VMadMixF32, VMadMixloF16, VMadMixhiF16,
		VFmaMixF32Bf16, VFmaMixloBf16, VFmaMixhiBf16:
		return true
	}
	return false
}

// scaled decodes a scaled matrix instruction: v_mfma_ld_scale_b32 followed by the
// matrix operation, in one. It reports false when another instruction follows.
func (s *state) scaled() bool {
	prefix := s.w
	next := binary.LittleEndian.Uint64(s.code[8:])
	opcode := uint32(next >> 16 & 0x7f)
	op, ok := scaledOp(s.d.t.vop3p, opcode)
	if !scaledHalf(uint32(next)) || !ok {
		return false
	}
	in, before := s.in, *s.in
	in.ScaleOpSel = uint8(prefix >> 11 & 3)
	in.ScaleOpSelHi = uint8(prefix >> 59 & 3)
	for i := range in.Scale {
		code := uint32(prefix >> (32 + 9*i) & 0x1ff)
		if code < 256 {
			s.again(&before)
			return false
		}
		in.Scale[i] = OperandVGPR + Operand(code-256)
	}
	if s.w = next &^ 0x7800; s.start(EncVOP3P, s.d.t.vop3p, opcode, 0xffff0000) {
		in.Op, in.Size = op, 16
		s.mai()
	}
	if s.status == unknown { // not a pair
		s.again(&before)
		return false
	}
	return true
}

// scaledHalf reports the first dword of a matrix operation after a prefix: ABID is 1.
func scaledHalf(w uint32) bool { return w>>23 == 0x1a7 && w&0x7800 == 0x0800 }

// again returns to the prefix of what is not a pair.
func (s *state) again(before *Inst) {
	*s.in, s.w, s.status = *before, s.prefix, decoded
	s.start(EncVOP3P, s.d.t.vop3p, uint32(before.opcode), 0xffff0000)
}

// scaledOp returns the scaled form of a matrix operation.
func scaledOp(t []entry, opcode uint32) (Op, bool) {
	switch op, _ := lookup(t, opcode); op {
	case VMfmaF3216x16x128F8f6f4:
		return VMfmaScaleF3216x16x128F8f6f4, true
	case VMfmaF3232x32x64F8f6f4:
		return VMfmaScaleF3232x32x64F8f6f4, true
	}
	return OpInvalid, false
}

// f8f6f4Words gives the size of a source of 8 dwords of 8-bit elements whose
// format is CBSZ or BLGP: 0 FP8, 1 BF8, 2 FP6, 3 BF6, 4 FP4.
func f8f6f4Words(format uint8) uint8 {
	switch format {
	case 2, 3:
		return 6
	case 4:
		return 4
	}
	return 8
}

// mai decodes VOP3P-MAI: matrix multiply-accumulate.
func (s *state) mai() {
	in, f := s.in, s.form
	acc := s.bit(15) || !s.d.gfx90a // before the files were unified, always AccVGPRs
	reg := func(acc bool, code uint32, width uint8) Operand {
		if acc {
			return s.agpr(code, width)
		}
		return s.vgpr(code, width)
	}
	s.setDst(reg(acc, s.bits(0, 8), f.dst.width), f.dst.width)
	in.Cbsz, in.Abid, in.Blgp = uint8(s.bits(8, 3)), uint8(s.bits(11, 4)), uint8(s.bits(61, 3))
	for i, sl := range f.src[:f.n] {
		if i < 2 && f8f6f4(in.Op) {
			sl.width = f8f6f4Words([2]uint8{in.Cbsz, in.Blgp}[i])
		}
		code := s.bits(32+9*uint(i), 9)
		smfmacIdx := i == 2 && sl.width == 1 && f.dst.width > 1
		var o Operand
		switch {
		case code >= 256 && i < 2:
			o = reg(s.bit(59+uint(i)), code-256, sl.width)
		case code >= 256 && smfmacIdx:
			o = s.vgpr(code-256, sl.width)
		case code >= 256:
			o = reg(acc, code-256, sl.width)
		case i == 2 && !smfmacIdx && (code >= 128 && code <= 208 || code >= 240 && code <= 248):
			o = Operand(code)
		default:
			s.fail()
		}
		s.setSrc(i, o, sl.width)
	}
}

// f8f6f4 reports the matrix operations whose source formats are CBSZ and BLGP.
func f8f6f4(op Op) bool {
	switch op {
	case VMfmaF3216x16x128F8f6f4, VMfmaF3232x32x64F8f6f4, VMfmaScaleF3216x16x128F8f6f4, VMfmaScaleF3232x32x64F8f6f4,
		VWmmaF3216x16x128F8f6f4, VWmmaScaleF3216x16x128F8f6f4, VWmmaScale16F3216x16x128F8f6f4:
		return true
	}
	return false
}

// dppCtrlKnown reports the dpp_ctrl values that the target has.
func (d *Decoder) dppCtrlKnown(c uint32) bool {
	switch {
	case c <= 0xff:
		return true
	case c >= 0x101 && c <= 0x12f:
		return c&0xf != 0
	case c == 0x140, c == 0x141: // row_mirror, row_half_mirror
		return true
	case c == 0x130, c == 0x134, c == 0x138, c == 0x13c, c == 0x142, c == 0x143: // wave_*, row_bcast
		return d.gen == 9
	case c >= 0x150 && c <= 0x15f: // row_newbcast, row_share
		return d.gfx90a || d.gen >= 10
	}
	return c >= 0x160 && c <= 0x16f && d.gen >= 10 // row_xmask
}
