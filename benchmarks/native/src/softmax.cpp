#include "native.h"
// kernels/src/softmax.hip, cut at its barriers; a row's work-items hold partial results, which a tree then joins.
enum { B = 256 };
static void group(const float *p, float *q, u32 cols) {
  float m[B], t[B] = {};
  for (u32 i = 0; i < B; i++) m[i] = -3.4e38f;
  for (u32 c = 0; c < cols; c += B) for (u32 i = 0; i < B; i++) if (c + i < cols) m[i] = gk_fmaxf(m[i], p[c + i]);
  for (u32 d = B / 2; d; d /= 2) for (u32 i = 0; i < d; i++) m[i] = gk_fmaxf(m[i], m[i + d]);
  for (u32 c = 0; c < cols; c += B) for (u32 i = 0; i < B; i++) if (c + i < cols) t[i] += expf(p[c + i] - m[0]);
  for (u32 d = B / 2; d; d /= 2) for (u32 i = 0; i < d; i++) t[i] += t[i + d];
  for (u32 i = 0; i < cols; i++) q[i] = expf(p[i] - m[0]) / t[0];
}
static void run() { for (u32 b = 0; b < gridDim.x; b++) group((float *)buf[0] + b * scalar[0], (float *)buf[1] + b * scalar[0], scalar[0]); }
