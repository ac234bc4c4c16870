package elf

import (
	"fmt"
	"math"
	"strings"

	"github.com/tinylib/msgp/msgp"
)

// metaReader walks one MessagePack value and knows, for errors, where it is:
// the offset in the file and the path of keys. Every object it reads takes at
// least one byte, so its work is bounded by the note's size; it does not
// recurse on what the file says.
type metaReader struct {
	b    []byte // what is left
	end  uint64 // file offset of the end of b
	path []string
}

func (m *metaReader) pos() uint64 { return m.end - uint64(len(m.b)) }

// fail locates an error at the current key.
func (m *metaReader) fail(format string, args ...any) error {
	field := strings.Join(m.path, "")
	if field == "" {
		field = "metadata"
	}
	return bad(m.pos(), field, format, args...)
}

// count checks that n objects can still be in the note.
func (m *metaReader) count(n uint64) error {
	if n > uint64(len(m.b)) {
		return m.fail("%d objects in %d bytes", n, len(m.b))
	}
	return nil
}

// eachKey calls fn for each entry of a map; fn must read the value.
func (m *metaReader) eachKey(fn func(key string) error) error {
	n, rest, err := msgp.ReadMapHeaderBytes(m.b)
	if err != nil {
		return m.fail("want a map: %v", err)
	}
	m.b = rest
	if err := m.count(2 * uint64(n)); err != nil {
		return err
	}
	depth := len(m.path)
	for range n {
		key, err := m.str()
		if err != nil {
			return err
		}
		m.path = append(m.path, key)
		if err := fn(key); err != nil {
			return err
		}
		m.path = m.path[:depth]
	}
	return nil
}

// eachItem calls fn for each element of an array; fn must read it.
func (m *metaReader) eachItem(fn func(i int) error) error {
	n, rest, err := msgp.ReadArrayHeaderBytes(m.b)
	if err != nil {
		return m.fail("want an array: %v", err)
	}
	m.b = rest
	if err := m.count(uint64(n)); err != nil {
		return err
	}
	depth := len(m.path)
	for i := range int(n) {
		m.path = append(m.path, fmt.Sprintf("[%d]", i))
		if err := fn(i); err != nil {
			return err
		}
		m.path = m.path[:depth]
	}
	return nil
}

// str reads a string.
func (m *metaReader) str() (string, error) {
	s, rest, err := msgp.ReadStringBytes(m.b)
	if err != nil {
		return "", m.fail("want a string: %v", err)
	}
	m.b = rest
	return s, nil
}

// uint reads a non-negative integer of any width and signedness, at most max.
func (m *metaReader) uint(max uint64) (uint64, error) {
	var v uint64
	var rest []byte
	var err error
	switch typ := msgp.NextType(m.b); typ {
	case msgp.IntType:
		var i int64
		if i, rest, err = msgp.ReadInt64Bytes(m.b); err == nil && i < 0 {
			return 0, m.fail("%d is negative", i)
		}
		v = uint64(i)
	case msgp.UintType:
		v, rest, err = msgp.ReadUint64Bytes(m.b)
	default:
		return 0, m.fail("want an integer, have %v", typ)
	}
	if err != nil {
		return 0, m.fail("want an integer: %v", err)
	}
	if v > max {
		return 0, m.fail("%d is more than %d", v, max)
	}
	m.b = rest
	return v, nil
}

func (m *metaReader) u32(p *uint32) error {
	v, err := m.uint(math.MaxUint32)
	*p = uint32(v)
	return err
}

// num reads an integer of at most 31 bits.
func (m *metaReader) num(p *int) error {
	v, err := m.uint(math.MaxInt32)
	*p = int(v)
	return err
}

// bool reads a boolean or an integer, which compilers write for some.
func (m *metaReader) bool(p *bool) error {
	if msgp.NextType(m.b) == msgp.BoolType {
		v, rest, err := msgp.ReadBoolBytes(m.b)
		if err != nil {
			return m.fail("want a boolean: %v", err)
		}
		*p, m.b = v, rest
		return nil
	}
	v, err := m.uint(math.MaxUint64)
	*p = v != 0
	return err
}

// triple reads an array of three integers.
func (m *metaReader) triple(p *[3]uint32) error {
	n := 0
	err := m.eachItem(func(i int) error {
		if n++; i > 2 {
			return m.fail("more than 3 elements")
		}
		return m.u32(&p[i])
	})
	if err == nil && n != 3 {
		return m.fail("%d elements, want 3", n)
	}
	return err
}

func (m *metaReader) string(p *string) (err error) {
	*p, err = m.str()
	return err
}

// skip passes over one value of any kind and depth.
func (m *metaReader) skip() error {
	for pending := uint64(1); pending > 0; pending-- {
		switch msgp.NextType(m.b) {
		case msgp.MapType:
			n, rest, err := msgp.ReadMapHeaderBytes(m.b)
			if err != nil {
				return m.fail("bad map: %v", err)
			}
			m.b = rest
			pending += 2 * uint64(n)
		case msgp.ArrayType:
			n, rest, err := msgp.ReadArrayHeaderBytes(m.b)
			if err != nil {
				return m.fail("bad array: %v", err)
			}
			m.b = rest
			pending += uint64(n)
		default:
			rest, err := msgp.Skip(m.b)
			if err != nil {
				return m.fail("bad value: %v", err)
			}
			m.b = rest
		}
		if err := m.count(pending - 1); err != nil {
			return err
		}
	}
	return nil
}
