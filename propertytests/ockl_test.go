package propertytests

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gfxrt/cmd/gfxrt/abicheck"
	"gfxrt/runtime"
)

// library is the path of the newer device library that GFXRT_OCKL gives.
func library(t *testing.T) string {
	t.Helper()
	path := os.Getenv("GFXRT_OCKL")
	if path == "" {
		t.Skip("no GFXRT_OCKL=PATH/ockl.bc: a device library of ROCm 5.3 or later, such as triton/backends/amd/lib/ockl.bc in the triton wheel")
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("GFXRT_OCKL: %v", err)
	}
	t.Logf("%s: made by %q", path, abicheck.Versions(file))
	return path
}

// TestLibraryHeap: the header that a newer device library initialises is ours,
// and its malloc and free run from our slabs.
func TestLibraryHeap(t *testing.T) {
	path := library(t)
	for _, target := range serviceTargets {
		object, err := abicheck.Build(t.Context(), path, target, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, slabs := range []int{1, 4, 37} {
			rt, err := runtime.Open(t.Context(), "sim:"+target, abicheck.RuntimeOptions(slabs)...)
			if err != nil {
				t.Fatal(err)
			}
			r, err := abicheck.Check(t.Context(), rt, abicheck.Options{Object: object, Slabs: slabs})
			if err != nil {
				t.Errorf("%s, %d slabs: %v", target, slabs, err)
			} else if r.Bytes != 128<<10 || r.Blocks == 0 {
				t.Errorf("%s, %d slabs: %+v", target, slabs, r)
			}
			if err := rt.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// withLibrary loads heap.hip linked with the newer library instead of Debian's.
func withLibrary(t *testing.T, path string, opts ...runtime.Option) *rig {
	t.Helper()
	clang, err := exec.LookPath("clang-22")
	if err != nil {
		t.Skipf("no clang-22 to link heap.hip with: %v", err)
	}
	out := filepath.Join(t.TempDir(), "heap.hsaco")
	text, err := exec.Command(clang, "-x", "hip", "-std=c++17", "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib", "--offload-arch=gfx90a", "-O2",
		"-DGK_OCLC=9010", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", path, "../kernels/src/heap.hip", "-o", out).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	file, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "gfx90a", opts...)
	r.load("heap", file)
	return r
}

// TestLibraryHeapUse: a newer library's heap in use, and what the statistics
// say of it.
func TestLibraryHeapUse(t *testing.T) {
	path := library(t)
	t.Run("fill", func(t *testing.T) {
		fill(t, withLibrary(t, path), 3, 8<<20, 16)
	})
	t.Run("lanes", func(t *testing.T) {
		r := withLibrary(t, path)
		bad := r.words(1)
		var reserved uint64
		for round := range 10 {
			r.run("heap", "heap_lanes", 16, 256, runtime.Ptr(bad), runtime.U32(4000), runtime.U32(2), runtime.U32(3000))
			h := r.heap()
			if h.Live != 0 || len(h.Problems) != 0 || h.Layout == nil || h.Layout.Size != 108688 {
				t.Fatalf("%d bytes live, layout %+v; %v", h.Live, h.Layout, h.Problems)
			}
			// This library's counters come back to zero, so the slabs do too.
			if round == 4 {
				reserved = h.Reserved
			} else if round > 4 && h.Reserved > 2*reserved {
				t.Errorf("round %d: %d bytes reserved, %d before", round, h.Reserved, reserved)
			}
		}
		if n := r.read(bad)[0]; n != 0 {
			t.Errorf("%d null blocks, %d overwritten", n&0xffff, n>>16)
		}
	})
	t.Run("tables", func(t *testing.T) {
		if testing.Short() {
			t.Skip("300 slabs of one kind take seconds")
		}
		const slabs, each = 300, 435 // blocks of a slab at which malloc leaves it alone
		r := withLibrary(t, path, runtime.WithHeap(8<<20, 2<<30))
		out := r.words(2)
		r.run("heap", "heap_exhaust", 1, 1, runtime.Ptr(out), runtime.U32(slabs*each-1), runtime.U64(3072))
		h := r.heap()
		// heap_exhaust allocates one block more than it counts.
		if c := h.Classes[15]; r.read(out)[0] != slabs*each-1 || c.Slabs != slabs || c.Used != slabs*each || len(h.Problems) != 0 {
			t.Errorf("%d slabs with %d blocks, want %d and %d; %v", c.Slabs, c.Used, slabs, slabs*each, h.Problems)
		}
		if h.TableBytes != 6144 || len(h.Large) != 0 {
			t.Errorf("%d bytes in tables, large blocks %v", h.TableBytes, h.Large)
		}
	})
	t.Run("double free", func(t *testing.T) {
		r := withLibrary(t, path)
		r.run("heap", "heap_misuse", 1, 1, runtime.Ptr(r.words(1)), runtime.U32(0), runtime.U64(0))
		if h := r.heap(); len(h.Problems) != 1 {
			t.Errorf("problems %v", h.Problems)
		}
	})
}
