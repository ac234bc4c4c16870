package exec

import (
	"bufio"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"gfxrt/runtime/device"
	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
	"gfxrt/sim/mem"
)

// rig is a machine with code and data memory and one group of one wave.
type rig struct {
	m    *Machine
	code *mem.Region
	data *mem.Region
}

func newRig(t testing.TB, processor string) *rig {
	t.Helper()
	tg, err := NewTarget(processor)
	if err != nil {
		t.Fatal(err)
	}
	s := mem.NewSpace(1 << 30)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &rig{m: NewMachine(tg, s, false)}
	r.m.Clock = func() uint64 { return 12345 }
	r.m.Cycles = func() uint64 { return 67890 }
	if r.code, err = s.Alloc(64<<10, "code"); err != nil {
		t.Fatal(err)
	}
	if r.data, err = s.Alloc(64<<10, "data"); err != nil {
		t.Fatal(err)
	}
	return r
}

// launch describes one group of one wave that runs the given code.
func (r *rig) launch(code []byte) *Launch {
	copy(r.code.Bytes(), code)
	r.m.InvalidateCode(r.code.Base, r.code.Size)
	l := &Launch{
		Machine: r.m, Entry: r.code.Base, Grid: [3]uint32{64, 1, 1}, Block: [3]uint32{64, 1, 1},
		VGPRs: 512, AccOffset: 256, Mode: 0x2f0, LDSBytes: 4096, PrivateBytes: 256, GWS: &GWS{},
	}
	l.Prepare()
	return l
}

var endpgm = []byte{0x00, 0x00, 0x81, 0xbf}

// TestEveryInstructionExecutes runs the example of every opcode of the tables,
// image instructions apart, and accepts any end but "unimplemented".
func TestEveryInstructionExecutes(t *testing.T) {
	for _, p := range []string{"gfx90a", "gfx942"} {
		t.Run(p, func(t *testing.T) {
			r := newRig(t, p)
			f, err := os.Open("../isa/ops/" + p + ".tsv")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			ran := 0
			for sc := bufio.NewScanner(f); sc.Scan(); {
				col := strings.Split(sc.Text(), "\t")
				if col[0] == "MIMG" || strings.Contains(col[5], "/*Invalid register") {
					continue
				}
				code, err := hex.DecodeString(col[4])
				if err != nil {
					t.Fatal(err)
				}
				r.one(t, col[5], code)
				ran++
			}
			if ran < 1500 {
				t.Errorf("only %d instructions in the table", ran)
			}
		})
	}
}

// notForWaves are known instructions that a compute wave in user mode cannot
// complete; each ends in a fault that says so.
var notForWaves = map[string]bool{"s_sendmsg": true, "s_sendmsghalt": true, "s_getreg_b32": true, "s_setreg_b32": true, "s_setreg_imm32_b32": true}

func (r *rig) one(t *testing.T, text string, code []byte) {
	t.Helper()
	l := r.launch(append(append([]byte{}, code...), endpgm...))
	g := NewGroup(0)
	g.Start(l, [3]uint32{})
	w := &g.waves[0]
	// Addresses point into the data region, whichever registers hold them.
	for i := range lane.Rows(w.v, 256) {
		row := &lane.Rows(w.v, 256)[i]
		for ln := range row {
			row[ln] = uint32(r.data.Base)
			if i&1 == 1 {
				row[ln] = uint32(r.data.Base >> 32)
			}
		}
	}
	for i := range 100 {
		w.S[i] = uint32(r.data.Base)
		if i&1 == 1 {
			w.S[i] = uint32(r.data.Base >> 32)
		}
	}
	w.setS64(isa.OperandFlatScratchLo, w.scratchVA)
	w.run(2)
	if f := w.fault; f != nil && (f.Kind == device.FaultUnimplemented || strings.Contains(f.Reason, "unknown encoding") && !strings.HasSuffix(text, "v0, v0, v[0:1]")) {
		if name, _, _ := strings.Cut(text, " "); !notForWaves[name] {
			t.Errorf("%s: %v", text, f)
		}
	}
}

// TestLDSDirectIsRefused: the operand must not read as a silent zero.
func TestLDSDirectIsRefused(t *testing.T) {
	r := newRig(t, "gfx90a")
	g := NewGroup(0)
	g.Start(r.launch([]byte{0xfe, 0x02, 0x00, 0x7e}), [3]uint32{}) // v_mov_b32 v0, src_lds_direct
	g.waves[0].run(1)
	if f := g.waves[0].fault; f == nil || f.Kind != device.FaultIllegal || !strings.Contains(f.Reason, "lds_direct") {
		t.Errorf("fault %v, want an illegal instruction that names the operand", f)
	}
}
