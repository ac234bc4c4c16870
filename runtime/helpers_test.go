package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gfxrt/runtime"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// object reads a compiled kernel of the repository.
func object(t testing.TB, folder, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "kernels", folder, name+".hsaco"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// open makes a runtime on the fake and closes it after the test.
func open(t testing.TB, d *fakeDevice, opts ...runtime.Option) *runtime.Runtime {
	t.Helper()
	rt, err := runtime.New(d, opts...)
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

func load(t testing.TB, rt *runtime.Runtime, name string) *runtime.Module {
	t.Helper()
	m, err := rt.LoadModule(context.Background(), object(t, "gfx90a", name))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func kernel(t testing.TB, m *runtime.Module, name string) *runtime.Kernel {
	t.Helper()
	k, err := m.Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func stream(t testing.TB, rt *runtime.Runtime) *runtime.Stream {
	t.Helper()
	s, err := rt.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func alloc(t testing.TB, rt *runtime.Runtime, n uint64, kind runtime.MemoryKind) *runtime.Buffer {
	t.Helper()
	b, err := rt.Alloc(n, kind)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// soon bounds what a broken wait would take.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func x(n uint32) runtime.Dim3 { return runtime.Dim3{X: n} }
