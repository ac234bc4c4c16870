package aql

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// ErrInvalidMemory is wrapped when memory given for a queue, ring or signal
// has the wrong size or alignment.
var ErrInvalidMemory = errors.New("invalid queue memory")

// Sizes and alignments of amd_queue_t and amd_signal_t.
const (
	QueueSizeV1 = 256  // amd_queue_t
	QueueSize   = 2304 // amd_queue_v2_t
	QueueAlign  = 64
	SignalSize  = 64
	SignalAlign = 64
)

// Queue types (hsa_queue_type32_t).
const (
	QueueTypeMulti       = 0
	QueueTypeSingle      = 1
	QueueTypeCooperative = 2
)

// Queue features (hsa_queue_feature_t).
const (
	QueueFeatureKernelDispatch = 1
	QueueFeatureAgentDispatch  = 2
)

// Queue properties bits (amd_queue_properties_t).
const (
	QueuePropTrapHandler    = 1 << 0
	QueuePropPtr64          = 1 << 1
	QueuePropDebugSGPRs     = 1 << 2
	QueuePropProfiling      = 1 << 3
	QueuePropUseScratchOnce = 1 << 4
)

// Offsets in amd_queue_t that device code and the KFD use.
const (
	QueueOffWriteDispatchID = 56
	QueueOffReadDispatchID  = 128
	QueueOffGroupAperture   = 64
	QueueOffPrivateAperture = 68
	QueueOffDoorbellSignal  = 16
)

// LastUsedIndex is the per-XCC part of amd_queue_v2_t.
type LastUsedIndex struct{ Main, Alt uint64 }

// Queue is amd_queue_v2_t; its first 256 bytes are amd_queue_t, and the first
// 40 are hsa_queue_t.
type Queue struct {
	Type                              uint32
	Features                          uint32
	BaseAddress                       uint64 // GPU address of the ring
	DoorbellSignal                    uint64 // signal handle
	Size                              uint32 // packets
	Reserved1                         uint32
	ID                                uint64
	Caps                              uint32
	Reserved2                         [3]uint32
	WriteDispatchID                   uint64
	GroupSegmentApertureBaseHi        uint32
	PrivateSegmentApertureBaseHi      uint32
	MaxCUID                           uint32
	MaxWaveID                         uint32
	MaxLegacyDoorbellDispatchIDPlus1  uint64
	LegacyDoorbellLock                uint32
	Reserved3                         [9]uint32
	ReadDispatchID                    uint64
	ReadDispatchIDFieldBaseByteOffset uint32
	ComputeTmpringSize                uint32
	ScratchResourceDescriptor         [4]uint32
	ScratchBackingMemoryLocation      uint64
	ScratchBackingMemoryByteSize      uint64
	ScratchWave64LaneByteSize         uint32
	QueueProperties                   uint32
	ScratchMaxUseIndex                uint64
	QueueInactiveSignal               uint64
	AltScratchMaxUseIndex             uint64
	AltScratchResourceDescriptor      [4]uint32
	AltScratchBackingMemoryLocation   uint64
	AltScratchDispatchLimitX          uint32
	AltScratchDispatchLimitY          uint32
	AltScratchDispatchLimitZ          uint32
	AltScratchWave64LaneByteSize      uint32
	AltComputeTmpringSize             uint32
	Reserved4                         uint32
	ScratchLastUsedIndex              [128]LastUsedIndex
}

// QueueAt views memory as a queue. mem must be QueueSize bytes or more and
// 64-aligned.
func QueueAt(mem []byte) (*Queue, error) {
	if err := checkMemory("amd_queue_t", mem, QueueSize, QueueAlign); err != nil {
		return nil, err
	}
	return (*Queue)(unsafe.Pointer(unsafe.SliceData(mem))), nil
}

// Init clears q and writes what every queue needs: ring address (of the GPU),
// size in packets, doorbell signal and id. Scratch fields are the owner's.
func (q *Queue) Init(base uint64, packets uint32, doorbell, id uint64) {
	*q = Queue{
		Type:                              QueueTypeMulti,
		Features:                          QueueFeatureKernelDispatch,
		BaseAddress:                       base,
		DoorbellSignal:                    doorbell,
		Size:                              packets,
		ID:                                id,
		ReadDispatchIDFieldBaseByteOffset: QueueOffReadDispatchID,
		QueueProperties:                   QueuePropPtr64,
	}
}

func checkMemory(what string, mem []byte, size, align int) error {
	if len(mem) < size {
		return fmt.Errorf("%s: %d bytes, need %d: %w", what, len(mem), size, ErrInvalidMemory)
	}
	if p := uintptr(unsafe.Pointer(unsafe.SliceData(mem))); p%uintptr(align) != 0 {
		return fmt.Errorf("%s: host address %#x is not %d-aligned: %w", what, p, align, ErrInvalidMemory)
	}
	return nil
}

// SignalKind is the kind of an amd_signal_t.
type SignalKind int64

// Signal kinds (amd_signal_kind_t).
const (
	SignalInvalid        SignalKind = 0
	SignalUser           SignalKind = 1
	SignalDoorbell       SignalKind = -1
	SignalLegacyDoorbell SignalKind = -2
)

// Offsets in amd_signal_t.
const (
	SignalOffKind            = 0
	SignalOffValue           = 8
	SignalOffEventMailboxPtr = 16
	SignalOffEventID         = 24
	SignalOffStartTS         = 32
	SignalOffEndTS           = 40
	SignalOffQueuePtr        = 48
)

// Signal is amd_signal_t. Its GPU address is the signal's handle. Completion
// of a packet decrements the value by 1.
type Signal struct {
	Kind            SignalKind
	Value           int64 // a hardware doorbell's address for kind doorbell
	EventMailboxPtr uint64
	EventID         uint32
	Reserved1       uint32
	StartTS         uint64
	EndTS           uint64
	QueuePtr        uint64
	Reserved2       [2]uint32
}

// SignalAt views memory as a signal. mem must be 64 bytes or more and
// 64-aligned.
func SignalAt(mem []byte) (*Signal, error) {
	if err := checkMemory("amd_signal_t", mem, SignalSize, SignalAlign); err != nil {
		return nil, err
	}
	return (*Signal)(unsafe.Pointer(unsafe.SliceData(mem))), nil
}

// Load reads the value with acquire order.
func (s *Signal) Load() int64 { return atomic.LoadInt64(&s.Value) }

// Store writes the value with release order.
func (s *Signal) Store(v int64) { atomic.StoreInt64(&s.Value, v) }

// Add adds delta to the value and returns the new value.
func (s *Signal) Add(delta int64) int64 { return atomic.AddInt64(&s.Value, delta) }

// SetTimestamps stores start and end counter values. Do it before the Add
// that completes the packet.
func (s *Signal) SetTimestamps(start, end uint64) {
	atomic.StoreUint64(&s.StartTS, start)
	atomic.StoreUint64(&s.EndTS, end)
}

// Timestamps reads start and end counter values.
func (s *Signal) Timestamps() (start, end uint64) {
	return atomic.LoadUint64(&s.StartTS), atomic.LoadUint64(&s.EndTS)
}
