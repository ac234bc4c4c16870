package isa

// tensorForm is the form of the tensor instructions, which have no table.
var tensorForm = form{}

// tensor decodes tensor_load_to_lds and tensor_store_from_lds of gfx1250, in the
// VIMAGE encoding: two to four groups of a tensor descriptor in SGPRs.
func (s *state) tensor() {
	if !s.third() {
		return
	}
	const ignored = 1<<3 | 0x3f<<8 | 1<<40
	const modifiers = 1<<4 | 1<<7 | 0x1f<<50
	in := s.in
	switch s.w &^ (ignored | modifiers) {
	case 0x7c00_0000_d071_0001:
		in.Op = TensorLoadToLds
	case 0x7c00_0000_d071_4001:
		in.Op = TensorStoreFromLds
	default:
		s.fail()
		return
	}
	in.Enc, s.form = EncMIMG, &tensorForm
	if s.bit(4) {
		in.Flags |= FlagR128
	}
	s.flag(7, FlagNV)
	in.Scope, in.Th = uint8(s.bits(50, 2)), uint8(s.bits(52, 3))
	for i, width := range [4]uint8{4, 8, 4, 4} {
		code := s.w2 >> (8 * i) & 0xff
		o := s.sreg(code, width)
		switch {
		case o != OperandNull:
			s.setSrc(i, o, width)
		case i < 2:
			s.fail()
		}
	}
}
