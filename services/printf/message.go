package printf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrMessage is wrapped by errors about the framing of a message or record.
var ErrMessage = errors.New("malformed printf message")

// Stream is where text goes.
type Stream uint8

// Streams, as the control words of messages and records number them.
const (
	Stdout Stream = 0
	Stderr Stream = 1
)

// Words is an ArgSource over 8-byte little-endian words: integers and pointers
// take one word, floating-point values the bits of a double, and strings lie
// inline with their NUL, padded to a whole word. Hostcall messages and HIP's
// buffered records use it.
type Words struct {
	data []byte
}

// NewWords reads arguments from data.
func NewWords(data []byte) *Words { return &Words{data} }

// Int returns the next word.
func (w *Words) Int() (uint64, error) {
	if len(w.data) < 8 {
		return 0, fmt.Errorf("%d bytes left: %w", len(w.data), ErrArguments)
	}
	v := binary.LittleEndian.Uint64(w.data)
	w.data = w.data[8:]
	return v, nil
}

// Float returns the next word as a double.
func (w *Words) Float() (float64, error) {
	v, err := w.Int()
	return math.Float64frombits(v), err
}

// String returns the next inline string. A null pointer arrives as an empty
// string.
func (w *Words) String() ([]byte, bool, error) {
	n := bytes.IndexByte(w.data, 0)
	if n < 0 {
		return nil, false, fmt.Errorf("string without NUL in the %d bytes left: %w", len(w.data), ErrArguments)
	}
	s := w.data[:n]
	w.data = w.data[min((n+8)&^7, len(w.data)):]
	return s, false, nil
}

// Message appends the text of a hostcall printf message: a control word (0
// stdout, 1 stderr), the format, and its arguments as Words (ROCm device
// libraries, services.cl). n is printf's return value. On
// error the text up to the offending conversion has been appended.
func Message(dst, message []byte) (out []byte, stream Stream, n int, err error) {
	args := NewWords(message)
	control, err := args.Int()
	if err != nil {
		return dst, 0, 0, fmt.Errorf("offset 0 (control word): %w", ErrMessage)
	}
	if control > uint64(Stderr) {
		return dst, 0, 0, fmt.Errorf("offset 0 (control word): unknown bits in %#x: %w", control, ErrMessage)
	}
	format, _, err := args.String()
	if err != nil {
		return dst, 0, 0, fmt.Errorf("offset 8 (format): no NUL: %w", ErrMessage)
	}
	out, n, err = Format(dst, format, args)
	return out, Stream(control), n, err
}
