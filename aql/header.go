package aql

import "fmt"

// PacketSize is the size of every AQL packet in bytes.
const PacketSize = 64

// Type is the packet type, header bits [7:0].
type Type uint8

// Packet types (hsa_packet_type_t).
const (
	TypeVendorSpecific Type = 0
	TypeInvalid        Type = 1
	TypeKernelDispatch Type = 2
	TypeBarrierAnd     Type = 3
	TypeAgentDispatch  Type = 4
	TypeBarrierOr      Type = 5
)

var typeNames = [...]string{"vendor-specific", "invalid", "kernel dispatch", "barrier-AND", "agent dispatch", "barrier-OR"}

// String names the type as the HSA specification does.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Scope is a memory fence scope (hsa_fence_scope_t).
type Scope uint8

// Fence scopes.
const (
	ScopeNone   Scope = 0
	ScopeAgent  Scope = 1
	ScopeSystem Scope = 2
)

// Header bit positions and widths (hsa_packet_header_t).
const (
	HeaderTypeShift         = 0 // 8 bits
	HeaderBarrierShift      = 8 // 1 bit
	HeaderAcquireScopeShift = 9 // 2 bits
	HeaderReleaseScopeShift = 11
	headerReservedMask      = 0xe000
)

// Header is the 16-bit packet header, bytes 0 and 1 of every packet.
type Header uint16

// HeaderInvalid is the header of a slot that holds no packet.
const HeaderInvalid = Header(TypeInvalid)

// MakeHeader builds a header. barrier makes the packet wait until all earlier
// packets of the queue have completed.
func MakeHeader(t Type, barrier bool, acquire, release Scope) Header {
	h := Header(t) | Header(acquire&3)<<HeaderAcquireScopeShift | Header(release&3)<<HeaderReleaseScopeShift
	if barrier {
		h |= 1 << HeaderBarrierShift
	}
	return h
}

// Type returns the packet type.
func (h Header) Type() Type { return Type(h) }

// Barrier reports whether the barrier bit is set.
func (h Header) Barrier() bool { return h>>HeaderBarrierShift&1 != 0 }

// Acquire returns the acquire fence scope.
func (h Header) Acquire() Scope { return Scope(h >> HeaderAcquireScopeShift & 3) }

// Release returns the release fence scope.
func (h Header) Release() Scope { return Scope(h >> HeaderReleaseScopeShift & 3) }

// VendorFormat is AmdFormat of a vendor-specific packet (byte 2;
// hsa_amd_packet_type_t and, for PM4 IB, ROCr's private value).
type VendorFormat uint8

// Vendor packet formats.
const (
	FormatPM4IB            VendorFormat = 1
	FormatBarrierValue     VendorFormat = 2
	FormatExtendedDispatch VendorFormat = 3
)

// BarrierCondition compares a signal value in a barrier value packet
// (hsa_signal_condition32_t).
type BarrierCondition uint32

// Barrier value conditions.
const (
	ConditionEQ  BarrierCondition = 0
	ConditionNE  BarrierCondition = 1
	ConditionLT  BarrierCondition = 2
	ConditionGTE BarrierCondition = 3
)
