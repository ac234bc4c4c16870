package sim_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"testing"
	"time"

	"gfxrt/aql"
	"gfxrt/elf"
	"gfxrt/runtime/device"
	"gfxrt/sim"
)

// bench is a simulated device with one queue and a code object in its memory,
// put there without the runtime.
type bench struct {
	t    testing.TB
	d    *sim.Device
	q    device.Queue
	co   *elf.CodeObject
	base uint64
}

func newBench(t testing.TB, target, object string, o sim.Options) *bench {
	t.Helper()
	file, err := os.ReadFile("../kernels/" + object)
	if err != nil {
		t.Fatal(err)
	}
	co, err := elf.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := sim.Open(target, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	m, err := d.Alloc(co.ImageSize, device.Code)
	if err != nil {
		t.Fatal(err)
	}
	img, err := co.Image(m.Addr(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(m.Addr(), img); err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(device.QueueOptions{Packets: 64})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, d: d, q: q, co: co, base: m.Addr()}
}

func (b *bench) kernel(name string) *elf.Kernel {
	b.t.Helper()
	for i := range b.co.Kernels {
		if b.co.Kernels[i].Name == name {
			return &b.co.Kernels[i]
		}
	}
	b.t.Fatalf("no kernel %s", name)
	return nil
}

func (b *bench) alloc(n uint64) device.Memory {
	b.t.Helper()
	m, err := b.d.Alloc(n, device.HostVisible)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

func (b *bench) signal(v int64) device.Signal {
	b.t.Helper()
	s, err := b.d.NewSignal(v)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// put publishes one packet and returns its index; the doorbell is the caller's.
func (b *bench) put(v aql.Value) uint64 {
	b.t.Helper()
	i, err := b.q.Ring().Reserve(context.Background(), 1)
	if err != nil {
		b.t.Fatal(err)
	}
	var p aql.Packet
	v.Encode(&p)
	b.q.Ring().PublishPacket(i, &p)
	return i
}

func (b *bench) wait(s device.Signal) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if v, err := s.Wait(ctx, device.Equal, 0); err != nil {
		b.t.Fatalf("signal is %d: %v", v, err)
	}
}

func dispatchHeader(barrier bool) aql.Header {
	return aql.MakeHeader(aql.TypeKernelDispatch, barrier, aql.ScopeSystem, aql.ScopeSystem)
}

// vecadd builds the packet of one vecadd launch over n floats.
func (b *bench) vecadd(n int, barrier bool, done device.Signal) (*aql.KernelDispatch, device.Memory) {
	b.t.Helper()
	k := b.kernel("vecadd")
	x, y, z := b.alloc(uint64(n)*4), b.alloc(uint64(n)*4), b.alloc(uint64(n)*4)
	for i := range n {
		binary.LittleEndian.PutUint32(x.Bytes()[4*i:], math.Float32bits(float32(i)))
		binary.LittleEndian.PutUint32(y.Bytes()[4*i:], math.Float32bits(float32(2*i)+0.5))
	}
	args := b.alloc(uint64(k.KernargSize))
	a := args.Bytes()
	binary.LittleEndian.PutUint64(a[0:], x.Addr())
	binary.LittleEndian.PutUint64(a[8:], y.Addr())
	binary.LittleEndian.PutUint64(a[16:], z.Addr())
	binary.LittleEndian.PutUint32(a[24:], uint32(n))
	for _, arg := range k.Args {
		if arg.Kind == elf.HiddenGroupSizeX {
			binary.LittleEndian.PutUint16(a[arg.Offset:], 64)
		}
		if arg.Kind == elf.HiddenBlockCountX {
			binary.LittleEndian.PutUint32(a[arg.Offset:], uint32(n/64))
		}
	}
	d := &aql.KernelDispatch{
		Header: dispatchHeader(barrier), Setup: 1, WorkgroupSize: [3]uint16{64, 1, 1}, GridSize: [3]uint32{uint32(n), 1, 1},
		KernelObject: b.base + k.DescAddr, KernargAddress: args.Addr(), PrivateSegmentSize: k.PrivateSize, GroupSegmentSize: k.GroupSize,
	}
	if done != nil {
		d.CompletionSignal = done.Handle()
	}
	return d, z
}

func (b *bench) checkSum(z device.Memory, n int) {
	b.t.Helper()
	for i := range n {
		got := math.Float32frombits(binary.LittleEndian.Uint32(z.Bytes()[4*i:]))
		if want := float32(i) + (float32(2*i) + 0.5); got != want {
			b.t.Fatalf("c[%d] = %v, want %v", i, got, want)
		}
	}
}

func TestRingFedByHand(t *testing.T) {
	for target, object := range map[string]string{"gfx90a": "gfx90a/vecadd.hsaco", "gfx942": "gfx942/vecadd.hsaco"} {
		t.Run(target, func(t *testing.T) {
			b := newBench(t, target, object, sim.Options{})
			done := b.signal(1)
			d, z := b.vecadd(1024, true, done)
			b.q.Doorbell(b.put(d))
			b.wait(done)
			b.checkSum(z, 1024)
			if start, end := done.Timestamps(); start == 0 || end < start {
				t.Errorf("timestamps %d to %d", start, end)
			}
			if got := b.q.Ring().ReadIndex(); got != 1 {
				t.Errorf("read index %d after one packet", got)
			}
			if h, _ := b.q.Ring().Header(0); h.Type() != aql.TypeInvalid {
				t.Errorf("the slot's header is %v after completion", h.Type())
			}
		})
	}
}

// TestOneDoorbellForManyPackets wraps the ring and rings once a batch.
func TestOneDoorbellForManyPackets(t *testing.T) {
	b := newBench(t, "gfx90a", "gfx90a/vecadd.hsaco", sim.Options{})
	const batch, rounds = 40, 5
	done := b.signal(batch * rounds)
	d, z := b.vecadd(64, false, done)
	for range rounds {
		var last uint64
		for range batch {
			last = b.put(d)
		}
		b.q.Doorbell(last)
	}
	b.wait(done)
	b.checkSum(z, 64)
}

// TestUnpublishedSlotBlocks publishes packet 1 before packet 0.
func TestUnpublishedSlotBlocks(t *testing.T) {
	b := newBench(t, "gfx90a", "gfx90a/vecadd.hsaco", sim.Options{})
	done := b.signal(2)
	d, z := b.vecadd(64, false, done)
	r := b.q.Ring()
	first, err := r.Reserve(context.Background(), 2)
	if err != nil {
		t.Fatal(err)
	}
	var p aql.Packet
	d.Encode(&p)
	r.PublishPacket(first+1, &p)
	b.q.Doorbell(first + 1)
	time.Sleep(20 * time.Millisecond)
	if v := done.Load(); v != 2 {
		t.Fatalf("signal is %d before the first packet was published", v)
	}
	r.PublishPacket(first, &p)
	b.q.Doorbell(first)
	b.wait(done)
	b.checkSum(z, 64)
}

// TestBarriers holds a dispatch back with barrier-AND, then barrier-OR packets.
func TestBarriers(t *testing.T) {
	for _, typ := range []aql.Type{aql.TypeBarrierAnd, aql.TypeBarrierOr} {
		t.Run(typ.String(), func(t *testing.T) {
			b := newBench(t, "gfx90a", "gfx90a/vecadd.hsaco", sim.Options{})
			s1, s2, done, passed := b.signal(1), b.signal(1), b.signal(1), b.signal(1)
			d, z := b.vecadd(64, true, done)
			b.put(&aql.Barrier{Header: aql.MakeHeader(typ, true, aql.ScopeSystem, aql.ScopeSystem),
				DepSignal: [5]uint64{0, s1.Handle(), 0, s2.Handle()}, CompletionSignal: passed.Handle()})
			b.q.Doorbell(b.put(d))
			time.Sleep(20 * time.Millisecond)
			if done.Load() != 1 || passed.Load() != 1 {
				t.Fatal("the barrier did not hold")
			}
			s2.Store(0)
			if typ == aql.TypeBarrierAnd {
				time.Sleep(20 * time.Millisecond)
				if done.Load() != 1 {
					t.Fatal("barrier-AND passed with one of two signals")
				}
				s1.Store(0)
			}
			b.wait(passed)
			b.wait(done)
			b.checkSum(z, 64)
		})
	}
}

func TestBarrierValue(t *testing.T) {
	b := newBench(t, "gfx90a", "gfx90a/vecadd.hsaco", sim.Options{})
	s, passed := b.signal(0), b.signal(1)
	b.q.Doorbell(b.put(&aql.BarrierValue{Header: aql.MakeHeader(aql.TypeVendorSpecific, true, 0, 0), AmdFormat: aql.FormatBarrierValue,
		Signal: s.Handle(), Value: 6, Mask: 0xff, Cond: aql.ConditionGTE, CompletionSignal: passed.Handle()}))
	for _, v := range []int64{5, 0x500, 0x105} {
		s.Store(v)
		time.Sleep(5 * time.Millisecond)
		if passed.Load() != 1 {
			t.Fatalf("passed with %#x", v)
		}
	}
	s.Store(0x106)
	b.wait(passed)
}

// TestBadPackets gives the queue packets a command processor rejects.
func TestBadPackets(t *testing.T) {
	edit := map[string]func(*aql.KernelDispatch){
		"kernel_object nowhere":     func(d *aql.KernelDispatch) { d.KernelObject = 0x4000 },
		"kernel_object in the text": func(d *aql.KernelDispatch) { d.KernelObject &^= 0xff },
		"completion signal nowhere": func(d *aql.KernelDispatch) { d.CompletionSignal = 0x10000 },
		"group of 2048":             func(d *aql.KernelDispatch) { d.WorkgroupSize[0] = 2048 },
		"LDS beyond the device":     func(d *aql.KernelDispatch) { d.GroupSegmentSize = 1 << 20 },
		"scratch beyond the device": func(d *aql.KernelDispatch) { d.PrivateSegmentSize = 1 << 30 },
		"agent dispatch to a GPU":   func(d *aql.KernelDispatch) { d.Header = aql.MakeHeader(aql.TypeAgentDispatch, true, 0, 0) },
		"unknown vendor packet": func(d *aql.KernelDispatch) {
			d.Header, d.Setup = aql.MakeHeader(aql.TypeVendorSpecific, true, 0, 0), 77
		},
		"zero grid":                  func(d *aql.KernelDispatch) { d.GridSize[0] = 0 },
		"kernel_object past the end": func(d *aql.KernelDispatch) { d.KernelObject = math.MaxUint64 - 15 },
	}
	for name, f := range edit {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "gfx90a", "gfx90a/vecadd.hsaco", sim.Options{})
			done := b.signal(1)
			d, _ := b.vecadd(64, true, done)
			f(d)
			b.q.Doorbell(b.put(d))
			select {
			case err := <-b.q.Err():
				var fault *device.Fault
				if !errors.As(err, &fault) || fault.Kind != device.FaultPacket {
					t.Fatalf("got %v, want a packet fault", err)
				}
				if done.Load() != 1 {
					t.Error("the signal of a rejected packet was completed")
				}
			case <-time.After(10 * time.Second):
				t.Fatal("no error")
			}
		})
	}
}

// TestFaultKeepsOtherQueues faults one queue and goes on with another.
func TestFaultKeepsOtherQueues(t *testing.T) {
	b := newBench(t, "gfx90a", "gfx90a/vecadd.hsaco", sim.Options{})
	bad := *b
	q, err := b.d.NewQueue(device.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bad.q = q
	d, _ := bad.vecadd(64, true, nil)
	args, err := b.d.Alloc(256, device.HostVisible)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(args.Bytes(), 0xdead0000)
	binary.LittleEndian.PutUint32(args.Bytes()[24:], 64)
	d.KernargAddress = args.Addr()
	bad.q.Doorbell(bad.put(d))
	err = <-bad.q.Err()
	var fault *device.Fault
	if !errors.As(err, &fault) || fault.Kind != device.FaultMemory {
		t.Fatalf("got %v, want a memory fault", err)
	}
	if fault.PC < b.base || fault.PC >= b.base+b.co.ImageSize || fault.Instruction == "" || fault.Wave != 0 || fault.Lane != 0 {
		t.Errorf("fault does not say where: %+v", fault)
	}
	done := b.signal(1)
	good, z := b.vecadd(128, true, done)
	b.q.Doorbell(b.put(good))
	b.wait(done)
	b.checkSum(z, 128)
}
