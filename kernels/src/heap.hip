// GK: devlib nohost arch=gfx90a,gfx942
// Uses and misuses of the device heap. With -DGK_OCLC=9010 (or another ISA version) it brings the constants that a
// device library needs, so that -mlink-builtin-bitcode FILE/ockl.bc can stand in for the library of "devlib".
#include "gk.h"
#ifdef GK_OCLC
#define GK_OCLC_IS(T, name, v) extern "C" { extern __constant__ const T name; } __constant__ const T name = v
GK_OCLC_IS(i32, __oclc_ISA_version, GK_OCLC); GK_OCLC_IS(i32, __oclc_ABI_version, 600);
GK_OCLC_IS(u8, __oclc_wavefrontsize64, 1); GK_OCLC_IS(i32, __oclc_wavefrontsize_log2, 6);
#endif
// All 16 block sizes and a large block, one work-item. Free them when asked.
GK_KERNEL heap_kinds(u64 *ptrs, u32 leave) {
  for (u32 k = 0; k < 16; k++) { u32 size = (16u << (k / 2)) + (k & 1 ? 8u << (k / 2) : 0); ptrs[k] = (u64)malloc(size); }
  ptrs[16] = (u64)malloc(5000);
  if (!leave) for (u32 k = 0; k < 17; k++) free((void *)ptrs[k]);
}
// table[g * each ...] = each blocks of size bytes, by the first work-item of each group.
GK_KERNEL heap_fill(u64 *table, u32 each, u32 size) {
  if (threadIdx.x) return;
  for (u32 k = 0; k < each; k++) {
    u32 i = blockIdx.x * each + k; u32 *p = (u32 *)malloc(size); table[i] = (u64)p;
    if (p) { p[0] = i; p[size / 4 - 1] = ~i; }
  }
}
GK_KERNEL heap_drain(u64 *table, u32 each, u32 size, u32 *bad) {
  if (threadIdx.x) return;
  for (u32 k = 0; k < each; k++) {
    u32 i = blockIdx.x * each + k; u32 *p = (u32 *)table[i];
    if (!p || p[0] != i || p[size / 4 - 1] != ~i) atomicAdd(bad, 1u);
    free(p);
  }
}
// Every lane, rounds times: a block of its own size, written, kept for a while, checked.
GK_KERNEL heap_lanes(u32 *bad, u32 n, u32 rounds, u32 size) {
  u32 i = gk_gid(); if (i >= n) return;
  for (u32 r = 0; r < rounds; r++) {
    u32 words = 1 + (i * 7 + r * 13) % (size / 4); u32 *p = (u32 *)malloc(words * 4);
    if (!p) { atomicAdd(bad, 1u); continue; }
    for (u32 k = 0; k < words; k += 5) p[k] = i ^ k;
    gk_wavebarrier();
    for (u32 k = 0; k < words; k += 5) if (p[k] != (i ^ k)) { atomicAdd(bad, 1u << 16); break; }
    free(p);
  }
}
// Allocate until there is nothing left, at most n blocks; out: how many, and that the next one fails too.
GK_KERNEL heap_exhaust(u64 *out, u32 n, u64 size) {
  u32 got = 0; while (got < n && malloc(size)) got++;
  out[0] = got; out[1] = (u64)malloc(size);
}
GK_KERNEL heap_misuse(u64 *out, u32 mode, u64 ptr) {
  void *p;
  switch (mode) {
  case 0: p = malloc(100); free(p); free(p); break;           // a small block twice
  case 1: p = malloc(10000); free(p); free(p); break;         // a large block twice
  case 2: free((void *)ptr); break;                           // whatever the host says
  case 3: p = malloc(10000); free((u8 *)p + 4096); break;     // inside a large block
  case 4: p = malloc(24); *(volatile u32 *)p = 1; p = malloc(40000); *(volatile u32 *)p = 1; break; // lost
  case 5: p = malloc(48); free((u8 *)p + 48 * 100); break;    // a small block that was never given out
  }
  out[0] = 1;
}
