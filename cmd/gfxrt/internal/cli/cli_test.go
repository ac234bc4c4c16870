package cli

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const kernels = "../../../../kernels"

// gfxrt runs a command line in this process.
func gfxrt(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = Main(args, &out, &err)
	return status, out.String(), err.String()
}

// TestDisasmAgrees: every line of code equals llvm-objdump's line for the same
// address. What llvm-objdump prints beyond symbols' ends is padding.
func TestDisasmAgrees(t *testing.T) {
	objdump, err := exec.LookPath("llvm-objdump-22")
	if err != nil {
		if objdump, err = exec.LookPath("llvm-objdump"); err != nil {
			t.Skip("no llvm-objdump to compare with")
		}
	}
	for _, name := range []string{"gfx942/printf_ocl", "gfx942/mfma_cdna3", "gfx90a/funcptr", "gfx90a/wave_ops"} {
		path := filepath.Join(kernels, name+".hsaco")
		text, err := exec.Command(objdump, "-d", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for line := range strings.Lines(string(text)) {
			want[address(line)] = strings.TrimRight(line, "\n ")
		}
		status, out, stderr := gfxrt("inspect", "--disasm", path)
		if status != 0 {
			t.Fatalf("%s: exit status %d: %s", name, status, stderr)
		}
		lines := 0
		for line := range strings.Lines(out) {
			a := address(line)
			if a == "" {
				continue
			}
			lines++
			if line = strings.TrimRight(line, "\n "); line != want[a] {
				t.Errorf("%s:\n got %s\nwant %s", name, line, want[a])
			}
		}
		if lines < 40 {
			t.Errorf("%s: only %d instructions", name, lines)
		}
	}
}

// address is the address comment of an instruction's line, or "".
func address(line string) string {
	_, rest, ok := strings.Cut(line, "// ")
	if !ok {
		return ""
	}
	a, _, _ := strings.Cut(rest, ":")
	return a
}

// TestUnknownWords: data among the code is printed as data, and that is no
// failure.
func TestUnknownWords(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(kernels, "gfx942/vecadd.hsaco"))
	if err != nil {
		t.Fatal(err)
	}
	end := bytes.LastIndex(b, []byte{0, 0, 0x81, 0xbf}) // s_endpgm
	if end < 0 {
		t.Fatal("no s_endpgm")
	}
	copy(b[end:], []byte{0xef, 0xbe, 0xad, 0xff})
	path := filepath.Join(t.TempDir(), "o")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	status, out, stderr := gfxrt("inspect", "--disasm", path)
	if status != 0 || !strings.Contains(out, ".long 0xffadbeef") {
		t.Errorf("exit status %d, %s\n%s", status, stderr, out)
	}
}

// TestHostileObjects feeds cut and bit-flipped files to everything that reads
// one: each ends with a result or an error that says something.
func TestHostileObjects(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 24
	}
	files := []string{kernels + "/gfx942/vecadd.hsaco", kernels + "/gfx90a/printf_ocl.hsaco", kernels + "/gfx942/globals.hsaco",
		kernels + "/gfx942/funcptr.hsaco", "../../../../elf/testdata/ccob3.hipfb", "../../../../elf/testdata/plain.hipfb"}
	kernel := map[string]string{files[0]: "vecadd", files[1]: "printf_ocl", files[2]: "globals", files[3]: "funcptr"}
	path := filepath.Join(t.TempDir(), "hostile")
	results := 0
	for seed := range rounds {
		file := files[seed%len(files)]
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, damage(rand.New(rand.NewPCG(uint64(seed), 1)), b), 0o600); err != nil {
			t.Fatal(err)
		}
		lines := [][]string{{"inspect", path}, {"inspect", "--disasm", path}, {"inspect", "--json", path}}
		if k := kernel[file]; k != "" {
			lines = append(lines, []string{"run", path, k, "--timeout", "2s", "--grid", "1", "--block", "64", "--arg", "buf:4k", "--arg", "buf:4k", "--arg", "u32:8"},
				[]string{"run", path, k, "--timeout", "2s", "--grid", "1", "--block", "64", "--arg", "buf:4k", "--arg", "buf:4k", "--arg", "buf:4k", "--arg", "u32:8"})
		}
		for _, args := range lines {
			status, _, stderr := gfxrt(args...)
			if status < 0 || status > 3 {
				t.Errorf("seed %d of %s: %v: exit status %d", seed, file, args, status)
			}
			if status != 0 && stderr == "" || stderr != "" && !strings.HasPrefix(stderr, "gfxrt: ") {
				t.Errorf("seed %d of %s: %v: exit status %d with stderr %q", seed, file, args, status, stderr)
			}
			if status == 0 {
				results++
			}
		}
	}
	if results == 0 {
		t.Error("no damaged file gave a result: the damage is too crude to test anything behind the ELF header")
	}
}

// damage cuts a file or flips up to 8 of its bits.
func damage(r *rand.Rand, b []byte) []byte {
	if r.IntN(4) == 0 {
		return b[:r.IntN(len(b))]
	}
	span := len(b)
	if r.IntN(2) == 0 {
		span = min(span, 4096) // headers, notes and symbols lie in front
	}
	for range 1 + r.IntN(8) {
		b[r.IntN(span)] ^= 1 << r.IntN(8)
	}
	return b
}

// TestKFDNodes reads a topology as the KFD driver writes it: a CPU node and
// a GPU node (Linux, Documentation of kfd topology sysfs).
func TestKFDNodes(t *testing.T) {
	root := t.TempDir()
	for node, text := range map[string]string{"0": "cpu_cores_count 24\nsimd_count 0\ngfx_target_version 0\n",
		"1": "cpu_cores_count 0\nsimd_count 912\ngfx_target_version 90402\n"} {
		if err := os.MkdirAll(filepath.Join(root, node), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, node, "properties"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := kfdGPUs(root)
	if len(got) != 1 || got[0].Node != "1" || got[0].Target != "90402" || got[0].Usable {
		t.Errorf("%+v", got)
	}
	if got := kfdGPUs(filepath.Join(root, "absent")); len(got) != 0 {
		t.Errorf("without a driver: %+v", got)
	}
}

// TestPrintable: a kernel whose name holds an escape sequence does not reach
// the terminal with it.
func TestPrintable(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(kernels, "gfx942/vecadd.hsaco"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "o")
	if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte("vecadd"), []byte("v\x1b[2Jd")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"inspect", path}, {"inspect", "--disasm", path}, {"run", path, "nosuch", "--grid", "1", "--block", "64"},
		{"run", path, "--grid", "1", "--block", "64", "--arg", "null", "--arg", "null", "--arg", "null", "--arg", "u32:1"}} {
		status, out, stderr := gfxrt(args...)
		if strings.Contains(out+stderr, "\x1b") || !strings.Contains(out+stderr, `v\x1b[2Jd`) {
			t.Errorf("%v: exit status %d\n%q\n%q", args, status, out, stderr)
		}
	}
}

// TestInitKernelWithoutEnd: --timeout also covers the kernels that loading an
// object runs.
func TestInitKernelWithoutEnd(t *testing.T) {
	clang, err := exec.LookPath("clang++-22")
	if err != nil {
		t.Skip("no clang++-22 to compile a global constructor with")
	}
	dir := t.TempDir()
	source, object := filepath.Join(dir, "init.cpp"), filepath.Join(dir, "init.hsaco")
	const text = "struct S { int v; __attribute__((noinline)) S(int x) { volatile int *p = &v; *p = x; for (;;) *p; } };\nS s(42);\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(clang, "--target=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-nogpulib", "-nostdlib", "-O1", "-fno-exceptions", source, "-o", object).CombinedOutput()
	if err != nil {
		t.Skipf("%s does not build device code here: %v\n%s", clang, err, out)
	}
	status, _, stderr := gfxrt("run", object, "--grid", "1", "--block", "64", "--timeout", "200ms")
	if status != 1 || !strings.Contains(stderr, "init.hsaco: no end after 200ms") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
}
