package elf

import (
	"fmt"
	"sort"
)

// maxAddress bounds virtual addresses: device memory lies below 2^47, so no
// loadable image can be larger.
const maxAddress = 1 << 47

// Parse reads and validates a code object (a bare AMDGPU ELF file; Open also
// takes bundles). It errors with a *FormatError (wrapping ErrInvalid) for
// malformed files and wraps ErrUnsupported for kinds that are not loaded:
// code object V2, PAL and Mesa objects, relocatable objects, unknown
// processors. The result refers to file, which must not change.
func Parse(file []byte) (*CodeObject, error) {
	f, err := readELF(file)
	if err != nil {
		return nil, err
	}
	version, err := f.codeObjectVersion()
	if err != nil {
		return nil, err
	}
	co := &CodeObject{File: file, Version: version, Flags: f.flags, elf: f}
	if co.Target, err = targetFromFlags(f.flags, version); err != nil {
		return nil, err
	}
	if err := co.readSegments(); err != nil {
		return nil, err
	}
	if err := co.readDynamic(); err != nil {
		return nil, err
	}
	if err := co.readNotes(); err != nil {
		return nil, err
	}
	if err := co.bindKernels(); err != nil {
		return nil, err
	}
	if err := co.findGlobals(); err != nil {
		return nil, err
	}
	return co, nil
}

// codeObjectVersion checks the identification (LLVM AMDGPUUsage, ELF Header)
// and gives the version, 3 to 6.
func (f *elfFile) codeObjectVersion() (int, error) {
	if f.machine != machineAMDGPU {
		return 0, bad(18, "e_machine", "%d, want %d (EM_AMDGPU)", f.machine, machineAMDGPU)
	}
	switch f.osABI {
	case osABIHSA:
	case osABIPAL:
		return 0, fmt.Errorf("%w: AMDPAL object (EI_OSABI 65)", ErrUnsupported)
	case osABIMesa:
		return 0, fmt.Errorf("%w: Mesa object (EI_OSABI 66)", ErrUnsupported)
	default:
		return 0, fmt.Errorf("%w: EI_OSABI %d, want %d (AMDGPU HSA)", ErrUnsupported, f.osABI, osABIHSA)
	}
	switch {
	case f.abi == 0:
		return 0, fmt.Errorf("%w: code object V2 (EI_ABIVERSION 0)", ErrUnsupported)
	case f.abi > 4:
		return 0, fmt.Errorf("%w: EI_ABIVERSION %d is newer than code object V6", ErrUnsupported, f.abi)
	case f.typ != typeDyn:
		return 0, fmt.Errorf("%w: e_type %d, want %d: not linked (ET_REL) or no shared object", ErrUnsupported, f.typ, typeDyn)
	}
	return int(f.abi) + 2, nil
}

func (co *CodeObject) readSegments() error {
	for i, p := range co.elf.progs {
		if p.typ != progLoad || p.memsz == 0 {
			continue
		}
		name := func(field string) string { return fmt.Sprintf("program header %d %s", i, field) }
		switch {
		case p.filesz > p.memsz:
			return bad(p.at+32, name("p_filesz"), "%#x is more than p_memsz %#x", p.filesz, p.memsz)
		case !inside(p.vaddr, p.memsz, maxAddress):
			return bad(p.at+16, name("p_vaddr"), "%#x bytes at %#x end above %#x", p.memsz, p.vaddr, uint64(maxAddress))
		case p.al&(p.al-1) != 0 || p.al > maxAddress:
			return bad(p.at+48, name("p_align"), "%#x is no power of two", p.al)
		case p.al > 1 && (p.vaddr-p.off)%p.al != 0:
			return bad(p.at+16, name("p_vaddr"), "%#x and p_offset %#x differ modulo p_align %#x", p.vaddr, p.off, p.al)
		case p.vaddr < co.ImageSize:
			return bad(p.at+16, name("p_vaddr"), "%#x lies before the end of the segment before it, %#x", p.vaddr, co.ImageSize)
		}
		co.Segments = append(co.Segments, Segment{VAddr: p.vaddr, MemSize: p.memsz, FileOff: p.off, FileSize: p.filesz,
			Align: max(p.al, 1), Read: p.flags&4 != 0, Write: p.flags&2 != 0, Exec: p.flags&1 != 0})
		co.ImageSize = p.vaddr + p.memsz
		co.ImageAlign = max(co.ImageAlign, p.al, 1)
	}
	if len(co.Segments) == 0 {
		return bad(32, "e_phoff", "no loadable segment")
	}
	return nil
}

// segment finds the segment that holds [addr, addr+size), nil when none does.
func (co *CodeObject) segment(addr, size uint64) *Segment {
	i := sort.Search(len(co.Segments), func(i int) bool { return co.Segments[i].VAddr > addr })
	if i == 0 {
		return nil
	}
	s := &co.Segments[i-1]
	if !inside(addr-s.VAddr, size, s.MemSize) {
		return nil
	}
	return s
}

// fileRange gives the bytes of the file that are loaded at [addr, addr+size)
// and their offset; false when they are not all in the file.
func (co *CodeObject) fileRange(addr, size uint64) ([]byte, uint64, bool) {
	s := co.segment(addr, size)
	if s == nil || !inside(addr-s.VAddr, size, s.FileSize) {
		return nil, 0, false
	}
	off := s.FileOff + addr - s.VAddr
	return co.File[off : off+size : off+size], off, true
}

// fileRest gives the file's bytes from addr to the end of its segment.
func (co *CodeObject) fileRest(addr uint64) ([]byte, uint64, bool) {
	s := co.segment(addr, 0)
	if s == nil || addr-s.VAddr > s.FileSize {
		return nil, 0, false
	}
	return co.fileRange(addr, s.FileSize-(addr-s.VAddr))
}
