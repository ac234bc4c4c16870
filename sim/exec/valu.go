package exec

import (
	"errors"
	"sync"
	"unsafe"

	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// kernels is lane.Kernels by opcode.
var kernels = func() (t [isa.NumOps]*lane.Kernel) {
	for op := isa.Op(1); op < isa.NumOps; op++ {
		if k, ok := lane.Kernels[op.String()]; ok {
			t[op] = &k
		}
	}
	return t
}()

// vectors is lane.VectorKernels by opcode.
var vectors = sync.OnceValue(func() *[isa.NumOps]*lane.Kernel {
	var t [isa.NumOps]*lane.Kernel
	fast := lane.VectorKernels()
	for op := isa.Op(1); op < isa.NumOps; op++ {
		if k, ok := fast[op.String()]; ok {
			t[op] = &k
		}
	}
	return &t
})

// compileVALU resolves the operands of a vector instruction.
func (c *codeCache) compileVALU(in *inst) form {
	k := kernels[in.i.Op]
	if k == nil {
		in.run = runUnimplemented
		return formRun
	}
	if d := in.dst; k.Cmp == nil && !d.IsVGPR() && !d.IsAGPR() {
		in.run = runUnimplemented
		return formRun
	}
	in.k = k
	in.modified = !k.Packed && !k.Matrix && (in.i.Enc == isa.EncSDWA || in.i.Neg|in.i.Abs|in.i.OpSel != 0)
	in.fn, in.anyMode, in.cmp = k.Fn, k.Fn, [2]lane.CmpFn{k.Cmp, k.Cmp}
	if !c.portable {
		if v := vectors()[in.i.Op]; v != nil {
			in.fn, in.cmp[0] = v.Fn, v.Cmp
		}
	}
	i := in.i
	plain := i.Enc != isa.EncSDWA && i.Enc != isa.EncDPP && i.Neg|i.NegHi|i.Abs|i.OMod|i.OpSel == 0 &&
		i.Flags&isa.FlagClamp == 0 && !k.Packed && !k.Matrix && !k.CmpX && !(is16(k.Dst) && k.KeepHigh)
	for j := range in.src {
		in.src[j].kind = srcNone
	}
	for j, t := range k.Src {
		if t == lane.Mask && (i.Src[j].IsVGPR() || i.Src[j].IsAGPR()) {
			in.err = errVectorMask
			in.run = runIllegal
			return formRun
		}
		if t == lane.TypeNone || t == lane.Mask {
			continue
		}
		if k.DstIsSrc && i.Src[j] == isa.OperandNone {
			continue
		}
		s := &in.src[j]
		s.typ, s.reg = t, i.Src[j]
		if !c.compileSource(in, s, j) {
			in.err = errConstants
			in.run = runIllegal
			return formRun
		}
		in.nsrc = uint8(j + 1)
	}
	in.merged = in.needsMerge()
	if k.Cmp == nil {
		in.reach(in.dst, typeRows(k.Dst))
	}
	if in.dst.IsAGPR() {
		return formVFull
	}
	if in.dst.IsVGPR() {
		in.dstOff = uint32(in.dst-isa.OperandVGPR) * uint32(unsafe.Sizeof(lane.Row{}))
	}
	return in.vectorForm(plain)
}

// onlySigns reports an unpacked instruction whose only modifiers are abs and
// neg, on sources that exist.
func (in *inst) onlySigns() bool {
	k, i := in.k, in.i
	if k.Packed || k.Matrix || k.Cmp != nil || k.CarryIn || k.CarryOut || in.merged || i.OpSel != 0 || i.Flags&isa.FlagClamp != 0 ||
		i.Enc == isa.EncSDWA || i.Enc == isa.EncDPP || i.Neg|i.Abs == 0 {
		return false
	}
	return (i.Neg|i.Abs)>>in.nsrc == 0
}

// errConstants: no compiled program comes near; it takes 16 million constants.
var errConstants = errors.New("the code has too many different constants for the simulator")

var errVectorMask = errors.New("the mask operand is a vector register")

// vectorForm is the form of an instruction whose sources are resolved.
func (in *inst) vectorForm(plain bool) form {
	k, i := in.k, in.i
	maskPair := i.Src[2] < isa.OperandInt
	if k.Packed && !k.CarryIn && !k.CarryOut && !k.DstIsSrc && k.Cmp == nil && !in.merged && i.Enc == isa.EncVOP3P {
		in.sel = selectors{i.OpSel, i.OpSelHi, i.Neg, i.NegHi, i.Abs, i.Flags&isa.FlagClamp != 0}
		return formVPacked
	}
	if !plain && in.onlySigns() {
		in.sel = selectors{negLo: i.Neg, abs: i.Abs}
		return formVSigned
	}
	switch {
	case !plain:
		return formVFull
	case k.Cmp != nil:
		return formVCmp
	case k.CarryOut:
		if k.CarryIn && !(k.Src[2] == lane.Mask && maskPair) {
			return formVFull
		}
		return formVCarry
	case k.CarryIn:
		if k.Src[2] == lane.Mask && maskPair {
			return formVMask
		}
		if in.nsrc == 3 && !k.DstIsSrc { // v_div_fmas
			return formVVCC
		}
	case k.DstIsSrc:
		if in.nsrc == 2 {
			return formVAcc
		}
	case in.nsrc == 1:
		return formV1
	case in.nsrc == 2:
		return formV2
	case in.nsrc == 3:
		return formV3
	}
	return formVFull
}

// compileSource resolves source j. It reports false when there is no room for
// a constant.
func (c *codeCache) compileSource(in *inst, s *source, j int) bool {
	o := s.reg
	n := typeRows(s.typ)
	in.reach(o, n)
	switch {
	case o == isa.OperandNone:
		s.kind = srcNone
	case o.IsVGPR():
		s.kind = srcVector
		s.off = uint32(o-isa.OperandVGPR) * uint32(unsafe.Sizeof(lane.Row{}))
	case o.IsAGPR():
		s.kind = srcAcc
	case o == isa.OperandLiteral:
		lo, hi := lane.LiteralValue(s.typ, uint32(in.i.Literal))
		return c.constSource(in, s, lo, hi)
	case o >= isa.OperandInt && o <= 208, o >= isa.OperandHalf && o <= isa.OperandInv2Pi:
		lo, hi := lane.ConstValue(elementType(s.typ, in.k), uint16(o))
		return c.constSource(in, s, lo, hi)
	case n == 2:
		s.kind = srcPair + sourceKind(j)
	default:
		s.kind = srcScalar + sourceKind(j)
	}
	return true
}

func (c *codeCache) constSource(in *inst, s *source, lo, hi uint32) (ok bool) {
	s.kind = srcConst
	s.off, ok = c.constant(lo, hi, wideConst(s.typ, in.k), typeRows(s.typ))
	if s.off >= chunkBytes {
		s.kind = srcFar
	}
	return ok
}

// elementType is the type an inline constant expands to: for the tuples of
// matrix instructions that of one element.
func elementType(t lane.Type, k *lane.Kernel) lane.Type {
	if !k.Matrix {
		return t
	}
	if k.Dst == lane.F64 || matrixIsF64(k) {
		return lane.F64
	}
	return lane.B32
}

func wideConst(t lane.Type, k *lane.Kernel) bool {
	if k.Matrix {
		return matrixIsF64(k)
	}
	return typeRows(t) == 2
}

// matrixIsF64 tells the f64 matrix instructions by their A operand.
func matrixIsF64(k *lane.Kernel) bool { return k.Matrix && k.Src[0] == lane.F64 }

// rows returns the rows of a source.
func (w *Wave) rows(s *source) *lane.Row {
	if s.kind <= srcConst {
		return (*lane.Row)(unsafe.Add(w.bases[s.kind&1], uintptr(s.off)))
	}
	return w.rowsSlow(s)
}

func (w *Wave) rowsSlow(s *source) *lane.Row {
	switch {
	case s.kind == srcFar:
		return w.m.cache.chunks.at(s.off)
	case s.kind == srcAcc:
		return w.row(s.reg)
	case s.kind >= srcPair:
		x := w.s64(s.reg, 0, s.typ)
		r := &w.tmp.src[s.kind-srcPair]
		lane.SplatRow(&r[0], uint32(x))
		lane.SplatRow(&r[1], uint32(x>>32))
		return &r[0]
	case s.kind >= srcScalar:
		r := &w.tmp.src[s.kind-srcScalar][0]
		lane.SplatRow(r, w.s32(s.reg, 0))
		return r
	}
	return nil
}

// kernel is the instruction's kernel for the wave's MODE.
func (in *inst) kernel(w *Wave) lane.Fn {
	if w.general != 0 {
		return in.anyMode
	}
	return in.fn
}

// vfull executes a vector instruction with any modifiers.
func (w *Wave) vfull(in *inst) {
	k, i := in.k, in.i
	exec := w.exec()
	e := &w.env
	e.Clamp = i.Flags&isa.FlagClamp != 0
	e.CarryIn, e.CarryOut = 0, 0
	if k.Packed || k.Matrix {
		e.OpSel, e.OpSelHi, e.NegLo, e.NegHi, e.Abs = i.OpSel, i.OpSelHi, i.Neg, i.NegHi, i.Abs
		e.Cbsz, e.Abid, e.Blgp = i.Cbsz, i.Abid, i.Blgp
	}
	if k.CarryIn {
		e.CarryIn = w.maskIn(in)
	}
	var p [3]*lane.Row
	for j := range int(in.nsrc) {
		if in.src[j].kind == srcNone {
			continue
		}
		if !w.gprIdx {
			p[j] = w.rows(&in.src[j])
			continue
		}
		r, ok := w.indexed(in, j)
		if !ok {
			return
		}
		p[j] = r
	}
	write := exec
	if i.Enc == isa.EncDPP {
		t := &w.tmp.src[0][0]
		write = lane.DPPRow(t, p[0], typeRows(in.src[0].typ), exec, i.DPP.Ctrl, i.DPP.RowMask, i.DPP.BankMask, i.Flags&isa.FlagBoundCtrl != 0)
		p[0] = t
	}
	if in.modified {
		w.inputModifiers(in, &p)
	}
	if k.Cmp != nil {
		w.storeMask(in, in.cmp[w.general&1](p[0], p[1], write, e))
		return
	}
	d, ok := w.indexedDst(in)
	if !ok {
		return
	}
	if k.DstIsSrc {
		p[2] = d
	}
	w.store(in, d, &p, write)
	if k.CarryOut {
		w.setS64(i.SDst, e.CarryOut)
	}
	// The plain forms rely on the modifiers being off.
	e.Clamp = false
}

// needsMerge reports whether the result cannot be written to the destination
// by the kernel itself.
func (in *inst) needsMerge() bool {
	k, i := in.k, in.i
	sdwa := i.Enc == isa.EncSDWA && (i.SDWA.DstSel != 6 || i.SDWA.DstUnused == 1)
	return sdwa || in.writesHalf() || in.outputModified() || k.Fn == nil
}

// writesHalf: a 16-bit result that leaves the other half of its register.
func (in *inst) writesHalf() bool {
	return !in.k.Packed && is16(in.k.Dst) && (in.k.KeepHigh || in.i.OpSel&8 != 0) && in.i.Enc == isa.EncVOP3
}

// outputModified: omod or a floating-point clamp.
func (in *inst) outputModified() bool {
	return isFloat(in.k) && (in.i.OMod != 0 || in.i.Flags&isa.FlagClamp != 0)
}

// store runs the kernel and puts its result where the destination selectors
// say.
func (w *Wave) store(in *inst, d *lane.Row, p *[3]*lane.Row, exec uint64) {
	e := &w.env
	fn := in.kernel(w)
	if !in.merged {
		fn(d, p[0], p[1], p[2], exec, e)
		return
	}
	k, i := in.k, in.i
	t := &w.tmp.dst[0]
	fn(t, p[0], p[1], p[2], exec, e)
	if in.outputModified() {
		lane.OutMod(t, k.Dst, exec, i.OMod, e.Clamp, lane.Mode(w.mode))
	}
	switch {
	case i.Enc == isa.EncSDWA:
		lane.SDWADest(d, t, exec, i.SDWA.DstSel, i.SDWA.DstUnused)
	case in.writesHalf():
		lane.Merge16(d, t, exec, i.OpSel&8 != 0, k.KeepHigh)
	default:
		dst, src := lane.Rows(d, typeRows(k.Dst)), lane.Rows(t, typeRows(k.Dst))
		for r := range dst {
			lane.MergeRow(&dst[r], &src[r], exec)
		}
	}
}

func isFloat(k *lane.Kernel) bool {
	return !k.Packed && !k.Matrix && (k.Dst == lane.F16 || k.Dst == lane.F32 || k.Dst == lane.F64)
}

// inputModifiers applies SDWA or op_sel selection, then abs and neg.
func (w *Wave) inputModifiers(in *inst, p *[3]*lane.Row) {
	i := in.i
	for j := range int(in.nsrc) {
		if p[j] == nil {
			continue
		}
		s := &in.src[j]
		t := &w.tmp.src[j][0]
		if i.Enc == isa.EncSDWA && j < 2 {
			sel := i.SDWA.Src0Sel
			if j == 1 {
				sel = i.SDWA.Src1Sel
			}
			if sext := i.SDWA.Sext>>j&1 != 0; sel != 6 || sext {
				lane.SDWARow(t, p[j], sel, sext)
				p[j] = t
			}
		} else if i.OpSel>>j&1 != 0 && is16(s.typ) {
			lane.Select16Row(t, p[j], true)
			p[j] = t
		}
		if neg, abs := i.Neg>>j&1 != 0, i.Abs>>j&1 != 0; neg || abs {
			lane.ApplyNegAbs(t, p[j], s.typ, neg, abs)
			p[j] = t
		}
	}
}

// maskIn reads the mask operand: the Mask-typed source, or VCC for the
// instructions that read it implicitly.
func (w *Wave) maskIn(in *inst) uint64 {
	for j, t := range in.k.Src {
		if t == lane.Mask && in.i.Src[j] != isa.OperandNone {
			return w.s64(in.i.Src[j], in.i.Literal, lane.B64)
		}
	}
	return w.vcc()
}

// storeMask writes a compare result to its scalar pair, and to EXEC for cmpx.
func (w *Wave) storeMask(in *inst, m uint64) {
	w.setS64(in.dst, m)
	if in.k.CmpX {
		w.setExec(m)
	}
}

// Modes of s_set_gpr_idx_on, M0[15:12] (Vega ISA, VGPR Indexing).
const (
	gprIdxSrc0 = 1 << iota
	gprIdxSrc1
	gprIdxSrc2
	gprIdxDst
)

// indexed is rows with VGPR indexing applied.
func (w *Wave) indexed(in *inst, j int) (*lane.Row, bool) {
	s := &in.src[j]
	if !w.gprIdx || s.kind != srcVector || !s.reg.IsVGPR() || w.S[isa.OperandM0]>>12>>j&1 == 0 {
		return w.rows(&in.src[j]), true
	}
	return w.indexedRow(in, s.reg, typeRows(s.typ))
}

func (w *Wave) indexedDst(in *inst) (*lane.Row, bool) {
	if !w.gprIdx || !in.dst.IsVGPR() || w.S[isa.OperandM0]>>12&gprIdxDst == 0 {
		return w.row(in.dst), true
	}
	return w.indexedRow(in, in.dst, typeRows(in.k.Dst))
}

func (w *Wave) indexedRow(in *inst, o isa.Operand, n int) (*lane.Row, bool) {
	i := uint32(o-isa.OperandVGPR) + w.S[isa.OperandM0]&0xff
	if i+uint32(n) > w.nv {
		w.illegal(in, "VGPR index %d (base %d, M0 index %d) is beyond the %d registers of the wave", i, o-isa.OperandVGPR, w.S[isa.OperandM0]&0xff, w.nv)
		return nil, false
	}
	return w.row(isa.OperandVGPR + isa.Operand(i)), true
}
