// Package printf formats what device code prints. Format is the one walker of
// format strings; the front ends for hostcall messages, HIP's buffered records
// and OpenCL's records differ only in where the arguments come from. Formats
// and arguments come from the device and are hostile.
package printf

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// ErrFormat is wrapped by errors about a malformed format string.
var ErrFormat = errors.New("malformed printf format")

// ErrArguments is wrapped when a format asks for more than the arguments hold.
var ErrArguments = errors.New("missing printf arguments")

// ErrLimit is wrapped when width, precision or output exceed MaxOutput.
var ErrLimit = errors.New("printf output limit exceeded")

// MaxOutput is the largest text one Format call produces, in bytes.
const MaxOutput = 1 << 20

// ArgSource supplies arguments in order. Errors wrap ErrArguments.
type ArgSource interface {
	// Int returns the next argument as bits; upper bits that the format's
	// length modifier excludes may hold anything.
	Int() (uint64, error)
	// Float returns the next argument, a floating-point value.
	Float() (float64, error)
	// String returns the next argument without its NUL. null stands for a
	// null pointer.
	String() (s []byte, null bool, err error)
}

// VectorSource is an ArgSource that also has OpenCL vectors. With any other
// source the vector specifier is malformed.
type VectorSource interface {
	ArgSource
	// Vector returns the next argument, a vector of n elements (2, 3, 4, 8 or
	// 16), as raw bits with the size of the stored elements in bytes.
	Vector(n int) (elements [16]uint64, size int, err error)
}

// length is a length modifier.
type length uint8

const (
	lengthNone length = iota
	lengthHH
	lengthH
	lengthHL // OpenCL vectors of 4-byte elements
	lengthL  // and ll, z, j, t: 64 bits on this target
	lengthLongDouble
)

// bytes is the size of an integer or vector element of that length.
func (l length) bytes() int { return [...]int{4, 1, 2, 4, 8, 8}[l] }

// spec is one parsed conversion specification.
type spec struct {
	minus, plus, space, alt, zero bool

	width  int
	prec   int // -1 when absent
	vector int // 0 when absent
	length length
	conv   byte
}

// walker carries the state of one Format call.
type walker struct {
	out    []byte
	start  int
	format []byte
	pos    int
	next   ArgSource
}

// Format appends to dst what C's printf prints for format in the C locale of
// glibc, and returns the extended slice and the number of bytes appended. The
// conversions are d i o u x X c f F e E g G a A s p n and %%; n consumes its
// argument and stores nothing. Wide characters (%lc, %ls), positional
// arguments and unknown conversions are malformed. On error the text before
// the offending specification has been appended.
func Format(dst, format []byte, next ArgSource) (out []byte, n int, err error) {
	w := walker{out: dst, start: len(dst), format: format, next: next}
	err = w.walk()
	return w.out, len(w.out) - w.start, err
}

func (w *walker) walk() error {
	for w.pos < len(w.format) {
		at := w.pos
		if w.format[at] != '%' {
			for w.pos < len(w.format) && w.format[w.pos] != '%' {
				w.pos++
			}
			if w.pos-at > w.room() {
				return w.limit(at)
			}
			w.out = append(w.out, w.format[at:w.pos]...)
			continue
		}
		w.pos++
		s, err := w.parse()
		if err == nil {
			err = w.convert(s)
		}
		if err != nil {
			return fmt.Errorf("format offset %d: %w", at, err)
		}
	}
	return nil
}

// room is how many bytes may still be appended.
func (w *walker) room() int { return MaxOutput - (len(w.out) - w.start) }

func (w *walker) limit(at int) error {
	return fmt.Errorf("format offset %d: more than %d bytes: %w", at, MaxOutput, ErrLimit)
}

// peek returns the next byte of the format, 0 at its end.
func (w *walker) peek() byte {
	if w.pos < len(w.format) {
		return w.format[w.pos]
	}
	return 0
}

// parse reads a specification after its '%', consuming arguments for '*'.
func (w *walker) parse() (spec, error) {
	s := spec{prec: -1}
	w.parseFlags(&s)
	width, _, err := w.parseNumber()
	if err != nil {
		return s, err
	}
	if width < 0 { // only from '*'
		s.minus, width = true, -width
	}
	s.width = width
	if w.peek() == '.' {
		w.pos++
		prec, _, err := w.parseNumber()
		if err != nil {
			return s, err
		}
		s.prec = max(prec, -1)
	}
	if w.peek() == 'v' {
		if err := w.parseVector(&s); err != nil {
			return s, err
		}
	}
	w.parseLength(&s)
	s.conv = w.peek()
	w.pos++
	return s, w.check(&s)
}

func (w *walker) parseFlags(s *spec) {
	for ; ; w.pos++ {
		switch w.peek() {
		case '-':
			s.minus = true
		case '+':
			s.plus = true
		case ' ':
			s.space = true
		case '#':
			s.alt = true
		case '0':
			s.zero = true
		case '\'': // the C locale has no grouping
		default:
			return
		}
	}
}

// parseNumber reads digits or '*'. A number that is absent is 0.
func (w *walker) parseNumber() (n int, present bool, err error) {
	if w.peek() == '*' {
		w.pos++
		v, err := w.next.Int()
		if err != nil {
			return 0, false, err
		}
		n = int(int32(v))
		if n == math.MinInt32 {
			return 0, false, fmt.Errorf("width or precision %d: %w", n, ErrLimit)
		}
		return n, true, nil
	}
	for ; w.peek() >= '0' && w.peek() <= '9'; w.pos++ {
		n = n*10 + int(w.peek()-'0')
		if n > math.MaxInt32-1 {
			return 0, false, fmt.Errorf("width or precision has more than 31 bits: %w", ErrLimit)
		}
		present = true
	}
	return n, present, nil
}

func (w *walker) parseVector(s *spec) error {
	if _, ok := w.next.(VectorSource); !ok {
		return fmt.Errorf("vector specifier: %w", ErrFormat)
	}
	w.pos++
	n, present, err := w.parseNumber()
	if err != nil {
		return err
	}
	switch n {
	case 2, 3, 4, 8, 16:
		s.vector = n
		return nil
	}
	return fmt.Errorf("vector of %d elements (stated %v): %w", n, present, ErrFormat)
}

func (w *walker) parseLength(s *spec) {
	take := func(c byte) bool {
		if w.peek() != c {
			return false
		}
		w.pos++
		return true
	}
	switch {
	case take('h'):
		s.length = lengthH
		if take('h') {
			s.length = lengthHH
		} else if s.vector != 0 && take('l') {
			s.length = lengthHL
		}
	case take('l'):
		s.length = lengthL
		take('l')
	case take('z'), take('j'), take('t'):
		s.length = lengthL
	case take('L'):
		s.length = lengthLongDouble
	}
}

// check rejects combinations that have no meaning.
func (w *walker) check(s *spec) error {
	if w.pos > len(w.format) {
		return fmt.Errorf("format ends inside a specification: %w", ErrFormat)
	}
	bad := false
	switch s.conv {
	case 'd', 'i', 'o', 'u', 'x', 'X':
		bad = s.length == lengthLongDouble
	case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A':
		// The target's long double is double; other lengths mean nothing to
		// scalars, which arrive as double.
		bad = s.vector == 0 && s.length != lengthNone && s.length != lengthL && s.length != lengthLongDouble ||
			s.length == lengthHH
	case 'c', 's':
		bad = s.length != lengthNone || s.vector != 0
	case 'p', 'n', '%':
		bad = s.vector != 0
	default:
		return fmt.Errorf("conversion %q: %w", s.conv, ErrFormat)
	}
	if bad {
		return fmt.Errorf("conversion %q with that length modifier or vector: %w", s.conv, ErrFormat)
	}
	if s.width > MaxOutput || s.prec > MaxOutput && s.conv != 's' && s.conv != 'c' && s.conv != 'n' && s.conv != '%' {
		return fmt.Errorf("width %d, precision %d: %w", s.width, s.prec, ErrLimit)
	}
	return nil
}

// convert formats the arguments of one specification.
func (w *walker) convert(s spec) error {
	if s.conv == '%' {
		return w.emit(spec{}, nil, "%")
	}
	if s.vector != 0 {
		return w.convertVector(s)
	}
	switch s.conv {
	case 's':
		return w.convertString(s)
	case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A':
		v, err := w.next.Float()
		if err != nil {
			return err
		}
		return w.float(s, v)
	}
	v, err := w.next.Int()
	if err != nil {
		return err
	}
	switch s.conv {
	case 'n':
		return nil
	case 'c':
		s.zero = false
		return w.emit(s, nil, string([]byte{byte(v)}))
	case 'p':
		return w.pointer(s, v)
	}
	return w.integer(s, v)
}

func (w *walker) convertString(s spec) error {
	text, null, err := w.next.String()
	if err != nil {
		return err
	}
	if null {
		// glibc prints nothing rather than a part of "(null)".
		if text = nil; s.prec < 0 || s.prec >= len("(null)") {
			text = []byte("(null)")
		}
	} else if s.prec >= 0 && s.prec < len(text) {
		text = text[:s.prec]
	}
	if len(text) > w.room() {
		return fmt.Errorf("string of %d bytes: %w", len(text), ErrLimit)
	}
	s.zero = false
	return w.emit(s, nil, string(text))
}

func (w *walker) convertVector(s spec) error {
	elements, size, err := w.next.(VectorSource).Vector(s.vector)
	if err != nil {
		return err
	}
	if s.length == lengthNone && size == 8 {
		s.length = lengthL
	}
	for i, v := range elements[:s.vector] {
		if i > 0 {
			if err := w.emit(spec{}, nil, ","); err != nil {
				return err
			}
		}
		switch s.conv {
		case 'd', 'i', 'o', 'u', 'x', 'X':
			err = w.integer(s, v)
		default:
			var f float64
			if f, err = floatOf(v, size); err == nil {
				err = w.float(s, f)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) pointer(s spec, v uint64) error {
	if v == 0 {
		s.zero = false
		return w.emit(s, nil, "(nil)")
	}
	s.alt, s.length, s.conv = true, lengthL, 'x'
	return w.digits(s, s.sign(false), strconv.FormatUint(v, 16))
}

// integer formats v after cutting it to the length modifier.
func (w *walker) integer(s spec, v uint64) error {
	shift := 64 - 8*s.length.bytes()
	switch s.conv {
	case 'd', 'i':
		x := int64(v<<shift) >> shift
		if x < 0 {
			return w.digits(s, "-", strconv.FormatUint(-uint64(x), 10))
		}
		return w.digits(s, s.sign(false), strconv.FormatUint(uint64(x), 10))
	}
	base := map[byte]int{'o': 8, 'u': 10, 'x': 16, 'X': 16}[s.conv]
	return w.digits(s, "", strconv.FormatUint(v<<shift>>shift, base))
}

// sign returns what stands before a number.
func (s *spec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case s.plus:
		return "+"
	case s.space:
		return " "
	}
	return ""
}

// digits applies precision and the alternate form to an integer's digits.
func (w *walker) digits(s spec, prefix, d string) error {
	isZero := d == "0"
	if s.prec >= 0 {
		s.zero = false
		if isZero && s.prec == 0 {
			d = ""
		}
	}
	lead := max(0, s.prec-len(d))
	switch {
	case s.alt && s.conv == 'o' && lead == 0 && (!isZero || d == ""):
		lead = 1
	case s.alt && s.conv == 'x' && !isZero:
		prefix += "0x"
	case s.alt && s.conv == 'X' && !isZero:
		prefix += "0X"
	}
	body := make([]byte, 0, lead+len(d))
	for range lead {
		body = append(body, '0')
	}
	body = append(body, d...)
	if s.conv == 'X' {
		upper(body)
	}
	return w.emit(s, []byte(prefix), string(body))
}

const (
	spaces = "                                                                "
	zeros  = "0000000000000000000000000000000000000000000000000000000000000000"
)

// emit appends prefix and body padded to the width: zeros go between them.
func (w *walker) emit(s spec, prefix []byte, body string) error {
	n := len(prefix) + len(body)
	pad := max(0, s.width-n)
	if n+pad > w.room() {
		return fmt.Errorf("%d bytes after %d: %w", n+pad, len(w.out)-w.start, ErrLimit)
	}
	fill := func(run string) {
		for left := pad; left > 0; left -= len(run) {
			w.out = append(w.out, run[:min(left, len(run))]...)
		}
	}
	if !s.minus && !s.zero {
		fill(spaces)
	}
	w.out = append(w.out, prefix...)
	if !s.minus && s.zero {
		fill(zeros)
	}
	w.out = append(w.out, body...)
	if s.minus {
		fill(spaces)
	}
	return nil
}

func upper(b []byte) {
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
}
