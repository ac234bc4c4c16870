package elf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gfxrt/elf"
)

var le = binary.LittleEndian

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func testdata(t testing.TB, name string) []byte { return read(t, filepath.Join("testdata", name)) }

func parse(t testing.TB, name string) *elf.CodeObject {
	t.Helper()
	co, err := elf.Parse(testdata(t, name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return co
}

// corpus lists the objects of kernels/, one folder a target.
func corpus(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../kernels/gfx*/*.hsaco")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	return files
}

func TestCorpusParses(t *testing.T) {
	for _, path := range corpus(t) {
		co, err := elf.Parse(read(t, path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		dir, _, _ := strings.Cut(filepath.Base(filepath.Dir(path)), ".")
		if co.Target.Processor != dir {
			t.Errorf("%s is for %s", path, co.Target)
		}
		if len(co.Kernels) == 0 {
			t.Errorf("%s has no kernels", path)
		}
		if _, err := co.Image(1<<40, nil); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		file    string
		version int
		target  string
		printed string
	}{
		{"v4.hsaco", 4, "gfx90a", "amdgcn-amd-amdhsa--gfx90a"},
		{"v5.hsaco", 5, "gfx90a", "amdgcn-amd-amdhsa--gfx90a"},
		{"v6.hsaco", 6, "gfx90a", "amdgcn-amd-amdhsa--gfx90a"},
		{"features.hsaco", 6, "gfx90a:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"},
		{"generic.hsaco", 6, "gfx11-generic", "amdgcn-amd-amdhsa--gfx11-generic"},
		{"gfx1250.hsaco", 6, "gfx1250", "amdgcn-amd-amdhsa--gfx1250"},
	} {
		co := parse(t, c.file)
		if co.Version != c.version || co.Target.String() != c.target || co.MetadataTarget != c.printed {
			t.Errorf("%s: V%d %v %q, want V%d %s %q", c.file, co.Version, co.Target, co.MetadataTarget, c.version, c.target, c.printed)
		}
	}
	if g := parse(t, "generic.hsaco").Target.GenericVersion; g != 1 {
		t.Errorf("generic version %d", g)
	}
}

// TestV3Flags gives a V4 object the identification of V3, whose feature flags
// are two single bits; no compiler at hand writes V3 any more.
func TestV3Flags(t *testing.T) {
	for flags, want := range map[uint32]string{0x3f: "gfx90a:sramecc-:xnack-", 0x13f: "gfx90a:sramecc-:xnack+", 0x33f: "gfx90a:sramecc+:xnack+"} {
		b := testdata(t, "v4.hsaco")
		b[8] = 1
		le.PutUint32(b[48:], flags)
		co, err := elf.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		if co.Version != 3 || co.Target.String() != want {
			t.Errorf("flags %#x: V%d %v, want %s", flags, co.Version, co.Target, want)
		}
	}
}

// TestStripped holds that section headers change nothing about loading.
func TestStripped(t *testing.T) {
	for _, pair := range [][2]string{{"v6.hsaco", "stripped.hsaco"}, {"gnuhash.hsaco", "gnuhash-stripped.hsaco"}, {"v6.hsaco", "gnuhash.hsaco"}} {
		a, b := parse(t, pair[0]), parse(t, pair[1])
		if d := cmp.Diff(names(a.Symbols), names(b.Symbols)); d != "" && !strings.Contains(pair[1], "stripped") {
			t.Errorf("%v: symbols differ:\n%s", pair, d)
		}
		for i := range a.Kernels {
			x, y := a.Kernels[i], b.Kernels[i]
			if x.Name != y.Name || x.KernargSize != y.KernargSize || x.Descriptor.Rsrc1 != y.Descriptor.Rsrc1 || len(x.Args) != len(y.Args) {
				t.Errorf("%v: kernel %d: %+v and %+v", pair, i, x, y)
			}
		}
		if len(a.Globals) != len(b.Globals) || len(b.Globals) != 3 {
			t.Errorf("%v: globals %v and %v", pair, a.Globals, b.Globals)
		}
	}
}

func names(symbols []elf.Symbol) map[string]bool {
	m := map[string]bool{}
	for _, s := range symbols {
		m[s.Name] = true
	}
	return m
}

func TestGlobals(t *testing.T) {
	co := parse(t, "v6.hsaco")
	total := co.Global("total")
	if total == nil || !total.Managed || total.Size != 8 || total.InitAddr == 0 || total.InitAddr == total.Addr {
		t.Fatalf("managed variable: %+v", total)
	}
	image, err := co.Image(0x7f0000000000, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := le.Uint64(image[total.InitAddr:]); v != 7 {
		t.Errorf("initial value %d, source says 7", v)
	}
	step, where := co.Global("step"), co.Global("where")
	if v := le.Uint32(image[step.Addr:]); v != 3 {
		t.Errorf("step is %d, source says 3", v)
	}
	// int *where = &step: the loader relocates it.
	if v := le.Uint64(image[where.Addr:]); v != 0x7f0000000000+step.Addr {
		t.Errorf("where points to %#x, want %#x", v, 0x7f0000000000+step.Addr)
	}
	loaded := bytes.Repeat([]byte{0xee}, int(co.ImageSize)+8)
	if err := co.Load(loaded, 0x7f0000000000, nil); err != nil || !bytes.Equal(loaded[:co.ImageSize], image) || loaded[co.ImageSize] != 0xee {
		t.Errorf("Load and Image differ (%v)", err)
	}
	if err := co.Load(loaded[:16], 0, nil); err == nil {
		t.Error("Load into 16 bytes succeeds")
	}
}

func TestUndefinedSymbols(t *testing.T) {
	co := parse(t, "extern.hsaco")
	if _, err := co.Image(0x10000, nil); !errors.Is(err, elf.ErrUndefined) || !strings.Contains(err.Error(), "host_var") {
		t.Errorf("unresolved symbol: %v", err)
	}
	image, err := co.Image(0x10000, func(name string) (uint64, bool) { return 0x123456789a, name == "host_var" })
	if err != nil {
		t.Fatal(err)
	}
	table := co.Global("table")
	if a, b := le.Uint64(image[table.Addr:]), le.Uint64(image[table.Addr+8:]); a != 0x123456789a || b != 0 {
		t.Errorf("table is %#x, %#x: want the resolved address and 0 for the weak symbol", a, b)
	}
}

func TestInitAndFiniKernels(t *testing.T) {
	co := parse(t, "ctor.hsaco")
	kinds := map[string]string{}
	for _, k := range co.Kernels {
		kinds[k.Name] = k.Kind
	}
	if kinds["amdgcn.device.init"] != "init" {
		t.Errorf("kinds %v", kinds)
	}
}

// TestBare checks a kernel that only has a descriptor against the values in
// testdata/bare.s.
func TestBare(t *testing.T) {
	co := parse(t, "bare.hsaco")
	if len(co.Kernels) != 1 {
		t.Fatalf("%d kernels", len(co.Kernels))
	}
	k := co.Kernels[0]
	d, g := k.Descriptor, co.Target.Generation()
	if !k.NoMetadata || k.Name != "bare" || k.GroupSize != 128 || k.PrivateSize != 16 || k.KernargSize != 24 || k.WavefrontSize != 64 {
		t.Errorf("%+v", k)
	}
	got := []int{d.VGPRs(g), d.AccumOffset(g), d.UserSGPRCount(g), d.WorkItemIDDims(), int(d.RoundMode32()), int(d.RoundMode1664()), int(d.DenormMode32()), int(d.ExceptionEnables())}
	if diff := cmp.Diff([]int{24, 12, 4, 2, 1, 2, 2, 4}, got); diff != "" {
		t.Error(diff)
	}
	if !d.WorkGroupIDX() || !d.WorkGroupIDY() || d.WorkGroupIDZ() || !d.TgSplit(g) {
		t.Errorf("rsrc2 %#x rsrc3 %#x", d.Rsrc2, d.Rsrc3)
	}
}

func TestUnsupported(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b []byte)
		want   string
	}{
		{"V2", func(b []byte) { b[8] = 0 }, "V2"},
		{"V7", func(b []byte) { b[8] = 5 }, "EI_ABIVERSION 5"},
		{"PAL", func(b []byte) { b[7] = 65 }, "PAL"},
		{"Mesa", func(b []byte) { b[7] = 66 }, "Mesa"},
		{"ET_REL", func(b []byte) { b[16] = 1 }, "ET_REL"},
		{"unknown processor", func(b []byte) { b[48] = 0xfe }, "0xfe"},
	} {
		b := testdata(t, "v6.hsaco")
		c.change(b)
		if _, err := elf.Parse(b); !errors.Is(err, elf.ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestFormatErrors changes one field at a time; the error must name it.
func TestFormatErrors(t *testing.T) {
	good := testdata(t, "v6.hsaco")
	co := parse(t, "v6.hsaco")
	k := co.Kernels[0]
	desc := func(off uint64) uint64 { return k.DescAddr - co.Segments[0].VAddr + co.Segments[0].FileOff + off }
	at := func(s string) uint64 { return uint64(bytes.Index(good, []byte(s))) }
	for _, c := range []struct {
		field string
		off   uint64
		bytes string
	}{
		{"e_ident", 0, "\x00"},
		{"e_ident", 4, "\x01"},
		{"e_version", 20, "\x02"},
		{"e_machine", 18, "\x3e"},
		{"e_phentsize", 54, "\x37"},
		{"e_phoff", 32, "\xff\xff\xff\xff\xff\xff\xff\xff"},
		{"e_shoff", 40, "\xc0\xff\xff\xff\xff\xff\xff\xff"},
		{"e_shstrndx", 62, "\xf0\x00"},
		{"e_flags", 50, "\x01"},
		{"e_flags", 51, "\x01"},
		{"program header 1 p_filesz", 64 + 56 + 40, "\x01\x00"},
		{"program header 1 p_offset", 64 + 56 + 8, "\x00\x00\xff"},
		{"program header 1 p_align", 64 + 56 + 48, "\x03"},
		{"program header 2 p_vaddr", 64 + 2*56 + 16, "\x00\x00"},
		{"kernel descriptor", desc(12), "\x01"},
		{"kernel descriptor", desc(60), "\x01"},
		{"kernel_code_entry_byte_offset", desc(16), "\x04"},
		{"kernel_code_entry_byte_offset", desc(22), "\xff\x7f"},
		{"compute_pgm_rsrc1", desc(50), "\x10"},
		{"compute_pgm_rsrc2", desc(53), "\x18"},
		{"compute_pgm_rsrc3", desc(47), "\x80"},
		{"kernel_code_properties", desc(57), "\x04"},
		{"compute_pgm_rsrc2", desc(58), "\x7f"},
		{"amdhsa.kernels[0].args[0].offset", at(".offset") + 7, "\xff"},
		{"amdhsa.kernels[0].wavefront_size", at(".wavefront_size") + 15, "\xc0"},
		{".symbol", at("add.kd"), "b"},
	} {
		b := bytes.Clone(good)
		copy(b[c.off:], c.bytes)
		got, err := elf.Parse(b)
		if err == nil {
			t.Errorf("%s at %#x: accepted", c.field, c.off)
			continue
		}
		var fe *elf.FormatError
		if got != nil || !errors.Is(err, elf.ErrInvalid) || !errors.As(err, &fe) || !strings.Contains(fe.Field, c.field) {
			t.Errorf("%s at %#x: %v", c.field, c.off, err)
		}
	}
}

// TestKernargPreload reads what -amdgpu-kernarg-preload-count=8 asks for, and
// refuses to preload from beyond the segment.
func TestKernargPreload(t *testing.T) {
	co := parse(t, "preload.hsaco")
	d := co.Kernel("add").Descriptor
	// three arguments: two pointers and an int are five dwords
	if d.KernargPreloadLength() < 5 || d.KernargPreloadOffset() != 0 {
		t.Errorf("preload of %d dwords from %d", d.KernargPreloadLength(), d.KernargPreloadOffset())
	}
	if g := co.Target.Generation(); d.UserSGPRCount(g) < d.KernargPreloadLength()+2 {
		t.Errorf("%d user SGPRs", d.UserSGPRCount(g))
	}
	b := testdata(t, "preload.hsaco")
	b[co.Kernel("add").DescAddr+59] = 0x7f // the first segment starts at 0 in file and image
	if _, err := elf.Parse(b); !errors.Is(err, elf.ErrInvalid) || !strings.Contains(err.Error(), "kernarg_preload") {
		t.Errorf("preload from dword 254: %v", err)
	}
}

// TestTruncation holds that no proper prefix of an object parses: each cuts
// a segment, a note, a symbol table or the section headers.
func TestTruncation(t *testing.T) {
	files, err := filepath.Glob("testdata/*.hsaco")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d objects, %v", len(files), err)
	}
	if testing.Short() {
		files = files[:3]
	}
	for _, path := range files {
		b := read(t, path)
		for n := range b {
			if co, err := elf.Parse(b[:n:n]); err == nil || co != nil {
				t.Fatalf("%s: the first %d of %d bytes parse (%v)", path, n, len(b), err)
			}
		}
	}
}

func TestPrintfRecords(t *testing.T) {
	for _, dir := range []string{"gfx90a", "gfx942"} {
		co, err := elf.Parse(read(t, "../kernels/"+dir+"/printf_buffered.hsaco"))
		if err != nil {
			t.Fatal(err)
		}
		if len(co.Printf) == 0 || !co.Printf[0].IsHash {
			t.Fatalf("%+v", co.Printf)
		}
		for _, p := range co.Printf {
			if md5Low(p.Format) != p.Hash {
				t.Errorf("format %q: hash %#x, MD5 has %#x", p.Format, p.Hash, md5Low(p.Format))
			}
		}
		co, err = elf.Parse(read(t, "../kernels/"+dir+"/printf_ocl.hsaco"))
		if err != nil {
			t.Fatal(err)
		}
		ids := map[uint32]bool{}
		for _, p := range co.Printf {
			if p.IsHash || p.ID == 0 || ids[p.ID] || !strings.HasSuffix(p.Format, "\n") || strings.Contains(p.Format, `\72`) {
				t.Errorf("%+v", p)
			}
			ids[p.ID] = true
		}
		if len(ids) == 0 {
			t.Error("no OpenCL printf records")
		}
	}
}
