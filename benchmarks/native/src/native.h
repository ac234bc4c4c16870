// native.h - run a kernel on one thread of the host, as the simulator runs it on a GPU.
// PROGRAM REPS GX GY BX BY GLOBAL|- OUTINDEX OUTFILE NSCALARS SCALAR... (FILE|- BYTES)...
// prints the seconds of each repetition and leaves the output buffer of the last in OUTFILE.
// Each kernel's source includes this and defines run(). Work-items of one barrier-free stretch are the
// innermost loop wherever their order allows it, so that clang can use the host's vectors for them.
#include "gk.h"
#include <time.h>
extern "C" { gk_u3 gk_h_tid, gk_h_bid, gk_h_bdim, gk_h_gdim; u32 gk_h_wave = 64, gk_h_flat, gk_h_nthreads; u64 gk_h_pub[1024]; u8 gk_h_alive[1024]; char gk_dynlds_buf[1]; }
static void *buf[4]; static u32 scalar[4];
static void run();
#ifndef NATIVE_GLOBAL
static void global(const void *, size_t) {}
#endif
// The same source as on the GPU, for kernels without barriers: CALL runs for each work-item.
#define WORK_ITEMS(CALL) \
  for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++) for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) \
    for (threadIdx.y = 0; threadIdx.y < blockDim.y; threadIdx.y++) for (threadIdx.x = 0; threadIdx.x < blockDim.x; threadIdx.x++) CALL
static void *load(const char *path, size_t n) {
  void *p = aligned_alloc(64, (n + 63) / 64 * 64); if (!p) exit(2);
  memset(p, 0, n); if (!strcmp(path, "-")) return p;
  FILE *f = fopen(path, "rb"); if (!f || fread(p, 1, n, f) != n) { perror(path); exit(2); }
  fclose(f); return p;
}
int main(int ac, char **av) {
  if (ac < 10) return 2;
  gridDim = {(u32)atoi(av[2]), (u32)atoi(av[3]), 1}; blockDim = {(u32)atoi(av[4]), (u32)atoi(av[5]), 1};
  int out = atoi(av[7]), i = 10, nb = 0; size_t size[4];
  for (int n = atoi(av[9]), k = 0; k < n && k < 4; k++) scalar[k] = strtoul(av[i++], 0, 0);
  for (; i + 1 < ac && nb < 4; i += 2, nb++) size[nb] = strtoull(av[i + 1], 0, 0), buf[nb] = load(av[i], size[nb]);
  if (strcmp(av[6], "-")) global(load(av[6], 256), 256);
  for (int r = atoi(av[1]); r > 0; r--) {
    memset(buf[out], 0, size[out]); timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a); run(); clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%.9f\n", (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) * 1e-9);
  }
  FILE *f = fopen(av[8], "wb"); return !f || fwrite(buf[out], 1, size[out], f) != size[out] || fclose(f);
}
