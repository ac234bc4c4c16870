package propertytests

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gfxrt/runtime"
	"gfxrt/services/hostcall"
	"gfxrt/services/printf"
)

// hostileTime bounds what a hostile kernel can cost. Each takes a fraction of
// a second.
const hostileTime = 20 * time.Second

// attack runs one launch and closes the runtime, whatever the launch does. It
// returns the launch's error and what the runtime said meanwhile.
func (r *rig) attack(k *runtime.Kernel, groups, block uint32, args ...runtime.Arg) (told []error, err error) {
	r.t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), hostileTime)
	defer cancel()
	s := r.stream()
	l, err := s.Launch(ctx, k, runtime.LaunchConfig{Grid: runtime.Dim3{X: groups}, Block: runtime.Dim3{X: block}}, args...)
	if err == nil {
		err = l.Wait(ctx)
	}
	// What nobody waits for is served at the latest when the runtime closes.
	r.close()
	if d := time.Since(began); d > hostileTime {
		r.t.Errorf("the attack took %s", d)
	}
	return r.diagnostics(), err
}

// expectReport wants the first report that there is, the launch's error or a
// diagnostic, to wrap a class and to hold a text.
func expectReport(t *testing.T, err error, told []error, class error, text string) {
	t.Helper()
	for _, e := range append([]error{err}, told...) {
		if e != nil && errors.Is(e, class) && strings.Contains(e.Error(), text) {
			return
		}
	}
	t.Errorf("launch: %v; diagnostics %v; want %v with %q", err, told, class, text)
}

// TestHostileHostcall: device code that breaks the rules of hostcall does not
// harm the host: it ends in bounded time, with a report that says what is wrong.
func TestHostileHostcall(t *testing.T) {
	for _, c := range []struct {
		name  string
		mode  uint32
		n     uint64
		class error // of the report; nil when there must be none
		text  string
		out   string // on stdout
	}{
		{"index out of range", 0, 0, hostcall.ErrCorrupt, "packet ", ""},
		{"cycle of one", 1, 0, hostcall.ErrCorrupt, "twice", ""},
		{"cycle of two", 2, 0, hostcall.ErrCorrupt, "twice", ""},
		{"never ready", 3, 0, hostcall.ErrCorrupt, "(control): 0x0", ""},
		{"reserved control bits", 4, 0, hostcall.ErrCorrupt, "(control): 0xffffffff", ""},
		{"unknown service", 5, 0, hostcall.ErrCorrupt, "unknown service 77", ""},
		{"pointers and mask overwritten", 6, 0, nil, "", "fine\n"},
		{"messages without end", 7, 300, nil, "", ""},
		{"one endless message", 8, 60000, hostcall.ErrRequest, "longer than", ""},
		{"huge width", 9, 0, printf.ErrLimit, "width 9999999", ""},
		{"missing width argument", 9, 0, printf.ErrArguments, "bytes left", ""},
		{"unknown message", 10, 0, hostcall.ErrRequest, "no open message", ""},
		{"reserved descriptor bits", 10, 0, hostcall.ErrRequest, "reserved bits", ""},
		{"too much memory", 11, 0, runtime.ErrOutOfMemory, "", ""},
		{"free of nothing", 11, 0, runtime.ErrForeignFree, "0xdead000", ""},
		{"no such function", 12, 0, hostcall.ErrRequest, "0xbad is not registered", ""},
		{"report of all lanes", 13, 0, nil, "", ""},
		{"no lanes", 14, 0, nil, "", ""},
		{"noise in all headers", 15, 1000, hostcall.ErrCorrupt, "", ""},
		{"answer for nobody", 16, 0, nil, "", "left\n"},
		{"lanes that are not there", 17, 0, hostcall.ErrRequest, "lane 63", "mask\n"},
	} {
		for _, target := range serviceTargets {
			t.Run(fmt.Sprintf("%s/%s", c.name, target), func(t *testing.T) {
				r := newRig(t, target)
				out := r.words(4)
				told, err := r.attack(r.kernel("hostile", "hostile"), 1, 1, runtime.Ptr(out), runtime.U32(c.mode), runtime.U64(c.n))
				if c.class != nil {
					expectReport(t, err, told, c.class, c.text)
				} else if err != nil || len(told) != 0 {
					t.Errorf("launch: %v, diagnostics %v", err, told)
				}
				if r.out.String() != c.out {
					t.Errorf("stdout %q, want %q", r.out.String(), c.out)
				}
			})
		}
	}
}

// TestHostileStorm: waves that write noise into the ready stack as fast as they
// can, and a long cycle, in assembly.
func TestHostileStorm(t *testing.T) {
	for mode, text := range []string{"twice", "", "(control): 0x0"} {
		for _, target := range serviceTargets {
			t.Run(fmt.Sprintf("%d/%s", mode, target), func(t *testing.T) {
				r := newRig(t, target)
				told, err := r.attack(r.kernel("hostile_asm", "hostile_asm"), 16, 256, runtime.U32(uint32(mode)))
				expectReport(t, err, told, hostcall.ErrCorrupt, text)
			})
		}
	}
}

// TestOthersGoOn: what one kernel did to hostcall is told to every stream of
// its runtime, and to no other runtime.
func TestOthersGoOn(t *testing.T) {
	bad, good := newRig(t, "gfx90a"), newRig(t, "gfx90a")
	s := bad.stream()
	if err := bad.launch(bad.stream(), bad.kernel("hostile", "hostile"), 1, 1, runtime.Ptr(bad.words(4)), runtime.U32(5), runtime.U64(0)); !errors.Is(err, hostcall.ErrCorrupt) {
		t.Fatalf("launch: %v", err)
	}
	if err := s.Err(); !errors.Is(err, hostcall.ErrCorrupt) || !strings.Contains(err.Error(), "unusable") {
		t.Errorf("another stream: %v", err)
	}
	if _, err := bad.rt.NewStream(); !errors.Is(err, hostcall.ErrCorrupt) {
		t.Errorf("a new stream: %v", err)
	}
	good.run("hostcall", "hostcall_print", 1, 64, runtime.U32(2))
	if good.out.String() != "line 0 of 2\nline 1 of 2\n" {
		t.Errorf("the other runtime printed %q", good.out.String())
	}
}

// TestHostilePrintf: a printf buffer full of lies is decoded up to the lie and
// reported, and the stream goes on.
func TestHostilePrintf(t *testing.T) {
	for mode, c := range []struct {
		class error
		text  string
		out   string
	}{
		{printf.ErrMessage, "next free byte 4294967295", ""},
		{printf.ErrMessage, "next free byte", ""},
		{printf.ErrMessage, "next free byte 4294967280", ""},
		{printf.ErrMessage, "length 1073741823", "ok\n"},
		{printf.ErrMessage, "length 0", "ok\n"},
		{printf.ErrArguments, "string without NUL", "ok\n"},
		{printf.ErrArguments, "string without NUL", "ok\n"},
		{printf.ErrLimit, "", "ok\n"},
		{printf.ErrMessage, "no format with hash", "ok\n"},
		{printf.ErrArguments, "0 bytes left", "ok\n"},
		{printf.ErrMessage, "", "ok\n"},
		{printf.ErrMessage, "7 bytes left", ""},
	} {
		for _, target := range serviceTargets {
			t.Run(fmt.Sprintf("%d/%s", mode, target), func(t *testing.T) {
				r := newRig(t, target, runtime.WithPrintfBuffer(64<<10))
				s, k, out := r.stream(), r.kernel("hostile_printf", "hostile_printf"), r.words(1)
				if err := r.launch(s, k, 1, 1, runtime.Ptr(out), runtime.U32(uint32(mode))); err != nil {
					t.Fatal(err)
				}
				d := r.diagnostics()
				expectReport(t, nil, d, c.class, c.text)
				if !strings.HasPrefix(r.out.String(), c.out) || c.out != "" && mode != 10 && r.out.String() != c.out {
					t.Errorf("stdout %.100q, want %q", r.out.String(), c.out)
				}
				// The stream is as good as before.
				if err := r.launch(s, r.kernel("printf_buffered", "printf_buffered"), 1, 32, runtime.Ptr(r.words(16)), runtime.Ptr(r.words(8)), runtime.U32(3)); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(r.out.String(), "last 2 of 3") || len(r.diagnostics()) != len(d) {
					t.Errorf("afterwards: stdout %.100q, diagnostics %v", r.out.String(), r.diagnostics()[len(d):])
				}
			})
		}
	}
}

// TestHostileHeap: noise in the heap's header is named as such, wherever it
// lies, and reading it is harmless.
func TestHostileHeap(t *testing.T) {
	r := newRig(t, "gfx90a")
	out := r.words(17)
	r.run("heap", "heap_kinds", 1, 1, runtime.Ptr(out), runtime.U32(1))
	for seed := range uint64(40) {
		at := uint32(seed * 97 * 4 % 12000)
		r.run("hostile", "hostile_heap", 1, 1, runtime.Ptr(out), runtime.U32(at), runtime.U32(uint32(seed%9)*50+1), runtime.U64(seed))
		h := r.heap()
		if len(h.Problems) > 16 {
			t.Errorf("%d problems", len(h.Problems))
		}
	}
	h := r.heap()
	if len(h.Problems) == 0 || !errors.Is(errors.Join(h.Problems...), runtime.ErrHeapCorrupt) {
		t.Errorf("problems %v", h.Problems)
	}
}

// TestFullPrintfBuffer: a kernel that prints more than the buffer holds gets
// told, lane by lane, and so does the program; the lines that fit are whole.
func TestFullPrintfBuffer(t *testing.T) {
	for _, target := range serviceTargets {
		t.Run(target, func(t *testing.T) {
			r := newRig(t, target, runtime.WithPrintfBuffer(64<<10))
			const lanes, rounds = 256, 50
			refused := r.words(1)
			r.run("hostile_printf", "flood_printf", 4, 64, runtime.Ptr(refused), runtime.U32(rounds))
			lost := int(r.read(refused)[0])
			seen := map[string]bool{}
			for line := range strings.Lines(r.out.String()) {
				var lane, round int
				if n, err := fmt.Sscanf(line, "lane %d round %d\n", &lane, &round); n != 2 || err != nil || lane >= lanes || round >= rounds || seen[line] {
					t.Errorf("line %q", line)
				}
				seen[line] = true
			}
			// A record is 4 + 8 + 2*8 bytes (LLVM AMDGPUEmitPrintf), and the last 8 bytes of the buffer stay free.
			if want := (64<<10 - 8 - 8) / 28; len(seen) != want || lost != lanes*rounds-want {
				t.Errorf("%d lines and %d refusals, want %d of %d lines", len(seen), lost, want, lanes*rounds)
			}
			if d := r.diagnostics(); len(d) != 1 || !errors.Is(d[0], printf.ErrFull) {
				t.Errorf("diagnostics %v", d)
			}
		})
	}
}
