package heap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestKinds holds the table to the device library's own (ockl dm.cl, the
// kinfo array): blocks, usable blocks, offset of the first block.
func TestKinds(t *testing.T) {
	for k, want := range [NumKinds][4]int{
		{16, 130054, 129546, 16288}, {24, 86927, 86758, 10904}, {32, 65280, 64770, 8192}, {48, 43576, 43406, 5504},
		{64, 32703, 32193, 4160}, {96, 21816, 21646, 2816}, {128, 16367, 15856, 2176}, {192, 10915, 10745, 1472},
		{256, 8187, 7676, 1280}, {384, 5459, 5289, 896}, {512, 4094, 3583, 1024}, {768, 2730, 2560, 512},
		{1024, 2047, 1536, 1024}, {1536, 1365, 1195, 512}, {2048, 1023, 512, 2048}, {3072, 682, 512, 2048},
	} {
		kind := &Kinds[k]
		if got := [4]int{kind.BlockSize, kind.Blocks, kind.Usable(), kind.first}; got != want {
			t.Errorf("kind %d: %v, want %v", k, got, want)
		}
		if end := kind.first + kind.Blocks*kind.BlockSize; end > SlabSize || kind.first < offBitmap+(kind.Blocks+31)/32*4 {
			t.Errorf("kind %d: blocks from %d to %d overlap the bitmap or the end", k, kind.first, end)
		}
		// A block is unusable when and only when it starts a page.
		for i := range kind.Blocks {
			unusable := kind.preset(i/32)>>(i%32)&1 != 0
			if page := (kind.first+i*kind.BlockSize)%BlockAlign == 0; page != unusable {
				t.Fatalf("kind %d, block %d: unusable %v, starts a page %v", k, i, unusable, page)
			}
		}
	}
	// The patterns that the library fills bitmaps of some kinds with.
	for k, want := range map[int]uint32{6: 0x00008000, 8: 0x08000800, 9: 0x00080000, 10: 0x40404040, 11: 0x04000400,
		12: 0x88888888, 13: 0x20202020, 14: 0xaaaaaaaa, 15: 0x44444444} {
		for _, w := range []int{0, 1, 7} {
			if got := Kinds[k].preset(w); got != want {
				t.Errorf("kind %d, word %d: %#08x, want %#08x", k, w, got, want)
			}
		}
	}
}

func TestInit(t *testing.T) {
	header := slices.Repeat([]byte{0xa5}, HeaderSize)
	if err := Init(header, 0x200000000, 3); err != nil {
		t.Fatal(err)
	}
	want := make([]byte, HeaderSize)
	for off, v := range map[int]uint64{108544: 0x200000000, 108552: 0x200600000, 108560: 0x200000000} {
		binary.LittleEndian.PutUint64(want[off:], v)
	}
	if !slices.Equal(header, want) {
		t.Error("the header is not zeros and the range of slabs")
	}
	if err := Init(header, 0, 0); err != nil || slices.ContainsFunc(header, func(b byte) bool { return b != 0 }) {
		t.Errorf("a heap without initial slabs is not all zeros: %v", err)
	}
	for _, c := range []struct {
		size  int
		slabs uint64
		n     int
	}{
		{HeaderSize - 1, 0, 0}, {HeaderSize, 0x1000, 1}, {HeaderSize, 0, 1}, {HeaderSize, 0x200000, -1},
		{HeaderSize, math.MaxUint64 &^ (SlabSize - 1), 2}, {HeaderSize, 0x200000, math.MaxInt},
	} {
		if err := Init(make([]byte, c.size), c.slabs, c.n); !errors.Is(err, ErrMemory) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// arena is memory for a pool.
type arena struct {
	next  uint64
	live  map[uint64]uint64
	limit uint64
}

var errFull = errors.New("arena is full")

func (a *arena) alloc(size, align uint64) (uint64, func() error, error) {
	if size > a.limit {
		return 0, nil, errFull
	}
	addr := (a.next + align - 1) &^ (align - 1)
	a.next = addr + size
	a.live[addr] = size
	return addr, func() error {
		if _, ok := a.live[addr]; !ok {
			return fmt.Errorf("%#x freed twice", addr)
		}
		delete(a.live, addr)
		return nil
	}, nil
}

// TestPool: against a map, any order of requests, right ones and wrong ones.
func TestPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &arena{next: 0x1000, live: map[uint64]uint64{}, limit: 1 << 30}
		limit := rapid.Uint64Range(0, 64<<20).Draw(t, "limit")
		p := NewPool(a.alloc, limit)
		var bytes, peak uint64
		freed := map[uint64]bool{}
		t.Repeat(map[string]func(*rapid.T){
			"alloc": func(t *rapid.T) {
				size := rapid.OneOf(rapid.Uint64Range(1, 10000), rapid.SampledFrom([]uint64{SlabSize, SlabSize + 1, 16 << 20, 1 << 40, math.MaxUint64})).Draw(t, "size")
				addr, err := p.Alloc(size)
				if size > limit-bytes {
					if !errors.Is(err, ErrLimit) {
						t.Fatalf("%d bytes above the limit: %#x, %v", size, addr, err)
					}
					return
				}
				if err != nil || addr == 0 || addr%BlockAlign != 0 || size >= SlabSize && addr%SlabSize != 0 {
					t.Fatalf("%d bytes: %#x, %v", size, addr, err)
				}
				bytes += size
				peak = max(peak, bytes)
			},
			"free": func(t *rapid.T) {
				if len(a.live) == 0 {
					t.Skip("nothing to free")
				}
				addr := rapid.SampledFrom(slices.Sorted(maps.Keys(a.live))).Draw(t, "addr")
				bytes -= a.live[addr]
				if err := p.Free(addr); err != nil {
					t.Fatal(err)
				}
				freed[addr] = true
			},
			"free again": func(t *rapid.T) {
				if len(freed) == 0 {
					t.Skip("nothing was freed")
				}
				addr := rapid.SampledFrom(slices.Sorted(maps.Keys(freed))).Draw(t, "addr")
				if err := p.Free(addr); !errors.Is(err, ErrDoubleFree) {
					t.Fatalf("%#x: %v", addr, err)
				}
			},
			"free what is not there": func(t *rapid.T) {
				addr := rapid.Uint64().Draw(t, "addr") | 1
				if err := p.Free(addr); !errors.Is(err, ErrForeignFree) {
					t.Fatalf("%#x: %v", addr, err)
				}
			},
			"": func(t *rapid.T) {
				if now, most := p.Bytes(); now != bytes || most != peak || !maps.Equal(p.Blocks(), a.live) {
					t.Fatalf("%d bytes, peak %d, blocks %v; want %d, %d, %v", now, most, p.Blocks(), bytes, peak, a.live)
				}
			},
		})
		if err := p.Close(); err != nil || len(a.live) != 0 {
			t.Fatalf("%d blocks after Close: %v", len(a.live), err)
		}
	})
}

// TestPoolBackingFails: the backing's error comes through and nothing changes.
func TestPoolBackingFails(t *testing.T) {
	a := &arena{next: 0x1000, live: map[uint64]uint64{}, limit: 100}
	p := NewPool(a.alloc, math.MaxUint64)
	if _, err := p.Alloc(101); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if now, peak := p.Bytes(); now != 0 || peak != 0 || len(p.Blocks()) != 0 {
		t.Errorf("%d bytes, peak %d", now, peak)
	}
}

// model is a heap as device code of one version leaves it, written from the
// structure in ockl dm.cl: heap_s with a pad of 4 or 16 words a counter.
type model struct {
	memory map[uint64][]byte
	m      Memory
	pad    int
	next   uint64
}

func newModel(pad int) *model {
	md := &model{memory: map[uint64][]byte{}, pad: pad, next: 0x7f0000000000}
	md.m = Memory{Header: make([]byte, HeaderSize), Blocks: map[uint64]uint64{}}
	md.m.Read = func(dst []byte, addr uint64) error {
		for base, b := range md.memory {
			if off := addr - base; off < uint64(len(b)) && uint64(len(dst)) <= uint64(len(b))-off {
				copy(dst, b[off:])
				return nil
			}
		}
		return fmt.Errorf("%d bytes at %#x are not mapped", len(dst), addr)
	}
	return md
}

func (md *model) give(size, align uint64, backed int) uint64 {
	addr := (md.next + align - 1) &^ (align - 1)
	md.next = addr + size
	md.m.Blocks[addr] = size
	md.memory[addr] = make([]byte, backed)
	return addr
}

func (md *model) counter(array, k int) []byte { return md.m.Header[(array*16+k)*md.pad*8:] }

func (md *model) entry(k, index int) []byte {
	tables := 5 * 16 * md.pad * 8
	at := func(b []byte, i int) []byte { return b[i*24:] }
	header := md.m.Header[tables+k*256*24:]
	if index < 256 {
		return at(header, index)
	}
	link := at(header, (index-256)/256)
	addr := binary.LittleEndian.Uint64(link)
	if addr == 0 {
		addr = md.give(6144, 4096, 6144)
		binary.LittleEndian.PutUint64(link, addr)
	}
	return at(md.memory[addr], (index-256)%256)
}

// slab adds a slab of kind k at addr with these blocks in use.
func (md *model) slab(k int, addr uint64, used []int) {
	le := binary.LittleEndian
	n := le.Uint32(md.counter(1, k))
	e := md.entry(k, int(n))
	le.PutUint64(e[8:], addr)
	le.PutUint32(e[16:], uint32(len(used)))
	le.PutUint32(md.counter(1, k), n+1)
	le.PutUint32(md.counter(2, k), (n/256+1)*256)
	le.PutUint64(md.counter(3, k), 12345)
	size, first, blocks := Kinds[k].BlockSize, Kinds[k].first, Kinds[k].Blocks
	b := md.memory[addr]
	le.PutUint32(b, uint32(k))
	le.PutUint32(b[4:], n)
	set := func(i int) { b[16+i/8] |= 1 << (i % 8) }
	for i := range blocks {
		if (first+i*size)%4096 == 0 {
			set(i)
		}
	}
	for i := blocks; i%32 != 0; i++ {
		set(i)
	}
	for _, i := range used {
		set(i)
	}
}

const slabHead = 32 << 10 // of a slab is backed by memory: header and bitmap

// TestRead: the statistics are those of the heap that a model of any version
// wrote, and the version is found.
func TestRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.IntRange(0, len(Layouts)-1).Draw(t, "version")
		pad := 16
		if version == 0 {
			pad = 4
		}
		md := newModel(pad)
		var first uint64
		taken := 0
		if version > 0 && rapid.Bool().Draw(t, "initial") {
			md.m.Slabs = 3
			first = md.give(3*SlabSize, SlabSize, 3*SlabSize)
			delete(md.m.Blocks, first) // not the pool's
			md.m.First = first
		}
		slabs := rapid.IntRange(1, 6).Draw(t, "slabs")
		many := rapid.IntRange(0, 9).Draw(t, "many") == 0 // into the second table
		var want [NumKinds]Class
		live := uint64(0)
		for i := range slabs {
			k := rapid.IntRange(0, 15).Draw(t, "kind")
			repeat := 1
			if many && i == 0 {
				repeat = 300
			}
			for range repeat {
				var addr uint64
				if taken < md.m.Slabs {
					addr = first + uint64(taken)*SlabSize
					md.memory[addr] = make([]byte, slabHead)
					if taken == 0 {
						delete(md.memory, first)
						md.memory[first] = make([]byte, slabHead)
					}
					taken++
				} else {
					addr = md.give(SlabSize, SlabSize, slabHead)
				}
				var used []int
				for range rapid.IntRange(0, 20).Draw(t, "blocks") {
					b := rapid.IntRange(0, Kinds[k].Blocks-1).Draw(t, "block")
					if (Kinds[k].first+b*Kinds[k].BlockSize)%4096 != 0 && !slices.Contains(used, b) {
						used = append(used, b)
					}
				}
				md.slab(k, addr, used)
				want[k].Slabs++
				want[k].Used += len(used)
				live += uint64(len(used) * Kinds[k].BlockSize)
			}
		}
		large := map[uint64]uint64{}
		for range rapid.IntRange(0, 3).Draw(t, "large") {
			size := rapid.Uint64Range(3073, 5<<20).Draw(t, "size")
			align := uint64(4096)
			if size >= SlabSize {
				align = SlabSize
			}
			large[md.give(size, align, 8)] = size
			live += size
		}
		binary.LittleEndian.PutUint64(md.m.Header[[]int{0x18a00, 0x1a880, 0x1a888}[version]:], uint64(len(large)))

		s, err := Read(&md.m)
		if err != nil || len(s.Problems) != 0 {
			t.Fatalf("%v, problems %v", err, s.Problems)
		}
		for k := range want {
			if s.Classes[k].Slabs != want[k].Slabs || s.Classes[k].Used != want[k].Used {
				t.Errorf("kind %d: %d slabs with %d blocks, want %d with %d", k, s.Classes[k].Slabs, s.Classes[k].Used, want[k].Slabs, want[k].Used)
			}
		}
		if s.Live != live || !maps.Equal(s.Large, large) || s.UnusedSlabs != md.m.Slabs-taken {
			t.Errorf("%d bytes live, large %v, %d slabs unused; want %d, %v, %d", s.Live, s.Large, s.UnusedSlabs, live, large, md.m.Slabs-taken)
		}
		// The two newer layouts differ only in where large blocks are counted.
		if s.Layout != &Layouts[version] && (version == 0 || len(large) > 0) {
			t.Errorf("layout %q, want %q", s.Layout.Versions, Layouts[version].Versions)
		}
		if s.TableBytes != 6144*uint64(boolInt(many)) {
			t.Errorf("%d bytes in tables", s.TableBytes)
		}
	})
}

// TestReadShared: with heaps that the header does not know of, their blocks
// are large ones and no contradiction.
func TestReadShared(t *testing.T) {
	md := newModel(16)
	md.slab(5, md.give(SlabSize, SlabSize, slabHead), []int{0})
	theirs := md.give(SlabSize, SlabSize, slabHead)
	md.m.Shared = true
	s, err := Read(&md.m)
	if err != nil || len(s.Problems) != 0 || !maps.Equal(s.Large, map[uint64]uint64{theirs: SlabSize}) {
		t.Errorf("%v, problems %v, large %v", err, s.Problems, s.Large)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestReadHostile: every lie in the structures is named, none is followed.
func TestReadHostile(t *testing.T) {
	le := binary.LittleEndian
	for _, c := range []struct {
		name string
		lie  func(md *model, slab uint64)
		want error
		text string
	}{
		{"more slabs than can be", func(md *model, _ uint64) { le.PutUint32(md.counter(1, 3), math.MaxUint32) }, ErrCorrupt, "4294967295 slabs of 48-byte blocks"},
		{"more than there is room for", func(md *model, _ uint64) { le.PutUint32(md.counter(1, 5), 257) }, ErrCorrupt, "257 slabs of 96-byte blocks, room for 256"},
		{"table nowhere", func(md *model, _ uint64) {
			for range 255 {
				md.slab(5, md.give(SlabSize, SlabSize, slabHead), nil)
			}
			le.PutUint32(md.counter(2, 5), 512)
			le.PutUint32(md.counter(1, 5), 257)
			le.PutUint64(md.entry(5, 0), 0xdead0000)
		}, ErrCorrupt, "table 0 of 96-byte blocks at 0xdead0000"},
		{"slab nowhere", func(md *model, _ uint64) { le.PutUint64(md.entry(5, 0)[8:], 0x123400000000) }, ErrCorrupt, "address 0x123400000000"},
		{"slab is a small block", func(md *model, _ uint64) { le.PutUint64(md.entry(5, 0)[8:], md.give(5000, SlabSize, 5000)) }, ErrCorrupt, "address"},
		{"slab inside a slab", func(md *model, slab uint64) { le.PutUint64(md.entry(5, 0)[8:], slab+4096) }, ErrCorrupt, "address"},
		{"slab of two kinds", func(md *model, slab uint64) {
			le.PutUint32(md.counter(1, 6), 1)
			le.PutUint32(md.counter(2, 6), 256)
			le.PutUint64(md.entry(6, 0)[8:], slab)
		}, ErrCorrupt, "128-byte blocks"},
		{"slab of another kind", func(md *model, slab uint64) { le.PutUint32(md.memory[slab], 7) }, ErrCorrupt, "its header says kind 7"},
		{"slab of another index", func(md *model, slab uint64) { le.PutUint32(md.memory[slab][4:], 7) }, ErrCorrupt, "index 7"},
		{"slab that is unmapped", func(md *model, slab uint64) { md.memory[slab] = nil }, ErrCorrupt, "not mapped"},
		{"slab beyond the count", func(md *model, slab uint64) { le.PutUint64(md.entry(5, 9)[8:], slab) }, ErrCorrupt, "slab 9"},
		{"counter too high", func(md *model, _ uint64) { le.PutUint32(md.entry(5, 0)[16:], 9) }, ErrCorrupt, "9 blocks counted, 2 in use"},
		{"freed twice", func(md *model, _ uint64) { le.PutUint32(md.entry(5, 0)[16:], math.MaxUint32) }, ErrDoubleFree, "3 frees of blocks that were free"},
		{"unusable block freed", func(md *model, slab uint64) { md.memory[slab][16+56/8] = 0 }, ErrForeignFree, "1 blocks freed that malloc never gives out"},
		{"freed into no slab", func(md *model, _ uint64) { le.PutUint32(md.entry(0, 0)[16:], math.MaxUint32) }, ErrForeignFree, "-1 blocks in use in no slab of 16-byte"},
		{"large count too low", func(md *model, _ uint64) { le.PutUint64(md.m.Header[0x1a888:], math.MaxUint64) }, ErrDoubleFree, "-1 large blocks counted"},
		{"large count too high", func(md *model, _ uint64) { le.PutUint64(md.m.Header[0x1a888:], 5) }, ErrCorrupt, "5 large blocks counted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			md := newModel(16)
			slab := md.give(SlabSize, SlabSize, slabHead)
			md.slab(5, slab, []int{0, 57})
			// Others keep the layout certain.
			for _, k := range []int{8, 9, 10} {
				md.slab(k, md.give(SlabSize, SlabSize, slabHead), []int{1, 2, 3})
			}
			c.lie(md, slab)
			s, err := Read(&md.m)
			if err != nil {
				t.Fatal(err)
			}
			if s.Layout.Stride != 128 || !slices.ContainsFunc(s.Problems, func(err error) bool { return errors.Is(err, c.want) && strings.Contains(err.Error(), c.text) }) {
				t.Errorf("layout %q, problems %v, want %q", s.Layout.Versions, s.Problems, c.text)
			}
			if s.Classes[8].Used != 3 || s.Classes[10].Used != 3 {
				t.Errorf("kinds 8 and 10 have %d and %d blocks in use", s.Classes[8].Used, s.Classes[10].Used)
			}
		})
	}
}
