package hostcall

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// phaseGPU is the device side of a phase buffer.
type phaseGPU struct {
	gpu
}

func newPhase(t testing.TB, packets int) (*Phase, *phaseGPU) {
	t.Helper()
	size, err := PhaseSize(packets)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint64, size/8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
	p, err := NewPhase(mem, testBase, packets, 0x1234560, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p, &phaseGPU{gpu{mem: mem, base: testBase}}
}

func (g *phaseGPU) bits(pointer uint64, packet int) (word *uint32, bit uint32) {
	return g.u32(*g.u64(pointer) - g.base + 4*uint64(packet/32)), 1 << (packet % 32)
}

// claim takes a packet whose phases agree.
func (g *phaseGPU) claim() int {
	for {
		for i := range int(*g.u32(48)) {
			occupied, bit := g.bits(16, i)
			if atomic.OrUint32(occupied, bit)&bit != 0 {
				continue
			}
			if !g.differ(i) {
				return i
			}
			atomic.AndUint32(occupied, ^bit)
		}
		runtime.Gosched()
	}
}

func (g *phaseGPU) differ(packet int) bool {
	device, bit := g.bits(0, packet)
	host, _ := g.bits(8, packet)
	return (atomic.LoadUint32(device)^atomic.LoadUint32(host))&bit != 0
}

// post makes one lane's request ready.
func (g *phaseGPU) post(service uint32, lane int, args [8]uint64) (packet int) {
	packet = g.claim()
	h := *g.u64(24) - g.base + 16*uint64(packet)
	*g.u64(h), *g.u32(h + 8) = 1<<lane, service
	slot := *g.u64(32) - g.base + 4096*uint64(packet) + 64*uint64(lane)
	for w, v := range args {
		*g.u64(slot + 8*uint64(w)) = v
	}
	device, bit := g.bits(0, packet)
	for {
		old := atomic.LoadUint32(device)
		if atomic.CompareAndSwapUint32(device, old, old^bit) {
			return packet
		}
	}
}

func (g *phaseGPU) finish(packet, lane int) [2]uint64 {
	for g.differ(packet) {
		runtime.Gosched()
	}
	slot := *g.u64(32) - g.base + 4096*uint64(packet) + 64*uint64(lane)
	r := [2]uint64{*g.u64(slot), *g.u64(slot + 8)}
	occupied, bit := g.bits(16, packet)
	atomic.AndUint32(occupied, ^bit)
	return r
}

func TestPhaseManyWaves(t *testing.T) {
	const waves, rounds = 8, 300
	for _, packets := range []int{1, 5, 40} {
		p, g := newPhase(t, packets)
		var out bytes.Buffer
		l := Listen(p, &Server{Stdout: &out, Failed: func(err error) { t.Error(err) }}, 50*time.Microsecond)
		var wg sync.WaitGroup
		for wave := range waves {
			wg.Go(func() {
				for range rounds {
					packet := g.post(2, wave*8, [8]uint64{descBegin | descEnd | 2<<5, 0, uint64('a' + wave)})
					l.Kick()
					if r := g.finish(packet, wave*8); r != [2]uint64{1, 0} {
						t.Errorf("printf returned %d", r)
						return
					}
				}
			})
		}
		wg.Wait()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for wave := range waves {
			if n := strings.Count(out.String(), string(rune('a'+wave))); n != rounds {
				t.Errorf("%d packets: wave %d printed %d times of %d", packets, wave, n, rounds)
			}
		}
	}
}

func TestPhaseHostile(t *testing.T) {
	for _, c := range []struct {
		name   string
		attack func(g *phaseGPU, packet int)
		want   string // "" when service must go on as if nothing were wrong
	}{
		{"bit beyond the packets", func(g *phaseGPU, packet int) { *g.u32(phaseControl) |= 1 << 5 }, "packet 5 of 5"},
		{"unknown service", func(g *phaseGPU, packet int) { *g.u32(*g.u64(24) - g.base + 8) = 9 }, "service 9"},
		{"control block overwritten", func(g *phaseGPU, packet int) {
			for i := range uint64(7) {
				*g.u64(8 * i) = ^uint64(0)
			}
		}, ""},
		{"host phase overwritten", func(g *phaseGPU, packet int) { *g.u32(phaseControl + 4) = ^uint32(0) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, g := newPhase(t, 5)
			c.attack(g, g.post(3, 0, [8]uint64{}))
			n, err := p.Service(&Server{})
			if c.want == "" {
				if n != 1 || err != nil || *g.u32(phaseControl + 4) != 1 {
					t.Fatalf("%d, %v, host phase %#x", n, err, *g.u32(phaseControl + 4))
				}
				return
			}
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want an error with %q", err, c.want)
			}
			*g.u32(phaseControl) = 0
			if n, again := p.Service(&Server{}); n != 0 || again != err {
				t.Errorf("the failure is not kept: %d, %v", n, again)
			}
		})
	}
	if _, err := NewPhase(make([]byte, 64), 0, 5, 0, 0); !errors.Is(err, ErrMemory) {
		t.Errorf("short memory: %v", err)
	}
}
