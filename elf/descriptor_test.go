package elf_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gfxrt/elf"
)

// TestDescriptorsAgree compares decoded kernel descriptors with the
// .amdhsa_ directives llvm-objdump prints for them.
func TestDescriptorsAgree(t *testing.T) {
	// One call a processor: llvm-objdump keeps the first file's subtarget.
	groups := map[string][]string{}
	for _, f := range checked(t) {
		if strings.Contains(f, "stripped") { // objdump needs sections
			continue
		}
		co, err := elf.Parse(read(t, f))
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		key := fmt.Sprint(co.Target, co.Kernels[0].WavefrontSize)
		groups[key] = append(groups[key], f)
	}
	compared, total := 0, 0
	for _, files := range groups {
		n, all := checkDescriptors(t, files)
		compared, total = compared+n, total+all
	}
	// llvm-objdump shows descriptors as instructions where strings or other
	// symbols surround them.
	if compared < total*9/10 {
		t.Errorf("%d of %d kernels compared", compared, total)
	}
}

func checkDescriptors(t *testing.T, files []string) (compared, total int) {
	text := output(t, "llvm-objdump", append([]string{"-D", "-j", ".rodata"}, files...)...)
	start := regexp.MustCompile(`(?m)^(\S+):\s+file format elf64-amdgpu`)
	parts := start.FindAllStringSubmatchIndex(text, -1)
	if len(parts) != len(files) {
		t.Fatalf("%d of %d files in the output", len(parts), len(files))
	}
	kernel := regexp.MustCompile(`(?s)\.amdhsa_kernel (\S+)\n(.*?)\.end_amdhsa_kernel`)
	directive := regexp.MustCompile(`\.(amdhsa_\w+) (\d+)`)
	for i, m := range parts {
		end := len(text)
		if i+1 < len(parts) {
			end = parts[i+1][0]
		}
		path := text[m[2]:m[3]]
		co, err := elf.Parse(read(t, path))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		found := kernel.FindAllStringSubmatch(text[m[0]:end], -1)
		compared, total = compared+len(found), total+len(co.Kernels)
		for _, f := range found {
			k := co.Kernel(f[1])
			if k == nil {
				t.Errorf("%s: no kernel %s", path, f[1])
				continue
			}
			got := directives(k.Descriptor, co.Target.Generation())
			known := 0
			for _, d := range directive.FindAllStringSubmatch(f[2], -1) {
				v, ok := got[d[1]]
				if d[1] == "amdhsa_next_free_sgpr" {
					// printed in units of 8, allocated in units of 16
					n, _ := strconv.Atoi(d[2])
					d[2] = strconv.Itoa((n + 15) / 16 * 16)
				}
				if ok {
					known++
				}
				if ok && v != d[2] {
					t.Errorf("%s: %s: %s is %s, llvm-objdump has %s", filepath.Base(path), f[1], d[1], v, d[2])
				}
			}
			if known < 30 {
				t.Errorf("%s: only %d directives compared:\n%s", path, known, f[2])
			}
		}
	}
	return compared, total
}

func directives(d elf.Descriptor, g elf.Generation) map[string]string {
	m := map[string]string{}
	num := func(name string, v int) { m["amdhsa_"+name] = fmt.Sprint(v) }
	bit := func(name string, v bool) {
		m["amdhsa_"+name] = map[bool]string{false: "0", true: "1"}[v]
	}
	num("group_segment_fixed_size", int(d.GroupSegmentSize))
	num("private_segment_fixed_size", int(d.PrivateSegmentSize))
	num("kernarg_size", int(d.KernargSize))
	num("next_free_vgpr", d.VGPRs(g))
	if g < elf.Gfx10 { // later ones have no count to print
		num("next_free_sgpr", d.SGPRs(g))
	}
	num("accum_offset", d.AccumOffset(g))
	bit("tg_split", d.TgSplit(g))
	num("inst_pref_size", d.InstPrefSize(g)/128)
	num("named_barrier_count", d.NamedBarriers(g)/4)
	num("shared_vgpr_count", d.SharedVGPRs(g)/8)
	num("float_round_mode_32", int(d.RoundMode32()))
	num("float_round_mode_16_64", int(d.RoundMode1664()))
	num("float_denorm_mode_32", int(d.DenormMode32()))
	num("float_denorm_mode_16_64", int(d.DenormMode1664()))
	bit("dx10_clamp", d.DX10Clamp(g))
	bit("ieee_mode", d.IEEEMode(g))
	bit("fp16_overflow", d.FP16Ovfl())
	bit("workgroup_processor_mode", d.WGPMode())
	bit("memory_ordered", d.MemOrdered())
	bit("forward_progress", d.FwdProgress())
	bit("round_robin_scheduling", d.RoundRobin(g))
	bit("enable_private_segment", d.PrivateSegment())
	bit("system_sgpr_private_segment_wavefront_offset", d.PrivateSegment())
	bit("system_sgpr_workgroup_id_x", d.WorkGroupIDX())
	bit("system_sgpr_workgroup_id_y", d.WorkGroupIDY())
	bit("system_sgpr_workgroup_id_z", d.WorkGroupIDZ())
	bit("system_sgpr_workgroup_info", d.WorkGroupInfo())
	num("system_vgpr_workitem_id", d.WorkItemIDDims()-1)
	for i, name := range []string{"fp_ieee_invalid_op", "fp_denorm_src", "fp_ieee_div_zero", "fp_ieee_overflow", "fp_ieee_underflow", "fp_ieee_inexact", "int_div_zero"} {
		bit("exception_"+name, d.ExceptionEnables()>>i&1 != 0)
	}
	for mask, name := range map[uint16]string{elf.PropPrivateSegmentBuffer: "private_segment_buffer", elf.PropDispatchPtr: "dispatch_ptr",
		elf.PropQueuePtr: "queue_ptr", elf.PropKernargPtr: "kernarg_segment_ptr", elf.PropDispatchID: "dispatch_id",
		elf.PropFlatScratchInit: "flat_scratch_init", elf.PropPrivateSegmentSize: "private_segment_size"} {
		bit("user_sgpr_"+name, d.Properties&mask != 0)
	}
	num("user_sgpr_kernarg_preload_length", d.KernargPreloadLength())
	num("user_sgpr_kernarg_preload_offset", d.KernargPreloadOffset())
	bit("wavefront_size32", d.Wave32())
	bit("uses_dynamic_stack", d.Properties&elf.PropDynamicStack != 0)
	return m
}
