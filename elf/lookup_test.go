package elf_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"gfxrt/elf"
)

// TestLinesAgree asks llvm-symbolizer about every instruction word of the
// .text, in each form a linker writes debug information.
func TestLinesAgree(t *testing.T) {
	for _, file := range []string{"lines.hsaco", "lines4.hsaco", "lines-zlib.hsaco", "lines-zstd.hsaco"} {
		co := parse(t, file)
		k := co.Kernels[0]
		var addresses []string
		end := k.Entry + 0xb00
		for a := k.Entry; a < end; a += 4 {
			addresses = append(addresses, fmt.Sprintf("%#x", a))
		}
		cmd := exec.Command(tool(t, "llvm-symbolizer"), append([]string{"--obj=testdata/" + file, "--functions=linkage", "--no-inlines"}, addresses...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		answers := strings.Split(strings.TrimSpace(string(out)), "\n\n")
		if len(answers) != len(addresses) {
			t.Fatalf("%d answers", len(answers))
		}
		lines := map[int]bool{}
		for i, answer := range answers {
			addr := k.Entry + 4*uint64(i)
			f := strings.Split(answer, "\n")
			want := f[1][:strings.LastIndex(f[1], ":")]
			if strings.HasSuffix(want, ":0") {
				want = "none"
			}
			got := "none"
			file, line, ok := co.Line(addr)
			if ok {
				if !strings.HasPrefix(file, "/") {
					file = "/src/" + file // DWARF 4 keeps the compilation directory elsewhere
				}
				got = fmt.Sprintf("%s:%d", file, line)
				lines[line] = true
			}
			if got != want {
				t.Errorf("%#x: %s, llvm-symbolizer has %s", addr, got, want)
			}
			if name, off, ok := co.SymbolAt(addr); f[0] != "??" && (!ok || name != f[0] || off != addr-k.Entry) {
				t.Errorf("%#x: symbol %s+%#x, llvm-symbolizer has %s", addr, name, off, f[0])
			}
		}
		if len(lines) < 20 {
			t.Errorf("%s: only lines %v", file, lines)
		}
	}
}

func TestSymbolAt(t *testing.T) {
	co := parse(t, "preload.hsaco")
	for _, name := range []string{"add", "twice"} {
		k := co.Kernel(name)
		if got, off, ok := co.SymbolAt(k.Entry + 8); !ok || got != name || off != 8 {
			t.Errorf("%s+8 is %s+%d, %v", name, got, off, ok)
		}
		if got, off, ok := co.SymbolAt(k.DescAddr + 63); !ok || got != name+".kd" || off != 63 {
			t.Errorf("%s.kd+63 is %s+%d, %v", name, got, off, ok)
		}
	}
	for _, addr := range []uint64{co.ImageSize + 0x10000, ^uint64(0)} {
		if got, _, ok := co.SymbolAt(addr); ok {
			t.Errorf("%#x is in %s", addr, got)
		}
		if _, _, ok := co.Line(addr); ok {
			t.Errorf("%#x has a line", addr)
		}
	}
}

// TestLinesSurviveDamage changes each byte of the line tables; look-ups must
// stay in range (a panic fails the test) and terminate.
func TestLinesSurviveDamage(t *testing.T) {
	for _, file := range []string{"lines.hsaco", "lines4.hsaco"} {
		good := testdata(t, file)
		k := parse(t, file).Kernels[0]
		start, size := sectionRange(t, good, ".debug_line")
		for off := start; off < start+size; off++ {
			for _, v := range []byte{0, 1, 0x7f, 0xff} {
				b := append([]byte(nil), good...)
				b[off] = v
				co, err := elf.Parse(b)
				if err != nil {
					t.Fatal(err) // loading does not depend on debug information
				}
				if _, line, ok := co.Line(k.Entry + 8); ok && line <= 0 {
					t.Errorf("offset %#x = %#x: line %d", off, v, line)
				}
			}
		}
	}
}

func sectionRange(t *testing.T, b []byte, name string) (off, size uint64) {
	t.Helper()
	shoff, n, str := le.Uint64(b[40:]), uint64(le.Uint16(b[60:])), uint64(le.Uint16(b[62:]))
	names := le.Uint64(b[shoff+str*64+24:])
	for i := range n {
		h := b[shoff+i*64:]
		s := b[names+uint64(le.Uint32(h)):]
		if string(s[:len(name)+1]) == name+"\x00" {
			return le.Uint64(h[24:]), le.Uint64(h[32:])
		}
	}
	t.Fatalf("no section %s", name)
	return 0, 0
}
