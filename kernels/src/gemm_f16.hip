// GK: nohost arch=gfx90a,gfx942,gfx950
#include "gk.h"
typedef f16 f16x4 __attribute__((ext_vector_type(4))); typedef f16 f16x8 __attribute__((ext_vector_type(8))); typedef float f32x16 __attribute__((ext_vector_type(16)));
// C[m][n] = A[m][k] * B, C in f32. B comes transposed: Bt[n][k], so that both operands are read along k.
// Work-groups of 256 work-items make 128x128 of C: four waves, each 64x64 as 2x2 results of v_mfma_f32_32x32x8_f16.
// The grid is (n / 128, m / 128); m and n are multiples of 128, k of 32.
#define TILE 128
#define DEPTH 32
#define ROW (DEPTH + 8) // halves a row in LDS: 16-byte aligned, and spread over the banks
GK_KERNEL __launch_bounds__(256) gemm_f16(const f16 *A, const f16 *Bt, float *C, u32 m, u32 n, u32 k) {
  __shared__ f16 sa[TILE * ROW], sb[TILE * ROW];
  u32 t = threadIdx.x, lane = t & 63, wm = (t >> 6 & 1) * 64, wn = (t >> 7) * 64;
  u32 i = lane & 31, g = lane >> 5; // operand row of the lane, and which 4 of the 8 values along k it holds
  const f16 *pa = A + (u64)(blockIdx.y * TILE + t / 4) * k + t % 4 * 8, *pb = Bt + (u64)(blockIdx.x * TILE + t / 4) * k + t % 4 * 8;
  f16 *qa = sa + t / 4 * ROW + t % 4 * 8, *qb = sb + t / 4 * ROW + t % 4 * 8;
  f32x16 c[2][2] = {};
  for (u32 d = 0; d < k; d += DEPTH) {
    f16x8 a0 = *(const f16x8 *)(pa + d), a1 = *(const f16x8 *)(pa + d + (u64)64 * k);
    f16x8 b0 = *(const f16x8 *)(pb + d), b1 = *(const f16x8 *)(pb + d + (u64)64 * k);
    *(f16x8 *)qa = a0; *(f16x8 *)(qa + 64 * ROW) = a1;
    *(f16x8 *)qb = b0; *(f16x8 *)(qb + 64 * ROW) = b1;
    __syncthreads();
#pragma unroll
    for (u32 e = 0; e < DEPTH; e += 8) {
      f16x4 a[2], b[2];
      for (u32 r = 0; r < 2; r++) {
        a[r] = *(const f16x4 *)(sa + (wm + 32 * r + i) * ROW + e + 4 * g);
        b[r] = *(const f16x4 *)(sb + (wn + 32 * r + i) * ROW + e + 4 * g);
      }
      for (u32 r = 0; r < 2; r++) for (u32 s = 0; s < 2; s++) c[r][s] = __builtin_amdgcn_mfma_f32_32x32x8f16(a[r], b[s], c[r][s], 0, 0, 0);
    }
    __syncthreads();
  }
  float *q = C + (u64)(blockIdx.y * TILE + wm + 4 * g) * n + blockIdx.x * TILE + wn + i;
  for (u32 r = 0; r < 2; r++) for (u32 s = 0; s < 2; s++)
#pragma unroll
    for (u32 v = 0; v < 16; v++) q[(u64)(32 * r + 8 * (v / 4) + v % 4) * n + 32 * s] = c[r][s][v];
}
