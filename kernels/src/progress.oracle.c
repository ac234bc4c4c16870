#include "oracle.h"
enum { G = 1600, C = 400 };
int main(int ac, char **av) {
  static u32 a[G * 64], c[C], w[512], f[1], t[C + 1];
  or_open(ac, av);
  for (int i = 0; i < G * 64; i++) a[i] = i / 64 * 3 + 1;
  for (int i = 0; i < C; i++) c[i] = C - 1 - i;
  for (int i = 0; i < 512; i++) w[i] = i / 64;
  or_in("flag", sizeof f, 0); or_out("a", sizeof a, "raw", 0, a);
  or_in("turn", sizeof t, 0); or_out("c", sizeof c, "raw", 0, c); or_out("w", sizeof w, "raw", 0, w);
  or_line("launch progress_first_on_last %d 1 1 64 1 1 0 b:flag b:a u32:%d", G, G - 1);
  or_line("launch progress_chain %d 1 1 64 1 1 0 b:turn b:c u32:%d", C, C - 1);
  or_line("launch progress_waves 1 1 1 512 1 1 0 b:w");
  return 0;
}
