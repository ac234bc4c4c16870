// GK: libclc nohost arch=gfx90a,gfx942
// Literal strings of every length modulo 4 (LLVM 22 stores some without their NUL), and every width of vector.
#include "gk_ocl.h"
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void printf_literals(__global const int *a) {
  int x = a[0];
  printf("[%s] %d\n", "", x); printf("[%s] %d\n", "a", x); printf("[%s] %d\n", "ab", x); printf("[%s] %d\n", "abc", x); printf("[%s] %d\n", "abcd", x);
  printf("[%s] %d\n", "abcde", x); printf("[%s] %d\n", "abcdefgh", x); printf("[%s|%s] %d\n", "abcd", "efghijkl", x); printf("[%s|%s] %d\n", "abc", "defg", x);
  printf("%d [%s|%s|%s]\n", x, "1234", "", "12345678"); printf("[%.2s] [%9s] [%-9s]\n", "abcd", "efgh", "ijkl");
}
__kernel void printf_vectors(__global const int *a) {
  int x = a[0];
  printf("%v2hhd %v3hhu %v4hhx\n", (char2)(x, -1), (uchar3)(x, 2, 255), (uchar4)(1, 2, 3, 254));
  printf("%v2hd %v3hd %v8hu\n", (short2)(x, -2), (short3)(1, -2, 3), (ushort8)(1, 2, 3, 4, 5, 6, 7, 65535));
  printf("%v2hld %v4hlx %v16hlu\n", (int2)(x, -3), (uint4)(1, 2, 3, 0xdeadbeef), (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  printf("%v2ld %v3lu\n", (long2)(x, -5000000000L), (ulong3)(1, 2, 18446744073709551615UL));
  printf("%v2hlf %v4hle %v3hlg\n", (float2)(0.5f, -0.25f), (float4)(1, 2, 3, 4), (float3)(0.1f, 1e10f, -0.0f));
  printf("%v2lf %v4la\n", (double2)(0.1, -1e300), (double4)(1, 2, 0.5, 0));
  printf("|%5v2hld|%-5v2hld|%05v2hld|%+v2hld|%.3v2hlf|%#v2hlx|\n", (int2)(1, 2), (int2)(3, 4), (int2)(5, -6), (int2)(7, 8), (float2)(1.5f, 2.25f), (uint2)(9, 10));
}
