#define NATIVE_GLOBAL
#include <stddef.h>
static void global(const void *, size_t);
#include "native.h"
#include "sha256.hip"
static void global(const void *p, size_t n) { memcpy(sha_k, p, n); }
static void run() { WORK_ITEMS(sha256((u8 *)buf[0], (u32 *)buf[1], scalar[0], scalar[1])); }
