package hostcall

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"
)

const testBase = 0x7f0000001000

// gpu is the device side of a classic buffer, after hostcall_impl.cl. Like
// device code it trusts and follows what the control block says.
type gpu struct {
	mem      []byte
	base     uint64
	doorbell atomic.Int64
}

func newBuffer(t testing.TB, packets int) (*Classic, *gpu) {
	t.Helper()
	size, err := Size(packets)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint64, size/8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
	c, err := NewClassic(mem, testBase, packets, 0x1234560)
	if err != nil {
		t.Fatal(err)
	}
	return c, &gpu{mem: mem, base: testBase}
}

func (g *gpu) u64(off uint64) *uint64 { return (*uint64)(unsafe.Pointer(&g.mem[off])) }
func (g *gpu) u32(off uint64) *uint32 { return (*uint32)(unsafe.Pointer(&g.mem[off])) }

func (g *gpu) mask() uint64                       { return *g.u64(40) }
func (g *gpu) header(index uint64) uint64         { return *g.u64(0) - g.base + 24*index }
func (g *gpu) payload(index uint64) uint64        { return *g.u64(8) - g.base + 4096*index }
func (g *gpu) slot(index uint64, lane int) uint64 { return g.payload(index) + 64*uint64(lane) }

func (g *gpu) pop() uint64 {
	free := g.u64(24)
	for {
		top := atomic.LoadUint64(free)
		if top == 0 {
			runtime.Gosched()
			continue
		}
		next := atomic.LoadUint64(g.u64(g.header(top & g.mask())))
		if atomic.CompareAndSwapUint64(free, top, next) {
			return top
		}
	}
}

func (g *gpu) push(stack uint64, entry uint64) {
	for {
		top := atomic.LoadUint64(g.u64(stack))
		atomic.StoreUint64(g.u64(g.header(entry&g.mask())), top)
		if atomic.CompareAndSwapUint64(g.u64(stack), top, entry) {
			return
		}
	}
}

// post fills a packet and pushes it on the ready stack.
func (g *gpu) post(service uint32, exec uint64, args *[64][8]uint64) (entry uint64) {
	entry = g.pop()
	index := entry & g.mask()
	h := g.header(index)
	*g.u32(h + 16) = service
	*g.u64(h + 8) = exec
	atomic.StoreUint32(g.u32(h+20), 1)
	for m := exec; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		for w, v := range args[lane] {
			*g.u64(g.slot(index, lane) + 8*uint64(w)) = v
		}
	}
	g.push(32, entry)
	g.doorbell.Add(1)
	return entry
}

// finish waits for the answer and returns the packet to the free stack.
func (g *gpu) finish(entry, exec uint64) (results [64][2]uint64) {
	index := entry & g.mask()
	for atomic.LoadUint32(g.u32(g.header(index)+20))&1 != 0 {
		runtime.Gosched()
	}
	for m := exec; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		results[lane] = [2]uint64{*g.u64(g.slot(index, lane)), *g.u64(g.slot(index, lane) + 8)}
	}
	entry += g.mask() + 1
	if entry == 0 {
		entry = g.mask() + 1
	}
	g.push(24, entry)
	return results
}

func (g *gpu) call(service uint32, exec uint64, args *[64][8]uint64) [64][2]uint64 {
	return g.finish(g.post(service, exec, args), exec)
}

// send passes one message a lane in calls of up to seven words, as
// __ockl_printf_begin and the append functions do.
func (g *gpu) send(exec uint64, msg func(lane int) []byte) (results [64]uint64) {
	var words [64][]uint64
	var args [64][8]uint64
	for m := exec; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		b := msg(lane)
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
		for i := 0; i < len(b); i += 8 {
			words[lane] = append(words[lane], binary.LittleEndian.Uint64(b[i:]))
		}
		args[lane] = [8]uint64{descBegin | 1<<5, words[lane][0]}
		words[lane] = words[lane][1:]
	}
	live := exec
	for r := g.call(2, live, &args); live != 0; r = g.call(2, live, &args) {
		for m := live; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			if len(words[lane]) == 0 {
				live &^= 1 << lane
				results[lane] = r[lane][0]
				continue
			}
			n := min(7, len(words[lane]))
			desc := r[lane][0]&^0xe0 | uint64(n)<<5
			if n == len(words[lane]) {
				desc |= descEnd
			}
			args[lane] = [8]uint64{desc}
			copy(args[lane][1:], words[lane][:n])
			words[lane] = words[lane][n:]
		}
		if live == 0 {
			break
		}
	}
	return results
}

// text builds a printf message with integer arguments.
func text(control uint64, format string, args ...uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, control)
	b = append(b, format...)
	b = append(b, 0)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	for _, a := range args {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	return b
}
