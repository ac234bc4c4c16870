; GK: arch=gfx90a,gfx942
; Breaks the rules of hostcall in ways that a compiler would not write: torn pushes while another wave pushes too.
; Arguments: u32 mode at 0; hidden_hostcall_buffer at 88 (implicit arguments start at 8).
; s[0:1] is the kernarg pointer.
.text
.globl hostile_asm
.p2align 8
.type hostile_asm,@function
hostile_asm:
  s_load_dword s2, s[0:1], 0x0
  s_load_dwordx2 s[4:5], s[0:1], 0x58
  s_waitcnt lgkmcnt(0)
  s_load_dwordx2 s[6:7], s[4:5], 0x0      ; headers
  s_load_dwordx2 s[10:11], s[4:5], 0x28   ; index_mask
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v0, s4
  v_mov_b32_e32 v1, s5
  v_mov_b32_e32 v6, s6
  v_mov_b32_e32 v7, s7
  s_cmp_eq_u32 s2, 0
  s_cbranch_scc1 torn
  s_cmp_eq_u32 s2, 1
  s_cbranch_scc1 storm
  s_cmp_eq_u32 s2, 2
  s_cbranch_scc1 half
  s_endpgm
; Mode 0: a chain of all packets, READY, whose last link goes back to the first: a long cycle.
torn:
  s_mov_b32 s12, 0
  v_mov_b32_e32 v4, 1
  v_mov_b32_e32 v5, 1
torn_loop:
  s_add_u32 s13, s12, 1
  s_add_u32 s14, s10, 1                   ; a tag, so that no entry is 0
  s_or_b32 s15, s13, s14
  v_mov_b32_e32 v2, s15
  v_mov_b32_e32 v3, 0
  global_store_dwordx2 v[6:7], v[2:3], off            ; next
  v_mov_b32_e32 v2, 0
  global_store_dwordx2 v[6:7], v[2:3], off offset:8   ; no lanes
  v_mov_b32_e32 v2, 2
  v_mov_b32_e32 v3, 1
  global_store_dwordx2 v[6:7], v[2:3], off offset:16  ; printf, READY
  v_add_co_u32_e32 v6, vcc, 24, v6
  v_addc_co_u32_e32 v7, vcc, 0, v7, vcc
  s_mov_b32 s12, s13
  s_cmp_lt_u32 s12, 64
  s_cbranch_scc1 torn_loop
  v_mov_b32_e32 v6, s6
  v_mov_b32_e32 v7, s7
  s_mul_i32 s16, s12, 24
  v_add_co_u32_e32 v6, vcc, s16, v6
  v_addc_co_u32_e32 v7, vcc, 0, v7, vcc
  v_mov_b32_e32 v2, s14
  v_mov_b32_e32 v3, 0
  global_store_dwordx2 v[6:7], v[2:3], off            ; packet 64 links to packet 0
  v_mov_b32_e32 v2, 2
  v_mov_b32_e32 v3, 1
  global_store_dwordx2 v[6:7], v[2:3], off offset:16
  s_waitcnt vmcnt(0)
  v_mov_b32_e32 v2, s14
  v_mov_b32_e32 v3, 0
  global_store_dwordx2 v[0:1], v[2:3], off offset:32  ; ready_stack
  s_waitcnt vmcnt(0)
  s_endpgm
; Mode 1: every lane of every wave swaps noise into the ready stack, a thousand times.
storm:
  s_movk_i32 s12, 1000
  v_mov_b32_e32 v2, 0x9e3779b9
  v_mov_b32_e32 v3, 0x7f4a7c15
storm_loop:
  v_add_u32_e32 v2, v2, v3
  v_xor_b32_e32 v3, v2, v3
  global_atomic_swap_x2 v[0:1], v[2:3], off offset:32
  s_waitcnt vmcnt(0)
  s_sub_u32 s12, s12, 1
  s_cbranch_scc0 storm_loop
  s_endpgm
; Mode 2: only the low half of the ready stack is written: an entry nobody pushed.
half:
  v_mov_b32_e32 v2, 3
  global_store_dword v[0:1], v2, off offset:32
  s_waitcnt vmcnt(0)
  s_endpgm
.Lend:
.size hostile_asm, .Lend-hostile_asm

.rodata
.p2align 6
.amdhsa_kernel hostile_asm
  .amdhsa_next_free_vgpr 12
  .amdhsa_next_free_sgpr 20
  .amdhsa_accum_offset 12
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel

.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: hostile_asm
    .symbol: hostile_asm.kd
    .kernarg_segment_size: 264
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 20
    .sgpr_spill_count: 0
    .vgpr_spill_count: 0
    .vgpr_count: 12
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 4, .value_kind: by_value, .name: mode}
      - {.offset: 88, .size: 8, .value_kind: hidden_hostcall_buffer}
...
.end_amdgpu_metadata
