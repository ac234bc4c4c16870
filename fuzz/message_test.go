package fuzz

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unsafe"

	"gfxrt/services/hostcall"
	"gfxrt/services/printf"
)

// FuzzMessages sends printf requests of one lane in any order and holds the
// host to a model of the message protocol (ROCm device libraries,
// services.cl): every answer, and all that is printed.
func FuzzMessages(f *testing.F) {
	// Each request is a flag byte (BEGIN, END, reserved, words), an id byte, and
	// the words.
	begin := append([]byte{1 | 2<<5, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "a %d b\n\x00"...)
	end := []byte{2 | 1<<5, 0, 7, 0, 0, 0, 0, 0, 0, 0}
	f.Add(append(bytes.Clone(begin), end...))
	f.Add(append(append(append(bytes.Clone(begin), begin...), 2|1<<5, 1, 9, 0, 0, 0, 0, 0, 0, 0), end...))
	f.Add([]byte{3 | 2<<5, 0, 1, 0, 0, 0, 0, 0, 0, 0, '%', 's', 0, 0, 0, 0, 0, 0})
	f.Add([]byte{2, 200, 4 | 1, 0, 2, 0, 1, 0, 1, 0, 2, 1, 2, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		size, err := hostcall.Size(1)
		if err != nil {
			t.Fatal(err)
		}
		words := make([]uint64, (size+7)/8)
		mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
		c, err := hostcall.NewClassic(mem, 4096, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		var out [2]bytes.Buffer
		s := &hostcall.Server{Stdout: &out[0], Stderr: &out[1], Failed: func(error) {}}
		m := model{open: map[uint64][]byte{}}
		const header, payload = 56, 80 // of the only packet
		for len(data) >= 2 {
			flags, id := uint64(data[0]), uint64(data[1])
			data = data[2:]
			request := [8]uint64{flags | id<<8}
			for i := range flags >> 5 {
				var word [8]byte
				data = data[copy(word[:], data):]
				request[1+i] = binary.LittleEndian.Uint64(word[:])
			}
			const lane = 13
			for i, w := range request {
				words[(payload+lane*64)/8+i] = w
			}
			words[header/8] = 0
			words[header/8+1] = 1 << lane
			words[header/8+2] = 2 | 1<<32 // printf, READY
			words[32/8] = 1               // ready_stack: packet 0 with a tag
			if n, err := c.Service(s); n != 1 || err != nil {
				t.Fatalf("%d packets, %v", n, err)
			}
			got, second := words[(payload+lane*64)/8], words[(payload+lane*64)/8+1]
			if want := m.answer(&request); got != want || second != 0 {
				t.Fatalf("request %#x: answer %#x, %#x; want %#x", request, got, second, want)
			}
		}
		for i := range out {
			if !bytes.Equal(out[i].Bytes(), m.out[i]) {
				t.Fatalf("stream %d: %q, want %q", i, out[i].Bytes(), m.out[i])
			}
		}
	})
}

// model is the message protocol by the book.
type model struct {
	open map[uint64][]byte
	free []uint64 // the last one is used first
	next uint64
	out  [2][]byte
}

func (m *model) answer(request *[8]uint64) uint64 {
	const failed = ^uint64(0)
	desc := request[0]
	id, n := desc>>8, int(desc>>5&7)
	if desc>>2&7 != 0 {
		return failed
	}
	if desc&1 != 0 {
		if k := len(m.free); k > 0 {
			id, m.free = m.free[k-1], m.free[:k-1]
		} else {
			id = m.next
			m.next++
		}
		m.open[id] = []byte{}
	}
	text, ok := m.open[id]
	if !ok {
		return failed
	}
	for _, w := range request[1 : 1+n] {
		text = binary.LittleEndian.AppendUint64(text, w)
	}
	m.open[id] = text
	if desc&2 == 0 {
		return desc&0xfe | id<<8
	}
	delete(m.open, id)
	m.free = append(m.free, id)
	printed, stream, count, err := printf.Message(nil, text)
	m.out[stream] = append(m.out[stream], printed...)
	if err != nil {
		return failed
	}
	return uint64(count)
}
