package runtime_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"gfxrt/aql"
	"gfxrt/runtime"
)

// dispatchBytes lays a kernel dispatch packet out by the offsets of hsa.h
// (hsa_kernel_dispatch_packet_t), apart from the aql package.
func dispatchBytes(header, setup uint16, block [3]uint16, grid [3]uint32, private, group uint32, object, kernarg, signal uint64) (p aql.Packet) {
	le := binary.LittleEndian
	le.PutUint16(p[0:], header)
	le.PutUint16(p[2:], setup)
	for i := range 3 {
		le.PutUint16(p[4+2*i:], block[i])
		le.PutUint32(p[12+4*i:], grid[i])
	}
	le.PutUint32(p[24:], private)
	le.PutUint32(p[28:], group)
	le.PutUint64(p[32:], object)
	le.PutUint64(p[40:], kernarg)
	le.PutUint64(p[56:], signal)
	return p
}

// 0x1502: kernel dispatch, barrier bit, system acquire and release; 0x1402
// without the barrier bit.
const ordered, unordered = 0x1502, 0x1402

func TestPackets(t *testing.T) {
	for _, c := range []struct {
		name, object, kernel string
		cfg                  runtime.LaunchConfig
		opts                 []runtime.Option
		args                 func(b *runtime.Buffer) []runtime.Arg
		descriptor           uint64 // address of the .kd symbol, from llvm-readobj
		want                 func(object, kernarg, signal uint64) aql.Packet
	}{
		{
			name: "one dimension", object: "vecadd", kernel: "vecadd", descriptor: 0x840,
			cfg: runtime.LaunchConfig{Grid: x(4), Block: x(256)},
			args: func(b *runtime.Buffer) []runtime.Arg {
				return []runtime.Arg{runtime.Ptr(b), runtime.Ptr(b), runtime.Ptr(b), runtime.U32(1000)}
			},
			want: func(o, k, s uint64) aql.Packet {
				return dispatchBytes(ordered, 1, [3]uint16{256, 1, 1}, [3]uint32{1024, 1, 1}, 0, 0, o, k, s)
			},
		},
		{
			name: "static and dynamic LDS, no barrier", object: "dynlds", kernel: "dynlds", descriptor: 0x840,
			cfg: runtime.LaunchConfig{Items: x(512), Block: x(128), DynamicLDS: 1024, NoBarrier: true},
			args: func(b *runtime.Buffer) []runtime.Arg {
				return []runtime.Arg{runtime.Ptr(b), runtime.Ptr(b), runtime.U32(500)}
			},
			want: func(o, k, s uint64) aql.Packet {
				return dispatchBytes(unordered, 1, [3]uint16{128, 1, 1}, [3]uint32{512, 1, 1}, 0, 256+1024, o, k, s)
			},
		},
		{
			name: "two dimensions with partial work-groups", object: "ocl_basic", kernel: "ocl_2d", descriptor: 0x13c0,
			cfg: runtime.LaunchConfig{Items: runtime.Dim3{X: 13, Y: 7}, Block: runtime.Dim3{X: 4, Y: 4}},
			args: func(b *runtime.Buffer) []runtime.Arg {
				return []runtime.Arg{runtime.Ptr(b), runtime.I32(9)}
			},
			want: func(o, k, s uint64) aql.Packet {
				return dispatchBytes(ordered, 2, [3]uint16{4, 4, 1}, [3]uint32{13, 7, 1}, 0, 0, o, k, s)
			},
		},
		{
			name: "three dimensions", object: "ocl_basic", kernel: "ocl_2d", descriptor: 0x13c0,
			cfg: runtime.LaunchConfig{Grid: runtime.Dim3{X: 1, Y: 1, Z: 5}, Block: runtime.Dim3{X: 2, Y: 3, Z: 4}},
			args: func(b *runtime.Buffer) []runtime.Arg {
				return []runtime.Arg{runtime.Null(), runtime.I32(9)}
			},
			want: func(o, k, s uint64) aql.Packet {
				return dispatchBytes(ordered, 3, [3]uint16{2, 3, 4}, [3]uint32{2, 3, 20}, 0, 0, o, k, s)
			},
		},
		{
			name: "dynamic stack", object: "recursion", kernel: "recursion", descriptor: 0x7c0,
			cfg:  runtime.LaunchConfig{Grid: x(2), Block: x(64)},
			args: func(b *runtime.Buffer) []runtime.Arg { return []runtime.Arg{runtime.Ptr(b), runtime.U32(80)} },
			want: func(o, k, s uint64) aql.Packet {
				return dispatchBytes(ordered, 1, [3]uint16{64, 1, 1}, [3]uint32{128, 1, 1}, 80+16384, 0, o, k, s)
			},
		},
		{
			name: "dynamic stack set by the runtime", object: "recursion", kernel: "recursion", descriptor: 0x7c0,
			opts: []runtime.Option{runtime.WithStackSize(256)},
			cfg:  runtime.LaunchConfig{Grid: x(2), Block: x(64)},
			args: func(b *runtime.Buffer) []runtime.Arg { return []runtime.Arg{runtime.Ptr(b), runtime.U32(80)} },
			want: func(o, k, s uint64) aql.Packet {
				return dispatchBytes(ordered, 1, [3]uint16{64, 1, 1}, [3]uint32{128, 1, 1}, 80+256, 0, o, k, s)
			},
		},
		{
			name: "dynamic stack set by the launch", object: "recursion", kernel: "recursion", descriptor: 0x7c0,
			cfg:  runtime.LaunchConfig{Grid: x(2), Block: x(64), Stack: 1000},
			args: func(b *runtime.Buffer) []runtime.Arg { return []runtime.Arg{runtime.Ptr(b), runtime.U32(80)} },
			want: func(o, k, s uint64) aql.Packet {
				return dispatchBytes(ordered, 1, [3]uint16{64, 1, 1}, [3]uint32{128, 1, 1}, 80+1000, 0, o, k, s)
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newFake(t)
			rt := open(t, d, c.opts...)
			m := load(t, rt, c.object)
			s := stream(t, rt)
			l, err := s.Launch(soon(t), kernel(t, m, c.kernel), c.cfg, c.args(alloc(t, rt, 64, runtime.DeviceLocal))...)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Wait(soon(t)); err != nil {
				t.Fatal(err)
			}
			q := d.queues[0]
			if len(q.packets) != 1 || len(q.doorbells) != 1 || q.doorbells[0] != 0 {
				t.Fatalf("%d packets, doorbells %v; want one of each with the packet's index", len(q.packets), q.doorbells)
			}
			got := &q.packets[0]
			// Kernarg and signal addresses are the device's; take them from
			// the packet and check what they point to.
			kernarg, signal := binary.LittleEndian.Uint64(got[40:]), binary.LittleEndian.Uint64(got[56:])
			if kernarg%64 != 0 {
				t.Errorf("kernarg address %#x is not 64-aligned", kernarg)
			}
			if d.signals[signal] == nil {
				t.Errorf("completion signal %#x is no signal", signal)
			}
			if want := c.want(m.Base()+c.descriptor, kernarg, signal); *got != want {
				t.Errorf("packet\n% x\nwant\n% x", got[:], want[:])
			}
		})
	}
}

// TestPublication watches the ring from another goroutine: a packet whose
// header is valid is complete, and its kernargs are, with no doorbell needed.
// Under -race this checks the order of the stores too.
func TestPublication(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	k := kernel(t, load(t, rt, "vecadd"), "vecadd")
	b := alloc(t, rt, 64, runtime.DeviceLocal)
	s := stream(t, rt)
	q := d.queues[0]
	q.set(func(q *fakeQueue) { q.deaf = true })
	const n = 3000 // more than the ring holds
	done := make(chan error)
	go func() {
		for i := uint64(0); i < n; {
			var p aql.Packet
			if !q.ring.Read(i, &p) {
				continue
			}
			kd, err := aql.DecodeKernelDispatch(&p)
			if err != nil {
				done <- err
				return
			}
			args, err := d.at(kd.KernargAddress, 28)
			if err != nil {
				done <- err
				return
			}
			if got := binary.LittleEndian.Uint32(args[24:]); uint64(got) != i {
				done <- errors.New("kernargs of another launch")
				return
			}
			q.ring.Retire(i)
			q.complete(&kd)
			i++
		}
		done <- nil
	}()
	cfg := runtime.LaunchConfig{Grid: x(1), Block: x(64)}
	for i := range uint32(n) {
		if _, err := s.Launch(soon(t), k, cfg, runtime.Ptr(b), runtime.Ptr(b), runtime.Ptr(b), runtime.U32(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(soon(t)); err != nil {
		t.Fatal(err)
	}
	for i, v := range q.doorbells {
		if v != uint64(i) {
			t.Fatalf("doorbell %d has value %d", i, v)
		}
	}
}

// TestKernargReuse: blocks are not reused before their dispatch completed,
// whatever order dispatches complete in.
func TestKernargReuse(t *testing.T) {
	d := newFake(t)
	rt := open(t, d, runtime.WithQueueSize(16))
	k := kernel(t, load(t, rt, "vecadd"), "vecadd")
	s := stream(t, rt)
	q := d.queues[0]
	q.set(func(q *fakeQueue) { q.hold = true })
	cfg := runtime.LaunchConfig{Grid: x(1), Block: x(64), NoBarrier: true}
	launch := func(ctx context.Context, i uint32) error {
		_, err := s.Launch(ctx, k, cfg, runtime.Null(), runtime.Null(), runtime.Null(), runtime.U32(i))
		return err
	}
	for i := range uint32(16) {
		if err := launch(soon(t), i); err != nil {
			t.Fatal(err)
		}
	}
	// The oldest is still running: there is no room, although newer ones are
	// done, and the wait for room obeys its context.
	q.finish(5)
	q.finish(9)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := launch(ctx, 99); !errors.Is(err, context.Canceled) {
		t.Fatalf("launch into a full stream: %v", err)
	}
	for i := range 16 {
		want := make([]byte, 28)
		want[24] = byte(i)
		if got := d.kernargs(t, &q.packets[i], 28); !bytes.Equal(got, want) {
			t.Errorf("kernargs of launch %d were overwritten: % x", i, got)
		}
	}
	q.finish(0)
	if err := launch(soon(t), 16); err != nil {
		t.Fatal(err)
	}
	if len(q.packets) != 17 {
		t.Errorf("%d packets, want 17: the refused launch must leave no trace", len(q.packets))
	}
}
