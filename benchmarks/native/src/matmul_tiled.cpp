#include "native.h"
// kernels/src/matmul_tiled.hip, cut at its barriers.
enum { T = 16 };
static void group(const float *a, const float *b, float *c, u32 n, u32 bx, u32 by) {
  float sa[T][T], sb[T][T], s[T][T] = {};
  for (u32 t = 0; t < (n + T - 1) / T; t++) {
    for (u32 y = 0; y < T; y++) for (u32 x = 0; x < T; x++) {
      u32 row = by * T + y, col = bx * T + x, ac = t * T + x, br = t * T + y;
      sa[y][x] = row < n && ac < n ? a[row * n + ac] : 0.0f;
      sb[y][x] = br < n && col < n ? b[br * n + col] : 0.0f;
    }
    for (u32 y = 0; y < T; y++) for (u32 i = 0; i < T; i++) for (u32 x = 0; x < T; x++) s[y][x] += sa[y][i] * sb[i][x];
  }
  for (u32 y = 0; y < T; y++) for (u32 x = 0; x < T; x++) if (by * T + y < n && bx * T + x < n) c[(by * T + y) * n + bx * T + x] = s[y][x];
}
static void run() { for (u32 y = 0; y < gridDim.y; y++) for (u32 x = 0; x < gridDim.x; x++) group((float *)buf[0], (float *)buf[1], (float *)buf[2], scalar[0], x, y); }
