package benchmarks

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"testing"
	"time"

	"gfxrt/kernels"
	"gfxrt/runtime"
	_ "gfxrt/sim"
)

// BenchmarkFirstDispatch opens a device, loads vecadd, runs one work-group and
// closes everything.
func BenchmarkFirstDispatch(b *testing.B) {
	object, err := kernels.Object("gfx90a", "vecadd")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := firstDispatch(object); err != nil {
			b.Fatal(err)
		}
	}
}

func firstDispatch(object []byte) error {
	ctx := context.Background()
	rt, err := runtime.Open(ctx, "sim:gfx90a")
	if err != nil {
		return err
	}
	defer rt.Close()
	mod, err := rt.LoadModule(ctx, object)
	if err != nil {
		return err
	}
	k, err := mod.Kernel("vecadd")
	if err != nil {
		return err
	}
	buf, err := rt.Alloc(1024, runtime.DeviceLocal)
	if err != nil {
		return err
	}
	s, err := rt.NewStream()
	if err != nil {
		return err
	}
	p := runtime.Ptr(buf)
	l, err := s.Launch(ctx, k, runtime.LaunchConfig{Grid: runtime.Dim3{X: 1}, Block: runtime.Dim3{X: 256}}, p, p, p, runtime.U32(256))
	if err != nil {
		return err
	}
	return l.Wait(ctx)
}

// BenchmarkProcess runs the gfxrt program: its time from start to end and its
// largest resident set. "version" is what the program costs without a device;
// vecadd_2^24 has 192 MiB of buffers.
func BenchmarkProcess(b *testing.B) {
	program := filepath.Join(b.TempDir(), "gfxrt")
	if goruntime.GOOS == "windows" {
		program += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", program, "gfxrt/cmd/gfxrt").CombinedOutput(); err != nil {
		b.Skipf("go build does not work here: %v\n%s", err, out)
	}
	const object = "../kernels/gfx90a/vecadd.hsaco"
	for _, c := range []struct {
		name string
		args []string
	}{
		{"version", []string{"version"}},
		{"vecadd_1000", []string{"run", object, "--grid", "4", "--block", "256", "--arg", "rand:f32:1000", "--arg", "rand:f32:1000", "--arg", "buf:4000", "--arg", "u32:1000"}},
		{"vecadd_2^24", []string{"run", object, "--grid", "64k", "--block", "256", "--arg", "buf:64M", "--arg", "buf:64M", "--arg", "buf:64M", "--arg", "u32:16777216"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var peak int64
			var total time.Duration
			for b.Loop() {
				cmd := exec.Command(program, c.args...)
				cmd.Stderr = os.Stderr
				start := time.Now()
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				stop := watchResident(cmd.Process.Pid)
				err := cmd.Wait()
				total += time.Since(start)
				peak = max(peak, stop())
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(total.Nanoseconds())/float64(b.N), "ns/op")
			if peak > 0 {
				b.ReportMetric(float64(peak), "peak-B")
			}
		})
	}
}
