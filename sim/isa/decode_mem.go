package isa

// signed extends the sign of an n-bit field.
func signed(v uint32, n uint) int32 { return int32(v<<(32-n)) >> (32 - n) }

// smem decodes scalar memory instructions: SOFFSET_EN, IMM and a signed 21-bit offset.
func (s *state) smem() {
	if !s.start(EncSMEM, s.d.t.smem, s.bits(18, 8), 0xfffc0000) {
		return
	}
	in, f := s.in, s.form
	if f.dst.width > 0 {
		s.setDst(s.notExec(s.sreg(s.bits(6, 7), f.dst.width)), f.dst.width)
	} else if f.dst.field == fieldSdata { // s_atc_probe: an immediate in the field
		in.Imm = uint16(s.bits(6, 7))
	}
	if f.n == 0 {
		return
	}
	s.setSrc(0, s.sreg(s.bits(0, 6)<<1, f.src[0].width), f.src[0].width)
	s.flagShown(16, FlagGLC)
	s.flag(15, FlagNV)
	s.flag(14, FlagSOE)
	s.flag(17, FlagImm)
	soe, imm := s.bit(14), s.bit(17)
	if imm {
		in.Offset = signed(s.bits(32, 21), 21)
	}
	switch {
	case soe:
		s.setSrc(1, s.sreg(s.bits(57, 7), 1), 1)
	case !imm:
		s.setSrc(1, s.sreg(s.bits(32, 7), 1), 1)
	}
}

// notExec refuses EXEC and M0, which scalar memory data and FLAT addresses cannot be.
func (s *state) notExec(o Operand) Operand {
	if o == OperandM0 || o == OperandExecLo || o == OperandExecHi {
		s.fail()
	}
	return o
}

// data maps a vector data register: an AccVGPR when the acc bit is set.
func (s *state) data(acc bool, code uint32, width uint8) Operand {
	if acc {
		s.in.Flags |= FlagAcc
		return s.agpr(code, width)
	}
	return s.vgpr(code, width)
}

func (s *state) ds() {
	t, opcode, fixed, gds := s.d.t.ds, s.bits(17, 8), uint64(0xfdff0000), uint(16)
	if s.d.gen >= 10 {
		opcode, fixed, gds = s.bits(18, 8), 0xfffe0000, 17
	}
	if s.bit(gds) {
		t = s.d.t.gds
	}
	if !s.start(EncDS, t, opcode, fixed) {
		return
	}
	in, f := s.in, s.form
	s.flag(gds, FlagGDS)
	acc := s.bit(25) && s.d.gen == 9
	if acc && !s.d.gfx90a {
		s.fail()
		return
	}
	if f.dst.width > 0 {
		s.setDst(s.data(acc, s.bits(56, 8), f.dst.width), f.dst.width)
	}
	for _, sl := range f.src[:f.n] {
		switch sl.field {
		case fieldAddr:
			if gws(in.Op) { // the field holds data0: an AccVGPR with acc
				s.setSrc(0, s.data(acc, s.bits(32, 8), sl.width), sl.width)
			} else {
				s.setSrc(0, s.vgpr(s.bits(32, 8), sl.width), sl.width)
			}
		case fieldData0:
			s.setSrc(1, s.data(acc, s.bits(40, 8), sl.width), sl.width)
		case fieldData1:
			s.setSrc(2, s.data(acc, s.bits(48, 8), sl.width), sl.width)
		}
	}
	if twoOffsets(in.Op) {
		in.Offset, in.Offset1 = int32(s.bits(0, 8)), uint8(s.bits(8, 8))
	} else {
		in.Offset = int32(s.bits(0, 16))
	}
}

// gws reports a global wave sync instruction with an operand.
func gws(op Op) bool { return op == DsGwsInit || op == DsGwsSemaBr || op == DsGwsBarrier }

// twoOffsets reports a DS instruction with two 8-bit offsets.
func twoOffsets(op Op) bool {
	switch op {
	case DsRead2B32, DsRead2B64, DsRead2st64B32, DsRead2st64B64, DsWrite2B32, DsWrite2B64, DsWrite2st64B32, DsWrite2st64B64,
		DsLoad2addrB32, DsLoad2addrB64, DsLoad2addrStride64B32, DsLoad2addrStride64B64,
		DsStore2addrB32, DsStore2addrB64, DsStore2addrStride64B32, DsStore2addrStride64B64,
		DsStorexchg2addrRtnB32, DsStorexchg2addrRtnB64, DsStorexchg2addrStride64RtnB32, DsStorexchg2addrStride64RtnB64,
		DsWrxchg2RtnB32, DsWrxchg2RtnB64, DsWrxchg2st64RtnB32, DsWrxchg2st64RtnB64:
		return true
	}
	return false
}

func (s *state) flat() {
	fixed := uint64(0xfdfcc000)
	t := s.d.t.flat
	seg := Seg(s.bits(14, 2))
	switch seg {
	case SegScratch:
		t = s.d.t.scratch
		if s.d.gfx94 {
			fixed |= 1 << 13
		}
	case SegGlobal:
		t = s.d.t.global
	case 3:
		s.fail()
		return
	}
	if !s.start(EncFLAT, t, s.bits(18, 7), fixed) {
		return
	}
	in, f := s.in, s.form
	in.Seg = seg
	in.Offset = signed(s.bits(0, 13), 13)
	if seg == SegFlat {
		in.Offset = int32(s.bits(0, 12))
		if s.bit(12) { // the assembler has no such offset
			s.fail()
			return
		}
	}
	if seg != SegScratch || !s.d.gfx94 { // there, bit 13 is SVE
		s.flag(13, FlagLDS)
	}
	s.flag(16, FlagGLC)
	s.flag(17, FlagSLC)
	s.flagShown(25, FlagSCC)
	acc := s.bit(55)
	if acc && !s.d.gfx90a { // NV, which LLVM does not know
		s.fail()
		return
	}
	switch {
	case in.Flags&FlagLDS != 0:
		if acc { // no data register
			s.fail()
		}
	case f.dst.width > 0:
		s.setDst(s.data(acc, s.bits(56, 8), f.dst.width), f.dst.width)
	case f.ret > 0 && in.Flags&FlagGLC != 0:
		if acc && s.d.gfx94 && noAccReturn(in) {
			s.fail()
		}
		s.setDst(s.data(acc, s.bits(56, 8), f.ret), f.ret)
	}
	for _, sl := range f.src[:f.n] {
		if sl.field == fieldData {
			s.setSrc(1, s.data(acc, s.bits(40, 8), sl.width), sl.width)
		}
	}
	s.flatAddress(seg, s.bits(48, 7))
}

// noAccReturn reports the atomics of gfx940 and later that LLVM does not let
// return to an AccVGPR, some only with sc1.
func noAccReturn(in *Inst) bool {
	switch in.Op {
	case GlobalAtomicAddF32, GlobalAtomicPkAddF16:
		return true
	case FlatAtomicAddF64, FlatAtomicMinF64, FlatAtomicMaxF64, GlobalAtomicAddF64, GlobalAtomicMinF64, GlobalAtomicMaxF64:
		return in.Flags&FlagSCC != 0
	}
	return false
}

// flatAddress fills vaddr and saddr. SADDR 0x7f means none.
func (s *state) flatAddress(seg Seg, saddr uint32) {
	in := s.in
	addr := s.bits(32, 8)
	switch seg {
	case SegFlat:
		s.setSrc(0, s.vgpr(addr, 2), 2)
	case SegGlobal:
		if saddr == 0x7f {
			s.setSrc(0, s.vgpr(addr, 2), 2)
			return
		}
		s.setSrc(0, s.vgpr(addr, 1), 1)
		s.setSrc(2, s.notExec(s.sreg(saddr, 2)), 2)
		in.Flags |= FlagSAddr
	case SegScratch:
		useSaddr := saddr != 0x7f
		useVaddr := !useSaddr
		if s.d.gfx94 {
			useVaddr = s.bit(13)
		}
		if useVaddr {
			s.setSrc(0, s.vgpr(addr, 1), 1)
		} else {
			in.Flags |= FlagVAddrOff
		}
		if useSaddr {
			in.Flags |= FlagSAddr
			s.setSrc(2, s.sreg(saddr, 1), 1)
		}
	}
}

func (s *state) mubuf() {
	if opcode := s.bits(18, 7); !s.start(EncMUBUF, s.d.t.mubuf, opcode, 0xfdfc0000|1<<16) {
		return
	}
	if lds := s.bit(16); lds && s.form.mask>>16&1 == 0 && s.in.Op != BufferStoreLdsDword || !lds && s.in.Op == BufferStoreLdsDword {
		s.fail()
		return
	}
	if s.form.n == 0 { // cache control: LLVM lets bits be set that mean nothing there
		s.w &= s.form.show
	}
	s.flag(14, FlagGLC)
	s.flagShown(15, FlagSCC)
	s.flag(16, FlagLDS)
	s.flag(17, FlagSLC)
	s.buffer()
}

func (s *state) mtbuf() {
	if !s.start(EncMTBUF, s.d.t.mtbuf, s.bits(15, 4), 0xfc078000) {
		return
	}
	s.flag(14, FlagGLC)
	s.flagShown(53, FlagSCC)
	s.flag(54, FlagSLC)
	s.in.Format = uint8(s.bits(19, 4) | s.bits(23, 3)<<4)
	s.buffer()
}

// buffer fills what MUBUF and MTBUF share.
func (s *state) buffer() {
	in, f := s.in, s.form
	if f.n == 0 {
		return
	}
	in.Offset = int32(s.bits(0, 12))
	s.flag(12, FlagOffen)
	s.flag(13, FlagIdxen)
	if in.Flags&FlagLDS != 0 && s.bit(55) { // no data register
		s.fail()
		return
	}
	if f.dst.width > 0 && in.Flags&FlagLDS == 0 {
		width := f.dst.width
		if s.bit(55) && !s.d.gfx90a { // one more dword for the status
			in.Flags |= FlagTFE
			width++
		}
		s.setDst(s.data(s.bit(55) && s.d.gfx90a, s.bits(40, 8), width), width)
	}
	if width := uint8(s.bits(12, 1) + s.bits(13, 1)); width > 0 {
		s.setSrc(0, s.vgpr(s.bits(32, 8), width), width)
	}
	s.setSrc(1, s.sreg(s.bits(48, 5)<<2, 4), 4)
	if code := s.bits(56, 8); code == 255 {
		s.fail()
	} else {
		s.setSrc(2, s.scalarSrc(code, 1, constant32), 1)
	}
}
