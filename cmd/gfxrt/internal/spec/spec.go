// Package spec reads the argument specifications of "gfxrt run --arg".
package spec

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"gfxrt/cmd/gfxrt/internal/npy"
	"gfxrt/cmd/gfxrt/internal/num"
	"gfxrt/runtime"
)

// ErrSpec is wrapped by every error about a specification that cannot be read.
var ErrSpec = errors.New("invalid argument specification")

// ErrFile is wrapped by every error about a file that a specification names.
var ErrFile = errors.New("cannot use file")

// Limits.
const (
	MaxBuffer = 1 << 30 // bytes of one buffer, and of one file
	maxStruct = 4096    // bytes of one by-value struct: more than a kernarg segment usually holds
)

// Forms describes what Parse takes, for help and error texts.
const Forms = `TYPE:VALUE (TYPE: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64), hex:BYTES, null, buf:BYTES, in:FILE, ` +
	`inout:FILE, out:FILE:BYTES, out:FILE:TYPE:COUNT, rand:TYPE:COUNT[:SEED], iota:TYPE:COUNT, fill:TYPE:COUNT:VALUE, lds:OFFSET`

// Spec is one argument.
type Spec struct {
	Text   string   // as given
	Type   num.Type // of elements, for printing; Raw when not known
	Buffer bool     // a device buffer of Size bytes; otherwise Value is the argument

	Value runtime.Arg
	Bytes []byte // what Value holds, little-endian; nil for null and lds

	Size    uint64
	In      string // file that holds the first content
	Out     string // file that receives the content after the run
	pattern func(content []byte)
	header  []byte // of the .npy file that was read, or that Out shall be
}

// Parse reads one specification. It touches no file.
func Parse(text string) (*Spec, error) {
	s := &Spec{Text: text}
	if err := s.parse(text); err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrSpec, text, err)
	}
	return s, nil
}

func (s *Spec) parse(text string) error {
	kind, rest, hasRest := strings.Cut(text, ":")
	if kind == "null" && !hasRest {
		s.Value = runtime.Null()
		return nil
	}
	if t, ok := num.ParseType(kind); ok && t != num.Raw && hasRest {
		b, err := t.Parse(rest)
		s.Type, s.Bytes = t, b
		if err == nil {
			s.Value = t.Arg(b)
		}
		return err
	}
	parse := map[string]func(string) error{
		"hex": s.hex, "lds": s.lds, "buf": s.buf, "in": s.in, "inout": s.inout, "out": s.out,
		"rand": s.rand, "iota": s.iota, "fill": s.fill,
	}[kind]
	if parse == nil || !hasRest {
		return fmt.Errorf("want one of: %s", Forms)
	}
	return parse(rest)
}

func (s *Spec) hex(rest string) error {
	b, err := hex.DecodeString(rest)
	if err != nil || len(b) == 0 {
		return errors.New("hex: wants pairs of hexadecimal digits, in memory order")
	}
	if len(b) > maxStruct {
		return fmt.Errorf("hex: %d bytes are above the limit of %d", len(b), maxStruct)
	}
	s.Bytes, s.Value = b, runtime.Bytes(b)
	return nil
}

func (s *Spec) lds(rest string) error {
	off, err := num.ParseSize(rest, math.MaxUint32)
	s.Value = runtime.LDS(uint32(off))
	return err
}

func (s *Spec) buf(rest string) (err error) {
	s.Buffer = true
	s.Size, err = num.ParseSize(rest, MaxBuffer)
	return err
}

func (s *Spec) in(rest string) error {
	if rest == "" {
		return errors.New("the file name is missing")
	}
	s.Buffer, s.In = true, rest
	return nil
}

func (s *Spec) inout(rest string) error {
	s.Out = rest
	return s.in(rest)
}

// out reads FILE:BYTES or FILE:TYPE:COUNT. The file name may contain colons.
func (s *Spec) out(rest string) error {
	i := strings.LastIndexByte(rest, ':')
	if i < 0 {
		return errors.New("out: wants FILE:BYTES or FILE:TYPE:COUNT")
	}
	file, count := rest[:i], rest[i+1:]
	if j := strings.LastIndexByte(file, ':'); j >= 0 {
		if t, ok := num.ParseType(file[j+1:]); ok && t != num.Raw {
			s.Type, file = t, file[:j]
		}
	}
	n, err := num.ParseSize(count, MaxBuffer/uint64(s.Type.Size()))
	if err != nil {
		return err
	}
	if file == "" {
		return errors.New("out: the file name is missing")
	}
	s.Buffer, s.Out, s.Size = true, file, n*uint64(s.Type.Size())
	if strings.HasSuffix(file, ".npy") {
		if s.header, err = npy.Header(s.Type, n); err != nil {
			return fmt.Errorf("out: %w (use out:FILE.npy:TYPE:COUNT)", err)
		}
	}
	return nil
}

// elements reads TYPE:COUNT and what follows, for the patterns.
func (s *Spec) elements(rest string) (more string, hasMore bool, err error) {
	name, rest, ok := strings.Cut(rest, ":")
	t, known := num.ParseType(name)
	if !known || t == num.Raw || !ok {
		return "", false, fmt.Errorf("wants TYPE:COUNT with a TYPE of %s", num.Names())
	}
	count, more, hasMore := strings.Cut(rest, ":")
	n, err := num.ParseSize(count, MaxBuffer/uint64(t.Size()))
	s.Buffer, s.Type, s.Size = true, t, n*uint64(t.Size())
	return more, hasMore, err
}

// rand fills with PCG-DXSM numbers (math/rand/v2) of the seed, 0 when not
// given: integers over their whole range, floating-point values in [-1, 1).
func (s *Spec) rand(rest string) error {
	more, hasMore, err := s.elements(rest)
	if err != nil {
		return err
	}
	var seed uint64
	if hasMore {
		if seed, err = strconv.ParseUint(more, 0, 64); err != nil {
			return fmt.Errorf("seed %q is not a number of 64 bits", more)
		}
	}
	s.pattern = func(content []byte) {
		r := rand.New(rand.NewPCG(seed, 0))
		s.each(content, func(int) []byte {
			if s.Type.Float() {
				return s.Type.FromFloat(2*r.Float64() - 1)
			}
			return binary.LittleEndian.AppendUint64(nil, r.Uint64())
		})
	}
	return nil
}

// iota fills with 0, 1, 2 …; integers wrap around.
func (s *Spec) iota(rest string) error {
	_, hasMore, err := s.elements(rest)
	if err == nil && hasMore {
		err = errors.New("iota: wants TYPE:COUNT")
	}
	s.pattern = func(content []byte) {
		s.each(content, func(i int) []byte {
			if s.Type.Float() {
				return s.Type.FromFloat(float64(i))
			}
			return binary.LittleEndian.AppendUint64(nil, uint64(i))
		})
	}
	return err
}

func (s *Spec) fill(rest string) error {
	more, hasMore, err := s.elements(rest)
	if err != nil {
		return err
	}
	if !hasMore {
		return errors.New("fill: wants TYPE:COUNT:VALUE")
	}
	v, err := s.Type.Parse(more)
	s.pattern = func(content []byte) { s.each(content, func(int) []byte { return v }) }
	return err
}

// each sets every element to the low bytes of what f returns.
func (s *Spec) each(content []byte, f func(i int) []byte) {
	size := s.Type.Size()
	for i := range len(content) / size {
		copy(content[i*size:(i+1)*size], f(i))
	}
}

// Content returns a buffer's first content; nil means zeros. It reads In, and
// thereby learns Size and Type.
func (s *Spec) Content() ([]byte, error) {
	if s.In != "" {
		return s.readFile()
	}
	if s.pattern == nil {
		return nil, nil
	}
	content := make([]byte, s.Size)
	s.pattern(content)
	return content, nil
}

func (s *Spec) readFile() ([]byte, error) {
	f, err := os.Open(s.In)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFile)
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", err, ErrFile)
	case info.Mode()&(os.ModeDevice|os.ModeDir) != 0: // a device may never end
		return nil, fmt.Errorf("%s is neither a file nor a pipe: %w", s.In, ErrFile)
	case info.Size() > MaxBuffer:
		return nil, fmt.Errorf("%s has more than %d bytes: %w", s.In, MaxBuffer, ErrFile)
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxBuffer+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFile)
	}
	if len(b) > MaxBuffer {
		return nil, fmt.Errorf("%s has more than %d bytes: %w", s.In, MaxBuffer, ErrFile)
	}
	if npy.Is(b) || strings.HasSuffix(s.In, ".npy") {
		a, err := npy.Parse(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", s.In, err, ErrFile)
		}
		s.Type, s.header, b = a.Type, a.Header, a.Data
	}
	s.Size = uint64(len(b))
	return b, nil
}

// WriteBack stores what the kernel left in Out: raw, or as .npy when the file
// read was one or the name says so.
func (s *Spec) WriteBack(content []byte) error {
	f, err := os.Create(s.Out)
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrFile)
	}
	_, err = f.Write(s.header)
	if err == nil {
		_, err = f.Write(content)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%w: %w", err, ErrFile)
	}
	return nil
}
