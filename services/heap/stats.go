package heap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// ErrCorrupt is wrapped by problems with the structures that device code keeps.
var ErrCorrupt = errors.New("corrupt device heap")

// maxProblems bounds what Read reports.
const maxProblems = 16

// maxAddresses bounds the addresses of blocks in use that are listed of a kind.
const maxAddresses = 8

// Memory is what the host knows of a heap's memory: Read believes device code
// only where it agrees.
type Memory struct {
	Header []byte // a copy of the header, HeaderSize bytes
	// First is the address of the initial slabs, of which there are Slabs.
	First uint64
	Slabs int
	// Blocks is what a Pool gave and has not got back: bytes by address.
	Blocks map[uint64]uint64
	// Shared says that other heaps got blocks too: those in global variables
	// of code objects before version 5. They appear among the large blocks.
	Shared bool
	// Read copies from device memory.
	Read func(dst []byte, addr uint64) error
}

// Class is what there is of one block size.
type Class struct {
	BlockSize int // bytes
	Slabs     int
	Capacity  int // blocks
	Used      int // blocks
	// Addresses are those of the first few blocks in use.
	Addresses []uint64
}

// Stats is what a heap holds.
type Stats struct {
	// Layout is the layout in which the header makes sense; nil when it holds
	// no slab.
	Layout      *Layout
	Classes     [NumKinds]Class
	Large       map[uint64]uint64 // blocks of more than MaxSmall bytes: bytes by address
	TableBytes  uint64            // in tables of slabs
	UnusedSlabs int               // initial slabs that are still to be taken
	// Live is the bytes of all blocks in use. A block counts as what malloc
	// rounded the request up to.
	Live uint64
	// Problems are signs of errors of the kernels, the first few. They wrap
	// ErrDoubleFree, ErrForeignFree or ErrCorrupt. They mean something only
	// while no kernel runs.
	Problems []error

	lost int // problems that were not kept
}

func (s *Stats) problem(err error) {
	if len(s.Problems) < maxProblems {
		s.Problems = append(s.Problems, err)
	} else {
		s.lost++
	}
}

// Read makes sense of a heap. Nothing in it tells which version wrote it, so
// the layout is taken that has the fewest problems, and then the most slabs.
// Work is bounded by the memory the host has given.
func Read(m *Memory) (*Stats, error) {
	if len(m.Header) != HeaderSize {
		return nil, fmt.Errorf("heap header of %d bytes, want %d: %w", len(m.Header), HeaderSize, ErrMemory)
	}
	var best *Stats
	for i := range Layouts {
		r := reader{m: m, l: &Layouts[len(Layouts)-1-i], stats: &Stats{}, seen: map[uint64]bool{}}
		r.read()
		if s := r.stats; best == nil || s.rank() < best.rank() || s.rank() == best.rank() && s.slabs() > best.slabs() {
			best = s
		}
	}
	if best.slabs() == 0 && len(best.Problems) == 0 {
		best.Layout = nil
	}
	return best, nil
}

func (s *Stats) rank() int { return len(s.Problems) + s.lost }

func (s *Stats) slabs() (n int) {
	for i := range s.Classes {
		n += s.Classes[i].Slabs
	}
	return n
}

// reader reads a heap in one layout.
type reader struct {
	m     *Memory
	l     *Layout
	stats *Stats
	seen  map[uint64]bool // slabs and tables
}

func (r *reader) u32(off uint32) uint32 { return binary.LittleEndian.Uint32(r.m.Header[off:]) }
func (r *reader) u64(off uint32) uint64 { return binary.LittleEndian.Uint64(r.m.Header[off:]) }

func (r *reader) corrupt(off uint32, format string, args ...any) {
	r.stats.problem(fmt.Errorf("heap header offset %#x: %s: %w", off, fmt.Sprintf(format, args...), ErrCorrupt))
}

func (r *reader) read() {
	s := r.stats
	s.Layout = r.l
	taken := 0
	for k := range Kinds {
		s.Classes[k].BlockSize = Kinds[k].BlockSize
		r.kind(k)
		s.Live += uint64(s.Classes[k].Used) * uint64(Kinds[k].BlockSize)
	}
	for addr := range r.seen {
		if r.initial(addr) {
			taken++
		}
	}
	s.UnusedSlabs = r.m.Slabs - taken
	s.Large = map[uint64]uint64{}
	for addr, size := range r.m.Blocks {
		if !r.seen[addr] {
			s.Large[addr] = size
			s.Live += size
		}
	}
	for i := range Layouts {
		// The newer two differ in nothing else that device code writes.
		if o := &Layouts[i]; o.Stride == r.l.Stride && o != r.l && r.u64(o.Large) != 0 {
			r.corrupt(o.Large, "%#x, where version %s has no field", r.u64(o.Large), r.l.Versions)
		}
	}
	if n := int64(r.u64(r.l.Large)); n != int64(len(s.Large)) && r.stats.slabs() > 0 && !r.m.Shared {
		err := ErrCorrupt
		if n < int64(len(s.Large)) {
			err = ErrDoubleFree // or a foreign one; the host has reported it by its address
		}
		s.problem(fmt.Errorf("heap header offset %#x: %d large blocks counted, the host has given %d: %w", r.l.Large, n, len(s.Large), err))
	}
}

// initial reports whether addr is one of the initial slabs.
func (r *reader) initial(addr uint64) bool {
	return addr >= r.m.First && (addr-r.m.First)%SlabSize == 0 && (addr-r.m.First)/SlabSize < uint64(max(r.m.Slabs, 0))
}

// kind reads the slabs of one block size.
func (r *reader) kind(k int) {
	allocatedAt := r.l.Allocated + uint32(k)*r.l.Stride
	recordableAt := r.l.Recordable + uint32(k)*r.l.Stride
	n, room := r.u32(allocatedAt), r.u32(recordableAt)
	if n > MaxSlabs || n > room || room > MaxSlabs || room%tableSlabs != 0 {
		r.corrupt(allocatedAt, "%d slabs of %d-byte blocks, room for %d", n, Kinds[k].BlockSize, room)
		return
	}
	base := r.l.Tables + uint32(k)*tableSize
	table := r.m.Header[base : base+tableSize]
	where := fmt.Sprintf("heap header offset %#x", base)
	for i := range max(n, tableSlabs) {
		if i >= tableSlabs && i%tableSlabs == 0 { // all further ones are in use
			var ok bool
			if table, where, ok = r.table(k, base, i/tableSlabs-1); !ok {
				return
			}
		}
		entry := table[i%tableSlabs*entrySize:]
		slab, used := binary.LittleEndian.Uint64(entry[offSlab:]), binary.LittleEndian.Uint32(entry[offUsed:])
		switch {
		case i < n:
			if !r.slab(k, i, slab, used, where) {
				return
			}
		case slab == 0 && used != 0:
			r.stats.problem(fmt.Errorf("%s: %d blocks in use in no slab of %d-byte blocks: %w", where, int32(used), Kinds[k].BlockSize, ErrForeignFree))
		case slab != 0:
			r.stats.problem(fmt.Errorf("%s: slab %d at %#x of %d slabs: %w", where, i, slab, n, ErrCorrupt))
		}
	}
}

// table reads table j beyond the header's. Its address comes from device code.
func (r *reader) table(k int, base, j uint32) (table []byte, where string, ok bool) {
	off := base + j*entrySize + offTable
	addr := r.u64(off)
	if r.m.Blocks[addr] < tableSize || r.seen[addr] {
		r.corrupt(off, "table %d of %d-byte blocks at %#x, which the host has not given for it", j, Kinds[k].BlockSize, addr)
		return nil, "", false
	}
	r.seen[addr] = true
	r.stats.TableBytes += r.m.Blocks[addr]
	table = make([]byte, tableSize)
	if err := r.m.Read(table, addr); err != nil {
		r.corrupt(off, "table %d: %v", j, err)
		return nil, "", false
	}
	return table, fmt.Sprintf("table at %#x", addr), true
}

// slab reads one slab, whose address and counter come from device code.
func (r *reader) slab(k int, index uint32, addr uint64, used uint32, where string) bool {
	fail := func(format string, args ...any) bool {
		r.stats.problem(fmt.Errorf("%s: slab %d of %d-byte blocks: %s: %w", where, index, Kinds[k].BlockSize, fmt.Sprintf(format, args...), ErrCorrupt))
		return false
	}
	if addr%SlabSize != 0 || !r.initial(addr) && r.m.Blocks[addr] < SlabSize || r.seen[addr] {
		return fail("address %#x, where the host has given none, or not for it", addr)
	}
	r.seen[addr] = true
	kind := &Kinds[k]
	words := (kind.Blocks + 31) / 32
	b := make([]byte, offBitmap+4*words)
	if err := r.m.Read(b, addr); err != nil {
		return fail("%v", err)
	}
	if gotKind, gotIndex := binary.LittleEndian.Uint32(b[offKind:]), binary.LittleEndian.Uint32(b[offIndex:]); gotKind != uint32(k) || gotIndex != index {
		return fail("its header says kind %d, index %d", gotKind, gotIndex)
	}
	c := &r.stats.Classes[k]
	c.Slabs++
	c.Capacity += kind.Usable()
	n, lost := kind.count(b[offBitmap:], func(block int) {
		if len(c.Addresses) < maxAddresses {
			c.Addresses = append(c.Addresses, addr+uint64(kind.first+block*kind.BlockSize))
		}
	})
	c.Used += n
	if lost > 0 {
		r.stats.problem(fmt.Errorf("slab at %#x of %d-byte blocks: %d blocks freed that malloc never gives out: %w", addr, kind.BlockSize, lost, ErrForeignFree))
	}
	if extra := n - int(int32(used)); extra > 0 {
		r.stats.problem(fmt.Errorf("slab at %#x of %d-byte blocks: %d frees of blocks that were free: %w", addr, kind.BlockSize, extra, ErrDoubleFree))
	} else if extra < 0 && !r.l.Overcounts {
		r.stats.problem(fmt.Errorf("slab at %#x of %d-byte blocks: %d blocks counted, %d in use: %w", addr, kind.BlockSize, int32(used), n, ErrCorrupt))
	}
	return true
}

// count counts the blocks in use of a slab's bitmap, and the unusable ones that
// are not marked.
func (k *Kind) count(bitmap []byte, inUse func(block int)) (used, lost int) {
	for w := 0; w < (k.Blocks+31)/32; w++ {
		word := binary.LittleEndian.Uint32(bitmap[4*w:])
		preset := k.preset(w)
		lost += bits.OnesCount32(preset &^ word)
		word &^= preset
		used += bits.OnesCount32(word)
		for ; word != 0; word &= word - 1 {
			inUse(32*w + bits.TrailingZeros32(word))
		}
	}
	return used, lost
}

// preset is word w of a new slab's bitmap.
func (k *Kind) preset(w int) (word uint32) {
	if rest := k.Blocks - 32*w; rest < 32 {
		word = ^uint32(0) << rest
	}
	// The first unusable block from 32*w on.
	i := k.unusable
	if n := 32*w - i; n > 0 {
		i += (n + k.gap - 1) / k.gap * k.gap
	}
	for ; i < min(32*w+32, k.Blocks); i += k.gap {
		word |= 1 << (i - 32*w)
	}
	return word
}

// LargeAddresses lists the addresses of Large in ascending order.
func (s *Stats) LargeAddresses() []uint64 {
	a := make([]uint64, 0, len(s.Large))
	for addr := range s.Large {
		a = append(a, addr)
	}
	slices.Sort(a)
	return a
}
