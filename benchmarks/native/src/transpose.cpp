#include "native.h"
// kernels/src/transpose.hip, cut at its barrier.
static void group(const float *in, float *out, u32 w, u32 h, u32 bx, u32 by) {
  float t[32][33];
  for (u32 j = 0; j < 32; j++) for (u32 x = 0; x < 32; x++) if (bx * 32 + x < w && by * 32 + j < h) t[j][x] = in[(by * 32 + j) * w + bx * 32 + x];
  for (u32 j = 0; j < 32; j++) for (u32 x = 0; x < 32; x++) if (by * 32 + x < h && bx * 32 + j < w) out[(bx * 32 + j) * h + by * 32 + x] = t[x][j];
}
static void run() { for (u32 y = 0; y < gridDim.y; y++) for (u32 x = 0; x < gridDim.x; x++) group((float *)buf[0], (float *)buf[1], scalar[0], scalar[1], x, y); }
