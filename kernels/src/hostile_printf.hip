// GK: nohost arch=gfx90a,gfx942 flags=-mprintf-kind=buffered,-DGK_PRINTF_BUFFERED
// Device code that breaks the rules of HIP's buffered printf (LLVM AMDGPUEmitPrintf), one wrong at a time.
#include "gk.h"
// The compiler provides the buffer only in a module that prints. Lanes print until the buffer is full; ret counts refusals.
GK_KERNEL flood_printf(u32 *ret, u32 rounds) { for (u32 r = 0; r < rounds; r++) if (printf("lane %u round %u\n", gk_gid(), r) < 0) atomicAdd(ret, 1u); }
GK_KERNEL hostile_printf(u64 *out, u32 mode) {
  u32 *b = *(u32 *const GK_AS4 *)(gk_implicit() + 72); u32 cap = b[1]; u32 *r = b + 2;
  // A good record first: "ok\n", so that what comes before a wrong is seen to survive.
  r[0] = 12 << 2; r[1] = 0x0a6b6f; r[2] = 0; b[0] = 12; r += 3;
  switch (mode) {
  case 0: b[0] = ~0u; break;                                                // counter beyond everything
  case 1: b[0] = cap + 4; break;                                            // counter just beyond the capacity
  case 2: b[1] = ~0u; b[0] = 0xfffffff0; break;                             // both, in agreement
  case 3: r[0] = ~0u; b[0] += 16; break;                                    // record longer than the buffer
  case 4: r[0] = 0; b[0] += 16; break;                                      // record of no length
  case 5: r[0] = 12 << 2; r[1] = r[2] = ~0u; b[0] += 12; break;             // format without end
  case 6: r[0] = 20 << 2; r[1] = 0x7325; r[2] = 0; r[3] = r[4] = ~0u; b[0] += 20; break; // string without end
  case 7: r[0] = 28 << 2; r[1] = 0x30303125; r[2] = 0x30303030; r[3] = 0x64303030; r[4] = 0; r[5] = r[6] = 0; b[0] += 28; break; // "%1000000000d"
  case 8: r[0] = 12 << 2 | 2; r[1] = 0xdeadbeef; r[2] = 1; b[0] += 12; break; // hash of no format
  case 9: r[0] = 12 << 2; r[1] = 0x6425; r[2] = 0; b[0] += 12; break;       // "%d" without argument
  case 10: for (u32 i = 3; i < cap / 4; i++) b[2 + i] = i * 0x9e3779b9u; b[0] = cap; break; // noise
  case 11: b[0] = 7; break;                                                 // half a record
  }
  out[0] = 1;
}
