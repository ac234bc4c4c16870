// Package npy reads NumPy array files (NEP 1: the .npy format,
// versions 1.0 to 3.0) of plain numbers in C order.
package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"gfxrt/cmd/gfxrt/internal/num"
)

// ErrFormat is wrapped by every error about a file that is not a readable array.
var ErrFormat = errors.New("invalid .npy file")

const magic = "\x93NUMPY"

// maxHeader bounds the header text; NumPy itself refuses above 10000.
const maxHeader = 64 << 10

// Array is the content of a file.
type Array struct {
	Type  num.Type
	Shape []int
	Data  []byte // little-endian elements in C order, a part of the input
	// Header is everything before Data, so that an array of the same type and
	// shape can be written back.
	Header []byte
}

// Is reports whether b begins as a .npy file does.
func Is(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }

// Parse reads a whole file.
func Parse(b []byte) (*Array, error) {
	head, data, err := split(b)
	if err != nil {
		return nil, err
	}
	a := &Array{Data: data, Header: b[:len(b)-len(data)]}
	p := parser{s: head, base: len(b) - len(data) - len(head)}
	if err := p.dict(a); err != nil {
		return nil, err
	}
	need := uint64(a.Type.Size())
	for _, n := range a.Shape {
		hi, lo := bits.Mul64(need, uint64(n))
		if hi != 0 {
			return nil, fmt.Errorf("shape %v overflows: %w", a.Shape, ErrFormat)
		}
		need = lo
	}
	if need != uint64(len(data)) {
		return nil, fmt.Errorf("shape %v of %s needs %d bytes, the file has %d after its header: %w", a.Shape, a.Type, need, len(data), ErrFormat)
	}
	return a, nil
}

// split returns the header's text and what follows it.
func split(b []byte) (string, []byte, error) {
	if len(b) < 10 || !Is(b) {
		return "", nil, fmt.Errorf("offset 0: no .npy magic: %w", ErrFormat)
	}
	size, at := uint64(binary.LittleEndian.Uint16(b[8:])), uint64(10)
	switch major := b[6]; major {
	case 1:
	case 2, 3:
		if len(b) < 12 {
			return "", nil, fmt.Errorf("offset 8: header length cut short: %w", ErrFormat)
		}
		size, at = uint64(binary.LittleEndian.Uint32(b[8:])), 12
	default:
		return "", nil, fmt.Errorf("offset 6: format version %d (known: 1, 2, 3): %w", major, ErrFormat)
	}
	if size > maxHeader || at+size > uint64(len(b)) {
		return "", nil, fmt.Errorf("offset 8: header length %d in a file of %d bytes: %w", size, len(b), ErrFormat)
	}
	return string(b[at : at+size]), b[at+size:], nil
}

// parser walks the header: a Python dict literal with three known keys.
type parser struct {
	s    string
	i    int
	base int // offset of s in the file
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("offset %d: header: %s: %w", p.base+p.i, fmt.Sprintf(format, args...), ErrFormat)
}

func (p *parser) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

// take consumes tok, after spaces, when it is next.
func (p *parser) take(tok string) bool {
	p.space()
	if !strings.HasPrefix(p.s[p.i:], tok) {
		return false
	}
	p.i += len(tok)
	return true
}

func (p *parser) quoted() (string, error) {
	p.space()
	if p.i >= len(p.s) || p.s[p.i] != '\'' && p.s[p.i] != '"' {
		return "", p.errorf("a quoted string is missing")
	}
	end := strings.IndexByte(p.s[p.i+1:], p.s[p.i])
	if end < 0 {
		return "", p.errorf("a quote is not closed")
	}
	v := p.s[p.i+1 : p.i+1+end]
	p.i += end + 2
	return v, nil
}

func (p *parser) dict(a *Array) error {
	if !p.take("{") {
		return p.errorf("no '{'")
	}
	seen := map[string]bool{}
	for !p.take("}") {
		key, err := p.quoted()
		if err != nil {
			return err
		}
		if seen[key] || !p.take(":") {
			return p.errorf("key %q is repeated or has no value", key)
		}
		seen[key] = true
		if err := p.value(key, a); err != nil {
			return err
		}
		if !p.take(",") {
			if !p.take("}") {
				return p.errorf("neither ',' nor '}' after %q", key)
			}
			break
		}
	}
	if p.space(); p.i != len(p.s) {
		return p.errorf("text after the dict")
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return p.errorf("key %q is missing", key)
		}
	}
	return nil
}

func (p *parser) value(key string, a *Array) error {
	switch key {
	case "descr":
		return p.descr(a)
	case "fortran_order":
		if p.take("True") {
			return p.errorf("fortran_order True: only C order is read (numpy.ascontiguousarray makes it)")
		}
		if !p.take("False") {
			return p.errorf("fortran_order is neither True nor False")
		}
		return nil
	case "shape":
		return p.shape(a)
	}
	return p.errorf("unknown key %q", key)
}

// descrTypes maps array protocol type strings without their byte order.
var descrTypes = map[string]num.Type{"b1": num.U8, "i1": num.I8, "u1": num.U8, "i2": num.I16, "u2": num.U16, "i4": num.I32, "u4": num.U32,
	"i8": num.I64, "u8": num.U64, "f2": num.F16, "f4": num.F32, "f8": num.F64}

func (p *parser) descr(a *Array) error {
	d, err := p.quoted()
	if err != nil {
		return err
	}
	var known bool
	if d != "" {
		a.Type, known = descrTypes[d[1:]]
	}
	switch {
	case known && (d[0] == '<' || a.Type.Size() == 1 && d[0] == '|'):
		return nil
	case known && d[0] == '>':
		return p.errorf("descr %q is big-endian: only little-endian is read", d)
	}
	return p.errorf("descr %q is not a plain little-endian number", d)
}

func (p *parser) shape(a *Array) error {
	if !p.take("(") {
		return p.errorf("shape is not a tuple")
	}
	a.Shape = []int{}
	for !p.take(")") {
		p.space()
		start := p.i
		for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
			p.i++
		}
		n, err := strconv.Atoi(p.s[start:p.i])
		if err != nil || len(a.Shape) == 64 {
			return p.errorf("shape has no valid dimension %d", len(a.Shape))
		}
		a.Shape = append(a.Shape, n)
		if !p.take(",") {
			if !p.take(")") {
				return p.errorf("neither ',' nor ')' in shape")
			}
			return nil
		}
	}
	return nil
}

// Header is what a version 1.0 file of count elements of type t begins with.
// Its length is a multiple of 64, as NumPy aligns data.
func Header(t num.Type, count uint64) ([]byte, error) {
	for name, typ := range descrTypes {
		if typ != t || name == "b1" {
			continue
		}
		order := "<"
		if t.Size() == 1 {
			order = "|"
		}
		text := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%d,), }", order, name, count)
		pad := -(len(magic) + 4 + len(text) + 1) & 63
		text += strings.Repeat(" ", pad) + "\n"
		b := append([]byte(magic), 1, 0)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
		return append(b, text...), nil
	}
	return nil, fmt.Errorf("NumPy has no type %s: %w", t, ErrFormat)
}
