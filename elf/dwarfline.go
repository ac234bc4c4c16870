package elf

import (
	"sort"
)

// Source lines come from .debug_line alone (DWARF 5, section 6.2, and the
// older forms of versions 2 to 4). The standard library's debug/dwarf is not
// used: it allocates tables of whatever length a line header states.

// lineSpan maps the addresses [start, end) to a line of files[file].
type lineSpan struct {
	start, end uint64
	file, line uint32
}

// lineFile is kept in two parts; joining every name with its directory could
// multiply one long directory name.
type lineFile struct{ dir, name string }

type lineTable struct {
	spans []lineSpan // sorted by start
	files []lineFile
}

// cursor reads DWARF data; once it runs out, short is set and reads give 0.
type cursor struct {
	b     []byte
	short bool
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.short, c.b = true, nil
		return nil
	}
	p := c.b[:n]
	c.b = c.b[n:]
	return p
}

// fixed reads a little-endian number of n bytes.
func (c *cursor) fixed(n uint64) uint64 {
	var v uint64
	for i, b := range c.take(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (c *cursor) u8() uint8 { return uint8(c.fixed(1)) }

func (c *cursor) uleb() uint64 {
	var v uint64
	for shift := 0; ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 {
			return v
		}
	}
}

func (c *cursor) sleb() int64 {
	var v int64
	for shift := 0; ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		if b&0x80 == 0 {
			if shift+7 < 64 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

func (c *cursor) str() string {
	for i, b := range c.b {
		if b == 0 {
			s := string(c.b[:i])
			c.b = c.b[i+1:]
			return s
		}
	}
	c.short, c.b = true, nil
	return ""
}

// lineReader reads the units of .debug_line. What is malformed loses its unit
// (or the rest, when the length of a unit is wrong), not the file: lines are
// only shown to people.
type lineReader struct {
	lineTable
	strings, lineStrings *stringTable
	executable           func(addr uint64) bool
}

func (r *lineReader) read(b []byte) {
	for c := (&cursor{b: b}); len(c.b) > 0; {
		length, offsetSize := c.fixed(4), uint64(4)
		if length == 0xffffffff {
			length, offsetSize = c.fixed(8), 8
		}
		unit := c.take(length)
		if c.short {
			break
		}
		r.unit(&cursor{b: unit}, offsetSize)
	}
	sort.SliceStable(r.spans, func(i, j int) bool { return r.spans[i].start < r.spans[j].start })
}

// lineHeader is what a line number program needs of its unit's header.
type lineHeader struct {
	minInst              uint64
	lineBase             int8
	lineRange, opcodeMin uint8
	argCounts            []byte
	firstFile            uint64 // number of the first file: 0 from version 5, else 1
	baseFile, fileCount  uint64 // the unit's files in lineTable.files
}

func (r *lineReader) unit(c *cursor, offsetSize uint64) {
	version := c.fixed(2)
	if version < 2 || version > 5 {
		return
	}
	if version >= 5 {
		c.take(2) // address and segment selector size
	}
	header := &cursor{b: c.take(c.fixed(offsetSize))}
	h := lineHeader{minInst: uint64(header.u8()), baseFile: uint64(len(r.files))}
	if version >= 4 {
		header.u8() // operations an instruction: 1, AMD GPUs are no VLIW machines
	}
	header.u8() // default_is_stmt
	h.lineBase, h.lineRange, h.opcodeMin = int8(header.u8()), header.u8(), header.u8()
	if h.opcodeMin == 0 {
		return
	}
	h.argCounts = header.take(uint64(h.opcodeMin) - 1)
	ok := false
	if version >= 5 {
		ok = r.filesV5(header, offsetSize)
	} else {
		h.firstFile = 1
		ok = r.filesV2(header)
	}
	h.fileCount = uint64(len(r.files)) - h.baseFile
	if ok && !header.short && !c.short {
		r.program(c, &h)
	}
}

func (r *lineReader) filesV2(c *cursor) bool {
	dirs := []string{""} // directory 0 is the compilation's, named in .debug_info
	for {
		dir := c.str()
		if c.short {
			return false
		}
		if dir == "" {
			break
		}
		dirs = append(dirs, dir)
	}
	for {
		name := c.str()
		if c.short {
			return false
		}
		if name == "" {
			return true
		}
		f := lineFile{name: name}
		if dir := c.uleb(); dir < uint64(len(dirs)) {
			f.dir = dirs[dir]
		}
		c.uleb()
		c.uleb()
		r.files = append(r.files, f)
	}
}

func (r *lineReader) filesV5(c *cursor, offsetSize uint64) bool {
	var dirs []string
	if !r.entries(c, offsetSize, func(path string, _ uint64) { dirs = append(dirs, path) }) {
		return false
	}
	return r.entries(c, offsetSize, func(path string, dir uint64) {
		f := lineFile{name: path}
		if dir < uint64(len(dirs)) {
			f.dir = dirs[dir]
		}
		r.files = append(r.files, f)
	})
}

// entries reads one entry-format table of a version 5 header. Each entry
// takes at least a byte, which bounds the count.
func (r *lineReader) entries(c *cursor, offsetSize uint64, add func(path string, dir uint64)) bool {
	const contentPath, contentDirectory = 1, 2
	type format struct{ content, form uint64 }
	formats := make([]format, c.u8())
	for i := range formats {
		formats[i] = format{c.uleb(), c.uleb()}
	}
	count := c.uleb()
	if count > 0 && len(formats) == 0 {
		return false
	}
	for ; count > 0 && !c.short; count-- {
		var path string
		var dir uint64
		for _, f := range formats {
			s, v, ok := r.value(c, f.form, offsetSize)
			if !ok {
				return false
			}
			switch f.content {
			case contentPath:
				path = s
			case contentDirectory:
				dir = v
			}
		}
		add(path, dir)
	}
	return !c.short
}

// value reads a value of the forms that line headers use.
func (r *lineReader) value(c *cursor, form, offsetSize uint64) (s string, v uint64, ok bool) {
	table := r.strings
	switch form {
	case 0x08: // DW_FORM_string
		return c.str(), 0, !c.short
	case 0x1f: // DW_FORM_line_strp
		table = r.lineStrings
		fallthrough
	case 0x0e: // DW_FORM_strp
		off := c.fixed(offsetSize)
		if c.short || off > 1<<32-1 {
			return "", 0, false
		}
		s, reason := table.get(uint32(off))
		return s, 0, reason == ""
	case 0x0b, 0x05, 0x06, 0x07: // DW_FORM_data1, 2, 4, 8
		return "", c.fixed(map[uint64]uint64{0x0b: 1, 0x05: 2, 0x06: 4, 0x07: 8}[form]), !c.short
	case 0x1e: // DW_FORM_data16
		c.take(16)
	case 0x0f: // DW_FORM_udata
		return "", c.uleb(), !c.short
	case 0x09: // DW_FORM_block
		c.take(c.uleb())
	default:
		return "", 0, false
	}
	return "", 0, !c.short
}

// lineState is the state machine of a line number program.
type lineState struct {
	addr, file uint64
	line       uint64
	open       bool // a row of this sequence is waiting for its end
	bad        bool // addresses ran backwards: the sequence is dropped
	first      int  // first span of the sequence
	start      uint64
	spanFile   uint64
	spanLine   uint64
}

func (r *lineReader) program(c *cursor, h *lineHeader) {
	fresh := func() lineState { return lineState{file: 1, line: 1, first: len(r.spans)} }
	s := fresh()
	for len(c.b) > 0 {
		switch op := c.u8(); {
		case op >= h.opcodeMin:
			if h.lineRange == 0 {
				r.spans = r.spans[:s.first]
				return
			}
			adj := uint64(op - h.opcodeMin)
			s.addr += adj / uint64(h.lineRange) * h.minInst
			s.line += uint64(int64(h.lineBase)) + adj%uint64(h.lineRange)
			r.row(&s, h)
		case op == 0:
			ext := &cursor{b: c.take(c.uleb())}
			switch ext.u8() {
			case 1: // DW_LNE_end_sequence
				r.row(&s, h)
				if s.bad || c.short {
					r.spans = r.spans[:s.first]
				}
				s = fresh()
			case 2: // DW_LNE_set_address
				s.addr = ext.fixed(uint64(len(ext.b)))
			}
		default:
			r.standard(&s, h, c, op)
		}
	}
	// A sequence without its end has no last address.
	r.spans = r.spans[:s.first]
}

// standard executes a standard opcode, or passes over the arguments of one
// it does not need.
func (r *lineReader) standard(s *lineState, h *lineHeader, c *cursor, op uint8) {
	switch op {
	case 1: // DW_LNS_copy
		r.row(s, h)
	case 2: // DW_LNS_advance_pc
		s.addr += c.uleb() * h.minInst
	case 3: // DW_LNS_advance_line
		s.line += uint64(c.sleb())
	case 4: // DW_LNS_set_file
		s.file = c.uleb()
	case 8: // DW_LNS_const_add_pc
		if h.lineRange != 0 {
			s.addr += uint64(255-h.opcodeMin) / uint64(h.lineRange) * h.minInst
		}
	case 9: // DW_LNS_fixed_advance_pc
		s.addr += c.fixed(2)
	default:
		for range h.argCounts[op-1] {
			c.uleb()
		}
	}
}

// row ends the span of the row before and starts a new one.
func (r *lineReader) row(s *lineState, h *lineHeader) {
	if s.open {
		s.bad = s.bad || s.addr < s.start
		i := s.spanFile - h.firstFile
		// Code dropped by the linker has its sequence at address 0.
		if s.addr > s.start && i < h.fileCount && s.spanLine != 0 && s.spanLine < 1<<31 && r.executable(s.start) {
			r.spans = append(r.spans, lineSpan{s.start, s.addr, uint32(h.baseFile + i), uint32(s.spanLine)})
		}
	}
	s.open, s.start, s.spanFile, s.spanLine = true, s.addr, s.file, s.line
}
