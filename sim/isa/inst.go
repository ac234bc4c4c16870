// Package isa decodes AMD GPU machine code into one form shared by every
// family, and prints it in LLVM's assembly syntax.
//
// The opcode tables are generated from ops/*.tsv, which llvm-mc produced by
// sweeping each encoding's opcode field; see gen.
package isa

//go:generate go run ./gen

// Operand names the place a value is read from or written to, in the 9-bit
// numbering of the ISA documents, continued past 511 for accumulation VGPRs.
// Every family is mapped to the gfx9 numbering (M0 is 124, NULL is 125) so
// that nothing above the decoder depends on the family.
type Operand uint16

// Operand values. SGPR n is n (0..105), VGPR n is OperandVGPR+n, AccVGPR n is
// OperandAGPR+n.
const (
	OperandSGPR          Operand = 0
	OperandFlatScratchLo Operand = 102 // gfx9 only: FLAT_SCRATCH_LO; _HI is 103
	OperandXnackMaskLo   Operand = 104 // gfx9 only: XNACK_MASK_LO; _HI is 105
	OperandVCCLo         Operand = 106
	OperandVCCHi         Operand = 107
	OperandTTMP          Operand = 108 // ttmp0..ttmp15
	OperandM0            Operand = 124
	OperandNull          Operand = 125
	OperandExecLo        Operand = 126
	OperandExecHi        Operand = 127
	OperandInt           Operand = 128 // 128..192: integers 0..64; 193..208: -1..-16
	OperandSharedBase    Operand = 235
	OperandSharedLimit   Operand = 236
	OperandPrivateBase   Operand = 237
	OperandPrivateLimit  Operand = 238
	OperandPopsExiting   Operand = 239
	OperandHalf          Operand = 240 // 240..247: 0.5 -0.5 1.0 -1.0 2.0 -2.0 4.0 -4.0; 248: 1/(2*pi)
	OperandInv2Pi        Operand = 248
	OperandVCCZ          Operand = 251
	OperandExecZ         Operand = 252
	OperandSCC           Operand = 253
	OperandLDSDirect     Operand = 254
	OperandLiteral       Operand = 255
	OperandVGPR          Operand = 256 // v0..v255
	OperandAGPR          Operand = 512 // a0..a255
	OperandNone          Operand = 0xFFFF
)

// IsVGPR reports whether o is an architectural VGPR.
func (o Operand) IsVGPR() bool { return o >= OperandVGPR && o < OperandAGPR }

// IsAGPR reports whether o is an accumulation VGPR.
func (o Operand) IsAGPR() bool { return o >= OperandAGPR && o < OperandAGPR+256 }

// IsScalar reports whether o is read or written through the scalar register
// numbering 0..127 (SGPRs, VCC, TTMPs, M0, NULL, EXEC).
func (o Operand) IsScalar() bool { return o < OperandInt }

// Enc is the encoding format of an instruction.
type Enc uint8

// Encoding formats, named as the ISA documents name them. EncSDWA and EncDPP
// are VOP1, VOP2 or VOPC with a second dword of that kind; Inst.Base tells which.
const (
	EncNone Enc = iota
	EncSOP2
	EncSOPK
	EncSOP1
	EncSOPC
	EncSOPP
	EncSMEM
	EncVOP1
	EncVOP2
	EncVOPC
	EncVOP3  // VOP3A and VOP3B
	EncVOP3P // packed math and, on gfx908 and later, matrix instructions
	EncSDWA
	EncDPP
	EncDS
	EncFLAT // FLAT, GLOBAL and SCRATCH; Inst.Seg tells which
	EncMUBUF
	EncMTBUF
	EncMIMG
	EncEXP
	EncVINTRP
)

// Seg is the segment of a FLAT-encoded instruction.
type Seg uint8

// Segments.
const (
	SegFlat Seg = iota
	SegScratch
	SegGlobal
)

// Flags are single-bit modifiers of an instruction.
type Flags uint32

// Flag bits, named after the assembler's modifiers. On gfx940 and later GLC,
// SLC and the MUBUF/FLAT SCC bit are spelled sc0, nt and sc1.
const (
	FlagClamp     Flags = 1 << iota
	FlagGLC             // glc, or sc0
	FlagSLC             // slc, or nt
	FlagSCC             // scc, or sc1
	FlagDLC             // gfx10 and later
	FlagNV              // FLAT nv
	FlagLDS             // FLAT/MUBUF: data goes to LDS
	FlagGDS             // DS: global data share
	FlagOffen           // MUBUF/MTBUF
	FlagIdxen           // MUBUF/MTBUF
	FlagTFE             // MUBUF/MTBUF
	FlagSOE             // SMEM soffset_en
	FlagImm             // SMEM imm (offset is immediate)
	FlagSAddr           // FLAT: Src[2] holds the scalar address operand
	FlagVAddrOff        // SCRATCH: no vaddr (saddr or "off" alone)
	FlagBoundCtrl       // DPP bound_ctrl:1 (reads of invalid lanes give 0)
	FlagFI              // DPP fetch inactive (gfx10 and later)
	FlagAcc             // memory instruction whose data register is an AccVGPR (also in Dst/Src)
)

// SDWA holds the fields of the SDWA dword. Selectors are 0..3 BYTE_0..3,
// 4 WORD_0, 5 WORD_1, 6 DWORD. DstUnused is 0 PAD, 1 SEXT, 2 PRESERVE.
type SDWA struct {
	DstSel, DstUnused uint8
	Src0Sel, Src1Sel  uint8
	Sext              uint8 // bit i: source i is sign-extended
}

// DPP holds the fields of the DPP16 dword (dpp_ctrl as encoded), or, with
// DPP8 set, the 24-bit lane selector of DPP8.
type DPP struct {
	Ctrl              uint32
	RowMask, BankMask uint8
	DPP8              bool
}

// Inst is one decoded instruction of any family.
//
// Operand order follows the assembler text: Dst (and SDst when there is a
// second destination), then Src. Memory instructions use
//
//	SMEM        Dst=sdata (stores and atomics too), Src[0]=sbase, Src[1]=soffset or OperandNone, Offset
//	DS          Dst=vdst, Src[0]=addr, Src[1]=data0, Src[2]=data1, Offset (16 bit, or offset0), Offset1
//	FLAT        Dst=vdst, Src[0]=vaddr, Src[1]=vdata, Src[2]=saddr (with FlagSAddr), Offset
//	MUBUF/MTBUF Dst=vdata (loads and stores), Src[0]=vaddr, Src[1]=srsrc, Src[2]=soffset, Offset
//
// Atomics with return write Dst; MUBUF atomics read and write Dst.
// Unused operands are OperandNone.
type Inst struct {
	Op   Op
	Enc  Enc
	Base Enc   // for EncSDWA and EncDPP: EncVOP1, EncVOP2 or EncVOPC; otherwise equal to Enc
	Seg  Seg   // EncFLAT only
	Size uint8 // bytes: 4, 8, 12, 16 or 20

	Dst  Operand
	SDst Operand // VOP3B and VOP2 carry-out mask, or OperandNone. VOPC writes Dst.
	Src  [4]Operand
	// DstWords, SDstWords and SrcWords are the operands' sizes in dwords, 0 for
	// OperandNone. A MUBUF or MTBUF load with TFE counts the status dword, and a
	// compare-and-swap's data counts both values; the returned value of a MUBUF
	// one is then half of DstWords.
	DstWords, SDstWords uint8
	SrcWords            [4]uint8
	// Literal is the value of the literal constant that follows the
	// instruction, meaningful when some Src is OperandLiteral, or for
	// instructions that always carry one (s_setreg_imm32_b32, v_madmk_f32 …).
	Literal uint64

	Flags   Flags
	Neg     uint8 // bit i negates source i; VOP3P: neg_lo
	NegHi   uint8 // VOP3P neg_hi (v_fma_mix*: in Abs instead, which is its meaning there)
	Abs     uint8 // bit i takes the absolute value of source i
	OMod    uint8 // 0 none, 1 *2, 2 *4, 3 /2
	OpSel   uint8 // bit i: source i uses its high half; bit 3: destination high half
	OpSelHi uint8 // VOP3P op_sel_hi
	Cbsz    uint8 // matrix: control broadcast size
	Abid    uint8 // matrix: A-matrix broadcast identifier
	Blgp    uint8 // matrix: B-matrix lane group pattern (f64: neg bits)

	SDWA SDWA
	DPP  DPP

	Offset  int32  // immediate offset in bytes, sign-extended where the encoding is signed
	Offset1 uint8  // DS second offset
	Imm     uint16 // SIMM16 of SOPK and SOPP
	Format  uint8  // MTBUF: dfmt | nfmt<<4

	opcode uint16 // the opcode field, by which Format finds the operand layout again
}
