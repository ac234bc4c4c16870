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
	fileVGPR
	fileAGPR
	fileHalf       // any, with a half of each VGPR
	fileLow        // any, but of VGPRs only v0..v127
	fileVGPRHalf   // a half of a VGPR
	fileVGPRInline // VGPR or inline constant
)

func (f file) half() bool { return f == fileHalf || f == fileVGPRHalf }

// constant is the type of the constants that a source takes.
type constant uint8

const (
	constant32  constant = iota + 1 // 32 bits, integer or single
	constant64                      // 64 bits; a literal is the low half
	constantF64                     // a double; a literal is the high half
	constantI16
	constantF16
	constantBF16
	constantPkF16  // two halves; a literal is 32 bits
	constantPkBF16 // two bfloats; a literal is 32 bits
)

// slot is one operand of a form: width is in dwords.
type slot struct {
	field field
	file  file
	width uint8
	typ   constant
}

// suffix is the encoding suffix that LLVM prints after the mnemonic.
type suffix uint8

const (
	suffixE32 suffix = iota + 1
	suffixE64
	suffixSDWA
	suffixDPP
	suffixE64DPP
)

// form is an operand layout that many opcodes share.
type form struct {
	mask   uint64 // bits outside the opcode that may be set
	ones   uint64 // bits that must be set: SADDR of FLAT is NULL on gfx10 and later
	show   uint64 // those of them that mean something: they change the text
	dst    slot
	sdst   slot
	n      uint8 // slots used in src
	src    [4]slot
	suffix suffix
	mask2  uint32 // mask of the third dword
	wave64 uint16 // index of the form that replaces this one in wave64, or 0
	ret    uint8  // atomics: width of the value that is returned with GLC
	// graphics marks an instruction that is not decoded.
	graphics bool
	wmma     bool // WMMA or SWMMAC
	matrix   bool // MFMA or SMFMAC: VOP3P-MAI field layout
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
	vop1DPP8, vop2DPP8, vopcDPP8       []entry
	vop3DPP, vop3DPP8                  []entry
	vop3pDPP, vop3pDPP8                []entry
	vopdX, vopdY, vopd3X, vopd3Y       []entry
	ds, gds, flat, global, scratch     []entry
	mubuf, mtbuf, mimg, vintrp         []entry
}

// lookup returns the entry and form of an opcode.
func lookup(t []entry, opcode uint32) (Op, *form) {
	if uint64(opcode) >= uint64(len(t)) || t[opcode].op == OpInvalid {
		return OpInvalid, nil
	}
	e := t[opcode]
	return e.op, &forms[e.form]
}

// noWave64 as form.wave64 marks an instruction that wave64 does not have.
const noWave64 = 1<<16 - 1

// lookup returns the entry and form of an opcode in the decoder's wave size.
func (d *Decoder) lookup(t []entry, opcode uint32) (Op, *form) {
	op, f := lookup(t, opcode)
	if f == nil || f.wave64 == 0 || d.wave != 64 {
		return op, f
	}
	if f.wave64 == noWave64 {
		return OpInvalid, nil
	}
	return op, &forms[f.wave64]
}

// pick returns the table of a vector encoding.
func pick(base Enc, vop1, vop2, vopc, vop3, vop3p []entry) []entry {
	switch base {
	case EncVOP1:
		return vop1
	case EncVOP2:
		return vop2
	case EncVOPC:
		return vopc
	case EncVOP3:
		return vop3
	case EncVOP3P:
		return vop3p
	}
	return nil
}

// tableOf returns the table that an instruction was decoded with.
func (d *Decoder) tableOf(in *Inst) []entry {
	t := d.t
	switch in.Enc {
	case EncSDWA:
		return pick(in.Base, t.vop1SDWA, t.vop2SDWA, t.vopcSDWA, nil, nil)
	case EncDPP:
		if in.DPP.DPP8 {
			return pick(in.Base, t.vop1DPP8, t.vop2DPP8, t.vopcDPP8, t.vop3DPP8, t.vop3pDPP8)
		}
		return pick(in.Base, t.vop1DPP, t.vop2DPP, t.vopcDPP, t.vop3DPP, t.vop3pDPP)
	case EncDS:
		if in.Flags&FlagGDS != 0 {
			return t.gds
		}
		return t.ds
	case EncFLAT:
		return [4][]entry{SegFlat: t.flat, SegScratch: t.scratch, SegGlobal: t.global}[in.Seg&3]
	case EncVOPD:
		if in.VOPD3 {
			return t.vopd3X
		}
	case EncMTBUF:
		if d.gen == 12 { // VBUFFER has both
			return t.mubuf
		}
	}
	byEnc := [...][]entry{EncSOP2: t.sop2, EncSOPK: t.sopk, EncSOP1: t.sop1, EncSOPC: t.sopc, EncSOPP: t.sopp, EncSMEM: t.smem,
		EncVOP1: t.vop1, EncVOP2: t.vop2, EncVOPC: t.vopc, EncVOP3: t.vop3, EncVOP3P: t.vop3p, EncMUBUF: t.mubuf, EncMTBUF: t.mtbuf, EncMIMG: t.mimg, EncVOPD: t.vopdX}
	if int(in.Enc) >= len(byEnc) {
		return nil
	}
	return byEnc[in.Enc]
}
