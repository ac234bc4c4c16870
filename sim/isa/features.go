package isa

// features are the differences between processors that the opcode tables do not show.
type features struct {
	gen    uint8 // ISA generation: 9, 10, 11 or 12
	gfx90a bool  // gfx90a and later of gfx9: unified AccVGPRs, even VGPR tuples, no GDS
	gfx94  bool  // gfx940 and later of gfx9: sc0, sc1, nt; SCRATCH without an address
	gfx950 bool

	gfx103  bool // gfx10.3
	gfx115  bool // gfx11.5
	gfx1250 bool
	// tables names the processor whose tables this one shares, if not its own.
	tables string
}

// featuresOf maps a processor that has tables to its features.
var featuresOf = map[string]features{
	"gfx900": {gen: 9},
	"gfx902": {gen: 9, tables: "gfx900"},
	"gfx909": {gen: 9, tables: "gfx900"},
	"gfx90c": {gen: 9, tables: "gfx900"},
	"gfx906": {gen: 9},
	"gfx908": {gen: 9},
	"gfx90a": {gen: 9, gfx90a: true},
	"gfx942": {gen: 9, gfx90a: true, gfx94: true},
	"gfx950": {gen: 9, gfx90a: true, gfx94: true, gfx950: true},

	"gfx1010": {gen: 10},
	"gfx1030": {gen: 10, gfx103: true},
	"gfx1031": {gen: 10, gfx103: true, tables: "gfx1030"},
	"gfx1032": {gen: 10, gfx103: true, tables: "gfx1030"},
	"gfx1033": {gen: 10, gfx103: true, tables: "gfx1030"},
	"gfx1034": {gen: 10, gfx103: true, tables: "gfx1030"},
	"gfx1035": {gen: 10, gfx103: true, tables: "gfx1030"},
	"gfx1036": {gen: 10, gfx103: true, tables: "gfx1030"},

	"gfx1100": {gen: 11},
	"gfx1101": {gen: 11, tables: "gfx1100"},
	"gfx1102": {gen: 11, tables: "gfx1100"},
	"gfx1103": {gen: 11, tables: "gfx1100"},
	"gfx1150": {gen: 11, gfx115: true},
	"gfx1151": {gen: 11, gfx115: true, tables: "gfx1150"},
	"gfx1152": {gen: 11, gfx115: true, tables: "gfx1150"},
	"gfx1153": {gen: 11, gfx115: true, tables: "gfx1150"},

	"gfx1200": {gen: 12},
	"gfx1201": {gen: 12, tables: "gfx1200"},
	"gfx1250": {gen: 12, gfx1250: true},
}
