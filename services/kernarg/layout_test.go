package kernarg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
)

type kernel struct {
	name    string
	version int
	segment uint32
	args    []Arg
}

func recorded(t *testing.T) []kernel {
	t.Helper()
	text, err := os.ReadFile("testdata/args.txt")
	if err != nil {
		t.Fatal(err)
	}
	num := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var ks []kernel
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		k := kernel{name: f[0], version: num(f[1]), segment: uint32(num(f[2]))}
		for _, a := range f[3:] {
			p := strings.Split(a, ",")
			k.args = append(k.args, Arg{Offset: uint32(num(p[0])), Size: uint32(num(p[1])), Kind: Kind(p[2])})
		}
		ks = append(ks, k)
	}
	return ks
}

// want computes a hidden argument's value from the ABI's words, apart from the
// table in this package.
func want(kind Kind, v *LaunchValues) uint64 {
	axis := strings.IndexByte("xyz", kind[len(kind)-1])
	switch {
	case strings.HasPrefix(string(kind), "hidden_block_count"):
		return uint64(v.Grid[axis] / uint32(v.Group[axis]))
	case strings.HasPrefix(string(kind), "hidden_group_size"):
		return uint64(v.Group[axis])
	case strings.HasPrefix(string(kind), "hidden_remainder"):
		return uint64(v.Grid[axis] % uint32(v.Group[axis]))
	case strings.HasPrefix(string(kind), "hidden_global_offset"):
		return v.GlobalOffset[axis]
	}
	return map[Kind]uint64{
		HiddenGridDims: uint64(v.Dims), HiddenDynamicLDSSize: uint64(v.DynamicLDS), HiddenQueuePtr: v.QueuePtr,
		HiddenPrivateBase: uint64(v.PrivateBase), HiddenSharedBase: uint64(v.SharedBase),
		HiddenPrintfBuffer: v.Slots[PrintfBuffer], HiddenHostcallBuffer: v.Slots[HostcallBuffer],
		HiddenMultigridSyncArg: v.Slots[MultigridSync], HiddenHeapV1: v.Slots[Heap],
		HiddenDefaultQueue: v.Slots[DefaultQueue], HiddenCompletionAction: v.Slots[CompletionAction],
	}[kind]
}

func TestFillCompiledKernels(t *testing.T) {
	v := LaunchValues{Dims: 3, Grid: [3]uint32{1000, 70, 3}, Group: [3]uint16{64, 8, 4}, GlobalOffset: [3]uint64{1 << 40, 2, 3},
		DynamicLDS: 0x1234, QueuePtr: 0x7f0011223344, PrivateBase: 0x20000, SharedBase: 0x10000}
	for i := range v.Slots {
		v.Slots[i] = 0x7e0000000000 + uint64(i)<<12
	}
	seen := map[Kind]bool{}
	for _, k := range recorded(t) {
		l, err := NewLayout(k.name, k.version, k.segment, k.args)
		if err != nil {
			t.Fatal(err)
		}
		got := bytes.Repeat([]byte{0xcc}, int(k.segment))
		expect := bytes.Clone(got)
		explicit := 0
		for _, a := range k.args {
			if !strings.HasPrefix(string(a.Kind), "hidden_") {
				explicit++
				continue
			}
			seen[a.Kind] = true
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], want(a.Kind, &v))
			copy(expect[a.Offset:a.Offset+a.Size], b[:])
		}
		if err := l.Fill(got, &v); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, expect) {
			t.Errorf("%s V%d:\n% x\nwant\n% x", k.name, k.version, got, expect)
		}
		if len(l.Explicit()) != explicit {
			t.Errorf("%s: %d explicit arguments, want %d", k.name, len(l.Explicit()), explicit)
		}
	}
	for k, r := range rules {
		if r.class == Launch || r.class == Service {
			if !seen[k] {
				t.Errorf("no compiled kernel exercised %s", k)
			}
		}
	}
}

func TestFillUnusedDimensions(t *testing.T) {
	k := recorded(t)[0]
	l, err := NewLayout(k.name, k.version, k.segment, k.args)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, k.segment)
	if err := l.Fill(dst, &LaunchValues{Dims: 1, Grid: [3]uint32{100, 0, 9}, Group: [3]uint16{64, 0, 9}}); err != nil {
		t.Fatal(err)
	}
	// Implicit block at 24: counts 1,1,1, sizes 64,1,1, remainders 36,0,0.
	if got, want := dst[24:48], []byte{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 64, 0, 1, 0, 1, 0, 36, 0, 0, 0, 0, 0}; !bytes.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if !l.Needs(HostcallBuffer) || !l.Needs(Heap) || l.Needs(PrintfBuffer) {
		t.Error("wrong services")
	}
	for _, bad := range []LaunchValues{{Dims: 0}, {Dims: 4}, {Dims: 2, Group: [3]uint16{1, 0, 1}}} {
		if err := l.Fill(dst, &bad); !errors.Is(err, ErrLaunch) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := l.Fill(dst[:279], &LaunchValues{Dims: 1, Group: [3]uint16{1, 1, 1}}); !errors.Is(err, ErrLaunch) {
		t.Errorf("short segment: %v", err)
	}
}

func TestNewLayoutRejects(t *testing.T) {
	ptr := Arg{Offset: 0, Size: 8, Kind: GlobalBuffer, Name: "out"}
	for _, c := range []struct {
		version int
		args    []Arg
		names   string // that the error must mention
	}{
		{6, []Arg{{Offset: 0, Size: 8, Kind: "hidden_teapot", Name: "h"}}, "hidden_teapot"},
		{6, []Arg{{Offset: 248, Size: 16, Kind: ByValue, Name: "big"}}, "big"},
		{6, []Arg{{Offset: 0xfffffff8, Size: 16, Kind: ByValue, Name: "wrap"}}, "wrap"},
		{6, []Arg{ptr, {Offset: 4, Size: 8, Kind: ByValue, Name: "over"}}, "over"},
		{6, []Arg{ptr, {Offset: 80, Size: 4, Kind: HiddenHeapV1}}, "hidden_heap_v1"},
		{6, []Arg{ptr, {Offset: 80, Size: 8, Kind: HiddenHeapV1}}, "hidden_heap_v1"},
		{6, []Arg{ptr, {Offset: 104, Size: 8, Kind: HiddenHeapV1}, {Offset: 96, Size: 8, Kind: HiddenHostcallBuffer}}, "implicit"},
		{6, []Arg{ptr, {Offset: 12, Size: 4, Kind: HiddenBlockCountX}}, "hidden_block_count_x"},
		{6, []Arg{ptr, {Offset: 32, Size: 8, Kind: ByValue, Name: "late"}, {Offset: 16 + 64, Size: 2, Kind: HiddenGridDims}}, "implicit"},
		{4, []Arg{ptr, {Offset: 104, Size: 8, Kind: HiddenHeapV1}}, "V4"},
	} {
		_, err := NewLayout("kern", c.version, 256, c.args)
		if !errors.Is(err, ErrLayout) || !strings.Contains(err.Error(), "kern") || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%+v: error %v, want one that names %q", c.args, err, c.names)
		}
	}
	// V4 shares one slot between printf and hostcall: either, not both.
	slot := func(k ...Kind) error {
		var args []Arg
		for _, k := range k {
			args = append(args, Arg{Offset: 32, Size: 8, Kind: k})
		}
		_, err := NewLayout("kern", 4, 64, append(args, ptr))
		return err
	}
	if err := errors.Join(slot(HiddenPrintfBuffer), slot(HiddenHostcallBuffer), slot(HiddenNone)); err != nil {
		t.Error(err)
	}
	if slot(HiddenPrintfBuffer, HiddenHostcallBuffer) == nil {
		t.Error("one V4 slot given to two services")
	}
}

func TestFillDoesNotAllocate(t *testing.T) {
	k := recorded(t)[1]
	l, err := NewLayout(k.name, k.version, k.segment, k.args)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, k.segment)
	v := LaunchValues{Dims: 1, Grid: [3]uint32{100}, Group: [3]uint16{64}}
	if n := testing.AllocsPerRun(100, func() {
		if err := l.Fill(dst, &v); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a launch", n)
	}
}

func TestGridSync(t *testing.T) {
	b := bytes.Repeat([]byte{0xcc}, GridSyncSize)
	g := GridSync{GridID: 1, NumGrids: 2, PrevSum: 3, AllSum: 4, NumWorkgroups: 5}
	g.Encode(b)
	want := []byte{8: 1, 12: 2, 16: 3, 24: 4, 40: 5, 47: 0}
	if !bytes.Equal(b, want) {
		t.Errorf("got %v\nwant %v", b, want)
	}
}

func BenchmarkFill(b *testing.B) {
	l, err := NewLayout("k", 6, 256, []Arg{
		{0, 4, HiddenBlockCountX, ""}, {4, 4, HiddenBlockCountY, ""}, {8, 4, HiddenBlockCountZ, ""},
		{12, 2, HiddenGroupSizeX, ""}, {64, 2, HiddenGridDims, ""}, {80, 8, HiddenHostcallBuffer, ""},
	})
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]byte, 256)
	v := LaunchValues{Dims: 1, Grid: [3]uint32{1000}, Group: [3]uint16{64}}
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Fill(dst, &v); err != nil {
			b.Fatal(err)
		}
	}
}
