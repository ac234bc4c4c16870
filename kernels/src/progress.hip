// GK: nohost arch=gfx90a,gfx942
#include "gk.h"
// Work-groups that wait for later ones: ends only when all are resident
// together and each gets its turn.
GK_KERNEL progress_first_on_last(u32 *flag, u32 *out, u32 last) {
  u32 g = blockIdx.x;
  if (g == last) __hip_atomic_store(flag, 7u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  if (g == 0) while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) != 7u) {}
  out[gk_gid()] = g * 3 + 1;
}
// Group g waits for group g+1, so they end in reverse order.
GK_KERNEL progress_chain(u32 *turn, u32 *out, u32 last) {
  u32 g = blockIdx.x;
  if (threadIdx.x == 0) {
    if (g != last) while (__hip_atomic_load(&turn[g + 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
    u32 before = g == last ? 0 : __hip_atomic_load(&turn[g + 1], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    out[g] = before;
    __hip_atomic_store(&turn[g], before + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
}
// Waves of one group that wait for each other without a barrier.
GK_KERNEL progress_waves(u32 *out) {
  __shared__ u32 seen;
  u32 w = threadIdx.x / 64, n = blockDim.x / 64;
  if (threadIdx.x == 0) seen = 0;
  __syncthreads();
  while (__hip_atomic_load(&seen, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) != n - 1 - w) {}
  out[threadIdx.x] = w;
  if (threadIdx.x % 64 == 0) __hip_atomic_store(&seen, n - w, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
}
