package runtime_test

import (
	"bytes"
	"context"
	stdelf "debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gfxrt/aql"
	"gfxrt/elf"
	"gfxrt/runtime"
	"gfxrt/runtime/device"
)

// compile builds a plain C source for gfx90a with the clang of the machine.
func compile(t *testing.T, source string, flags ...string) []byte {
	t.Helper()
	clang := ""
	for _, name := range []string{"clang-22", "clang"} {
		if p, err := exec.LookPath(name); err == nil {
			clang = p
			break
		}
	}
	if clang == "" {
		t.Skip("no clang in PATH to compile the test's kernel with")
	}
	dir := t.TempDir()
	src, out := filepath.Join(dir, "k.c"), filepath.Join(dir, "k.hsaco")
	if err := os.WriteFile(src, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-x", "c", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-O1",
		"-fvisibility=default", "-Wl,--unresolved-symbols=ignore-all", src, "-o", out}, flags...)
	if text, err := exec.Command(clang, args...).CombinedOutput(); err != nil {
		t.Skipf("%s does not compile the test's kernel: %v\n%s", clang, err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// reference reads an object with the standard library's reader.
type reference struct {
	f    *stdelf.File
	syms map[string]stdelf.Symbol
}

func readReference(t *testing.T, data []byte) reference {
	t.Helper()
	f, err := stdelf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	syms, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	r := reference{f, map[string]stdelf.Symbol{}}
	for _, s := range syms {
		r.syms[s.Name] = s
	}
	return r
}

// image is the loaded image by the ELF and AMDGPU relocation rules.
func (r reference) image(t *testing.T, base uint64, resolve map[string]uint64) []byte {
	t.Helper()
	var img []byte
	for _, p := range r.f.Progs {
		if p.Type != stdelf.PT_LOAD {
			continue
		}
		if end := int(p.Vaddr + p.Memsz); end > len(img) {
			img = append(img, make([]byte, end-len(img))...)
		}
		if _, err := p.ReadAt(img[p.Vaddr:p.Vaddr+p.Filesz], 0); err != nil {
			t.Fatal(err)
		}
	}
	names, err := r.f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	rela, err := r.f.Section(".rela.dyn").Data()
	if err != nil {
		t.Fatal(err)
	}
	for ; len(rela) >= 24; rela = rela[24:] {
		off, info, addend := binary.LittleEndian.Uint64(rela), binary.LittleEndian.Uint64(rela[8:]), binary.LittleEndian.Uint64(rela[16:])
		var v uint64
		switch info & 0xffffffff {
		case 13: // R_AMDGPU_RELATIVE64
			v = base + addend
		case 3: // R_AMDGPU_ABS64
			s := names[info>>32-1]
			if v = base + s.Value + addend; s.Section == stdelf.SHN_UNDEF {
				v = resolve[s.Name] + addend
			}
		default:
			t.Fatalf("relocation type %d", info&0xffffffff)
		}
		binary.LittleEndian.PutUint64(img[off:], v)
	}
	return img
}

func (d *fakeDevice) read(t *testing.T, addr, n uint64) []byte {
	t.Helper()
	b, err := d.at(addr, n)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(b)
}

func TestLoadRelocates(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	data := object(t, "gfx90a", "funcptr")
	m, err := rt.LoadModule(context.Background(), data)
	if err != nil {
		t.Fatal(err)
	}
	if m.Base()%4096 != 0 {
		t.Errorf("image at %#x", m.Base())
	}
	want := readReference(t, data).image(t, m.Base(), nil)
	if got := d.read(t, m.Base(), uint64(len(want))); !bytes.Equal(got, want) {
		t.Error("image differs from the file's, relocated")
	}
	if inv := fmt.Sprintf("%#x+%#x", m.Base(), len(want)); len(d.invalid) != 1 || d.invalid[0] != inv {
		t.Errorf("code invalidated %v, want [%s]", d.invalid, inv)
	}
}

func TestGlobals(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	data := object(t, "gfx90a", "globals")
	ref := readReference(t, data)
	m, err := rt.LoadModule(context.Background(), data)
	if err != nil {
		t.Fatal(err)
	}
	global := func(name string) *runtime.Global {
		t.Helper()
		g, err := m.Global(name)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	// The values are those of the source, kernels/src/globals.hip.
	u32s := func(v ...uint32) []byte {
		b, err := binary.Append(nil, binary.LittleEndian, v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		name    string
		value   []byte
		managed bool
	}{
		{"g_init", u32s(1, 2, 3, 4, 5, 6, 7, 8), false},
		{"g_counter", u32s(0), false},
		{"c_tab", u32s(100, 200, 300, 400), false},
		{"m_total", u32s(0), true},
		{"m_arr", u32s(10, 20, 30, 40), true},
	} {
		g := global(c.name)
		if g.Size() != uint64(len(c.value)) || g.Managed() != c.managed || g.Name() != c.name {
			t.Errorf("%s: %d bytes, managed %v", c.name, g.Size(), g.Managed())
			continue
		}
		got := make([]byte, g.Size())
		if err := g.Read(0, got); err != nil || !bytes.Equal(got, c.value) {
			t.Errorf("%s = % x, %v; want % x", c.name, got, err, c.value)
		}
		at := m.Base() + ref.syms[c.name].Value
		if !c.managed && g.Addr() != at {
			t.Errorf("%s at %#x, want %#x", c.name, g.Addr(), at)
		}
		if c.managed {
			// Device code finds the value through the pointer.
			p := binary.LittleEndian.Uint64(d.read(t, at, 8))
			if p != g.Addr() || !bytes.Equal(d.read(t, p, g.Size()), c.value) {
				t.Errorf("%s: pointer %#x, value at %#x", c.name, p, g.Addr())
			}
		}
	}
	if p := binary.LittleEndian.Uint64(d.read(t, m.Base()+ref.syms["g_ptr"].Value, 8)); p != global("g_init").Addr()+12 {
		t.Errorf("g_ptr = %#x, want &g_init[3]", p)
	}

	arr := global("m_arr")
	if err := arr.Write(4, u32s(7, 8)); err != nil {
		t.Fatal(err)
	}
	if got := d.read(t, arr.Addr(), 16); !bytes.Equal(got, u32s(10, 7, 8, 40)) {
		t.Errorf("m_arr after a write: % x", got)
	}
	for _, r := range []struct{ off, n uint64 }{{16, 1}, {0, 17}, {17, 0}, {1 << 63, 1 << 63}, {^uint64(0), 1}} {
		if r.n > 1<<20 {
			r.n = 2 // the range wraps all the same
		}
		if err := arr.Read(r.off, make([]byte, r.n)); !errors.Is(err, runtime.ErrOutOfRange) {
			t.Errorf("read of %d at %d: %v", r.n, r.off, err)
		}
		if err := arr.Write(r.off, make([]byte, r.n)); !errors.Is(err, runtime.ErrOutOfRange) {
			t.Errorf("write of %d at %d: %v", r.n, r.off, err)
		}
	}
	if _, err := m.Global("nope"); !errors.Is(err, runtime.ErrNotFound) || !strings.Contains(err.Error(), "m_arr") {
		t.Errorf("unknown variable: %v", err)
	}
	if _, err := m.Kernel("nope"); !errors.Is(err, runtime.ErrNotFound) || !strings.Contains(err.Error(), "globals") {
		t.Errorf("unknown kernel: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := arr.Read(0, make([]byte, 1)); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("variable of a closed module: %v", err)
	}
	if err := m.Close(); !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("second close: %v", err)
	}
}

// TestLoadIsTransactional: when any allocation fails nothing remains, and the
// next load succeeds.
func TestLoadIsTransactional(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	data := object(t, "gfx90a", "globals")
	for n := 1; ; n++ {
		d.failAt = n
		m, err := rt.LoadModule(context.Background(), data)
		if err == nil {
			if n != 4 { // code, m_total, m_arr
				t.Errorf("load made %d allocations", n-1)
			}
			d.failAt = 0
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			break
		}
		if !errors.Is(err, runtime.ErrOutOfMemory) {
			t.Fatal(err)
		}
		if len(d.mems) != 0 {
			t.Errorf("%d allocations remain after allocation %d failed", len(d.mems), n)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	_, err := rt.LoadModule(context.Background(), object(t, "gfx942", "vecadd"))
	if !errors.Is(err, runtime.ErrIncompatible) {
		t.Errorf("other processor: %v", err)
	}
	for _, target := range []string{"gfx942", "gfx90a:sramecc+:xnack-"} {
		if err == nil || !strings.Contains(err.Error(), target) {
			t.Errorf("error %q does not name %s", err, target)
		}
	}
	if _, err := rt.LoadModule(context.Background(), []byte("\x7fELF")); !errors.Is(err, elf.ErrInvalid) {
		t.Errorf("truncated file: %v", err)
	}
	if len(d.mems) != 0 {
		t.Errorf("%d allocations remain", len(d.mems))
	}
}

const user = `
extern int imported;
int other = 3;
int *table[2] = { &imported, &other };
__attribute__((device_kernel)) void work(__attribute__((address_space(1))) int *out) { out[0] = *table[0] + imported; }
`

func TestUndefinedSymbols(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	ctx := context.Background()
	needs := compile(t, user)
	definer := compile(t, `int before = 1; int imported = 42;`)
	if _, err := rt.LoadModule(ctx, needs); !errors.Is(err, runtime.ErrUndefinedSymbol) || !strings.Contains(err.Error(), "imported") {
		t.Fatalf("undefined symbol: %v", err)
	}
	if len(d.mems) != 0 {
		t.Errorf("%d allocations remain", len(d.mems))
	}
	first, err := rt.LoadModule(ctx, definer)
	if err != nil {
		t.Fatal(err)
	}
	m, err := rt.LoadModule(ctx, needs)
	if err != nil {
		t.Fatal(err)
	}
	at := first.Base() + readReference(t, definer).syms["imported"].Value
	want := readReference(t, needs).image(t, m.Base(), map[string]uint64{"imported": at})
	if got := d.read(t, m.Base(), uint64(len(want))); !bytes.Equal(got, want) {
		t.Error("image differs from the file's, relocated against the first module")
	}
	if err := first.Close(); !errors.Is(err, runtime.ErrBusy) {
		t.Errorf("close of a module that another refers to: %v", err)
	}
	if err := errors.Join(m.Close(), first.Close()); err != nil {
		t.Error(err)
	}
}

// TestInitAndFini: the kernels run once each, one work-item, init before
// LoadModule returns and fini when the module is closed.
func TestInitAndFini(t *testing.T) {
	source := `
volatile int state;
__attribute__((constructor)) static void up(void) { state = 1; }
__attribute__((destructor)) static void down(void) { state = 2; }
`
	data := compile(t, source)
	d := newFake(t)
	var objects []uint64
	d.run = func(q *fakeQueue, p *aql.KernelDispatch) {
		objects = append(objects, p.KernelObject)
		if p.GridSize != [3]uint32{1, 1, 1} || p.WorkgroupSize != [3]uint16{1, 1, 1} {
			t.Errorf("grid %v of %v", p.GridSize, p.WorkgroupSize)
		}
	}
	rt := open(t, d)
	m, err := rt.LoadModule(soon(t), data)
	if err != nil {
		t.Fatal(err)
	}
	ref, base := readReference(t, data), m.Base()
	kd := func(name string) uint64 { return base + ref.syms[name].Value }
	if want := kd("amdgcn.device.init.kd"); len(objects) != 1 || objects[0] != want {
		t.Fatalf("load ran %#x, want %#x", objects, want)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if want := kd("amdgcn.device.fini.kd"); len(objects) != 2 || objects[1] != want {
		t.Fatalf("load and close ran %#x, want %#x last", objects, want)
	}

	// A module that is still loaded is finished by the runtime's Close.
	d2 := newFake(t)
	runs := 0
	d2.run = func(*fakeQueue, *aql.KernelDispatch) { runs++ }
	rt2, err := runtime.New(d2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rt2.LoadModule(soon(t), data); err != nil {
		t.Fatal(err)
	}
	if err := rt2.Close(); err != nil || runs != 2 {
		t.Errorf("close: %v after %d kernels, want init and fini", err, runs)
	}

	// An init kernel that faults fails the load and leaves nothing but the
	// services the module asked for, which serve the next one.
	d3 := newFake(t)
	d3.run = func(q *fakeQueue, p *aql.KernelDispatch) {
		if !q.dead {
			q.dead, q.hold = true, true
			q.errs <- &device.Fault{Kind: device.FaultTrap, KernelObject: p.KernelObject, Wave: -1, Lane: -1}
			close(q.errs)
		}
	}
	rt3 := open(t, d3)
	remain := -1
	for range 2 {
		if _, err := rt3.LoadModule(soon(t), data); !errors.Is(err, runtime.ErrFault) || !strings.Contains(err.Error(), "amdgcn.device.init") {
			t.Errorf("faulting init kernel: %v", err)
		}
		if remain >= 0 && len(d3.mems) != remain {
			t.Errorf("allocations remain: %d, then %d", remain, len(d3.mems))
		}
		remain = len(d3.mems)
	}
}

// TestLLVMRPC: an object that talks to its host by LLVM's RPC is refused by
// name, before anything of it is loaded.
func TestLLVMRPC(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	before := len(d.mems)
	_, err := rt.LoadModule(context.Background(), compile(t, `char __llvm_rpc_client[64] = {1}; __attribute__((device_kernel)) void k(void) { __llvm_rpc_client[0] = 2; }`))
	if !errors.Is(err, runtime.ErrLLVMRPC) || !errors.Is(err, runtime.ErrUnsupported) || !strings.Contains(err.Error(), "__llvm_rpc_client") {
		t.Errorf("load: %v", err)
	}
	if len(d.mems) != before {
		t.Errorf("%d allocations remain", len(d.mems)-before)
	}
}

func TestHeapOptions(t *testing.T) {
	for _, c := range [][2]uint64{{1, 1 << 30}, {4 << 20, 2 << 20}, {1 << 62, 1 << 63}} {
		if _, err := runtime.New(newFake(t), runtime.WithHeap(c[0], c[1])); !errors.Is(err, runtime.ErrInvalidArgument) {
			t.Errorf("heap of %d to %d bytes: %v", c[0], c[1], err)
		}
	}
}
