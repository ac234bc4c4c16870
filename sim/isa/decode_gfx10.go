package isa

import "encoding/binary"

// family10 finds the encoding on gfx10 and later. RDNA and RDNA2, 3, 3.5 and 4 ISA
// documents, chapter Microcode Formats.
func (s *state) family10() {
	w := uint32(s.w)
	switch {
	case w>>31 == 0:
		s.vop12c(w)
	case w>>30 == 2:
		s.sop(w)
	case s.d.gen == 10 && w>>26 == 0x32, s.d.gen >= 11 && w>>24 == 0xce && !s.d.gfx1250: // VINTRP, LDSDIR
		s.status = unsupported
	default:
		s.long10(w)
	}
}

// long10 decodes the encodings of 64 bits and more of gfx10 and later.
func (s *state) long10(w uint32) {
	if !s.second() {
		return
	}
	gen := s.d.gen
	switch op := w >> 26; {
	case op == 0x35:
		s.vop3()
	case w>>24 == 0xcc:
		s.vop3p()
	case op == 0x3d:
		s.smem10()
	case op == 0x36:
		s.ds()
	case gen < 12 && op == 0x37:
		s.flat10()
	case gen < 12 && op == 0x38:
		s.mubuf10()
	case gen < 12 && op == 0x3a:
		s.mtbuf10()
	case gen == 12 && op == 0x3b:
		s.flat12()
	case gen == 12 && op == 0x31:
		s.vbuffer()
	case gen >= 11 && op == 0x32:
		s.vopd()
	case s.d.gfx1250 && w>>24 == 0xcf:
		s.vopd3()
	case s.d.gfx1250 && op == 0x34:
		s.tensor()
	case s.d.graphics(w):
		s.status = unsupported
	default:
		s.fail()
	}
}

// graphics reports the encodings of image, export and interpolation instructions.
func (d *Decoder) graphics(w uint32) bool {
	switch op := w >> 26; {
	case d.gfx1250:
		return false
	case op == 0x3e, op == 0x3c && d.gen < 12: // EXP, MIMG
		return true
	case w>>24 == 0xcd && d.gen >= 11: // VINTERP
		return true
	}
	return d.gen == 12 && (w>>26 == 0x34 || w>>26 == 0x39) // VIMAGE, VSAMPLE
}

// third takes the dword at byte 8 of an encoding of 96 bits.
func (s *state) third() bool {
	s.in.Size = 12
	if len(s.code) < 12 {
		s.status = truncated
		return false
	}
	s.w2 = binary.LittleEndian.Uint32(s.code[8:])
	return true
}

// smem10 decodes scalar memory instructions: SOFFSET is an SGPR or NULL, and there
// is always an immediate offset.
func (s *state) smem10() {
	opcode, fixed, width := s.bits(18, 8), uint64(0xfffc0000), uint(21)
	if s.d.gen == 12 {
		opcode, fixed, width = s.bits(13, 6), 0xfc07e000, 24
	}
	if !s.start(EncSMEM, s.d.t.smem, opcode, fixed) {
		return
	}
	in, f := s.in, s.form
	if f.dst.width > 0 {
		s.setDst(s.notExec(s.sreg(s.bits(6, 7), f.dst.width)), f.dst.width)
	} else if in.Op == SAtcProbe || in.Op == SAtcProbeBuffer { // an immediate in the field
		in.Imm = uint16(s.bits(6, 7))
	} else if s.d.prefetch(in.Op) {
		in.Imm = uint16(s.bits(6, 5))
		if in.Op == SBufferPrefetchData && s.bit(55) { // a negative offset
			s.fail()
			return
		}
	}
	switch s.d.gen {
	case 10:
		s.flagShown(14, FlagDLC)
		s.flagShown(16, FlagGLC)
	case 11:
		s.flagShown(13, FlagDLC)
		s.flagShown(14, FlagGLC)
	default:
		in.Scope, in.Th = uint8(s.shown(21, 2)), uint8(s.shown(23, 2))
		s.flagShown(20, FlagNV)
		s.flagShown(56, FlagScaleOffset)
	}
	if f.n == 0 {
		return
	}
	in.Flags |= FlagImm
	in.Offset = signed(s.bits(32, width), width)
	for _, sl := range f.src[:f.n] {
		switch sl.field {
		case fieldSbase:
			s.setSrc(0, s.sreg(s.bits(0, 6)<<1, sl.width), sl.width)
		case fieldSoffset:
			if o := s.sreg(s.bits(57, 7), 1); o != OperandNull {
				in.Flags |= FlagSOE
				s.setSrc(1, o, 1)
			}
		}
	}
}

// prefetch reports the scalar prefetches, whose SDATA field is an immediate length.
func (d *Decoder) prefetch(op Op) bool {
	switch op {
	case SPrefetchInst, SPrefetchInstPcRel, SPrefetchData, SPrefetchDataPcRel, SBufferPrefetchData:
		return true
	}
	return false
}

// flat10 decodes FLAT, GLOBAL and SCRATCH of gfx10 and gfx11.
func (s *state) flat10() {
	seg, fixed := Seg(s.bits(14, 2)), uint64(0xfdfcc000)
	if s.d.gen == 11 {
		seg, fixed = Seg(s.bits(16, 2)), 0xfdff0000
	}
	if !s.flatStart(seg, s.bits(18, 7), fixed) {
		return
	}
	in := s.in
	if s.d.gen == 11 {
		in.Offset = signed(s.bits(0, 13), 13)
		s.flag(13, FlagDLC)
		s.flag(14, FlagGLC)
		s.flag(15, FlagSLC)
	} else {
		in.Offset = signed(s.bits(0, 12), 12)
		s.flag(12, FlagDLC)
		s.flag(13, FlagLDS)
		s.flag(16, FlagGLC)
		s.flag(17, FlagSLC)
	}
	if seg == SegFlat && in.Offset < 0 {
		s.fail()
		return
	}
	s.flatOperands(in.Flags&FlagGLC != 0, s.bits(56, 8), s.bits(40, 8), s.bits(32, 8), s.bits(48, 7), s.bit(55))
}

// flatStart looks up an opcode of the segment's table.
func (s *state) flatStart(seg Seg, opcode uint32, fixed uint64) bool {
	if seg > SegGlobal {
		s.fail()
		return false
	}
	s.in.Seg = seg
	return s.start(EncFLAT, [...][]entry{SegFlat: s.d.t.flat, SegScratch: s.d.t.scratch, SegGlobal: s.d.t.global}[seg], opcode, fixed)
}

// flatOperands fills the operands of FLAT, GLOBAL and SCRATCH of gfx10 and later.
// ret asks for the value before an atomic; sve says that SCRATCH has a VGPR address.
func (s *state) flatOperands(ret bool, vdst, vdata, vaddr, saddr uint32, sve bool) {
	in, f := s.in, s.form
	switch {
	case in.Flags&FlagLDS != 0: // no data register
	case f.dst.width > 0:
		s.setDst(s.vgpr(vdst, f.dst.width), f.dst.width)
	case f.ret > 0 && ret:
		s.setDst(s.vgpr(vdst, f.ret), f.ret)
	}
	addr := true
	for _, sl := range f.src[:f.n] {
		if sl.field == fieldData {
			s.setSrc(1, s.vgpr(vdata, sl.width), sl.width)
		}
	}
	sreg, none := OperandNone, false
	if s.d.gfx103 && saddr == 0x7f && in.Seg == SegScratch {
		none = true
	} else {
		sreg = s.sreg(saddr, 2-uint8(in.Seg&SegScratch))
		none = sreg == OperandNull
	}
	switch in.Seg {
	case SegScratch:
		if s.d.gen >= 11 {
			addr = sve
		} else {
			addr = none && saddr != 0x7f
		}
		if !addr {
			in.Flags |= FlagVAddrOff
		} else {
			s.setSrc(0, s.vgpr(vaddr, 1), 1)
		}
		if !none {
			in.Flags |= FlagSAddr
			s.setSrc(2, sreg, 1)
			if sreg == OperandExecHi {
				s.fail()
			}
		}
	case SegGlobal:
		addr = f.hasVAddr()
		if none {
			if addr {
				s.setSrc(0, s.vgpr(vaddr, 2), 2)
			}
			return
		}
		if addr {
			s.setSrc(0, s.vgpr(vaddr, 1), 1)
		}
		s.setSrc(2, s.notExec(sreg), 2)
		in.Flags |= FlagSAddr
	default:
		if none || s.form.ones&0x7f != 0 || s.d.gen < 12 {
			s.setSrc(0, s.vgpr(vaddr, 2), 2)
			return
		}
		in.Flags |= FlagSAddr
		s.setSrc(0, s.vgpr(vaddr, 1), 1)
		s.setSrc(2, s.notExec(sreg), 2)
	}
}

// hasVAddr reports whether a GLOBAL form has a vector address: global_load_dword_addtid
// has not. The probe saw it change with SADDR.
func (f *form) hasVAddr() bool {
	for _, sl := range f.src[:f.n] {
		if sl.file == fileAny && (sl.field == fieldSaddr || sl.field == fieldAddr) {
			return true
		}
	}
	return false
}

// flat12 decodes VFLAT, VGLOBAL and VSCRATCH of gfx12.
func (s *state) flat12() {
	if !s.third() || !s.flatStart(Seg(s.bits(24, 2)), s.bits(14, 8), 0xff3fc000) {
		return
	}
	in := s.in
	in.Scope, in.Th = uint8(s.shown(50, 2)), uint8(s.shown(52, 3))
	in.Offset = signed(s.w2>>8, 24)
	s.flagShown(48, FlagScaleOffset)
	s.flagShown(7, FlagNV)
	if s.form.n == 0 && s.form.dst.width == 0 { // global_inv, global_wb
		return
	}
	ret := in.Th&1 != 0
	if ret && s.form.ret > 0 {
		in.Flags |= FlagGLC
	}
	s.flatOperands(ret, s.bits(32, 8), s.bits(55, 8), s.w2&0xff, s.bits(0, 7), s.bit(49))
}

func (s *state) mubuf10() {
	if !s.start(EncMUBUF, s.d.t.mubuf, s.bits(18, 8), 0xfffc0000) {
		return
	}
	if s.d.gen == 10 {
		s.flagShown(16, FlagLDS)
	}
	s.buffer10()
}

func (s *state) mtbuf10() {
	if s.d.gen == 10 {
		if !s.start(EncMTBUF, s.d.t.mtbuf, s.bits(16, 3)|s.bits(53, 1)<<3, 0xfc070000|1<<53) {
			return
		}
	} else if !s.start(EncMTBUF, s.d.t.mtbuf, s.bits(15, 4), 0xfc078000) {
		return
	}
	s.in.Format = uint8(s.bits(19, 7))
	s.buffer10()
}

// buffer10 fills what MUBUF and MTBUF of gfx10 and gfx11 share.
func (s *state) buffer10() {
	in, f := s.in, s.form
	if f.n == 0 {
		return
	}
	in.Offset = int32(s.bits(0, 12))
	if s.d.gen == 10 {
		s.flag(12, FlagOffen)
		s.flag(13, FlagIdxen)
		s.flagShown(14, FlagGLC)
		s.flagShown(15, FlagDLC)
		s.flagShown(54, FlagSLC)
		s.flagShown(55, FlagTFE)
		if in.Flags&FlagLDS != 0 && s.bit(55) { // no data register
			s.fail()
			return
		}
	} else {
		s.flagShown(12, FlagSLC)
		s.flagShown(13, FlagDLC)
		s.flagShown(14, FlagGLC)
		s.flagShown(53, FlagTFE)
		s.flag(54, FlagOffen)
		s.flag(55, FlagIdxen)
	}
	s.bufferOperands(s.bits(40, 8), s.bits(32, 8))
	s.setSrc(1, s.sreg(s.bits(48, 5)<<2, 4), 4)
	if code := s.bits(56, 8); code == 255 {
		s.fail()
	} else {
		s.setSrc(2, s.scalarSrc(code, 1, constant32), 1)
	}
}

// bufferOperands fills data and address of a buffer instruction.
func (s *state) bufferOperands(vdata, vaddr uint32) {
	in, f := s.in, s.form
	if f.dst.width > 0 && in.Flags&FlagLDS == 0 {
		width := f.dst.width
		if in.Flags&FlagTFE != 0 {
			width++
		}
		s.setDst(s.vgpr(vdata, width), width)
	}
	width := uint8(0)
	if in.Flags&FlagOffen != 0 {
		width++
	}
	if in.Flags&FlagIdxen != 0 {
		width++
	}
	if width > 0 {
		s.setSrc(0, s.vgpr(vaddr, width), width)
	}
}

// vbuffer decodes VBUFFER of gfx12, untyped and typed.
func (s *state) vbuffer() {
	if !s.third() || !s.start(EncMUBUF, s.d.t.mubuf, s.bits(14, 8), 0xfc3fc000) {
		return
	}
	in := s.in
	if s.form.n == 0 {
		return
	}
	in.Offset = signed(s.w2>>8, 24)
	in.Scope, in.Th = uint8(s.shown(50, 2)), uint8(s.shown(52, 3))
	s.flagShown(22, FlagTFE)
	s.flag(62, FlagOffen)
	s.flag(63, FlagIdxen)
	s.flagShown(7, FlagNV)
	if in.Op >= TbufferLoadD16FormatX && in.Op <= TbufferStoreFormatXyzw {
		in.Enc = EncMTBUF
		in.Format = uint8(s.bits(55, 7))
	}
	if in.Th&1 != 0 && s.form.ret > 0 {
		in.Flags |= FlagGLC
	}
	s.bufferOperands(s.bits(32, 8), s.w2&0xff)
	s.setSrc(1, s.sreg(s.bits(41, 9), 4), 4)
	s.setSrc(2, s.sreg(s.bits(0, 7), 1), 1)
}
