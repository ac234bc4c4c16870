package check

import (
	"sync"
	"sync/atomic"
)

// shadow marks dwords of an address space.
type shadow struct {
	mu    sync.Mutex
	pages map[uint64]*[pageWords / 64]uint64 // by address / pageBytes
	any   atomic.Bool                        // some dword was ever marked
}

const (
	pageBytes = 4096
	pageWords = pageBytes / 4
)

// marked reports whether a dword that [addr, addr+n) touches is marked.
func (s *shadow) marked(addr uint64, n uint32) bool {
	if !s.any.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := addr &^ 3; a-addr&^3 < uint64(n)+addr&3; a += 4 {
		if p := s.pages[a/pageBytes]; p != nil && p[a%pageBytes/256]>>(a%256/4)&1 != 0 {
			return true
		}
	}
	return false
}

// mark marks the dwords that [addr, addr+n) touches; clearing takes only those
// that it covers.
func (s *shadow) mark(addr uint64, n uint32, on bool) {
	if !on && !s.any.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if on {
		s.any.Store(true)
		if s.pages == nil {
			s.pages = map[uint64]*[pageWords / 64]uint64{}
		}
	}
	end := addr + uint64(n)
	for a := addr &^ 3; a-addr&^3 < uint64(n)+addr&3; a += 4 {
		if !on && (a < addr || a+4 > end) {
			continue
		}
		p := s.pages[a/pageBytes]
		if p == nil {
			if !on {
				continue
			}
			p = new([pageWords / 64]uint64)
			s.pages[a/pageBytes] = p
		}
		bit := uint64(1) << (a % 256 / 4)
		if on {
			p[a%pageBytes/256] |= bit
		} else {
			p[a%pageBytes/256] &^= bit
		}
	}
}
