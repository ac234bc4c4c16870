/* Prints what the C library makes of each case on standard input.
 *
 * A case is one line: format in hex, three integers in hex, the bits of a
 * double in hex, and a string in hex ("-": none, "null": null pointer). The
 * string's address takes the place of the last integer that the format uses,
 * whose index (0 to 2) is the line's last field.
 *
 * The ABIs of 64-bit Linux pass variadic integers and doubles in separate
 * registers, so one call with three integers and one double serves every
 * format that uses up to three integers or pointers and one double, in any
 * order. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t unhex(const char *s, char *out) {
  size_t n = 0;
  for (; s[0] && s[1]; s += 2) {
    unsigned v;
    sscanf(s, "%2x", &v);
    out[n++] = (char)v;
  }
  out[n] = 0;
  return n;
}

int main(void) {
#ifndef __GLIBC__
  puts("not glibc");
  return 0;
#else
  static char fmthex[4096], fmt[2048], strhex[4096], str[2048], out[1 << 16];
  unsigned long i[3], bits;
  int slot;
  printf("glibc %d.%d\n", __GLIBC__, __GLIBC_MINOR__);
  while (scanf("%4095s %lx %lx %lx %lx %4095s %d", fmthex, &i[0], &i[1], &i[2], &bits, strhex, &slot) == 7) {
    double d;
    memcpy(&d, &bits, 8);
    unhex(fmthex, fmt);
    if (!strcmp(strhex, "null")) {
      i[slot] = 0;
    } else if (strcmp(strhex, "-")) {
      unhex(strhex, str);
      i[slot] = (unsigned long)(uintptr_t)str;
    }
    int n = snprintf(out, sizeof out, fmt, i[0], i[1], i[2], d);
    putchar('.');
    for (int k = 0; k < n; k++)
      printf("%02x", (unsigned char)out[k]);
    putchar('\n');
  }
  return 0;
#endif
}
