package lane

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestVmathDense holds the transcendental vector kernels to the portable ones over
// many more sources than TestVectorKernelsEqualPortable: any bits, all
// exponents evenly, and the neighbourhoods where tables and quadrants change.
func TestVmathDense(t *testing.T) {
	needVector(t)
	n := 3000
	if testing.Short() {
		n = 300
	}
	for _, name := range []string{"v_exp_f32", "v_exp_legacy_f32", "v_log_f32", "v_log_legacy_f32", "v_sin_f32", "v_cos_f32"} {
		fast, ok := VectorKernels()[name]
		if !ok {
			t.Fatalf("no vector kernel for %s", name)
		}
		slow := Kernels[name]
		r := rand.New(rand.NewPCG(3, 4))
		var x, got, want Row
		for i := range n {
			e := Env{Mode: 0xF0, Gen: Gen(r.IntN(int(GenGFX1250) + 1))}
			if i&1 != 0 {
				e.Mode |= modeIEEE
			}
			for l := range x {
				switch l & 3 {
				case 0:
					x[l] = r.Uint32()
				case 1: // sixteenths and eighths of turns, and their neighbours
					x[l] = bits32(float32(r.IntN(8192)-4096)/16) + uint32(r.IntN(3)) - 1
				case 2:
					x[l] = bits32(float32(r.Float64()*320 - 160))
				case 3:
					x[l] = bits32(1 + float32(r.NormFloat64())*0.2)
				}
				got[l] = r.Uint32()
			}
			want = got
			exec := execShapes[i%len(execShapes)]
			if exec == 0 {
				exec = r.Uint64()
			}
			slow.Fn(&want, &x, nil, nil, exec, &e)
			fast.Fn(&got, &x, nil, nil, exec, &e)
			for l := range x {
				if got[l] != want[l] {
					t.Fatalf("%s(%#x) = %#x, want %#x, mode %#x, generation %d, lane %d of %#x", name, x[l], got[l], want[l], e.Mode, e.Gen, l, exec)
				}
			}
		}
	}
}

// hardRow draws a row of hard values of type t.
func hardRow(r *rand.Rand, t Type) (x Row) {
	for l := range x {
		x[l] = uint32(hardValue(r, t))
	}
	return x
}

// TestVmathRows holds the functions around kernels to their lane-by-lane forms, in
// place too.
func TestVmathRows(t *testing.T) {
	needVector(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		exec := execShapes[r.IntN(len(execShapes))]
		if exec == 0 && r.IntN(4) != 0 {
			exec = r.Uint64()
		}
		old, src := hardRow(r, F32), hardRow(r, F32)
		check := func(what string, vector, portable func(d, s *Row)) {
			got, want := old, old
			vector(&got, &src)
			portable(&want, &src)
			if got != want {
				t.Fatalf("%s: got %#x, want %#x", what, got, want)
			}
			got, want = src, src
			vector(&got, &got)
			portable(&want, &want)
			if got != want {
				t.Fatalf("%s in place: got %#x, want %#x", what, got, want)
			}
		}
		var idx [64]uint8
		for l := range idx {
			idx[l] = uint8(r.IntN(64))
		}
		check("permute", func(d, s *Row) { vPermuteBytes(d, s, &idx, exec) }, func(d, s *Row) { permuteLanes(d, s, &idx, exec) })
		check("merge", func(d, s *Row) { vMerge(d, s, exec) }, func(d, s *Row) { mergeLanes(d, s, exec) })
		up, shift, keep, take := uint32(r.IntN(32)), uint32(r.IntN(32)), r.Uint32(), r.Uint32()
		check("deposit", func(d, s *Row) { vDeposit(d, s, exec, up, shift, keep, take) }, func(d, s *Row) { depositLanes(d, s, exec, up, shift, keep, take) })

		for _, typ := range []Type{F16, F32} {
			x := hardRow(r, typ)
			m := Mode(r.Uint32()) &^ 0x200
			if r.IntN(2) == 0 {
				m &^= 0xFF
			}
			omod, clamp := uint8(r.IntN(4)), r.IntN(2) == 0
			f, round, denorm := fmtF32, m&3, m.denorm32()
			if typ == F16 {
				f, round, denorm = fmtF16, m>>2&3, m.denorm64()
				if m&modeFP16Ovfl != 0 {
					round = roundZero
				}
			}
			got, want := x, x
			OutMod(&got, typ, exec, omod, clamp, m)
			if denorm&denormOut != 0 {
				omod = 0
			}
			outModLanes(&want, typ, f, exec, omod, clamp, round, m&modeDX10Clamp != 0)
			if typ == F16 && omod == 0 && !clamp {
				want = x
			}
			for l := range x {
				if got[l] != want[l] {
					t.Fatalf("type %d omod %d clamp %v mode %#x of %#x: got %#x, want %#x", typ, omod, clamp, m, x[l], got[l], want[l])
				}
			}
		}
	})
}

// BenchmarkVmathRows times functions around kernels, lane by lane and vector.
func BenchmarkVmathRows(b *testing.B) {
	if !useVector {
		b.Skip("no vector unit")
	}
	var d, x Row
	for l := range x {
		x[l] = bits32(float32(l) / 50)
	}
	idx := swizzleLanes(0x041F)
	for _, exec := range []struct {
		name string
		mask uint64
	}{{"full", ^uint64(0)}, {"half", 0xFFFFFFFF}} {
		for _, f := range []struct {
			name string
			fn   func()
		}{
			{"swizzle/portable", func() { permuteLanes(&d, &x, &idx, exec.mask) }},
			{"swizzle/vector", func() { DSSwizzle(&d, &x, 0x041F, exec.mask) }},
			{"permute/portable", func() { DSPermute(&d, &x, &x, 0, exec.mask, 64) }},
			{"merge/portable", func() { mergeLanes(&d, &x, exec.mask) }},
			{"merge/vector", func() { MergeRow(&d, &x, exec.mask) }},
			{"sdwaDest/portable", func() { depositLanes(&d, &x, exec.mask, 24, 8, 0xFFFF00FF, 0xFF00) }},
			{"sdwaDest/vector", func() { SDWADest(&d, &x, exec.mask, 1, 2) }},
			{"clamp/portable", func() { outModLanes(&d, F32, fmtF32, exec.mask, 0, true, 0, true) }},
			{"clamp/vector", func() { OutMod(&d, F32, exec.mask, 0, true, 0x1F0) }},
			{"omod/portable", func() { outModLanes(&d, F32, fmtF32, exec.mask, 1, false, 0, true) }},
			{"omod/vector", func() { OutMod(&d, F32, exec.mask, 1, false, 0) }},
		} {
			b.Run(f.name+"/"+exec.name, func(b *testing.B) {
				d = x
				for b.Loop() {
					f.fn()
				}
			})
		}
	}
}

// BenchmarkVmath times the kernels of vmathTable over 64 lanes, with a scaled lane in
// the mask that V_DIV_FMAS reads.
func BenchmarkVmath(b *testing.B) {
	for _, entry := range vmathTable {
		slow := Kernels[entry.op]
		fast, ok := VectorKernels()[entry.op]
		if !ok {
			continue
		}
		r := rand.New(rand.NewPCG(1, 1))
		var v vectorCase
		for i := range v.file {
			for l := range v.file[i] {
				v.file[i][l] = 0x3C003C00 + r.Uint32N(1<<24) // f16 pairs, and f32 and f64 near 2^-7
			}
		}
		v.at, v.exec, v.env = [4]int{0, 2, 4, 6}, ^uint64(0), Env{Mode: 0x2F0, CarryIn: 1, Gen: GenGFX940}
		for _, k := range []struct {
			name string
			k    *Kernel
		}{{"portable", &slow}, {"vector", &fast}} {
			b.Run(entry.op+"/"+k.name, func(b *testing.B) {
				for b.Loop() {
					v.run(k.k)
				}
			})
		}
	}
}

// TestHalfExhaustive gives every f16 to the f16 kernels of one source.
func TestHalfExhaustive(t *testing.T) {
	needVector(t)
	for name, fast := range VectorKernels() {
		slow := Kernels[name]
		if slow.Src != [3]Type{F16} || slow.Cmp != nil {
			continue
		}
		for _, e := range []Env{{Mode: 0x2F0}, {Mode: 0xF0, Gen: GenGFX940}, {Mode: 0x2F0 | modeFP16Ovfl}} {
			var x, got, want Row
			for base := uint32(0); base < 1<<16; base += 64 {
				for l := range x {
					x[l] = base + uint32(l)
				}
				fast.Fn(&got, &x, nil, nil, ^uint64(0), &e)
				slow.Fn(&want, &x, nil, nil, ^uint64(0), &e)
				if got != want {
					for l := range x {
						if got[l] != want[l] {
							t.Fatalf("%s(%#x) = %#x, want %#x, mode %#x", name, x[l], got[l], want[l], e.Mode)
						}
					}
				}
			}
		}
	}
}

// TestVmathDivFmas crosses hard operands in scaled lanes.
func TestVmathDivFmas(t *testing.T) {
	needVector(t)
	for _, f := range []struct {
		name string
		typ  Type
	}{{"v_div_fmas_f32", F32}, {"v_div_fmas_f64", F64}} {
		fast, slow := VectorKernels()[f.name], Kernels[f.name]
		r := rand.New(rand.NewPCG(5, 6))
		var v vectorCase
		v.at, v.exec = [4]int{0, 2, 4, 6}, ^uint64(0)
		for i := range 3000 {
			v.env = Env{Mode: 0xF0 | Mode(i&1)<<9, CarryIn: r.Uint64() | r.Uint64()}
			for l := range 64 {
				x, y, z := hardValue(r, f.typ), hardValue(r, f.typ), hardValue(r, f.typ)
				if l&1 == 0 { // near cancellation, with a denormal quotient
					z = x&(1<<63) | uint64(r.IntN(1<<20)) | uint64(r.IntN(200))<<52
					if f.typ == F32 {
						z = z&0xFFFFF | uint64(r.IntN(140))<<23
					}
				}
				for n, q := range []uint64{x, y, z} {
					v.file[2+2*n][l], v.file[3+2*n][l] = uint32(q), uint32(q>>32)
				}
			}
			if i&2 != 0 {
				for n := range 3 {
					for l := range 64 { // numbers only, so that not every call is portable
						if p := &v.file[2+2*n+1][l]; *p&0x7FF00000 == 0x7FF00000 {
							*p &^= 1 << 30
						}
					}
				}
			}
			if s := v.differ(&fast, &slow); s != "" {
				t.Fatal(f.name, s)
			}
		}
	}
}

// TestVmathFP8 converts every code, and f32 around every code and halfway between
// codes.
func TestVmathFP8(t *testing.T) {
	needVector(t)
	r := rand.New(rand.NewPCG(8, 8))
	for _, gen := range []Gen{GenGFX940, GenGFX950} {
		for _, bf8 := range []bool{false, true} {
			f := fp8Of(bf8, gen)
			var steps []uint32
			for code := range uint32(256) {
				steps = append(steps, f.decode[code])
			}
			for code := range uint32(127) {
				mid := (f32(f.decode[code]) + f32(f.decode[code+1])) / 2
				steps = append(steps, bits32(mid), bits32(-mid))
			}
			names := []string{"v_cvt_f32_fp8", "v_cvt_pk_f32_fp8", "v_cvt_pk_fp8_f32"}
			if bf8 {
				names = []string{"v_cvt_f32_bf8", "v_cvt_pk_f32_bf8", "v_cvt_pk_bf8_f32"}
			}
			for _, name := range names {
				fast, ok := VectorKernels()[name]
				if !ok {
					t.Fatalf("no vector kernel for %s", name)
				}
				slow := Kernels[name]
				var v vectorCase
				for i := range 400 {
					v.at = [4]int{[]int{0, 2, 3, 4}[r.IntN(4)], 2, 4, 6}
					v.exec = ^uint64(0)
					if i&1 != 0 {
						v.exec = r.Uint64()
					}
					v.env = Env{Mode: 0xF0 | Mode(r.Uint32())&^0xFF, Gen: gen, OpSel: uint8(r.IntN(16)), Abs: uint8(r.IntN(4)), NegLo: uint8(r.IntN(4))}
					for l := range 64 {
						v.file[2][l] = steps[r.IntN(len(steps))] + uint32(r.IntN(3)) - 1
						v.file[4][l] = steps[r.IntN(len(steps))] + uint32(r.IntN(3)) - 1
						if slow.Src[0] == B32 {
							v.file[2][l] = r.Uint32()
						}
					}
					if s := v.differ(&fast, &slow); s != "" {
						t.Fatal(name, s)
					}
				}
			}
		}
	}
}

// TestVmathDivScale draws quotients of all exponents, at the bounds of the cases,
// and scales either operand or another number.
func TestVmathDivScale(t *testing.T) {
	needVector(t)
	for _, f := range []struct {
		name string
		typ  Type
		man  uint
		exps []int // exponents, and differences of exponents, where cases change
	}{
		{"v_div_scale_f32", F32, 23, []int{0, 1, 22, 23, 24, 25, 95, 96, 97, 125, 126, 127, 128, 150, 252, 253, 254, 255}},
		{"v_div_scale_f64", F64, 52, []int{0, 1, 52, 53, 54, 55, 767, 768, 769, 1021, 1022, 1023, 1075, 2044, 2045, 2046, 2047}},
	} {
		fast, slow := VectorKernels()[f.name], Kernels[f.name]
		r := rand.New(rand.NewPCG(9, 9))
		top := f.exps[len(f.exps)-1]
		var v vectorCase
		v.exec = ^uint64(0)
		for i := range 4000 {
			v.env = Env{Mode: 0xF0 | Mode(i&1)<<9, CarryOut: r.Uint64()}
			v.at = [4]int{[]int{0, 2, 3, 4, 5}[r.IntN(5)], 2, 4, 6}
			if i%5 == 0 {
				v.exec = r.Uint64()
			}
			for l := range 64 {
				number := func(e int) uint64 {
					m := r.Uint64() >> (64 - f.man) >> (r.IntN(4) * 20)
					return uint64(r.IntN(2))<<(f.man+uint(8+3*(f.man/52))) | uint64(min(max(e, 0), top))<<f.man | m
				}
				e := f.exps[r.IntN(len(f.exps))]
				den := number(e)
				num := number(e + (r.IntN(2)*2-1)*f.exps[r.IntN(len(f.exps))] + r.IntN(3) - 1)
				s := []uint64{den, num, number(r.IntN(top + 1))}[r.IntN(3)]
				for n, q := range []uint64{s, den, num} {
					v.file[2+2*n][l], v.file[3+2*n][l] = uint32(q), uint32(q>>32)
				}
			}
			if s := v.differ(&fast, &slow); s != "" {
				t.Fatal(f.name, s)
			}
		}
	}
}
