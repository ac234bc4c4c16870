// GK: nohost arch=gfx90a,gfx942
// The device's part of hostcall with phase bitmaps, which device libraries may use from 2025 on (ROCm device libraries,
// hostcall_impl.cl): no compiler here links one, so this speaks it by hand. It never rings the doorbell.
#include "gk.h"
struct phases { u32 *device, *host, *occupied; u64 headers, payloads, doorbell; u32 packets; };
GKD phases *ctl() { return *(phases *const GK_AS4 *)(gk_implicit() + 80); }
GKD u32 claim() {
  phases *c = ctl();
  for (u32 i = 0;; i = (i + 1) % c->packets) {
    u32 bit = 1u << i % 32, was = __hip_atomic_fetch_or(&c->occupied[i / 32], bit, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
    if (!(was & bit)) return i;
    __builtin_amdgcn_s_sleep(1);
  }
}
GKD u64 text(const char *t) { u64 v = 0; for (u32 i = 0; i < 8 && t[i]; i++) v |= (u64)(u8)t[i] << 8 * i; return v; }
GKD bool differ(u32 p) {
  phases *c = ctl();
  u32 d = __hip_atomic_load(&c->device[p / 32], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM), h = __hip_atomic_load(&c->host[p / 32], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
  return (d ^ h) >> p % 32 & 1;
}
GKD void flip(u32 p) { __hip_atomic_fetch_xor(&ctl()->device[p / 32], 1u << p % 32, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM); }
// Every lane prints one line: one packet a wave, one message a lane.
GK_KERNEL phase_print(u64 *ret, u32 n) {
  u32 i = gk_gid(); if (i >= n) return;
  phases *c = ctl(); u64 mask = gk_activemask(); u32 p = 0, lane = gk_lane(); bool first = lane == (u32)__builtin_ctzll(mask);
  if (first) p = claim();
  p = gk_readfirstlane(p);
  u64 *slot = (u64 *)(c->payloads + 4096 * (u64)p + 64 * lane);
  slot[0] = 3 | 5 << 5; slot[1] = 0; slot[2] = text("lane %u "); slot[3] = text("of %u\n"); slot[4] = i; slot[5] = n;
  if (first) { u64 *h = (u64 *)(c->headers + 16 * (u64)p); h[0] = mask; *(u32 *)(h + 1) = 2; }
  gk_wavebarrier();
  if (first) { flip(p); while (differ(p)) __builtin_amdgcn_s_sleep(8); }
  gk_wavebarrier();
  ret[i] = slot[0];
  if (first) __hip_atomic_fetch_and(&c->occupied[p / 32], ~(1u << p % 32), __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
// The same protocol broken: 0 bits beyond the packets, 1 an unknown service, 2 pointers overwritten before a good request.
GK_KERNEL hostile_phase(u64 *out, u32 mode) {
  phases *c = ctl(); u32 n = c->packets; u64 *h = (u64 *)c->headers, *s = (u64 *)c->payloads;
  s[0] = 3 | 3 << 5; s[1] = 0; s[2] = text("fine\n"); s[3] = 0; h[0] = 1; *(u32 *)(h + 1) = 2;
  switch (mode) {
  case 0: for (u32 w = 0; w < (n + 31) / 32; w++) c->device[w] = ~0u; break;
  case 1: *(u32 *)(h + 1) = 99; flip(0); break;
  case 2: { u32 *d = c->device; c->device = c->host = c->occupied = 0; c->headers = c->payloads = ~0ull; c->packets = ~0u;
            __hip_atomic_fetch_xor(d, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM); } break;
  }
  out[0] = 1;
}
