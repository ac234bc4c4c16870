package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"gfxrt/cmd/gfxrt/internal/num"
	"gfxrt/runtime"
)

// dim is an extent X[,Y[,Z]]; all zero when not given.
type dim [3]uint32

// UnmarshalText reads X[,Y[,Z]].
func (d *dim) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), ",")
	if len(parts) > 3 {
		return fmt.Errorf("%q has %d dimensions, want X[,Y[,Z]]", text, len(parts))
	}
	v := dim{1, 1, 1}
	for i, p := range parts {
		n, err := num.ParseSize(p, math.MaxUint32)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("%q: dimensions start at 1", text)
		}
		v[i] = uint32(n)
	}
	*d = v
	return nil
}

func (d dim) dim3() runtime.Dim3 { return runtime.Dim3{X: d[0], Y: d[1], Z: d[2]} }

// size is a number of bytes with an optional suffix k, M or G.
type size uint32

// UnmarshalText reads a size.
func (s *size) UnmarshalText(text []byte) error {
	n, err := num.ParseSize(string(text), math.MaxUint32)
	*s = size(n)
	return err
}

// traceFlag is --trace[=X[,Y[,Z]],WAVE].
type traceFlag struct {
	on     bool
	chosen bool // only one wave
	group  [3]uint32
	wave   int
}

// IsBool lets the flag stand without a value.
func (t *traceFlag) IsBool() bool { return true }

// Decode reads the optional value: the work-group's coordinates, then the wave in it.
func (t *traceFlag) Decode(ctx *kong.DecodeContext) error {
	t.on = true
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	text := ctx.Scan.Pop().String()
	parts := strings.Split(text, ",")
	if len(parts) < 2 || len(parts) > 4 {
		return fmt.Errorf("%q: want GROUP,WAVE with a GROUP of X[,Y[,Z]]", text)
	}
	var v [4]uint32
	for i, p := range parts {
		n, err := num.ParseSize(p, math.MaxUint32)
		if err != nil {
			return err
		}
		v[i] = uint32(n)
	}
	t.chosen, t.wave = true, int(v[len(parts)-1])
	copy(t.group[:], v[:len(parts)-1])
	return nil
}

// want selects the waves to trace.
func (t *traceFlag) want(group [3]uint32, wave int) bool {
	return !t.chosen || group == t.group && wave == t.wave
}

// printable replaces what a terminal would obey rather than show: names come
// from files that nobody vouches for.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// schema is the version of every JSON document's layout.
const schema = 1

// writeJSON prints one document.
func writeJSON(w io.Writer, doc any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}
