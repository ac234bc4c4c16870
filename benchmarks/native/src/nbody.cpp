#include "native.h"
// kernels/src/nbody.hip, cut at its barriers.
enum { B = 128 };
static void group(const f32x4 *pos, f32x4 *acc, u32 n, u32 b) {
  float px[B], py[B], pz[B], ax[B] = {}, ay[B] = {}, az[B] = {}; f32x4 sp[B];
  for (u32 i = 0; i < B; i++) { f32x4 p = b * B + i < n ? pos[b * B + i] : (f32x4){0, 0, 0, 0}; px[i] = p.x; py[i] = p.y; pz[i] = p.z; }
  for (u32 t = 0; t < n; t += B) {
    for (u32 i = 0; i < B; i++) sp[i] = t + i < n ? pos[t + i] : (f32x4){0, 0, 0, 0};
    for (u32 j = 0; j < B; j++) {
      f32x4 q = sp[j];
      for (u32 i = 0; i < B; i++) {
        float dx = q.x - px[i], dy = q.y - py[i], dz = q.z - pz[i];
        float r = gk_rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = q.w * r * r * r;
        ax[i] += f * dx; ay[i] += f * dy; az[i] += f * dz;
      }
    }
  }
  for (u32 i = 0; i < B; i++) if (b * B + i < n) acc[b * B + i] = (f32x4){ax[i], ay[i], az[i], 0};
}
static void run() { for (u32 b = 0; b < gridDim.x; b++) group((f32x4 *)buf[0], (f32x4 *)buf[1], scalar[0], b); }
