// Package lane holds what vector instructions do to the lanes of a wave.
//
// A kernel computes one instruction over all lanes selected by EXEC. The
// kernels here are portable Go: they are the reference that every faster
// version is held equal to, bit for bit.
package lane

import "unsafe"

// Row is one VGPR of a wave: one dword per lane. Wave32 uses lanes 0..31.
//
// An operand wider than 32 bits is passed as its first row; the following
// rows (contiguous in memory) hold the higher dwords. Use Rows to reach them.
// 16-bit operands are passed in bits 15:0 with bits 31:16 ignored.
type Row [64]uint32

// Rows returns the n consecutive rows that start at r. The caller guarantees
// that they exist in one allocation.
func Rows(r *Row, n int) []Row { return unsafe.Slice(r, n) }

// Mode is the part of the MODE register that arithmetic depends on, in the
// register's own bit positions (abi.md C.4): [1:0] f32 rounding, [3:2] f16 and
// f64 rounding, [5:4] f32 denormals, [7:6] f16 and f64 denormals, 8 DX10_CLAMP,
// 9 IEEE, 23 FP16_OVFL.
//
// Rounding is 0 nearest even, 1 towards plus infinity, 2 towards minus
// infinity, 3 towards zero. Denormals: bit 0 keeps denormal sources, bit 1
// keeps denormal results; a clear bit flushes to zero with the sign kept.
type Mode uint32

// Env is what a kernel may depend on or produce besides its rows.
type Env struct {
	Mode Mode
	// CarryIn is the mask operand of v_addc, v_subb, v_cndmask and
	// v_div_fmas (VCC or the VOP3 SGPR pair). CarryOut is the mask result of
	// instructions with a scalar second destination (carry out, v_div_scale);
	// a kernel sets the bits of active lanes and leaves the others 0.
	CarryIn, CarryOut uint64
	// Clamp asks an integer or packed kernel to saturate. Clamping of
	// unpacked floating-point results, omod, abs and neg of unpacked operands
	// are applied outside the kernel.
	Clamp bool
	// Packed operand selectors and sign modifiers, applied by the kernels of
	// packed and mixed instructions (Kernel.Packed) themselves.
	OpSel, OpSelHi, NegLo, NegHi, Abs uint8
	// Matrix modifiers.
	Cbsz, Abid, Blgp uint8
	// Gen selects behaviour that differs between families.
	Gen Gen
}

// Gen is a hardware generation as far as arithmetic differs.
type Gen uint8

// Generations.
const (
	GenGFX900  Gen = iota // gfx900, gfx906
	GenGFX908             // MI100
	GenGFX90A             // MI200
	GenGFX940             // gfx942
	GenGFX950             // MI350
	GenGFX10              // gfx10.x
	GenGFX11              // gfx11.x
	GenGFX12              // gfx12.0
	GenGFX1250            // gfx125x
)

// Fn computes d from a, b and c in the lanes of exec. d may overlap any source
// in any way: a kernel reads all of a lane's sources before it writes that
// lane, and a cross-lane kernel reads everything before it writes anything.
// Lanes outside exec keep their value (matrix kernels ignore exec).
// Unused sources are nil.
type Fn func(d, a, b, c *Row, exec uint64, e *Env)

// CmpFn compares a with b and returns the mask of lanes of exec where the
// comparison holds; bits outside exec are 0.
type CmpFn func(a, b *Row, exec uint64, e *Env) uint64

// Type is the element type of an operand: it decides how inline constants
// expand and how neg, abs, omod and clamp act.
type Type uint8

// Operand types. Bnn are untyped bits: integer inline constants expand as
// integers, and neg and abs act on them as on floating point of that width.
const (
	TypeNone Type = iota
	B16
	I16
	U16
	F16
	BF16
	B32
	I32
	U32
	F32
	B64
	I64
	U64
	F64
	V2F16 // two 16-bit floats in a dword
	V2BF16
	V2I16
	V2U16
	V2F32 // two dwords
	V2I32
	V2B32
	B96
	B128
	B256
	B512
	B1024
	Mask // a lane mask in SGPRs: VCC or a scalar pair
)

// Kernel is one instruction's meaning and the types of its operands.
type Kernel struct {
	Fn  Fn
	Cmp CmpFn // compares; then Fn is nil

	Dst Type
	Src [3]Type

	// Packed kernels apply op_sel, op_sel_hi and neg themselves (VOP3P,
	// v_mad_mix, v_fma_mix, dot products). For the others the caller moves
	// the selected half to bits 15:0 first.
	Packed bool
	// Matrix kernels ignore EXEC and work on whole register tuples.
	Matrix bool
	// CarryIn and CarryOut tell which masks of Env are used.
	CarryIn, CarryOut bool
	// DstIsSrc tells that the destination's old value is the third source
	// (v_fmac, v_mac, v_dot2c …): the caller passes it as c. It is not set
	// for v_smfmac, whose third source is the index register: those read
	// their accumulators from d.
	DstIsSrc bool
	// KeepHigh tells that a 16-bit result leaves bits 31:16 of the
	// destination unchanged; otherwise gfx9 writes zero there.
	KeepHigh bool
	// CmpX tells that a compare also writes EXEC.
	CmpX bool
	// Approx marks results that are within a documented bound rather than
	// bit-exact.
	Approx bool
}

// Kernels maps a mnemonic without encoding suffix ("v_add_f32") to its
// kernel. It is filled during package initialisation and not changed later.
var Kernels = map[string]Kernel{}

func register(m map[string]Kernel) {
	for name, k := range m {
		if _, dup := Kernels[name]; dup {
			panic("lane: two kernels for " + name)
		}
		Kernels[name] = k
	}
}
