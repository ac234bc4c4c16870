package num

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

func TestParse(t *testing.T) {
	// Expected bytes are the IEEE 754 and two's complement encodings, from
	// the standards' own examples or worked out by hand.
	for _, c := range []struct {
		typ  Type
		text string
		want []byte
	}{
		{I8, "-5", []byte{0xfb}},
		{I8, "-128", []byte{0x80}},
		{I8, "0xff", []byte{0xff}},
		{U8, "200", []byte{200}},
		{I16, "-300", []byte{0xd4, 0xfe}},
		{U16, "0xBEEF", []byte{0xef, 0xbe}},
		{I32, "-0x80000000", []byte{0, 0, 0, 0x80}},
		{U32, "4294967295", []byte{0xff, 0xff, 0xff, 0xff}},
		{I64, "-9223372036854775808", []byte{0, 0, 0, 0, 0, 0, 0, 0x80}},
		{U64, "0xffffffffffffffff", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{F16, "1", []byte{0x00, 0x3c}},
		{F16, "65504", []byte{0xff, 0x7b}},
		{F16, "-2", []byte{0x00, 0xc0}},
		{F16, "inf", []byte{0x00, 0x7c}},
		{F16, "-0", []byte{0x00, 0x80}},
		{F16, "5.9604644775390625e-08", []byte{0x01, 0x00}},
		{F16, "2.98e-08", []byte{0x00, 0x00}}, // below half of the smallest subnormal
		{F16, "6.104e-05", []byte{0x00, 0x04}},
		{F16, "2049", []byte{0x00, 0x68}}, // a tie, to even
		{F16, "2051", []byte{0x02, 0x68}},
		{BF16, "1", []byte{0x80, 0x3f}},
		{BF16, "3.140625", []byte{0x49, 0x40}},
		{BF16, "-inf", []byte{0x80, 0xff}},
		{F32, "1.5", []byte{0, 0, 0xc0, 0x3f}},
		{F32, "0x10", []byte{0, 0, 0x80, 0x41}},
		{F32, "-0x1.8p1", []byte{0, 0, 0x40, 0xc0}},
		{F32, "-inf", []byte{0, 0, 0x80, 0xff}},
		{F64, "-3.5", []byte{0, 0, 0, 0, 0, 0, 0x0c, 0xc0}},
	} {
		got, err := c.typ.Parse(c.text)
		if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%s:%s = % x, %v; want % x", c.typ, c.text, got, err, c.want)
		}
	}
	for _, typ := range []Type{F16, BF16, F32, F64} {
		b, err := typ.Parse("nan")
		if err != nil || !math.IsNaN(typ.ToFloat(b)) {
			t.Errorf("%s:nan = % x, %v; want a NaN", typ, b, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		text string
	}{
		{I8, "128"}, {I8, "-129"}, {I8, "0x100"}, {U8, "256"}, {U8, "-1"}, {U32, "4294967296"}, {U64, "18446744073709551616"},
		{I64, "9223372036854775808"}, {I32, ""}, {I32, "x"}, {I32, "0x"}, {I32, "1.5"}, {I32, "--1"}, {I32, "-"}, {U32, "1_000"},
		{F16, "65520"}, {F16, "-1e9"}, {BF16, "1e39"}, {F32, "1e39"}, {F64, "1e400"}, {F32, "one"}, {F32, ""}, {F64, "1_0"}, {Raw, "1"},
	} {
		if b, err := c.typ.Parse(c.text); !errors.Is(err, ErrValue) {
			t.Errorf("%s:%s = % x, %v; want an error that wraps ErrValue", c.typ, c.text, b, err)
		}
	}
}

// TestNarrowRoundTrip: every value of the 16-bit formats widens and narrows to itself.
func TestNarrowRoundTrip(t *testing.T) {
	for _, typ := range []Type{F16, BF16} {
		for i := range 1 << 16 {
			v := typ.toFloat(uint64(i))
			if back := typ.fromFloat(v); back != uint64(i) && !math.IsNaN(v) {
				t.Fatalf("%s %#04x = %g narrows to %#04x", typ, i, v, back)
			}
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		b    []byte
		want string
	}{
		{Raw, []byte{7}, "0x07"}, {I8, []byte{0xfb}, "-5"}, {U16, []byte{0xff, 0xff}, "65535"}, {I16, []byte{0xff, 0xff}, "-1"},
		{U64, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "18446744073709551615"},
		{F16, []byte{0x00, 0x3c}, "1"}, {BF16, []byte{0x80, 0xff}, "-Inf"}, {F32, []byte{0xcd, 0xcc, 0xcc, 0x3d}, "0.1"},
		{F64, []byte{0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f}, "0.1"},
	} {
		if got := c.typ.Format(c.b); got != c.want {
			t.Errorf("%s % x prints %s, want %s", c.typ, c.b, got, c.want)
		}
	}
}

func TestULP(t *testing.T) {
	one, next := []byte{0, 0, 0x80, 0x3f}, []byte{1, 0, 0x80, 0x3f}
	if d, ok := F32.ULP(one, next); d != 1 || !ok {
		t.Errorf("neighbours are %d apart, %v", d, ok)
	}
	tiny, minusTiny := []byte{1, 0, 0, 0}, []byte{1, 0, 0, 0x80}
	if d, ok := F32.ULP(tiny, minusTiny); d != 2 || !ok {
		t.Errorf("the smallest values of either sign are %d apart, %v", d, ok)
	}
	if _, ok := F32.ULP(one, []byte{0, 0, 0xc0, 0x7f}); ok {
		t.Error("a NaN has a distance")
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]uint64{"0": 0, "64": 64, "0x40": 64, "4k": 4096, "4K": 4096, "1M": 1 << 20, "1G": 1 << 30} {
		if n, err := ParseSize(s, 1<<30); n != want || err != nil {
			t.Errorf("%s = %d, %v; want %d", s, n, err, want)
		}
	}
	for _, s := range []string{"", "k", "-1", "1.5k", "2G", "1073741825", "99999999999999999999", "16777216G", "4kk", "1 k"} {
		if n, err := ParseSize(s, 1<<30); !errors.Is(err, ErrValue) {
			t.Errorf("%q = %d, %v; want an error", s, n, err)
		}
	}
}
