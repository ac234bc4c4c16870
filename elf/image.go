package elf

import (
	"errors"
	"fmt"
)

// ErrUndefined is wrapped by the error about a symbol that nothing defines.
var ErrUndefined = errors.New("undefined symbol")

// ErrTooLarge is wrapped by errors about images and bundles over a limit.
var ErrTooLarge = errors.New("too large")

// MaxImageSlack bounds what Image allocates to the file's size and this many
// bytes: a few header bytes could otherwise ask for any amount of zeroed
// memory. Load has no limit; its caller provides the memory.
const MaxImageSlack = 256 << 20

// Image gives the loaded bytes of the code object: every segment at its
// virtual address, zeros between, relocated for a load at address base.
// resolve (which may be nil) gives the addresses of undefined symbols; a weak
// one that it does not know is 0, another is ErrUndefined.
func (co *CodeObject) Image(base uint64, resolve func(name string) (uint64, bool)) ([]byte, error) {
	if co.ImageSize > uint64(len(co.File))+MaxImageSlack {
		return nil, fmt.Errorf("%w: image of %#x bytes from a file of %#x", ErrTooLarge, co.ImageSize, len(co.File))
	}
	image := make([]byte, co.ImageSize)
	if err := co.copyAndRelocate(image, base, resolve); err != nil {
		return nil, err
	}
	return image, nil
}

// Load does the same into the caller's memory, whose first ImageSize bytes it
// overwrites.
func (co *CodeObject) Load(dst []byte, base uint64, resolve func(name string) (uint64, bool)) error {
	if uint64(len(dst)) < co.ImageSize {
		return fmt.Errorf("image of %#x bytes does not fit in %#x", co.ImageSize, len(dst))
	}
	clear(dst[:co.ImageSize])
	return co.copyAndRelocate(dst, base, resolve)
}

func (co *CodeObject) copyAndRelocate(image []byte, base uint64, resolve func(name string) (uint64, bool)) error {
	for _, s := range co.Segments {
		copy(image[s.VAddr:], co.File[s.FileOff:s.FileOff+s.FileSize])
	}
	for i, r := range co.Relocations {
		value := base
		switch {
		case r.Type == RelocNone:
			continue
		case r.Type != RelocRelative64:
			var err error
			if value, err = co.symbolAddress(r.Symbol, base, resolve); err != nil {
				return fmt.Errorf("relocation %d at %#x: %w", i, r.Offset, err)
			}
		}
		value += uint64(r.Addend)
		switch place := image[r.Offset:]; r.Type {
		case RelocAbs64, RelocRelative64:
			le.PutUint64(place, value)
		case RelocAbs32Hi:
			le.PutUint32(place, uint32(value>>32))
		case RelocAbs32Lo:
			le.PutUint32(place, uint32(value))
		case RelocAbs32:
			if value>>32 != 0 {
				return fmt.Errorf("relocation %d at %#x: %w: R_AMDGPU_ABS32 of %#x", i, r.Offset, ErrTooLarge, value)
			}
			le.PutUint32(place, uint32(value))
		}
	}
	return nil
}

// symbolAddress is the S of the relocation formulas.
func (co *CodeObject) symbolAddress(index int, base uint64, resolve func(name string) (uint64, bool)) (uint64, error) {
	if index < 0 {
		return 0, nil
	}
	s := &co.Symbols[index]
	switch {
	case s.Defined && s.Absolute:
		return s.Value, nil
	case s.Defined:
		return base + s.Value, nil
	}
	if resolve != nil {
		if addr, ok := resolve(s.Name); ok {
			return addr, nil
		}
	}
	if s.Weak {
		return 0, nil
	}
	return 0, fmt.Errorf("%w: %.256q", ErrUndefined, s.Name)
}
