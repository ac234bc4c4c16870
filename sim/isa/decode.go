package isa

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrTruncated reports that the code ends inside an instruction.
var ErrTruncated = errors.New("truncated instruction")

// ErrUnknown reports an encoding that the target does not have.
var ErrUnknown = errors.New("unknown encoding")

// ErrUnsupported reports an instruction that the target has and this package does
// not decode: those of graphics, which are image instructions, parameter
// interpolation and exports.
var ErrUnsupported = errors.New("graphics instruction not supported")

// ErrTarget reports a processor that has no decoder.
var ErrTarget = errors.New("no decoder for target")

// Decoder decodes the instructions of one target. It is immutable and safe for
// concurrent use.
type Decoder struct {
	t    *tables
	name string
	wave uint8 // lanes of a wave, 32 or 64
	features
}

// NewDecoder returns the decoder of a processor, named without features
// ("gfx90a"), in LLVM's default wave size for it: 64 on gfx9, 32 on gfx10 and later.
// Other processors give an error wrapping ErrTarget.
func NewDecoder(target string) (*Decoder, error) {
	f, ok := featuresOf[target]
	if ok && f.gen >= 10 {
		return NewDecoderWave(target, 32)
	}
	return NewDecoderWave(target, 64)
}

// NewDecoderWave returns the decoder of a processor for kernels of a wave size, on
// which the sizes of lane masks and of some matrix operands depend. A processor
// that does not have the wave size gives an error wrapping ErrTarget: gfx9 has
// wave64 only, gfx1250 wave32 only.
func NewDecoderWave(target string, wave int) (*Decoder, error) {
	f, ok := featuresOf[target]
	name := f.tables
	if name == "" {
		name = target
	}
	t := targets[name]
	if !ok || t == nil {
		return nil, fmt.Errorf("%w %q", ErrTarget, target)
	}
	if wave != 64 && (wave != 32 || f.gen == 9) || wave == 64 && f.gfx1250 {
		return nil, fmt.Errorf("%w %q with waves of %d lanes", ErrTarget, target, wave)
	}
	return &Decoder{t: t, name: target, wave: uint8(wave), features: f}, nil
}

// Target returns the processor's name.
func (d *Decoder) Target() string { return d.name }

// WaveSize returns the lanes of a wave.
func (d *Decoder) WaveSize() int { return int(d.wave) }

// state is one decode in progress.
type state struct {
	d      *Decoder
	in     *Inst
	code   []byte
	w      uint64 // the first two dwords; the second is 0 when absent
	prefix uint64 // w before scalePrefix
	w2     uint32 // the third dword, in the encodings that have one
	size   uint8  // bytes before a literal
	form   *form

	status status
}

// Decode decodes the instruction at the start of code. The error wraps
// ErrTruncated, ErrUnknown or ErrUnsupported and shows the raw words.
func (d *Decoder) Decode(code []byte) (Inst, error) {
	var in Inst
	switch d.decode(code, &in) {
	case truncated:
		return Inst{}, describe(code, ErrTruncated)
	case unknown:
		return Inst{}, describe(code, ErrUnknown)
	case unsupported:
		return Inst{}, describe(code, ErrUnsupported)
	}
	return in, nil
}

// status is how a decode ended. It is not an error value, which would make the
// compiler move the instruction to the heap.
type status uint8

const (
	decoded status = iota
	truncated
	unknown
	unsupported
)

func (d *Decoder) decode(code []byte, in *Inst) status {
	if len(code) < 4 {
		return truncated
	}
	s := state{d: d, in: in, code: code, w: uint64(binary.LittleEndian.Uint32(code))}
	if len(code) >= 8 {
		s.w |= uint64(binary.LittleEndian.Uint32(code[4:])) << 32
	}
	in.Dst, in.SDst = OperandNone, OperandNone
	in.Src = [4]Operand{OperandNone, OperandNone, OperandNone, OperandNone}
	in.Scale = [2]Operand{OperandNone, OperandNone}
	in.DstY, in.SrcY = OperandNone, [3]Operand{OperandNone, OperandNone, OperandNone}
	if d.gen == 9 {
		s.family()
	} else {
		s.family10()
	}
	if s.status == decoded && int(in.Size) > len(code) {
		return truncated
	}
	if in.Base == EncNone {
		in.Base = in.Enc
	}
	return s.status
}

// describe adds the raw words to an error.
func describe(code []byte, err error) error {
	switch n := len(code); {
	case n >= 8:
		return fmt.Errorf("%w: %08x %08x", err, binary.LittleEndian.Uint32(code), binary.LittleEndian.Uint32(code[4:]))
	case n >= 4:
		return fmt.Errorf("%w: %08x", err, binary.LittleEndian.Uint32(code))
	default:
		return fmt.Errorf("%w: % x", err, code)
	}
}

// bits returns n bits of the encoding from bit lo.
func (s *state) bits(lo, n uint) uint32 { return uint32(s.w >> lo & (1<<n - 1)) }

func (s *state) bit(i uint) bool { return s.w>>i&1 != 0 }

func (s *state) fail() { s.status = unknown }

// family finds the encoding from the first dword's high bits. gfx9: "Vega"
// ISA document, chapter Microcode Formats.
func (s *state) family() {
	w := uint32(s.w)
	switch {
	case w>>31 == 0:
		s.vop12c(w)
	case w>>30 == 2:
		s.sop(w)
	default:
		if w>>26 == 0x35 {
			s.start(EncVINTRP, s.d.t.vintrp, w>>16&3, 0)
			return
		}
		s.long(w)
	}
}

// long decodes the 64-bit encodings.
func (s *state) long(w uint32) {
	s.in.Size = 8
	if len(s.code) < 8 {
		s.status = truncated
		return
	}
	switch w >> 26 {
	case 0x30:
		s.smem()
	case 0x34:
		if w>>23 == 0x1a7 {
			s.vop3p()
		} else {
			s.vop3()
		}
	case 0x31: // EXP
		if s.status = unsupported; s.d.gfx90a {
			s.status = unknown
		}
	case 0x36:
		s.ds()
	case 0x37:
		s.flat()
	case 0x38:
		s.mubuf()
	case 0x3a:
		s.mtbuf()
	case 0x3c:
		s.start(EncMIMG, s.d.t.mimg, s.bits(18, 7), 0)
	default:
		s.fail()
	}
}

// start looks the opcode up and checks the bits that must be 0.
// fixed masks the opcode and operand bits.
func (s *state) start(enc Enc, t []entry, opcode uint32, fixed uint64) bool {
	op, f := s.d.lookup(t, opcode)
	if f == nil {
		s.fail()
		return false
	}
	if f.graphics {
		s.status = unsupported
		return false
	}
	s.in.Op, s.in.Enc, s.in.opcode, s.form = op, enc, uint16(opcode), f
	if s.in.Size == 0 {
		s.in.Size = 4
	}
	s.size = s.in.Size
	if s.w&^(fixed|f.mask) != f.ones || s.in.Size == 12 && s.w2&^f.mask2 != 0 {
		s.fail()
		return false
	}
	return true
}
