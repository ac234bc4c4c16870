package lane

import (
	"math/rand/v2"
	"testing"
	"unsafe"
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
		file := alignedRows(10)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range file {
			for l := range file[i] {
				file[i][l] = 0x3C003C00 + r.Uint32N(1<<24) // f16 pairs, and f32 and f64 near 2^-7
			}
		}
		if name == "v_perm_b32" {
			Splat(&file[6], 0x0C010500)
		}
		e := &Env{Mode: 0x2F0, OpSelHi: 7}
		d, x, y, z := &file[0], &file[2], &file[4], &file[6]
		for _, k := range kernels {
			b.Run(name+"/"+k.name, func(b *testing.B) {
				if fn := k.k.Cmp; fn != nil {
					for b.Loop() {
						fn(x, y, ^uint64(0), e)
					}
					return
				}
				for b.Loop() {
					k.k.Fn(d, x, y, z, ^uint64(0), e)
				}
			})
		}
	}
}

// alignedRows returns n rows that begin on 64 bytes, as the rows of a wave do.
func alignedRows(n int) []Row {
	buf := make([]byte, n*256+64)
	p := unsafe.Pointer(&buf[0])
	return unsafe.Slice((*Row)(unsafe.Add(p, -uintptr(p)&63)), n)
}

// BenchmarkVectorRows times the helpers of memory and cross-lane instructions.
func BenchmarkVectorRows(b *testing.B) {
	rows := alignedRows(16)
	addr := (*[64]uint64)(unsafe.Pointer(&rows[8]))
	strided := (*[64]uint64)(unsafe.Pointer(&rows[12]))
	for l := range 64 {
		strided[l] = uint64(l) * 80
		addr[l] = 0x1000 + uint64(l)*4
		rows[4][l] = uint32(l) * 4
		rows[5][l] = uint32(l) * 12 & 0xFFF
	}
	lds := make([]byte, 65536)
	for _, tc := range []struct {
		name string
		f    func()
	}{
		{"splat", func() { SplatRow(&rows[0], 1) }},
		{"addresses", func() { Addresses(addr, &rows[0], &rows[1], 4) }},
		{"consecutive", func() { Consecutive(addr, 4) }},
		{"all within", func() { AllWithin(addr, ^uint64(0), 0x1000, 0x1000) }},
		{"gather lds, run", func() { GatherLDS32(&rows[0], lds, &rows[4], 0, ^uint64(0)) }},
		{"gather lds, strided", func() { GatherLDS32(&rows[0], lds, &rows[5], 0, ^uint64(0)) }},
		{"deinterleave 2", func() { Deinterleave(&rows[0], unsafe.Pointer(&lds[0]), 2, ^uint64(0)) }},
		{"deinterleave 3", func() { Deinterleave(&rows[0], unsafe.Pointer(&lds[0]), 3, ^uint64(0)) }},
		{"deinterleave 4", func() { Deinterleave(&rows[0], unsafe.Pointer(&lds[0]), 4, ^uint64(0)) }},
		{"interleave 4", func() { Interleave(unsafe.Pointer(&lds[0]), &rows[0], 4) }},
		{"gather 4", func() { GatherWide(&rows[0], 4, unsafe.Pointer(&lds[0]), strided, 0, ^uint64(0)) }},
		{"gather 4, by lanes", func() { GatherWide(&rows[0], 4, unsafe.Pointer(&lds[0]), strided, 0, ^uint64(0)-1) }},
		{"gather 1", func() { Gather32(&rows[0], unsafe.Pointer(&lds[0]), strided, 0, ^uint64(0)) }},
		{"gather 2", func() { GatherWide(&rows[0], 2, unsafe.Pointer(&lds[0]), strided, 0, ^uint64(0)) }},
		{"scatter 4", func() { ScatterWide(unsafe.Pointer(&lds[0]), strided, 0, &rows[0], 4, ^uint64(0)) }},
		{"scatter 4, by lanes", func() { ScatterWide(unsafe.Pointer(&lds[0]), strided, 0, &rows[0], 4, ^uint64(0)-1) }},
		{"dpp", func() { DPPRow(&rows[0], &rows[1], 1, ^uint64(0), 0x111, 15, 15, true) }},
		{"bpermute", func() { BpermuteRow(&rows[0], &rows[4], &rows[1], 0, ^uint64(0), 64) }},
		{"sdwa", func() { SDWARow(&rows[0], &rows[1], 5, false) }},
	} {
		b.Run(tc.name, func(b *testing.B) {
			for b.Loop() {
				tc.f()
			}
		})
	}
}

// BenchmarkVectorMatrix times one matrix instruction that accumulates in place,
// portable and vector.
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
		{"v_mfma_f64_16x16x4_f64", GenGFX940},
		{"v_mfma_i32_32x32x16_i8", GenGFX940},
	} {
		s := parseMatrixName(tc.name)
		c, _, _, _ := s.fillSmall(rand.New(rand.NewPCG(1, 1)))
		c.env.Gen = tc.gen
		d := alignedRows(32)
		copy(d, c.c)
		run := func(name string, fn Fn) {
			b.Run(tc.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					fn(&d[0], &c.a[0], &c.b[0], &d[0], 0, &c.env)
				}
			})
		}
		run("portable", Kernels[tc.name].Fn)
		if k, ok := VectorKernels()[tc.name]; ok {
			run("vector", k.Fn)
		}
	}
}
