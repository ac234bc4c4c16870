package runtime

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"gfxrt/services/heap"
)

// Errors about the device heap, from WithDiagnostics and HeapStats.
var (
	// ErrHeapLimit: the heap has reached its limit; malloc returned null.
	ErrHeapLimit = heap.ErrLimit
	// ErrDoubleFree: a kernel freed memory that was free already.
	ErrDoubleFree = heap.ErrDoubleFree
	// ErrForeignFree: a kernel freed memory that malloc never returned.
	ErrForeignFree = heap.ErrForeignFree
	// ErrHeapCorrupt: the structures of the device heap contradict what the
	// host knows of it.
	ErrHeapCorrupt = heap.ErrCorrupt
)

// defaultHeapSlabs is the number of slabs that AMD's runtime (CLR) gives
// malloc to start with.
const defaultHeapSlabs = 4

// WithHeap sets the bytes that malloc in kernels starts with, a multiple of
// 2 MiB, and the bytes it can have in all; it asks for more as it needs it. The
// defaults are 8 MiB and no limit but the device's memory.
func WithHeap(initial, limit uint64) Option {
	return func(o *options) error {
		if initial%heap.SlabSize != 0 || initial > limit || initial > heap.SlabSize*heap.MaxSlabs {
			return fmt.Errorf("device heap of %d to %d bytes, need multiples of %d for the first: %w", initial, limit, heap.SlabSize, ErrInvalidArgument)
		}
		o.heapSlabs, o.heapLimit = int(initial/heap.SlabSize), limit
		return nil
	}
}

// WithHeapLeakReport has Close list the memory that kernels got with malloc and
// did not free, on stderr. Nothing is written when there is none.
func WithHeapLeakReport() Option {
	return func(o *options) error { o.heapLeaks = true; return nil }
}

// HeapStats is what the device heap holds: see heap.Stats.
type HeapStats struct {
	heap.Stats
	// Reserved is the bytes of device memory that malloc has at its disposal,
	// and Peak the most it ever had.
	Reserved, Peak uint64
}

// deviceHeap is the header that hidden_heap_v1 points to, and the slabs that
// malloc starts with.
type deviceHeap struct {
	header region
	slabs  region // mem is nil when there are none
	count  int
}

// newPool makes the pool that answers device code's requests for memory.
func (rt *Runtime) newPool() *heap.Pool {
	backing := func(size, align uint64) (uint64, func() error, error) {
		r, err := rt.allocAligned(size, align, DeviceLocal)
		if err != nil {
			return 0, nil, err
		}
		return r.addr, r.mem.Free, nil
	}
	return heap.NewPool(backing, rt.opts.heapLimit-uint64(rt.opts.heapSlabs)*heap.SlabSize)
}

// startHeap makes the heap before any kernel can have its address.
func (s *services) startHeap(rt *Runtime) error {
	if s.heap != nil {
		return nil
	}
	h := &deviceHeap{count: rt.opts.heapSlabs}
	var err error
	if h.header, err = rt.allocAligned(heap.HeaderSize, codeAlign, DeviceLocal); err != nil {
		return err
	}
	if h.count > 0 {
		if h.slabs, err = rt.allocAligned(uint64(h.count)*heap.SlabSize, heap.SlabSize, DeviceLocal); err != nil {
			return errors.Join(err, h.close())
		}
	}
	header := make([]byte, heap.HeaderSize)
	if err = heap.Init(header, h.slabs.addr, h.count); err == nil {
		err = rt.dev.Write(h.header.addr, header)
	}
	if err != nil {
		return errors.Join(err, h.close())
	}
	s.heap = h
	return nil
}

func (h *deviceHeap) close() error {
	err := h.header.mem.Free()
	if h.slabs.mem != nil {
		err = errors.Join(err, h.slabs.mem.Free())
	}
	return err
}

// HeapHeader returns the GPU address of the header that hidden_heap_v1 points
// to, and a copy of it. It is for tools that compare it with what a device
// library makes. The error wraps ErrNotFound when no loaded kernel has asked
// for a heap.
func (rt *Runtime) HeapHeader() (addr uint64, header []byte, err error) {
	s := &rt.services
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readHeader(rt)
}

func (s *services) readHeader(rt *Runtime) (addr uint64, header []byte, err error) {
	if s.heap == nil {
		return 0, nil, fmt.Errorf("device heap: %w: no kernel with hidden_heap_v1 was loaded", ErrNotFound)
	}
	header = make([]byte, heap.HeaderSize)
	if err := rt.dev.Read(header, s.heap.header.addr); err != nil {
		return 0, nil, fmt.Errorf("device heap: %w", err)
	}
	return s.heap.header.addr, header, nil
}

// HeapStats reads the device heap. While kernels run, what it finds may not fit
// together; it then appears among the problems. Objects of code object version
// 4 and before keep a heap of their own, whose slabs count as large blocks.
// The error wraps ErrNotFound when no loaded kernel has asked for a heap.
func (rt *Runtime) HeapStats() (*HeapStats, error) {
	s := &rt.services
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heapStats(rt)
}

func (s *services) heapStats(rt *Runtime) (*HeapStats, error) {
	_, header, err := s.readHeader(rt)
	if err != nil {
		return nil, err
	}
	m := heap.Memory{Header: header, First: s.heap.slabs.addr, Slabs: s.heap.count, Blocks: s.pool.Blocks(), Shared: s.oldHeaps, Read: rt.dev.Read}
	stats, err := heap.Read(&m)
	if err != nil {
		return nil, fmt.Errorf("device heap: %w", err)
	}
	h := &HeapStats{Stats: *stats}
	h.Reserved, h.Peak = s.pool.Bytes()
	initial := uint64(s.heap.count) * heap.SlabSize
	h.Reserved += initial
	h.Peak += initial
	return h, nil
}

// checkHeap reports at the end what kernels did wrong with the heap and, when
// asked, what they left. A dispatch that was stopped midway leaves the heap as
// it was at that moment, so then nothing can be concluded.
func (s *services) checkHeap(rt *Runtime) error {
	if s.heap == nil || rt.unsettled.Load() {
		return nil
	}
	h, err := s.heapStats(rt)
	if err != nil {
		return err
	}
	for _, p := range h.Problems {
		rt.opts.diagnose(fmt.Errorf("device heap at close: %w", p))
	}
	if !rt.opts.heapLeaks {
		return nil
	}
	if report := h.leaks(); report != "" {
		_, err = io.WriteString(rt.opts.stderr, report)
	}
	return err
}

// maxLeaks bounds the large blocks that a leak report lists.
const maxLeaks = 32

// leaks lists what is in use, "" when nothing is.
func (h *HeapStats) leaks() string {
	var b strings.Builder
	blocks := len(h.Large)
	for i := range h.Classes {
		c := &h.Classes[i]
		if c.Used == 0 {
			continue
		}
		blocks += c.Used
		fmt.Fprintf(&b, "gfxrt:   %d of %d bytes:", c.Used, c.BlockSize)
		for _, a := range c.Addresses {
			fmt.Fprintf(&b, " %#x", a)
		}
		if c.Used > len(c.Addresses) {
			b.WriteString(" …")
		}
		b.WriteByte('\n')
	}
	for i, a := range h.LargeAddresses() {
		if i == maxLeaks {
			fmt.Fprintf(&b, "gfxrt:   and %d more\n", len(h.Large)-i)
			break
		}
		fmt.Fprintf(&b, "gfxrt:   1 of %d bytes: %#x\n", h.Large[a], a)
	}
	if blocks == 0 {
		return ""
	}
	return fmt.Sprintf("gfxrt: device heap: %d blocks, %d bytes, were not freed:\n%s", blocks, h.Live, b.String())
}

// noHeapLimit is the limit of a heap that may take all of the device's memory.
const noHeapLimit = math.MaxUint64
