package exec

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"gfxrt/runtime/device"
	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
	"gfxrt/sim/mem"
)

// bufferRig is one hand-made wave with registers, memory, LDS and scratch.
type bufferRig struct {
	t    testing.TB
	w    *Wave
	v    []lane.Row
	data *mem.Region // 8 KiB, filled with noise
	code *mem.Region
	used uint64
	at   map[string]uint64 // code address of instruction bytes
}

const (
	rigVGPRs   = 32
	rigPrivate = 64 // bytes a lane
	rigLDS     = 1024
)

func newBufferRig(t testing.TB, processor string) *bufferRig {
	t.Helper()
	target, err := NewTarget(processor)
	if err != nil {
		t.Fatal(err)
	}
	space := mem.NewSpace(1 << 20)
	t.Cleanup(func() {
		if err := space.Close(); err != nil {
			t.Error(err)
		}
	})
	g := &bufferRig{t: t, at: map[string]uint64{}, v: make([]lane.Row, rigVGPRs)}
	// The data comes last: nothing is mapped behind it.
	for _, r := range []**mem.Region{&g.code, &g.data} {
		if *r, err = space.Alloc(8192, "test"); err != nil {
			t.Fatal(err)
		}
	}
	m := &machineState{space: space, cache: newCodeCache(space, target, false), target: target, lds: make([]byte, rigLDS)}
	g.w = &Wave{m: m, v: &g.v[0], nv: rigVGPRs, acc: rigVGPRs, limit: rigVGPRs, lanes: 64, private: rigPrivate,
		scratch: make([]byte, rigPrivate*64), scratchVA: mem.ScratchBase + 1<<20, tmp: &scratchRows{}}
	g.w.initConstants()
	g.w.setExec(^uint64(0))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range g.data.Bytes() {
		g.data.Bytes()[i] = byte(rng.Uint32())
	}
	for r := range g.v {
		for l := range g.v[r] {
			g.v[r][l] = rng.Uint32()
		}
	}
	return g
}

// run executes one instruction given as hex bytes, after lifting an earlier
// fault.
func (g *bufferRig) run(code string) {
	g.t.Helper()
	va, ok := g.at[code]
	if !ok {
		b, err := hex.DecodeString(code)
		if err != nil {
			g.t.Fatal(err)
		}
		va = g.code.Base + g.used
		copy(g.code.Bytes()[g.used:], b)
		g.used += uint64(len(b))
		g.at[code] = va
	}
	g.w.state, g.w.fault = running, nil
	g.w.jump(va)
	g.w.run(1)
}

// ok is run of an instruction that must not fault.
func (g *bufferRig) ok(code string) {
	g.t.Helper()
	g.run(code)
	if g.w.fault != nil {
		g.t.Fatal(g.w.fault)
	}
}

// fault is run of an instruction that must fault in the given way.
func (g *bufferRig) fault(code string, kind device.FaultKind, reason string) {
	g.t.Helper()
	g.run(code)
	if f := g.w.fault; f == nil || f.Kind != kind || !strings.Contains(f.Reason, reason) {
		g.t.Fatalf("fault is %v, want %v with %q", f, kind, reason)
	}
}

// descriptor writes a V# into s[n:n+3].
func (g *bufferRig) descriptor(n int, base uint64, stride, records, w3 uint32, swizzle bool) {
	copy(g.w.S[n:], []uint32{uint32(base), uint32(base>>32) | stride<<16 | b2u(swizzle)<<31, records, w3})
}

func (g *bufferRig) fill(v int, f func(l int) uint32) {
	for l := range g.v[v] {
		g.v[v][l] = f(l)
	}
}

func (g *bufferRig) word(off uint64) uint32 { return binary.LittleEndian.Uint32(g.data.Bytes()[off:]) }

func (g *bufferRig) expect(v, l int, want uint32) {
	g.t.Helper()
	if got := g.v[v][l]; got != want {
		g.t.Errorf("v%d lane %d is %#x, want %#x", v, l, got, want)
	}
}

// Descriptor word 3 of a 32-bit uint buffer with identity selects and of the
// private segment (abi.md C.5), and the bit that adds the thread number.
const (
	w3Raw     = 4<<15 | 4<<12 | 0xfac
	w3Private = 0x00EA4FAC
	w3AddTID  = 1 << 23
)

// All encodings are llvm-mc's for gfx90a.
const (
	loadX4    = "00105ce001060280" // buffer_load_dwordx4 v[6:9], v1, s[8:11], 0 offen
	storeX3   = "001078e001060203" // buffer_store_dwordx3 v[6:8], v1, s[8:11], s3 offen
	loadOffen = "081050e001050203" // buffer_load_dword v5, v1, s[8:11], s3 offen offset:8
	loadIdxen = "082050e001050203" // buffer_load_dword v5, v1, s[8:11], s3 idxen offset:8
)

func TestBufferRangeChecksEachDword(t *testing.T) {
	g := newBufferRig(t, "gfx90a")
	// 30 bytes: the dword at 28 is cut off.
	g.descriptor(8, g.data.Base, 0, 30, w3Raw, false)
	g.fill(1, func(l int) uint32 { return uint32(l) * 4 })
	g.ok(loadX4)
	for l := range 64 {
		for k := range 4 {
			want := uint32(0)
			if off := (l + k) * 4; off+4 <= 30 {
				want = g.word(uint64(off))
			}
			g.expect(6+k, l, want)
		}
	}

	// Stores drop the dwords that are outside; SOFFSET counts.
	before := append([]byte(nil), g.data.Bytes()...)
	g.w.S[3] = 16
	g.w.setExec(1)
	g.fill(1, func(int) uint32 { return 8 })
	g.fill(6, func(int) uint32 { return 0x11111111 })
	g.ok(storeX3)
	binary.LittleEndian.PutUint32(before[24:], 0x11111111)
	if string(before) != string(g.data.Bytes()) {
		t.Error("a store reached beyond the buffer or missed its only dword")
	}
}

func TestBufferStructuredChecksIndex(t *testing.T) {
	g := newBufferRig(t, "gfx90a")
	g.descriptor(8, g.data.Base+64, 12, 5, w3Raw, false)
	g.w.S[3] = 4
	g.fill(1, func(l int) uint32 { return uint32(l) })
	g.ok(loadIdxen)
	for l := range 64 {
		want := uint32(0)
		if l < 5 {
			want = g.word(64 + 4 + uint64(l)*12 + 8)
		}
		g.expect(5, l, want)
	}
	// The same descriptor without IDXEN counts bytes: 5 of them.
	g.w.S[3] = 0
	g.fill(1, func(l int) uint32 { return uint32(l) - 8 }) // cancels offset:8
	g.ok(loadOffen)
	g.expect(5, 0, g.word(64))
	g.expect(5, 1, g.word(65))
	g.expect(5, 2, 0)
}

func TestBufferThreadIndex(t *testing.T) {
	const load = "080050e000050203" // buffer_load_dword v5, off, s[8:11], s3 offset:8
	g := newBufferRig(t, "gfx90a")
	g.w.S[3] = 4
	// Without IDXEN the lane is the index, and nothing is range-checked.
	g.descriptor(8, g.data.Base, 20, 0, w3AddTID, false)
	g.ok(load)
	for l := range 64 {
		g.expect(5, l, g.word(uint64(12+20*l)))
	}
	// The data format is bits 17:14 of the stride.
	g.descriptor(8, g.data.Base, 20, 0, w3AddTID|2<<15, false)
	g.fault(load, device.FaultMemory, "")
	if want := g.data.Base + 12 + 20 + 2<<14; g.w.fault.Lane != 1 || g.w.fault.Addr != want {
		t.Errorf("fault in lane %d at %#x, want lane 1 at %#x", g.w.fault.Lane, g.w.fault.Addr, want)
	}
	// With IDXEN a linear buffer has the VGPR's index alone.
	g.descriptor(8, g.data.Base, 20, 64, w3AddTID|2<<15, false)
	g.fill(1, func(l int) uint32 { return uint32(l) ^ 63 })
	g.ok(loadIdxen)
	for l := range 64 {
		g.expect(5, l, g.word(uint64(12+20*(63-l))))
	}
	// A swizzled one adds the lane to it: record 2*l, in groups of 8.
	g.descriptor(8, g.data.Base, 20, 64, w3AddTID, true)
	g.fill(1, func(l int) uint32 { return uint32(l) })
	g.w.setExec(1<<32 - 1)
	g.ok(loadIdxen)
	for l := range 32 {
		g.expect(5, l, g.word(uint64(4+(2*l/8*20+8)*8+2*l%8*4)))
	}
}

func TestBufferFaults(t *testing.T) {
	g := newBufferRig(t, "gfx90a")
	g.descriptor(8, g.data.Base, 0, 1<<20, w3Raw, false)
	g.fill(1, func(l int) uint32 { return uint32(l) << 8 })
	g.fault(loadX4, device.FaultMemory, "read of 4 bytes")
	if g.w.fault.Lane != 32 {
		t.Errorf("fault in lane %d, want 32, the first beyond the allocation", g.w.fault.Lane)
	}
	g.descriptor(8, g.data.Base, 0, 64, 1<<30|w3Raw, false)
	g.fault(loadX4, device.FaultIllegal, "resource type 1")

	// An INVALID data format is an unbound resource: loads give 0.
	g.descriptor(8, g.data.Base, 0, 64, 0xfac, false)
	g.fill(1, func(l int) uint32 { return 0 })
	g.ok(loadX4)
	g.expect(6, 0, 0)
	// v[30:33] does not exist in a wave of 32 registers.
	g.descriptor(8, g.data.Base, 0, 64, w3Raw, false)
	g.fault("00105ce0011e0280", device.FaultIllegal, "reaches VGPR 33") // buffer_load_dwordx4 v[30:33], v1, s[8:11], 0 offen
}

func TestBufferSmallLoads(t *testing.T) {
	g := newBufferRig(t, "gfx90a")
	g.descriptor(8, g.data.Base, 0, 8, w3Raw, false)
	copy(g.data.Bytes(), []byte{0x81, 0x92, 0xa3, 0xb4})
	for _, c := range []struct {
		text, code string
		off        uint32
		want       uint32
	}{
		{"buffer_load_ubyte v6, v1, s[8:11], 0 offen", "001040e001060280", 1, 0x92},
		{"buffer_load_sbyte v6, v1, s[8:11], 0 offen", "001044e001060280", 1, 0xffffff92},
		{"buffer_load_ushort v6, v1, s[8:11], 0 offen", "001048e001060280", 1, 0xa392},
		{"buffer_load_sshort v6, v1, s[8:11], 0 offen", "00104ce001060280", 2, 0xffffb4a3},
		{"buffer_load_short_d16_hi v6, v1, s[8:11], 0 offen", "001094e001060280", 0, 0x92815555},
		{"buffer_load_ubyte_d16 v6, v1, s[8:11], 0 offen", "001080e001060280", 0, 0x55550081},
		{"buffer_load_sshort v6, v1, s[8:11], 0 offen", "00104ce001060280", 7, 0}, // ends outside
	} {
		g.fill(1, func(int) uint32 { return c.off })
		g.fill(6, func(int) uint32 { return 0x55555555 })
		g.ok(c.code)
		t.Log(c.text)
		g.expect(6, 63, c.want)
	}
	g.w.setExec(1 << 5)
	g.fill(5, func(int) uint32 { return 0xcafe1234 })
	g.fill(1, func(int) uint32 { return 1 })
	g.ok("00106ce001050280") // buffer_store_short_d16_hi v5, v1, s[8:11], 0 offen
	if got := g.word(0); got != 0xb4cafe81 {
		t.Errorf("memory is %#x", got)
	}
}

func TestBufferAtomics(t *testing.T) {
	const (
		addRet   = "005008e101050280" // buffer_atomic_add v5, v1, s[8:11], 0 offen glc
		add      = "001008e101050280" // buffer_atomic_add v5, v1, s[8:11], 0 offen
		cmpswap  = "005004e101060280" // buffer_atomic_cmpswap v[6:7], v1, s[8:11], 0 offen glc
		addX2Ret = "005088e101060280" // buffer_atomic_add_x2 v[6:7], v1, s[8:11], 0 offen glc
	)
	g := newBufferRig(t, "gfx90a")
	clear(g.data.Bytes())
	g.descriptor(8, g.data.Base, 0, 128, w3Raw, false)
	// All lanes add their number plus one at 0 or 128; the latter is outside.
	g.fill(1, func(l int) uint32 { return uint32(l) % 2 * 128 })
	g.fill(5, func(l int) uint32 { return uint32(l) + 1 })
	g.ok(addRet)
	sum := uint32(0)
	for l := 0; l < 64; l += 2 {
		g.expect(5, l, sum)
		g.expect(5, l+1, 0)
		sum += uint32(l) + 1
	}
	if got := g.word(0); got != sum {
		t.Errorf("sum %d, want %d", got, sum)
	}
	g.fill(5, func(l int) uint32 { return 1 })
	g.ok(add)
	g.expect(5, 0, 1)
	if got := g.word(0); got != sum+32 {
		t.Errorf("sum %d, want %d", got, sum+32)
	}
	if got := g.word(128); got != 0 {
		t.Errorf("an atomic outside the buffer left %d", got)
	}

	g.w.setExec(3)
	g.fill(1, func(l int) uint32 { return uint32(l) * 8 })
	g.fill(6, func(l int) uint32 { return 77 })
	g.fill(7, func(l int) uint32 { return sum + 32 }) // comparand: only lane 0 matches
	g.ok(cmpswap)
	g.expect(6, 0, sum+32)
	g.expect(6, 1, 0)
	if g.word(0) != 77 || g.word(8) != 0 {
		t.Errorf("memory is %d, %d", g.word(0), g.word(8))
	}

	binary.LittleEndian.PutUint64(g.data.Bytes(), 0xffffffff)
	g.fill(6, func(l int) uint32 { return 1 })
	g.fill(7, func(l int) uint32 { return 2 })
	g.ok(addX2Ret)
	g.expect(6, 0, 0xffffffff)
	if g.word(0) != 0 || g.word(4) != 3 {
		t.Errorf("memory is %#x, %#x", g.word(0), g.word(4))
	}

	g.fill(1, func(int) uint32 { return 0x7fffffff })
	g.fault(add, device.FaultMemory, "multiple of its size")
	g.descriptor(8, g.data.Base, 0, 128, w3Private, true)
	g.fault(addX2Ret, device.FaultIllegal, "64-bit atomic on a swizzled buffer")
}

func TestBufferLDS(t *testing.T) {
	g := newBufferRig(t, "gfx90a")
	g.descriptor(8, g.data.Base, 0, 256, w3Raw, false)
	g.w.S[3] = 4
	g.w.S[isa.OperandM0] = 0x10064 // only bits 15:0 count
	g.fill(1, func(l int) uint32 { return uint32(l) * 4 })
	lds := func(l int) uint32 { return binary.LittleEndian.Uint32(g.w.m.lds[0x64+8+l*4:]) }
	for i := range g.w.m.lds {
		g.w.m.lds[i] = 0xee
	}
	g.w.setExec(^uint64(2))
	g.ok("081051e001000203") // buffer_load_dword v1, s[8:11], s3 offen offset:8 lds
	for l := range 64 {
		want := uint32(0) // out of range writes 0
		switch off := uint64(l*4 + 12); {
		case l == 1:
			want = 0xeeeeeeee // inactive
		case off+4 <= 256:
			want = g.word(off)
		}
		if got := lds(l); got != want {
			t.Errorf("LDS of lane %d is %#x, want %#x", l, got, want)
		}
	}
	g.data.Bytes()[12] = 0x80
	g.ok("081045e001000203") // buffer_load_sbyte v1, s[8:11], s3 offen offset:8 lds
	if got := lds(0); got != 0xffffff80 {
		t.Errorf("sign-extended byte in LDS is %#x", got)
	}
	// Beyond the group's LDS nothing is written.
	g.w.S[isa.OperandM0] = rigLDS - 8 - 4
	g.ok("081051e001000203")

	g.w.S[isa.OperandM0] = 0x20
	for i := range g.w.m.lds {
		g.w.m.lds[i] = byte(i)
	}
	g.descriptor(8, g.data.Base, 4, 1<<16, w3AddTID|w3Raw&^(0xf<<15), false) // thread buffer of stride 4
	g.ok("0800f5e000000203")                                                 // buffer_store_lds_dword s[8:11], s3 offset:8 lds
	for _, l := range []int{0, 2, 63} {
		if got, want := g.word(uint64(4+8+l*4)), binary.LittleEndian.Uint32(g.w.m.lds[0x28+l*4:]); got != want {
			t.Errorf("lane %d stored %#x, want %#x", l, got, want)
		}
	}
}

func TestBufferCacheControl(t *testing.T) {
	g := newBufferRig(t, "gfx90a")
	for _, c := range []string{
		"0000f8e000000000", // buffer_wbinvl1
		"0000fce000000000", // buffer_wbinvl1_vol
		"0000a0e000000000", // buffer_wbl2
		"0000a4e000000000", // buffer_invl2
	} {
		g.ok(c)
	}
	newBufferRig(t, "gfx942").ok("0080a4e000000000") // buffer_inv sc1
}

func TestBufferTFE(t *testing.T) {
	// gfx900..gfx908 have TFE where gfx90a has ACC, so the instruction is
	// buffer_load_dword v[5:6], off, s[8:11], 0 tfe, made by hand.
	in := &inst{coldInst: &coldInst{i: &isa.Inst{Op: isa.BufferLoadDword, Enc: isa.EncMUBUF, Flags: isa.FlagTFE, Dst: isa.OperandVGPR + 5,
		Src: [4]isa.Operand{isa.OperandNone, 8, isa.OperandInt, isa.OperandNone}}}}
	run := compileBuffer(in, "load_dword")
	if in.maxV != 7 {
		t.Errorf("the load reaches %d registers, want 7", in.maxV)
	}
	g := newBufferRig(t, "gfx90a")
	g.descriptor(8, g.data.Base, 0, 4, w3Raw, false)
	g.w.setExec(2)
	keep := g.v[6][0]
	run(g.w, in)
	g.expect(5, 1, g.word(0))
	g.expect(6, 1, 0) // no texel failed
	g.expect(6, 0, keep)
}
