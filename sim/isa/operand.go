package isa

import "encoding/binary"

// scalarReg maps a 7-bit scalar register number of width dwords. Tuples drop the
// low bits of the number, as LLVM and the hardware do.
func (d *Decoder) scalarReg(code uint32, width uint8) (Operand, bool) {
	sgprs := uint32(102)
	if d.gen >= 10 {
		sgprs = 106
		if d.gen >= 11 && code>>1 == 62 { // gfx11 swapped M0 and NULL
			code ^= 1
		}
		if code == 125 {
			return OperandNull, true
		}
	}
	switch {
	case code < sgprs:
		return alignedSGPR(code, 0, sgprs, width)
	case code >= 108 && code < 124:
		return alignedSGPR(code, 108, 124, width)
	case code == 125, code > 127:
		return OperandNone, false
	case width <= 1:
		return Operand(code), true
	case width == 2:
		// FLAT_SCRATCH, XNACK_MASK, VCC and EXEC have names as pairs; M0 has not.
		return Operand(code), code&1 == 0 && code != 124
	}
	return OperandNone, false
}

func alignedSGPR(code, first, end uint32, width uint8) (Operand, bool) {
	switch {
	case width == 2:
		code = first + (code-first)&^1
	case width == 3 && first > 0: // LLVM has no such tuples of TTMPs
		return OperandNone, false
	case width > 2:
		code = first + (code-first)&^3
	}
	return Operand(code), code+uint32(width) <= end
}

// scalarSrc maps an 8-bit scalar source of width dwords that takes constants of
// type typ, or none if that is 0.
func (s *state) scalarSrc(code uint32, width uint8, typ constant) Operand {
	switch {
	case code < 128:
		if o, ok := s.d.scalarReg(code, width); ok {
			return o
		}
	case code <= 208, code >= 240 && code <= 248:
		if typ != 0 {
			return Operand(code)
		}
	case code >= 235 && code <= 239, code >= 251 && code <= 253:
		return Operand(code)
	case code == 255 && typ != 0:
		return s.literal()
	case code == 254 && s.d.gfx1250 && (typ == constant64 || typ == constantF64) && width == 2:
		return s.literal64()
	case code == 230 && s.d.gfx1250, code == 231 && s.d.gfx1250 && width == 1: // FLAT_SCRATCH_BASE
		return Operand(code)
	}
	s.fail()
	return OperandNone
}

// literal takes the dword after the instruction.
func (s *state) literal() Operand {
	enc := s.in.Enc
	if (enc == EncVOP3 || enc == EncVOP3P) && s.d.gen == 9 || enc == EncSDWA || enc == EncDPP {
		s.fail()
		return OperandNone
	}
	at := int(s.size)
	if len(s.code) < at+4 {
		s.status = truncated
		return OperandNone
	}
	s.in.Size = s.size + 4
	s.in.Literal = uint64(binary.LittleEndian.Uint32(s.code[at:]))
	return OperandLiteral
}

// literal64 takes the two dwords after the instruction. VOP3 cannot have them.
func (s *state) literal64() Operand {
	if s.in.Enc == EncVOP3 || s.in.Enc == EncVOP3P || s.in.Enc == EncDPP {
		s.fail()
		return OperandNone
	}
	at := int(s.size)
	if len(s.code) < at+8 {
		s.status = truncated
		return OperandNone
	}
	s.in.Size = s.size + 8
	s.in.Literal = binary.LittleEndian.Uint64(s.code[at:])
	s.in.Flags |= FlagLiteral64
	return OperandLiteral
}

// src maps an 8- or 9-bit source code to what its slot allows.
func (s *state) src(code uint32, sl slot) Operand {
	switch {
	case code == uint32(OperandLDSDirect) && s.d.gen <= 10:
		if (sl.file == fileAny || sl.file == fileVGPR) && sl.width == 1 {
			return OperandLDSDirect
		}
	case code >= 256 && sl.file == fileAGPR:
		return s.agpr(code-256, sl.width)
	case code >= 256 && sl.file != fileSGPR:
		return s.vgpr(code-256, sl.width)
	case sl.file == fileVGPRInline && (code < 128 || code > 248):
	case code < 256 && sl.file != fileVGPR && sl.file != fileAGPR && sl.file != fileVGPRHalf:
		return s.scalarSrc(code, sl.width, sl.typ)
	}
	s.fail()
	return OperandNone
}

// vgpr maps a VGPR number. A tuple must end within the file and, on gfx90a and
// later of gfx9, start at an even register: llvm-mc prints such an operand with the
// remark "Invalid register" and the assembler refuses it.
func (s *state) vgpr(code uint32, width uint8) Operand {
	if code+uint32(width) > 256 || width > 1 && code&1 != 0 && (s.d.gfx90a || s.d.gfx1250) {
		s.fail()
		return OperandNone
	}
	return OperandVGPR + Operand(code)
}

// agpr maps an AccVGPR number.
func (s *state) agpr(code uint32, width uint8) Operand {
	if o := s.vgpr(code, width); o != OperandNone {
		return o + (OperandAGPR - OperandVGPR)
	}
	return OperandNone
}

// sdst maps a 7-bit scalar destination.
func (s *state) sreg(code uint32, width uint8) Operand {
	o, ok := s.d.scalarReg(code, width)
	if !ok {
		s.fail()
	}
	return o
}

func (s *state) setDst(o Operand, width uint8) { s.in.Dst, s.in.DstWords = o, width }

func (s *state) setSDst(o Operand, width uint8) { s.in.SDst, s.in.SDstWords = o, width }

func (s *state) setSrc(i int, o Operand, width uint8) { s.in.Src[i], s.in.SrcWords[i] = o, width }
