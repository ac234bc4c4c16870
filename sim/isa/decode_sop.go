package isa

// sop decodes the scalar ALU encodings.
func (s *state) sop(w uint32) {
	s.w &= 0xffffffff
	switch {
	case w>>23 == 0x17f:
		s.sopp(w)
	case w>>23 == 0x17e:
		s.sopc(w)
	case w>>23 == 0x17d:
		s.sop1(w)
	case w>>28 == 0xb:
		s.sopk(w)
	default:
		if s.start(EncSOP2, s.d.t.sop2, w>>23&0x7f, 0xff800000) {
			s.sopOperands(w>>16&0x7f, w)
		}
	}
}

func (s *state) sop1(w uint32) {
	if s.start(EncSOP1, s.d.t.sop1, w>>8&0xff, 0xff80ff00) {
		s.sopOperands(w>>16&0x7f, w)
	}
}

func (s *state) sopc(w uint32) {
	if s.start(EncSOPC, s.d.t.sopc, w>>16&0x7f, 0xffff0000) {
		s.sopOperands(0, w)
	}
}

func (s *state) sopOperands(sdst, w uint32) {
	f := s.form
	if f.dst.width > 0 {
		s.setDst(s.sreg(sdst, f.dst.width), f.dst.width)
	}
	for i, sl := range f.src[:f.n] {
		code := w & 0xff
		if sl.field == fieldSrc1 {
			code = w >> 8 & 0xff
		}
		if sl.field == fieldLiteral {
			s.setSrc(i, s.literal(), 1)
			continue
		}
		if sl.width == 0 { // s_set_gpr_idx_on, s_sendmsg_rtn_*: an immediate in the source field
			s.in.Imm = uint16(code)
			continue
		}
		s.setSrc(i, s.src(code, sl), sl.width)
		if s.in.Op == SWakeupBarrier && code == 255 {
			s.fail()
		}
	}
}

func (s *state) sopp(w uint32) {
	if s.start(EncSOPP, s.d.t.sopp, w>>16&0x7f, 0xffff0000) {
		s.in.Imm = uint16(w)
	}
}

func (s *state) sopk(w uint32) {
	if !s.start(EncSOPK, s.d.t.sopk, w>>23&0x1f, 0xff800000) {
		return
	}
	in := s.in
	in.Imm = uint16(w)
	reg := w >> 16 & 0x7f
	switch op := in.Op; {
	case op == SSetregImm32B32:
		s.setSrc(0, s.literal(), 1)
	case op == SSetregB32:
		s.setSrc(0, s.sreg(reg, 1), 1)
	case s.form.dst.width > 0:
		width := s.form.dst.width
		s.setDst(s.sreg(reg, width), width)
		if op >= SCmpkEqI32 && op <= SCmpkLtU32 {
			s.setSrc(0, in.Dst, width)
		}
	}
}
