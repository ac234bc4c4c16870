package isa

func (s *state) vopd() { s.fail() }
