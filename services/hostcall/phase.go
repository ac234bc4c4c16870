package hostcall

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// Offsets in the control block of a phase buffer.
const (
	offDevicePhase   = 0
	offHostPhase     = 8
	offOccupied      = 16
	offPhaseHeaders  = 24
	offPhasePayloads = 32
	offPhaseDoorbell = 40
	offPhasePackets  = 48
	phaseControl     = 56

	phaseHeaderSize = 16
	offPhaseMask    = 0
	offPhaseService = 8
)

// Phase is a hostcall buffer of the form with phase bitmaps, which device
// libraries from 2025 on may use instead of Classic. Nothing in a code object
// tells which it wants. A packet is ready while its device phase bit differs
// from its host phase bit. Device code rings the doorbell at most every 10 us,
// so the host must also poll. One goroutine at a time services it.
//
// Layout: ROCm device libraries hostcall_impl.cl of 2025.
type Phase struct {
	mem     []byte
	packets int
	words   int      // of each bitmap
	phase   []uint32 // the host's phase bits, of which memory has a copy
	err     error
}

// PhaseSize returns the bytes that a phase buffer of n packets occupies.
func PhaseSize(n int) (int, error) {
	if n < 1 || n > MaxPackets {
		return 0, fmt.Errorf("%d packets, want 1 to %d: %w", n, MaxPackets, ErrMemory)
	}
	p := Phase{packets: n, words: (n + 31) / 32}
	return p.payload(n), nil
}

func (p *Phase) bitmap(i int) int      { return phaseControl + i*4*p.words } // 0 device, 1 host, 2 occupied
func (p *Phase) header(index int) int  { return (p.bitmap(3)+7)&^7 + index*phaseHeaderSize }
func (p *Phase) payload(index int) int { return p.header(p.packets) + index*payloadSize }

// NewPhase writes the initial state of a buffer of n packets into mem, whose
// first byte has GPU address base, and returns its host side. doorbell is the
// handle of the signal that waves increment; occupied is the GPU address of n
// zero bits, rounded up to words, that only waves use: 0 places them in mem.
func NewPhase(mem []byte, base uint64, n int, doorbell, occupied uint64) (*Phase, error) {
	size, err := PhaseSize(n)
	if err != nil {
		return nil, err
	}
	if err := checkBuffer(mem, base, size); err != nil {
		return nil, err
	}
	p := &Phase{mem: mem[:size:size], packets: n, words: (n + 31) / 32}
	p.phase = make([]uint32, p.words)
	clear(p.mem)
	put := func(off int, v uint64) { binary.LittleEndian.PutUint64(p.mem[off:], v) }
	put(offDevicePhase, base+uint64(p.bitmap(0)))
	put(offHostPhase, base+uint64(p.bitmap(1)))
	if occupied == 0 {
		occupied = base + uint64(p.bitmap(2))
	}
	put(offOccupied, occupied)
	put(offPhaseHeaders, base+uint64(p.header(0)))
	put(offPhasePayloads, base+uint64(p.payload(0)))
	put(offPhaseDoorbell, doorbell)
	put(offPhasePackets, uint64(n))
	return p, nil
}

func (p *Phase) word32(off int) *uint32 { return (*uint32)(unsafe.Pointer(&p.mem[off])) }

// Service answers the packets that are ready, by ascending index, and returns
// how many it answered. The error is a structural failure and wraps
// ErrCorrupt; from then on Service does nothing but return it.
func (p *Phase) Service(s *Server) (served int, err error) {
	s.textLeft = MaxText
	for w := 0; w < p.words && p.err == nil; w++ {
		ready := atomic.LoadUint32(p.word32(p.bitmap(0)+4*w)) ^ p.phase[w]
		for ; ready != 0 && p.err == nil; ready &= ready - 1 {
			bit := bits.TrailingZeros32(ready)
			if p.err = p.answer(32*w+bit, s); p.err != nil {
				break
			}
			p.phase[w] ^= 1 << bit
			atomic.StoreUint32(p.word32(p.bitmap(1)+4*w), p.phase[w])
			served++
		}
	}
	return served, p.err
}

func (p *Phase) answer(index int, s *Server) error {
	if index >= p.packets {
		return fmt.Errorf("device_phase: packet %d of %d: %w", index, p.packets, ErrCorrupt)
	}
	h := p.header(index)
	service := Service(binary.LittleEndian.Uint32(p.mem[h+offPhaseService:]))
	if !service.known() {
		return fmt.Errorf("packet %d offset %d (service): unknown service %d: %w", index, h+offPhaseService, service, ErrCorrupt)
	}
	s.packet.answer(s, service, binary.LittleEndian.Uint64(p.mem[h+offPhaseMask:]), p.mem[p.payload(index):])
	return nil
}
