// One kernel for each instruction class: 64 copies of the class's instructions
// in a loop that runs as often as the kernel arguments say. build.sh assembles
// this for gfx90a and gfx942.
//
// Arguments: u64 address of 64 KiB, u32 trips. One work-group of one wave
// (class_barrier: four). What a copy may use:
//   v0     work-item                 v[2:3]   address + 4 * work-item
//   v1     4 * work-item             v[4:5]   address + 16 * work-item
//   v[8:9] v[10:11] v[12:13]         v[6:7]   address + 256 * work-item
//          finite doubles, and their v[14:15] address + a scattered multiple of 4
//          halves as floats and ints v16 zero   v[20:31] results   acc registers
//   s[4:5] address  s6 trips left    s[12:19]

.macro class name, copy, before=nothing
  .text
  .globl class_\name
  .p2align 8
  .type class_\name,@function
class_\name:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  s_mov_b64 s[12:13], 3
  s_mov_b64 s[14:15], 5
  s_mov_b32 m0, -1
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v3, s5
  v_add_co_u32_e32 v2, vcc, s4, v1
  v_addc_co_u32_e32 v3, vcc, 0, v3, vcc
  v_lshlrev_b32_e32 v17, 4, v0
  v_mov_b32_e32 v5, s5
  v_add_co_u32_e32 v4, vcc, s4, v17
  v_addc_co_u32_e32 v5, vcc, 0, v5, vcc
  v_lshlrev_b32_e32 v17, 8, v0
  v_mov_b32_e32 v7, s5
  v_add_co_u32_e32 v6, vcc, s4, v17
  v_addc_co_u32_e32 v7, vcc, 0, v7, vcc
  v_mul_u32_u24_e32 v17, 0x1eb5, v0
  v_and_b32_e32 v17, 0x3fff, v17
  v_lshlrev_b32_e32 v17, 2, v17
  v_mov_b32_e32 v15, s5
  v_add_co_u32_e32 v14, vcc, s4, v17
  v_addc_co_u32_e32 v15, vcc, 0, v15, vcc
  v_cvt_f64_u32_e32 v[8:9], v0
  v_add_f64 v[8:9], v[8:9], 1.0
  v_add_f64 v[10:11], v[8:9], 0.5
  v_add_f64 v[12:13], v[8:9], 2.0
  v_cvt_f32_f64_e32 v8, v[8:9]
  v_cvt_f32_f64_e32 v10, v[10:11]
  v_cvt_f32_f64_e32 v12, v[12:13]
  v_mov_b32_e32 v16, 0
  v_mov_b32_e32 v20, 0
  v_mov_b32_e32 v21, 0
  v_cmp_eq_u32_e32 vcc, v0, v0
  \before
.Lloop_\name:
  .rept 64
  \copy
  .endr
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 .Lloop_\name
  s_endpgm
.Lend_\name:
  .size class_\name, .Lend_\name-class_\name
  .rodata
  .p2align 6
  .amdhsa_kernel class_\name
    .amdhsa_group_segment_fixed_size 4096
    .amdhsa_kernarg_size 12
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr 128
    .amdhsa_next_free_sgpr 32
    .amdhsa_accum_offset 64
    .amdhsa_float_denorm_mode_32 3 // as compilers set it
  .end_amdhsa_kernel
.endm

.macro branch_next
  s_branch .Lnext\@
.Lnext\@:
.endm
.macro branch_not_taken
  s_cbranch_scc1 .Lnot\@
.Lnot\@:
.endm
.macro half_exec
  s_mov_b32 exec_lo, 0x55555555
  s_mov_b32 exec_hi, 0x55555555
.endm
.macro add_returns
.if .amdgcn.gfx_generation_minor == 4
  global_atomic_add v20, v[2:3], v8, off sc0
.else
  global_atomic_add v20, v[2:3], v8, off glc
.endif
.endm
.macro nothing
.endm

// Empty: the loop alone, 4 instructions a trip.
class empty, nothing
class s_nop, "s_nop 0"
class salu_b32, "s_add_u32 s16, s16, s12"
class salu_b64, "s_and_b64 s[16:17], s[12:13], s[14:15]"
class salu_cmp, "s_cmp_eq_u32 s12, s14"
class branch_taken, branch_next
class branch_not_taken, branch_not_taken
class smem_load, "s_load_dwordx4 s[16:19], s[4:5], 0x40"
class valu_mov, "v_mov_b32_e32 v20, v8"
class valu_int_add, "v_add_u32_e32 v20, v20, v8"
class valu_int_carry, "v_add_co_u32_e32 v20, vcc, v20, v8"
class valu_int_shift, "v_lshl_add_u32 v20, v20, 3, v8"
class valu_int_mul, "v_mul_lo_u32 v20, v20, v8"
class valu_int_mad64, "v_mad_u64_u32 v[20:21], s[16:17], v8, v10, v[20:21]"
class valu_int_sgpr, "v_add_u32_e32 v20, s12, v20"
class valu_f32_add, "v_add_f32_e32 v20, v20, v8"
class valu_f32_fma, "v_fma_f32 v20, v8, v10, v20"
class valu_f32_fma_half_exec, "v_fma_f32 v20, v8, v10, v20", half_exec
class valu_f32_neg_abs, "v_fma_f32 v20, -v8, |v10|, v20"
class valu_f32_packed, "v_pk_fma_f32 v[20:21], v[8:9], v[10:11], v[20:21]"
class valu_f16, "v_fma_f16 v20, v8, v10, v20"
class valu_f16_packed, "v_pk_fma_f16 v20, v8, v10, v20"
class valu_f64_add, "v_add_f64 v[20:21], v[20:21], v[8:9]"
class valu_f64_fma, "v_fma_f64 v[20:21], v[8:9], v[10:11], v[20:21]"
class valu_cmp, "v_cmp_lt_f32_e32 vcc, v8, v10"
class valu_cndmask, "v_cndmask_b32_e32 v20, v8, v10, vcc"
class valu_dpp, "v_add_u32_dpp v20, v8, v10 row_shr:1 row_mask:0xf bank_mask:0xf"
class valu_sdwa, "v_add_u32_sdwa v20, v8, v10 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:WORD_1"
class cvt_f32_u32, "v_cvt_f32_u32_e32 v20, v8"
class cvt_u32_f32, "v_cvt_u32_f32_e32 v20, v8"
class cvt_f16_f32, "v_cvt_f16_f32_e32 v20, v8"
class cvt_f64_f32, "v_cvt_f64_f32_e32 v[20:21], v8"
class trans_rcp_f32, "v_rcp_f32_e32 v20, v8"
class trans_sqrt_f32, "v_sqrt_f32_e32 v20, v8"
class trans_exp_f32, "v_exp_f32_e32 v20, v8"
class trans_log_f32, "v_log_f32_e32 v20, v8"
class trans_sin_f32, "v_sin_f32_e32 v20, v8"
class trans_rcp_f64, "v_rcp_f64_e32 v[20:21], v[8:9]"
class lane_readfirstlane, "v_readfirstlane_b32 s16, v8"
class lane_readlane, "v_readlane_b32 s16, v8, 5"
class lane_bpermute, "ds_bpermute_b32 v20, v1, v8"
class lds_read_b32, "ds_read_b32 v20, v1"
class lds_read_b128, "ds_read_b128 v[20:23], v1"
class lds_write_b32, "ds_write_b32 v1, v8"
class lds_atomic_add, "ds_add_u32 v1, v8"
class global_load_contiguous, "global_load_dword v20, v[2:3], off"
class global_load_contiguous_x4, "global_load_dwordx4 v[20:23], v[4:5], off"
class global_load_strided, "global_load_dword v20, v[6:7], off"
class global_load_gather, "global_load_dword v20, v[14:15], off"
class global_load_byte, "global_load_ubyte v20, v[2:3], off"
class global_store_contiguous, "global_store_dword v[2:3], v8, off"
class global_store_contiguous_x4, "global_store_dwordx4 v[4:5], v[8:11], off"
class global_store_strided, "global_store_dword v[6:7], v8, off"
class global_store_scatter, "global_store_dword v[14:15], v8, off"
class global_atomic_add, "global_atomic_add v[2:3], v8, off"
class global_atomic_add_one_address, "global_atomic_add v16, v8, s[4:5]"
class global_atomic_add_returns, add_returns
class barrier, "s_barrier"
class mfma_f32_32x32x2_f32, "v_mfma_f32_32x32x2f32 a[0:15], v8, v10, a[0:15]"
class mfma_f32_32x32x8_f16, "v_mfma_f32_32x32x8f16 a[0:15], v[8:9], v[10:11], a[0:15]"
class mfma_f32_16x16x16_f16, "v_mfma_f32_16x16x16f16 a[0:3], v[8:9], v[10:11], a[0:3]"
class mfma_f64_16x16x4_f64, "v_mfma_f64_16x16x4f64 a[0:7], v[8:9], v[10:11], a[0:7]"
