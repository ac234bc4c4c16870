package lane

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkVector times one instruction over 64 lanes, portable and vector.
func BenchmarkVector(b *testing.B) {
	for _, name := range []string{
		"v_mov_b32", "v_add_u32", "v_xor_b32", "v_lshlrev_b32", "v_bfe_u32", "v_perm_b32", "v_mul_lo_u32", "v_mul_hi_u32", "v_cndmask_b32",
		"v_add_co_u32", "v_addc_co_u32", "v_mad_u64_u32", "v_lshl_add_u64", "v_lshlrev_b64", "v_add_f32", "v_mul_f32", "v_fma_f32", "v_mac_f32",
		"v_max_f32", "v_med3_f32", "v_rcp_f32", "v_sqrt_f32", "v_cvt_i32_f32", "v_cvt_f16_f32", "v_cvt_f32_f16", "v_fma_f64", "v_add_f64", "v_add_f16", "v_fma_f16",
		"v_exp_f32", "v_log_f32", "v_pk_fma_f32", "v_pk_fma_f16", "v_pk_add_f16", "v_pk_add_u16", "v_cmp_lt_f32", "v_cmp_eq_u32", "v_cmp_gt_f64", "v_cmp_lt_i64",
	} {
		slow, ok := Kernels[name]
		if !ok {
			b.Fatal(name)
		}
		kernels := []struct {
			name string
			k    Kernel
		}{{"portable", slow}}
		if fast, ok := VectorKernels()[name]; ok {
			kernels = append(kernels, struct {
				name string
				k    Kernel
			}{"vector", fast})
		}
		r := rand.New(rand.NewPCG(1, 1))
		var v vectorCase
		v.fill(r, &slow)
		for i := range v.file {
			for l := range v.file[i] {
				v.file[i][l] = 0x3C003C00 + r.Uint32N(1<<24) // f16 pairs, and f32 and f64 near 2^-7
			}
		}
		if name == "v_perm_b32" {
			Splat(&v.file[6], 0x0C010500)
		}
		v.at, v.exec, v.env = [4]int{0, 2, 4, 6}, ^uint64(0), Env{Mode: 0x2F0, OpSelHi: 7}
		for _, k := range kernels {
			b.Run(name+"/"+k.name, func(b *testing.B) {
				for b.Loop() {
					v.run(&k.k)
				}
			})
		}
	}
}

// BenchmarkVectorMatrix times one matrix instruction, portable and vector.
func BenchmarkVectorMatrix(b *testing.B) {
	for _, tc := range []struct {
		name string
		gen  Gen
	}{
		{"v_mfma_f32_32x32x8f16", GenGFX90A},
		{"v_mfma_f32_32x32x8_f16", GenGFX940},
		{"v_mfma_f32_16x16x16f16", GenGFX90A},
		{"v_mfma_f32_16x16x16_f16", GenGFX940},
		{"v_mfma_f32_32x32x8_bf16", GenGFX940},
		{"v_mfma_f32_32x32x2_f32", GenGFX940},
		{"v_mfma_f32_16x16x4_f32", GenGFX940},
	} {
		s := parseMatrixName(tc.name)
		c, _, _, _ := s.fillSmall(rand.New(rand.NewPCG(1, 1)))
		c.env.Gen = tc.gen
		d := make([]Row, 32)
		run := func(name string, fn Fn) {
			b.Run(tc.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					fn(&d[0], &c.a[0], &c.b[0], &c.c[0], 0, &c.env)
				}
			})
		}
		run("portable", Kernels[tc.name].Fn)
		if k, ok := VectorKernels()[tc.name]; ok {
			run("vector", k.Fn)
		}
	}
}
