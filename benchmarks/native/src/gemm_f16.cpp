#include "native.h"
// kernels/src/gemm_f16.hip without a matrix unit: the same tiles, widened to float when they are staged.
enum { T = 128, D = 32 };
static void group(const f16 *A, const f16 *Bt, float *C, u32 n, u32 k, u32 bx, u32 by) {
  static float sa[T][D], sb[D][T], c[T][T];
  memset(c, 0, sizeof c);
  for (u32 d = 0; d < k; d += D) {
    for (u32 i = 0; i < T; i++) for (u32 e = 0; e < D; e++) { sa[i][e] = A[(u64)(by * T + i) * k + d + e]; sb[e][i] = Bt[(u64)(bx * T + i) * k + d + e]; }
    for (u32 i = 0; i < T; i++) for (u32 e = 0; e < D; e++) for (u32 j = 0; j < T; j++) c[i][j] += sa[i][e] * sb[e][j];
  }
  for (u32 i = 0; i < T; i++) for (u32 j = 0; j < T; j++) C[(u64)(by * T + i) * n + bx * T + j] = c[i][j];
}
static void run() { for (u32 y = 0; y < gridDim.y; y++) for (u32 x = 0; x < gridDim.x; x++) group((f16 *)buf[0], (f16 *)buf[1], (float *)buf[2], scalar[1], scalar[2], x, y); }
