package abicheck

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gfxrt/runtime"
	_ "gfxrt/sim"
)

// fakeInit is an initialisation that does what __ockl_dm_init_v1 does, with
// the three words where NEXT says.
const fakeInit = `
__attribute__((device_kernel)) void gfxrt_dm_init(unsigned long heap, unsigned long slabs, unsigned size, unsigned n) {
  __attribute__((address_space(1))) unsigned long *p = (void __attribute__((address_space(1))) *)heap;
  unsigned id = __builtin_amdgcn_workitem_id_x();
  for (unsigned i = id ^ 128; i < size / 8; i += 256) p[i] = 0; // another wave than the one that stores below
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  BARRIER
  if (id == 0) { p[NEXT] = slabs; p[NEXT + 1] = slabs + n * 2097152ul; p[NEXT + 2] = slabs; }
}
`

func compile(t *testing.T, next, barrier string) []byte {
	t.Helper()
	clang, err := exec.LookPath("clang-22")
	if err != nil {
		t.Skipf("no compiler for the test's kernel: %v", err)
	}
	in, out := filepath.Join(t.TempDir(), "k.c"), filepath.Join(t.TempDir(), "k.hsaco")
	if err := os.WriteFile(in, []byte(fakeInit), 0o666); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(clang, "-x", "c", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-O1", "-nogpulib", "-DNEXT="+next, "-DBARRIER="+barrier, in, "-o", out).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCheck: a library that stores where AMD's does passes, one that has moved
// its fields is told by offset.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		next, barrier string
		want          []string // of the error; nil for none
	}{
		{"108544/8", "__builtin_amdgcn_s_barrier();", nil},
		{"108544/8", "", nil},
		{"(108544+16)/8", "__builtin_amdgcn_s_barrier();", []string{"4 words", "offset 0x1a800: library 0x0, ours", "offset 0x1a820: library"}},
	} {
		object := compile(t, c.next, c.barrier)
		rt, err := runtime.Open(t.Context(), "sim:gfx90a", RuntimeOptions(3)...)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Check(t.Context(), rt, Options{Object: object, Slabs: 3})
		if c.want == nil {
			if err != nil || r.Bytes != 128<<10 || r.Kernel != "gfxrt_dm_init" || r.Blocks != 0 || r.Unordered != (c.barrier == "") {
				t.Errorf("%+v, %v", r, err)
			}
		} else if !errors.Is(err, ErrDrift) {
			t.Errorf("fields at %s: %v", c.next, err)
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("error %q, want %q in it", err, w)
			}
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestVersions(t *testing.T) {
	file := "BC\xc0\xde\x00PIC LevelAMD clang version 20.0.0git (https://x roc-7.1.0 25425)boolomni\x00Debian clang version 22.1.8 (1)\x00x"
	if got, want := Versions([]byte(file)), []string{"AMD clang version 20.0.0git (https://x roc-7.1.0 25425)", "clang version 22.1.8 (1)"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestISAVersion: against the control files of AMD's device libraries
// (oclc_isa_version_*).
func TestISAVersion(t *testing.T) {
	for name, want := range map[string]int{"gfx90a": 9010, "gfx90c": 9012, "gfx942": 9402, "gfx803": 8003, "gfx1030": 10300, "gfx1103": 11003, "gfx1250": 12500} {
		if got, err := isaVersion(name); got != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", name, got, err, want)
		}
	}
	for _, name := range []string{"", "gfx", "gfx9-generic", "sm_80"} {
		if _, err := isaVersion(name); !errors.Is(err, ErrCompiler) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
