package aql

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrInvalidPacket is wrapped by every error about the contents of a packet.
var ErrInvalidPacket = errors.New("invalid AQL packet")

// PacketError locates what is wrong in a packet. It wraps ErrInvalidPacket.
type PacketError struct {
	Offset int    // byte offset in the packet
	Field  string // as hsa.h spells it
	Reason string
}

// Error gives offset, field and reason in one line.
func (e *PacketError) Error() string {
	return fmt.Sprintf("invalid AQL packet: offset %d (%s): %s", e.Offset, e.Field, e.Reason)
}

// Unwrap makes errors.Is(err, ErrInvalidPacket) true.
func (e *PacketError) Unwrap() error { return ErrInvalidPacket }

func invalid(offset int, field, format string, args ...any) error {
	return &PacketError{offset, field, fmt.Sprintf(format, args...)}
}

// Packet is the 64 bytes of one ring slot.
type Packet [PacketSize]byte

// Header returns bytes 0 and 1.
func (p *Packet) Header() Header { return Header(p.u16(0)) }

// Format returns byte 2, AmdFormat of a vendor-specific packet.
func (p *Packet) Format() VendorFormat { return VendorFormat(p[2]) }

func (p *Packet) u16(o int) uint16         { return binary.LittleEndian.Uint16(p[o:]) }
func (p *Packet) u32(o int) uint32         { return binary.LittleEndian.Uint32(p[o:]) }
func (p *Packet) u64(o int) uint64         { return binary.LittleEndian.Uint64(p[o:]) }
func (p *Packet) put16(o int, v uint16)    { binary.LittleEndian.PutUint16(p[o:], v) }
func (p *Packet) put32(o int, v uint32)    { binary.LittleEndian.PutUint32(p[o:], v) }
func (p *Packet) put64(o int, v uint64)    { binary.LittleEndian.PutUint64(p[o:], v) }
func (p *Packet) firstWord() uint32        { return p.u32(0) }
func (p *Packet) setFirstWord(word uint32) { p.put32(0, word) }

// Value is a decoded packet: *KernelDispatch, *Barrier, *AgentDispatch,
// *BarrierValue, *PM4IB or *ExtendedDispatch.
type Value interface {
	// Encode writes all 64 bytes of p.
	Encode(p *Packet)
}

// KernelDispatch is hsa_kernel_dispatch_packet_t.
type KernelDispatch struct {
	Header             Header
	Setup              uint16    // [1:0] dimensions, 1 to 3
	WorkgroupSize      [3]uint16 // work-items
	Reserved0          uint16
	GridSize           [3]uint32 // work-items
	PrivateSegmentSize uint32    // bytes a work-item
	GroupSegmentSize   uint32    // bytes, static and dynamic
	KernelObject       uint64    // address of the kernel descriptor
	KernargAddress     uint64
	Reserved2          uint64 // opaque: profilers keep a correlation id here
	CompletionSignal   uint64 // signal handle; 0 for none
}

// Dimensions returns the number of grid dimensions.
func (k *KernelDispatch) Dimensions() int { return int(k.Setup & 3) }

// Barrier is hsa_barrier_and_packet_t or hsa_barrier_or_packet_t; the header
// type says which.
type Barrier struct {
	Header           Header
	Reserved0        uint16
	Reserved1        uint32
	DepSignal        [5]uint64 // signal handles; 0 is ignored
	Reserved2        uint64    // opaque
	CompletionSignal uint64
}

// AgentDispatch is hsa_agent_dispatch_packet_t.
type AgentDispatch struct {
	Header           Header
	Type             uint16
	Reserved0        uint32
	ReturnAddress    uint64
	Arg              [4]uint64
	Reserved2        uint64 // opaque
	CompletionSignal uint64
}

// BarrierValue is hsa_amd_barrier_value_packet_t: it waits until
// (signal value & Mask) Cond Value. A null signal satisfies it.
type BarrierValue struct {
	Header           Header // type vendor-specific
	AmdFormat        VendorFormat
	Reserved0        uint8
	Reserved1        uint32
	Signal           uint64
	Value            int64
	Mask             int64
	Cond             BarrierCondition
	Reserved2        uint32
	Reserved3        uint64
	Reserved4        uint64
	CompletionSignal uint64
}

// PM4IB is ROCr's private vendor packet that runs an indirect buffer of PM4
// commands (amd_aql_pm4_ib).
type PM4IB struct {
	Header           Header // type vendor-specific
	AmdFormat        uint16
	IBJumpCmd        [4]uint32 // an INDIRECT_BUFFER command
	DWCntRemain      uint32    // 10
	Reserved         [8]uint32
	CompletionSignal uint64
}

// IB returns the GPU address and length in dwords of the indirect buffer.
func (b *PM4IB) IB() (addr uint64, dwords uint32) {
	return uint64(b.IBJumpCmd[1]) | uint64(b.IBJumpCmd[2]&0xffff)<<32, b.IBJumpCmd[3] & 0xfffff
}

// ExtendedDispatch is the vendor packet of format 3, a kernel dispatch whose
// grid is counted in clusters of work-groups; it has no partial work-groups.
type ExtendedDispatch struct {
	Header             Header // type vendor-specific
	AmdFormat          VendorFormat
	Setup              uint8 // [1:0] dimensions
	WorkgroupSize      [3]uint16
	Reserved0          uint16
	ClusterCountX      uint32 // clusters in the grid
	ClusterCountY      uint16
	ClusterCountZ      uint16
	ClusterSize        [3]uint8 // work-groups in a cluster
	PerfHint           uint8    // [6:0] LDS carve-out hint, 7 reverse order
	PrivateSegmentSize uint32
	GroupSegmentSize   uint32
	KernelObject       uint64
	KernargAddress     uint64
	DepSignal          uint64 // the launch waits until its value is 0; 0 for none
	CompletionSignal   uint64
}

// Encode writes all 64 bytes of p.
func (k *KernelDispatch) Encode(p *Packet) {
	p.put16(0, uint16(k.Header))
	p.put16(2, k.Setup)
	for i, v := range k.WorkgroupSize {
		p.put16(4+2*i, v)
	}
	p.put16(10, k.Reserved0)
	for i, v := range k.GridSize {
		p.put32(12+4*i, v)
	}
	p.put32(24, k.PrivateSegmentSize)
	p.put32(28, k.GroupSegmentSize)
	p.put64(32, k.KernelObject)
	p.put64(40, k.KernargAddress)
	p.put64(48, k.Reserved2)
	p.put64(56, k.CompletionSignal)
}

// Encode writes all 64 bytes of p.
func (b *Barrier) Encode(p *Packet) {
	p.put16(0, uint16(b.Header))
	p.put16(2, b.Reserved0)
	p.put32(4, b.Reserved1)
	for i, v := range b.DepSignal {
		p.put64(8+8*i, v)
	}
	p.put64(48, b.Reserved2)
	p.put64(56, b.CompletionSignal)
}

// Encode writes all 64 bytes of p.
func (a *AgentDispatch) Encode(p *Packet) {
	p.put16(0, uint16(a.Header))
	p.put16(2, a.Type)
	p.put32(4, a.Reserved0)
	p.put64(8, a.ReturnAddress)
	for i, v := range a.Arg {
		p.put64(16+8*i, v)
	}
	p.put64(48, a.Reserved2)
	p.put64(56, a.CompletionSignal)
}

// Encode writes all 64 bytes of p.
func (b *BarrierValue) Encode(p *Packet) {
	p.put16(0, uint16(b.Header))
	p[2], p[3] = uint8(b.AmdFormat), b.Reserved0
	p.put32(4, b.Reserved1)
	p.put64(8, b.Signal)
	p.put64(16, uint64(b.Value))
	p.put64(24, uint64(b.Mask))
	p.put32(32, uint32(b.Cond))
	p.put32(36, b.Reserved2)
	p.put64(40, b.Reserved3)
	p.put64(48, b.Reserved4)
	p.put64(56, b.CompletionSignal)
}

// Encode writes all 64 bytes of p.
func (b *PM4IB) Encode(p *Packet) {
	p.put16(0, uint16(b.Header))
	p.put16(2, b.AmdFormat)
	for i, v := range b.IBJumpCmd {
		p.put32(4+4*i, v)
	}
	p.put32(20, b.DWCntRemain)
	for i, v := range b.Reserved {
		p.put32(24+4*i, v)
	}
	p.put64(56, b.CompletionSignal)
}

// Encode writes all 64 bytes of p.
func (e *ExtendedDispatch) Encode(p *Packet) {
	p.put16(0, uint16(e.Header))
	p[2], p[3] = uint8(e.AmdFormat), e.Setup
	for i, v := range e.WorkgroupSize {
		p.put16(4+2*i, v)
	}
	p.put16(10, e.Reserved0)
	p.put32(12, e.ClusterCountX)
	p.put16(16, e.ClusterCountY)
	p.put16(18, e.ClusterCountZ)
	copy(p[20:23], e.ClusterSize[:])
	p[23] = e.PerfHint
	p.put32(24, e.PrivateSegmentSize)
	p.put32(28, e.GroupSegmentSize)
	p.put64(32, e.KernelObject)
	p.put64(40, e.KernargAddress)
	p.put64(48, e.DepSignal)
	p.put64(56, e.CompletionSignal)
}
