package printf

import (
	"bytes"
	"encoding/binary"
)

// LLVM 22 stores a literal string whose length is a non-zero multiple of 4
// without its NUL word: whatever follows lies 4 bytes earlier than the sizes in
// the metadata say, and the record ends in words that nothing was written to.
// Their number is the number of such strings; shortened finds which they are.

// newOpenCLArgs cuts a record's body into arguments.
func newOpenCLArgs(body []byte, format OpenCLFormat) *openCLArgs {
	short := shortened(body, format)
	a := &openCLArgs{args: make([][]byte, 0, len(format.Sizes))}
	for i, s := range format.Sizes {
		n := stored(s)
		if i < len(short) && short[i] {
			n -= 4
		}
		a.args = append(a.args, body[:n])
		body = body[n:]
	}
	return a
}

// maxShortened bounds the arguments of records that shortened looks at.
const maxShortened = 128

// shortened reports for each argument whether it is a string without its NUL
// word; nil when none is.
func shortened(body []byte, format OpenCLFormat) []bool {
	missing := 0
	for end := len(body); end >= 4 && binary.LittleEndian.Uint32(body[end-4:]) == sentinel; end -= 4 {
		missing++
	}
	if missing == 0 || len(format.Sizes) > maxShortened {
		return nil
	}
	p := placement{sizes: format.Sizes, isString: stringArgs(format.Format), short: make([]bool, len(format.Sizes)), failed: map[[2]int]bool{}}
	for m := min(missing, len(format.Sizes)); m > 0; m-- { // the last argument may look unwritten
		clear(p.failed)
		if p.place(body, 0, m) {
			return p.short
		}
	}
	return nil
}

// placement searches for the shortened strings of one record.
type placement struct {
	sizes    []uint32
	isString []bool
	short    []bool
	failed   map[[2]int]bool // argument and shortened strings left, without a solution
}

func (p *placement) place(body []byte, arg, left int) bool {
	if arg == len(p.sizes) {
		return left == 0
	}
	key := [2]int{arg, left}
	if p.failed[key] {
		return false
	}
	size := int(stored(p.sizes[arg]))
	candidate := arg < len(p.isString) && p.isString[arg] && size >= 8 && bytes.IndexByte(body[:size-4], 0) < 0
	// A whole string that long ends in its last word, after one byte or more.
	whole := !candidate || body[size-4] != 0 && bytes.IndexByte(body[size-4:size], 0) > 0
	p.short[arg] = false
	if whole && p.place(body[size:], arg+1, left) {
		return true
	}
	p.short[arg] = true
	if candidate && left > 0 && p.place(body[size-4:], arg+1, left-1) {
		return true
	}
	p.short[arg] = false
	p.failed[key] = true
	return false
}

// stringArgs lists which arguments a format takes as strings.
func stringArgs(format []byte) []bool {
	var p probe
	// A malformed format has told what it could.
	Format(nil, format, &p)
	return p.strings
}

// probe is a VectorSource that records what is asked of it.
type probe struct{ strings []bool }

func (p *probe) add(isString bool) { p.strings = append(p.strings, isString) }

func (p *probe) Int() (uint64, error)    { p.add(false); return 0, nil }
func (p *probe) Float() (float64, error) { p.add(false); return 0, nil }
func (p *probe) String() ([]byte, bool, error) {
	p.add(true)
	return nil, false, nil
}
func (p *probe) Vector(int) (elements [16]uint64, size int, err error) {
	p.add(false)
	return elements, 4, nil
}
