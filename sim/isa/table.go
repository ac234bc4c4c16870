package isa

// field names where in an encoding an operand comes from.
type field uint8

const (
	fieldNone field = iota
	fieldSdst
	fieldSdata
	fieldSbase
	fieldSoffset
	fieldVdst
	fieldSrc0
	fieldSrc1
	fieldSrc2
	fieldVcc     // not encoded: the assembler prints vcc
	fieldLiteral // the dword that follows
	fieldAddr
	fieldData
	fieldData0
	fieldData1
	fieldSaddr
	fieldVdata
	fieldVaddr
	fieldSrsrc
	fieldSsamp
)

// file restricts the registers that a slot names.
type file uint8

const (
	fileAny file = iota
	fileSGPR
	fileAGPR
)

// slot is one operand of a form: width is in dwords.
type slot struct {
	field field
	file  file
	width uint8
}

// suffix is the encoding suffix that LLVM prints after the mnemonic.
type suffix uint8

const (
	suffixE32 suffix = iota + 1
	suffixE64
	suffixSDWA
	suffixDPP
)

// form is an operand layout that many opcodes share.
type form struct {
	mask   uint64 // bits outside operand and opcode fields that LLVM lets be set
	show   uint64 // those of them that mean something: they change the text
	dst    slot
	sdst   slot
	n      uint8 // slots used in src
	src    [4]slot
	suffix suffix
	matrix bool // MFMA or SMFMAC: VOP3P-MAI field layout
}

// entry is one opcode of one encoding family; a zero Op means the target lacks it.
type entry struct {
	op   Op
	form uint16 // index into forms
}

// tables holds a target's opcodes, by encoding family, indexed by the opcode field.
type tables struct {
	name                               string
	sop2, sopk, sop1, sopc, sopp, smem []entry
	vop1, vop2, vopc, vop3, vop3p      []entry
	vop1SDWA, vop2SDWA, vopcSDWA       []entry
	vop1DPP, vop2DPP, vopcDPP          []entry
	ds, gds, flat, global, scratch     []entry
	mubuf, mtbuf, mimg                 []entry
}

// lookup returns the entry and form of an opcode.
func lookup(t []entry, opcode uint32) (Op, *form) {
	if uint64(opcode) >= uint64(len(t)) || t[opcode].op == OpInvalid {
		return OpInvalid, nil
	}
	e := t[opcode]
	return e.op, &forms[e.form]
}
