package elf_test

import (
	"errors"
	"fmt"
	"testing"

	"gfxrt/elf"
)

func TestParseTarget(t *testing.T) {
	for _, id := range []string{"gfx900", "gfx90a", "gfx90a:sramecc+:xnack-", "gfx906:xnack+", "gfx9-4-generic:sramecc-", "gfx1250"} {
		if tg := target(t, id); tg.String() != id {
			t.Errorf("%s reads as %s", id, tg)
		}
	}
	for id, want := range map[string]error{
		"":                       elf.ErrUnsupported,
		"gfx1":                   elf.ErrUnsupported,
		"gfx90a:":                elf.ErrInvalid,
		"gfx90a:xnack":           elf.ErrInvalid,
		"gfx90a:xnack+-":         elf.ErrInvalid,
		"gfx90a:xnack+:sramecc+": elf.ErrInvalid, // not in alphabetical order
		"gfx90a:xnack+:xnack+":   elf.ErrInvalid,
		"gfx1030:xnack+":         elf.ErrInvalid, // clang rejects these three
		"gfx1250:xnack+":         elf.ErrInvalid,
		"gfx900:sramecc+":        elf.ErrInvalid,
	} {
		if tg, err := elf.ParseTarget(id); !errors.Is(err, want) || tg != (elf.Target{}) {
			t.Errorf("%q: %v, %v", id, tg, err)
		}
	}
}

func TestCompatible(t *testing.T) {
	for _, c := range []struct {
		code, device string
		want         bool
	}{
		{"gfx90a", "gfx90a:sramecc+:xnack-", true},
		{"gfx90a:xnack+", "gfx90a:sramecc+:xnack-", false},
		{"gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-", true},
		{"gfx90a:xnack+", "gfx90a", true},
		{"gfx90a", "gfx942", false},
		{"gfx9-4-generic", "gfx942:sramecc+:xnack-", true},
		{"gfx9-4-generic:xnack+", "gfx942:sramecc+:xnack-", false},
		{"gfx9-4-generic", "gfx90a", false},
		{"gfx9-generic", "gfx906", true},
		{"gfx9-generic", "gfx908", false},
		{"gfx9-generic", "gfx90a", false},
		{"gfx942", "gfx9-4-generic", false},
		{"gfx10-3-generic", "gfx1036", true},
		{"gfx10-1-generic", "gfx1030", false},
		{"gfx11-generic", "gfx1153", true},
		{"gfx12-generic", "gfx1250", false},
	} {
		if got := elf.Compatible(target(t, c.code), target(t, c.device)); got != c.want {
			t.Errorf("code %s on device %s: %v", c.code, c.device, got)
		}
	}
}

func TestGenericMembers(t *testing.T) {
	for generic, lowest := range map[string]string{"gfx9-generic": "gfx900", "gfx9-4-generic": "gfx942", "gfx10-1-generic": "gfx1010",
		"gfx10-3-generic": "gfx1030", "gfx11-generic": "gfx1100", "gfx12-generic": "gfx1200"} {
		if got := target(t, generic).Concrete().Processor; got != lowest {
			t.Errorf("%s runs as %s, want %s", generic, got, lowest)
		}
	}
	if m := elf.GenericMembers("gfx942"); m != nil {
		t.Errorf("gfx942 has members %v", m)
	}
}

// TestProcessorFacts checks what LLVM AMDGPUUsage says of each family: wave
// sizes, architected flat scratch and packed work-item ids.
func TestProcessorFacts(t *testing.T) {
	for _, c := range []struct {
		id          string
		waves       string
		architected bool
		packed      bool
	}{
		{"gfx900", "[64]", false, false},
		{"gfx908", "[64]", false, false},
		{"gfx90a", "[64]", false, true},
		{"gfx942", "[64]", true, true},
		{"gfx1030", "[32 64]", false, false},
		{"gfx1100", "[32 64]", true, true},
		{"gfx1201", "[32 64]", true, true},
		{"gfx1250", "[32]", true, true},
	} {
		tg := target(t, c.id)
		if got := fmt.Sprint(tg.WaveSizes()); got != c.waves || tg.ArchitectedFlatScratch() != c.architected || tg.PackedWorkItemID() != c.packed {
			t.Errorf("%s: waves %s, architected %v, packed %v", c.id, got, tg.ArchitectedFlatScratch(), tg.PackedWorkItemID())
		}
	}
	seen := map[string]bool{}
	for _, name := range elf.Processors() {
		if tg := target(t, name); tg.Generation() == 0 || seen[name] {
			t.Errorf("%s: generation %d, twice: %v", name, tg.Generation(), seen[name])
		}
		seen[name] = true
	}
}
