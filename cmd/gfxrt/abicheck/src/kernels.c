// The kernels of "gfxrt abi-check FILE.bc", linked with the device library FILE.bc: its heap's initialisation, and malloc
// and free from many lanes. The library leaves what depends on the processor to constants, which are here.
typedef unsigned long u64;
typedef unsigned int u32;
#define CONSTANT const __attribute__((address_space(4), visibility("protected")))
#define GLOBAL __attribute__((address_space(1)))
CONSTANT int __oclc_ISA_version = ISA_VERSION;
CONSTANT int __oclc_ABI_version = 600;
CONSTANT unsigned char __oclc_wavefrontsize64 = WAVE64;
CONSTANT int __oclc_wavefrontsize_log2 = 5 + WAVE64;
CONSTANT unsigned char __oclc_daz_opt = 0;
void __ockl_dm_init_v1(u64 heap, u64 slabs, u32 heap_size, u32 num_slabs);
GLOBAL void *__ockl_dm_alloc(u64 size);
void __ockl_dm_dealloc(u64 addr);
#define KERNEL __attribute__((device_kernel, amdgpu_flat_work_group_size(1, 256)))

KERNEL void gfxrt_dm_init(u64 heap, u64 slabs, u32 heap_size, u32 num_slabs) { __ockl_dm_init_v1(heap, slabs, heap_size, num_slabs); }

// One wave, so that one slab is enough: waves that find none at the same time take one each.
KERNEL void gfxrt_dm_alloc(GLOBAL u64 *blocks, u32 n, u32 size) {
  for (u32 i = __builtin_amdgcn_workitem_id_x(); i < n; i += __builtin_amdgcn_wavefrontsize()) {
    GLOBAL u32 *p = __ockl_dm_alloc(size);
    if (p) { p[0] = i; p[size / 4 - 1] = ~i; }
    blocks[i] = (u64)p;
  }
}

KERNEL void gfxrt_dm_free(GLOBAL u64 *blocks, u32 n, u32 size) {
  for (u32 i = __builtin_amdgcn_workitem_id_x(); i < n; i += __builtin_amdgcn_wavefrontsize()) {
    GLOBAL u32 *p = (GLOBAL u32 *)blocks[i];
    blocks[i] = p && p[0] == i && p[size / 4 - 1] == ~i;
    __ockl_dm_dealloc((u64)p);
  }
}
