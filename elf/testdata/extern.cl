extern __global int host_var;
extern __global int maybe __attribute__((weak));
__global int *const volatile table[2] = {&host_var, &maybe};
kernel void look(__global int *out) { *out = *table[0] + (table[1] ? 1 : 0); }
