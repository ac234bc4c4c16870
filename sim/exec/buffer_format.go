package exec

import (
	"fmt"
	"math"
	"math/bits"

	"gfxrt/runtime/device"
	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// Numeric formats of typed buffer data ("Buffer Instructions", NFMT).
const (
	nfmtUnorm = iota
	nfmtSnorm
	nfmtUscaled
	nfmtSscaled
	nfmtUint
	nfmtSint
	nfmtReserved
	nfmtFloat
)

var nfmtNames = [8]string{"unorm", "snorm", "uscaled", "sscaled", "uint", "sint", "reserved", "float"}

// bufferFormat is one data format (DFMT): its name, which lists components
// from the highest bits down, and the width of each component from X, in the
// lowest bits, up.
type bufferFormat struct {
	name  string
	bytes uint64
	width []uint8
}

var bufferFormats = [16]bufferFormat{
	0:  {name: "invalid"},
	1:  {"8", 1, []uint8{8}},
	2:  {"16", 2, []uint8{16}},
	3:  {"8_8", 2, []uint8{8, 8}},
	4:  {"32", 4, []uint8{32}},
	5:  {"16_16", 4, []uint8{16, 16}},
	6:  {"10_11_11", 4, []uint8{11, 11, 10}},
	7:  {"11_11_10", 4, []uint8{10, 11, 11}},
	8:  {"10_10_10_2", 4, []uint8{2, 10, 10, 10}},
	9:  {"2_10_10_10", 4, []uint8{10, 10, 10, 2}},
	10: {"8_8_8_8", 4, []uint8{8, 8, 8, 8}},
	11: {"32_32", 8, []uint8{32, 32}},
	12: {"16_16_16_16", 8, []uint8{16, 16, 16, 16}},
	13: {"32_32_32", 12, []uint8{32, 32, 32}},
	14: {"32_32_32_32", 16, []uint8{32, 32, 32, 32}},
	15: {name: "reserved"},
}

// exists tells the combinations of data and numeric format that there are
// (LLVM AMDGPUAsmUtils.cpp, DfmtNfmt2UFmtGFX10): 32-bit components are not
// converted, and floats have 10, 11, 16 or 32 bits without a 2-bit component.
func (f *bufferFormat) exists(nfmt uint8) bool {
	if len(f.width) == 0 || nfmt == nfmtReserved {
		return false
	}
	switch f.width[0] {
	case 32:
		return nfmt >= nfmtUint
	case 8, 2:
		return nfmt != nfmtFloat
	case 10:
		return nfmt != nfmtFloat || len(f.width) == 3
	}
	return true
}

// Destination selects ("Buffer Resource Descriptor", DST_SEL).
const (
	sel0 = 0
	sel1 = 1
	selX = 4 // 4..7: the data's components
)

var identitySel = [4]uint8{selX, selX + 1, selX + 2, selX + 3}

// startFormat is startBuffer for typed accesses, which need a format that
// exists.
func (w *Wave) startFormat(in *inst, b *bufferAccess) (*bufferFormat, bool) {
	if !w.startBuffer(in, b) {
		return nil, false
	}
	f := &bufferFormats[b.dataFormat]
	if b.unbound {
		return f, true
	}
	if !f.exists(b.numFormat) {
		w.setFault(device.FaultIllegal, -1, b.base, fmt.Sprintf("buffer data format %d (%s) with numeric format %d (%s) is reserved",
			b.dataFormat, f.name, b.numFormat, nfmtNames[b.numFormat]))
		return nil, false
	}
	for k, s := range b.dstSel[:in.m.format] {
		if s == 2 || s == 3 {
			w.setFault(device.FaultIllegal, -1, b.base, fmt.Sprintf("destination select %d of component %c is reserved", s, "xyzw"[k]))
			return nil, false
		}
	}
	return f, true
}

// The ISA documents name the formats and say that the texture unit converts,
// but not how. The rules here are those of Direct3D ("Data Conversion Rules"),
// which the typed accesses were built for: normalized values are clamped and
// rounded to nearest, integers are clamped to fewer bits, a float becomes a
// narrower float by rounding towards zero. That scaled formats round towards
// zero on stores is by analogy.
const (
	modeKeep     = lane.Mode(0xf0) // denormals kept, round to nearest even
	modeTruncate = lane.Mode(0xfc) // f16 results round towards zero
	f16One       = uint32(0x3c00)  // 1.0
	f32One       = uint32(1065353216)
)

var (
	kernelF16F32 = kernelByName("v_cvt_f16_f32")
	kernelF32F16 = kernelByName("v_cvt_f32_f16")
)

func convertRow(k *lane.Kernel, r *lane.Row, exec uint64, m lane.Mode) {
	e := lane.Env{Mode: m}
	k.Fn(r, r, nil, nil, exec, &e)
}

// runBufferLoadFormat executes loads that convert from a format.
func runBufferLoadFormat(w *Wave, in *inst) {
	var b bufferAccess
	f, ok := w.startFormat(in, &b)
	if !ok {
		return
	}
	comp := &w.tmp.src[0]
	if !w.loadComponents(&b, f, (*[4]lane.Row)(comp[:4])) {
		return
	}
	m, exec := in.m, w.exec()
	for k := range f.width {
		loadConvert(&comp[k], f.width[k], b.numFormat, m.d16, exec)
	}
	one := f32One
	switch {
	case b.numFormat == nfmtUint || b.numFormat == nfmtSint:
		one = 1
	case m.d16:
		one = f16One
	}
	if in.i.Flags&isa.FlagLDS != 0 && in.i.Enc == isa.EncMUBUF {
		r := selected(b.dstSel[0], f, comp, &w.tmp.old, one)
		w.rowToLDS(in, r)
		return
	}
	for k := range m.format {
		m.putComponent(w.row(in.i.Dst), k, selected(b.dstSel[k], f, comp, &w.tmp.old, one), exec)
	}
	w.texelFail(in)
}

// loadComponents reads each lane's raw component bits; lanes out of range, as
// a whole, get 0 ("Range Checking", note 3).
func (w *Wave) loadComponents(b *bufferAccess, f *bufferFormat, comp *[4]lane.Row) bool {
	for x := w.exec(); x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		index, off := b.lane(l)
		var buf [16]byte
		if b.inRange(index, uint64(off), f.bytes) && !w.bufferBytes(b, index, uint64(off), buf[:f.bytes], false, l) {
			return false
		}
		at := uint(0)
		for k, n := range f.width {
			comp[k][l] = bitsAt(&buf, at, uint(n))
			at += uint(n)
		}
	}
	return true
}

// bitsAt reads n bits at bit at of little-endian buf. No format has a
// component across a dword.
func bitsAt(buf *[16]byte, at, n uint) uint32 {
	i := at / 32 * 4
	word := uint32(buf[i]) | uint32(buf[i+1])<<8 | uint32(buf[i+2])<<16 | uint32(buf[i+3])<<24
	return word >> (at % 32) & (1<<n - 1)
}

// selected returns the row that a destination select names. A component the
// format lacks reads as 0.
func selected(sel uint8, f *bufferFormat, comp *[32]lane.Row, fill *lane.Row, one uint32) *lane.Row {
	if sel >= selX && int(sel-selX) < len(f.width) {
		return &comp[sel-selX]
	}
	v := uint32(0)
	if sel == sel1 {
		v = one
	}
	lane.Splat(fill, v)
	return fill
}

// putComponent writes component k of a typed load: a dword, or half of one.
func (m *memOp) putComponent(d *lane.Row, k int, r *lane.Row, exec uint64) {
	if !m.d16 {
		lane.MergeRow(&lane.Rows(d, k+1)[k], r, exec)
		return
	}
	h := memOp{half: lowHalf}
	if m.half == highHalf || k&1 == 1 {
		h.half = highHalf
	}
	d = &lane.Rows(d, k/2+1)[k/2]
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		h.putSmall(d, l, r[l])
	}
}

// signed extends the low n bits of x.
func signed(x uint32, n uint8) int32 { return int32(x<<(32-n)) >> (32 - n) }

// loadConvert turns raw components of n bits into what a load returns.
func loadConvert(r *lane.Row, n, nfmt uint8, d16 bool, exec uint64) {
	mode := modeKeep
	switch nfmt {
	case nfmtUint:
		if d16 {
			each(r, exec, func(x uint32) uint32 { return min(x, math.MaxUint16) })
		}
		return
	case nfmtSint:
		low, high := int32(math.MinInt32), int32(math.MaxInt32)
		if d16 {
			low, high = math.MinInt16, math.MaxInt16
		}
		each(r, exec, func(x uint32) uint32 { return uint32(min(max(signed(x, n), low), high)) })
		return
	case nfmtUnorm:
		// Both operands are exact, so this rounds once.
		scale := float32(uint32(1)<<n - 1)
		each(r, exec, func(x uint32) uint32 { return math.Float32bits(float32(x) / scale) })
	case nfmtSnorm:
		scale := float32(uint32(1)<<(n-1) - 1)
		each(r, exec, func(x uint32) uint32 { return math.Float32bits(max(float32(signed(x, n))/scale, -1)) })
	case nfmtUscaled:
		each(r, exec, func(x uint32) uint32 { return math.Float32bits(float32(x)) })
	case nfmtSscaled:
		each(r, exec, func(x uint32) uint32 { return math.Float32bits(float32(signed(x, n))) })
	case nfmtFloat:
		if n < 32 {
			// 10 and 11 bits are an f16 without sign and low fraction bits.
			shift := narrowShift(n)
			each(r, exec, func(x uint32) uint32 { return x << shift })
			if !d16 {
				convertRow(kernelF32F16, r, exec, modeKeep)
			}
			return
		}
		mode = modeTruncate
	}
	if d16 {
		convertRow(kernelF16F32, r, exec, mode)
	}
}

// narrowShift is how many fraction bits of an f16 a float of n bits lacks.
func narrowShift(n uint8) uint8 {
	if n == 16 {
		return 0
	}
	return 15 - n
}

func each(r *lane.Row, exec uint64, f func(uint32) uint32) {
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		r[l] = f(r[l])
	}
}

// runBufferStoreFormat executes stores that convert to a format.
func runBufferStoreFormat(w *Wave, in *inst) {
	var b bufferAccess
	f, ok := w.startFormat(in, &b)
	if !ok || b.unbound {
		return
	}
	m, exec := in.m, w.exec()
	comp := &w.tmp.src[0]
	for k, n := range f.width {
		r := &comp[k]
		c := b.source(k, m.format)
		if c < 0 {
			*r = lane.Row{} // LLVM, FeatureDefaultComponentZero
			continue
		}
		m.getComponent(r, w.row(in.i.Dst), c)
		storeConvert(r, n, b.numFormat, m.d16, exec)
	}
	for x := exec; x != 0; x &= x - 1 {
		l := bits.TrailingZeros64(x)
		index, off := b.lane(l)
		if !b.inRange(index, uint64(off), f.bytes) {
			continue
		}
		var words [4]uint32
		at := uint(0)
		for k, n := range f.width {
			words[at/32] |= comp[k][l] << (at % 32)
			at += uint(n)
		}
		var buf [16]byte
		for k := range buf {
			buf[k] = byte(words[k/4] >> (k % 4 * 8))
		}
		if !w.bufferBytes(&b, index, uint64(off), buf[:f.bytes], true, l) {
			return
		}
	}
}

// source is which of the n components of a store goes to component k of
// memory, or -1: destination selects route the other way than for a load.
func (b *bufferAccess) source(k, n int) int {
	for c, s := range b.dstSel[:n] {
		if int(s) == selX+k {
			return c
		}
	}
	return -1
}

// getComponent is the inverse of putComponent: 16-bit components end in bits
// 15:0.
func (m *memOp) getComponent(r, s *lane.Row, k int) {
	if !m.d16 {
		*r = lane.Rows(s, k+1)[k]
		return
	}
	s = &lane.Rows(s, k/2+1)[k/2]
	shift := uint32(0)
	if m.half == highHalf || k&1 == 1 {
		shift = 16
	}
	for l, x := range s {
		r[l] = x >> shift & 0xffff
	}
}

// storeConvert turns a register's component into n bits of memory.
func storeConvert(r *lane.Row, n, nfmt uint8, d16 bool, exec uint64) {
	mask := uint32(1<<n - 1)
	switch nfmt {
	case nfmtUint:
		each(r, exec, func(x uint32) uint32 { return min(x, mask) })
		return
	case nfmtSint:
		low, high := int32(-1)<<(n-1), int32(mask>>1)
		each(r, exec, func(x uint32) uint32 {
			if d16 {
				x = uint32(signed(x, 16))
			}
			return uint32(min(max(int32(x), low), high)) & mask
		})
		return
	case nfmtFloat:
		switch {
		case n == 32 && d16:
			convertRow(kernelF32F16, r, exec, modeKeep)
		case n < 32 && !d16:
			convertRow(kernelF16F32, r, exec, modeTruncate)
		}
		if n < 16 {
			shift := narrowShift(n)
			each(r, exec, func(x uint32) uint32 { return unsignedF16(x) >> shift })
		}
		return
	}
	if d16 {
		convertRow(kernelF32F16, r, exec, modeKeep)
	}
	low, high, scale, round := 0.0, float64(mask), 1.0, math.Trunc
	if nfmt == nfmtSnorm || nfmt == nfmtSscaled {
		low, high = -float64(mask>>1)-1, float64(mask>>1)
	}
	if nfmt == nfmtUnorm || nfmt == nfmtSnorm {
		// -1 is the lowest normalized value; its integer has two spellings.
		low, scale, round = max(low, -high), high, math.RoundToEven
	}
	each(r, exec, func(x uint32) uint32 {
		v := float64(math.Float32frombits(x)) * scale
		if v != v {
			return 0
		}
		return uint32(int32(round(min(max(v, low), high)))) & mask
	})
}

// unsignedF16 is an f16 for a format without sign: negative values become 0,
// NaN stays one when its low fraction bits are dropped.
func unsignedF16(x uint32) uint32 {
	const inf, quiet = 0x7c00, 0x200
	switch {
	case x&0x7fff > inf:
		return x&0x7fff | quiet
	case x&0x8000 != 0:
		return 0
	}
	return x
}
