package isa

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const kernels = "../../kernels/"

// section is the executable code at an address.
type section struct {
	addr uint64
	code []byte
}

// textSections returns the executable sections of a code object.
func textSections(t testing.TB, path string) []section {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []section
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Type == elf.SHT_PROGBITS {
			code, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, section{s.Addr, code})
		}
	}
	return out
}

// kernelObjects lists the compiled kernels of a target and its variants.
func kernelObjects(t testing.TB, target string) []string {
	t.Helper()
	var all []string
	dirs := []string{target, target + ".O0", target + ".fast"}
	if strings.HasSuffix(target, ".w64") {
		dirs = dirs[:1]
	}
	for _, dir := range dirs {
		objects, err := filepath.Glob(kernels + dir + "/*.hsaco")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, objects...)
	}
	if len(all) == 0 {
		t.Skipf("no objects for %s in %s", target, kernels)
	}
	return all
}

func TestObjectsAgreeWithObjdump(t *testing.T) {
	objdump := llvmTool(t, "llvm-objdump")
	for _, target := range testTargets {
		t.Run(target, func(t *testing.T) {
			d := newDecoder(t, target)
			objects := kernelObjects(t, target)
			if testing.Short() {
				objects = objects[:min(4, len(objects))]
			}
			out, err := exec.Command(objdump, append([]string{"-d", "--mcpu=" + d.name, "--mattr=" + mattr(d)}, objects...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			total, listed := compareListing(t, d, string(out))
			if listed != len(objects) {
				t.Errorf("objdump listed %d objects of %d", listed, len(objects))
			}
			t.Logf("%d instructions of %d objects compared", total, listed)
		})
	}
}

// compareListing walks objdump's listing of many objects and decodes the same bytes.
func compareListing(t *testing.T, d *Decoder, listing string) (instructions, objects int) {
	t.Helper()
	var sections []section
	path, failed := "", 0
	labels := listedLabels(t, listing)
	for line := range strings.Lines(listing) {
		if p, _, ok := strings.Cut(line, ":\tfile format"); ok {
			path, sections = p, textSections(t, p)
			objects++
			continue
		}
		text, rest, ok := strings.Cut(line, "//")
		if !ok || !strings.HasPrefix(text, "\t") {
			continue
		}
		address, words, _ := strings.Cut(strings.TrimSpace(rest), ":")
		addr, err := strconv.ParseUint(address, 16, 64)
		if err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		words, _, _ = strings.Cut(words, "<")
		size := 4 * len(strings.Fields(words))
		in, got := decodeAt(t, d, sections, addr)
		if name := labels[path][BranchTarget(&in, addr)]; name != "" && isBranch(in.Op) {
			got = got[:strings.LastIndex(got, " ")+1] + name // objdump names the target
		}
		if want := strings.TrimSpace(text); got != want || int(in.Size) != size {
			if failed++; failed < 20 {
				t.Errorf("%s %#x: got %q size %d, want %q size %d", path, addr, got, in.Size, want, size)
			}
		}
		instructions++
	}
	if failed > 0 {
		t.Errorf("%d of %d instructions disagree", failed, instructions)
	}
	return instructions, objects
}

// listedLabels collects, by object, the local labels that objdump prints: in
// hand-written code they name the targets of branches.
func listedLabels(t *testing.T, listing string) map[string]map[uint64]string {
	t.Helper()
	all := map[string]map[uint64]string{}
	path := ""
	for line := range strings.Lines(listing) {
		if p, _, ok := strings.Cut(line, ":\tfile format"); ok {
			path = p
			all[path] = map[uint64]string{}
			continue
		}
		at, name, ok := strings.Cut(strings.TrimSpace(line), " <")
		addr, err := strconv.ParseUint(at, 16, 64)
		if name, colon := strings.CutSuffix(name, ">:"); ok && colon && err == nil && len(at) == 16 {
			all[path][addr] = name
		}
	}
	return all
}

func decodeAt(t *testing.T, d *Decoder, sections []section, addr uint64) (Inst, string) {
	t.Helper()
	for _, s := range sections {
		if addr < s.addr || addr-s.addr >= uint64(len(s.code)) {
			continue
		}
		code := s.code[addr-s.addr:]
		in, err := d.Decode(code)
		if err != nil {
			return in, err.Error()
		}
		return in, d.Format(&in, addr)
	}
	t.Fatalf("address %#x is in no executable section", addr)
	return Inst{}, ""
}
