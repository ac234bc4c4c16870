package runtime

import (
	"bytes"
	"errors"
	"fmt"

	"gfxrt/elf"
	"gfxrt/services/kernarg"
	"gfxrt/services/printf"
)

// maxPrinters bounds the printf buffers of a stream, and with them the
// launches of printing kernels that are outstanding at once.
const maxPrinters = 4

// defaultPrintfBytes is the size that AMD's runtime (CLR) gives a printf
// buffer. What does not fit is dropped by the device, and printf says so.
const defaultPrintfBytes = 4 << 20

// printFormats is what a module's metadata says of its printf calls: OpenCL's
// by call site, or HIP's by hash.
type printFormats struct {
	opencl map[uint32]printf.OpenCLFormat
	hip    map[uint64][]byte
}

func makePrintFormats(obj *elf.CodeObject) (*printFormats, error) {
	p := &printFormats{hip: map[uint64][]byte{}}
	for i := range obj.Printf {
		f := &obj.Printf[i]
		if !f.IsHash {
			if p.opencl == nil {
				p.opencl = map[uint32]printf.OpenCLFormat{}
			}
			p.opencl[f.ID] = printf.OpenCLFormat{Format: []byte(f.Format), Sizes: f.Sizes}
			continue
		}
		// Every call site has an entry, so equal ones are no collision.
		if old, ok := p.hip[f.Hash]; ok && !bytes.Equal(old, []byte(f.Format)) {
			return nil, fmt.Errorf("printf formats %.64q and %.64q have one hash %#x: %w", old, f.Format, f.Hash, elf.ErrInvalid)
		}
		p.hip[f.Hash] = []byte(f.Format)
	}
	return p, nil
}

// printer is a printf buffer. One launch has it at a time.
type printer struct {
	buffer region
	fifo   *printf.FIFO
	kernel *Kernel // whose output it holds
}

// newPrinter is called with s.submit held.
func (s *Stream) newPrinter() error {
	buffer, err := s.rt.allocAligned(uint64(s.rt.opts.printfBytes), kernargBlock, HostVisible)
	if err != nil {
		return fmt.Errorf("printf buffer: %w", err)
	}
	fifo, err := printf.NewFIFO(buffer.host)
	if err != nil {
		return joinFree(fmt.Errorf("printf buffer: %w", err), buffer.mem)
	}
	p := &printer{buffer: buffer, fifo: fifo}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.printers = append(s.printers, p)
	s.freePrinters = append(s.freePrinters, p)
	return nil
}

// roomToPrint makes sure that a printer is free or says that a launch has to
// complete first. It is called with s.submit held.
func (s *Stream) roomToPrint(k *Kernel) (ok bool, err error) {
	if !k.layout.Needs(kernarg.PrintfBuffer) {
		return true, nil
	}
	s.flush()
	s.mu.Lock()
	free, all := len(s.freePrinters), len(s.printers)
	s.mu.Unlock()
	if free == 0 && all < maxPrinters {
		return true, s.newPrinter()
	}
	return free > 0, nil
}

// printLocked queues a slot's output, to be written by flush.
func (s *Stream) printLocked(sl *slot) {
	if sl.printer != nil {
		s.printed = append(s.printed, sl.printer)
		sl.printer = nil
	}
}

// flush writes the output of launches that have completed, in launch order.
// When it returns all of it has been written, by whomever. No lock that a
// writer could need is held meanwhile.
func (s *Stream) flush() {
	if s.rt.insideCallback() {
		// Who writes now may be waiting for this very writer. Whoever waits for
		// the launch flushes again.
		return
	}
	s.printing.Lock()
	defer s.printing.Unlock()
	for {
		s.mu.Lock()
		if len(s.printed) == 0 {
			s.mu.Unlock()
			return
		}
		p := s.printed[0]
		s.printed = s.printed[1:]
		s.mu.Unlock()
		leave := s.rt.callbacks.enter()
		if err := p.decode(s.rt); err != nil {
			s.rt.opts.diagnose(fmt.Errorf("printf of kernel %s: %w", p.kernel.Name(), err))
		}
		leave()
		p.fifo.Reset()
		s.mu.Lock()
		s.freePrinters = append(s.freePrinters, p)
		s.mu.Unlock()
	}
}

func (p *printer) decode(rt *Runtime) error {
	emit := func(to printf.Stream, text []byte) error {
		w := rt.opts.stdout
		if to == printf.Stderr {
			w = rt.opts.stderr
		}
		_, err := w.Write(text)
		return err
	}
	if f := p.kernel.m.formats; f.opencl != nil {
		return p.fifo.DecodeOpenCL(f.opencl, emit)
	} else {
		return p.fifo.DecodeHIP(f.hip, emit)
	}
}

// flushStopped writes what launches printed that a fault stopped, too.
func (s *Stream) flushStopped() {
	s.mu.Lock()
	s.retireLocked()
	for seq := s.tail; seq != s.head; seq++ {
		s.printLocked(s.slot(seq))
	}
	s.mu.Unlock()
	s.flush()
}

func (s *Stream) closePrinters() error {
	var errs []error
	for _, p := range s.printers {
		errs = append(errs, p.buffer.mem.Free())
	}
	s.printers, s.freePrinters, s.printed = nil, nil, nil
	return errors.Join(errs...)
}
