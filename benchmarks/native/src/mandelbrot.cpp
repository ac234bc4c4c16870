#include "native.h"
#pragma clang fp contract(off) // as the GPU's object; iteration counts depend on it
#include "mandelbrot.hip"
static void run() { WORK_ITEMS(mandelbrot_f((u32 *)buf[0], scalar[0], scalar[1], scalar[2])); }
