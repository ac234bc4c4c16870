package elf

import (
	"fmt"
)

// Dynamic section tags (System V ABI).
const (
	dtNull     = 0
	dtPLTRelSz = 2
	dtHash     = 4
	dtStrTab   = 5
	dtSymTab   = 6
	dtRela     = 7
	dtRelaSz   = 8
	dtRelaEnt  = 9
	dtStrSz    = 10
	dtSymEnt   = 11
	dtRelSz    = 18
	dtRelrSz   = 35
	dtGNUHash  = 0x6ffffef5
)

// dynamicEntry is one used entry of the dynamic section.
type dynamicEntry struct {
	value, at uint64
	set       bool
}

type dynamicSection map[uint64]dynamicEntry

// readDynamic reads the dynamic section and what it leads to: symbols and
// relocations. It needs no section headers, which may be stripped.
func (co *CodeObject) readDynamic() error {
	dyn := dynamicSection{}
	found := false
	for _, p := range co.elf.progs {
		if p.typ != progDynamic {
			continue
		}
		if found {
			return bad(p.at, "PT_DYNAMIC", "more than one")
		}
		found = true
		for at := p.off; ; at += 16 {
			if !inside(at-p.off, 16, p.filesz) {
				return bad(at, "PT_DYNAMIC", "no DT_NULL in %#x bytes", p.filesz)
			}
			tag := le.Uint64(co.File[at:])
			if tag == dtNull {
				break
			}
			if !dyn[tag].set {
				dyn[tag] = dynamicEntry{le.Uint64(co.File[at+8:]), at + 8, true}
			}
		}
	}
	if !found {
		return bad(32, "PT_DYNAMIC", "no such program header: not a shared object")
	}
	for _, d := range []struct {
		tag  uint64
		name string
	}{{dtPLTRelSz, "DT_PLTRELSZ"}, {dtRelSz, "DT_RELSZ"}, {dtRelrSz, "DT_RELRSZ"}} {
		if dyn[d.tag].value != 0 {
			return fmt.Errorf("%w: %s of %d bytes: only DT_RELA relocations are loaded", ErrUnsupported, d.name, dyn[d.tag].value)
		}
	}
	dynCount, err := co.readDynamicSymbols(dyn)
	if err != nil {
		return err
	}
	if err := co.readRelocations(dyn, dynCount); err != nil {
		return err
	}
	return co.readStaticSymbols()
}

// readDynamicSymbols appends .dynsym without its null entry and gives the
// number of entries, the null entry included.
func (co *CodeObject) readDynamicSymbols(dyn dynamicSection) (uint64, error) {
	symtab := dyn[dtSymTab]
	if !symtab.set {
		return 0, nil
	}
	if e := dyn[dtSymEnt]; e.set && e.value != symbolSize {
		return 0, bad(e.at, "DT_SYMENT", "%d, want %d", e.value, symbolSize)
	}
	strtab, strsz := dyn[dtStrTab], dyn[dtStrSz]
	names, _, ok := co.fileRange(strtab.value, strsz.value)
	if !ok {
		return 0, bad(strtab.at, "DT_STRTAB", "%#x bytes at address %#x are not in a segment's file bytes", strsz.value, strtab.value)
	}
	count, err := co.dynamicSymbolCount(dyn)
	if err != nil {
		return 0, err
	}
	if count > uint64(len(co.File))/symbolSize {
		return 0, bad(symtab.at, "DT_SYMTAB", "%d symbols in a file of %#x bytes", count, len(co.File))
	}
	b, at, ok := co.fileRange(symtab.value, count*symbolSize)
	if !ok {
		return 0, bad(symtab.at, "DT_SYMTAB", "%d symbols at address %#x are not in a segment's file bytes", count, symtab.value)
	}
	table := newStringTable(names)
	if count > 0 {
		co.Symbols = make([]Symbol, 0, count-1)
	}
	for i := uint64(1); i < count; i++ {
		s, err := co.readSymbol(b[i*symbolSize:], at+i*symbolSize, table, ".dynsym", i)
		if err != nil {
			return 0, err
		}
		co.Symbols = append(co.Symbols, s)
	}
	return count, nil
}

// dynamicSymbolCount takes the number from DT_HASH, else DT_GNU_HASH, else
// the section header of .dynsym.
func (co *CodeObject) dynamicSymbolCount(dyn dynamicSection) (uint64, error) {
	if h := dyn[dtHash]; h.set {
		b, _, ok := co.fileRange(h.value, 8)
		if !ok {
			return 0, bad(h.at, "DT_HASH", "address %#x is not in a segment's file bytes", h.value)
		}
		return uint64(le.Uint32(b[4:])), nil
	}
	if h := dyn[dtGNUHash]; h.set {
		return co.gnuHashCount(h)
	}
	for i := range co.elf.sections {
		s := &co.elf.sections[i]
		if s.typ == sectionDynsym && s.addr == dyn[dtSymTab].value {
			return s.size / symbolSize, nil
		}
	}
	return 0, bad(dyn[dtSymTab].at, "DT_SYMTAB", "nothing tells the number of symbols: no DT_HASH, DT_GNU_HASH or .dynsym header")
}

// gnuHashCount finds the last symbol of the last chain.
func (co *CodeObject) gnuHashCount(h dynamicEntry) (uint64, error) {
	fail := func(format string, args ...any) (uint64, error) {
		return 0, bad(h.at, "DT_GNU_HASH", format, args...)
	}
	b, at, ok := co.fileRest(h.value)
	if !ok || len(b) < 16 {
		return fail("address %#x is not in a segment's file bytes", h.value)
	}
	buckets, first, bloom := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:])), uint64(le.Uint32(b[8:]))
	skip := 16 + bloom*8
	if !inside(skip, buckets*4, uint64(len(b))) {
		return fail("%d buckets and %d Bloom words do not fit", buckets, bloom)
	}
	last := uint64(0)
	for i := range buckets {
		last = max(last, uint64(le.Uint32(b[skip+i*4:])))
	}
	if last == 0 {
		return first, nil
	}
	if last < first {
		return fail("bucket %d is before the first hashed symbol %d", last, first)
	}
	for chains := skip + buckets*4; ; last++ {
		off := chains + (last-first)*4
		if !inside(off, 4, uint64(len(b))) {
			return fail("chain does not end by offset %#x", at+uint64(len(b)))
		}
		if le.Uint32(b[off:])&1 != 0 {
			return last + 1, nil
		}
	}
}

// Symbol section indexes (System V ABI, and AMDGPU's SHN_AMDGPU_LDS).
const (
	indexUndefined = 0
	indexLDS       = 0xff00
	indexAbsolute  = 0xfff1
	indexCommon    = 0xfff2
)

// readSymbol decodes one Elf64_Sym, entry i of a table, and checks its range.
func (co *CodeObject) readSymbol(b []byte, at uint64, names *stringTable, table string, i uint64) (Symbol, error) {
	fail := func(off uint64, field, format string, args ...any) (Symbol, error) {
		return Symbol{}, bad(at+off, fmt.Sprintf("%s[%d] %s", table, i, field), format, args...)
	}
	name, reason := names.get(le.Uint32(b))
	if reason != "" {
		return fail(0, "st_name", "%s", reason)
	}
	binding, index := b[4]>>4, le.Uint16(b[6:])
	s := Symbol{Name: name, Value: le.Uint64(b[8:]), Size: le.Uint64(b[16:]), Type: SymbolType(b[4] & 15),
		Global: binding == 1 || binding == 2, Weak: binding == 2, Defined: index != indexUndefined, Absolute: index == indexAbsolute}
	if index == indexLDS || index == indexCommon {
		return fail(6, "st_shndx", "%#x in a linked object", index)
	}
	if s.Defined && !s.Absolute && !inside(s.Value, s.Size, co.ImageSize) {
		return fail(8, "st_value", "%#x bytes at %#x end beyond the image, %#x", s.Size, s.Value, co.ImageSize)
	}
	return s, nil
}

// readStaticSymbols adds what .symtab has beyond .dynsym: local functions and
// variables, which name addresses in traces.
func (co *CodeObject) readStaticSymbols() error {
	f := co.elf
	for i := range f.sections {
		sec := &f.sections[i]
		if sec.typ != sectionSymtab {
			continue
		}
		field := fmt.Sprintf("section header %d", i)
		if uint64(sec.link) >= uint64(len(f.sections)) {
			return bad(sec.at+40, field+" sh_link", "%d of %d sections", sec.link, len(f.sections))
		}
		if sec.size%symbolSize != 0 {
			return bad(sec.at+32, field+" sh_size", "%#x is no multiple of %d", sec.size, symbolSize)
		}
		strings := &f.sections[sec.link]
		return co.mergeSymbols(f.sectionBytes(sec), sec.off, newStringTable(f.sectionBytes(strings)))
	}
	return nil
}

func (co *CodeObject) mergeSymbols(b []byte, at uint64, names *stringTable) error {
	type key struct {
		name  string
		value uint64
	}
	have := make(map[key]bool, len(co.Symbols))
	for _, s := range co.Symbols {
		have[key{s.Name, s.Value}] = true
	}
	for off := uint64(symbolSize); off < uint64(len(b)); off += symbolSize {
		typ, index := SymbolType(b[off+4]&15), le.Uint16(b[off+6:])
		if typ > SymbolFunc || index == indexUndefined {
			continue // section, file and TLS symbols name nothing in the image
		}
		if int(index) < len(co.elf.sections) && co.elf.sections[index].flags&sectionAlloc == 0 {
			continue
		}
		s, err := co.readSymbol(b[off:], at+off, names, ".symtab", off/symbolSize)
		if err != nil {
			return err
		}
		if k := (key{s.Name, s.Value}); s.Name != "" && !have[k] {
			have[k] = true
			co.Symbols = append(co.Symbols, s)
		}
	}
	return nil
}

// width gives the bytes a relocation writes; 0 for R_AMDGPU_NONE. ok is false
// for types no loader applies (LLVM AMDGPUUsage, Relocation Records; ROCr
// errors on them too).
func (t RelocationType) width() (n uint64, ok bool) {
	switch t {
	case RelocNone:
		return 0, true
	case RelocAbs32Lo, RelocAbs32Hi, RelocAbs32:
		return 4, true
	case RelocAbs64, RelocRelative64:
		return 8, true
	}
	return 0, false
}

func (co *CodeObject) readRelocations(dyn dynamicSection, symbols uint64) error {
	rela, size := dyn[dtRela], dyn[dtRelaSz]
	if !rela.set || size.value == 0 {
		return nil
	}
	if e := dyn[dtRelaEnt]; e.set && e.value != relaSize {
		return bad(e.at, "DT_RELAENT", "%d, want %d", e.value, relaSize)
	}
	b, at, ok := co.fileRange(rela.value, size.value)
	if !ok || size.value%relaSize != 0 {
		return bad(size.at, "DT_RELASZ", "%#x bytes at address %#x are not whole records in a segment's file bytes", size.value, rela.value)
	}
	co.Relocations = make([]Relocation, 0, size.value/relaSize)
	for off := uint64(0); off < size.value; off += relaSize {
		info := le.Uint64(b[off+8:])
		r := Relocation{Offset: le.Uint64(b[off:]), Type: RelocationType(info), Symbol: int(info>>32) - 1, Addend: int64(le.Uint64(b[off+16:]))}
		fail := func(o uint64, field, format string, args ...any) error {
			return bad(at+off+o, fmt.Sprintf(".rela.dyn[%d] %s", off/relaSize, field), format, args...)
		}
		n, known := r.Type.width()
		switch {
		case !known:
			return fail(8, "r_info", "relocation type %d is not a dynamic one", r.Type)
		case n != 0 && co.segment(r.Offset, n) == nil:
			return fail(0, "r_offset", "%d bytes at %#x are in no segment", n, r.Offset)
		case info>>32 >= max(symbols, 1):
			return fail(8, "r_info", "symbol %d of %d", info>>32, symbols)
		}
		co.Relocations = append(co.Relocations, r)
	}
	return nil
}
