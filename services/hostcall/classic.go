// Package hostcall is the host side of hostcall, by which GPU waves ask the
// host to print, to allocate device memory or to call functions. A wave fills
// a packet in a shared buffer, pushes it on a stack and spins until the host
// has answered. Everything in the buffer is hostile: the host keeps addresses,
// counts and masks to itself and bounds every walk.
//
// Layout and protocol: ROCm device libraries hostcall_impl.cl and services.cl,
// CLR devhostcall.cpp and devhcmessages.cpp.
package hostcall

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// ErrCorrupt is wrapped when the shared buffer is damaged beyond service: the
// waves that wait in it cannot be answered any more.
var ErrCorrupt = errors.New("corrupt hostcall buffer")

// ErrMemory is wrapped when the memory given for a buffer does not fit it.
var ErrMemory = errors.New("invalid hostcall memory")

// ErrRequest is wrapped by errors about one lane's request; the lane is
// answered with a failure and service goes on.
var ErrRequest = errors.New("invalid hostcall request")

// Offsets in the control block.
const (
	offHeaders    = 0
	offPayloads   = 8
	offDoorbell   = 16
	offFreeStack  = 24
	offReadyStack = 32
	offIndexMask  = 40
	offHostOnly   = 48
	controlSize   = 56
)

// Offsets in a packet header.
const (
	offNext       = 0
	offActiveMask = 8
	offService    = 16
	offControl    = 20
	headerSize    = 24
)

const (
	controlReady = 1 // control word bit 0; the others are reserved

	lanes       = 64
	laneWords   = 8
	laneSize    = laneWords * 8
	payloadSize = lanes * laneSize
)

// MaxPackets bounds the size of a buffer.
const MaxPackets = 1 << 18

// Size returns the bytes that a classic buffer of n packets occupies. n must
// be at least the number of waves that can be resident at once: device code
// has no path for an empty free stack.
func Size(n int) (int, error) {
	if n < 1 || n > MaxPackets {
		return 0, fmt.Errorf("%d packets, want 1 to %d: %w", n, MaxPackets, ErrMemory)
	}
	return payloadOffset(n) + n*payloadSize, nil
}

func payloadOffset(n int) int { return (controlSize + n*headerSize + 7) &^ 7 }

// Classic is a hostcall buffer of the form with free and ready stacks, which
// all device libraries before 2025 use. One goroutine at a time services it.
type Classic struct {
	mem     []byte
	packets uint64
	mask    uint64 // covers packet indices; higher bits of a stack entry are its tag
	err     error  // the first structural failure

	chain []uint64 // indices of the packets of one drain
	seen  []bool   // by index, during one drain
}

// NewClassic writes the initial state of a buffer of n packets into mem, whose
// first byte has GPU address base, and returns its host side. doorbell is the
// handle of the signal that waves increment. mem and base are 8-aligned.
func NewClassic(mem []byte, base uint64, n int, doorbell uint64) (*Classic, error) {
	size, err := Size(n)
	if err != nil {
		return nil, err
	}
	if err := checkBuffer(mem, base, size); err != nil {
		return nil, err
	}
	c := &Classic{
		mem:     mem[:size:size],
		packets: uint64(n),
		mask:    1<<bits.Len64(uint64(n-1)) - 1,
		seen:    make([]bool, n),
	}
	clear(c.mem)
	put := func(off int, v uint64) { binary.LittleEndian.PutUint64(c.mem[off:], v) }
	put(offHeaders, base+controlSize)
	put(offPayloads, base+uint64(payloadOffset(n)))
	put(offDoorbell, doorbell)
	put(offIndexMask, c.mask)
	put(offHostOnly, base)
	// All packets are free. The value 0 ends a list, so the entry for packet 0
	// carries a tag.
	for i := 1; i < n; i++ {
		next := uint64(i - 1)
		if i == 1 {
			next = c.mask + 1
		}
		put(c.header(uint64(i))+offNext, next)
	}
	top := uint64(n - 1)
	if top == 0 {
		top = c.mask + 1
	}
	put(offFreeStack, top)
	return c, nil
}

func checkBuffer(mem []byte, base uint64, size int) error {
	switch {
	case len(mem) < size:
		return fmt.Errorf("%d bytes, need %d: %w", len(mem), size, ErrMemory)
	case base%8 != 0 || uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%8 != 0:
		return fmt.Errorf("GPU address %#x or the host's is not 8-aligned: %w", base, ErrMemory)
	case base > ^uint64(0)-uint64(size):
		return fmt.Errorf("GPU address %#x + %d wraps around: %w", base, size, ErrMemory)
	}
	return nil
}

// header and payload return offsets in mem; index is below packets.
func (c *Classic) header(index uint64) int { return controlSize + int(index)*headerSize }
func (c *Classic) payload(index uint64) int {
	return payloadOffset(int(c.packets)) + int(index)*payloadSize
}

func (c *Classic) word64(off int) *uint64 { return (*uint64)(unsafe.Pointer(&c.mem[off])) }
func (c *Classic) word32(off int) *uint32 { return (*uint32)(unsafe.Pointer(&c.mem[off])) }

// Service answers the packets that are ready, oldest first, and returns how
// many it answered. The error is a structural failure and wraps ErrCorrupt;
// from then on Service does nothing but return it.
func (c *Classic) Service(s *Server) (served int, err error) {
	if c.err != nil {
		return 0, c.err
	}
	if err := c.collect(); err != nil {
		c.err = err
		return 0, err
	}
	s.textLeft = MaxText
	// The stack is last in, first out.
	for i := len(c.chain) - 1; i >= 0; i-- {
		if err := c.answer(c.chain[i], s); err != nil {
			c.err = err
			return served, err
		}
		served++
	}
	return served, nil
}

// collect takes the whole ready stack into chain, newest first. All links are
// read before any packet is answered: an answered packet may be in use again.
func (c *Classic) collect() error {
	for _, i := range c.chain {
		c.seen[i] = false
	}
	c.chain = c.chain[:0]
	if atomic.LoadUint64(c.word64(offReadyStack)) == 0 {
		return nil // a swap would take the line from the waves that push
	}
	for entry := atomic.SwapUint64(c.word64(offReadyStack), 0); entry != 0; {
		index := entry & c.mask
		if index >= c.packets {
			return fmt.Errorf("ready stack entry %#x: packet %d of %d: %w", entry, index, c.packets, ErrCorrupt)
		}
		if c.seen[index] {
			return fmt.Errorf("ready stack entry %#x: packet %d is in the stack twice: %w", entry, index, ErrCorrupt)
		}
		c.seen[index] = true
		c.chain = append(c.chain, index)
		entry = atomic.LoadUint64(c.word64(c.header(index) + offNext))
	}
	return nil
}

func (c *Classic) answer(index uint64, s *Server) error {
	h := c.header(index)
	control := atomic.LoadUint32(c.word32(h + offControl))
	if control != controlReady {
		return fmt.Errorf("packet %d offset %d (control): %#x in the ready stack, want READY alone: %w", index, h+offControl, control, ErrCorrupt)
	}
	service := Service(binary.LittleEndian.Uint32(c.mem[h+offService:]))
	if !service.known() {
		return fmt.Errorf("packet %d offset %d (service): unknown service %d: %w", index, h+offService, service, ErrCorrupt)
	}
	s.packet.answer(s, service, binary.LittleEndian.Uint64(c.mem[h+offActiveMask:]), c.mem[c.payload(index):])
	atomic.StoreUint32(c.word32(h+offControl), 0)
	return nil
}

// packet is a private copy of the active lanes of one packet's payload.
type packet struct {
	mask  uint64
	slots [lanes][laneWords]uint64
}

// answer serves the request in payload and stores the results there.
func (p *packet) answer(s *Server, service Service, mask uint64, payload []byte) {
	p.load(payload, mask)
	s.serve(service, p)
	p.storeResults(payload)
}

func (p *packet) load(payload []byte, mask uint64) {
	p.mask = mask
	for m := mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		for w := range p.slots[lane] {
			p.slots[lane][w] = binary.LittleEndian.Uint64(payload[lane*laneSize+8*w:])
		}
	}
}

// storeResults writes the two result words of each active lane.
func (p *packet) storeResults(payload []byte) {
	for m := p.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		for w := range 2 {
			binary.LittleEndian.PutUint64(payload[lane*laneSize+8*w:], p.slots[lane][w])
		}
	}
}
