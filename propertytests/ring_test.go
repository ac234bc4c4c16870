package propertytests

import (
	"context"
	"errors"
	"testing"
	"unsafe"

	"gfxrt/aql"

	"pgregory.net/rapid"
)

func aligned(n, align int) []byte {
	b := make([]byte, n+align-1)
	skip := int(-uintptr(unsafe.Pointer(&b[0])) & uintptr(align-1))
	return b[skip : skip+n : skip+n]
}

// ringModel is what a ring must be equivalent to: a sequence of packets of
// which a prefix is consumed and any of the rest may be published.
type ringModel struct {
	ring      *aql.Ring
	size      uint64
	read      uint64
	write     uint64
	published map[uint64]aql.Packet
	serial    byte
}

func (m *ringModel) Reserve(t *rapid.T) {
	n := rapid.Uint32Range(1, uint32(m.size)+2).Draw(t, "n")
	fits := m.write-m.read+uint64(n) <= m.size
	var first uint64
	var ok bool
	if rapid.Bool().Draw(t, "try") {
		first, ok = m.ring.TryReserve(n)
	} else {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // Reserve then takes what is there and does not wait
		var err error
		first, err = m.ring.Reserve(ctx, n)
		ok = err == nil
		if uint64(n) > m.size && !errors.Is(err, aql.ErrReservation) {
			t.Fatalf("reserve %d of %d: %v", n, m.size, err)
		}
	}
	if ok != fits {
		t.Fatalf("reserve %d with %d of %d used: %v", n, m.write-m.read, m.size, ok)
	}
	if ok {
		if first != m.write {
			t.Fatalf("reserved %d, want %d", first, m.write)
		}
		m.write += uint64(n)
	}
}

func (m *ringModel) Publish(t *rapid.T) {
	var open []uint64
	for i := m.read; i != m.write; i++ {
		if _, done := m.published[i]; !done {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		t.Skip("nothing reserved")
	}
	index := rapid.SampledFrom(open).Draw(t, "index") // producers publish out of order
	m.serial++
	var p aql.Packet
	for i := range p {
		p[i] = m.serial + byte(i)
	}
	h := aql.MakeHeader(rapid.SampledFrom([]aql.Type{aql.TypeVendorSpecific, aql.TypeKernelDispatch, aql.TypeBarrierAnd}).Draw(t, "type"),
		rapid.Bool().Draw(t, "barrier"), aql.ScopeAgent, aql.ScopeSystem)
	p[0], p[1] = byte(h), byte(h>>8)
	if rapid.Bool().Draw(t, "whole") {
		m.ring.PublishPacket(index, &p)
	} else {
		m.ring.WriteBody(index, &p)
		m.ring.Publish(index, h, uint16(p[2])|uint16(p[3])<<8)
	}
	m.published[index] = p
}

func (m *ringModel) Retire(t *rapid.T) {
	if _, ok := m.published[m.read]; !ok {
		t.Skip("nothing to retire")
	}
	m.ring.Retire(m.read)
	delete(m.published, m.read)
	m.read++
}

// Check is the consumer's view: exactly the published packets, byte for byte,
// at their own indices.
func (m *ringModel) Check(t *rapid.T) {
	if m.ring.ReadIndex() != m.read || m.ring.WriteIndex() != m.write {
		t.Fatalf("indices %d %d, want %d %d", m.ring.ReadIndex(), m.ring.WriteIndex(), m.read, m.write)
	}
	for i := m.read; i != m.read+m.size; i++ {
		var got aql.Packet
		ok := m.ring.Read(i, &got)
		want, published := m.published[i]
		if ok != published || ok && got != want {
			t.Fatalf("packet %d: seen %v published %v\n%x\n%x", i, ok, published, got, want)
		}
	}
}

func TestRingModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := 16 << rapid.IntRange(0, 2).Draw(t, "size")
		q := new(aql.Queue)
		mem := aligned(size*aql.PacketSize, aql.PacketSize)
		ring, err := aql.NewRing(q, mem)
		if err != nil {
			t.Fatal(err)
		}
		start := rapid.SampledFrom([]uint64{0, 1<<32 - 3, ^uint64(0) - 5}).Draw(t, "start")
		q.ReadDispatchID, q.WriteDispatchID = start, start
		m := &ringModel{ring: ring, size: uint64(size), read: start, write: start, published: map[uint64]aql.Packet{}}
		t.Repeat(map[string]func(*rapid.T){"reserve": m.Reserve, "publish": m.Publish, "retire": m.Retire, "": m.Check})
	})
}
