package aql

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

// Limits of a ring's size in packets (ROCR-Runtime amd_aql_queue.cpp: 0x400
// bytes to 4 GiB).
const (
	MinRingPackets = 16
	MaxRingPackets = 1 << 26
)

// ErrCorruptQueue is wrapped when the indices of a queue contradict each
// other, as they do after a device has written over them.
var ErrCorruptQueue = errors.New("corrupt queue")

// ErrReservation is wrapped when the number of packets asked for is 0 or
// larger than the ring.
var ErrReservation = errors.New("impossible reservation")

// Ring is the packet ring of a queue with its read and write index. Producers
// may work concurrently, also with producers on the device; there is one
// consumer. Base and size are private copies: what a device writes into the
// queue structure cannot lead outside the ring.
type Ring struct {
	write, read *uint64 // write_dispatch_id, read_dispatch_id
	packets     []byte
	mask        uint64 // packets-1
}

// NewRing makes a ring over packets and sets all its headers INVALID and both
// indices of the queue to 0. The length of packets is a power of two of
// packets, at least MinRingPackets, and its start is 64-aligned.
func NewRing(queue *Queue, packets []byte) (*Ring, error) {
	r, err := AttachRing(&queue.WriteDispatchID, &queue.ReadDispatchID, packets)
	if err != nil {
		return nil, err
	}
	for i := range r.Size() {
		atomic.StoreUint32(r.word(uint64(i)), uint32(HeaderInvalid))
	}
	atomic.StoreUint64(r.read, 0)
	atomic.StoreUint64(r.write, 0)
	return r, nil
}

// AttachRing makes a ring over memory that someone else has initialised, with
// the given write_dispatch_id and read_dispatch_id. It changes nothing.
func AttachRing(write, read *uint64, packets []byte) (*Ring, error) {
	n := len(packets) / PacketSize
	if len(packets)%PacketSize != 0 || n&(n-1) != 0 || n < MinRingPackets || n > MaxRingPackets {
		return nil, fmt.Errorf("ring of %d bytes: need %d times a power of two from %d to %d: %w",
			len(packets), PacketSize, MinRingPackets, MaxRingPackets, ErrInvalidMemory)
	}
	if err := checkMemory("ring", packets, len(packets), PacketSize); err != nil {
		return nil, err
	}
	return &Ring{write: write, read: read, packets: packets, mask: uint64(n - 1)}, nil
}

func (r *Ring) word(index uint64) *uint32 {
	return (*uint32)(unsafe.Pointer(&r.packets[r.Offset(index)]))
}

func (r *Ring) slot(index uint64) *Packet {
	return (*Packet)(r.packets[r.Offset(index):])
}

// Size returns the number of packets the ring holds.
func (r *Ring) Size() uint32 { return uint32(r.mask + 1) }

// Offset returns where a packet's slot lies, in bytes from the ring's base:
// dispatch_ptr is the queue's base address plus this.
func (r *Ring) Offset(index uint64) uint64 { return (index & r.mask) * PacketSize }

// WriteIndex reads write_dispatch_id with acquire order.
func (r *Ring) WriteIndex() uint64 { return atomic.LoadUint64(r.write) }

// ReadIndex reads read_dispatch_id with acquire order: packets before it have
// left the ring.
func (r *Ring) ReadIndex() uint64 { return atomic.LoadUint64(r.read) }

// TryReserve reserves n consecutive packets and returns the index of the
// first. When the ring lacks space it changes nothing and ok is false.
func (r *Ring) TryReserve(n uint32) (first uint64, ok bool) {
	first, ok, _ = r.tryReserve(n)
	return first, ok
}

func (r *Ring) tryReserve(n uint32) (uint64, bool, error) {
	size := r.mask + 1
	if n == 0 || uint64(n) > size {
		return 0, false, fmt.Errorf("reserve %d packets in a ring of %d: %w", n, size, ErrReservation)
	}
	for {
		// The read index is loaded first, so that an honest consumer cannot
		// be seen ahead of the write index.
		read := atomic.LoadUint64(r.read)
		write := atomic.LoadUint64(r.write)
		if used := write - read; int64(used) < 0 {
			return 0, false, fmt.Errorf("read_dispatch_id %d is ahead of write_dispatch_id %d: %w", read, write, ErrCorruptQueue)
		} else if used > size-uint64(n) {
			return 0, false, nil
		}
		if atomic.CompareAndSwapUint64(r.write, write, write+uint64(n)) {
			return write, true, nil
		}
	}
}

// Reserve reserves n consecutive packets and returns the index of the first,
// waiting while the ring lacks space. The slots then belong to the caller,
// who must publish every one of them. The error is ctx's or
// wraps ErrReservation or ErrCorruptQueue; nothing is then reserved.
func (r *Ring) Reserve(ctx context.Context, n uint32) (first uint64, err error) {
	const spins, maxPause = 64, time.Millisecond
	pause := time.Microsecond
	for try := 0; ; try++ {
		first, ok, err := r.tryReserve(n)
		if ok || err != nil {
			return first, err
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if try < spins {
			runtime.Gosched()
			continue
		}
		time.Sleep(pause)
		pause = min(2*pause, maxPause)
	}
}

// WriteBody writes bytes 4 to 63 of a reserved slot. The header stays INVALID.
func (r *Ring) WriteBody(index uint64, p *Packet) {
	copy(r.slot(index)[4:], p[4:])
}

// Publish hands a slot to the consumer: one 32-bit release store of header
// and of bytes 2 and 3 (setup of a dispatch, format of a vendor packet).
func (r *Ring) Publish(index uint64, header Header, setup uint16) {
	atomic.StoreUint32(r.word(index), uint32(header)|uint32(setup)<<16)
}

// PublishPacket writes the body of p and then publishes it.
func (r *Ring) PublishPacket(index uint64, p *Packet) {
	r.WriteBody(index, p)
	atomic.StoreUint32(r.word(index), p.firstWord())
}

// Header reads the first 32 bits of a slot with acquire order: the header and
// bytes 2 and 3. The slot holds a packet when the type is not TypeInvalid.
func (r *Ring) Header(index uint64) (header Header, setup uint16) {
	w := atomic.LoadUint32(r.word(index))
	return Header(w), uint16(w >> 16)
}

// Read copies a published packet. It reports false, and leaves p alone, when
// the slot's header is INVALID.
func (r *Ring) Read(index uint64, p *Packet) bool {
	w := atomic.LoadUint32(r.word(index))
	if Header(w).Type() == TypeInvalid {
		return false
	}
	*p = *r.slot(index)
	p.setFirstWord(w) // what was checked, whatever the slot says now
	return true
}

// Invalidate sets the header of a slot back to INVALID and keeps the other
// bytes: a running kernel may still read sizes through its dispatch pointer.
func (r *Ring) Invalidate(index uint64) {
	w := r.word(index)
	atomic.StoreUint32(w, atomic.LoadUint32(w)&0xffff0000|uint32(HeaderInvalid))
}

// Retire gives a slot back to the producers: it sets the header INVALID and
// then read_dispatch_id to index+1 with release order. The consumer retires
// slots in index order.
func (r *Ring) Retire(index uint64) {
	r.Invalidate(index)
	atomic.StoreUint64(r.read, index+1)
}
