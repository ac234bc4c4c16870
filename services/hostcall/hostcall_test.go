package hostcall

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestInitialState(t *testing.T) {
	// Size of the buffer that CLR makes for 3520 waves.
	if n, err := Size(3520); n != 14502456 || err != nil {
		t.Errorf("3520 packets: %d bytes, %v; want 14502456", n, err)
	}
	for _, n := range []int{0, -1, MaxPackets + 1} {
		if _, err := Size(n); !errors.Is(err, ErrMemory) {
			t.Errorf("%d packets: %v", n, err)
		}
	}
	_, g := newBuffer(t, 5)
	word := func(off uint64) uint64 { return *g.u64(off) }
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"headers", word(0), testBase + 56},
		{"payloads", word(8), testBase + 56 + 5*24},
		{"doorbell", word(16), 0x1234560},
		{"free_stack", word(24), 4},
		{"ready_stack", word(32), 0},
		{"index_mask", word(40), 7},
		{"header 0 next", word(56), 0},
		{"header 1 next", word(56 + 24), 8},
		{"header 2 next", word(56 + 48), 1},
		{"header 4 next", word(56 + 96), 3},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.name, c.got, c.want)
		}
	}
	seen := map[uint64]bool{}
	for range 5 { // every packet can be taken once
		seen[g.pop()&7] = true
	}
	if len(seen) != 5 || *g.u64(24) != 0 {
		t.Errorf("popped %v, free_stack %#x", seen, *g.u64(24))
	}
	_, one := newBuffer(t, 1)
	if e := one.pop(); e == 0 || e&one.mask() != 0 {
		t.Errorf("the only packet's entry is %#x", e)
	}
	if _, err := NewClassic(make([]byte, 100), 0, 1, 0); !errors.Is(err, ErrMemory) {
		t.Errorf("short memory: %v", err)
	}
	if _, err := NewClassic(g.mem, ^uint64(0)-7, 5, 0); !errors.Is(err, ErrMemory) {
		t.Errorf("wrapping GPU address: %v", err)
	}
}

func TestPrintfFromManyWaves(t *testing.T) {
	const waves = 8
	rounds := 20 // 10240 lanes
	if testing.Short() {
		rounds = 4
	}
	for _, packets := range []int{1, 3, waves} {
		c, g := newBuffer(t, packets)
		var out, errs bytes.Buffer
		s := &Server{Stdout: &out, Stderr: &errs, Failed: func(err error) { t.Error(err) }}
		l := Listen(c, s, 100*time.Microsecond)
		var wg sync.WaitGroup
		for wave := range waves {
			wg.Go(func() {
				for round := range rounds {
					results := g.send(^uint64(0), func(lane int) []byte {
						return text(uint64(lane&1), "wave %d round %d lane %d says something longer\n", uint64(wave), uint64(round), uint64(lane))
					})
					l.Kick()
					for lane, n := range results {
						if want := len(fmt.Sprintf("wave %d round %d lane %d says something longer\n", wave, round, lane)); n != uint64(want) {
							t.Errorf("printf returned %d, want %d", int64(n), want)
							return
						}
					}
				}
			})
		}
		wg.Wait()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		got := append(strings.Split(strings.TrimSpace(out.String()), "\n"), strings.Split(strings.TrimSpace(errs.String()), "\n")...)
		var want []string
		for wave := range waves {
			for round := range rounds {
				for lane := range 64 {
					want = append(want, fmt.Sprintf("wave %d round %d lane %d says something longer", wave, round, lane))
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%d packets: %d lines, want %d", packets, len(got), len(want))
		}
		if n := strings.Count(errs.String(), "\n"); n != waves*rounds*32 {
			t.Errorf("%d lines on stderr", n)
		}
	}
}

// TestOrder: one drain answers waves in the order in which they asked, and
// lanes in ascending order, whatever lies in inactive lanes.
func TestOrder(t *testing.T) {
	c, g := newBuffer(t, 8)
	var out bytes.Buffer
	s := &Server{Stdout: &out}
	var entries []uint64
	const exec = 1<<3 | 1<<40 | 1<<63
	for wave := range 5 {
		var args [64][8]uint64
		for lane := range args {
			args[lane] = [8]uint64{descBegin | descEnd | 3<<5, 0, binary.LittleEndian.Uint64([]byte("%d\n\x00\x00\x00\x00\x00")), uint64(wave*100 + lane)}
		}
		for lane := range 64 { // stale words of an earlier user
			*g.u64(g.slot(uint64(7-wave), lane)) = 0xffff
		}
		entries = append(entries, g.post(2, exec, &args))
	}
	if n, err := c.Service(s); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	if want := "3\n40\n63\n103\n140\n163\n203\n240\n263\n303\n340\n363\n403\n440\n463\n"; out.String() != want {
		t.Errorf("got %q\nwant %q", out.String(), want)
	}
	for _, e := range entries {
		if r := g.finish(e, exec); r[3][1] != 0 || r[40][0] == 0 || r[40][0] > 4 {
			t.Errorf("results %v %v", r[3], r[40])
		}
	}
	if *g.u64(g.slot(7, 0)) != 0xffff {
		t.Error("the slot of an inactive lane was written")
	}
	if n, err := c.Service(s); n != 0 || err != nil {
		t.Errorf("an idle buffer: %d, %v", n, err)
	}
}

type heap struct {
	live map[uint64]uint64
	next uint64
}

func (h *heap) Alloc(size uint64) (uint64, error) {
	if size > 1<<30 {
		return 0, errors.New("too large")
	}
	h.next += 2 << 20
	h.live[h.next] = size
	return h.next, nil
}

func (h *heap) Free(addr uint64) error {
	if _, ok := h.live[addr]; !ok {
		return errors.New("not allocated")
	}
	delete(h.live, addr)
	return nil
}

func TestServices(t *testing.T) {
	c, g := newBuffer(t, 2)
	h := &heap{live: map[uint64]uint64{}}
	var errs bytes.Buffer
	var failures []string
	var report Report
	s := &Server{
		Stderr: &errs, Devmem: h,
		Function: func(id uint64) Function {
			return map[uint64]Function{
				0x77: func(in *[7]uint64) ([2]uint64, error) { return [2]uint64{in[0] + in[6], in[1]}, nil },
				0x78: func(in *[7]uint64) ([2]uint64, error) { return [2]uint64{}, errors.New("no luck") },
			}[id]
		},
		Sanitizer: func(r *Report) { report = *r },
		Failed:    func(err error) { failures = append(failures, err.Error()) },
	}
	one := func(service uint32, words ...uint64) [2]uint64 {
		t.Helper()
		var args [64][8]uint64
		copy(args[9][:], words)
		e := g.post(service, 1<<9, &args)
		if n, err := c.Service(s); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		return g.finish(e, 1<<9)[9]
	}
	for _, c := range []struct {
		service uint32
		in      []uint64
		want    [2]uint64
		failure string // part of the report, "" for none
	}{
		{1, []uint64{0x77, 1, 2, 0, 0, 0, 0, 40}, [2]uint64{41, 2}, ""},
		{1, []uint64{0x78}, [2]uint64{failed, 0}, "no luck"},
		{1, []uint64{0xdead}, [2]uint64{failed, 0}, "0xdead is not registered"},
		{3, []uint64{0, 2 << 20}, [2]uint64{2 << 20, 0}, ""},
		{3, []uint64{2 << 20, 0}, [2]uint64{0, 0}, ""},
		{3, []uint64{0, 0}, [2]uint64{0, 0}, ""}, // free(nullptr)
		{3, []uint64{2 << 20, 0}, [2]uint64{0, 0}, "not allocated"},
		{3, []uint64{0, 1 << 40}, [2]uint64{0, 0}, "too large"},
		{2, []uint64{descBegin | descEnd | 2<<5, 0, 'x'}, [2]uint64{failed, 0}, "stdout"},
		{2, []uint64{descBegin | descEnd | 2<<5, 1, 'x'}, [2]uint64{1, 0}, ""},
		{2, []uint64{descBegin | descEnd | 2<<5, 2, 'x'}, [2]uint64{failed, 0}, "control word"},
		{2, []uint64{descBegin | descEnd | 2<<5, 1, '%' | 'y'<<8}, [2]uint64{failed, 0}, "conversion"},
		{2, []uint64{descBegin | descEnd}, [2]uint64{failed, 0}, "control word"},
		{2, []uint64{1<<2 | descEnd}, [2]uint64{failed, 0}, "reserved"},
		{2, []uint64{failed}, [2]uint64{failed, 0}, "reserved bits"},
		{2, []uint64{77<<8 | descEnd}, [2]uint64{failed, 0}, "no open message 77"},
		{2, []uint64{descEnd}, [2]uint64{failed, 0}, "no open message 0"}, // closed by the calls above
	} {
		failures = nil
		got := one(c.service, c.in...)
		if got != c.want || (c.failure == "") != (len(failures) == 0) || !strings.Contains(strings.Join(failures, ""), c.failure) {
			t.Errorf("service %d %#x: %#x, failures %q; want %#x, %q", c.service, c.in, got, failures, c.want, c.failure)
		}
	}
	if errs.String() != "x" {
		t.Errorf("stderr %q", errs.String())
	}
	errs.Reset()
	var args [64][8]uint64
	args[1] = [8]uint64{0xbad0, 0x4000, 1, 2, 3, 4, 1, 8}
	args[5] = [8]uint64{0xbad8, 0x4000, 1, 2, 3, 4, 1, 8}
	e := g.post(4, 1<<1|1<<5, &args)
	if _, err := c.Service(s); err != nil {
		t.Fatal(err)
	}
	g.finish(e, 1<<1)
	want := "ERROR: AddressSanitizer: invalid device memory access\nWRITE of size 8 at pc 0x4000, work-group (1,2,3), wave 4\n" +
		"  lane 1: address 0xbad0\n  lane 5: address 0xbad8\n"
	if errs.String() != want || report.Lanes != 1<<1|1<<5 || report.Addr[5] != 0xbad8 || !report.Write || !report.Fatal {
		t.Errorf("got %q, %+v", errs.String(), report)
	}
}

// TestMessageLimits: a message without end fails at its end, alone.
func TestMessageLimits(t *testing.T) {
	var m messages
	var slot [8]uint64
	begin := func() uint64 {
		slot = [8]uint64{descBegin}
		d, _, done, err := m.add(&slot)
		if done || err != nil {
			t.Fatal(done, err)
		}
		return d
	}
	long, short := begin(), begin()
	for i := range MaxMessage / 56 * 3 {
		slot = [8]uint64{long&^0xe0 | 7<<5}
		if d, _, done, err := m.add(&slot); done || err != nil || d != slot[0] {
			t.Fatalf("append %d: %#x, %v, %v", i, d, done, err)
		}
		if m.bytes > MaxMessage {
			t.Fatalf("%d bytes kept", m.bytes)
		}
	}
	slot = [8]uint64{short | descEnd | 1<<5, 0x55}
	if _, data, done, err := m.add(&slot); !done || err != nil || !bytes.Equal(data, []byte{0x55, 0, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("the short message: %v, %v, %v", data, done, err)
	}
	slot = [8]uint64{long | descEnd}
	if _, _, done, err := m.add(&slot); !done || !errors.Is(err, ErrRequest) {
		t.Errorf("the endless message: %v, %v", done, err)
	}
	if m.bytes != 0 {
		t.Errorf("%d bytes left", m.bytes)
	}
	if got := begin(); got != long {
		t.Errorf("id %#x is not used again; got %#x", long, got)
	}
	for range MaxMessages - 1 {
		begin()
	}
	slot = [8]uint64{descBegin}
	if _, _, _, err := m.add(&slot); !errors.Is(err, ErrRequest) {
		t.Errorf("message table has no bound: %v", err)
	}
}

// TestAllLanesSpeak: every lane that a gfx942 holds (304 CUs of 32 waves) has a
// long message under assembly at once.
func TestAllLanesSpeak(t *testing.T) {
	const lanes = 304 * 32 * 64
	var m messages
	var slot [8]uint64
	for lane := range lanes {
		slot = [8]uint64{descBegin | 7<<5}
		d, _, done, err := m.add(&slot)
		if done || err != nil || d>>descIDShift != uint64(lane) {
			t.Fatalf("lane %d: %#x, %v, %v", lane, d, done, err)
		}
		for range 2 {
			slot = [8]uint64{d, 1, 2, 3, 4, 5, 6, 7}
			if _, _, _, err := m.add(&slot); err != nil {
				t.Fatal(err)
			}
		}
	}
	for lane := range uint64(lanes) {
		slot = [8]uint64{lane<<descIDShift | descEnd}
		if _, data, done, err := m.add(&slot); !done || err != nil || len(data) != 3*56 {
			t.Fatalf("lane %d: %d bytes, %v, %v", lane, len(data), done, err)
		}
	}
	if m.bytes != 0 {
		t.Errorf("%d bytes left", m.bytes)
	}
}

func TestHostileBuffer(t *testing.T) {
	for _, c := range []struct {
		name   string
		attack func(g *gpu, entry uint64)
		want   string // "" when service must go on as if nothing were wrong
	}{
		{"index out of range", func(g *gpu, e uint64) { *g.u64(32) = 7 }, "packet 7 of 5"},
		{"link out of range", func(g *gpu, e uint64) { *g.u64(g.header(e)) = 0xfff6 }, "packet 6 of 5"},
		{"cycle of one", func(g *gpu, e uint64) { *g.u64(g.header(e)) = e }, "twice"},
		{"cycle of two", func(g *gpu, e uint64) { *g.u64(g.header(e)), *g.u64(g.header(3)) = 3, 8|e }, "twice"},
		{"not ready", func(g *gpu, e uint64) { *g.u32(g.header(e) + 20) = 0 }, "control"},
		{"control reserved bits", func(g *gpu, e uint64) { *g.u32(g.header(e) + 20) = 3 }, "control"},
		{"service 0", func(g *gpu, e uint64) { *g.u32(g.header(e) + 16) = 0 }, "service 0"},
		{"service 5", func(g *gpu, e uint64) { *g.u32(g.header(e) + 16) = 5 }, "service 5"},
		{"control block overwritten", func(g *gpu, e uint64) {
			*g.u64(0), *g.u64(8), *g.u64(16), *g.u64(24), *g.u64(40), *g.u64(48) = 1, 2, 3, ^uint64(0), ^uint64(0), 4
		}, ""},
		{"no lanes", func(g *gpu, e uint64) { *g.u64(g.header(e) + 8) = 0 }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, g := newBuffer(t, 5)
			var args [64][8]uint64
			entry := g.post(2, 0, &args)
			c.attack(g, entry)
			s := &Server{}
			n, err := b.Service(s)
			if c.want == "" {
				if n != 1 || err != nil {
					t.Fatalf("%d, %v", n, err)
				}
				return
			}
			if n != 0 || !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%d, %v; want an error with %q", n, err, c.want)
			}
			*g.u64(32) = 0
			if _, again := b.Service(s); again != err {
				t.Errorf("the failure is not kept: %v", again)
			}
			reported := make(chan error, 2)
			l := Listen(b, &Server{Failed: func(err error) { reported <- err }}, time.Hour)
			l.Kick()
			if got := <-reported; got != err {
				t.Errorf("listener reported %v", got)
			}
			if got := l.Close(); got != err || len(reported) != 0 {
				t.Errorf("Close: %v, %d more reports", got, len(reported))
			}
		})
	}
}

func TestListenerDrainsAtClose(t *testing.T) {
	c, g := newBuffer(t, 4)
	var out bytes.Buffer
	l := Listen(c, &Server{Stdout: &out}, time.Hour)
	var args [64][8]uint64
	args[0] = [8]uint64{descBegin | descEnd | 2<<5, 0, 'A'}
	g.post(2, 1, &args)
	if err := l.Drain(); err != nil || out.String() != "A" {
		t.Errorf("after Drain: %q, %v", out.String(), err)
	}
	args[0][2] = 'B'
	g.post(2, 1, &args)
	if err := errors.Join(l.Close(), l.Close()); err != nil || out.String() != "AB" {
		t.Errorf("after Close: %q, %v", out.String(), err)
	}
	g.post(2, 1, &args)
	if err := l.Drain(); err != nil || out.String() != "AB" {
		t.Errorf("Drain after Close touched the buffer: %q, %v", out.String(), err)
	}
}
