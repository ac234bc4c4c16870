// Package mem is the simulated GPU's memory: an address space of mapped
// regions over host memory that lives outside the Go heap.
//
// A GPU virtual address is looked up in the space; it is not a host address.
// Regions are separated by unmapped gaps, so running past one is a fault and
// never another allocation.
package mem

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"
)

// PageSize is the granularity of mappings in bytes.
const PageSize = 4096

// HugeAlign is the alignment of allocations of that size and more. AMD's
// device heap needs slabs of 2 MiB aligned to 2 MiB (abi.md F.3).
const HugeAlign = 2 << 20

// Address-space layout. Everything lies below 2^47 so that no code which
// sign-extends a 48-bit address sees a negative one, and clear of the
// apertures at 2^48 and 2^49 (abi.md C.6).
const (
	firstAddr = 0x0000_1000_0000_0000
	lastAddr  = 0x0000_6000_0000_0000
	// ScratchBase is where the private segments of all waves appear. It is
	// never mapped in a Space: the executor owns that range.
	ScratchBase = 0x0000_7000_0000_0000
	// ScratchEnd is one past the scratch range.
	ScratchEnd = 0x0000_7fff_0000_0000
)

// ErrNoMemory is wrapped when the host or the address space has no room.
var ErrNoMemory = errors.New("out of memory")

// ErrUnmapped is wrapped when an address range is not inside one region.
var ErrUnmapped = errors.New("address not mapped")

// Region is one mapped range. Its memory stays valid until the space has no
// readers left after Unmap.
type Region struct {
	Base uint64 // first GPU address
	Size uint64 // bytes mapped, a multiple of PageSize
	Used uint64 // bytes asked for
	Name string // what it is, for fault reports

	host unsafe.Pointer
	own  []byte // host mapping to release; nil for memory owned by someone else

	// Code caches what the executor decoded from this region, and is dropped
	// when the code is invalidated.
	Code atomic.Pointer[any]
}

// Ptr returns the host address of the byte at off. The caller has checked
// that off is inside the region.
func (r *Region) Ptr(off uint64) unsafe.Pointer { return unsafe.Add(r.host, off) }

// Bytes is the host's view of the bytes asked for.
func (r *Region) Bytes() []byte { return unsafe.Slice((*byte)(r.host), r.Used) }

// Contains reports whether [va, va+n) lies inside the region.
func (r *Region) Contains(va, n uint64) bool {
	off := va - r.Base
	return off < r.Size && n <= r.Size-off
}

// Space is an address space. All methods are safe for concurrent use.
type Space struct {
	mu      sync.Mutex
	regions atomic.Pointer[[]*Region] // sorted by Base; replaced, never changed
	next    uint64
	total   uint64
	limit   uint64
	readers int
	unmaps  atomic.Uint64
	dead    []*Region // unmapped while readers ran
	closed  bool
}

// NewSpace makes an empty space that maps at most limit bytes.
func NewSpace(limit uint64) *Space {
	s := &Space{next: firstAddr, limit: limit}
	s.regions.Store(&[]*Region{})
	return s
}

// Alloc maps size zeroed bytes at a new address. Alignment is a page, and
// HugeAlign for allocations of at least that size.
func (s *Space) Alloc(size uint64, name string) (*Region, error) {
	if size == 0 {
		size = 1
	}
	if size > s.limit {
		return nil, fmt.Errorf("allocate %d bytes: limit is %d: %w", size, s.limit, ErrNoMemory)
	}
	mapped := (size + PageSize - 1) &^ (PageSize - 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("allocate %d bytes: address space closed: %w", size, ErrNoMemory)
	}
	if mapped > s.limit-s.total {
		return nil, fmt.Errorf("allocate %d bytes: %d of %d in use: %w", size, s.total, s.limit, ErrNoMemory)
	}
	align := uint64(PageSize)
	if mapped >= HugeAlign {
		align = HugeAlign
	}
	base := (s.next + align - 1) &^ (align - 1)
	if base > lastAddr || mapped > lastAddr-base {
		return nil, fmt.Errorf("allocate %d bytes: no addresses left: %w", size, ErrNoMemory)
	}
	host, err := mapHost(mapped)
	if err != nil {
		return nil, fmt.Errorf("allocate %d bytes: %w: %w", size, ErrNoMemory, err)
	}
	r := &Region{Base: base, Size: mapped, Used: size, Name: name, host: unsafe.Pointer(unsafe.SliceData(host)), own: host}
	s.next = base + mapped + PageSize // the gap that makes overruns fault
	s.total += mapped
	s.insert(r)
	return r, nil
}

// insert adds r to the sorted table. s.mu is held.
func (s *Space) insert(r *Region) {
	old := *s.regions.Load()
	i := sort.Search(len(old), func(i int) bool { return old[i].Base > r.Base })
	next := slices.Insert(slices.Clone(old), i, r)
	s.regions.Store(&next)
}

// Unmap removes r. Its host memory is released once no reader is active.
func (s *Space) Unmap(r *Region) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := *s.regions.Load()
	i := slices.Index(old, r)
	if i < 0 {
		return fmt.Errorf("unmap %#x: %w", r.Base, ErrUnmapped)
	}
	next := slices.Delete(slices.Clone(old), i, i+1)
	s.regions.Store(&next)
	s.unmaps.Add(1)
	s.total -= r.Size
	s.dead = append(s.dead, r)
	return s.reap()
}

// Unmaps counts the regions that were taken out: a region found since the
// count last changed is still mapped.
func (s *Space) Unmaps() uint64 { return s.unmaps.Load() }

// Enter announces a reader: memory unmapped from now on stays valid until the
// matching Leave.
func (s *Space) Enter() {
	s.mu.Lock()
	s.readers++
	s.mu.Unlock()
}

// Leave ends what Enter began.
func (s *Space) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers--
	_ = s.reap() // a failed munmap only leaks; there is no one to tell
}

// reap releases dead regions when nothing can still read them. s.mu is held.
func (s *Space) reap() error {
	if s.readers > 0 {
		return nil
	}
	var first error
	for _, r := range s.dead {
		if r.own != nil {
			if err := unmapHost(r.own); err != nil && first == nil {
				first = err
			}
		}
	}
	s.dead = nil
	return first
}

// Close unmaps everything. No reader may be active.
func (s *Space) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.dead = append(s.dead, *s.regions.Load()...)
	s.regions.Store(&[]*Region{})
	s.total = 0
	return s.reap()
}

// Find returns the region that holds va, or nil.
func (s *Space) Find(va uint64) *Region {
	rs := *s.regions.Load()
	lo, hi := 0, len(rs)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if rs[m].Base <= va {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo > 0 {
		if r := rs[lo-1]; va-r.Base < r.Size {
			return r
		}
	}
	return nil
}

// Slice returns the host view of [va, va+n), which must lie in one region.
func (s *Space) Slice(va, n uint64) ([]byte, error) {
	r := s.Find(va)
	if r == nil || !r.Contains(va, n) {
		return nil, fmt.Errorf("%d bytes at %#x: %s: %w", n, va, s.Describe(va), ErrUnmapped)
	}
	return unsafe.Slice((*byte)(r.Ptr(va-r.Base)), n), nil
}

// nearBytes bounds what counts as near an allocation in fault reports.
const nearBytes = 1 << 30

// Describe says in words where va lies relative to the nearest allocations.
func (s *Space) Describe(va uint64) string {
	if va < PageSize {
		return fmt.Sprintf("null pointer plus %d", va)
	}
	rs := *s.regions.Load()
	i := sort.Search(len(rs), func(i int) bool { return rs[i].Base > va })
	var before, after string
	if i > 0 {
		r := rs[i-1]
		if off := va - r.Base; off < r.Size {
			if off < r.Used {
				return fmt.Sprintf("byte %d of %s of %d bytes at %#x", off, r.Name, r.Used, r.Base)
			}
			return fmt.Sprintf("%d bytes past the end of %s of %d bytes at %#x", off-r.Used, r.Name, r.Used, r.Base)
		}
		if va-(r.Base+r.Size) < nearBytes {
			before = fmt.Sprintf("%d bytes past the end of %s of %d bytes at %#x", va-(r.Base+r.Used), r.Name, r.Used, r.Base)
		}
	}
	if i < len(rs) && rs[i].Base-va < nearBytes {
		r := rs[i]
		after = fmt.Sprintf("%d bytes before %s of %d bytes at %#x", r.Base-va, r.Name, r.Used, r.Base)
	}
	switch {
	case before != "" && after != "":
		if va-(rs[i-1].Base+rs[i-1].Used) <= rs[i].Base-va {
			return before
		}
		return after
	case before != "":
		return before
	case after != "":
		return after
	}
	return "nothing is allocated near"
}
