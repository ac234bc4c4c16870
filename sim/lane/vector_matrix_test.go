package lane

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// matrixOperand draws an f16, or an f32 for other types,
// spread is how many exponents the values take.
func matrixOperand(r *rand.Rand, t string, spread int, special bool) uint32 {
	if t == "f16" {
		x := r.Uint32()&0x83FF | uint32(max(15-spread/2, 0)+r.IntN(min(spread, 30)))<<10
		if r.IntN(16) == 0 {
			x = hard16[r.IntN(len(hard16))]
		}
		if x&infF16 == infF16 && !special {
			x &= 0x83FF
		}
		return x
	}
	x := r.Uint32()&0x807FFFFF | uint32(127-spread/2+r.IntN(spread))&0xFF<<23
	if r.IntN(16) == 0 {
		x = hard32[r.IntN(len(hard32))]
	}
	if x&infF32 == infF32 && !special {
		x &= 0x807FFFFF
	}
	return x
}

// accumulator is the type of C for a type of A.
func accumulator(typ string) string {
	if typ == "i8" || typ == "f64" {
		return typ
	}
	return "f32"
}

// TestVectorMatrix holds the vector form of the matrix kernels to the portable
// one, bit for bit, for every generation and wherever the operands lie.
func TestVectorMatrix(t *testing.T) {
	needVector(t)
	for name, fast := range VectorKernels() {
		if !fast.Matrix {
			continue
		}
		slow := Kernels[name]
		typ := parseMatrixName(name).a
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := drawRand(t)
				gen := rapid.SampledFrom([]Gen{GenGFX908, GenGFX90A, GenGFX940, GenGFX950}).Draw(t, "gen")
				spread := rapid.SampledFrom([]int{1, 3, 8, 30, 60, 120}).Draw(t, "exponents")
				special := rapid.IntRange(0, 7).Draw(t, "special") == 0
				at := [4]int{40, 0, 4, 20}
				if rapid.Bool().Draw(t, "overlap") {
					for i := range at {
						at[i] = rapid.IntRange(0, 20).Draw(t, "row")
					}
				}
				if rapid.Bool().Draw(t, "accumulate") {
					at[0] = at[3]
				}
				// Short significands make sums that end on halves.
				keep := ^uint32(0)
				if rapid.Bool().Draw(t, "short") {
					keep = 0xFFF0FFC0
				}
				var file [64]Row
				fill := func(rows []Row, typ string, spread int) {
					for i := range rows {
						for l := range rows[i] {
							x := matrixOperand(r, typ, spread, special)
							switch typ {
							case "f16":
								x |= matrixOperand(r, typ, spread, special) << 16
							case "i8":
								x = r.Uint32()
							case "f64": // as high dwords
								x = x&0x800FFFFF | uint32(1023-spread/2+r.IntN(spread))&0x7FF<<20
								if special {
									x = r.Uint32()
								}
							case "bf16":
								x = x>>16 | matrixOperand(r, typ, spread, special)&^0xFFFF
							}
							rows[i][l] = x & keep
						}
					}
				}
				fill(file[at[3]:][:16], accumulator(typ), 2*spread)
				fill(file[at[1]:][:4], typ, spread)
				fill(file[at[2]:][:4], typ, spread)
				e := Env{Gen: gen, Mode: 0x2F0}
				if rapid.IntRange(0, 7).Draw(t, "broadcast") == 0 {
					e.Blgp, e.Cbsz, e.Abid = uint8(r.IntN(8)), uint8(r.IntN(8)), uint8(r.IntN(8))
				}
				got, want := file, file
				fast.Fn(&got[at[0]], &got[at[1]], &got[at[2]], &got[at[3]], r.Uint64(), &e)
				slow.Fn(&want[at[0]], &want[at[1]], &want[at[2]], &want[at[3]], r.Uint64(), &e)
				for i := range got {
					for l := range got[i] {
						if got[i][l] != want[i][l] {
							t.Fatalf("row %d lane %d: %#x, want %#x (from %#x), at %v, %+v", i, l, got[i][l], want[i][l], file[i][l], at, e)
						}
					}
				}
			})
		})
	}
}
