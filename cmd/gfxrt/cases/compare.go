package cases

import (
	"bytes"
	"fmt"
	"math"

	"gfxrt/cmd/gfxrt/internal/num"
)

// Mismatch tells how a buffer, or what was printed, differs from what was
// expected.
type Mismatch struct {
	What   string `json:"what"` // "buffer", "global", "stdout" or "stderr"
	Name   string `json:"name,omitempty"`
	Type   string `json:"type"`
	Index  int    `json:"index"` // first element that differs
	Got    string `json:"got"`
	Want   string `json:"want"`
	ULP    uint64 `json:"ulp,omitempty"` // 0 when there is no such distance
	Differ int    `json:"differ"`        // elements that differ
	Total  int    `json:"total"`         // elements compared
}

// String is the mismatch in one line.
func (m *Mismatch) String() string {
	if m.What == "stdout" || m.What == "stderr" {
		return fmt.Sprintf("%s differs at byte %d: got %s, want %s", m.What, m.Index, m.Got, m.Want)
	}
	ulp := ""
	if m.ULP != 0 {
		ulp = fmt.Sprintf(", ulp %d", m.ULP)
	}
	return fmt.Sprintf("%s %s[%d] %s: got %s, want %s%s, %d of %d differ", m.What, m.Name, m.Index, m.Type, m.Got, m.Want, ulp, m.Differ, m.Total)
}

// Within is the comparison rule of floating-point buffers: x (got) and y
// (want) are equal, both NaN, or at most tolerance*max(1,|y|) apart.
func Within(x, y, tolerance float64) bool {
	if x == y || x != x && y != y {
		return true
	}
	// Nothing finite is near an infinity, whatever the scaled tolerance says.
	return !math.IsInf(y, 0) && math.Abs(x-y) <= tolerance*max(1, math.Abs(y))
}

// Compare compares the elements of two buffers of the same size. It returns
// nil when all agree.
func Compare(t num.Type, tolerance float64, got, want []byte) *Mismatch {
	if bytes.Equal(got, want) {
		return nil
	}
	size := t.Size()
	m := &Mismatch{Type: t.String(), Total: len(want) / size}
	for i := range m.Total {
		g, w := got[i*size:(i+1)*size], want[i*size:(i+1)*size]
		if bytes.Equal(g, w) || t.Float() && Within(t.ToFloat(g), t.ToFloat(w), tolerance) {
			continue
		}
		if m.Differ++; m.Differ > 1 {
			continue
		}
		m.Index, m.Got, m.Want = i, t.Format(g), t.Format(w)
		if t.Float() {
			m.ULP, _ = t.ULP(g, w)
		}
	}
	if m.Differ == 0 {
		return nil
	}
	return m
}

// compareText compares what was printed. It returns nil when all agree.
func compareText(what string, got, want []byte) *Mismatch {
	if bytes.Equal(got, want) {
		return nil
	}
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	return &Mismatch{What: what, Type: "text", Index: at, Got: excerpt(got, at), Want: excerpt(want, at), Differ: 1, Total: 1}
}

// excerpt quotes the line of b around offset at, or says that b ended.
func excerpt(b []byte, at int) string {
	const most = 60
	if at >= len(b) {
		return fmt.Sprintf("the end after %d bytes", len(b))
	}
	start := max(bytes.LastIndexByte(b[:at], '\n')+1, at-most/2)
	end := min(start+most, len(b))
	if n := bytes.IndexByte(b[at:end], '\n'); n >= 0 {
		end = at + n + 1
	}
	return fmt.Sprintf("%q", b[start:end])
}
