package runtime

import (
	"fmt"
	"sync/atomic"

	"gfxrt/runtime/device"
)

// MemoryKind tells where memory lives and who may touch it.
type MemoryKind = device.MemoryKind

// Memory kinds that Alloc takes.
const (
	DeviceLocal = device.DeviceLocal // the GPU's own memory
	HostVisible = device.HostVisible // shared and coherent; Buffer.Bytes shows it
)

// minAlloc is what a zero-size request is widened to, so that every buffer has
// an address of its own.
const minAlloc = 8

// Buffer is memory that kernels and the host can reach. Its methods may be
// called concurrently; the order of overlapping accesses is the caller's.
type Buffer struct {
	rt   *Runtime
	mem  device.Memory
	size uint64
	kind MemoryKind
	// uses counts what keeps the memory: 1 for the owner until Free, and one
	// for each dispatch that was given the buffer.
	uses  atomic.Int64
	freed atomic.Bool
}

// Alloc allocates size bytes. The contents are undefined. A request for zero
// bytes gives a buffer of Size 0 with an address of its own.
func (rt *Runtime) Alloc(size uint64, kind MemoryKind) (*Buffer, error) {
	if kind != DeviceLocal && kind != HostVisible {
		return nil, fmt.Errorf("alloc: memory kind %d: %w", kind, ErrInvalidArgument)
	}
	mem, err := rt.allocMemory(max(size, minAlloc), kind)
	if err != nil {
		return nil, fmt.Errorf("alloc of %d bytes: %w", size, err)
	}
	b := &Buffer{rt: rt, mem: mem, size: size, kind: kind}
	b.uses.Store(1)
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.closed {
		return nil, fmt.Errorf("alloc: runtime: %w", joinFree(ErrClosed, mem))
	}
	rt.buffers[b] = struct{}{}
	return b, nil
}

// allocMemory allocates and checks what the device hands back.
func (rt *Runtime) allocMemory(size uint64, kind MemoryKind) (device.Memory, error) {
	mem, err := rt.dev.Alloc(size, kind)
	if err != nil {
		return nil, err
	}
	if addr := mem.Addr(); addr == 0 || addr+size < addr {
		return nil, joinFree(fmt.Errorf("device gave %d bytes at address %#x", size, addr), mem)
	}
	if kind == HostVisible && uint64(len(mem.Bytes())) < size {
		return nil, joinFree(fmt.Errorf("host-visible memory without a host view of %d bytes: %w", size, ErrUnsupported), mem)
	}
	return mem, nil
}

// region is memory with an alignment that a device does not promise.
type region struct {
	mem  device.Memory
	addr uint64 // aligned
	host []byte // from addr on; nil when not host-visible
}

// allocAligned allocates size bytes at a multiple of align, a power of two.
// Most devices align well enough by themselves, so that is tried first.
func (rt *Runtime) allocAligned(size, align uint64, kind MemoryKind) (region, error) {
	if align == 0 || align&(align-1) != 0 {
		return region{}, fmt.Errorf("alignment %#x: %w", align, ErrInvalidArgument)
	}
	mem, err := rt.allocMemory(size, kind)
	if err != nil {
		return region{}, err
	}
	if mem.Addr()%align != 0 {
		if err := mem.Free(); err != nil {
			return region{}, err
		}
		if size+align < size {
			return region{}, fmt.Errorf("%d bytes aligned to %#x: %w", size, align, ErrOutOfMemory)
		}
		if mem, err = rt.allocMemory(size+align, kind); err != nil {
			return region{}, err
		}
	}
	r := region{mem: mem, addr: (mem.Addr() + align - 1) &^ (align - 1)}
	if kind == HostVisible {
		off := r.addr - mem.Addr()
		r.host = mem.Bytes()[off : off+size : off+size]
	}
	return r, nil
}

// Addr is the GPU virtual address of the first byte.
func (b *Buffer) Addr() uint64 { return b.mem.Addr() }

// Size is the number of bytes asked for.
func (b *Buffer) Size() uint64 { return b.size }

// Kind is the memory kind asked for.
func (b *Buffer) Kind() MemoryKind { return b.kind }

// Bytes is the host's view of a HostVisible buffer, nil for other kinds and
// after Free. Kernels that run change it.
func (b *Buffer) Bytes() []byte {
	if b.kind != HostVisible || b.freed.Load() {
		return nil
	}
	return b.mem.Bytes()[:b.size:b.size]
}

// Write copies p into the buffer at off. It does not wait for launches.
func (b *Buffer) Write(off uint64, p []byte) error {
	if err := b.check("write", off, uint64(len(p))); err != nil || len(p) == 0 {
		return err
	}
	defer b.release()
	return b.rt.dev.Write(b.Addr()+off, p)
}

// Read fills p from the buffer at off. After a Wait that returned nil it sees
// what the launch wrote.
func (b *Buffer) Read(off uint64, p []byte) error {
	if err := b.check("read", off, uint64(len(p))); err != nil || len(p) == 0 {
		return err
	}
	defer b.release()
	return b.rt.dev.Read(p, b.Addr()+off)
}

// Copy copies n bytes from src at srcOff to dst at dstOff; the ranges may
// overlap. It is done when it returns and is not ordered with launches.
func (rt *Runtime) Copy(dst *Buffer, dstOff uint64, src *Buffer, srcOff, n uint64) error {
	if dst.rt != rt || src.rt != rt {
		return fmt.Errorf("copy: buffer of another runtime: %w", ErrInvalidArgument)
	}
	if err := dst.check("copy: destination", dstOff, n); err != nil || n == 0 {
		return err
	}
	defer dst.release()
	if err := src.check("copy: source", srcOff, n); err != nil {
		return err
	}
	defer src.release()
	return rt.dev.Copy(dst.Addr()+dstOff, src.Addr()+srcOff, n)
}

// check verifies a range and, for n > 0, retains the buffer.
func (b *Buffer) check(op string, off, n uint64) error {
	if off > b.size || n > b.size-off {
		return fmt.Errorf("%s of %d bytes at offset %d of a buffer of %d bytes: %w", op, n, off, b.size, ErrOutOfRange)
	}
	if b.freed.Load() {
		return fmt.Errorf("%s: buffer: %w", op, ErrClosed)
	}
	if n > 0 && !b.retain() {
		return fmt.Errorf("%s: buffer: %w", op, ErrClosed)
	}
	return nil
}

// retain keeps the memory until release. It fails when it is already gone.
func (b *Buffer) retain() bool {
	for {
		n := b.uses.Load()
		if n <= 0 {
			return false
		}
		if b.uses.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release gives up one use; the last one frees the memory.
func (b *Buffer) release() {
	if b.uses.Add(-1) == 0 {
		b.rt.dropBuffer(b)
	}
}

// Free gives the memory back: at once, or when the launches that were given
// the buffer with Ptr have completed. A second Free is an error.
func (b *Buffer) Free() error {
	if b.freed.Swap(true) {
		return fmt.Errorf("free of a buffer that was freed: %w", ErrClosed)
	}
	if b.uses.Load() > 1 {
		b.rt.retireStreams()
	}
	if b.uses.Add(-1) > 0 {
		return nil
	}
	return b.rt.dropBuffer(b)
}

// dropBuffer frees the memory of a buffer that nothing uses any more.
func (rt *Runtime) dropBuffer(b *Buffer) error {
	rt.mu.Lock()
	_, live := rt.buffers[b]
	delete(rt.buffers, b)
	rt.mu.Unlock()
	if !live {
		return nil // the runtime's Close freed it
	}
	return b.mem.Free()
}
