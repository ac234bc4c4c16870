package elf_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gfxrt/elf"
)

// tool finds an LLVM tool, in the version the objects were built with first.
func tool(t *testing.T, name string) string {
	t.Helper()
	for _, n := range []string{name + "-22", name} {
		if p, err := exec.LookPath(n); err == nil {
			return p
		}
	}
	t.Skipf("%s is not installed", name)
	return ""
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(tool(t, name), args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, stderr.String())
	}
	return string(out)
}

// checked lists the objects compared with LLVM's tools.
func checked(t *testing.T) []string {
	files, err := filepath.Glob("testdata/*.hsaco")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range corpus(t) {
		if !testing.Short() || i%23 == 0 {
			files = append(files, f)
		}
	}
	return files
}

// perFile splits a tool's output at the lines it starts each file with.
func perFile(t *testing.T, out, mark string, files []string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, part := range strings.Split("\n"+out, "\n"+mark)[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		m[strings.TrimSpace(name)] = rest
	}
	if len(m) != len(files) {
		t.Fatalf("%d of %d files in the output", len(m), len(files))
	}
	return m
}

// TestHeadersAgree compares e_flags, segments, dynamic symbols and
// relocations with llvm-readelf.
func TestHeadersAgree(t *testing.T) {
	var files []string
	for _, f := range checked(t) {
		// llvm-readelf shows little without section headers
		if !strings.Contains(f, "stripped") {
			files = append(files, f)
		}
	}
	out := perFile(t, output(t, "llvm-readelf", append([]string{"-h", "-l", "-r", "--dyn-symbols", "-W"}, files...)...), "File: ", files)
	flags := regexp.MustCompile(`Flags: +0x([0-9a-fA-F]+), ([a-z0-9-]+)(.*)`)
	load := regexp.MustCompile(`(?m)^  LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x(\w+) (.{3}) 0x(\w+)`)
	rela := regexp.MustCompile(`(?m)^([0-9a-f]{16})  ([0-9a-f]{16}) R_AMDGPU_`)
	symbol := regexp.MustCompile(`(?m)^ +\d+: ([0-9a-f]{16}) +(\d+) (\w+) +(\w+) +\w+ +(\w+) ?(\S*)`)
	for _, path := range files {
		co, err := elf.Parse(read(t, path))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		text := out[path]
		f := flags.FindStringSubmatch(text)
		if f == nil || f[1] != fmt.Sprintf("%x", co.Flags) || f[2] != co.Target.Processor {
			t.Errorf("%s: flags %#x %v, llvm-readelf has %q", path, co.Flags, co.Target, f)
		} else if got := readelfFeatures(co.Target); got != strings.TrimSuffix(f[3], ", generic_v1") {
			t.Errorf("%s: features %q, llvm-readelf has %q", path, got, f[3])
		}
		var segments, want []string
		for _, s := range co.Segments {
			flag := func(on bool, c string) string {
				if on {
					return c
				}
				return " "
			}
			segments = append(segments, fmt.Sprintf("%06x %016x %06x %06x %s%s%s %x", s.FileOff, s.VAddr, s.FileSize, s.MemSize, flag(s.Read, "R"), flag(s.Write, "W"), flag(s.Exec, "E"), s.Align))
		}
		for _, m := range load.FindAllStringSubmatch(text, -1) {
			want = append(want, strings.Join(m[1:], " "))
		}
		if d := cmp.Diff(want, segments); d != "" {
			t.Errorf("%s: segments:\n%s", path, d)
		}
		if n := len(rela.FindAllString(text, -1)); n != len(co.Relocations) {
			t.Errorf("%s: %d relocations, llvm-readelf has %d", path, len(co.Relocations), n)
		}
		dyn := symbol.FindAllStringSubmatch(text, -1)
		if len(dyn) == 0 || len(dyn)-1 > len(co.Symbols) {
			t.Fatalf("%s: %d dynamic symbols, %d known", path, len(dyn)-1, len(co.Symbols))
		}
		for i, m := range dyn[1:] {
			s := co.Symbols[i]
			got := []string{fmt.Sprintf("%016x", s.Value), fmt.Sprint(s.Size), s.Name}
			if d := cmp.Diff([]string{m[1], m[2], m[6]}, got); d != "" || s.Defined != (m[5] != "UND") || s.Weak != (m[4] == "WEAK") || s.Global == (m[4] == "LOCAL") {
				t.Errorf("%s: symbol %d: %+v, llvm-readelf has %q", path, i, s, m[0])
			}
		}
	}
}

// readelfFeatures spells features as llvm-readelf prints them after the
// processor.
func readelfFeatures(t elf.Target) string {
	s := ""
	for _, f := range []struct {
		name string
		set  elf.Feature
	}{{"xnack", t.XNACK}, {"sramecc", t.SRAMECC}} {
		switch f.set {
		case elf.FeatureAny:
			s += ", " + f.name
		case elf.FeatureOn:
			s += ", " + f.name + "+"
		case elf.FeatureOff:
			s += ", " + f.name + "-"
		}
	}
	return s
}

// TestMetadataAgrees compares every kernel and argument with the YAML that
// llvm-readobj prints.
func TestMetadataAgrees(t *testing.T) {
	var files []string
	for _, f := range checked(t) {
		if filepath.Base(f) != "bare.hsaco" { // has no metadata
			files = append(files, f)
		}
	}
	out := perFile(t, output(t, "llvm-readobj", append([]string{"--notes"}, files...)...), "File: ", files)
	for _, path := range files {
		co, err := elf.Parse(read(t, path))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		got := map[string]map[string]string{}
		for _, k := range co.Kernels {
			got[k.Name] = kernelText(k)
		}
		if d := cmp.Diff(readKernels(out[path]), got); d != "" {
			t.Errorf("%s:\n%s", path, d)
		}
	}
}

// compared are the keys kernelText knows; argument keys have a number before.
var compared = map[string]bool{".symbol": true, ".kind": true, ".kernarg_segment_size": true, ".kernarg_segment_align": true,
	".group_segment_fixed_size": true, ".private_segment_fixed_size": true, ".wavefront_size": true, ".sgpr_count": true,
	".vgpr_count": true, ".agpr_count": true, ".sgpr_spill_count": true, ".vgpr_spill_count": true, ".max_flat_workgroup_size": true,
	".uses_dynamic_stack": true, ".uniform_work_group_size": true, ".workgroup_processor_mode": true, ".language": true,
	".offset": true, ".size": true, ".value_kind": true, ".address_space": true, ".access": true, ".actual_access": true, ".type_name": true, ".is_const": true}

// readKernels reads the part of YAML that llvm-readobj uses for kernels: two
// levels of lists by indentation.
func readKernels(text string) map[string]map[string]string {
	kernels := map[string]map[string]string{}
	var kernel map[string]string
	arg, inKernels := -1, false
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " ")
		switch {
		case strings.HasSuffix(line, "amdhsa.kernels:"):
			inKernels = true
			continue
		case !strings.HasPrefix(line, "  "):
			inKernels = false
		}
		if !inKernels {
			continue
		}
		item := strings.HasPrefix(line, "  - ")
		argItem := strings.HasPrefix(line, "      - .")
		if item { // what LLVM leaves out has these values
			kernel, arg = map[string]string{".agpr_count": "0", ".uses_dynamic_stack": "false", ".workgroup_processor_mode": "false"}, -1
		}
		if argItem {
			arg++
		}
		key, value, ok := strings.Cut(strings.TrimLeft(line, " -"), ":")
		if !ok || !strings.HasPrefix(key, ".") {
			continue
		}
		value = strings.TrimSpace(value)
		if u, err := strconv.Unquote(value); err == nil {
			value = u
		}
		value = strings.Trim(value, "'")
		if key == ".workgroup_processor_mode" && value != "0" {
			value = "true"
		}
		atKernel := item || strings.HasPrefix(line, "    .")
		switch {
		case atKernel && key == ".name":
			kernels[value] = kernel
		case atKernel && compared[key]:
			kernel[key] = value
		case !atKernel && compared[key]:
			kernel[fmt.Sprintf("%d%s", arg, key)] = value
		}
	}
	return kernels
}

// kernelText renders a kernel with the metadata's keys.
func kernelText(k elf.Kernel) map[string]string {
	m := map[string]string{".symbol": k.Symbol, ".kernarg_segment_size": fmt.Sprint(k.KernargSize), ".kernarg_segment_align": fmt.Sprint(k.KernargAlign),
		".group_segment_fixed_size": fmt.Sprint(k.GroupSize), ".private_segment_fixed_size": fmt.Sprint(k.PrivateSize),
		".wavefront_size": fmt.Sprint(k.WavefrontSize), ".sgpr_count": fmt.Sprint(k.SGPRs), ".vgpr_count": fmt.Sprint(k.VGPRs),
		".sgpr_spill_count": fmt.Sprint(k.SGPRSpills), ".vgpr_spill_count": fmt.Sprint(k.VGPRSpills),
		".max_flat_workgroup_size": fmt.Sprint(k.MaxFlatGroupSize), ".agpr_count": fmt.Sprint(k.AGPRs),
		".uses_dynamic_stack": fmt.Sprint(k.UsesDynamicStack), ".workgroup_processor_mode": fmt.Sprint(k.WorkgroupProcessorMode)}
	optional := func(key, value string, present bool) {
		if present {
			m[key] = value
		}
	}
	optional(".kind", k.Kind, k.Kind != "normal")
	optional(".language", k.Language, k.Language != "")
	optional(".uniform_work_group_size", "1", k.UniformGroupSize)
	for i, a := range k.Args {
		n := func(key string) string { return fmt.Sprintf("%d%s", i, key) }
		m[n(".offset")], m[n(".size")], m[n(".value_kind")] = fmt.Sprint(a.Offset), fmt.Sprint(a.Size), a.Kind.String()
		optional(n(".address_space"), a.AddressSpace, a.AddressSpace != "")
		optional(n(".access"), a.Access, a.Access != "")
		optional(n(".type_name"), a.TypeName, a.TypeName != "")
		optional(n(".is_const"), "true", a.IsConst)
	}
	return m
}

// TestProcessorsAgree asks llvm-mc for an empty object of every processor:
// its e_flags must decode to that processor with the features it has.
func TestProcessorsAgree(t *testing.T) {
	mc := tool(t, "llvm-mc")
	for _, name := range elf.Processors() {
		if name == "gfx940" || name == "gfx941" {
			continue // LLVM dropped them
		}
		cmd := exec.Command(mc, "--triple=amdgcn-amd-amdhsa", "-mcpu="+name, "-filetype=obj", "-")
		out, err := cmd.Output()
		if err != nil || len(out) < 64 {
			t.Fatalf("%s: %v", name, err)
		}
		b := testdata(t, "v6.hsaco")
		b[8] = out[8]
		copy(b[48:52], out[48:52])
		// The kernel in the file is for gfx90a; an error about its descriptor
		// comes after the target is accepted, so ask List for the target.
		entries, err := elf.List(b)
		if err != nil || entries[0].TargetID != name {
			t.Errorf("%s: flags %x: %v, %v", name, out[48:52], entries, err)
			continue
		}
		want, err := elf.ParseTarget(name)
		if err != nil {
			t.Fatal(err)
		}
		flags := le.Uint32(out[48:])
		if got := []elf.Feature{elf.Feature(flags >> 8 & 3), elf.Feature(flags >> 10 & 3)}; got[0] != want.XNACK || got[1] != want.SRAMECC {
			t.Errorf("%s: xnack and sramecc %v, want %v and %v", name, got, want.XNACK, want.SRAMECC)
		}
	}
}
