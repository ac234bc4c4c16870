package isa

func (p *printer) smem() {
	in := p.in
	if in.Op == SAtcProbe || in.Op == SAtcProbeBuffer {
		p.sep()
		p.imm(in.Imm)
	}
	p.dsts()
	if p.d.prefetch(in.Op) {
		p.prefetch()
		return
	}
	if in.Src[0] == OperandNone {
		return
	}
	p.operand(in.Src[0], in.SrcWords[0], 0)
	p.sep()
	if in.Src[1] != OperandNone {
		p.value(in.Src[1], 1, 0)
		if in.Flags&FlagImm != 0 && (p.d.gen == 9 || p.d.gen == 12 || in.Offset != 0) {
			p.str(" offset:")
			p.signedHex(in.Offset)
		}
	} else if in.Offset == 0 && (p.d.gen == 10 || p.d.gen == 11) {
		p.str("null")
	} else {
		p.signedHex(in.Offset)
	}
	p.coherence()
}

// prefetch prints base, offset, SGPR offset and length.
func (p *printer) prefetch() {
	in := p.in
	if in.Src[0] != OperandNone {
		p.operand(in.Src[0], in.SrcWords[0], 0)
	}
	p.sep()
	p.signedHex(in.Offset)
	soffset := in.Src[1]
	if soffset == OperandNone {
		soffset = OperandNull
	}
	p.operand(soffset, 1, 0)
	p.sep()
	p.int(int64(in.Imm))
}

func (p *printer) signedHex(v int32) {
	if v < 0 {
		p.str("-")
		v = -v
	}
	p.hex(uint64(v))
}

// offset prints an immediate byte offset other than 0.
func (p *printer) offset(name string, v int32) {
	if v != 0 {
		p.str(name)
		p.int(int64(v))
	}
}

// coherence prints the cache policy bits.
func (p *printer) coherence() {
	names := [3]string{" glc", " slc", " scc"}
	if p.d.gen == 12 {
		p.policy()
		return
	}
	if p.d.gfx94 && p.in.Enc != EncSMEM {
		names = [3]string{" sc0", " nt", " sc1"}
	}
	f := p.in.Flags
	p.when(f&FlagGLC != 0, names[0])
	p.when(f&FlagSLC != 0, names[1])
	p.when(f&FlagDLC != 0, " dlc")
	p.when(f&FlagSCC != 0, names[2])
}

func (p *printer) ds() {
	in := p.in
	p.dsts()
	for i, o := range in.Src[:3] {
		if o != OperandNone {
			p.operand(o, in.SrcWords[i], 0)
		}
	}
	if twoOffsets(in.Op) {
		p.offset(" offset0:", in.Offset)
		p.offset(" offset1:", int32(in.Offset1))
	} else if in.Op == DsSwizzleB32 {
		p.swizzle()
	} else {
		p.offset(" offset:", in.Offset)
	}
	// gfx90a has no GDS: LLVM prints gds only on global wave sync.
	p.when(in.Flags&FlagGDS != 0 && (!p.d.gfx90a || in.Op >= DsGwsBarrier && in.Op <= DsGwsSemaV), " gds")
}

func (p *printer) flat() {
	in := p.in
	p.dsts()
	if p.form.n == 0 && p.form.dst.width == 0 { // global_inv, global_wb, tensor_stop
		p.when(in.Op == TensorStop && (in.Th|in.Scope != 0 || in.Flags&(FlagNV|FlagScaleOffset) != 0), " ") // as LLVM
		p.coherence()
		return
	}
	if in.Flags&FlagVAddrOff != 0 {
		p.sep()
		p.str("off")
	} else if in.Src[0] != OperandNone {
		p.operand(in.Src[0], in.SrcWords[0], 0)
	}
	if in.Src[1] != OperandNone {
		p.operand(in.Src[1], in.SrcWords[1], 0)
	}
	switch {
	case in.Flags&FlagSAddr != 0:
		p.operand(in.Src[2], in.SrcWords[2], 0)
	case in.Op == TensorSave:
		p.sep()
		p.str("null")
	case in.Seg != SegFlat:
		p.sep()
		p.str("off")
	}
	p.offset(" offset:", in.Offset)
	p.coherence()
	p.when(in.Flags&FlagLDS != 0, " lds")
}

func (p *printer) buffer() {
	in := p.in
	if p.form.n == 0 {
		p.coherence()
		return
	}
	p.dsts()
	if in.Op != BufferStoreLdsDword {
		if in.Src[0] == OperandNone {
			p.sep()
			p.str("off")
		} else {
			p.operand(in.Src[0], in.SrcWords[0], 0)
		}
	}
	p.operand(in.Src[1], in.SrcWords[1], 0)
	p.operand(in.Src[2], 1, constant32)
	if in.Enc == EncMTBUF {
		p.bufferFormat()
	}
	p.when(in.Flags&FlagIdxen != 0, " idxen")
	p.when(in.Flags&FlagOffen != 0, " offen")
	p.offset(" offset:", in.Offset)
	store := in.Op == BufferStoreLdsDword
	p.when(store, " lds")
	p.coherence()
	p.when(in.Flags&FlagTFE != 0, " tfe")
	p.when(in.Flags&FlagLDS != 0 && !store, " lds")
}

// Names of MTBUF formats on gfx9: BUF_DATA_FORMAT and BUF_NUM_FORMAT of the ISA documents.
var (
	dataFormats = [16]string{"INVALID", "8", "16", "8_8", "32", "16_16", "10_11_11", "11_11_10", "10_10_10_2", "2_10_10_10",
		"8_8_8_8", "32_32", "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15"}
	numFormats = [8]string{"UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"}
)

// bufferFormat prints data and number format; BUF_DATA_FORMAT_8 and
// BUF_NUM_FORMAT_UNORM are the defaults and are left out.
func (p *printer) bufferFormat() {
	if p.d.gen >= 10 {
		p.unifiedFormat()
		return
	}
	d, n := p.in.Format&15, p.in.Format>>4
	if d == 1 && n == 0 {
		return
	}
	p.str(" format:[")
	if d != 1 {
		p.str("BUF_DATA_FORMAT_")
		p.str(dataFormats[d])
		p.when(n != 0, ",")
	}
	if n != 0 {
		p.str("BUF_NUM_FORMAT_")
		p.str(numFormats[n&7])
	}
	p.str("]")
}
