package runtime_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gfxrt/runtime"
	_ "gfxrt/sim"
)

// caseFile reads an input or an expected output of kernels/cases.
func caseFile(t testing.TB, kernel, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "kernels", "cases", kernel, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openSim(t testing.TB, opts ...runtime.Option) *runtime.Runtime {
	t.Helper()
	rt, err := runtime.Open(soon(t), "sim:gfx90a", opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return rt
}

func upload(t testing.TB, rt *runtime.Runtime, kind runtime.MemoryKind, p []byte) *runtime.Buffer {
	t.Helper()
	b := alloc(t, rt, uint64(len(p)), kind)
	if err := b.Write(0, p); err != nil {
		t.Fatal(err)
	}
	return b
}

func expect(t testing.TB, b *runtime.Buffer, want []byte) {
	t.Helper()
	got := make([]byte, b.Size())
	if err := b.Read(0, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("buffer\n% x\nwant\n% x", got, want)
	}
}

func TestSimVecadd(t *testing.T) {
	rt := openSim(t)
	k := kernel(t, load(t, rt, "vecadd"), "vecadd")
	a := upload(t, rt, runtime.DeviceLocal, caseFile(t, "vecadd", "a.in"))
	b := upload(t, rt, runtime.HostVisible, caseFile(t, "vecadd", "b.in"))
	want := caseFile(t, "vecadd", "c.exp")
	var wg sync.WaitGroup
	for range 3 {
		s := stream(t, rt)
		wg.Go(func() {
			for range 5 {
				c := upload(t, rt, runtime.DeviceLocal, make([]byte, 4000))
				l, err := s.Launch(soon(t), k, runtime.LaunchConfig{Grid: x(4), Block: x(256)}, runtime.Ptr(a), runtime.Ptr(b), runtime.Ptr(c), runtime.U32(1000))
				if err == nil {
					err = l.Wait(soon(t))
				}
				if err != nil {
					t.Error(err)
					return
				}
				expect(t, c, want)
			}
		})
	}
	wg.Wait()
}

// TestSimChain: launches of one stream see each other's results without the
// host waiting in between.
func TestSimChain(t *testing.T) {
	rt := openSim(t)
	m := load(t, rt, "globals")
	g, err := m.Global("g_counter")
	if err != nil {
		t.Fatal(err)
	}
	mul, err := m.Global("c_mul")
	if err != nil {
		t.Fatal(err)
	}
	total, err := m.Global("m_total")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.Write(0, make([]byte, 4)), mul.Write(0, []byte{1, 0, 0, 0})); err != nil {
		t.Fatal(err)
	}
	o := alloc(t, rt, 400, runtime.DeviceLocal)
	s := stream(t, rt)
	const n = 300 // launches, of 100 work-items that count
	for range n {
		if _, err := s.Launch(soon(t), kernel(t, m, "globals"), runtime.LaunchConfig{Grid: x(2), Block: x(64)}, runtime.Ptr(o), runtime.U32(100)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Wait(soon(t)); err != nil {
		t.Fatal(err)
	}
	var v [4]byte
	if err := g.Read(0, v[:]); err != nil || binary.LittleEndian.Uint32(v[:]) != n*100 {
		t.Errorf("g_counter = %d, %v; want %d", binary.LittleEndian.Uint32(v[:]), err, n*100)
	}
	// m_total, a managed variable, sums the indices 0..99 of each launch.
	if err := total.Read(0, v[:]); err != nil || binary.LittleEndian.Uint32(v[:]) != n*4950 {
		t.Errorf("m_total = %d, %v; want %d", binary.LittleEndian.Uint32(v[:]), err, n*4950)
	}
}

func TestSimPrintf(t *testing.T) {
	one := runtime.LaunchConfig{Grid: x(1), Block: x(32)}
	for _, c := range []struct {
		kernel string
		cfg    runtime.LaunchConfig
	}{
		{"printf_hostcall", one}, {"printf_buffered", one},
		// libclc's get_global_offset(0) reads dword 1 of the implicit
		// arguments, which since code object V5 is hidden_block_count_y, the
		// number of whole work-groups in y. A partial one makes it 0.
		{"printf_ocl", runtime.LaunchConfig{Items: x(32), Block: runtime.Dim3{X: 32, Y: 2}}},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			var out, errs output
			rt := openSim(t, runtime.WithOutput(&out, &errs))
			k := kernel(t, load(t, rt, c.kernel), c.kernel)
			a := upload(t, rt, runtime.DeviceLocal, caseFile(t, c.kernel, "a.in"))
			want := caseFile(t, c.kernel, "r.exp")
			r := upload(t, rt, runtime.DeviceLocal, make([]byte, len(want)))
			l, err := stream(t, rt).Launch(soon(t), k, c.cfg, runtime.Ptr(a), runtime.Ptr(r), runtime.U32(3))
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Wait(soon(t)); err != nil {
				t.Fatal(err)
			}
			if got, want := out.String(), string(caseFile(t, c.kernel, "stdout.exp")); got != want {
				t.Errorf("stdout\n%s\nwant\n%s", got, want)
			}
			if errs.String() != "" {
				t.Errorf("stderr %q", errs.String())
			}
			expect(t, r, want)
		})
	}
}

// TestSimMalloc runs AMD's device malloc against the runtime's heap, hostcall
// and device memory.
func TestSimMalloc(t *testing.T) {
	rt := openSim(t)
	k := kernel(t, load(t, rt, "devmalloc"), "devmalloc")
	want := caseFile(t, "devmalloc", "o.exp")
	s := stream(t, rt)
	for range 3 { // the heap lives on between launches
		o := upload(t, rt, runtime.DeviceLocal, make([]byte, len(want)))
		l, err := s.Launch(soon(t), k, runtime.LaunchConfig{Grid: x(2), Block: x(64)}, runtime.Ptr(o), runtime.U32(70))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Wait(soon(t)); err != nil {
			t.Fatal(err)
		}
		expect(t, o, want)
	}
}

func TestSimCooperative(t *testing.T) {
	rt := openSim(t)
	k := kernel(t, load(t, rt, "gridsync_ockl"), "gridsync_ockl")
	want := caseFile(t, "gridsync_ockl", "p.exp")
	s := stream(t, rt)
	for range 2 {
		d, p := alloc(t, rt, 1200, runtime.DeviceLocal), alloc(t, rt, 1200, runtime.DeviceLocal)
		l, err := s.Launch(soon(t), k, runtime.LaunchConfig{Grid: x(4), Block: x(64), Cooperative: true}, runtime.Ptr(d), runtime.Ptr(p), runtime.U32(300))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Wait(soon(t)); err != nil {
			t.Fatal(err)
		}
		expect(t, p, want)
	}
}

// TestSimInitFini runs a module's constructors and destructors.
func TestSimInitFini(t *testing.T) {
	rt := openSim(t)
	data := compile(t, `
volatile int state = 5; extern volatile int *seen;
__attribute__((constructor)) static void up(void) { state += 2; }
__attribute__((destructor)) static void down(void) { *seen = state; }
`)
	holder, err := rt.LoadModule(soon(t), compile(t, `int value = 1; int *seen = &value;`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := rt.LoadModule(soon(t), data)
	if err != nil {
		t.Fatal(err)
	}
	value := func(m *runtime.Module, name string) uint32 {
		t.Helper()
		g, err := m.Global(name)
		if err != nil {
			t.Fatal(err)
		}
		var v [4]byte
		if err := g.Read(0, v[:]); err != nil {
			t.Fatal(err)
		}
		return binary.LittleEndian.Uint32(v[:])
	}
	if v := value(m, "state"); v != 7 {
		t.Errorf("state = %d after load, want 7", v)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if v := value(holder, "value"); v != 7 {
		t.Errorf("value = %d after unload, want 7", v)
	}
}

// TestSimFault: a real fault of a real kernel, with its source line, and the
// other stream unharmed.
func TestSimFault(t *testing.T) {
	rt := openSim(t)
	source := `__attribute__((device_kernel)) void work(__attribute__((address_space(1))) int *out) {
  out[0] = 1;
  __builtin_trap();
}
`
	m, err := rt.LoadModule(soon(t), compile(t, source, "-g"))
	if err != nil {
		t.Fatal(err)
	}
	k := kernel(t, m, "work")
	s, other := stream(t, rt), stream(t, rt)
	cfg := runtime.LaunchConfig{Grid: x(1), Block: x(64)}
	l, err := s.Launch(soon(t), k, cfg, runtime.Addr(0xdead0000))
	if err != nil {
		t.Fatal(err)
	}
	err = l.Wait(soon(t))
	var f *runtime.Fault
	if !errors.As(err, &f) {
		t.Fatalf("wait: %v", err)
	}
	if f.Kernel != "work" || !strings.HasPrefix(f.Symbol, "work+") || !strings.HasSuffix(f.Source, "k.c:2") || f.Addr != 0xdead0000 {
		t.Errorf("fault %+v", f)
	}
	o := upload(t, rt, runtime.DeviceLocal, make([]byte, 4))
	if l, err = other.Launch(soon(t), k, cfg, runtime.Ptr(o)); err != nil {
		t.Fatal(err)
	}
	if err := l.Wait(soon(t)); !errors.As(err, &f) || !strings.HasSuffix(f.Source, "k.c:3") {
		t.Errorf("trap: %v", err)
	}
	expect(t, o, []byte{1, 0, 0, 0})
}

// TestSimCancel: a wait that gives up leaves the stream usable.
func TestSimCancel(t *testing.T) {
	rt := openSim(t)
	m, err := rt.LoadModule(soon(t), compile(t, `
__attribute__((device_kernel)) void gate(__attribute__((address_space(1))) volatile int *g) { while (!g[0]) ; g[1] = 7; }
`))
	if err != nil {
		t.Fatal(err)
	}
	gate := upload(t, rt, runtime.HostVisible, make([]byte, 8))
	s := stream(t, rt)
	l, err := s.Launch(soon(t), kernel(t, m, "gate"), runtime.LaunchConfig{Grid: x(1), Block: x(1)}, runtime.Ptr(gate))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled wait: %v", err)
	}
	if err := gate.Write(0, []byte{1}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Wait(soon(t)), s.Wait(soon(t))); err != nil {
		t.Fatal(err)
	}
	expect(t, gate, []byte{1, 0, 0, 0, 7, 0, 0, 0})
}
