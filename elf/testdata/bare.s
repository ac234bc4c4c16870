	.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
	.text
	.p2align 8
	.globl bare
	.type bare,@function
bare:
	s_endpgm
.Lend:
	.size bare, .Lend-bare
	.rodata
	.p2align 6
	.amdhsa_kernel bare
		.amdhsa_group_segment_fixed_size 128
		.amdhsa_private_segment_fixed_size 16
		.amdhsa_kernarg_size 24
		.amdhsa_next_free_vgpr 20
		.amdhsa_next_free_sgpr 30
		.amdhsa_accum_offset 12
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_vgpr_workitem_id 1
		.amdhsa_float_round_mode_32 1
		.amdhsa_float_round_mode_16_64 2
		.amdhsa_float_denorm_mode_32 2
		.amdhsa_tg_split 1
		.amdhsa_exception_fp_ieee_div_zero 1
	.end_amdhsa_kernel
