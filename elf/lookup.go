package elf

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"io"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// lookup holds what address look-ups need, built on first use.
type lookup struct {
	symbolsOnce sync.Once
	sized       []int // indexes into Symbols by address
	unsized     []int

	linesOnce sync.Once
	lines     lineTable
}

// SymbolAt names the symbol that covers an address of the image and how far
// into it the address is. Symbols without a size cover what follows them in
// their segment.
func (co *CodeObject) SymbolAt(vaddr uint64) (name string, off uint64, ok bool) {
	l := &co.lookup
	l.symbolsOnce.Do(co.indexSymbols)
	i := co.lastAt(l.sized, vaddr)
	// Symbols may nest; enclosing ones are looked for among a few neighbours.
	for n := 0; i-n >= 0 && n < 16; n++ {
		if s := &co.Symbols[l.sized[i-n]]; vaddr-s.Value < s.Size {
			return s.Name, vaddr - s.Value, true
		}
	}
	if i := co.lastAt(l.unsized, vaddr); i >= 0 {
		s := &co.Symbols[l.unsized[i]]
		if seg := co.segment(s.Value, 0); seg != nil && vaddr-seg.VAddr < seg.MemSize {
			return s.Name, vaddr - s.Value, true
		}
	}
	return "", 0, false
}

// lastAt finds the last symbol of an index that starts at or before vaddr,
// of several at one address the first listed; -1 for none.
func (co *CodeObject) lastAt(index []int, vaddr uint64) int {
	i := sort.Search(len(index), func(i int) bool { return co.Symbols[index[i]].Value > vaddr }) - 1
	if i < 0 {
		return -1
	}
	start := co.Symbols[index[i]].Value
	return sort.Search(i, func(j int) bool { return co.Symbols[index[j]].Value >= start })
}

func (co *CodeObject) indexSymbols() {
	l := &co.lookup
	for i, s := range co.Symbols {
		switch {
		case !s.Defined || s.Absolute || s.Name == "":
		case s.Size != 0 && s.Type != SymbolNone:
			l.sized = append(l.sized, i)
		default:
			l.unsized = append(l.unsized, i)
		}
	}
	for _, index := range [][]int{l.sized, l.unsized} {
		slices.SortStableFunc(index, func(i, j int) int { return cmp.Compare(co.Symbols[i].Value, co.Symbols[j].Value) })
	}
}

// Line gives the source line an address of the image was compiled from, when
// the object has debug information (.debug_line). Code without a line of its
// own (line 0) has none.
func (co *CodeObject) Line(vaddr uint64) (file string, line int, ok bool) {
	l := &co.lookup
	l.linesOnce.Do(co.readLines)
	i := sort.Search(len(l.lines.spans), func(i int) bool { return l.lines.spans[i].start > vaddr }) - 1
	if i < 0 || vaddr >= l.lines.spans[i].end {
		return "", 0, false
	}
	s := l.lines.spans[i]
	f := l.lines.files[s.file]
	if f.dir == "" || strings.HasPrefix(f.name, "/") {
		return f.name, int(s.line), true
	}
	return strings.TrimSuffix(f.dir, "/") + "/" + f.name, int(s.line), true
}

func (co *CodeObject) readLines() {
	r := lineReader{
		strings:     newStringTable(co.debugSection(".debug_str")),
		lineStrings: newStringTable(co.debugSection(".debug_line_str")),
		executable: func(addr uint64) bool {
			s := co.segment(addr, 1)
			return s != nil && s.Exec
		},
	}
	r.read(co.debugSection(".debug_line"))
	co.lookup.lines = r.lineTable
}

// maxRatio bounds what compressed bytes may expand to, beyond a fixed slack:
// no honest object reaches it, and a few bytes must not ask for gigabytes.
// zlib cannot exceed it.
const (
	maxRatio      = 1032
	maxRatioSlack = 16 << 20
)

func ratioLimit(compressed int) uint64 { return uint64(compressed)*maxRatio + maxRatioSlack }

// debugSection gives the bytes of a section, decompressed when it is
// compressed (SHF_COMPRESSED); nil when it is missing or damaged.
func (co *CodeObject) debugSection(name string) []byte {
	s := co.elf.sectionNamed(name)
	if s == nil {
		return nil
	}
	b := co.elf.sectionBytes(s)
	if s.flags&sectionZipped == 0 {
		return b
	}
	// Elf64_Chdr: ch_type, padding, ch_size, ch_addralign.
	if len(b) < 24 {
		return nil
	}
	method, size := le.Uint32(b), le.Uint64(b[8:])
	b = b[24:]
	// Debug information shrinks to a fifth or so; its line rows take some 24
	// times their bytes in memory.
	if size > uint64(len(b))*64+1<<20 {
		return nil
	}
	var out []byte
	var err error
	switch method {
	case 1:
		out, _, err = inflate(b, size)
	case 2:
		out, err = unzstd(b, size)
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	return out
}

// inflate decompresses a zlib stream of exactly size bytes and gives how many
// compressed bytes it took.
func inflate(b []byte, size uint64) ([]byte, int, error) {
	src := bytes.NewReader(b)
	z, err := zlib.NewReader(src)
	if err != nil {
		return nil, 0, err
	}
	var out bytes.Buffer
	// One byte more than size tells a longer stream apart.
	if _, err := io.Copy(&out, io.LimitReader(z, int64(size)+1)); err != nil {
		return nil, 0, err
	}
	if uint64(out.Len()) != size {
		return nil, 0, io.ErrUnexpectedEOF
	}
	return out.Bytes(), len(b) - src.Len(), nil
}

// unzstd decompresses zstd frames of exactly size bytes. The output's capacity
// bounds what is decoded; the decoder's own memory limit also bounds the
// window a frame may state, which often exceeds the contents, and DecodeAll
// allocates no window.
func unzstd(b []byte, size uint64) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	out, err := d.DecodeAll(b, make([]byte, 0, size))
	if err != nil {
		return nil, err
	}
	if uint64(len(out)) != size {
		return nil, io.ErrUnexpectedEOF
	}
	return out, nil
}
