package aql

import (
	"context"
	"errors"
	"sync"
	"testing"
	"unsafe"
)

func alignedBytes(n int) []byte {
	b := make([]byte, n+63)
	skip := int(-uintptr(unsafe.Pointer(&b[0])) & 63)
	return b[skip : skip+n : skip+n]
}

func newTestRing(t testing.TB, packets int) (*Ring, *Queue) {
	t.Helper()
	q := new(Queue)
	r, err := NewRing(q, alignedBytes(packets*PacketSize))
	if err != nil {
		t.Fatal(err)
	}
	return r, q
}

func TestNewRing(t *testing.T) {
	mem := alignedBytes(128 * PacketSize)
	for _, bad := range [][]byte{nil, mem[:8*64], mem[:24*64], mem[:16*64+1], mem[8 : 8+16*64]} {
		if _, err := NewRing(new(Queue), bad); !errors.Is(err, ErrInvalidMemory) {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
	q := &Queue{WriteDispatchID: 9, ReadDispatchID: 4}
	r, err := NewRing(q, mem)
	if err != nil {
		t.Fatal(err)
	}
	if r.Size() != 128 || r.ReadIndex() != 0 || r.WriteIndex() != 0 {
		t.Errorf("size %d, indices %d %d", r.Size(), r.ReadIndex(), r.WriteIndex())
	}
	for i := range 128 {
		if mem[i*64] != 1 || mem[i*64+1] != 0 {
			t.Fatalf("slot %d header % x, want INVALID", i, mem[i*64:i*64+2])
		}
	}
	q.WriteDispatchID, q.ReadDispatchID = 77, 70
	if a, err := AttachRing(&q.WriteDispatchID, &q.ReadDispatchID, mem); err != nil || a.WriteIndex() != 77 || a.ReadIndex() != 70 {
		t.Errorf("AttachRing: %v", err)
	}
}

func TestPublishOrderAndWrap(t *testing.T) {
	r, q := newTestRing(t, 16)
	ctx := t.Context()
	var in, out Packet
	for i := range uint64(100) {
		first, err := r.Reserve(ctx, 1)
		if err != nil || first != i {
			t.Fatalf("reserve %d: %d, %v", i, first, err)
		}
		for b := range in {
			in[b] = byte(i) + byte(b)
		}
		in[0], in[1], in[2], in[3] = 0x02, 0x15, byte(i), 3
		r.WriteBody(first, &in)
		if r.Read(i, &out) {
			t.Fatalf("packet %d visible before it was published", i)
		}
		r.Publish(first, Header(0x1502), uint16(i)|3<<8)
		if h, setup := r.Header(i); h != 0x1502 || setup != uint16(i)|3<<8 {
			t.Fatalf("header %#x setup %#x", h, setup)
		}
		if !r.Read(i, &out) || out != in {
			t.Fatalf("packet %d: read %x\nwant %x", i, out, in)
		}
		if r.Offset(i) != i%16*64 {
			t.Fatalf("slot %d at offset %d", i, r.Offset(i))
		}
		r.Retire(i)
		if q.ReadDispatchID != i+1 || r.Read(i, &out) {
			t.Fatalf("packet %d still there after Retire", i)
		}
		if h, setup := r.Header(i); h != HeaderInvalid || setup != uint16(i)|3<<8 {
			t.Fatalf("retired slot: header %#x setup %#x; setup must survive for dispatch_ptr readers", h, setup)
		}
	}
}

func TestReserveFull(t *testing.T) {
	r, q := newTestRing(t, 16)
	if _, ok := r.TryReserve(16); !ok {
		t.Fatal("an empty ring has no space")
	}
	if _, ok := r.TryReserve(1); ok || q.WriteDispatchID != 16 {
		t.Fatalf("a full ring gave space; write index %d", q.WriteDispatchID)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Reserve(ctx, 1); !errors.Is(err, context.Canceled) || q.WriteDispatchID != 16 {
		t.Fatalf("cancelled reserve: %v, write index %d", err, q.WriteDispatchID)
	}
	for _, n := range []uint32{0, 17, 1 << 31} {
		if _, err := r.Reserve(t.Context(), n); !errors.Is(err, ErrReservation) {
			t.Errorf("reserve %d: %v", n, err)
		}
	}
	done := make(chan uint64)
	go func() {
		first, _ := r.Reserve(t.Context(), 2)
		done <- first
	}()
	r.Retire(0)
	r.Retire(1)
	if first := <-done; first != 16 {
		t.Errorf("waiting reserve got %d, want 16", first)
	}
}

func TestHostileIndices(t *testing.T) {
	r, q := newTestRing(t, 16)
	q.ReadDispatchID = 5
	if _, err := r.Reserve(t.Context(), 1); !errors.Is(err, ErrCorruptQueue) {
		t.Errorf("read index ahead of write index: %v", err)
	}
	q.ReadDispatchID, q.WriteDispatchID = 0, 1<<40 // a device producer that has not waited yet
	if _, ok := r.TryReserve(1); ok {
		t.Error("reserved in an overfull ring")
	}
	q.BaseAddress, q.Size = ^uint64(0), 1<<31
	q.ReadDispatchID, q.WriteDispatchID = ^uint64(0)-3, ^uint64(0)-3
	var p Packet
	p[0] = byte(TypeKernelDispatch)
	first, err := r.Reserve(t.Context(), 8) // wraps around 2^64
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(8) {
		r.PublishPacket(first+i, &p)
		if !r.Read(first+i, &p) {
			t.Fatalf("packet %d lost", i)
		}
		r.Retire(first + i)
	}
	if q.ReadDispatchID != 4 {
		t.Errorf("read index %d, want 4", q.ReadDispatchID)
	}
}

func TestConcurrentProducers(t *testing.T) {
	const producers, each = 4, 2000
	r, _ := newTestRing(t, 32)
	var wg sync.WaitGroup
	for id := range producers {
		wg.Go(func() {
			var p Packet
			for seq := uint64(0); seq < each; {
				n := uint32(1 + seq%3)
				if left := each - seq; uint64(n) > left {
					n = uint32(left)
				}
				first, err := r.Reserve(t.Context(), n)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range uint64(n) {
					k := KernelDispatch{Header: MakeHeader(TypeKernelDispatch, false, ScopeNone, ScopeNone), Setup: 1,
						KernelObject: uint64(id), KernargAddress: seq, Reserved2: first + i}
					k.Encode(&p)
					r.PublishPacket(first+i, &p)
					seq++
				}
			}
		})
	}
	var next [producers]uint64
	for index := uint64(0); index < producers*each; {
		var p Packet
		if !r.Read(index, &p) {
			continue
		}
		id, seq, at := p.u64(32), p.u64(40), p.u64(48)
		if at != index || seq != next[id] {
			t.Fatalf("index %d holds producer %d's packet %d reserved at %d; expected its packet %d", index, id, seq, at, next[id])
		}
		next[id]++
		r.Retire(index)
		index++
	}
	wg.Wait()
	if r.ReadIndex() != producers*each || r.WriteIndex() != producers*each {
		t.Errorf("indices %d %d", r.ReadIndex(), r.WriteIndex())
	}
}

func TestReservePublishDoesNotAllocate(t *testing.T) {
	r, _ := newTestRing(t, 16)
	ctx := t.Context()
	k := KernelDispatch{Header: 0x1502, Setup: 1, WorkgroupSize: [3]uint16{64, 1, 1}, GridSize: [3]uint32{64, 1, 1}, KernelObject: 64}
	var p, got Packet
	if n := testing.AllocsPerRun(100, func() {
		first, err := r.Reserve(ctx, 1)
		if err != nil {
			t.Fatal(err)
		}
		k.Encode(&p)
		r.PublishPacket(first, &p)
		r.Read(first, &got)
		if _, err := DecodeKernelDispatch(&got); err != nil {
			t.Fatal(err)
		}
		r.Retire(first)
	}); n != 0 {
		t.Errorf("%v allocations a launch", n)
	}
}
