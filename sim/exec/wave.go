// Package exec runs waves: it decodes code objects once into compact
// programs and executes them, one wave at a time, over lane kernels.
//
// A Group is a work-group with its LDS and waves. Group.Run advances all of
// its waves until they end, wait or use up a budget; who runs which group
// when is the command processor's business.
package exec

import (
	"unsafe"

	"gfxrt/runtime/device"
	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
	"gfxrt/sim/mem"
)

// status tells why a wave is not running.
type status uint8

const (
	running   status = iota
	atBarrier        // s_barrier
	yielded          // s_sleep or a spent budget: others go first
	ended            // s_endpgm
	faulted          // w.fault says why
)

// numScalars is the size of the scalar operand file: the registers 0..127 of
// the operand numbering, then the inline constants at their own operand codes,
// so that reading any of them is one load.
const numScalars = 256

// Wave is the state of one wave.
type Wave struct {
	_ [0]uint64 // aligns S for 64-bit access to register pairs
	// S holds SGPRs, VCC, TTMPs, M0 and EXEC at their operand codes, and the
	// 32-bit values of the inline constants above 127.
	S [numScalars]uint32

	prog  *window // decoded code around pc
	pc    uint32  // index of the next instruction in prog, in dwords
	state status
	scc   uint32

	v   *lane.Row // first VGPR
	nv  uint32    // VGPR rows the wave has
	acc uint32    // row of a0
	na  uint32    // rows from a0 on
	// bases are where the offsets of srcVector and srcConst sources begin.
	bases [2]unsafe.Pointer
	// limit is nv, or 0 while VGPR indexing or VSKIP make every vector
	// instruction take the careful path.
	limit uint32
	env   lane.Env
	tmp   *scratchRows
	mode  uint32
	// general is 0 when MODE is the common one and vector kernels may run,
	// 1 when only the portable kernels are right.
	general uint8

	m *machineState // what all waves of a group share

	index   int    // wave in group
	lanes   int    // 32 or 64
	private uint32 // bytes of private segment a lane
	// scratch is this wave's private memory in hardware's interleaved order;
	// scratchVA is where it appears in the GPU's address space.
	scratch   []byte
	scratchVA uint64

	lastRegion [4]*mem.Region // most recent first

	gprIdx     bool // s_set_gpr_idx_on: M0[7:0] index, M0[15:12] mode
	vskip      bool // s_setvskip
	executed   uint64
	trapStatus uint32
	gwsWaiting bool // arrived at a GWS barrier of generation gwsGen
	gwsGen     uint64

	fault *device.Fault
	// at is the index of the instruction being executed, for fault reports.
	at uint32
}

// scratchRows are the temporary rows operands are assembled in. One set is
// shared by all waves of a worker: nothing in it outlives an instruction.
type scratchRows struct {
	src [3][32]lane.Row
	dst [4]lane.Row
	old lane.Row
	// addr holds the lanes' addresses of a vector memory instruction.
	addr [64]uint64
	step Step // for probes
}

// machineState is what the waves of one group share.
type machineState struct {
	space   *mem.Space
	cache   *codeCache
	target  *Target
	lds     []byte
	gds     *GDS
	group   [3]uint32
	kobj    uint64
	waves   int // in the group
	gws     *GWS
	clock   func() uint64 // timestamp counter
	cycles  func() uint64 // shader clock counter
	message func(msg, m0 uint32)
	observe *Observer
	probe   Probe
}

func (w *Wave) exec() uint64 { return *(*uint64)(unsafe.Pointer(&w.S[isa.OperandExecLo])) }
func (w *Wave) setExec(x uint64) {
	*(*uint64)(unsafe.Pointer(&w.S[isa.OperandExecLo])) = x
}
func (w *Wave) vcc() uint64 { return *(*uint64)(unsafe.Pointer(&w.S[isa.OperandVCCLo])) }

// row returns VGPR or AccVGPR o. The caller has checked the bound.
func (w *Wave) row(o isa.Operand) *lane.Row {
	i := uint32(o) - uint32(isa.OperandVGPR)
	if o >= isa.OperandAGPR {
		i = uint32(o) - uint32(isa.OperandAGPR) + w.acc
	}
	return (*lane.Row)(unsafe.Add(unsafe.Pointer(w.v), uintptr(i)*unsafe.Sizeof(lane.Row{})))
}

// s32 reads a 32-bit scalar operand.
func (w *Wave) s32(o isa.Operand, lit uint64) uint32 {
	if o < isa.OperandSharedBase || (o >= isa.OperandHalf && o <= isa.OperandInv2Pi) {
		return w.S[o&0xff]
	}
	return w.s32Slow(o, lit)
}

func (w *Wave) s32Slow(o isa.Operand, lit uint64) uint32 {
	switch o {
	case isa.OperandLiteral:
		return uint32(lit)
	case isa.OperandSCC:
		return w.scc
	case isa.OperandVCCZ:
		return b2u(w.vcc() == 0)
	case isa.OperandExecZ:
		return b2u(w.exec() == 0)
	case isa.OperandSharedBase:
		return uint32(SharedBase >> 32)
	case isa.OperandPrivateBase:
		return uint32(PrivateBase >> 32)
	case isa.OperandSharedLimit:
		return uint32((SharedBase + apertureSize - 1) >> 32)
	case isa.OperandPrivateLimit:
		return uint32((PrivateBase + apertureSize - 1) >> 32)
	}
	return 0 // POPS_EXITING_WAVE_ID and reserved codes: no pixel waves here
}

// s64 reads a 64-bit scalar operand: a register pair, or a constant expanded
// as type t says.
func (w *Wave) s64(o isa.Operand, lit uint64, t lane.Type) uint64 {
	if o < isa.OperandInt {
		return w.pair(o)
	}
	switch {
	case o <= 208 || (o >= isa.OperandHalf && o <= isa.OperandInv2Pi):
		lo, hi := lane.ConstValue(t, uint16(o))
		return uint64(hi)<<32 | uint64(lo)
	case o == isa.OperandLiteral:
		lo, hi := lane.LiteralValue(t, uint32(lit))
		return uint64(hi)<<32 | uint64(lo)
	case o == isa.OperandSharedBase:
		return SharedBase
	case o == isa.OperandPrivateBase:
		return PrivateBase
	case o == isa.OperandSharedLimit:
		return SharedBase + apertureSize - 1
	case o == isa.OperandPrivateLimit:
		return PrivateBase + apertureSize - 1
	}
	return uint64(w.s32Slow(o, lit))
}

// pair reads two consecutive scalar registers. An odd or last register reads
// as the ISA's even alignment gives it: the low bit is ignored by decoders
// that accept it, so the next register is used as is, within the file.
func (w *Wave) pair(o isa.Operand) uint64 {
	return *(*uint64)(unsafe.Pointer(&w.S[o&0x7f]))
}

// setS writes a 32-bit scalar destination.
func (w *Wave) setS(o isa.Operand, x uint32) {
	if o < isa.OperandInt && o != isa.OperandNull {
		w.S[o] = x
	}
}

// setS64 writes a 64-bit scalar destination, in one store: a later 64-bit read
// of the pair would wait for two.
func (w *Wave) setS64(o isa.Operand, x uint64) {
	if o < isa.OperandInt-1 && o != isa.OperandNull {
		*(*uint64)(unsafe.Pointer(&w.S[o])) = x
	}
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// initConstants fills the inline constants of the scalar file.
func (w *Wave) initConstants() {
	for o := isa.OperandInt; o <= 208; o++ {
		w.S[o], _ = lane.ConstValue(lane.B32, uint16(o))
	}
	for o := isa.OperandHalf; o <= isa.OperandInv2Pi; o++ {
		w.S[o], _ = lane.ConstValue(lane.B32, uint16(o))
	}
}
