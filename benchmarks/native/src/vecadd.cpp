#include "native.h"
#include "vecadd.hip"
static void run() { WORK_ITEMS(vecadd((float *)buf[0], (float *)buf[1], (float *)buf[2], scalar[0])); }
