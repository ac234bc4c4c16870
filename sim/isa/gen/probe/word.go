package main

import (
	"encoding/binary"
	"fmt"
)

// word is an encoding's first 128 bits.
type word struct{ lo, hi uint64 }

func wordOf(code []byte) word {
	var b [16]byte
	copy(b[:], code)
	return word{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
}

// put replaces the leading bits of code.
func (w word) put(code []byte) []byte {
	out := append([]byte(nil), code...)
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], w.lo)
	binary.LittleEndian.PutUint64(b[8:], w.hi)
	copy(out, b[:])
	return out
}

func (w word) or(v word) word  { return word{w.lo | v.lo, w.hi | v.hi} }
func (w word) not(v word) word { return word{w.lo &^ v.lo, w.hi &^ v.hi} }

// shifted is v at bit i.
func shifted(v uint64, i int) word {
	switch {
	case i >= 64:
		return word{0, v << (i - 64)}
	case i == 0:
		return word{v, 0}
	}
	return word{v << i, v >> (64 - i)}
}

func (w word) bit(i int) bool {
	b := shifted(1, i)
	return w.lo&b.lo|w.hi&b.hi != 0
}

func (w word) flip(i int) word {
	b := shifted(1, i)
	return word{w.lo ^ b.lo, w.hi ^ b.hi}
}

func (w word) String() string {
	if w.hi != 0 {
		return fmt.Sprintf("%x%016x", w.hi, w.lo)
	}
	return fmt.Sprintf("%016x", w.lo)
}
