package lane

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// needVector skips a test of the vector kernels where there are none.
func needVector(t testing.TB) {
	t.Helper()
	if !useVector {
		t.Skip("no AVX-512 F, BW, DQ and VL here, or GFXRT_VECTOR=off")
	}
}

// Values on which formats and operations turn.
var (
	hard16 = []uint32{
		0, 0x8000, 1, 0x8001, 0x3FF, 0x83FF, 0x400, 0x8400, 0x3C00, 0xBC00, 0x3BFF, 0x3800, 0x4000, 0x7BFF, 0xFBFF,
		0x7C00, 0xFC00, 0x7E00, 0xFE00, 0x7C01, 0xFD23, 0x7FFF, 0xFE12, 0x5BFF, 0x0401, 0x1400, 0x9400, 0x2401,
	}
	hard32 = []uint32{
		0, 1 << 31, 1, 0x80000001, 0x7FFFFF, 0x807FFFFF, 0x800000, 0x80800000, 0x800001, 0x3F800000, 0xBF800000, 0x3F7FFFFF,
		0x3F000000, 0xBF000000, 0x3F000001, 0x3EFFFFFF, 0x40000000, 0x4B000001, 0x4B800000, 0x4EFFFFFF, 0x4F000000, 0xCF000000,
		0xCF000001, 0x4F7FFFFF, 0x4F800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001,
		0xFFA12345, 0x7FC54321, 0xFFFFFFFF, 0x7FFFFFFF, 0x7F802000, 0x477FE000, 0x477FF000, 0x33000000, 0x33000001, 0x38800000,
		0x387FC000, 0x387FE000, 0xB3800000, 0x1F, 0x20, 0x3F, 0x40, 0xFFFF, 0x8000, 0x10000, 0xFFFFFF, 0x1000000, 0x0C0C0C0C,
		0x07060504, 0x0D0C0100, 0x08090A0B, 0x03020C00, 0x34000000, 0x33800000, 0x0D800000, 0x20000000, 0xA0000000, 0x7E800000,
	}
	hard64 = []uint64{
		0, 1 << 63, 1, 1<<63 | 1, 1<<52 - 1, 1 << 52, 0x3FF << 52, 0xBFF << 52, 0x3FEFFFFFFFFFFFFF, 0x3FE << 52, 0x7FEFFFFFFFFFFFFF,
		infF64, signF64 | infF64, 0x7FF8 << 48, nanF64, infF64 | 1, 0xFFF4_0000_0001_0000, 0x7FFC_0000_2000_0000, ^uint64(0),
		0x41DFFFFFFFC00000, 0x41DFFFFFFFE00000, 0x41E0000000000000, 0xC1E0000000000000, 0xC1E0000000200000, 0x41EFFFFFFFE00000,
		0x41F0000000000000, 0x47EFFFFFF0000000, 0x47EFFFFFE0000000, 0x36A0000000000000, 0x3690000000000001, 0x380FFFFFE0000000,
		0x380FFFFFFFFFFFFF, 0x4330000000000001, 0xFFFFFFFF, 1 << 32, 0x7FFFFFFF, 1<<63 - 1, 0xFFFFFFFF00000000, 0x8000000080000000,
	}
)

// hardValue is an operand of type t: a hard value, one near it, or any bits.
func hardValue(r *rand.Rand, t Type) uint64 {
	kind := r.IntN(8)
	if kind == 0 {
		return r.Uint64()
	}
	var v uint64
	switch t {
	case F64, B64, I64, U64:
		v = hard64[r.IntN(len(hard64))]
		if kind == 1 { // floats of moderate size
			v = r.Uint64()&^(0x7FF<<52) | uint64(1023-70+r.IntN(140))<<52
		}
	case V2F16, V2I16, V2U16, V2BF16:
		v = uint64(hard16[r.IntN(len(hard16))]) | uint64(hard16[r.IntN(len(hard16))])<<16
	case F16, I16, U16, B16, BF16:
		v = uint64(hard16[r.IntN(len(hard16))]) | r.Uint64()<<16
		if kind == 1 {
			v = r.Uint64()
		}
	default:
		v = uint64(hard32[r.IntN(len(hard32))]) | uint64(hard32[r.IntN(len(hard32))])<<32
		if kind == 1 {
			for s := 0; s < 64; s += 32 {
				v = v&^(0xFFFFFFFF<<s) | uint64(r.Uint32()&^infF32|uint32(127-40+r.IntN(80))<<23)<<s
			}
		}
	}
	switch kind {
	case 2:
		v += uint64(r.IntN(5)) - 2
	case 3:
		v ^= 1 << r.IntN(64)
	}
	return v
}

func typeRows(t Type) int {
	switch t {
	case B64, I64, U64, F64, V2F32, V2I32, V2B32:
		return 2
	}
	return 1
}

// execShapes are the EXEC masks that code has; the last stands for random ones.
var execShapes = []uint64{^uint64(0), 0, 1, 1 << 63, 0xFFFFFFFF, 0xFFFFFFFF << 32, 0xFFFF << 16, 0x5555555555555555, 0}

// vectorCase is one call of a kernel on a small register file.
type vectorCase struct {
	file [16]Row
	at   [4]int // first rows of d, a, b, c
	exec uint64
	env  Env
}

func (v *vectorCase) row(i int) *Row { return &v.file[v.at[i]] }

// run calls k and returns what a compare gives.
func (v *vectorCase) run(k *Kernel) uint64 {
	if k.Cmp != nil {
		return k.Cmp(v.row(1), v.row(2), v.exec, &v.env)
	}
	var src [3]*Row
	for i, t := range k.Src {
		if t != TypeNone && t != Mask {
			src[i] = v.row(1 + i)
		}
	}
	if k.DstIsSrc {
		src[2] = v.row(0)
	}
	k.Fn(v.row(0), src[0], src[1], src[2], v.exec, &v.env)
	return 0
}

// fill draws a case for k. Operands are at random places, so that they overlap
// in every way.
func (v *vectorCase) fill(r *rand.Rand, k *Kernel) {
	for i := range v.file {
		for l := range v.file[i] {
			v.file[i][l] = r.Uint32()
		}
	}
	v.at = [4]int{r.IntN(6), r.IntN(6), r.IntN(6), r.IntN(6)}
	if r.IntN(2) == 0 {
		v.at = [4]int{0, 2, 4, 6}
	}
	for i, t := range k.Src {
		if k.DstIsSrc && i == 2 {
			v.at[3] = v.at[0]
		}
		rows := v.file[v.at[1+i]:][:typeRows(t)]
		for l := range 64 {
			x := hardValue(r, t)
			for j := range rows {
				rows[j][l] = uint32(x >> (32 * j))
			}
		}
	}
	v.exec = execShapes[r.IntN(len(execShapes))]
	if v.exec == 0 && r.IntN(4) != 0 {
		v.exec = r.Uint64()
	}
	v.env = Env{
		Mode:    0xF0 | modeIEEE,
		CarryIn: r.Uint64(), CarryOut: r.Uint64(),
		OpSelHi: 7, Gen: Gen(r.IntN(int(GenGFX950) + 1)),
	}
	if r.IntN(3) == 0 {
		v.env.Mode = 0xF0 | Mode(r.Uint32())&^0xFF
	}
	if r.IntN(4) == 0 {
		v.env.Clamp = true
	}
	if r.IntN(2) == 0 {
		v.env.OpSel, v.env.OpSelHi = uint8(r.IntN(8)), uint8(r.IntN(8))
	}
	if r.IntN(3) == 0 {
		v.env.NegLo, v.env.NegHi, v.env.Abs = uint8(r.IntN(8)), uint8(r.IntN(8)), uint8(r.IntN(8))
	}
	// Most NaNs would send the whole instruction to the portable loop; thin
	// them out so that other lanes are tested too.
	if r.IntN(2) == 0 {
		v.calm(k)
	}
}

// calm replaces the NaNs among the sources by numbers.
func (v *vectorCase) calm(k *Kernel) {
	for i, t := range k.Src {
		for l := range 64 {
			p := &v.file[v.at[1+i]][l]
			switch {
			case t == F32 && isNaN32(*p):
				*p &^= 0x40000000
			case t == F16 && isNaN16(*p):
				*p &^= 0x4000
			case t == V2F16:
				if isNaN16(*p) {
					*p &^= 0x4000
				}
				if isNaN16(*p >> 16) {
					*p &^= 0x40000000
				}
			case t == F64 || t == V2F32:
				if p = &v.file[v.at[1+i]+1][l]; isNaN32(*p) || t == F64 && *p&0x7FF00000 == 0x7FF00000 {
					*p &^= 0x40000000
				}
				if p = &v.file[v.at[1+i]][l]; t == V2F32 && isNaN32(*p) {
					*p &^= 0x40000000
				}
			}
		}
	}
}

// differ runs both kernels on v and describes the first difference.
func (v *vectorCase) differ(fast, slow *Kernel) string {
	got, want := *v, *v
	g, w := got.run(fast), want.run(slow)
	if g != w {
		return fmt.Sprintf("mask %#x, want %#x", g, w)
	}
	if got.env != want.env {
		return fmt.Sprintf("env %+v, want %+v", got.env, want.env)
	}
	for i := range got.file {
		for l := range got.file[i] {
			if got.file[i][l] != want.file[i][l] {
				s := fmt.Sprintf("row %d lane %d: %#x, want %#x; sources", i, l, got.file[i][l], want.file[i][l])
				for n := range 3 {
					s += fmt.Sprintf(" %#x:%#x", v.file[v.at[1+n]+1][l], v.file[v.at[1+n]][l])
				}
				return s + fmt.Sprintf("; old %#x, at %v, exec %#x, %+v", v.file[i][l], v.at, v.exec, v.env)
			}
		}
	}
	return ""
}

// TestVectorKernelsEqualPortable holds every vector kernel to the portable one,
// bit for bit.
func TestVectorKernelsEqualPortable(t *testing.T) {
	needVector(t)
	vector := VectorKernels()
	for _, name := range slices.Sorted(maps.Keys(vector)) {
		fast, slow := vector[name], Kernels[name]
		if fast.Matrix {
			continue // see TestVectorMatrix
		}
		if fast.CmpX {
			// One kernel serves both forms; the executor writes EXEC.
			if other := vector[strings.Replace(name, "cmpx", "cmp", 1)]; reflect.ValueOf(fast.Cmp).Pointer() == reflect.ValueOf(other.Cmp).Pointer() {
				continue
			}
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := drawRand(t)
				var v vectorCase
				v.fill(r, &slow)
				if s := v.differ(&fast, &slow); s != "" {
					t.Fatal(s)
				}
			})
		})
	}
}

// TestVectorKernelsOnGrids crosses the hard values of f32 and f64 with one
// another.
func TestVectorKernelsOnGrids(t *testing.T) {
	needVector(t)
	for name, fast := range VectorKernels() {
		slow := Kernels[name]
		if fast.Packed || fast.Matrix {
			continue
		}
		for _, mode := range []Mode{0xF0, 0xF0 | modeIEEE} {
			var v vectorCase
			v.at, v.exec, v.env.Mode = [4]int{0, 2, 4, 6}, ^uint64(0), mode
			for _, x := range hard64 {
				for l := range 64 {
					y := hard64[l%len(hard64)]
					v.file[2][l], v.file[3][l] = uint32(x), uint32(x>>32)
					v.file[4][l], v.file[5][l] = uint32(y), uint32(y>>32)
				}
				if slow.Src[0] != F64 {
					break
				}
				if s := v.differ(&fast, &slow); s != "" {
					t.Fatal(name, s)
				}
			}
			for i := range hard32 {
				for j := range hard32 {
					for l := range 64 {
						v.file[2][l], v.file[4][l], v.file[6][l] = hard32[(i+l)%len(hard32)], hard32[l%len(hard32)], hard32[j]
					}
					if s := v.differ(&fast, &slow); s != "" {
						t.Fatal(name, s)
					}
					if slow.Src[2] == TypeNone || slow.Src[2] == Mask {
						break
					}
				}
			}
		}
	}
}

// TestVectorKernelsOnEveryF16 runs the kernels of one f16 source over all of its
// values.
func TestVectorKernelsOnEveryF16(t *testing.T) {
	needVector(t)
	for name, fast := range VectorKernels() {
		slow := Kernels[name]
		if slow.Src[0] != F16 || slow.Src[1] != TypeNone {
			continue
		}
		var v vectorCase
		v.at, v.exec, v.env.Mode = [4]int{0, 1, 2, 3}, ^uint64(0), 0xF0|modeIEEE
		for x := uint32(0); x < 1<<16; x += 64 {
			for l := range uint32(64) {
				v.file[1][l] = x + l
			}
			if s := v.differ(&fast, &slow); s != "" {
				t.Fatal(name, s)
			}
		}
	}
}
