package lane

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkMatrix reports the multiply-adds of one instruction per nanosecond.
func BenchmarkMatrix(b *testing.B) {
	for _, tc := range []struct {
		name string
		gen  Gen
	}{
		{"v_mfma_f32_32x32x2_f32", GenGFX940},
		{"v_mfma_f32_32x32x8f16", GenGFX90A},
		{"v_mfma_f32_32x32x8_f16", GenGFX940},
		{"v_mfma_f32_16x16x16_bf16", GenGFX940},
		{"v_mfma_f32_16x16x32_fp8_fp8", GenGFX940},
		{"v_mfma_f32_16x16x8_xf32", GenGFX940},
		{"v_mfma_i32_32x32x16_i8", GenGFX940},
		{"v_mfma_f64_16x16x4_f64", GenGFX940},
		{"v_mfma_f32_4x4x4_16b_f16", GenGFX940},
		{"v_smfmac_f32_16x16x32_f16", GenGFX940},
	} {
		b.Run(tc.name, func(b *testing.B) {
			s := parseMatrixName(tc.name)
			c, _, _, _ := s.fillSmall(rand.New(rand.NewPCG(1, 1)))
			c.env.Gen = tc.gen
			d := make([]Row, 32)
			fn := Kernels[tc.name].Fn
			third := &c.c[0]
			if s.sparse {
				third = &c.idx[0]
			}
			b.ReportAllocs()
			for b.Loop() {
				fn(&d[0], &c.a[0], &c.b[0], third, 0, &c.env)
			}
			b.ReportMetric(float64(s.m*s.n*s.storedK()*s.blocks)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "mac/ns")
		})
	}
}
