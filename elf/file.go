package elf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// ELF numbers used here (System V ABI, and LLVM AMDGPUUsage for AMDGPU's).
const (
	headerSize  = 64
	progSize    = 56
	sectionSize = 64
	symbolSize  = 24
	relaSize    = 24

	typeDyn = 3

	machineX8664   = 62
	machineAArch64 = 183
	machineAMDGPU  = 224

	osABIHSA  = 64
	osABIPAL  = 65
	osABIMesa = 66

	progLoad    = 1
	progDynamic = 2
	progNote    = 4

	sectionNull    = 0
	sectionSymtab  = 2
	sectionNoBits  = 8
	sectionDynsym  = 11
	sectionAlloc   = 2
	sectionZipped  = 0x800
	extendedNumber = 0xffff // e_phnum and e_shstrndx when the count is in section 0
)

var le = binary.LittleEndian

// bad makes a FormatError.
func bad(offset uint64, field, format string, args ...any) error {
	return &FormatError{Offset: offset, Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Error gives "invalid code object: FIELD at offset 0xN: REASON".
func (e *FormatError) Error() string {
	return fmt.Sprintf("%v: %s at offset %#x: %s", ErrInvalid, e.Field, e.Offset, e.Reason)
}

// Unwrap makes errors.Is(err, ErrInvalid) hold.
func (e *FormatError) Unwrap() error { return ErrInvalid }

// inside reports whether [off, off+size) lies in [0, limit).
func inside(off, size, limit uint64) bool {
	end, carry := bits.Add64(off, size, 0)
	return carry == 0 && end <= limit
}

// elfFile is an ELF64 little-endian file whose header tables, segments and
// sections are known to lie inside data.
type elfFile struct {
	data         []byte
	osABI, abi   uint8
	typ, machine uint16
	flags        uint32
	progs        []progHeader
	sections     []section
	names        []byte // section name table
}

type progHeader struct {
	at                            uint64 // offset of the header itself
	typ, flags                    uint32
	off, vaddr, filesz, memsz, al uint64
}

type section struct {
	at                   uint64 // offset of the header itself
	name, typ, link      uint32
	flags, addr          uint64
	off, size, entry, al uint64
	info                 uint32
}

// readELF checks the header and both header tables. It copies nothing.
func readELF(data []byte) (*elfFile, error) {
	if len(data) < 4 || string(data[:4]) != elfMagic {
		return nil, bad(0, "e_ident", "no ELF magic")
	}
	if len(data) < headerSize {
		return nil, bad(0, "e_ident", "%d bytes are less than an ELF header", len(data))
	}
	if data[4] != 2 || data[5] != 1 || data[6] != 1 {
		return nil, bad(4, "e_ident", "class %d, data %d, version %d: want 64-bit little-endian version 1", data[4], data[5], data[6])
	}
	f := &elfFile{data: data, osABI: data[7], abi: data[8],
		typ: le.Uint16(data[16:]), machine: le.Uint16(data[18:]), flags: le.Uint32(data[48:])}
	if v := le.Uint32(data[20:]); v != 1 {
		return nil, bad(20, "e_version", "%d", v)
	}
	phoff, shoff := le.Uint64(data[32:]), le.Uint64(data[40:])
	phnum, shnum := uint64(le.Uint16(data[56:])), uint64(le.Uint16(data[60:]))
	shstrndx := uint64(le.Uint16(data[62:]))
	if shoff != 0 {
		if size := le.Uint16(data[58:]); size != sectionSize {
			return nil, bad(58, "e_shentsize", "%d, want %d", size, sectionSize)
		}
		if !inside(shoff, sectionSize, uint64(len(data))) {
			return nil, bad(40, "e_shoff", "%#x is beyond the end of the file, %#x", shoff, len(data))
		}
		first := readSection(data, shoff)
		if shnum == 0 {
			shnum = first.size
		}
		if shstrndx == extendedNumber {
			shstrndx = uint64(first.link)
		}
		if phnum == extendedNumber {
			phnum = uint64(first.info)
		}
	} else if shnum != 0 {
		return nil, bad(60, "e_shnum", "%d section headers at offset 0", shnum)
	}
	if err := f.readProgs(phoff, phnum); err != nil {
		return nil, err
	}
	if err := f.readSections(shoff, shnum, shstrndx); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *elfFile) readProgs(phoff, phnum uint64) error {
	if phnum == 0 {
		return nil
	}
	if size := le.Uint16(f.data[54:]); size != progSize {
		return bad(54, "e_phentsize", "%d, want %d", size, progSize)
	}
	limit := uint64(len(f.data))
	if phnum > limit/progSize || !inside(phoff, phnum*progSize, limit) {
		return bad(32, "e_phoff", "%d program headers at %#x do not fit in %#x bytes", phnum, phoff, limit)
	}
	f.progs = make([]progHeader, phnum)
	for i := range f.progs {
		at := phoff + uint64(i)*progSize
		b := f.data[at:]
		p := progHeader{at: at, typ: le.Uint32(b), flags: le.Uint32(b[4:]), off: le.Uint64(b[8:]),
			vaddr: le.Uint64(b[16:]), filesz: le.Uint64(b[32:]), memsz: le.Uint64(b[40:]), al: le.Uint64(b[48:])}
		if !inside(p.off, p.filesz, limit) {
			return bad(at+8, fmt.Sprintf("program header %d p_offset", i), "%#x bytes at %#x are beyond the end of the file, %#x", p.filesz, p.off, limit)
		}
		f.progs[i] = p
	}
	return nil
}

func readSection(data []byte, at uint64) section {
	b := data[at : at+sectionSize]
	return section{at: at, name: le.Uint32(b), typ: le.Uint32(b[4:]), flags: le.Uint64(b[8:]), addr: le.Uint64(b[16:]),
		off: le.Uint64(b[24:]), size: le.Uint64(b[32:]), link: le.Uint32(b[40:]), info: le.Uint32(b[44:]),
		al: le.Uint64(b[48:]), entry: le.Uint64(b[56:])}
}

func (f *elfFile) readSections(shoff, shnum, shstrndx uint64) error {
	if shnum == 0 {
		return nil
	}
	limit := uint64(len(f.data))
	if shnum > limit/sectionSize || !inside(shoff, shnum*sectionSize, limit) {
		return bad(40, "e_shoff", "%d section headers at %#x do not fit in %#x bytes", shnum, shoff, limit)
	}
	f.sections = make([]section, shnum)
	for i := range f.sections {
		s := readSection(f.data, shoff+uint64(i)*sectionSize)
		if s.typ == sectionNoBits || s.typ == sectionNull {
			s.off = 0 // occupies no bytes
		} else if !inside(s.off, s.size, limit) {
			return bad(s.at+24, fmt.Sprintf("section header %d sh_offset", i), "%#x bytes at %#x are beyond the end of the file, %#x", s.size, s.off, limit)
		}
		f.sections[i] = s
	}
	if shstrndx == 0 {
		return nil
	}
	if shstrndx >= shnum {
		return bad(62, "e_shstrndx", "%d of %d sections", shstrndx, shnum)
	}
	f.names = f.sectionBytes(&f.sections[shstrndx])
	return nil
}

// sectionBytes gives a section's bytes in the file, nil for .bss and the like.
func (f *elfFile) sectionBytes(s *section) []byte {
	if s.typ == sectionNoBits || s.typ == sectionNull {
		return nil
	}
	return f.data[s.off : s.off+s.size]
}

// isNamed compares a section's name without scanning past the name's length.
func (f *elfFile) isNamed(s *section, name string) bool {
	if uint64(s.name) >= uint64(len(f.names)) {
		return false
	}
	rest := f.names[s.name:]
	return len(rest) > len(name) && string(rest[:len(name)]) == name && rest[len(name)] == 0
}

// sectionNamed finds the first section of that name, nil when there is none.
func (f *elfFile) sectionNamed(name string) *section {
	for i := range f.sections {
		if f.isNamed(&f.sections[i], name) {
			return &f.sections[i]
		}
	}
	return nil
}

// stringTable hands out the NUL-terminated strings of a table. Symbols may
// share one long string, so the total that a table hands out is bounded: a
// linker's tail merging never comes near 16 times the table.
type stringTable struct {
	b      []byte
	budget int
}

func newStringTable(b []byte) *stringTable {
	return &stringTable{b: b, budget: 16*len(b) + 1<<16}
}

// get gives the string at an offset; reason is "" or says what is wrong.
func (t *stringTable) get(off uint32) (s, reason string) {
	if uint64(off) >= uint64(len(t.b)) {
		if off == 0 {
			return "", ""
		}
		return "", fmt.Sprintf("offset %#x in a string table of %#x bytes", off, len(t.b))
	}
	rest := t.b[off:]
	if len(rest) > t.budget {
		rest = rest[:t.budget]
	}
	n := bytes.IndexByte(rest, 0)
	if n < 0 {
		return "", "string does not end, or the names are too long together"
	}
	t.budget -= n
	return string(rest[:n]), ""
}
