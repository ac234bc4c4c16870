package isa

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
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
	for _, dir := range []string{target, target + ".O0", target + ".fast"} {
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
			total := 0
			objects := kernelObjects(t, target)
			if testing.Short() {
				objects = objects[:min(4, len(objects))]
			}
			for _, path := range objects {
				total += compareObject(t, d, objdump, path)
			}
			t.Logf("%d instructions of %d objects agree", total, len(objects))
		})
	}
}

// compareObject walks objdump's listing and decodes the same bytes.
func compareObject(t *testing.T, d *Decoder, objdump, path string) int {
	out, err := exec.Command(objdump, "-d", "--mcpu="+d.Target(), path).Output()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	sections := textSections(t, path)
	count, failed := 0, 0
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		text, rest, ok := strings.Cut(sc.Text(), "//")
		if !ok || !strings.HasPrefix(text, "\t") {
			continue
		}
		var addr uint64
		if _, err := fmt.Sscanf(strings.TrimSpace(rest), "%x:", &addr); err != nil {
			t.Fatalf("%s: %q: %v", path, rest, err)
		}
		_, words, _ := strings.Cut(rest, ":")
		words, _, _ = strings.Cut(words, "<")
		size := 4 * len(strings.Fields(words))
		in, got := decodeAt(t, d, sections, addr)
		if want := strings.TrimSpace(text); got != want || int(in.Size) != size {
			if failed++; failed < 10 {
				t.Errorf("%s %#x: got %q size %d, want %q size %d", path, addr, got, in.Size, want, size)
			}
		}
		count++
	}
	if count == 0 {
		t.Errorf("%s: objdump listed no instruction", path)
	}
	return count - failed
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
