package exec

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
	"gfxrt/sim/mem"
)

// form is how an instruction's operands are resolved before its kernel runs.
type form = uint32

const (
	formUndecoded form = iota // not looked at yet
	formNop                   // nothing to do: waits and hints
	formRun                   // in.run does everything: scalar, memory, control
	formV1                    // fn(d, a), plain operands
	formV2                    // fn(d, a, b)
	formV3                    // fn(d, a, b, c)
	formVAcc                  // fn(d, a, b, d): the destination is the third source
	formVCmp                  // cmp(a, b) to a scalar pair
	formVMask                 // fn(d, a, b) under a mask in a scalar pair
	formVCarry                // fn with a carry mask out, perhaps one in
	formVVCC                  // fn(d, a, b, c) that reads VCC implicitly
	formVSigned               // fn(d, a, b, c) with abs or neg on sources
	formVPacked               // fn that applies its own selectors
	formVFull                 // any VALU instruction with modifiers
)

// sourceKind tells where a VALU source comes from.
type sourceKind uint8

const (
	srcVector sourceKind = iota // VGPRs
	srcConst                    // rows built at decode, in the first chunk
	srcFar                      // rows built at decode, in another chunk
	srcAcc                      // AccVGPRs
	srcNone
	// 32-bit and 64-bit scalar operands, splat to temporary rows of the
	// source's own position.
	srcScalar
	srcPair = srcScalar + 3
)

// source is a resolved VALU source operand.
type source struct {
	off  uint32 // srcVector: byte offset in the wave's rows; srcConst: in the constant rows
	reg  isa.Operand
	kind sourceKind // for scalars plus the position, 0 to 2
	typ  lane.Type
}

// inst is one decoded instruction in executable form: one cache line of what
// the loop needs, and a pointer to the rest. form is written last, atomically,
// so that other waves see a whole instruction or none.
type inst struct {
	form form
	// maxV is how many VGPRs the operands reach. accBit in it marks an
	// instruction with AccVGPRs, so that one compare with Wave.limit sends it
	// and all out-of-range ones the careful way.
	maxV   uint16
	size   uint8 // dwords
	nsrc   uint8
	dst    isa.Operand
	sreg   [2]uint8 // where a scalar instruction's sources lie in Wave.S
	dstOff uint32   // byte offset of a VGPR destination in the wave's rows
	fn     lane.Fn  // the kernel for the common MODE, perhaps vector code
	run    func(w *Wave, in *inst)
	*coldInst
	src [3]source
}

// decoded reports whether in is a known instruction.
func (in *inst) decoded() bool { return in.coldInst != nil && in.i != nil }

// selectors are the modifiers that packed kernels apply themselves.
type selectors struct {
	opSel, opSelHi, negLo, negHi, abs uint8
	clamp                             bool
}

// coldInst is what only some instructions have.
type coldInst struct {
	k        *lane.Kernel
	i        *isa.Inst
	anyMode  lane.Fn       // the portable kernel, for any MODE
	cmp      [2]lane.CmpFn // compares: for the common MODE, for any
	maxA     uint16        // how many AccVGPRs the operands reach
	modified bool          // SDWA, op_sel, neg or abs on unpacked operands
	merged   bool          // the result goes through a temporary row
	inner    func(w *Wave, in *inst)
	sel      selectors
	m        *memOp
	err      error // why the bytes are not an instruction
}

const (
	windowShift = 14 // bytes of code in one window: 16 KiB
	windowBytes = 1 << windowShift
	windowInsts = windowBytes / 4
)

// window is a span of decoded code. Instructions sit at their dword offset,
// so that a branch is an index.
type window struct {
	insts [windowInsts]inst // first, so that each is a cache line
	base  uint64
}

// codeCache maps code addresses to windows for all waves of a device.
type codeCache struct {
	space  *mem.Space
	target *Target
	// portable keeps vector kernels out of what is decoded.
	portable bool
	mu       sync.RWMutex
	windows  map[uint64]*window

	decodeMu sync.Mutex
	consts   map[constKey]uint32 // where constant rows lie
	used     uint32              // bytes of them
	chunks   constChunks
}

// constChunks are the rows of constant operands. They never move, and are
// shared by all instructions that use the same constant.
type constChunks [1 << (32 - chunkShift)]unsafe.Pointer

const (
	chunkShift = 19 // bytes of a chunk: 2,048 rows
	chunkBytes = 1 << chunkShift
)

// at returns the rows at an offset that constant gave.
func (c *constChunks) at(off uint32) *lane.Row {
	return (*lane.Row)(unsafe.Add(c[off>>chunkShift], off&(chunkBytes-1)))
}

type constKey struct {
	lo, hi uint32
	wide   bool // odd rows hold hi
	n      uint8
}

// newCodeCache makes an empty cache of code decoded for target out of space.
func newCodeCache(space *mem.Space, target *Target, portable bool) *codeCache {
	c := &codeCache{space: space, target: target, portable: portable, windows: map[uint64]*window{}, consts: map[constKey]uint32{}}
	c.newChunk(0)
	return c
}

// window returns the window of the code address va.
func (c *codeCache) window(va uint64) *window {
	key := va >> windowShift
	c.mu.RLock()
	w := c.windows[key]
	c.mu.RUnlock()
	if w != nil {
		return w
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w = c.windows[key]; w == nil {
		w = &window{base: key << windowShift}
		c.windows[key] = w
	}
	return w
}

// invalidate forgets what was decoded from [va, va+n).
func (c *codeCache) invalidate(va, n uint64) {
	if n == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n>>windowShift > uint64(len(c.windows)) {
		for k := range c.windows {
			if base := k << windowShift; base+windowBytes > va && base < va+n {
				delete(c.windows, k)
			}
		}
		return
	}
	for k := va >> windowShift; k <= (va+n-1)>>windowShift; k++ {
		delete(c.windows, k)
	}
}

// maxInstBytes is the longest encoding of any family.
const maxInstBytes = 20

// decode fills the instruction at index i of win. It reports false when there
// is no memory to fetch from; nothing is kept then, as there may be later.
func (c *codeCache) decode(win *window, i uint32) bool {
	c.decodeMu.Lock()
	defer c.decodeMu.Unlock()
	in := &win.insts[i]
	if atomic.LoadUint32(&in.form) != formUndecoded {
		return true
	}
	va := win.base + uint64(i)*4
	r := c.space.Find(va)
	if r == nil {
		return false
	}
	in.size = 1
	in.coldInst = &coldInst{}
	f := formRun
	n := min(r.Size-(va-r.Base), maxInstBytes)
	var buf [maxInstBytes]byte
	copy(buf[:n], unsafe.Slice((*byte)(r.Ptr(va-r.Base)), n))
	d, err := c.target.Decoder.Decode(buf[:n])
	if err != nil {
		in.err = fmt.Errorf("%w: % x", err, buf[:min(n, 8)])
		in.run = runIllegal
	} else {
		in.i = &d
		in.size = d.Size / 4
		f = c.compile(in)
	}
	atomic.StoreUint32(&in.form, f)
	return true
}

// errLDSDirect: LLVM's disassembler prints the operand for every gfx9 target,
// its assembler refuses it for gfx90a and gfx942.
var errLDSDirect = errors.New("src_lds_direct is not supported by this processor")

// compile chooses form and functions for a decoded instruction.
func (c *codeCache) compile(in *inst) form {
	op := in.i.Op
	in.dst = in.i.Dst
	if slices.Contains(in.i.Src[:], isa.OperandLDSDirect) {
		in.err, in.run = errLDSDirect, runIllegal
		return formRun
	}
	if nops[op] {
		return formNop
	}
	if f := special[op]; f != nil {
		in.setScalar(f)
		c.bound(in)
		return formRun
	}
	switch in.i.Enc {
	case isa.EncSOP1, isa.EncSOP2, isa.EncSOPC, isa.EncSOPK, isa.EncSOPP:
		if f := scalarOps[op]; f != nil {
			in.setScalar(f)
		}
	case isa.EncSMEM:
		in.run = c.compileSMEM(in)
	case isa.EncDS, isa.EncFLAT, isa.EncMUBUF, isa.EncMTBUF:
		in.run = c.compileVMEM(in)
		c.bound(in)
	case isa.EncVOP1, isa.EncVOP2, isa.EncVOPC, isa.EncVOP3, isa.EncVOP3P, isa.EncSDWA, isa.EncDPP:
		return c.compileVALU(in)
	}
	if in.run == nil {
		in.run = runUnimplemented
	}
	return formRun
}

// setScalar makes f what executes in, with its scalar sources in place.
func (in *inst) setScalar(f func(w *Wave, in *inst)) {
	in.run = f
	if in.scalarSources() {
		in.run, in.inner = runFilled, f
	}
}

// bound records how far the vector operands of in reach.
func (c *codeCache) bound(in *inst) {
	in.reach(in.i.Dst, int(in.i.DstWords))
	for j, s := range in.i.Src {
		in.reach(s, int(in.i.SrcWords[j]))
	}
}

func (in *inst) reach(o isa.Operand, words int) {
	switch {
	case o.IsVGPR():
		in.maxV = max(in.maxV&^accBit, uint16(int(o-isa.OperandVGPR)+words)) | in.maxV&accBit
	case o.IsAGPR():
		in.maxA = max(in.maxA, uint16(int(o-isa.OperandAGPR)+words))
		in.maxV |= accBit
	}
}

// accBit is above any register count.
const accBit = 1 << 15

// fits reports whether the wave has the registers that in uses.
func (in *inst) fits(w *Wave) bool {
	return uint32(in.maxV&^accBit) <= w.nv && uint32(in.maxA) <= w.na
}

// constant returns where n rows lie that hold a constant in every lane; for
// types of 64 bits odd rows hold the high dword. It reports false when the
// room for constants is used up.
func (c *codeCache) constant(lo, hi uint32, wide bool, n int) (uint32, bool) {
	k := constKey{lo: lo, hi: hi, wide: wide, n: uint8(n)}
	if off, ok := c.consts[k]; ok {
		return off, true
	}
	size := uint32(n) * uint32(unsafe.Sizeof(lane.Row{}))
	off := c.used
	if off&(chunkBytes-1)+size > chunkBytes {
		off = (off + chunkBytes) &^ (chunkBytes - 1)
	}
	if off+size < off || off < c.used {
		return 0, false
	}
	if n := off >> chunkShift; c.chunks[n] == nil {
		c.newChunk(n)
	}
	c.used = off + size
	rows := lane.Rows(c.chunks.at(off), n)
	for i := range rows {
		v := lo
		if wide && i&1 == 1 {
			v = hi
		}
		lane.Splat(&rows[i], v)
	}
	c.consts[k] = off
	return off, true
}

func (c *codeCache) newChunk(n uint32) {
	rows := alignRows(make([]lane.Row, chunkBytes/unsafe.Sizeof(lane.Row{})+1))
	c.chunks[n] = unsafe.Pointer(&rows[0])
}

func typeRows(t lane.Type) int {
	switch t {
	case lane.TypeNone, lane.Mask:
		return 0
	case lane.B64, lane.I64, lane.U64, lane.F64, lane.V2F32, lane.V2I32, lane.V2B32:
		return 2
	case lane.B96:
		return 3
	case lane.B128:
		return 4
	case lane.B256:
		return 8
	case lane.B512:
		return 16
	case lane.B1024:
		return 32
	}
	return 1
}

func is16(t lane.Type) bool {
	return t == lane.B16 || t == lane.I16 || t == lane.U16 || t == lane.F16 || t == lane.BF16
}
