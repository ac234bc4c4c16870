package lane

import (
	"math/rand/v2"
	"testing"
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

// BenchmarkVmath times the kernels of vmathTable over 64 lanes.
func BenchmarkVmath(b *testing.B) {
	for _, name := range []string{"v_exp_f32", "v_log_f32", "v_sin_f32", "v_cos_f32"} {
		r := rand.New(rand.NewPCG(1, 1))
		var x, d Row
		for l := range x {
			x[l] = bits32(float32(r.Float64() * 20))
		}
		e := Env{Mode: 0x2F0}
		for _, k := range []struct {
			name string
			k    Kernel
		}{{"portable", Kernels[name]}, {"vector", VectorKernels()[name]}} {
			if k.k.Fn == nil {
				continue
			}
			b.Run(name+"/"+k.name, func(b *testing.B) {
				for b.Loop() {
					k.k.Fn(&d, &x, nil, nil, ^uint64(0), &e)
				}
			})
		}
	}
}
