package isa

// policy prints the temporal hint and the scope of gfx12's memory instructions.
func (p *printer) policy() {}
