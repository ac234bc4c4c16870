package runtime

import (
	"fmt"
	"sync"
	"sync/atomic"

	"gfxrt/services/hostcall"
)

// HostFunction is a Go function that device code can call: ockl's
// __ockl_call_host_function passes it seven words and gets two back. An error
// reaches WithDiagnostics, and the lane gets all ones.
type HostFunction = hostcall.Function

// ErrInCallback is wrapped when a HostFunction, or a writer that kernels print
// to, asks for something that can only end after it has returned itself: to
// wait for a launch or for room to launch, to load, to unload, to close.
var ErrInCallback = fmt.Errorf("called from a function that the device waits for: %w", ErrBusy)

// ErrLLVMRPC: a code object uses the RPC protocol of LLVM's GPU libc, which
// this runtime does not serve.
var ErrLLVMRPC = fmt.Errorf("LLVM RPC (__llvm_rpc_client): %w", ErrUnsupported)

// hostFunctions are the functions that kernels may call, by number.
type hostFunctions struct {
	mu sync.RWMutex
	f  map[uint64]HostFunction
}

func (h *hostFunctions) find(id uint64) HostFunction {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.f[id]
}

// RegisterHostcall lets kernels call f by the number id, which is what they
// pass as the address of the function. A nil f takes the registration back.
//
// f runs on the goroutine that serves all kernels, one lane's call at a time,
// while that lane waits: other requests wait too until it returns. It may read
// and write buffers and variables; what would wait for a kernel is refused with
// ErrInCallback, unless f has another goroutine do it: then it waits for ever.
// A panic in f ends the program.
func (rt *Runtime) RegisterHostcall(id uint64, f HostFunction) error {
	h := &rt.services.functions
	h.mu.Lock()
	defer h.mu.Unlock()
	_, taken := h.f[id]
	switch {
	case f == nil && !taken:
		return fmt.Errorf("host function %#x: %w", id, ErrNotFound)
	case f == nil:
		delete(h.f, id)
	case taken:
		return fmt.Errorf("host function %#x is registered: %w", id, ErrBusy)
	case h.f == nil:
		h.f = map[uint64]HostFunction{id: f}
	default:
		h.f[id] = f
	}
	return nil
}

// checkCallback refuses op when the goroutine that asks for it is one that the
// device waits for.
func (rt *Runtime) checkCallback(op string) error {
	if rt.insideCallback() {
		return fmt.Errorf("%s: %w", op, ErrInCallback)
	}
	return nil
}

func (rt *Runtime) insideCallback() bool {
	if rt.callbacks.inside() {
		return true
	}
	l := rt.services.listener.Load()
	return l != nil && l.Serving()
}

// callbacks are the goroutines that are in a function of the program that
// something waits for, other than the listener's.
type callbacks struct {
	n  atomic.Int32
	mu sync.Mutex
	in map[uint64]int
}

// enter announces that the caller is about to call such a function, and leave
// that it has returned.
func (c *callbacks) enter() (leave func()) {
	g := hostcall.Goroutine()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.in == nil {
		c.in = map[uint64]int{}
	}
	c.in[g]++
	c.n.Add(1)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.in[g]--; c.in[g] == 0 {
			delete(c.in, g)
		}
		c.n.Add(-1)
	}
}

// inside reports whether the caller is in such a function.
func (c *callbacks) inside() bool {
	if c.n.Load() == 0 {
		return false
	}
	g := hostcall.Goroutine()
	c.mu.Lock()
	defer c.mu.Unlock()
	return g != 0 && c.in[g] > 0
}
