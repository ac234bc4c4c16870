package propertytests

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gfxrt/cmd/gfxrt/cases"
	"gfxrt/runtime"
	_ "gfxrt/sim"
)

// contradicted are cases whose expected output the object cannot produce on
// any device, with the reason (kernels/README.md: these oracles were never run).
var contradicted = map[string]string{
	"printf_ocl": "libclc 22 takes get_global_offset from the dword at which code objects V5 and later hold hidden_block_count_y, so its global ids start at 1",
}

// TestKernelCases runs every case on every object built for a simulated
// target, and holds it to the answer that a CPU program gave.
func TestKernelCases(t *testing.T) {
	for _, c := range []struct {
		folder, device string
		tol            float64
	}{
		{"gfx90a", "sim:gfx90a", 0}, {"gfx90a.O0", "sim:gfx90a", 0}, {"gfx90a.fast", "sim:gfx90a", 1e-3}, {"gfx942", "sim:gfx942", 0},
	} {
		objects, err := filepath.Glob("../kernels/" + c.folder + "/*.hsaco")
		if err != nil || len(objects) < 20 {
			t.Fatalf("%s: %d objects, %v", c.folder, len(objects), err)
		}
		for _, object := range objects {
			name := strings.TrimSuffix(filepath.Base(object), ".hsaco")
			folder := "../kernels/cases/" + name
			if _, err := os.Stat(folder); err != nil {
				continue // an object without a case
			}
			t.Run(c.folder+"/"+name, func(t *testing.T) {
				if why := contradicted[name]; why != "" {
					t.Skip(why)
				}
				t.Parallel()
				m, err := cases.Load(folder)
				if err != nil {
					t.Fatal(err)
				}
				file, err := os.ReadFile(object)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				r := m.Run(ctx, cases.Config{Object: file, Tolerance: c.tol, Open: func(ctx context.Context, o ...runtime.Option) (*runtime.Runtime, error) {
					return runtime.Open(ctx, c.device, o...)
				}})
				if r.Err != nil {
					t.Error(r.Err)
				}
				for _, d := range r.Mismatches {
					t.Error(d.String())
				}
			})
		}
	}
}
