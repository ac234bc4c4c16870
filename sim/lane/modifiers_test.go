package lane

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// drawRow draws a row of arbitrary dwords with the interesting ones common.
func drawRow(t *rapid.T, label string) *Row {
	special := []uint32{0, 1, 0x8000, 0x80000000, 0x7FFF7FFF, 0xFFFFFFFF, 0x7F800000, 0x7FC00000, 0xFF800001, 0x7C007C00, 0x3C003C00, 0x3F800000, 0x00010001, 0x007FFFFF}
	var r Row
	for i := range r {
		if rapid.IntRange(0, 3).Draw(t, label) == 0 {
			r[i] = rapid.SampledFrom(special).Draw(t, label)
		} else {
			r[i] = rapid.Uint32().Draw(t, label)
		}
	}
	return &r
}

// randRows fills n rows from a seed drawn once: cheaper than drawing lanes.
func randRows(t *rapid.T, label string, n int) []Row {
	x := rapid.Uint64().Draw(t, label) | 1
	rows := make([]Row, n)
	for r := range rows {
		for i := range rows[r] {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			rows[r][i] = uint32(x >> 16)
		}
	}
	return rows
}

func TestApplyNegAbs(t *testing.T) {
	for _, tc := range []struct {
		typ      Type
		neg, abs bool
		lo, hi   uint32
		wantLo   uint32
		wantHi   uint32
	}{
		{F32, true, false, 0x3F800000, 0, 0xBF800000, 0},
		{F32, true, true, 0x3F800000, 0, 0xBF800000, 0},
		{F32, true, true, 0xBF800000, 0, 0xBF800000, 0},
		{F32, false, true, 0xFFC00001, 0, 0x7FC00001, 0},
		{B32, true, false, 0, 0, 0x80000000, 0},
		{F16, true, false, 0x3C00, 0, 0xBC00, 0},
		{F16, false, true, 0xBC00, 0, 0x3C00, 0},
		{F64, true, false, 0x80000001, 0x3FF00000, 0x80000001, 0xBFF00000},
		{F64, false, true, 0x80000001, 0xBFF00000, 0x80000001, 0x3FF00000},
		{B64, true, true, 7, 0xBFF00000, 7, 0xBFF00000},
	} {
		var src, dst [2]Row
		Splat(&src[0], tc.lo)
		Splat(&src[1], tc.hi)
		ApplyNegAbs(&dst[0], &src[0], tc.typ, tc.neg, tc.abs)
		if dst[0][63] != tc.wantLo || dst[1][63] != tc.wantHi {
			t.Errorf("type %d neg %v abs %v of %#x:%#x: got %#x:%#x, want %#x:%#x", tc.typ, tc.neg, tc.abs, tc.hi, tc.lo, dst[1][63], dst[0][63], tc.wantHi, tc.wantLo)
		}
		ApplyNegAbs(&src[0], &src[0], tc.typ, tc.neg, tc.abs)
		if src != dst {
			t.Errorf("type %d in place differs", tc.typ)
		}
	}
}

// The expected patterns are those llvm-mc prints for the constants: integers
// -16..64, then 0.5 … 4.0 and 0.15915494 per width.
func TestConstValue(t *testing.T) {
	for code, v := uint16(128), int64(0); code <= 208; code++ {
		if v = int64(code) - 128; code > 192 {
			v = 192 - int64(code)
		}
		for _, typ := range []Type{I16, F16, I32, F32, B32, V2F16, V2I16, I64, F64, B64, V2F32} {
			lo, hi := ConstValue(typ, code)
			if int64(uint64(hi)<<32|uint64(lo)) != v {
				t.Errorf("type %d code %d: got %#x:%#x", typ, code, hi, lo)
			}
		}
	}
	want := []float64{0.5, -0.5, 1, -1, 2, -2, 4, -4, 1 / (2 * math.Pi)}
	for i, w := range want {
		code := uint16(240 + i)
		for _, typ := range []Type{F32, B32, I32, U32, V2I16, I16, B16, V2F32, B512} {
			lo, hi := ConstValue(typ, code)
			if lo != math.Float32bits(float32(w)) || hi != 0 {
				t.Errorf("type %d code %d: got %#x:%#x", typ, code, hi, lo)
			}
		}
		for _, typ := range []Type{F64, B64, I64, U64, B256} {
			lo, hi := ConstValue(typ, code)
			got := math.Float64frombits(uint64(hi)<<32 | uint64(lo))
			// AMD's 1/(2*pi) is the nearest double of the true value.
			if math.Abs(got-w) > 3e-17 {
				t.Errorf("type %d code %d: got %v", typ, code, got)
			}
		}
		for _, typ := range []Type{F16, V2F16} {
			lo, _ := ConstValue(typ, code)
			if got := smallFloat(lo, 5, 10); math.Abs(got-w) > 0.0001 || lo>>16 != 0 || i < 8 && got != w {
				t.Errorf("type %d code %d: got %v", typ, code, got)
			}
		}
		lo, _ := ConstValue(BF16, code)
		if got := float64(math.Float32frombits(lo << 16)); math.Abs(got-w) > 0.001 {
			t.Errorf("BF16 code %d: got %v", code, got)
		}
	}
}

// smallFloat decodes an IEEE-style pattern with the given field widths by its
// defining formula.
func smallFloat(v uint32, exp, mant uint) float64 {
	bias := 1<<(exp-1) - 1
	e, m := int(v>>mant&(1<<exp-1)), float64(v&(1<<mant-1))
	s := 1.0
	if v>>(exp+mant)&1 != 0 {
		s = -1
	}
	switch {
	case e == 1<<exp-1 && m == 0:
		return s * math.Inf(1)
	case e == 1<<exp-1:
		return math.NaN()
	case e == 0:
		return s * math.Ldexp(m, 1-bias-int(mant))
	}
	return s * math.Ldexp(m+float64(uint(1)<<mant), e-bias-int(mant))
}

func TestLiteralValue(t *testing.T) {
	for _, tc := range []struct {
		typ    Type
		lo, hi uint32
	}{
		{F64, 0, 0xC0000000}, {I64, 0xC0000000, 0xFFFFFFFF}, {U64, 0xC0000000, 0}, {B64, 0xC0000000, 0}, {F32, 0xC0000000, 0}, {V2F16, 0xC0000000, 0},
	} {
		if lo, hi := LiteralValue(tc.typ, 0xC0000000); lo != tc.lo || hi != tc.hi {
			t.Errorf("type %d: got %#x:%#x, want %#x:%#x", tc.typ, hi, lo, tc.hi, tc.lo)
		}
	}
}

// TestSDWA checks source and destination selection against byte arrays.
func TestSDWA(t *testing.T) {
	first := []int{0, 1, 2, 3, 0, 2, 0}
	count := []int{1, 1, 1, 1, 2, 2, 4}
	rapid.Check(t, func(t *rapid.T) {
		rows := randRows(t, "rows", 3)
		src, old, res := &rows[0], &rows[1], &rows[2]
		exec := rapid.Uint64().Draw(t, "exec")
		sel := rapid.IntRange(0, 6).Draw(t, "sel")
		sext := rapid.Bool().Draw(t, "sext")
		unused := rapid.IntRange(0, 2).Draw(t, "unused")
		var got Row
		SDWASource(&got, src, uint8(sel), sext)
		d := *old
		SDWADest(&d, res, exec, uint8(sel), uint8(unused))
		for i := range got {
			var in, out, prev, r [4]byte
			for b := range in {
				in[b], prev[b], r[b] = byte(src[i]>>(8*b)), byte(old[i]>>(8*b)), byte(res[i]>>(8*b))
			}
			fill := byte(0)
			if sext && in[first[sel]+count[sel]-1] >= 0x80 {
				fill = 0xFF
			}
			for b := range out {
				out[b] = fill
				if b < count[sel] {
					out[b] = in[first[sel]+b]
				}
			}
			if want := join(out); got[i] != want {
				t.Fatalf("source lane %d of %#x: got %#x, want %#x", i, src[i], got[i], want)
			}
			for b := range out {
				k := b - first[sel]
				switch {
				case exec>>i&1 == 0, unused == 2 && (k < 0 || k >= count[sel]):
					out[b] = prev[b]
				case k >= 0 && k < count[sel]:
					out[b] = r[k]
				case unused == 1 && k > 0 && r[count[sel]-1] >= 0x80:
					out[b] = 0xFF
				default:
					out[b] = 0
				}
			}
			if want := join(out); d[i] != want {
				t.Fatalf("destination lane %d sel %d unused %d: got %#x, want %#x", i, sel, unused, d[i], want)
			}
		}
	})
}

func join(b [4]byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func TestSelectMerge16(t *testing.T) {
	var s, d Row
	Splat(&s, 0xABCD1234)
	for _, tc := range []struct {
		high, keep bool
		sel, merge uint32
	}{{false, false, 0x1234, 0x1234}, {false, true, 0x1234, 0x77771234}, {true, false, 0xABCD, 0x12348888}, {true, true, 0xABCD, 0x12348888}} {
		Splat(&d, 0x77778888)
		Merge16(&d, &s, 1<<5, tc.high, tc.keep)
		if d[5] != tc.merge || d[4] != 0x77778888 {
			t.Errorf("merge high %v keep %v: got %#x, %#x", tc.high, tc.keep, d[5], d[4])
		}
		Select16(&d, &s, tc.high)
		if d[0] != tc.sel {
			t.Errorf("select high %v: got %#x", tc.high, d[0])
		}
	}
}

// dppSpec lists, per control, which lane is read; written as the ISA's table
// words it ("row of 16 threads", "wavefront left shift by 1" …).
func dppSpec(ctrl uint32, lane int) (from int, ok bool) {
	row, in := lane/16, lane%16
	at := func(n int) (int, bool) { return row*16 + n, n >= 0 && n < 16 }
	n := int(ctrl & 0xF)
	switch {
	case ctrl <= 0xFF:
		perm := []int{int(ctrl & 3), int(ctrl >> 2 & 3), int(ctrl >> 4 & 3), int(ctrl >> 6 & 3)}
		return lane/4*4 + perm[lane%4], true
	case ctrl >= 0x101 && ctrl <= 0x10F:
		return at(in + n)
	case ctrl >= 0x111 && ctrl <= 0x11F:
		return at(in - n)
	case ctrl >= 0x121 && ctrl <= 0x12F:
		return at((in + 16 - n) % 16)
	case ctrl == 0x130:
		return lane + 1, lane < 63
	case ctrl == 0x134:
		return (lane + 1) % 64, true
	case ctrl == 0x138:
		return lane - 1, lane > 0
	case ctrl == 0x13C:
		return (lane + 63) % 64, true
	case ctrl == 0x140:
		return at(15 - in)
	case ctrl == 0x141:
		return at(in/8*8 + 7 - in%8)
	case ctrl == 0x142:
		return row*16 - 1, row > 0
	case ctrl == 0x143:
		return 31, lane > 31
	case ctrl >= 0x150 && ctrl <= 0x15F:
		return at(n)
	}
	return 0, false
}

func TestDPP(t *testing.T) {
	var ctrls []uint32
	for c := uint32(0); c < 0x200; c++ {
		if DPPValid(c, GenGFX90A) {
			ctrls = append(ctrls, c)
		}
	}
	if len(ctrls) != 256+45+8+16 {
		t.Fatalf("%d controls on gfx90a", len(ctrls))
	}
	if DPPValid(0x150, GenGFX900) || DPPValid(0x130, GenGFX10) || !DPPValid(0x16F, GenGFX11) || DPPValid(0x160, GenGFX90A) || DPPValid(0x100, GenGFX90A) {
		t.Error("a control is attributed to the wrong generation")
	}
	rapid.Check(t, func(t *rapid.T) {
		src := randRows(t, "src", 2)
		exec := rapid.Uint64().Draw(t, "exec")
		ctrl := rapid.SampledFrom(ctrls).Draw(t, "ctrl")
		rows, banks := uint8(rapid.IntRange(0, 15).Draw(t, "row_mask")), uint8(rapid.IntRange(0, 15).Draw(t, "bank_mask"))
		bc := rapid.Bool().Draw(t, "bound_ctrl")
		got := make([]Row, 2)
		run := DPPSource(&got[0], &src[0], 2, exec, ctrl, rows, banks, bc)
		for i := 0; i < 64; i++ {
			from, ok := dppSpec(ctrl, i)
			ok = ok && exec&(1<<from) != 0
			want := exec&(1<<i) != 0 && rows&(1<<(i/16)) != 0 && banks&(1<<(i%16/4)) != 0 && (ok || bc)
			if want != (run&(1<<i) != 0) {
				t.Fatalf("ctrl %#x lane %d: executes %v", ctrl, i, !want)
			}
			for r := 0; want && r < 2; r++ {
				v := uint32(0)
				if ok {
					v = src[r][from]
				}
				if got[r][i] != v {
					t.Fatalf("ctrl %#x lane %d row %d: got %#x, want %#x", ctrl, i, r, got[r][i], v)
				}
			}
		}
		DPPSource(&src[0], &src[0], 2, exec, ctrl, rows, banks, bc)
		if src[0] != got[0] || src[1] != got[1] {
			t.Fatal("in place differs")
		}
	})
}

func TestOutModOverflow(t *testing.T) {
	for _, tc := range []struct {
		typ  Type
		in   uint32
		mode Mode
		want uint32
	}{
		{F16, 0x7BFF, 0, 0x7C00}, {F16, 0x7BFF, 3 << 2, 0x7BFF}, {F16, 0xFBFF, 1 << 2, 0xFBFF}, {F16, 0xFBFF, 2 << 2, 0xFC00},
		{F16, 0xFBFF, 1 << 23, 0xFBFF}, {F16, 0x7C00, 1 << 23, 0x7C00}, {F32, 0x7F7FFFFF, 1 << 23, 0x7F800000}, {F32, 0x7F000000, 2, 0x7F7FFFFF},
	} {
		var d Row
		d[0] = tc.in
		OutMod(&d, tc.typ, 1, 1, false, tc.mode)
		if d[0] != tc.want {
			t.Errorf("type %d: %#x * 2 in mode %#x: got %#x, want %#x", tc.typ, tc.in, tc.mode, d[0], tc.want)
		}
	}
}

// TestOutMod compares with real arithmetic: scale, flush, clamp, by big.Float.
func TestOutMod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]Type{F16, F32, F64}).Draw(t, "type")
		exp, mant := uint(8), uint(23)
		switch typ {
		case F16:
			exp, mant = 5, 10
		case F64:
			exp, mant = 11, 52
		}
		rows := []Row{*drawRow(t, "lo"), *drawRow(t, "hi")}
		omod := uint8(rapid.IntRange(0, 3).Draw(t, "omod"))
		clamp := rapid.Bool().Draw(t, "clamp")
		mode := Mode(rapid.SampledFrom([]uint32{0, 0x100, 0x200, 0x300, 0xF0, 0x1F0, 0xC0, 0x30}).Draw(t, "mode"))
		out := append([]Row(nil), rows...)
		OutMod(&out[0], typ, 1<<7|1, omod, clamp, mode)
		if out[0][3] != rows[0][3] || out[1][3] != rows[1][3] {
			t.Fatal("a lane outside exec changed")
		}
		in, got := rows[0][7], out[0][7]
		x, y := float64(math.Float32frombits(in)), float64(math.Float32frombits(got))
		denorm := mode & 0x20
		switch typ {
		case F16:
			x, y, denorm = smallFloat(in&0xFFFF, 5, 10), smallFloat(got&0xFFFF, 5, 10), mode&0x80
		case F64:
			x = math.Float64frombits(uint64(rows[1][7])<<32 | uint64(in))
			y = math.Float64frombits(uint64(out[1][7])<<32 | uint64(got))
			denorm = mode & 0x80
		}
		want := x
		if omod != 0 && denorm == 0 && mode&0x200 == 0 && !math.IsNaN(x) && !math.IsInf(x, 0) {
			least := new(big.Float).SetMantExp(big.NewFloat(1), 2-1<<(exp-1))
			limit := new(big.Float).SetMantExp(big.NewFloat(1), 1<<(exp-1))
			b := big.NewFloat(x)
			if new(big.Float).Abs(b).Cmp(least) < 0 {
				b = new(big.Float)
			}
			b.Mul(b, big.NewFloat([]float64{1, 2, 4, 0.5}[omod]))
			a := new(big.Float).Abs(b)
			switch {
			case a.Cmp(least) < 0:
				want = 0
			case a.Cmp(limit) >= 0:
				want = math.Inf(b.Sign())
			default:
				want, _ = b.Float64()
			}
		}
		if clamp {
			switch {
			case math.IsNaN(want) && mode&0x100 != 0, want < 0:
				want = 0
			case want > 1:
				want = 1
			}
		}
		same := want == y && math.Signbit(want) == math.Signbit(y) || math.IsNaN(want) && math.IsNaN(y)
		if !same {
			t.Fatalf("type %d mant %d omod %d clamp %v mode %#x of %v (%#x): got %v, want %v", typ, mant, omod, clamp, mode, x, in, y, want)
		}
	})
}
