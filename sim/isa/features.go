package isa

// features are the differences between processors that the opcode tables do not show.
type features struct {
	gen    uint8 // ISA generation: 9, 10, 11 or 12
	gfx90a bool  // gfx90a and later of gfx9: unified AccVGPRs, even VGPR tuples, no GDS
	gfx94  bool  // gfx940 and later of gfx9: sc0, sc1, nt; SCRATCH without an address
	gfx950 bool
}

// featuresOf maps a processor that has tables to its features.
var featuresOf = map[string]features{
	"gfx900": {gen: 9},
	"gfx906": {gen: 9},
	"gfx908": {gen: 9},
	"gfx90a": {gen: 9, gfx90a: true},
	"gfx942": {gen: 9, gfx90a: true, gfx94: true},
	"gfx950": {gen: 9, gfx90a: true, gfx94: true, gfx950: true},
}
