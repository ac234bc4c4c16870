#include "native.h"
// kernels/src/reduce_lds.hip, cut at its barriers.
enum { B = 256 };
static void group(const i32 *in, i32 *out, u32 n, u32 b) {
  u32 s[B] = {};
  for (u32 base = b * B; base < n; base += gridDim.x * B) for (u32 t = 0; t < B; t++) if (base + t < n) s[t] += in[base + t];
  for (u32 k = B / 2; k > 0; k >>= 1) for (u32 t = 0; t < k; t++) s[t] += s[t + k];
  *out += s[0];
}
static void run() { for (u32 b = 0; b < gridDim.x; b++) group((i32 *)buf[0], (i32 *)buf[1], scalar[0], b); }
