package lane

import (
	"testing"

	"pgregory.net/rapid"
)

// TestCrossLaneRows: the fast forms give what the plain ones give.
func TestCrossLaneRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRand(t)
		exec := drawExec(t)
		in := [5]Row{randomRow(r), randomRow(r), randomRow(r), randomRow(r), randomRow(r)}
		same := func(what string, f, g func(v *[5]Row) uint64) {
			got, want := in, in
			if a, b := f(&got), g(&want); a != b {
				t.Fatalf("%s: mask %#x, want %#x", what, a, b)
			}
			if got != want {
				t.Fatalf("%s differs", what)
			}
		}
		d, s := rapid.IntRange(0, 2).Draw(t, "d"), rapid.IntRange(0, 2).Draw(t, "s")
		ctrl := rapid.OneOf(rapid.Uint32Range(0, 0x180), rapid.SampledFrom([]uint32{0x1B, 0x101, 0x111, 0x142, 0x143, 0x138, 0x140, 0x151, 0xFFFFFFFF})).Draw(t, "ctrl")
		rows, banks, bound := uint8(r.IntN(16)), uint8(r.IntN(16)), r.IntN(2) == 0
		if r.IntN(2) == 0 {
			rows, banks = 15, 15
		}
		n := rapid.IntRange(1, 2).Draw(t, "rows")
		same("dpp", func(v *[5]Row) uint64 { return DPPRow(&v[d], &v[s], n, exec, ctrl, rows, banks, bound) },
			func(v *[5]Row) uint64 { return DPPSource(&v[d], &v[s], n, exec, ctrl, rows, banks, bound) })
		off := r.Uint32()
		same("bpermute", func(v *[5]Row) uint64 { BpermuteRow(&v[d], &v[s], &v[2], off, exec, 64); return 0 },
			func(v *[5]Row) uint64 { DSBpermute(&v[d], &v[s], &v[2], off, exec, 64); return 0 })
		sel, sext := uint8(r.IntN(7)), r.IntN(2) == 0
		same("sdwa", func(v *[5]Row) uint64 { SDWARow(&v[d], &v[s], sel, sext); return 0 },
			func(v *[5]Row) uint64 { SDWASource(&v[d], &v[s], sel, sext); return 0 })
		same("half", func(v *[5]Row) uint64 { Select16Row(&v[d], &v[s], sext); return 0 },
			func(v *[5]Row) uint64 { Select16(&v[d], &v[s], sext); return 0 })
	})
}
