package heap

import (
	"errors"
	"fmt"
	"maps"
	"sync"
)

// Errors of Pool that device code causes.
var (
	// ErrLimit: the heap has reached its limit. malloc returns null.
	ErrLimit = errors.New("device heap limit reached")
	// ErrDoubleFree: memory was freed that is free already.
	ErrDoubleFree = errors.New("double free on the device heap")
	// ErrForeignFree: memory was freed that malloc never returned.
	ErrForeignFree = errors.New("free of memory that is not of the device heap")
)

// maxFreed bounds how many freed addresses a pool remembers, to tell a double
// free from a foreign one.
const maxFreed = 4096

// Backing allocates memory for a pool, at a multiple of align, a power of two.
type Backing func(size, align uint64) (addr uint64, free func() error, err error)

// Pool gives device code the memory that its malloc asks the host for: slabs,
// tables and blocks that are too large for a slab. It is safe for concurrent
// use.
type Pool struct {
	backing Backing
	limit   uint64 // bytes

	mu          sync.Mutex
	blocks      map[uint64]block
	bytes, peak uint64
	freed       [maxFreed]uint64 // a ring
	nextFreed   int
}

type block struct {
	size uint64
	free func() error
}

// NewPool makes a pool of at most limit bytes.
func NewPool(backing Backing, limit uint64) *Pool {
	return &Pool{backing: backing, limit: limit, blocks: map[uint64]block{}}
}

// Alloc returns size bytes: SlabSize-aligned when they are SlabSize or more,
// else BlockAlign-aligned. Errors wrap ErrLimit or are the backing's.
func (p *Pool) Alloc(size uint64) (uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if size > p.limit-p.bytes {
		return 0, fmt.Errorf("%d bytes with %d of %d in use: %w", size, p.bytes, p.limit, ErrLimit)
	}
	align := uint64(BlockAlign)
	if size >= SlabSize {
		align = SlabSize
	}
	addr, free, err := p.backing(size, align)
	if err != nil {
		return 0, err
	}
	p.blocks[addr] = block{size, free}
	p.bytes += size
	p.peak = max(p.peak, p.bytes)
	return addr, nil
}

// Free gives a block back. Errors wrap ErrDoubleFree or ErrForeignFree.
func (p *Pool) Free(addr uint64) error {
	p.mu.Lock()
	b, ok := p.blocks[addr]
	if !ok {
		defer p.mu.Unlock()
		return p.refuse(addr)
	}
	delete(p.blocks, addr)
	p.bytes -= b.size
	p.freed[p.nextFreed] = addr
	p.nextFreed = (p.nextFreed + 1) % maxFreed
	p.mu.Unlock()
	return b.free()
}

// refuse says what is wrong with a free. p.mu is held.
func (p *Pool) refuse(addr uint64) error {
	for _, a := range p.freed {
		if a == addr && addr != 0 {
			return fmt.Errorf("block at %#x was freed before: %w", addr, ErrDoubleFree)
		}
	}
	for a, b := range p.blocks {
		if addr-a < b.size {
			return fmt.Errorf("%#x is byte %d of the block of %d bytes at %#x: %w", addr, addr-a, b.size, a, ErrForeignFree)
		}
	}
	return fmt.Errorf("no block at %#x: %w", addr, ErrForeignFree)
}

// Blocks returns the size of each block by its address.
func (p *Pool) Blocks() map[uint64]uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	sizes := make(map[uint64]uint64, len(p.blocks))
	for a, b := range p.blocks {
		sizes[a] = b.size
	}
	return sizes
}

// Bytes returns the bytes that device code has now, and the most it ever had.
func (p *Pool) Bytes() (now, peak uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes, p.peak
}

// Close frees all blocks. No kernel may run any more.
func (p *Pool) Close() error {
	p.mu.Lock()
	blocks := maps.Clone(p.blocks)
	clear(p.blocks)
	p.bytes = 0
	p.mu.Unlock()
	var errs []error
	for _, b := range blocks {
		errs = append(errs, b.free())
	}
	return errors.Join(errs...)
}
