package propertytests

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gfxrt/runtime"
	"gfxrt/runtime/device"
	_ "gfxrt/sim"
)

// serviceTargets are the simulated targets that the kernels of heap, hostcall
// and hostile are built for.
var serviceTargets = []string{"gfx90a", "gfx942"}

// text collects what several goroutines write.
type text struct {
	mu sync.Mutex
	b  strings.Builder
}

func (o *text) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *text) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func (o *text) reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.b.Reset()
}

// rig is a runtime on the simulator, with everything it says.
type rig struct {
	t         testing.TB
	target    string
	dev       device.Device
	rt        *runtime.Runtime
	out, errs text

	mu      sync.Mutex
	told    []error
	modules map[string]*runtime.Module
}

func newRig(t testing.TB, target string, opts ...runtime.Option) *rig {
	t.Helper()
	r := &rig{t: t, target: target, modules: map[string]*runtime.Module{}}
	dev, err := device.Open(t.Context(), "sim:"+target)
	if err != nil {
		t.Fatal(err)
	}
	tell := func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.told = append(r.told, err)
	}
	r.dev = dev
	r.rt, err = runtime.New(dev, append([]runtime.Option{runtime.WithOutput(&r.out, &r.errs), runtime.WithDiagnostics(tell)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// close closes the runtime, once.
func (r *rig) close() {
	if r.rt == nil {
		return
	}
	if err := r.rt.Close(); err != nil {
		r.t.Errorf("close: %v", err)
	}
	r.rt = nil
}

func (r *rig) diagnostics() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.told)
}

func (r *rig) kernel(object, name string) *runtime.Kernel {
	r.t.Helper()
	m := r.modules[object]
	if m == nil {
		file, err := os.ReadFile(filepath.Join("..", "kernels", r.target, object+".hsaco"))
		if err != nil {
			r.t.Fatal(err)
		}
		m = r.load(object, file)
	}
	k, err := m.Kernel(name)
	if err != nil {
		r.t.Fatal(err)
	}
	return k
}

// load loads an object under a name.
func (r *rig) load(object string, file []byte) *runtime.Module {
	r.t.Helper()
	m, err := r.rt.LoadModule(r.t.Context(), file)
	if err != nil {
		r.t.Fatal(err)
	}
	r.modules[object] = m
	return m
}

func (r *rig) stream() *runtime.Stream {
	r.t.Helper()
	s, err := r.rt.NewStream()
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// launch runs a kernel to its end, at most a minute.
func (r *rig) launch(s *runtime.Stream, k *runtime.Kernel, groups, block uint32, args ...runtime.Arg) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, err := s.Launch(ctx, k, runtime.LaunchConfig{Grid: runtime.Dim3{X: groups}, Block: runtime.Dim3{X: block}}, args...)
	if err != nil {
		return err
	}
	return l.Wait(ctx)
}

// run is launch of an object's kernel on a stream of its own.
func (r *rig) run(object, name string, groups, block uint32, args ...runtime.Arg) {
	r.t.Helper()
	s := r.stream()
	err := r.launch(s, r.kernel(object, name), groups, block, args...)
	if err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	if err := s.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// words allocates n zero words of 8 bytes.
func (r *rig) words(n int) *runtime.Buffer {
	r.t.Helper()
	b, err := r.rt.Alloc(uint64(8*n), runtime.DeviceLocal)
	if err == nil {
		err = b.Write(0, make([]byte, 8*n))
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// read returns a buffer as words of 8 bytes.
func (r *rig) read(b *runtime.Buffer) []uint64 {
	r.t.Helper()
	p := make([]byte, b.Size())
	if err := b.Read(0, p); err != nil {
		r.t.Fatal(err)
	}
	w := make([]uint64, len(p)/8)
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(p[8*i:])
	}
	return w
}

func (r *rig) heap() *runtime.HeapStats {
	r.t.Helper()
	h, err := r.rt.HeapStats()
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}
