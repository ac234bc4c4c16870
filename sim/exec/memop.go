package exec

import (
	"strings"
	"unsafe"

	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// memKind is what a memory instruction does with each lane's address.
type memKind uint8

const (
	memNone    memKind = iota // cache control: nothing to do in a coherent simulator
	memLoad                   // memory to VGPRs
	memStore                  // VGPRs to memory
	memAtomic                 // read, modify, write
	memToLDS                  // load whose data goes to LDS at M0
	memFromLDS                // store whose data comes from LDS
)

// halfMode says which half of the data register a 16-bit form uses.
type halfMode uint8

const (
	wholeReg halfMode = iota
	lowHalf           // _d16: bits 15:0, the rest kept
	highHalf          // _d16_hi: bits 31:16, the rest kept
)

// memOp describes a memory instruction independently of its addressing.
type memOp struct {
	kind   memKind
	bytes  uint64 // bytes accessed per lane
	words  int    // data registers: max(1, bytes/4)
	signed bool   // sign-extend a sub-dword load
	half   halfMode
	clear  bool // 16-bit loads zero the other half, as with SRAM ECC
	atom   atomicOp
	wide   bool // 64-bit atomic
	ret    bool // atomic returns the old value
	format int  // components of a format load or store; 0 for untyped
	d16    bool // format: components are 16 bits, packed
}

// parseMemOp reads the operation out of a mnemonic's part after its family
// prefix: "load_dwordx2", "store_byte_d16_hi", "atomic_add_x2".
func parseMemOp(name string) *memOp {
	m := &memOp{}
	switch {
	case strings.HasPrefix(name, "load_lds_"):
		m.kind, name = memToLDS, name[len("load_lds_"):]
	case strings.HasPrefix(name, "store_lds_"):
		m.kind, name = memFromLDS, name[len("store_lds_"):]
	case strings.HasPrefix(name, "load_format_"), strings.HasPrefix(name, "store_format_"):
		m.kind = memLoad
		if name[0] == 's' {
			m.kind = memStore
		}
		return m.parseFormat(name[strings.Index(name, "format_")+len("format_"):])
	case strings.HasPrefix(name, "load_"):
		m.kind, name = memLoad, name[len("load_"):]
	case strings.HasPrefix(name, "store_"):
		m.kind, name = memStore, name[len("store_"):]
	case strings.HasPrefix(name, "atomic_"):
		return m.parseAtomic(name[len("atomic_"):])
	default:
		return nil
	}
	if n, ok := strings.CutSuffix(name, "_d16_hi"); ok {
		name, m.half = n, highHalf
	} else if n, ok := strings.CutSuffix(name, "_d16"); ok {
		name, m.half = n, lowHalf
	}
	switch name {
	case "ubyte", "byte":
		m.bytes = 1
	case "sbyte":
		m.bytes, m.signed = 1, true
	case "ushort", "short":
		m.bytes = 2
	case "sshort":
		m.bytes, m.signed = 2, true
	case "dword":
		m.bytes = 4
	case "dwordx2":
		m.bytes = 8
	case "dwordx3":
		m.bytes = 12
	case "dwordx4":
		m.bytes = 16
	default:
		return nil
	}
	m.words = int(max(m.bytes, 4) / 4)
	return m
}

func (m *memOp) parseFormat(s string) *memOp {
	if r, ok := strings.CutPrefix(s, "d16_hi_"); ok {
		s, m.d16, m.half = r, true, highHalf
	} else if r, ok := strings.CutPrefix(s, "d16_"); ok {
		s, m.d16 = r, true
	}
	m.format = len(s)
	if m.format < 1 || m.format > 4 || s != "xyzw"[:m.format] {
		return nil
	}
	m.words = m.format
	if m.d16 {
		m.words = (m.format + 1) / 2
	}
	return m
}

func (m *memOp) parseAtomic(s string) *memOp {
	m.kind = memAtomic
	if r, ok := strings.CutSuffix(s, "_x2"); ok {
		s, m.wide = r, true
	}
	op, ok := atomicNames[s]
	if !ok {
		return nil
	}
	m.atom = op
	if op.isWide() {
		m.wide = true
	}
	m.bytes, m.words = 4, 1
	if m.wide {
		m.bytes, m.words = 8, 2
	}
	return m
}

// compileVMEM chooses the executor of a vector memory instruction.
func (c *codeCache) compileVMEM(in *inst) func(w *Wave, in *inst) {
	run := c.memoryExecutor(in)
	if in.m != nil && in.m.kind == memAtomic && !in.m.atom.known() {
		return nil
	}
	if in.m != nil {
		in.m.clear = c.target.SRAMECC
	}
	return run
}

func (c *codeCache) memoryExecutor(in *inst) func(w *Wave, in *inst) {
	name := in.i.Op.String()
	family, rest, _ := strings.Cut(name, "_")
	switch in.i.Enc {
	case isa.EncDS:
		return compileDS(in, rest)
	case isa.EncMUBUF, isa.EncMTBUF:
		return compileBuffer(in, rest)
	}
	in.m = parseMemOp(rest)
	if in.m == nil {
		return nil
	}
	in.m.ret = in.m.kind == memAtomic && in.i.Flags&isa.FlagGLC != 0
	if in.m.kind == memLoad && in.i.Flags&isa.FlagLDS != 0 {
		// Before gfx940 the LDS forms are a bit of the ordinary loads.
		in.m.kind = memToLDS
	}
	if !in.m.operandsFit(in.i, in.i.Src[1]) {
		return nil
	}
	switch family {
	case "global":
		return runGlobal
	case "flat":
		return runFlat
	case "scratch":
		return runScratch
	}
	return nil
}

// operandsFit reports whether the registers that the operation reads and
// writes are vector registers, as the executors take for granted.
func (m *memOp) operandsFit(i *isa.Inst, data isa.Operand) bool {
	vector := func(o isa.Operand) bool { return o.IsVGPR() || o.IsAGPR() }
	if a := i.Src[0]; a != isa.OperandNone && !vector(a) {
		return false
	}
	switch m.kind {
	case memLoad:
		return vector(i.Dst)
	case memStore:
		return vector(data)
	case memAtomic:
		return vector(data) && (!m.ret || vector(i.Dst))
	}
	return true
}

// loadLane puts the bytes at p into lane l of the rows of d.
func (m *memOp) loadLane(d *lane.Row, l int, p unsafe.Pointer) {
	switch m.bytes {
	case 4:
		d[l] = *(*uint32)(p)
	case 8:
		r := (*[2]lane.Row)(unsafe.Pointer(d))
		r[0][l], r[1][l] = *(*uint32)(p), *(*uint32)(unsafe.Add(p, 4))
	case 12, 16:
		rows := lane.Rows(d, m.words)
		for k := range rows {
			rows[k][l] = *(*uint32)(unsafe.Add(p, 4*k))
		}
	case 1:
		x := uint32(*(*uint8)(p))
		if m.signed {
			x = uint32(int8(x))
		}
		m.putSmall(d, l, x)
	case 2:
		x := uint32(*(*uint16)(p))
		if m.signed {
			x = uint32(int16(x))
		}
		m.putSmall(d, l, x)
	}
}

func (m *memOp) putSmall(d *lane.Row, l int, x uint32) {
	switch m.half {
	case wholeReg:
		d[l] = x
	case lowHalf:
		d[l] = d[l]&0xffff0000 | x&0xffff
		if m.clear {
			d[l] = x & 0xffff
		}
	case highHalf:
		d[l] = d[l]&0xffff | x<<16
		if m.clear {
			d[l] = x << 16
		}
	}
}

// storeLane puts lane l of the rows of s at p.
func (m *memOp) storeLane(s *lane.Row, l int, p unsafe.Pointer) {
	switch m.bytes {
	case 4:
		*(*uint32)(p) = s[l]
	case 8:
		r := (*[2]lane.Row)(unsafe.Pointer(s))
		*(*uint32)(p), *(*uint32)(unsafe.Add(p, 4)) = r[0][l], r[1][l]
	case 12, 16:
		rows := lane.Rows(s, m.words)
		for k := range rows {
			*(*uint32)(unsafe.Add(p, 4*k)) = rows[k][l]
		}
	default:
		x := s[l]
		if m.half == highHalf {
			x >>= 16
		}
		if m.bytes == 1 {
			*(*uint8)(p) = uint8(x)
		} else {
			*(*uint16)(p) = uint16(x)
		}
	}
}
