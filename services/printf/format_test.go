package printf

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// list is an ArgSource over Go values: uint64, float64, string, nil.
type list struct {
	args []any
}

func (l *list) pop() (any, error) {
	if len(l.args) == 0 {
		return nil, ErrArguments
	}
	a := l.args[0]
	l.args = l.args[1:]
	return a, nil
}

func (l *list) Int() (uint64, error) {
	a, err := l.pop()
	if err != nil {
		return 0, err
	}
	switch v := a.(type) {
	case int:
		return uint64(v), nil
	case uint64:
		return v, nil
	}
	return 0, ErrArguments
}

func (l *list) Float() (float64, error) {
	a, err := l.pop()
	v, ok := a.(float64)
	if err == nil && !ok {
		err = ErrArguments
	}
	return v, err
}

func (l *list) String() ([]byte, bool, error) {
	a, err := l.pop()
	s, ok := a.(string)
	return []byte(s), !ok && err == nil, err
}

func TestFormatErrors(t *testing.T) {
	many := make([]any, 64)
	for i := range many {
		many[i] = 1
	}
	for _, c := range []struct {
		format string
		args   []any
		want   error
		out    string
	}{
		{"a%", nil, ErrFormat, "a"},
		{"a%-", many, ErrFormat, "a"},
		{"a%5.", many, ErrFormat, "a"},
		{"a%ll", many, ErrFormat, "a"},
		{"ok %d then %y", []any{5, 6}, ErrFormat, "ok 5 then "},
		{"%1$d", many, ErrFormat, ""},
		{"%ls", many, ErrFormat, ""},
		{"%lc", many, ErrFormat, ""},
		{"%hf", []any{1.0}, ErrFormat, ""},
		{"%Ld", many, ErrFormat, ""},
		{"%.-5d", many, ErrFormat, ""},
		{"%v4d", many, ErrFormat, ""}, // no vectors in C
		{"%\x00", many, ErrFormat, ""},
		{"%d %d", []any{1}, ErrArguments, "1 "},
		{"%*d", []any{1}, ErrArguments, ""},
		{"%s", nil, ErrArguments, ""},
		{"%f", nil, ErrArguments, ""},
		{"%2147483647d", many, ErrLimit, ""},
		{"%99999999999999999999d", many, ErrLimit, ""},
		{"x%.1048577f", []any{1.0}, ErrLimit, "x"},
		{"%*d", []any{int(math.MinInt32), 1}, ErrLimit, ""},
		{"%*d", []any{int(math.MaxInt32), 1}, ErrLimit, ""},
		{"%.*d", []any{int(math.MaxInt32), 1}, ErrLimit, ""},
		{"%s", []any{strings.Repeat("x", MaxOutput+1)}, ErrLimit, ""},
		{strings.Repeat("y", MaxOutput+1), nil, ErrLimit, ""},
	} {
		out, n, err := Format([]byte("kept:"), []byte(c.format), &list{c.args})
		if !errors.Is(err, c.want) || string(out) != "kept:"+c.out || n != len(c.out) {
			t.Errorf("%.40q: %.40q, %d, %v; want %q and %v", c.format, out, n, err, c.out, c.want)
		}
	}
}

func TestFormatLimits(t *testing.T) {
	out, n, err := Format(nil, []byte("%1048576d"), &list{[]any{1}})
	if err != nil || n != MaxOutput || len(out) != MaxOutput {
		t.Errorf("the widest field: %d bytes, %v", n, err)
	}
	_, n, err = Format(nil, []byte("%1048576d."), &list{[]any{1}})
	if !errors.Is(err, ErrLimit) || n != MaxOutput {
		t.Errorf("one byte more: %d bytes, %v", n, err)
	}
	// A precision of a string only shortens it.
	out, _, err = Format(nil, []byte("%.2147483646s"), &list{[]any{"abc"}})
	if err != nil || string(out) != "abc" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestPercentN(t *testing.T) {
	out, n, err := Format(nil, []byte("a%nb%lnc%d"), &list{[]any{0xdead, 0xbeef, 3}})
	if string(out) != "abc3" || n != 4 || err != nil {
		t.Errorf("%q, %d, %v", out, n, err)
	}
	if _, _, err = Format(nil, []byte("%n"), &list{}); !errors.Is(err, ErrArguments) {
		t.Errorf("%%n without an argument: %v", err)
	}
}
