package exec

import (
	"encoding/binary"
	"testing"

	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// TestAtomicsHaveMeanings: an operation that a table names has arithmetic, or
// the instruction would be refused.
func TestAtomicsHaveMeanings(t *testing.T) {
	for _, names := range []map[string]atomicOp{atomicNames, dsNames, dsTyped} {
		for name, op := range names {
			if !op.known() {
				t.Errorf("%s has no arithmetic", name)
			}
		}
	}
}

// TestPackedBF16Atomics adds bf16 pairs in memory and in LDS of gfx942:
// 1.0 + 0.5, and 2.015625 + 2^-7, which lies half way and goes to even.
func TestPackedBF16Atomics(t *testing.T) {
	const before, add, after = 0x4001_3f80, 0x3c00_3f00, 0x4002_3fc0
	code := []byte{
		0x00, 0x80, 0x48, 0xdd, 0x00, 0x02, 0x7f, 0x00, // global_atomic_pk_add_bf16 v[0:1], v2, off
		0x00, 0x00, 0x70, 0xd9, 0x03, 0x02, 0x00, 0x04, // ds_pk_add_rtn_bf16 v4, v3, v2
	}
	r := newRig(t, "gfx942")
	l := r.launch(append(code, endpgm...))
	g := NewGroup(0)
	g.Start(l, [3]uint32{})
	w := &g.waves[0]
	rows := lane.Rows(w.v, 5)
	for ln := range uint64(w.lanes) {
		addr := r.data.Base + 4*ln
		rows[0][ln], rows[1][ln], rows[2][ln], rows[3][ln] = uint32(addr), uint32(addr>>32), add, uint32(4*ln)
		binary.LittleEndian.PutUint32(r.data.Bytes()[4*ln:], before)
		binary.LittleEndian.PutUint32(w.m.lds[4*ln:], before)
	}
	w.run(2)
	if w.fault != nil {
		t.Fatal(w.fault)
	}
	for ln := range w.lanes {
		if got := binary.LittleEndian.Uint32(r.data.Bytes()[4*ln:]); got != after {
			t.Fatalf("lane %d: memory holds %#x, want %#x", ln, got, uint32(after))
		}
		if got := binary.LittleEndian.Uint32(w.m.lds[4*ln:]); got != after {
			t.Fatalf("lane %d: LDS holds %#x, want %#x", ln, got, uint32(after))
		}
		if old := w.row(isa.OperandVGPR + 4)[ln]; old != before {
			t.Fatalf("lane %d: returned %#x, want %#x", ln, old, uint32(before))
		}
	}
}
