package runtime_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"gfxrt/runtime"
	"gfxrt/runtime/device"
	_ "gfxrt/sim"
)

// TestFaults runs kernels/src/faults.hip: each kernel goes wrong in one line,
// and the fault says which.
func TestFaults(t *testing.T) {
	for _, target := range []string{"gfx90a", "gfx942"} {
		for _, c := range []struct {
			kernel string
			buffer bool // a buffer is the first argument
			args   []runtime.Arg
			kind   device.FaultKind
			lane   int
			source string // suffix; "" for a PC outside the module
			reason string
		}{
			{"fault_store", false, []runtime.Arg{runtime.Null(), runtime.U32(100)}, device.FaultMemory, 0, "src/faults.hip:7", "null pointer plus 0"},
			{"fault_store", false, []runtime.Arg{runtime.Addr(0x2123_0000_0000), runtime.U32(100)}, device.FaultMemory, 0, "src/faults.hip:7", "write of 4 bytes"},
			{"fault_stack", true, []runtime.Arg{runtime.U32(2000)}, device.FaultStack, 0, "src/faults.hip:9", "bytes a lane"},
			{"fault_lds_flat", true, []runtime.Arg{runtime.U32(100_000)}, device.FaultAperture, 0, "src/faults.hip:20", "LDS offset 0x61a80"},
			{"fault_jump", false, []runtime.Arg{runtime.U64(0x1234_5678_9000)}, device.FaultMemory, -1, "", "instruction fetch"},
			{"fault_jump", false, []runtime.Arg{runtime.U64(0x1234_5678_9002)}, device.FaultMemory, -1, "src/faults.hip:22", "not a multiple of 4"},
		} {
			t.Run(target+"/"+c.kernel, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				defer cancel()
				rt, err := runtime.Open(ctx, "sim:"+target)
				if err != nil {
					t.Fatal(err)
				}
				defer rt.Close()
				file, err := os.ReadFile("../kernels/" + target + "/faults.hsaco")
				if err != nil {
					t.Fatal(err)
				}
				mod, err := rt.LoadModule(ctx, file)
				if err != nil {
					t.Fatal(err)
				}
				buf, err := rt.Alloc(4096, device.DeviceLocal)
				if err != nil {
					t.Fatal(err)
				}
				args := c.args
				if c.buffer {
					args = append([]runtime.Arg{runtime.Ptr(buf)}, args...)
				}
				k, err := mod.Kernel(c.kernel)
				if err != nil {
					t.Fatal(err)
				}
				st, err := rt.NewStream()
				if err != nil {
					t.Fatal(err)
				}
				cfg := runtime.LaunchConfig{Grid: runtime.Dim3{X: 1, Y: 1, Z: 1}, Block: runtime.Dim3{X: 64, Y: 1, Z: 1}}
				l, err := st.Launch(ctx, k, cfg, args...)
				if err != nil {
					t.Fatal(err)
				}
				err = l.Wait(ctx)
				var f *runtime.Fault
				if !errors.As(err, &f) {
					t.Fatalf("got %v, want a fault", err)
				}
				if f.Kind != c.kind || f.Kernel != c.kernel || f.Lane != c.lane || f.Wave != 0 || !strings.Contains(f.Reason, c.reason) {
					t.Errorf("fault %+v", f)
				}
				if !strings.HasSuffix(f.Source, c.source) || (c.source == "") != (f.Source == "") {
					t.Errorf("source %q, want %q", f.Source, c.source)
				}
				if c.source != "" && (f.Symbol == "" || f.Instruction == "") {
					t.Errorf("fault does not name symbol and instruction: %+v", f)
				}
				if _, err := st.Launch(ctx, k, cfg, args...); !errors.Is(err, runtime.ErrFault) {
					t.Errorf("a launch on the faulted stream: %v", err)
				}
			})
		}
	}
}
