package hostcall

import (
	"encoding/binary"
	"fmt"
)

// Limits on messages under assembly. Every lane of every wave that can be
// resident may have one open: 622,592 on gfx942.
const (
	MaxMessage  = 1 << 20   // bytes of one message
	MaxTable    = 512 << 20 // bytes of all messages of a server
	MaxMessages = 1 << 20   // open messages
)

// Message descriptor, word 0 of a slot (services.cl).
const (
	descBegin    = 1 << 0
	descEnd      = 1 << 1
	descReserved = 7 << 2
	descLenShift = 5 // 3 bits: payload words in this call
	descIDShift  = 8
)

// message is a message under assembly.
type message struct {
	data []byte
	open bool
	lost error // why its data was dropped; it then fails at its end
}

// messages assembles messages that arrive in pieces of up to seven words.
type messages struct {
	table []message
	free  []uint64 // closed ids; the last closed is the next used
	bytes int
}

// add takes one call's words. When the call ends its message, done is true
// and data holds the message until the next add; otherwise descriptor is what
// the device must pass with its next call. A message that grows beyond a limit
// loses its data at once and fails at its end, so that the device's protocol
// stays intact.
func (m *messages) add(slot *[laneWords]uint64) (descriptor uint64, data []byte, done bool, err error) {
	desc := slot[0]
	if desc&descReserved != 0 {
		return 0, nil, false, fmt.Errorf("message descriptor %#x: reserved bits 4:2 set: %w", desc, ErrRequest)
	}
	id := desc >> descIDShift
	if desc&descBegin != 0 {
		if id, err = m.begin(); err != nil {
			return 0, nil, false, err
		}
		desc = desc&(1<<descIDShift-1)&^uint64(descBegin) | id<<descIDShift
	} else if id >= uint64(len(m.table)) || !m.table[id].open {
		return 0, nil, false, fmt.Errorf("message descriptor %#x: no open message %d: %w", desc, id, ErrRequest)
	}
	msg := &m.table[id]
	m.extend(msg, slot[1:1+desc>>descLenShift&7])
	if desc&descEnd == 0 {
		return desc, nil, false, nil
	}
	m.bytes -= len(msg.data)
	data, err = msg.data, msg.lost
	msg.open = false
	m.free = append(m.free, id)
	return 0, data, true, err
}

func (m *messages) begin() (uint64, error) {
	if n := len(m.free); n > 0 {
		id := m.free[n-1]
		m.free = m.free[:n-1]
		m.table[id] = message{data: m.table[id].data[:0], open: true}
		return id, nil
	}
	if len(m.table) >= MaxMessages {
		return 0, fmt.Errorf("%d messages are open: %w", len(m.table), ErrRequest)
	}
	m.table = append(m.table, message{open: true})
	return uint64(len(m.table) - 1), nil
}

func (m *messages) extend(msg *message, words []uint64) {
	n := 8 * len(words)
	switch {
	case msg.lost != nil:
		return
	case len(msg.data)+n > MaxMessage:
		msg.lost = fmt.Errorf("message is longer than %d bytes: %w", MaxMessage, ErrRequest)
	case m.bytes+n > MaxTable:
		msg.lost = fmt.Errorf("messages under assembly exceed %d bytes: %w", MaxTable, ErrRequest)
	}
	if msg.lost != nil {
		m.bytes -= len(msg.data)
		msg.data = nil
		return
	}
	m.bytes += n
	for _, w := range words {
		msg.data = binary.LittleEndian.AppendUint64(msg.data, w)
	}
}

// keep lets a closed message's memory be used again unless it is large.
func (m *messages) keep() {
	const small = 4096
	if n := len(m.free); n > 0 {
		if msg := &m.table[m.free[n-1]]; cap(msg.data) > small {
			msg.data = nil
		}
	}
}
