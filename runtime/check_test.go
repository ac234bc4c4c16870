package runtime_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gfxrt/elf"
	"gfxrt/runtime"
)

// TestLaunchRefusals: what a launch may not be, what the error says, and that
// nothing reached the queue.
func TestLaunchRefusals(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	vec := kernel(t, load(t, rt, "vecadd"), "vecadd")
	lds := kernel(t, load(t, rt, "dynlds"), "dynlds")
	ocl := load(t, rt, "ocl_basic")
	ocl2d, local := kernel(t, ocl, "ocl_2d"), kernel(t, ocl, "ocl_local")
	rec := kernel(t, load(t, rt, "recursion"), "recursion")
	many := kernel(t, load(t, rt, "manyargs"), "manyargs")
	s := stream(t, rt)
	b := alloc(t, rt, 64, runtime.DeviceLocal)
	freed := alloc(t, rt, 64, runtime.DeviceLocal)
	if err := freed.Free(); err != nil {
		t.Fatal(err)
	}
	other := open(t, newFake(t))
	foreign := alloc(t, other, 64, runtime.DeviceLocal)

	type cfg = runtime.LaunchConfig
	type dim = runtime.Dim3
	p := runtime.Ptr(b)
	vecArgs := []runtime.Arg{p, p, p, runtime.U32(1)}
	ldsArgs := []runtime.Arg{p, p, runtime.U32(1)}
	ok := cfg{Grid: x(1), Block: x(64)}
	for _, c := range []struct {
		name string
		k    *runtime.Kernel
		cfg  cfg
		args []runtime.Arg
		is   error
		says []string
	}{
		{"too few arguments", vec, ok, vecArgs[:3], runtime.ErrInvalidArgument, []string{"vecadd", "3 arguments", "takes 4", "global_buffer, 8 bytes"}},
		{"too many arguments", vec, ok, append(vecArgs[:4:4], p), runtime.ErrInvalidArgument, []string{"5 arguments"}},
		{"scalar for a pointer", vec, ok, []runtime.Arg{p, runtime.U64(1), p, runtime.U32(1)}, runtime.ErrInvalidArgument, []string{"vecadd", "argument 1", "scalar", "Ptr, Addr or Null"}},
		{"pointer for a scalar", vec, ok, []runtime.Arg{p, p, p, p}, runtime.ErrInvalidArgument, []string{"argument 3", "8 bytes", "value of 4 bytes"}},
		{"scalar of another size", vec, ok, []runtime.Arg{p, p, p, runtime.F64(1)}, runtime.ErrInvalidArgument, []string{"argument 3", "value of 4 bytes"}},
		{"bytes of another size", vec, ok, []runtime.Arg{p, p, p, runtime.Bytes(make([]byte, 5))}, runtime.ErrInvalidArgument, []string{"argument 3", "5 bytes"}},
		{"LDS pointer for a buffer", vec, ok, []runtime.Arg{p, p, runtime.LDS(0), runtime.U32(1)}, runtime.ErrInvalidArgument, []string{"argument 2", "LDS offset"}},
		{"buffer for an LDS pointer", local, ok, []runtime.Arg{p, p, p}, runtime.ErrInvalidArgument, []string{"ocl_local", "argument 2:", "need an LDS pointer"}},
		{"LDS pointer beyond the dynamic LDS", local, cfg{Grid: x(1), Block: x(64), DynamicLDS: 256}, []runtime.Arg{p, p, runtime.LDS(257)}, runtime.ErrInvalidArgument, []string{"257", "256"}},
		{"empty argument", vec, ok, []runtime.Arg{p, p, {}, runtime.U32(1)}, runtime.ErrInvalidArgument, []string{"argument 2", "no value"}},
		{"nil buffer", vec, ok, []runtime.Arg{runtime.Ptr(nil), p, p, runtime.U32(1)}, runtime.ErrInvalidArgument, []string{"argument 0", "no buffer"}},
		{"freed buffer", vec, ok, []runtime.Arg{p, runtime.Ptr(freed), p, runtime.U32(1)}, runtime.ErrClosed, []string{"argument 1", "freed"}},
		{"buffer of another device", vec, ok, []runtime.Arg{runtime.Ptr(foreign), p, p, runtime.U32(1)}, runtime.ErrInvalidArgument, []string{"argument 0", "another runtime"}},
		{"value size in a long list", many, ok, []runtime.Arg{p, runtime.U8(1), runtime.I32(1)}, runtime.ErrInvalidArgument, []string{"3 arguments", "takes 16"}},

		{"no grid", vec, cfg{Block: x(64)}, vecArgs, runtime.ErrInvalidArgument, []string{"exactly one of Grid and Items"}},
		{"two grids", vec, cfg{Grid: x(1), Items: x(64), Block: x(64)}, vecArgs, runtime.ErrInvalidArgument, []string{"exactly one of Grid and Items"}},
		{"no work-group", vec, cfg{Grid: x(1)}, vecArgs, runtime.ErrInvalidArgument, []string{"Block", "no work-items"}},
		{"grid without x", vec, cfg{Grid: dim{Y: 2}, Block: x(64)}, vecArgs, runtime.ErrInvalidArgument, []string{"dimension x", "0 work-items"}},
		{"work-group above the kernel's limit", ocl2d, cfg{Grid: x(1), Block: dim{32, 16, 1}}, []runtime.Arg{p, runtime.I32(1)}, runtime.ErrInvalidArgument, []string{"512 work-items", "limit is 256"}},
		{"work-group above the device's limit", vec, cfg{Grid: x(1), Block: dim{1024, 2, 1}}, vecArgs, runtime.ErrInvalidArgument, []string{"2048 work-items", "limit is 1024"}},
		{"work-group whose size overflows", vec, cfg{Grid: x(1), Block: dim{math.MaxUint32, math.MaxUint32, math.MaxUint32}}, vecArgs, runtime.ErrInvalidArgument, []string{"limit is 1024"}},
		{"work-group whose size overflows to a small one", vec, cfg{Grid: x(1), Block: dim{1 << 31, 1 << 31, 4}}, vecArgs, runtime.ErrInvalidArgument, []string{"limit is 1024"}},
		{"required work-group", local, cfg{Grid: x(1), Block: x(32)}, []runtime.Arg{p, p, runtime.LDS(0)}, runtime.ErrInvalidArgument, []string{"requires [64 1 1]"}},
		{"required work-group, other shape", local, cfg{Grid: x(1), Block: dim{32, 2, 1}}, []runtime.Arg{p, p, runtime.LDS(0)}, runtime.ErrInvalidArgument, []string{"requires [64 1 1]"}},
		{"grid overflow", vec, cfg{Grid: x(1 << 26), Block: x(64)}, vecArgs, runtime.ErrInvalidArgument, []string{"dimension x", "4294967296 work-items"}},
		{"grid overflow in z", ocl2d, cfg{Grid: dim{1, 1, math.MaxUint32}, Block: dim{1, 1, 2}}, []runtime.Arg{p, runtime.I32(1)}, runtime.ErrInvalidArgument, []string{"dimension z"}},
		{"LDS", lds, cfg{Grid: x(1), Block: x(64), DynamicLDS: 65536 - 255}, ldsArgs, runtime.ErrInvalidArgument, []string{"256 static", "limit is 65536"}},
		{"LDS overflow", lds, cfg{Grid: x(1), Block: x(64), DynamicLDS: math.MaxUint32}, ldsArgs, runtime.ErrInvalidArgument, []string{"limit is 65536"}},
		{"stack", rec, cfg{Grid: x(1), Block: x(64), Stack: 128 << 10}, []runtime.Arg{p, runtime.U32(1)}, runtime.ErrInvalidArgument, []string{"80 fixed", "limit is 131072"}},
		{"stack overflow", rec, cfg{Grid: x(1), Block: x(64), Stack: math.MaxUint32}, []runtime.Arg{p, runtime.U32(1)}, runtime.ErrInvalidArgument, []string{"limit is 131072"}},
		// 4 CUs of 32 waves: 16 waves a group leave room for 2 groups each.
		{"cooperative launch that cannot be resident", vec, cfg{Grid: x(9), Block: x(1024), Cooperative: true}, vecArgs, runtime.ErrInvalidArgument, []string{"9 work-groups", "at most 8"}},
	} {
		l, err := s.Launch(soon(t), c.k, c.cfg, c.args...)
		if err == nil || !errors.Is(err, c.is) {
			t.Errorf("%s: error %v, want one that wraps %v", c.name, err, c.is)
			continue
		}
		for _, want := range append(c.says, c.k.Name()) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q does not say %q", c.name, err, want)
			}
		}
		if l != (runtime.Launch{}) {
			t.Errorf("%s: a launch came with the error", c.name)
		}
	}
	for _, q := range d.queues {
		if q.ring.WriteIndex() != 0 || len(q.doorbells) != 0 {
			t.Errorf("a refused launch reserved %d packets and rang %d times", q.ring.WriteIndex(), len(q.doorbells))
		}
	}
	if _, err := s.Launch(soon(t), vec, cfg{Grid: x(1 << 22), Block: x(1023)}, vecArgs...); err != nil {
		t.Errorf("largest grid: %v", err)
	}
	if _, err := s.Launch(soon(t), nil, ok); !errors.Is(err, runtime.ErrInvalidArgument) {
		t.Errorf("no kernel: %v", err)
	}
	if _, err := stream(t, other).Launch(soon(t), vec, ok, vecArgs...); !errors.Is(err, runtime.ErrInvalidArgument) {
		t.Errorf("kernel of another runtime: %v", err)
	}
}

// segment builds the expected kernargs of a kernel, given the explicit bytes,
// the implicit block's base and the segment's size: abi.md's V5/V6 layout by
// number (LLVM AMDGPUUsage, Code Object V5 implicit arguments).
func segment(size, base int, explicit map[int]any, grid, group [3]uint32, dims uint16, dynamicLDS uint32, has func(off int) bool) []byte {
	b := make([]byte, size)
	put := func(off int, v any) {
		var w bytes.Buffer
		if err := binary.Write(&w, binary.LittleEndian, v); err != nil {
			panic(err)
		}
		copy(b[off:], w.Bytes())
	}
	for off, v := range explicit {
		put(off, v)
	}
	for i := range 3 {
		put(base+4*i, grid[i]/group[i])
		put(base+12+2*i, uint16(group[i]))
		put(base+18+2*i, uint16(grid[i]%group[i]))
	}
	put(base+64, dims)
	if has(120) {
		put(base+120, dynamicLDS)
	}
	return b
}

func never(int) bool        { return false }
func hasLDS(o int) bool     { return o == 120 }
func gx(n uint32) [3]uint32 { return [3]uint32{n, 1, 1} }

func TestKernargs(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	b := alloc(t, rt, 64, runtime.DeviceLocal)
	a := b.Addr()
	p := runtime.Ptr(b)
	for _, c := range []struct {
		object, kernel string
		cfg            runtime.LaunchConfig
		args           []runtime.Arg
		want           []byte
	}{
		{"vecadd", "vecadd", runtime.LaunchConfig{Grid: x(4), Block: x(256)},
			[]runtime.Arg{p, runtime.Addr(0x123456789abc), runtime.Null(), runtime.U32(0xfffffff0)},
			segment(288, 32, map[int]any{0: a, 8: uint64(0x123456789abc), 24: uint32(0xfffffff0)}, gx(1024), gx(256), 1, 0, never)},
		{"dynlds", "dynlds", runtime.LaunchConfig{Grid: x(4), Block: x(128), DynamicLDS: 1024},
			[]runtime.Arg{p, p, runtime.U32(500)},
			segment(280, 24, map[int]any{0: a, 8: a, 16: uint32(500)}, gx(512), gx(128), 1, 1024, hasLDS)},
		{"ocl_basic", "ocl_2d", runtime.LaunchConfig{Items: runtime.Dim3{X: 13, Y: 7}, Block: runtime.Dim3{X: 4, Y: 4}},
			[]runtime.Arg{p, runtime.I32(-9)},
			segment(272, 16, map[int]any{0: a, 8: int32(-9)}, [3]uint32{13, 7, 1}, [3]uint32{4, 4, 1}, 2, 0, never)},
		{"ocl_basic", "ocl_local", runtime.LaunchConfig{Grid: x(4), Block: x(64), DynamicLDS: 256},
			[]runtime.Arg{p, p, runtime.LDS(64)},
			segment(280, 24, map[int]any{0: a, 8: a, 16: uint32(64)}, gx(256), gx(64), 1, 256, hasLDS)},
		{"manyargs", "manyargs", runtime.LaunchConfig{Grid: x(1), Block: x(64)},
			[]runtime.Arg{p, runtime.U8(200), runtime.I16(-300), runtime.U32(70000), runtime.U64(20015998343868), runtime.F32(2.5),
				runtime.F64(-3.5), runtime.I8(-5), runtime.U16(60000), runtime.I64(-123456789012), p, runtime.U32(11), runtime.U32(13),
				runtime.Bytes([]byte{1, 2, 3, 4, 5, 6, 7, 8}), runtime.F32(9.5), runtime.I32(-42)},
			segment(344, 88, map[int]any{0: a, 8: uint8(200), 10: int16(-300), 12: uint32(70000), 16: uint64(20015998343868), 24: float32(2.5),
				32: float64(-3.5), 40: int8(-5), 42: uint16(60000), 48: int64(-123456789012), 56: a, 64: uint32(11), 68: uint32(13),
				72: []byte{1, 2, 3, 4, 5, 6, 7, 8}, 80: float32(9.5), 84: int32(-42)}, gx(64), gx(64), 1, 0, never)},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			k := kernel(t, load(t, rt, c.object), c.kernel)
			s := stream(t, rt)
			if _, err := s.Launch(soon(t), k, c.cfg, c.args...); err != nil {
				t.Fatal(err)
			}
			q := d.queues[len(d.queues)-1]
			if got := d.kernargs(t, &q.packets[0], len(c.want)); !bytes.Equal(got, c.want) {
				t.Errorf("kernargs\n% x\nwant\n% x", got, c.want)
			}
		})
	}
}

// TestStaticLDSOffset: an LDS argument counts from the end of the static LDS.
func TestStaticLDSOffset(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	m := load(t, rt, "ocl_basic")
	k := kernel(t, m, "ocl_local")
	k.Metadata().GroupSize = 512 // as if the source had 512 bytes of static __local
	b := alloc(t, rt, 64, runtime.DeviceLocal)
	_, err := stream(t, rt).Launch(soon(t), k, runtime.LaunchConfig{Grid: x(1), Block: x(64), DynamicLDS: 100}, runtime.Ptr(b), runtime.Ptr(b), runtime.LDS(16))
	if err != nil {
		t.Fatal(err)
	}
	p := &d.queues[0].packets[0]
	if got := binary.LittleEndian.Uint32(d.kernargs(t, p, 24)[16:]); got != 512+16 {
		t.Errorf("LDS pointer %d, want 528", got)
	}
	if got := binary.LittleEndian.Uint32(p[28:]); got != 612 {
		t.Errorf("group segment %d, want 612", got)
	}
}

func TestRawKernel(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	k := kernel(t, load(t, rt, "vecadd"), "vecadd")
	*k.Metadata() = elf.Kernel{Name: "vecadd", NoMetadata: true, DescAddr: 0x840, Descriptor: elf.Descriptor{KernargSize: 48, GroupSegmentSize: 7, PrivateSegmentSize: 9}}
	s := stream(t, rt)
	cfg := runtime.LaunchConfig{Grid: x(1), Block: x(64)}
	for _, args := range [][]runtime.Arg{nil, {runtime.Bytes(make([]byte, 47))}, {runtime.U32(1)}} {
		if _, err := s.Launch(soon(t), k, cfg, args...); !errors.Is(err, runtime.ErrInvalidArgument) || !strings.Contains(err.Error(), "48 bytes of kernargs") {
			t.Errorf("%d arguments: %v", len(args), err)
		}
	}
	raw := bytes.Repeat([]byte{1, 2, 3}, 16)
	if _, err := s.Launch(soon(t), k, cfg, runtime.Bytes(raw)); err != nil {
		t.Fatal(err)
	}
	p := &d.queues[0].packets[0]
	if got := d.kernargs(t, p, 48); !bytes.Equal(got, raw) {
		t.Errorf("kernargs % x", got)
	}
	if got := fmt.Sprint(binary.LittleEndian.Uint32(p[24:]), binary.LittleEndian.Uint32(p[28:])); got != "9 7" {
		t.Errorf("private and group segment %s, want 9 7 from the descriptor", got)
	}
}
