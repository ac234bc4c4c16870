package propertytests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gfxrt/runtime"
	"gfxrt/services/hostcall"
)

// TestPhaseHostcall: device code that speaks the newer form of hostcall, from
// many waves at once.
func TestPhaseHostcall(t *testing.T) {
	const n = 3000
	for _, target := range serviceTargets {
		t.Run(target, func(t *testing.T) {
			r := newRig(t, target, runtime.WithHostcall(runtime.HostcallPhase))
			ret := r.words(n)
			r.run("hostcall_phase", "phase_print", (n+255)/256, 256, runtime.Ptr(ret), runtime.U32(n))
			var want []string
			for i, got := range r.read(ret) {
				line := fmt.Sprintf("lane %d of %d\n", i, n)
				if got != uint64(len(line)) {
					t.Fatalf("lane %d got %d, want %d", i, int64(got), len(line))
				}
				want = append(want, line)
			}
			got := slices.Sorted(strings.Lines(r.out.String()))
			slices.Sort(want)
			if !slices.Equal(got, want) || len(r.diagnostics()) != 0 {
				t.Errorf("%d lines, want %d; diagnostics %v", len(got), len(want), r.diagnostics())
			}
		})
	}
}

func TestHostilePhase(t *testing.T) {
	for mode, c := range []struct {
		class error
		text  string
		out   string
	}{
		// 832 or 9728 packets fill their words, so that the last bit is a
		// packet too: the first one that nobody filled is unknown.
		{hostcall.ErrCorrupt, "unknown service 0", "fine\n"},
		{hostcall.ErrCorrupt, "unknown service 99", ""},
		{nil, "", "fine\n"},
	} {
		for _, target := range serviceTargets {
			t.Run(fmt.Sprintf("%d/%s", mode, target), func(t *testing.T) {
				r := newRig(t, target, runtime.WithHostcall(runtime.HostcallPhase))
				told, err := r.attack(r.kernel("hostcall_phase", "hostile_phase"), 1, 1, runtime.Ptr(r.words(1)), runtime.U32(uint32(mode)))
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
