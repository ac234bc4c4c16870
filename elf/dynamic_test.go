package elf_test

import (
	"errors"
	"strings"
	"testing"

	"gfxrt/elf"
)

// dynamicEntry finds the file offset of a tag's value in the dynamic section.
func dynamicEntry(t *testing.T, b []byte, tag uint64) uint64 {
	t.Helper()
	for p := b[64:]; ; p = p[56:] {
		if le.Uint32(p) != 2 {
			continue
		}
		for off := le.Uint64(p[8:]); le.Uint64(b[off:]) != 0; off += 16 {
			if le.Uint64(b[off:]) == tag {
				return off + 8
			}
		}
		t.Fatalf("no dynamic tag %d", tag)
	}
}

func TestDynamicErrors(t *testing.T) {
	const hash, strtab, symtab, rela, relasz, relaent, strsz, syment = 4, 5, 6, 7, 8, 9, 10, 11
	const far = 1 << 40
	at := func(tag uint64, value uint64) func(*testing.T, []byte) {
		return func(t *testing.T, b []byte) { le.PutUint64(b[dynamicEntry(t, b, tag):], value) }
	}
	// file and image offsets are equal in the first segment
	in := func(tag, off uint64, value uint32) func(*testing.T, []byte) {
		return func(t *testing.T, b []byte) { le.PutUint32(b[le.Uint64(b[dynamicEntry(t, b, tag):])+off:], value) }
	}
	for _, c := range []struct {
		field  string
		change func(*testing.T, []byte)
	}{
		{"DT_HASH", at(hash, far)},
		{"DT_SYMTAB", in(hash, 4, 1<<31)},
		{"DT_SYMTAB", in(hash, 4, 150)},
		{"DT_SYMTAB", at(symtab, far)},
		{"DT_STRTAB", at(strtab, far)},
		{"DT_STRTAB", at(strsz, 1<<63)},
		{"DT_SYMENT", at(syment, 16)},
		{"DT_RELASZ", at(rela, far)},
		{"DT_RELASZ", at(relasz, 25)},
		{"DT_RELASZ", at(relasz, 1<<60)},
		{"DT_RELAENT", at(relaent, 16)},
		{".rela.dyn[0] r_offset", in(rela, 4, 1)},
		{".rela.dyn[0] r_info", in(rela, 8, 4)},     // REL32 is no dynamic type
		{".rela.dyn[0] r_info", in(rela, 8, 5)},     // nor REL64
		{".rela.dyn[0] r_info", in(rela, 12, 1000)}, // symbol index
		{".dynsym[1] st_name", in(symtab, 24, 1<<30)},
		{".dynsym[1] st_value", in(symtab, 24+12, 1)},
		{".dynsym[1] st_value", in(symtab, 24+20, 1)},
		{".dynsym[1] st_shndx", in(symtab, 24+4, 0xff000011)},
	} {
		b := testdata(t, "v6.hsaco")
		c.change(t, b)
		co, err := elf.Parse(b)
		var fe *elf.FormatError
		if co != nil || !errors.As(err, &fe) || !strings.Contains(fe.Field, c.field) {
			t.Errorf("%s: %v", c.field, err)
		}
	}
	// relocations that are not RELA
	for _, tag := range []uint64{2, 18, 35} {
		b := testdata(t, "v6.hsaco")
		off := dynamicEntry(t, b, relaent)
		le.PutUint64(b[off-8:], tag)
		if _, err := elf.Parse(b); !errors.Is(err, elf.ErrUnsupported) {
			t.Errorf("tag %d: %v", tag, err)
		}
	}
	// without a hash table the section header counts; without both nothing does
	for _, file := range []string{"gnuhash.hsaco", "gnuhash-stripped.hsaco"} {
		b := testdata(t, file)
		le.PutUint64(b[dynamicEntry(t, b, 0x6ffffef5)-8:], 0x70000000)
		_, err := elf.Parse(b)
		if file == "gnuhash.hsaco" && err != nil || file != "gnuhash.hsaco" && !errors.Is(err, elf.ErrInvalid) {
			t.Errorf("%s without DT_GNU_HASH: %v", file, err)
		}
	}
}

// TestGNUHashDamage holds that a damaged hash table gives an error or
// symbols, in bounded time.
func TestGNUHashDamage(t *testing.T) {
	good := testdata(t, "gnuhash-stripped.hsaco")
	start := le.Uint64(good[dynamicEntry(t, good, 0x6ffffef5):])
	for off := start; off < start+48; off++ {
		for _, v := range []byte{0, 0x7f, 0xff} {
			b := append([]byte(nil), good...)
			b[off] = v
			if co, err := elf.Parse(b); (co != nil) != (err == nil) {
				t.Errorf("offset %#x = %#x: %v", off, v, err)
			}
		}
	}
}

// TestAbsoluteRelocations turns the one relocation of v6.hsaco into each type
// a loader applies (S and A as in LLVM's Relocation Records table).
func TestAbsoluteRelocations(t *testing.T) {
	const base, addend = 0x123400000000, 0x10
	good := testdata(t, "v6.hsaco")
	co := parse(t, "v6.hsaco")
	rela := le.Uint64(good[dynamicEntry(t, good, 7):])
	symbol := 0
	for i, s := range co.Symbols {
		if s.Name == "step" {
			symbol = i + 1
		}
	}
	place, s := co.Relocations[0].Offset, base+co.Global("step").Addr+addend
	for typ, want := range map[uint32]uint64{1: s & 0xffffffff, 2: s >> 32, 3: s, 13: base + addend} {
		b := append([]byte(nil), good...)
		le.PutUint32(b[rela+8:], typ)
		le.PutUint32(b[rela+12:], uint32(symbol))
		le.PutUint64(b[rela+16:], addend)
		co, err := elf.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		image, err := co.Image(base, nil)
		if err != nil || le.Uint64(image[place:]) != want {
			t.Errorf("type %d: %#x, %v, want %#x", typ, le.Uint64(image[place:]), err, want)
		}
	}
	b := append([]byte(nil), good...)
	le.PutUint32(b[rela+8:], 6) // ABS32 of an address above 4 GiB
	le.PutUint32(b[rela+12:], uint32(symbol))
	co, err := elf.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := co.Image(base, nil); !errors.Is(err, elf.ErrTooLarge) {
		t.Errorf("R_AMDGPU_ABS32: %v", err)
	}
	if _, err := co.Image(0, nil); err != nil {
		t.Errorf("R_AMDGPU_ABS32 at base 0: %v", err)
	}
}

// TestHugeImage holds that Image refuses what Load leaves to its caller.
func TestHugeImage(t *testing.T) {
	b := testdata(t, "v6.hsaco")
	n := 0
	for i := range int(le.Uint16(b[56:])) {
		if le.Uint32(b[64+i*56:]) == 1 {
			n = 64 + i*56
		}
	}
	le.PutUint64(b[n+40:], 1<<40) // p_memsz of the last segment
	co, err := elf.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := co.Image(0, nil); !errors.Is(err, elf.ErrTooLarge) {
		t.Errorf("a terabyte of .bss: %v", err)
	}
}
