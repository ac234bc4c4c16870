package hostcall

import (
	"fmt"
	"io"
	"math/bits"

	"gfxrt/services/printf"
)

// Service is a hostcall service number (services.cl).
type Service uint32

// Services. One service prints to stdout and to stderr.
const (
	ServiceFunctionCall Service = 1
	ServicePrintf       Service = 2
	ServiceDevmem       Service = 3
	ServiceSanitizer    Service = 4
)

func (s Service) known() bool { return s >= ServiceFunctionCall && s <= ServiceSanitizer }

// failed is the result word of a request that could not be served.
const failed = ^uint64(0)

// Function is a host function that device code may call by number.
type Function func(in *[7]uint64) (out [2]uint64, err error)

// Devmem gives device code memory: blocks it asks for are 2 MiB-aligned when
// they are 2 MiB or more, else 4 KiB-aligned.
type Devmem interface {
	Alloc(size uint64) (addr uint64, err error)
	Free(addr uint64) error
}

// Report is what a lane's address sanitizer found.
type Report struct {
	Lanes      uint64     // lanes that the report covers
	Addr       [64]uint64 // by lane
	PC         uint64
	Group      [3]uint64
	Wave       uint64
	Write      bool
	Fatal      bool
	AccessSize uint64 // bytes
}

// Server answers requests. Fields that are nil make the requests that need
// them fail. A server belongs to one buffer; what it calls may be shared
// between servers and must then be safe for concurrent use.
type Server struct {
	Stdout, Stderr io.Writer
	// Function finds a function by the number that device code passes, nil
	// when there is none.
	Function func(id uint64) Function
	Devmem   Devmem
	// Sanitizer is told of reports besides their text on Stderr.
	Sanitizer func(*Report)
	// Failed is told of requests that could not be served (ErrRequest and
	// errors of the fields above). The device may cause it at any rate.
	Failed func(error)

	messages messages
	packet   packet
	text     []byte
	textLeft int // of MaxText, in this drain
}

// MaxText bounds the text that one drain prints, in bytes: a short hostile
// format may ask for a megabyte of padding in every lane.
const MaxText = 256 << 20

var errText = fmt.Errorf("one drain prints more than %d bytes: %w", MaxText, ErrRequest)

func (s *Server) fail(lane int, service string, err error) {
	if s.Failed != nil {
		s.Failed(fmt.Errorf("hostcall %s, lane %d: %w", service, lane, err))
	}
}

// serve replaces words 0 and 1 of each active lane by the results.
func (s *Server) serve(service Service, p *packet) {
	if service == ServiceSanitizer {
		s.sanitizer(p)
		return
	}
	for m := p.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		slot := &p.slots[lane]
		switch service {
		case ServiceFunctionCall:
			s.call(lane, slot)
		case ServicePrintf:
			slot[0] = s.printf(lane, slot)
			slot[1] = 0
		case ServiceDevmem:
			slot[0] = s.devmem(lane, slot[0], slot[1])
			slot[1] = 0
		}
	}
}

func (s *Server) call(lane int, slot *[laneWords]uint64) {
	id, in := slot[0], [7]uint64(slot[1:])
	slot[0], slot[1] = failed, 0
	var f Function
	if s.Function != nil {
		f = s.Function(id)
	}
	if f == nil {
		s.fail(lane, "function call", fmt.Errorf("function %#x is not registered: %w", id, ErrRequest))
		return
	}
	out, err := f(&in)
	if err != nil {
		s.fail(lane, "function call", fmt.Errorf("function %#x: %w", id, err))
		return
	}
	slot[0], slot[1] = out[0], out[1]
}

// printf returns a descriptor while the message goes on, and at its end the
// number of bytes printed.
func (s *Server) printf(lane int, slot *[laneWords]uint64) uint64 {
	desc, data, done, err := s.messages.add(slot)
	if err != nil {
		s.fail(lane, "printf", err)
		return failed
	}
	if !done {
		return desc
	}
	if s.textLeft <= 0 {
		s.fail(lane, "printf", errText)
		return failed
	}
	text, stream, n, err := printf.Message(s.text[:0], data)
	s.text = text
	s.textLeft -= n
	s.messages.keep()
	w, name := s.Stdout, "stdout"
	if stream == printf.Stderr {
		w, name = s.Stderr, "stderr"
	}
	if len(text) > 0 { // also what precedes a mistake in the format
		if w == nil {
			err = fmt.Errorf("nothing is connected to %s: %w", name, ErrRequest)
		} else if _, werr := w.Write(text); werr != nil {
			err = fmt.Errorf("%s: %w", name, werr)
		}
	}
	if err != nil {
		s.fail(lane, "printf", err)
		return failed
	}
	return uint64(n)
}

// devmem frees addr or, when that is 0, allocates size bytes. Failure is the
// null pointer. Both 0 is free(nullptr) of older device libraries.
func (s *Server) devmem(lane int, addr, size uint64) uint64 {
	var err error
	var result uint64
	switch {
	case addr == 0 && size == 0:
	case s.Devmem == nil:
		err = fmt.Errorf("no device memory is connected: %w", ErrRequest)
	case addr != 0:
		err = s.Devmem.Free(addr)
	default:
		result, err = s.Devmem.Alloc(size)
	}
	if err != nil {
		s.fail(lane, "devmem", fmt.Errorf("address %#x, size %d: %w", addr, size, err))
		return 0
	}
	return result
}

// sanitizer handles a whole packet: its lanes make one report.
func (s *Server) sanitizer(p *packet) {
	if p.mask == 0 {
		return
	}
	first := bits.TrailingZeros64(p.mask)
	f := p.slots[first]
	r := Report{Lanes: p.mask, PC: f[1], Group: [3]uint64(f[2:5]), Wave: f[5],
		Write: f[6]&1 != 0, Fatal: f[6]>>32 == 0, AccessSize: f[7]}
	kind, access := "WARNING", "READ"
	if r.Fatal {
		kind = "ERROR"
	}
	if r.Write {
		access = "WRITE"
	}
	s.text = fmt.Appendf(s.text[:0], "%s: AddressSanitizer: invalid device memory access\n%s of size %d at pc %#x, work-group (%d,%d,%d), wave %d\n",
		kind, access, r.AccessSize, r.PC, r.Group[0], r.Group[1], r.Group[2], r.Wave)
	for m := p.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		r.Addr[lane] = p.slots[lane][0]
		s.text = fmt.Appendf(s.text, "  lane %d: address %#x\n", lane, r.Addr[lane])
		p.slots[lane][0], p.slots[lane][1] = 0, 0
	}
	if s.Stderr == nil {
		s.fail(first, "sanitizer", fmt.Errorf("nothing is connected to stderr: %w", ErrRequest))
	} else if _, err := s.Stderr.Write(s.text); err != nil {
		s.fail(first, "sanitizer", fmt.Errorf("stderr: %w", err))
	}
	if s.Sanitizer != nil {
		s.Sanitizer(&r)
	}
}
