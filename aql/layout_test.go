package aql

import (
	"reflect"
	"testing"
)

// Offsets from ROCR-Runtime's amd_hsa_queue.h, amd_hsa_signal.h, hsa.h and
// hsa_ext_amd.h, as offsetof gives them.
func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		value  any
		size   uintptr
		fields map[string]uintptr
	}{
		{Queue{}, 2304, map[string]uintptr{
			"Type": 0, "Features": 4, "BaseAddress": 8, "DoorbellSignal": 16, "Size": 24, "ID": 32, "Caps": 40,
			"WriteDispatchID": 56, "GroupSegmentApertureBaseHi": 64, "PrivateSegmentApertureBaseHi": 68,
			"MaxCUID": 72, "MaxWaveID": 76, "MaxLegacyDoorbellDispatchIDPlus1": 80, "LegacyDoorbellLock": 88,
			"ReadDispatchID": 128, "ReadDispatchIDFieldBaseByteOffset": 136, "ComputeTmpringSize": 140,
			"ScratchResourceDescriptor": 144, "ScratchBackingMemoryLocation": 160, "ScratchBackingMemoryByteSize": 168,
			"ScratchWave64LaneByteSize": 176, "QueueProperties": 180, "ScratchMaxUseIndex": 184, "QueueInactiveSignal": 192,
			"AltScratchMaxUseIndex": 200, "AltScratchResourceDescriptor": 208, "AltScratchBackingMemoryLocation": 224,
			"AltScratchDispatchLimitX": 232, "AltScratchDispatchLimitY": 236, "AltScratchDispatchLimitZ": 240,
			"AltScratchWave64LaneByteSize": 244, "AltComputeTmpringSize": 248, "ScratchLastUsedIndex": 256,
		}},
		{Signal{}, 64, map[string]uintptr{
			"Kind": 0, "Value": 8, "EventMailboxPtr": 16, "EventID": 24, "StartTS": 32, "EndTS": 40, "QueuePtr": 48, "Reserved2": 56,
		}},
		{KernelDispatch{}, 64, map[string]uintptr{
			"Header": 0, "Setup": 2, "WorkgroupSize": 4, "Reserved0": 10, "GridSize": 12, "PrivateSegmentSize": 24,
			"GroupSegmentSize": 28, "KernelObject": 32, "KernargAddress": 40, "Reserved2": 48, "CompletionSignal": 56,
		}},
		{Barrier{}, 64, map[string]uintptr{"Header": 0, "DepSignal": 8, "Reserved2": 48, "CompletionSignal": 56}},
		{AgentDispatch{}, 64, map[string]uintptr{
			"Header": 0, "Type": 2, "ReturnAddress": 8, "Arg": 16, "Reserved2": 48, "CompletionSignal": 56,
		}},
		{BarrierValue{}, 64, map[string]uintptr{
			"Header": 0, "AmdFormat": 2, "Reserved0": 3, "Signal": 8, "Value": 16, "Mask": 24, "Cond": 32, "CompletionSignal": 56,
		}},
		{PM4IB{}, 64, map[string]uintptr{
			"Header": 0, "AmdFormat": 2, "IBJumpCmd": 4, "DWCntRemain": 20, "Reserved": 24, "CompletionSignal": 56,
		}},
		{ExtendedDispatch{}, 64, map[string]uintptr{
			"Header": 0, "AmdFormat": 2, "Setup": 3, "WorkgroupSize": 4, "Reserved0": 10, "ClusterCountX": 12,
			"ClusterCountY": 16, "ClusterCountZ": 18, "ClusterSize": 20, "PerfHint": 23, "PrivateSegmentSize": 24,
			"GroupSegmentSize": 28, "KernelObject": 32, "KernargAddress": 40, "DepSignal": 48, "CompletionSignal": 56,
		}},
	} {
		typ := reflect.TypeOf(c.value)
		if typ.Size() != c.size {
			t.Errorf("%s: size %d, want %d", typ, typ.Size(), c.size)
		}
		for name, want := range c.fields {
			f, ok := typ.FieldByName(name)
			if !ok || f.Offset != want {
				t.Errorf("%s.%s: offset %d (present %v), want %d", typ, name, f.Offset, ok, want)
			}
		}
	}
	var q Queue
	q.Init(0x1000, 64, 0x2000, 7)
	if q.ReadDispatchIDFieldBaseByteOffset != 128 || q.BaseAddress != 0x1000 || q.Size != 64 || q.DoorbellSignal != 0x2000 || q.ID != 7 {
		t.Errorf("Init: %+v", q)
	}
}

func TestQueueAndSignalNeedAlignedMemory(t *testing.T) {
	mem := alignedBytes(4096)
	if _, err := QueueAt(mem[32:]); err == nil {
		t.Error("QueueAt accepted a 32-aligned address")
	}
	if _, err := QueueAt(mem[:2303]); err == nil {
		t.Error("QueueAt accepted 2303 bytes")
	}
	if _, err := SignalAt(mem[8:]); err == nil {
		t.Error("SignalAt accepted an 8-aligned address")
	}
	s, err := SignalAt(mem[64:])
	if err != nil {
		t.Fatal(err)
	}
	s.Store(1)
	if v := s.Add(-1); v != 0 || s.Load() != 0 || mem[72] != 0 {
		t.Errorf("after the decrement: %d, byte %d", v, mem[72])
	}
	s.Store(-2)
	if mem[72] != 0xfe || mem[79] != 0xff {
		t.Errorf("value bytes % x", mem[72:80])
	}
	s.SetTimestamps(0x0102030405060708, 9)
	if mem[64+32] != 8 || mem[64+39] != 1 || mem[64+40] != 9 {
		t.Errorf("timestamp bytes % x", mem[96:112])
	}
}
