// Package device declares what the runtime needs of a GPU: memory, queues,
// signals and clocks. sim and hw implement it; nothing above it knows which
// one it has.
package device

import (
	"context"
	"errors"
	"time"

	"gfxrt/aql"
)

// ErrUnsupported is wrapped by every error that says that a device cannot do
// what was asked.
var ErrUnsupported = errors.New("not supported by this device")

// ErrClosed is returned by operations on a closed device, queue or signal.
var ErrClosed = errors.New("closed")

// ErrOutOfMemory is wrapped when an allocation does not fit.
var ErrOutOfMemory = errors.New("out of device memory")

// MemoryKind tells where memory lives and who may touch it.
type MemoryKind uint8

// Memory kinds.
const (
	// DeviceLocal is the GPU's own memory. The host reaches it through
	// Device.Read and Device.Write.
	DeviceLocal MemoryKind = iota
	// HostVisible is fine-grained memory that both sides read and write
	// coherently; Memory.Bytes gives the host's view.
	HostVisible
	// Code is DeviceLocal memory that holds a loaded code object.
	Code
)

// Memory is one allocation. Free may be called once; the address range must
// not be in use by a dispatch.
type Memory interface {
	Addr() uint64  // GPU virtual address
	Size() uint64  // bytes, as asked for
	Bytes() []byte // the host's view; nil for memory that is not host-visible
	Free() error
}

// Info describes a device. Counts are of the profile a simulator imitates or
// of what the driver reports.
type Info struct {
	Name            string // marketing or profile name
	Target          string // "gfx90a:sramecc+:xnack-"
	Simulated       bool
	ComputeUnits    int
	SIMDsPerCU      int
	WavesPerSIMD    int
	WavefrontSize   int    // native; gfx10 and later also run the other size
	LDSPerGroup     uint32 // bytes, largest work-group allocation
	LDSPerCU        uint32 // bytes
	MaxGroupSize    uint32 // work-items
	MaxScratchLane  uint32 // bytes of private segment a lane
	LocalMemory     uint64 // bytes
	ClockHz         uint64 // shader clock
	TimestampHz     uint64 // s_memrealtime and signal timestamps
	QueueMinPackets uint32
	QueueMaxPackets uint32
}

// Clock relates the device's timestamp counter to host time.
type Clock struct {
	Ticks uint64    // counter value
	Hz    uint64    // ticks per second
	Host  time.Time // host time of the same moment
}

// QueueOptions are the properties of a new queue.
type QueueOptions struct {
	Packets     uint32 // ring size, a power of two; 0 means 1024
	Cooperative bool   // launches need all their groups resident
}

// Condition compares a signal's value with a constant.
type Condition uint8

// Conditions.
const (
	Equal Condition = iota
	NotEqual
	Less
	GreaterOrEqual
)

// Holds reports whether v satisfies the condition against x.
func (c Condition) Holds(v, x int64) bool {
	switch c {
	case Equal:
		return v == x
	case NotEqual:
		return v != x
	case Less:
		return v < x
	default:
		return v >= x
	}
}

// Signal is an amd_signal_t that both sides can change.
type Signal interface {
	Handle() uint64 // GPU address of the amd_signal_t, as packets carry it
	Load() int64
	Store(v int64) // release
	Add(delta int64)
	// Wait returns the first value seen that satisfies the condition, or
	// ctx's error. It does not watch queues: see Queue.Err.
	Wait(ctx context.Context, c Condition, x int64) (int64, error)
	// Timestamps returns the start and end counter values the last packet
	// that completed this signal stored.
	Timestamps() (start, end uint64)
	Close() error
}

// Queue is a ring of 64-byte AQL packets that the device consumes.
type Queue interface {
	// Ring is the packet memory with its read and write indices.
	Ring() *aql.Ring
	// Doorbell tells the device that packets up to and including lastIndex
	// may have been published.
	Doorbell(lastIndex uint64)
	// Err returns a channel that delivers one error when the queue faults and
	// is then closed. A Close without fault closes it too.
	Err() <-chan error
	// Close stops the queue, abandoning what still runs.
	Close() error
}

// Device is one GPU agent. All methods are safe for concurrent use.
type Device interface {
	Info() Info
	Alloc(size uint64, kind MemoryKind) (Memory, error)
	// Read and Write copy between host bytes and GPU addresses; the whole
	// range must lie inside live allocations. A write to code that has run
	// is followed by InvalidateCode.
	Read(dst []byte, addr uint64) error
	Write(addr uint64, src []byte) error
	// Copy moves n bytes between GPU addresses (ranges may overlap).
	Copy(dst, src, n uint64) error
	// InvalidateCode makes later instruction fetches see what was written.
	InvalidateCode(addr, n uint64) error
	NewQueue(QueueOptions) (Queue, error)
	NewSignal(initial int64) (Signal, error)
	Clock() (Clock, error)
	Close() error
}
