package aql

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func packetOf(t *testing.T, dump string) *Packet {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(dump), ""))
	if err != nil || len(b) != PacketSize {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	p := Packet(b)
	return &p
}

func TestHeader(t *testing.T) {
	// Values that ROCm's CLR writes.
	for _, c := range []struct {
		got  Header
		want uint16
	}{
		{MakeHeader(TypeKernelDispatch, true, ScopeSystem, ScopeSystem), 0x1502},
		{MakeHeader(TypeBarrierAnd, true, ScopeSystem, ScopeSystem), 0x1503},
		{MakeHeader(TypeVendorSpecific, true, ScopeSystem, ScopeSystem), 0x1500},
		{MakeHeader(TypeKernelDispatch, false, ScopeAgent, ScopeNone), 0x0202},
		{HeaderInvalid, 1},
	} {
		if uint16(c.got) != c.want {
			t.Errorf("header %#04x, want %#04x", uint16(c.got), c.want)
		}
	}
	h := Header(0x0d05)
	if h.Type() != TypeBarrierOr || !h.Barrier() || h.Acquire() != ScopeSystem || h.Release() != ScopeAgent {
		t.Errorf("0x0d05 parsed as %v %v %v %v", h.Type(), h.Barrier(), h.Acquire(), h.Release())
	}
}

// The dumps are written by hand from the offset tables in hsa.h and
// hsa_ext_amd.h.
var packetCases = []struct {
	name string
	dump string
	want Value
}{
	{"kernel dispatch", `
		0215 0300 0001 0200 0100 0000  e8030000 04000000 01000000
		80000000 00020000  4032 1000 007f 0000  1000 2000 007f 0000
		efbeadde 00000000  c000 3000 007f 0000`,
		&KernelDispatch{Header: 0x1502, Setup: 3, WorkgroupSize: [3]uint16{256, 2, 1}, GridSize: [3]uint32{1000, 4, 1},
			PrivateSegmentSize: 128, GroupSegmentSize: 512, KernelObject: 0x7f0000103240, KernargAddress: 0x7f0000200010,
			Reserved2: 0xdeadbeef, CompletionSignal: 0x7f00003000c0}},
	{"barrier-AND", `
		0315 0000 00000000  4000000000000000 8000000000000000 0000000000000000
		0000000000000000 c000000000000000  0000000000000000  0001000000000000`,
		&Barrier{Header: 0x1503, DepSignal: [5]uint64{0x40, 0x80, 0, 0, 0xc0}, CompletionSignal: 0x100}},
	{"barrier value", `
		0015 02 00 00000000  4000000000000000  ffffffffffffffff  ff00000000000000
		03000000 00000000  0000000000000000 0000000000000000  8000000000000000`,
		&BarrierValue{Header: 0x1500, AmdFormat: FormatBarrierValue, Signal: 0x40, Value: -1, Mask: 0xff, Cond: ConditionGTE, CompletionSignal: 0x80}},
	{"agent dispatch", `
		0411 3412 00000000  1000000000000000  0100000000000000 0200000000000000
		0300000000000000 0400000000000000  0000000000000000  0000000000000000`,
		&AgentDispatch{Header: 0x1104, Type: 0x1234, ReturnAddress: 16, Arg: [4]uint64{1, 2, 3, 4}}},
	{"PM4 IB", `
		0015 0100  003f02c0 00100020 01000000 20008000  0a000000
		0000000000000000 0000000000000000 0000000000000000 0000000000000000  4000000000000000`,
		&PM4IB{Header: 0x1500, AmdFormat: 1, IBJumpCmd: [4]uint32{0xc0023f00, 0x20001000, 1, 0x800020}, DWCntRemain: 10, CompletionSignal: 0x40}},
	{"extended dispatch", `
		0015 03 01  4000 0100 0100 0000  07000000 0100 0100 02 01 01 05
		00000000 00040000  0010000000000000 0020000000000000  4000000000000000  8000000000000000`,
		&ExtendedDispatch{Header: 0x1500, AmdFormat: 3, Setup: 1, WorkgroupSize: [3]uint16{64, 1, 1}, ClusterCountX: 7,
			ClusterCountY: 1, ClusterCountZ: 1, ClusterSize: [3]uint8{2, 1, 1}, PerfHint: 5, GroupSegmentSize: 1024,
			KernelObject: 0x1000, KernargAddress: 0x2000, DepSignal: 0x40, CompletionSignal: 0x80}},
}

func TestPacketBytes(t *testing.T) {
	for _, c := range packetCases {
		t.Run(c.name, func(t *testing.T) {
			p := packetOf(t, c.dump)
			got, err := Decode(p)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("decoded (-want +got):\n%s", d)
			}
			var back Packet
			for i := range back {
				back[i] = 0xa5
			}
			c.want.Encode(&back)
			if back != *p {
				t.Errorf("encoded\n%x\nwant\n%x", back, *p)
			}
		})
	}
	ib := packetCases[4].want.(*PM4IB)
	if a, n := ib.IB(); a != 0x120001000 || n != 32 {
		t.Errorf("IB at %#x, %d dwords", a, n)
	}
}

func TestDecodeRejects(t *testing.T) {
	put := func(o int, b ...byte) func(*Packet) { return func(p *Packet) { copy(p[o:], b) } }
	for _, c := range []struct {
		base   int // index in packetCases
		edit   func(*Packet)
		offset int
		field  string
	}{
		{0, put(0, 1), 0, "header"},
		{0, put(0, 6), 0, "header"},
		{0, put(1, 0x35), 0, "header"},
		{0, put(1, 0x17), 0, "header"},
		{0, put(1, 0x1d), 0, "header"},
		{0, put(2, 0), 2, "setup"},
		{0, put(2, 7), 2, "setup"},
		{0, put(2, 3, 1), 2, "setup"},
		{0, put(4, 0, 0), 4, "workgroup_size_x"},
		{0, put(8, 0, 0), 8, "workgroup_size_z"},
		{0, put(2, 1), 6, "workgroup_size_y"},
		{0, put(10, 1), 10, "reserved0"},
		{0, put(12, 0, 0), 12, "grid_size_x"},
		{0, put(20, 0), 20, "grid_size_z"},
		{0, put(32, 0, 0, 0, 0, 0, 0, 0, 0), 32, "kernel_object"},
		{0, put(56, 0xc8), 56, "completion_signal"},
		{1, put(2, 1), 2, "reserved"},
		{1, put(16, 0x81), 16, "dep_signal"},
		{2, put(2, 9), 2, "AmdFormat"},
		{2, put(32, 4), 32, "cond"},
		{2, put(36, 1), 36, "reserved"},
		{3, put(4, 1), 4, "reserved0"},
		{4, put(4, 1), 4, "ib_jump_cmd"},
		{4, put(8, 2), 8, "ib_jump_cmd"},
		{4, put(18, 0), 16, "ib_jump_cmd"},
		{4, put(20, 9), 20, "dw_cnt_remain"},
		{4, put(3, 1), 2, "ven_hdr"},
		{5, put(12, 0), 12, "cluster_count"},
		{5, put(21, 0), 21, "cluster_size"},
		{5, put(3, 4), 2, "setup"},
	} {
		p := *packetOf(t, packetCases[c.base].dump)
		c.edit(&p)
		v, err := Decode(&p)
		var pe *PacketError
		if v != nil || !errors.Is(err, ErrInvalidPacket) || !errors.As(err, &pe) {
			t.Errorf("%x: value %v, error %v", p, v, err)
			continue
		}
		if pe.Offset != c.offset || pe.Field != c.field {
			t.Errorf("%x: error %v, want offset %d field %s", p, err, c.offset, c.field)
		}
	}
}
