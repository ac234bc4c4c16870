// Package native compares the simulator with the host CPU: the measured
// kernels, compiled by clang for this machine, on one thread each. src/native.h
// says how their work-items are run.
package native

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gfxrt/cmd/gfxrt/workloads"
	"gfxrt/runtime"
	_ "gfxrt/sim"
)

// findClang gives the compiler or skips.
func findClang(tb testing.TB) string {
	for _, name := range []string{"clang-22", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	tb.Skip("neither clang-22 nor clang is in PATH")
	return ""
}

// vectorized is a remark of clang's loop or SLP vectorizer.
var vectorized = regexp.MustCompile(`(?m)^(?:.*/)?([\w.]+):(\d+):\d+: remark: (?:vectorized loop \(vectorization width: (\d+)|.*(SLP vectorized))`)

// build compiles a kernel and tells what clang vectorized: line and width of
// each loop, and the number of straight pieces of code (SLP).
func build(tb testing.TB, name string) (program string, remarks string) {
	clang := findClang(tb)
	program = filepath.Join(tb.TempDir(), name)
	cmd := exec.Command(clang, "-x", "c++", "-O3", "-march=native", "-fno-math-errno", "-DGK_HOST", "-I", "../../kernels/src",
		"-Rpass=(loop-vectorize|slp-vectorizer)", filepath.Join("src", name+".cpp"), "-o", program, "-lm")
	out, err := cmd.CombinedOutput()
	if err != nil {
		if bytes.Contains(out, []byte("unknown target CPU")) || bytes.Contains(out, []byte("unsupported option '-march=")) {
			tb.Skipf("clang cannot compile for this host: %s", out)
		}
		tb.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	var loops []string
	slp := 0
	for _, m := range vectorized.FindAllStringSubmatch(string(out), -1) {
		switch line := fmt.Sprintf("line %3s by %s", m[2], m[3]); {
		case !strings.HasPrefix(m[1], name+"."):
		case m[4] != "":
			slp++
		case !slices.Contains(loops, line):
			loops = append(loops, line)
		}
	}
	slices.Sort(loops) // by line, thanks to the padding
	if slp > 0 {
		loops = append(loops, fmt.Sprintf("%d pieces of straight code", slp))
	}
	if loops == nil {
		return program, "nothing"
	}
	return program, strings.Join(loops, ", ")
}

// native runs a built kernel and returns the times of its repetitions, in
// seconds ascending. The output is held to the workload's oracle.
func native(tb testing.TB, program string, w *workloads.Workload, p *workloads.Problem, repetitions int) []float64 {
	dir := tb.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			tb.Fatal(err)
		}
		return path
	}
	global := "-"
	for _, g := range p.Globals { // there is at most one
		global = write(g.Name, g.Data)
	}
	result := filepath.Join(dir, "output")
	args := []any{repetitions, w.Grid.X, w.Grid.Y, w.Block.X, w.Block.Y, global, p.Output, result, len(p.Scalars)}
	for _, s := range p.Scalars {
		args = append(args, s)
	}
	for i, b := range p.Buffers {
		path := "-"
		if b.Data != nil {
			path = write(strconv.Itoa(i), b.Data)
		}
		args = append(args, path, b.Size)
	}
	text := make([]string, len(args))
	for i, a := range args {
		text[i] = fmt.Sprint(a)
	}
	cmd := exec.Command(program, text...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%s: %v", w.Name, err)
	}
	var seconds []float64
	for line := range strings.Lines(string(out)) {
		s, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			tb.Fatal(err)
		}
		seconds = append(seconds, s)
	}
	if len(seconds) != repetitions {
		tb.Fatalf("%s printed %q", w.Name, out)
	}
	slices.Sort(seconds)
	answer, err := os.ReadFile(result)
	if err != nil {
		tb.Fatal(err)
	}
	if err := p.Check(answer); err != nil {
		tb.Fatalf("the native %s is wrong: %v", w.Name, err)
	}
	return seconds
}

// BenchmarkNative measures each kernel on the simulator with one worker (ns/op)
// and on one thread of the host (native-ns/op), and their ratio. The fastest
// run counts on either side: whatever else the machine does only adds.
func BenchmarkNative(b *testing.B) {
	if goruntime.GOOS != "linux" {
		b.Skip("the native programs use POSIX clocks and GNU command lines: Linux only")
	}
	for _, w := range workloads.All() {
		b.Run(w.Name, func(b *testing.B) {
			program, remarks := build(b, w.Name)
			host := native(b, program, w, w.Prepare(), 5)

			ctx := context.Background()
			rt, err := runtime.Open(ctx, "sim+threads=1:"+w.Processor)
			if err != nil {
				b.Fatal(err)
			}
			defer rt.Close()
			r, err := w.Start(ctx, rt)
			if err != nil {
				b.Fatal(err)
			}
			launch := func() float64 {
				d, err := r.Launch(ctx)
				if err != nil {
					b.Fatal(err)
				}
				return d.Seconds()
			}
			launch() // maps memory, decodes
			var seconds []float64
			for b.Loop() {
				seconds = append(seconds, launch())
			}
			simulated := slices.Min(seconds)
			if err := r.Check(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(simulated*1e9, "ns/op")
			b.ReportMetric(host[0]*1e9, "native-ns/op")
			b.ReportMetric(simulated/host[0], "x-native")
			b.Logf("clang vectorized: %s", remarks)
		})
	}
}

// TestNativeKernels: the programs compile, and the host gives the answers that
// the oracles expect of the GPU.
func TestNativeKernels(t *testing.T) {
	if goruntime.GOOS != "linux" {
		t.Skip("the native programs use POSIX clocks and GNU command lines: Linux only")
	}
	if testing.Short() {
		t.Skip("compiles nine programs")
	}
	for _, w := range workloads.All() {
		t.Run(w.Name, func(t *testing.T) {
			program, _ := build(t, w.Name)
			native(t, program, w, w.Prepare(), 1)
		})
	}
}
