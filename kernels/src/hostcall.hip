// GK: devlib nohost arch=gfx90a,gfx942
#include "gk.h"
typedef u64 u64x2 __attribute__((ext_vector_type(2)));
extern "C" __attribute__((device)) u64x2 __ockl_call_host_function(u64, u64, u64, u64, u64, u64, u64, u64);
// Every lane prints one line.
GK_KERNEL hostcall_print(u32 n) { u32 i = gk_gid(); if (i < n) printf("line %u of %u\n", i, n); }
// Every lane calls host function id once, with seven words.
GK_KERNEL hostcall_call(u64 *out, u64 id, u32 n) {
  u32 i = gk_gid(); if (i >= n) return;
  u64x2 r = __ockl_call_host_function(id, i, i + 1, i + 2, i + 3, i + 4, i + 5, (u64)out);
  out[2 * i] = r.x; out[2 * i + 1] = r.y;
}
// The first lane of each group calls host function id rounds times; out gets the sum of the answers.
GK_KERNEL hostcall_loop(u64 *out, u64 id, u32 rounds) {
  if (threadIdx.x) return;
  u64 sum = 0; for (u32 r = 0; r < rounds; r++) sum += __ockl_call_host_function(id, blockIdx.x, r, 0, 0, 0, 0, 0).x;
  out[blockIdx.x] = sum;
}
// One printf message after the other from one lane.
GK_KERNEL hostcall_chat(u32 rounds) { for (u32 r = 0; r < rounds; r++) printf("round %u of %s\n", r, "a chat that takes several packets for each of its lines"); }
