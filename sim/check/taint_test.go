package check

import (
	"encoding/hex"
	"testing"

	"gfxrt/sim/exec"
	"gfxrt/sim/isa"
)

// step is an instruction as llvm-mc assembles it for gfx90a, and the memory
// that its lanes touch.
type step struct {
	code  string
	exec  uint64 // 0: all lanes
	space exec.MemSpace
	addr  uint64 // of lane 0; the others follow each other
	bytes uint32 // 0: no memory
	group int
	want  string // where an approximate result arrives, "" when nowhere
}

const (
	rcpV1     = "0045027e"         // v_rcp_f32 v1, v0
	cvtV2V1   = "010f047e"         // v_cvt_u32_f32 v2, v1
	zeroV2    = "8002047e"         // v_mov_b32 v2, 0
	loadV3V2  = "008050dc02000003" // global_load_dword v3, v2, s[0:1]
	cmpVCCV1  = "8002887c"         // v_cmp_gt_f32 vcc, 0, v1
	vccnz     = "000087bf"         // s_cbranch_vccnz 0
	cndmaskV4 = "050d0800"         // v_cndmask_b32 v4, v5, v6, vcc
	dsWriteV1 = "00001ad805010000" // ds_write_b32 v5, v1
	dsReadV7  = "00006cd805000007" // ds_read_b32 v7, v5
	firstS4   = "0705087e"         // v_readfirstlane_b32 s4, v7
	sloadS4   = "400100c004000000" // s_load_dword s5, s[0:1], s4
	storeV1   = "008070dc05010000" // global_store_dword v5, v1, s[0:1]
	loadV8    = "008050dc05000008" // global_load_dword v8, v5, s[0:1]
	atomicV8  = "008034dd05080000" // global_atomic_add_f32 v5, v8, s[0:1]
	saveexec  = "6a2086be"         // s_and_saveexec_b64 s[6:7], vcc
	cmpS4     = "048006bf"         // s_cmp_eq_u32 s4, 0
	scc1      = "000085bf"         // s_cbranch_scc1 0
)

func TestWhereApproximateResultsArrive(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"an address", []step{
			{code: rcpV1}, {code: cvtV2V1}, {code: loadV3V2, addr: 0x1000, bytes: 4, want: "address"},
		}},
		{"a register that something exact replaced", []step{
			{code: rcpV1}, {code: cvtV2V1}, {code: zeroV2}, {code: loadV3V2, addr: 0x1000, bytes: 4},
		}},
		{"lanes that did not compute it", []step{
			{code: rcpV1, exec: 1}, {code: cvtV2V1}, {code: loadV3V2, exec: ^uint64(1), addr: 0x1000, bytes: 4},
			{code: loadV3V2, exec: 1, addr: 0x1000, bytes: 4, want: "address"},
		}},
		{"a branch", []step{{code: rcpV1}, {code: cmpVCCV1}, {code: vccnz, want: "branch"}}},
		{"EXEC", []step{{code: rcpV1}, {code: cmpVCCV1}, {code: saveexec, want: "branch"}}},
		{"a branch about exact values", []step{{code: cmpVCCV1}, {code: rcpV1}, {code: vccnz}, {code: saveexec}}},
		{"a choice of operands", []step{
			{code: rcpV1}, {code: cmpVCCV1}, {code: cndmaskV4},
			{code: "00001ad804040000", space: exec.SpaceLDS, bytes: 4, want: "address"}, // ds_write_b32 v4, v4
		}},
		{"LDS, then scalars", []step{
			{code: rcpV1}, {code: dsWriteV1, space: exec.SpaceLDS, addr: 64, bytes: 4},
			{code: dsReadV7, space: exec.SpaceLDS, addr: 1024, bytes: 4}, {code: firstS4}, {code: sloadS4, addr: 0x1000, bytes: 4},
			{code: dsReadV7, space: exec.SpaceLDS, addr: 66, bytes: 4}, {code: firstS4}, {code: sloadS4, addr: 0x1000, bytes: 4, want: "address"},
			{code: cmpS4}, {code: scc1, want: "branch"},
		}},
		{"the LDS of another group", []step{
			{code: rcpV1}, {code: dsWriteV1, space: exec.SpaceLDS, addr: 64, bytes: 4},
			{code: dsReadV7, space: exec.SpaceLDS, addr: 64, bytes: 4, group: 1}, {code: firstS4, group: 1}, {code: sloadS4, addr: 0x1000, bytes: 4, group: 1},
		}},
		{"memory, then an atomic of another group", []step{
			{code: rcpV1}, {code: storeV1, addr: 0x2000, bytes: 4},
			{code: loadV8, addr: 0x2000, bytes: 4, group: 1}, {code: atomicV8, addr: 0x3000, bytes: 4, group: 1, want: "sync"},
		}},
		{"memory that an exact store replaced", []step{
			{code: rcpV1}, {code: storeV1, addr: 0x2000, bytes: 4}, {code: storeV1, addr: 0x2000, bytes: 4, group: 1},
			{code: loadV8, addr: 0x2000, bytes: 4}, {code: atomicV8, addr: 0x3000, bytes: 4},
		}},
	} {
		t.Run(c.name, func(t *testing.T) { follow(t, c.steps) })
	}
}

// follow feeds steps to fresh probes and compares after each what was reported.
func follow(t *testing.T, steps []step) {
	d, err := isa.NewDecoder("gfx90a")
	if err != nil {
		t.Fatal(err)
	}
	f := NewFidelity()
	groups := []exec.Probe{f.Probe(0x100, [3]uint32{}), f.Probe(0x100, [3]uint32{1, 0, 0})}
	for pc, s := range steps {
		code, err := hex.DecodeString(s.code)
		if err != nil {
			t.Fatal(err)
		}
		in, err := d.Decode(code)
		if err != nil {
			t.Fatalf("step %d: %v", pc, err)
		}
		ev := exec.Step{PC: uint64(pc), Inst: &in, Lanes: 64, VGPRs: 32, Acc: 32, Exec: s.exec}
		if s.exec == 0 {
			ev.Exec = ^uint64(0)
		}
		for l := 0; l < 64 && s.bytes > 0; l++ {
			if ev.Exec>>l&1 != 0 {
				ev.Touches = append(ev.Touches, exec.Touch{Space: s.space, Lane: l, Addr: s.addr + uint64(l)*4, Bytes: s.bytes})
			}
		}
		if in.Enc == isa.EncSMEM {
			ev.Touches = []exec.Touch{{Lane: -1, Addr: s.addr, Bytes: s.bytes}}
		}
		before := f.Report()
		groups[s.group].Step(&ev)
		after := f.Report()
		got := ""
		for name, n := range map[string]int{
			"address": len(after.Addresses) - len(before.Addresses), "branch": len(after.Branches) - len(before.Branches), "sync": len(after.Syncs) - len(before.Syncs),
		} {
			if n > 0 {
				got += name
			}
		}
		if got != s.want {
			t.Errorf("step %d, %s: approximate result reaches %q, want %q", pc, d.Format(&in, 0), got, s.want)
		}
	}
}
