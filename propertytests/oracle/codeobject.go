// Package oracle holds the checks that property tests and fuzz targets share.
package oracle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"gfxrt/elf"
)

// maxImage is the largest image an oracle loads; larger ones are only refused
// or left alone.
const maxImage = 4 << 20

// CodeObject parses data and checks the answer: an error of a named kind or a
// valid value, never both.
func CodeObject(data []byte) error {
	co, err := elf.Parse(data)
	if err := oneOf(co != nil, err, elf.ErrInvalid, elf.ErrUnsupported); err != nil || co == nil {
		return err
	}
	return ValidCodeObject(co)
}

// Bundle lists and opens data as any container and checks every entry.
func Bundle(data []byte) error {
	entries, err := elf.List(data)
	if err := oneOf(entries != nil, err, elf.ErrInvalid, elf.ErrUnsupported, elf.ErrTooLarge); err != nil || entries == nil {
		return err
	}
	for i, e := range entries {
		if i == 16 {
			break // entries may all be one object
		}
		if err := CodeObject(e.Data); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	device := elf.Target{Processor: "gfx90a", XNACK: elf.FeatureOff, SRAMECC: elf.FeatureOn}
	for _, want := range []elf.Target{{}, device} {
		co, err := elf.Open(data, want)
		if err := oneOf(co != nil, err, elf.ErrInvalid, elf.ErrUnsupported, elf.ErrNoMatch, elf.ErrAmbiguous); err != nil {
			return err
		}
		if co != nil && want.Processor != "" && !elf.Compatible(co.Target, want) {
			return fmt.Errorf("opened code for %v as %v", co.Target, want)
		}
	}
	return nil
}

// oneOf checks "an error or a value, never both", and that the error wraps
// one of the named ones.
func oneOf(value bool, err error, kinds ...error) error {
	switch {
	case value == (err != nil):
		return fmt.Errorf("value: %v, error: %v", value, err)
	case err != nil && !slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) }):
		return fmt.Errorf("unnamed error: %w", err)
	}
	return nil
}

// within reports whether one segment holds [addr, addr+size).
func within(co *elf.CodeObject, addr, size uint64) *elf.Segment {
	for i, s := range co.Segments {
		if addr >= s.VAddr && addr-s.VAddr <= s.MemSize && size <= s.MemSize-(addr-s.VAddr) {
			return &co.Segments[i]
		}
	}
	return nil
}

// ValidCodeObject checks that everything reachable from a parsed object is in
// range, and that loading and look-ups work or say why not.
func ValidCodeObject(co *elf.CodeObject) error {
	end := uint64(0)
	for i, s := range co.Segments {
		if s.VAddr < end || s.MemSize > 1<<47-s.VAddr || s.FileSize > s.MemSize || s.FileOff > uint64(len(co.File)) || s.FileSize > uint64(len(co.File))-s.FileOff {
			return fmt.Errorf("segment %d: %+v", i, s)
		}
		end = s.VAddr + s.MemSize
	}
	if end != co.ImageSize || len(co.Segments) == 0 || co.Version < 3 || co.Version > 6 || co.Target.Generation() == 0 {
		return fmt.Errorf("image %#x, V%d, %v", co.ImageSize, co.Version, co.Target)
	}
	if t, err := elf.ParseTarget(co.Target.String()); err != nil || t.Processor != co.Target.Processor {
		return fmt.Errorf("target %v does not read back: %w", co.Target, err)
	}
	for _, s := range co.Symbols {
		if s.Defined && !s.Absolute && (s.Value > end || s.Size > end-s.Value) {
			return fmt.Errorf("symbol %+v", s)
		}
	}
	for i, r := range co.Relocations {
		if r.Type != elf.RelocNone && within(co, r.Offset, 4) == nil || r.Symbol < -1 || r.Symbol >= len(co.Symbols) {
			return fmt.Errorf("relocation %d: %+v", i, r)
		}
	}
	for _, g := range co.Globals {
		if g.Managed && (within(co, g.Addr, 8) == nil || within(co, g.InitAddr, g.Size) == nil) || !g.Managed && within(co, g.Addr, g.Size) == nil {
			return fmt.Errorf("global %+v", g)
		}
	}
	for i := range co.Kernels {
		if err := validKernel(co, &co.Kernels[i]); err != nil {
			return fmt.Errorf("kernel %q: %w", co.Kernels[i].Name, err)
		}
	}
	return loads(co)
}

func validKernel(co *elf.CodeObject, k *elf.Kernel) error {
	g := co.Target.Generation()
	d := k.Descriptor
	code := within(co, k.Entry, 4)
	switch {
	case within(co, k.DescAddr, elf.DescriptorSize) == nil || k.DescAddr%64 != 0:
		return fmt.Errorf("descriptor at %#x", k.DescAddr)
	case code == nil || !code.Exec || k.Entry%256 != 0 || k.Entry != k.DescAddr+uint64(d.EntryOffset):
		return fmt.Errorf("entry at %#x", k.Entry)
	case !slices.Contains(co.Target.WaveSizes(), k.WavefrontSize) || d.Wave32() != (k.WavefrontSize == 32):
		return fmt.Errorf("wave size %d", k.WavefrontSize)
	case k.KernargSize > elf.MaxKernargSize || k.KernargAlign == 0 || k.KernargAlign&(k.KernargAlign-1) != 0:
		return fmt.Errorf("kernarg size %d align %d", k.KernargSize, k.KernargAlign)
	case d.VGPRs(g) < 4 || d.VGPRs(g) > 1024 || d.AccumOffset(g) > d.VGPRs(g) || d.SGPRs(g) > 128 || d.UserSGPRCount(g) > 63:
		return fmt.Errorf("registers of %+v", d)
	case d.WorkItemIDDims() > 3 || k.GroupSize < d.GroupSegmentSize || k.PrivateSize < d.PrivateSegmentSize:
		return fmt.Errorf("%+v", d)
	case d.KernargPreloadLength() > 0 && 4*(d.KernargPreloadLength()+d.KernargPreloadOffset()) > int(k.KernargSize)+3:
		return fmt.Errorf("preload of %+v", d)
	}
	used := map[uint32]int{}
	for i, a := range k.Args {
		if a.Offset > k.KernargSize || a.Size > k.KernargSize-a.Offset {
			return fmt.Errorf("argument %d: %+v", i, a)
		}
		for b := uint32(0); b < min(a.Size, 64) && a.Kind != elf.HiddenNone; b++ {
			if j, taken := used[a.Offset+b]; taken {
				return fmt.Errorf("arguments %d and %d overlap", j, i)
			}
			used[a.Offset+b] = i
		}
	}
	return nil
}

// loads relocates the image and looks addresses up.
func loads(co *elf.CodeObject) error {
	if co.ImageSize <= maxImage {
		image, err := co.Image(1<<46, func(string) (uint64, bool) { return 8, true })
		if err != nil && !errors.Is(err, elf.ErrTooLarge) || err == nil && uint64(len(image)) != co.ImageSize {
			return fmt.Errorf("image of %#x bytes: %w", len(image), err)
		}
	} else if co.ImageSize > uint64(len(co.File))+elf.MaxImageSlack {
		if _, err := co.Image(0, nil); !errors.Is(err, elf.ErrTooLarge) {
			return fmt.Errorf("image of %#x bytes: %w", co.ImageSize, err)
		}
	}
	for i, k := range co.Kernels {
		if i == 64 {
			break
		}
		for _, addr := range []uint64{k.Entry, k.Entry + 4, k.Entry + 252, k.DescAddr} {
			if name, off, ok := co.SymbolAt(addr); ok && (name == "" || off > addr) {
				return fmt.Errorf("symbol %q+%#x at %#x", name, off, addr)
			}
			if _, line, ok := co.Line(addr); ok && line <= 0 {
				return fmt.Errorf("line %d at %#x", line, addr)
			}
		}
	}
	return nil
}

// WithMetadata gives a copy of a code object whose metadata note holds other
// bytes: the new note goes to the end of the file and PT_NOTE leads to it.
func WithMetadata(object, metadata []byte) []byte {
	le := binary.LittleEndian
	b := append(slices.Clone(object), make([]byte, -len(object)&3)...)
	at := len(b)
	b = le.AppendUint32(b, 7)
	b = le.AppendUint32(b, uint32(len(metadata)))
	b = le.AppendUint32(b, 32)
	b = append(append(b, "AMDGPU\x00\x00"...), metadata...)
	phoff, phnum := int(le.Uint64(b[32:])), int(le.Uint16(b[56:]))
	for i := range phnum {
		if p := b[phoff+i*56:]; le.Uint32(p) == 4 {
			le.PutUint64(p[8:], uint64(at))
			le.PutUint64(p[32:], uint64(len(b)-at))
		}
	}
	return b
}

// Metadata gives the metadata bytes of a code object, nil when it has none.
func Metadata(object []byte) []byte {
	le := binary.LittleEndian
	phoff, phnum := int(le.Uint64(object[32:])), int(le.Uint16(object[56:]))
	for i := range phnum {
		if p := object[phoff+i*56:]; le.Uint32(p) == 4 {
			note := object[le.Uint64(p[8:]):]
			return note[20 : 20+le.Uint32(note[4:])]
		}
	}
	return nil
}
