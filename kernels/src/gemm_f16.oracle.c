#include "oracle.h"
enum { M = 128, N = 256, K = 64 };
// No subnormal operands: the matrix unit of gfx90a takes them as zero, that of gfx942 does not.
static f16 val(void) { f16 x = (f16)or_f(-1, 1); return fabsf((f32)x) < 0x1p-14f ? 0 : x; }
int main(int ac, char **av) { static f16 a[M * K], b[N * K]; static f32 c[M * N]; or_open(ac, av);
  for (int i = 0; i < M * K; i++) a[i] = val(); for (int i = 0; i < N * K; i++) b[i] = val();
  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { f64 s = 0; for (int k = 0; k < K; k++) s += (f64)a[i * K + k] * (f64)b[j * K + k]; c[i * N + j] = s; }
  or_in("a", sizeof a, a); or_in("b", sizeof b, b); or_out("c", sizeof c, "f32", 1e-5, c);
  or_line("launch gemm_f16 %d %d 1 256 1 1 0 b:a b:b b:c u32:%d u32:%d u32:%d", N / 128, M / 128, M, N, K); return 0; }
