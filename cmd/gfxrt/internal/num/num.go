// Package num knows the scalar types a user names on the command line and in
// manifests: how their values are written, read back and compared.
package num

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ErrValue is wrapped by every error about a number that cannot be read.
var ErrValue = errors.New("invalid value")

// Type is an element type. Values are little-endian, as the device sees them.
type Type uint8

// Element types. Raw is a byte without meaning.
const (
	Raw Type = iota
	I8
	U8
	I16
	U16
	I32
	U32
	I64
	U64
	F16
	BF16
	F32
	F64
	numTypes
)

var typeNames = [numTypes]string{"raw", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"}
var typeSizes = [numTypes]int{1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8}

// Names lists the names of all types but raw, for error texts.
func Names() string { return strings.Join(typeNames[1:], ", ") }

// ParseType finds the type of that name.
func ParseType(name string) (Type, bool) {
	for i, n := range typeNames {
		if n == name {
			return Type(i), true
		}
	}
	return Raw, false
}

// String is the type's name.
func (t Type) String() string { return typeNames[t] }

// Size is the bytes of one element.
func (t Type) Size() int { return typeSizes[t] }

// Float reports whether t is a floating-point type.
func (t Type) Float() bool { return t >= F16 }

// Signed reports whether t is a signed integer type.
func (t Type) Signed() bool { return t == I8 || t == I16 || t == I32 || t == I64 }

// Parse reads one value of type t and returns its bytes. Integers are
// decimal, signed or 0x; the hexadecimal form of a signed type may also be
// the bit pattern. Floating-point values are what C's strtod reads: decimal,
// hexadecimal, inf, nan.
func (t Type) Parse(s string) ([]byte, error) {
	var bits uint64
	var err error
	switch {
	case t == Raw:
		return nil, fmt.Errorf("%w: type raw has no values", ErrValue)
	case t.Float():
		bits, err = t.parseFloat(s)
	default:
		bits, err = t.parseInt(s)
	}
	if err != nil {
		return nil, err
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	return b[:t.Size()], nil
}

func (t Type) parseInt(s string) (uint64, error) {
	width := uint(8 * t.Size())
	digits, negative := strings.TrimPrefix(s, "+"), false
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		digits, negative = rest, true
	}
	base := 10
	if len(digits) > 2 && (digits[:2] == "0x" || digits[:2] == "0X") {
		digits, base = digits[2:], 16
	}
	u, err := strconv.ParseUint(digits, base, 64)
	if errors.Is(err, strconv.ErrSyntax) {
		return 0, fmt.Errorf("%w: %q is not a number of type %s", ErrValue, s, t)
	}
	mask := ^uint64(0) >> (64 - width)
	limit := mask // largest magnitude that this spelling may have
	switch {
	case negative && t.Signed():
		limit = mask/2 + 1
	case negative:
		limit = 0
	case t.Signed() && base == 10:
		limit = mask / 2
	}
	if err != nil || u > limit {
		return 0, fmt.Errorf("%w: %s does not fit %s", ErrValue, s, t)
	}
	if negative {
		u = -u
	}
	return u & mask, nil
}

func (t Type) parseFloat(s string) (uint64, error) {
	width := 64
	if t == F32 {
		width = 32
	}
	text := s
	if hex := strings.ToLower(strings.TrimLeft(s, "+-")); strings.HasPrefix(hex, "0x") && !strings.Contains(hex, "p") {
		text += "p0" // strconv wants the exponent that C leaves out
	}
	v, err := strconv.ParseFloat(text, width)
	if errors.Is(err, strconv.ErrSyntax) || strings.Contains(s, "_") {
		return 0, fmt.Errorf("%w: %q is not a number of type %s", ErrValue, s, t)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %s does not fit %s", ErrValue, s, t)
	}
	bits := t.fromFloat(v)
	if !math.IsInf(v, 0) && math.IsInf(t.toFloat(bits), 0) {
		return 0, fmt.Errorf("%w: %s does not fit %s", ErrValue, s, t)
	}
	return bits, nil
}

// FromFloat returns the bytes of v rounded to nearest even in floating-point
// type t.
func (t Type) FromFloat(v float64) []byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], t.fromFloat(v))
	return b[:t.Size()]
}

func (t Type) fromFloat(v float64) uint64 {
	switch t {
	case F16:
		return narrow(v, 5, 10)
	case BF16:
		return narrow(v, 8, 7)
	case F32:
		return uint64(math.Float32bits(float32(v)))
	default:
		return math.Float64bits(v)
	}
}

// narrow rounds v to nearest even in the IEEE 754 binary format with the
// given widths of exponent and fraction (at most 11 and 51).
func narrow(v float64, expBits, fracBits uint) uint64 {
	sign := math.Float64bits(v) >> 63 << (expBits + fracBits)
	inf := (uint64(1)<<expBits - 1) << fracBits
	switch {
	case v != v:
		return sign | inf | 1<<(fracBits-1)
	case math.IsInf(v, 0):
		return sign | inf
	}
	bias := 1<<(expBits-1) - 1
	_, e := math.Frexp(v) // |v| in [2^(e-1), 2^e)
	e = max(e-1, 1-bias)  // the exponent of the result; subnormals share the smallest
	// In units of the last place the value is at most 2^(fracBits+1), so
	// scaling and rounding are exact float64 operations.
	q := uint64(math.RoundToEven(math.Ldexp(math.Abs(v), int(fracBits)-e)))
	if v == 0 {
		return sign
	}
	// A carry out of the fraction moves into the exponent by itself.
	r := uint64(e+bias-1)<<fracBits + q
	return sign | min(r, inf)
}

// ToFloat is the value of the element at the start of b, exactly.
func (t Type) ToFloat(b []byte) float64 { return t.toFloat(t.bits(b)) }

func (t Type) toFloat(bits uint64) float64 {
	switch t {
	case F16:
		return widen(bits, 5, 10)
	case BF16:
		return float64(math.Float32frombits(uint32(bits) << 16))
	case F32:
		return float64(math.Float32frombits(uint32(bits)))
	default:
		return math.Float64frombits(bits)
	}
}

func widen(bits uint64, expBits, fracBits uint) float64 {
	frac := bits & (1<<fracBits - 1)
	exp := int(bits >> fracBits & (1<<expBits - 1))
	bias := 1<<(expBits-1) - 1
	var v float64
	switch {
	case exp == 1<<expBits-1 && frac != 0:
		return math.NaN()
	case exp == 1<<expBits-1:
		v = math.Inf(1)
	case exp == 0:
		v = math.Ldexp(float64(frac), 1-bias-int(fracBits))
	default:
		v = math.Ldexp(float64(frac|1<<fracBits), exp-bias-int(fracBits))
	}
	if bits>>(expBits+fracBits)&1 != 0 {
		v = -v
	}
	return v
}

// bits reads the element at the start of b, zero-extended.
func (t Type) bits(b []byte) uint64 {
	var w [8]byte
	copy(w[:], b[:t.Size()])
	return binary.LittleEndian.Uint64(w[:])
}

// Format writes the element at the start of b: integers in decimal, raw bytes
// in hexadecimal, floating-point values with as many digits as tell them from
// their neighbours.
func (t Type) Format(b []byte) string {
	bits := t.bits(b)
	switch {
	case t == Raw:
		return fmt.Sprintf("0x%02x", bits)
	case t == F64:
		return strconv.FormatFloat(t.toFloat(bits), 'g', -1, 64)
	case t.Float():
		return strconv.FormatFloat(t.toFloat(bits), 'g', -1, 32)
	case t.Signed():
		shift := uint(64 - 8*t.Size())
		return strconv.FormatInt(int64(bits<<shift)>>shift, 10)
	default:
		return strconv.FormatUint(bits, 10)
	}
}

// ULP is the distance between two floating-point elements counted in
// representable values; ok is false when one of them is a NaN.
func (t Type) ULP(a, b []byte) (distance uint64, ok bool) {
	x, y := t.bits(a), t.bits(b)
	if math.IsNaN(t.toFloat(x)) || math.IsNaN(t.toFloat(y)) {
		return 0, false
	}
	// Magnitudes are ordered as integers; opposite signs add up across zero.
	top := uint64(1) << (8*t.Size() - 1)
	mx, my := x&^top, y&^top
	if (x^y)&top != 0 {
		return mx + my, true
	}
	return max(mx, my) - min(mx, my), true
}

// ParseSize reads a count or a size: decimal or 0x, with an optional suffix
// k, M or G (powers of 1024). Values above limit are refused.
func ParseSize(s string, limit uint64) (uint64, error) {
	digits, shift := s, 0
	for suffix, n := range map[string]int{"k": 10, "K": 10, "M": 20, "G": 30} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			digits, shift = rest, n
		}
	}
	base := 10
	if rest, ok := strings.CutPrefix(digits, "0x"); ok {
		digits, base = rest, 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if errors.Is(err, strconv.ErrSyntax) {
		return 0, fmt.Errorf("%w: %q is not a size (digits or 0x, then nothing, k, M or G)", ErrValue, s)
	}
	if err != nil || n > limit>>shift {
		return 0, fmt.Errorf("%w: %s is above the limit of %d", ErrValue, s, limit)
	}
	return n << shift, nil
}
