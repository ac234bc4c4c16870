// GK: nohost arch=gfx90a,gfx942 flags=-g
#include "gk.h"
// Kernels that go wrong in one known line each.
GK_KERNEL fault_store(u32 *p, u32 n) {
  u32 i = gk_gid();
  if (i < n)
    p[i] = i; // the store
}
__device__ __noinline__ u32 fault_deep(volatile u32 *p, u32 n) {
  volatile u32 frame[64];
  frame[n % 64] = p[0] + n;
  return n == 0 ? frame[0] : fault_deep(p, n - 1) + frame[n % 64];
}
GK_KERNEL fault_stack(u32 *p, u32 depth) { p[1] = fault_deep(p, depth); }
GK_KERNEL fault_lds_flat(u32 *p, u32 off) {
  __shared__ u32 tile[64];
  u32 *q = tile;
  __asm__ volatile("" : "+v"(q)); // hide that q is LDS
  tile[threadIdx.x] = 1;
  p[threadIdx.x] = q[off + threadIdx.x]; // the load
}
GK_KERNEL fault_jump(u64 to) { ((void (*)())to)(); }
GK_KERNEL fault_spin(u32 *p) { while (__hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) {} }
