// Package heap is the host side of the device heap, from which malloc in
// kernels takes memory: the header that hidden_heap_v1 points to, the memory
// that device code asks the host for, and a reader of the structures that
// device code keeps. Device code can write all of them, so the reader trusts
// only what the host itself has noted.
//
// Layout: ROCm device libraries, ockl dm.cl.
package heap

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrMemory is wrapped when memory given for the heap does not fit it.
var ErrMemory = errors.New("invalid heap memory")

// Sizes that host and device code agree on.
const (
	// HeaderSize is what the host allocates for the header, in bytes. The
	// structures of all versions fit.
	HeaderSize = 128 << 10
	// SlabSize is the size and alignment of a slab: free finds a block's slab
	// by the low bits of its address.
	SlabSize = 2 << 20
	// BlockAlign is the alignment of other memory that device code gets from
	// the host: free takes a block that starts a page for the host's.
	BlockAlign = 4 << 10
	// MaxSmall is the largest request that slabs serve, in bytes.
	MaxSmall = 3072
	// NumKinds is the number of block sizes that slabs are divided in.
	NumKinds = 16
	// MaxSlabs is how many slabs of one kind the header has room for: one
	// table of 256 in the header, and 256 more tables that it points to.
	MaxSlabs = tableSlabs + tableSlabs*tableSlabs

	tableSlabs = 256
	entrySize  = 24 // of a table
	tableSize  = tableSlabs * entrySize

	// Offsets in a table entry.
	offTable = 0  // address of a further table, u64
	offSlab  = 8  // address of the slab, u64
	offUsed  = 16 // blocks in use, u32
)

// Offsets in a slab.
const (
	offKind   = 0  // u32
	offIndex  = 4  // u32, among the slabs of its kind
	offBitmap = 16 // a bit for each block: in use, or not usable
)

// Layout is where one range of device library versions keeps the header's
// fields. The first five are arrays of NumKinds elements, Stride bytes apart.
type Layout struct {
	Versions   string // of the ROCm device libraries
	Size       uint32 // of the whole structure, bytes
	Stride     uint32
	Start      uint32 // where the search for a slab starts, u32
	Allocated  uint32 // slabs there are, u32
	Recordable uint32 // slabs there is room for, u32
	SlabTime   uint32 // when a slab was last added, u64 ticks
	GrowTime   uint32 // when a table was last added, u64 ticks
	Tables     uint32 // [NumKinds][256] table entries
	// Initial slabs: the next one, the end, the first, u64 addresses; absent
	// (0) where the version has none.
	Next, End, First uint32
	Large            uint32 // allocations of more than MaxSmall bytes, u64
	// Overcounts: malloc adds the blocks that a wave got to the slab's counter
	// once for each lane, as the compiler was told (llvm.assume in the bitcode
	// of 5.2.3) that only one is active. Slabs then look full although they are
	// not, and the heap grows.
	Overcounts bool
}

// Layouts are all known layouts, oldest first.
var Layouts = [...]Layout{
	{Versions: "5.2 and before", Size: 100872, Stride: 32, Start: 0, Allocated: 0x200, Recordable: 0x400,
		SlabTime: 0x600, GrowTime: 0x800, Tables: 0xa00, Large: 0x18a00, Overcounts: true},
	{Versions: "5.3 to 5.6", Size: 108680, Stride: 128, Start: 0, Allocated: 0x800, Recordable: 0x1000,
		SlabTime: 0x1800, GrowTime: 0x2000, Tables: 0x2800, Next: 0x1a800, End: 0x1a808, Large: 0x1a880},
	{Versions: "5.7 and later", Size: 108688, Stride: 128, Start: 0, Allocated: 0x800, Recordable: 0x1000,
		SlabTime: 0x1800, GrowTime: 0x2000, Tables: 0x2800, Next: 0x1a800, End: 0x1a808, First: 0x1a810, Large: 0x1a888},
}

// newest has the fields of all others that a host writes.
var newest = &Layouts[len(Layouts)-1]

// Kind is a block size.
type Kind struct {
	BlockSize int // bytes
	Blocks    int // in a slab
	first     int // offset of the first block
	// Blocks unusable, unusable+gap … would start a page, and are never given
	// out.
	unusable, gap int
}

// Kinds are the block sizes, the same in all versions.
var Kinds = [NumKinds]Kind{
	{16, 130054, 16288, 6, 256},
	{24, 86927, 10904, 399, 512},
	{32, 65280, 8192, 0, 128},
	{48, 43576, 5504, 56, 256},
	{64, 32703, 4160, 63, 64},
	{96, 21816, 2816, 56, 128},
	{128, 16367, 2176, 15, 32},
	{192, 10915, 1472, 35, 64},
	{256, 8187, 1280, 11, 16},
	{384, 5459, 896, 19, 32},
	{512, 4094, 1024, 6, 8},
	{768, 2730, 512, 10, 16},
	{1024, 2047, 1024, 3, 4},
	{1536, 1365, 512, 5, 8},
	{2048, 1023, 2048, 1, 2},
	{3072, 682, 2048, 2, 4},
}

// Usable is the number of blocks of a slab that malloc may give out.
func (k *Kind) Usable() int { return k.Blocks - (k.Blocks-k.unusable+k.gap-1)/k.gap }

// Init writes the state that a heap starts from into header, HeaderSize bytes:
// zeros, and the range of n initial slabs at slabs, which is SlabSize-aligned.
// n may be 0: device code then asks the host for every slab. Versions without
// initial slabs do not look at the range, so that the header suits them all.
func Init(header []byte, slabs uint64, n int) error {
	switch {
	case len(header) != HeaderSize:
		return fmt.Errorf("heap header of %d bytes, want %d: %w", len(header), HeaderSize, ErrMemory)
	case n < 0 || n > MaxSlabs*NumKinds:
		return fmt.Errorf("%d initial slabs, at most %d: %w", n, MaxSlabs*NumKinds, ErrMemory)
	case slabs%SlabSize != 0 || n > 0 && slabs == 0:
		return fmt.Errorf("initial slabs at %#x, want a multiple of %#x: %w", slabs, SlabSize, ErrMemory)
	case slabs+uint64(n)*SlabSize < slabs:
		return fmt.Errorf("%d initial slabs at %#x wrap around: %w", n, slabs, ErrMemory)
	}
	clear(header)
	if n > 0 {
		binary.LittleEndian.PutUint64(header[newest.Next:], slabs)
		binary.LittleEndian.PutUint64(header[newest.End:], slabs+uint64(n)*SlabSize)
		binary.LittleEndian.PutUint64(header[newest.First:], slabs)
	}
	return nil
}
