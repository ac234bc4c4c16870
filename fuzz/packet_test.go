package fuzz

import (
	"errors"
	"testing"

	"gfxrt/aql"
)

// FuzzPacket decodes arbitrary slots: an error or a value, never both, and a
// value encodes to the bytes it came from.
func FuzzPacket(f *testing.F) {
	seed := func(v aql.Value) {
		var p aql.Packet
		v.Encode(&p)
		f.Add(p[:])
	}
	seed(&aql.KernelDispatch{Header: 0x1502, Setup: 1, WorkgroupSize: [3]uint16{64, 1, 1}, GridSize: [3]uint32{100, 1, 1}, KernelObject: 4096})
	seed(&aql.Barrier{Header: 0x1503})
	seed(&aql.Barrier{Header: 0x1505, DepSignal: [5]uint64{64}})
	seed(&aql.AgentDispatch{Header: 4})
	seed(&aql.BarrierValue{Header: 0x1500, AmdFormat: aql.FormatBarrierValue, Signal: 64, Mask: -1})
	seed(&aql.PM4IB{Header: 0x1500, AmdFormat: 1, IBJumpCmd: [4]uint32{0xc0023f00, 4096, 0, 0x800010}, DWCntRemain: 10})
	seed(&aql.ExtendedDispatch{Header: 0x1500, AmdFormat: aql.FormatExtendedDispatch, Setup: 1, WorkgroupSize: [3]uint16{64, 1, 1},
		ClusterCountX: 1, ClusterCountY: 1, ClusterCountZ: 1, ClusterSize: [3]uint8{2, 1, 1}, KernelObject: 4096})
	f.Fuzz(func(t *testing.T, data []byte) {
		var p aql.Packet
		copy(p[:], data)
		v, err := aql.Decode(&p)
		if (v == nil) == (err == nil) {
			t.Fatalf("value %v, error %v", v, err)
		}
		if err != nil {
			if !errors.Is(err, aql.ErrInvalidPacket) {
				t.Fatalf("error %v does not wrap ErrInvalidPacket", err)
			}
			return
		}
		var back aql.Packet
		v.Encode(&back)
		if back != p {
			t.Fatalf("%T encodes to\n%x\nfrom\n%x", v, back, p)
		}
	})
}
