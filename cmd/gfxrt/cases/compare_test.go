package cases

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gfxrt/cmd/gfxrt/internal/num"
)

func TestWithin(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x, y, tol float64
		want      bool
	}{
		{1, 1, 0, true}, {0, math.Copysign(0, -1), 0, true}, {nan, nan, 0, true}, {inf, inf, 0, true},
		{1, 1.0000001, 0, false}, {0.5, 0.5625, 0.0625, true}, {0.5, 0.5626, 0.0625, false}, // absolute below 1
		{96, 100, 0.04, true}, {95.9, 100, 0.04, false}, {-96, -100, 0.04, true}, // relative to |y| above
		{nan, 1, 1, false}, {1, nan, 1, false}, {inf, -inf, 1, false}, {1, inf, 1, false}, {inf, 1, 1, false},
	} {
		if got := Within(c.x, c.y, c.tol); got != c.want {
			t.Errorf("Within(%g, %g, %g) = %v", c.x, c.y, c.tol, got)
		}
	}
}

func floats(t num.Type, v ...float64) []byte {
	var b []byte
	for _, x := range v {
		b = append(b, t.FromFloat(x)...)
	}
	return b
}

func TestCompare(t *testing.T) {
	want := floats(num.F32, 1, 2, 3, math.NaN())
	got := slices.Clone(want)
	got[4]++     // element 1: one ulp up
	got[8+3] = 0 // element 2: tiny
	got[12] = 1  // element 3: another NaN
	if d := Compare(num.F32, 0, want, want); d != nil {
		t.Errorf("equal buffers differ: %v", d)
	}
	if d := cmp.Diff(&Mismatch{Type: "f32", Index: 1, Got: "2.0000002", Want: "2", ULP: 1, Differ: 2, Total: 4}, Compare(num.F32, 0, got, want)); d != "" {
		t.Error(d)
	}
	if d := Compare(num.F32, 1e-6, got, want); d == nil || d.Index != 2 || d.Differ != 1 {
		t.Errorf("with a tolerance: %+v", d)
	}
	if d := Compare(num.Raw, 1, []byte{1, 2, 3}, []byte{1, 9, 3}); d == nil || d.Index != 1 || d.Got != "0x02" || d.Want != "0x09" {
		t.Errorf("raw bytes ignore the tolerance: %+v", d)
	}
	if d := Compare(num.F16, 1e-3, floats(num.F16, 1000), floats(num.F16, 1000.5)); d != nil {
		t.Errorf("f16 within the tolerance: %v", d)
	}
	m := Mismatch{What: "buffer", Name: "o", Type: "f32", Index: 17, Got: "1", Want: "2", ULP: 8388608, Differ: 3, Total: 40}
	if s := m.String(); s != "buffer o[17] f32: got 1, want 2, ulp 8388608, 3 of 40 differ" {
		t.Error(s)
	}
}

func TestCompareText(t *testing.T) {
	for _, c := range []struct{ got, want, text string }{
		{"a\nb\n", "a\nb\n", ""},
		{"a\nbx\nc\n", "a\nby\nc\n", `stdout differs at byte 3: got "bx\n", want "by\n"`},
		{"a\n", "a\nb\n", `stdout differs at byte 2: got the end after 2 bytes, want "b\n"`},
	} {
		got := ""
		if d := compareText("stdout", []byte(c.got), []byte(c.want)); d != nil {
			got = d.String()
		}
		if got != c.text {
			t.Errorf("%q for %q: %s", c.got, c.want, got)
		}
	}
}
