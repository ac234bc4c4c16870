package printf

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// floatOf converts the raw bits of a vector element.
func floatOf(v uint64, size int) (float64, error) {
	switch size {
	case 2:
		return halfToFloat(uint16(v)), nil
	case 4:
		return float64(math.Float32frombits(uint32(v))), nil
	case 8:
		return math.Float64frombits(v), nil
	}
	return 0, fmt.Errorf("floating-point element of %d bytes: %w", size, ErrFormat)
}

func halfToFloat(h uint16) float64 {
	sign := uint64(h>>15) << 63
	exp, frac := int(h>>10&31), uint64(h&1023)
	switch exp {
	case 0:
		return math.Copysign(math.Ldexp(float64(frac), -24), math.Float64frombits(sign|1))
	case 31:
		return math.Float64frombits(sign | 0x7ff<<52 | frac<<42)
	}
	return math.Float64frombits(sign | uint64(exp-15+1023)<<52 | frac<<42)
}

// float formats v by a, e, f or g. The conversions are exact: strconv rounds
// to nearest even at any precision, as glibc does.
func (w *walker) float(s spec, v float64) error {
	prefix := []byte(s.sign(math.Signbit(v)))
	var body []byte
	switch lower := s.conv | 0x20; {
	case math.IsInf(v, 0):
		body, s.zero = []byte("inf"), false
	case math.IsNaN(v):
		body, s.zero = []byte("nan"), false
	case lower == 'a':
		prefix = append(prefix, "0x"...)
		body = hexFloat(math.Float64bits(v), s.prec, s.alt)
	default:
		body = decimalFloat(math.Abs(v), lower, s.prec, s.alt)
	}
	if s.conv < 'a' {
		upper(prefix)
		upper(body)
	}
	return w.emit(s, prefix, string(body))
}

func decimalFloat(v float64, conv byte, prec int, alt bool) []byte {
	if prec < 0 {
		prec = 6
	}
	if conv != 'g' {
		b := strconv.AppendFloat(nil, v, conv, prec, 64)
		if alt && prec == 0 {
			b = insertPoint(b)
		}
		return b
	}
	// C11 7.21.6.1: style e with P-1 digits gives the exponent X; style f is
	// taken when P > X >= -4.
	p := max(prec, 1)
	b := strconv.AppendFloat(nil, v, 'e', p-1, 64)
	x, _ := strconv.Atoi(string(b[bytes.IndexByte(b, 'e')+1:]))
	if p > x && x >= -4 {
		b = strconv.AppendFloat(nil, v, 'f', p-1-x, 64)
	}
	if !alt {
		return trimZeros(b)
	}
	if bytes.IndexByte(b, '.') < 0 {
		b = insertPoint(b)
	}
	return b
}

// insertPoint puts a decimal point after the digits of a number without one.
func insertPoint(b []byte) []byte {
	i := bytes.IndexByte(b, 'e')
	if i < 0 {
		i = len(b)
	}
	return append(b[:i:i], append([]byte{'.'}, b[i:]...)...)
}

// trimZeros removes trailing zeros of the fraction, and a bare point.
func trimZeros(b []byte) []byte {
	if bytes.IndexByte(b, '.') < 0 {
		return b
	}
	end := bytes.IndexByte(b, 'e')
	if end < 0 {
		end = len(b)
	}
	i := end
	for b[i-1] == '0' {
		i--
	}
	if b[i-1] == '.' {
		i--
	}
	return append(b[:i:i], b[end:]...)
}

// hexFloat gives "1.8p+0" for 1.5: glibc normalises to a leading 1 and keeps
// subnormals as 0.xxxp-1022. Rounding to nearest even may make the leading
// digit 2.
func hexFloat(bits uint64, prec int, alt bool) []byte {
	const fracBits = 52
	frac, exp := bits&(1<<fracBits-1), int(bits>>fracBits&0x7ff)
	switch {
	case exp != 0:
		frac |= 1 << fracBits
		exp -= 1023
	case frac != 0:
		exp = -1022
	}
	if prec >= 0 && prec < fracBits/4 {
		drop := fracBits - 4*prec
		rest := frac & (1<<drop - 1)
		half := uint64(1) << (drop - 1)
		frac >>= drop
		if rest > half || rest == half && frac&1 != 0 {
			frac++
		}
		frac <<= drop
	}
	b := strconv.AppendUint(nil, frac>>fracBits, 16)
	digits := fmt.Appendf(nil, "%013x", frac&(1<<fracBits-1))
	if prec < 0 {
		digits = bytes.TrimRight(digits, "0")
	} else if prec < len(digits) {
		digits = digits[:prec]
	}
	if len(digits) > 0 || prec > 0 || alt {
		b = append(b, '.')
	}
	b = append(b, digits...)
	for i := len(digits); i < prec; i++ {
		b = append(b, '0')
	}
	b = append(b, 'p')
	if exp >= 0 {
		b = append(b, '+')
	}
	return strconv.AppendInt(b, int64(exp), 10)
}
