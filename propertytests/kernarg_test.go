package propertytests

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"gfxrt/services/kernarg"

	"pgregory.net/rapid"
)

var hiddenV5 = []kernarg.Kind{
	kernarg.HiddenBlockCountX, kernarg.HiddenBlockCountY, kernarg.HiddenBlockCountZ,
	kernarg.HiddenGroupSizeX, kernarg.HiddenGroupSizeY, kernarg.HiddenGroupSizeZ,
	kernarg.HiddenRemainderX, kernarg.HiddenRemainderY, kernarg.HiddenRemainderZ,
	kernarg.HiddenGlobalOffsetX, kernarg.HiddenGridDims, kernarg.HiddenPrintfBuffer, kernarg.HiddenHostcallBuffer,
	kernarg.HiddenMultigridSyncArg, kernarg.HiddenHeapV1, kernarg.HiddenDynamicLDSSize, kernarg.HiddenQueuePtr,
}

type kernargCase struct {
	args    []kernarg.Arg
	segment uint32
	values  kernarg.LaunchValues
}

func drawKernarg(t *rapid.T) kernargCase {
	var c kernargCase
	var end uint32
	for range rapid.IntRange(0, 6).Draw(t, "explicit") {
		align := uint32(1) << rapid.IntRange(0, 4).Draw(t, "align")
		size := align * uint32(rapid.IntRange(1, 5).Draw(t, "elements"))
		off := (end + align - 1) &^ (align - 1)
		c.args = append(c.args, kernarg.Arg{Offset: off, Size: size, Kind: kernarg.ByValue, Name: "e"})
		end = off + size
	}
	base := (end + 7) &^ 7
	c.segment = base + 256
	for _, k := range hiddenV5 {
		if rapid.Bool().Draw(t, string(k)) {
			off, size, _ := k.Implicit(6)
			c.args = append(c.args, kernarg.Arg{Offset: base + off, Size: size, Kind: k})
		}
	}
	v := &c.values
	v.Dims = rapid.IntRange(1, 3).Draw(t, "dims")
	for i := range v.Dims {
		v.Grid[i] = rapid.Uint32Min(1).Draw(t, "grid")
		v.Group[i] = rapid.Uint16Range(1, 1024).Draw(t, "group")
	}
	v.DynamicLDS = rapid.Uint32().Draw(t, "lds")
	v.QueuePtr = rapid.Uint64().Draw(t, "queue")
	for i := range v.Slots {
		v.Slots[i] = rapid.Uint64().Draw(t, "slot")
	}
	return c
}

// TestKernargLaws: Fill writes declared hidden arguments and nothing else, it
// does not depend on argument order, and block counts, group sizes and
// remainders rebuild the grid.
func TestKernargLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawKernarg(t)
		l, err := kernarg.NewLayout("k", 6, c.segment, c.args)
		if err != nil {
			t.Fatal(err)
		}
		zeros, ones := make([]byte, c.segment), bytes.Repeat([]byte{0xff}, int(c.segment))
		if err := errors.Join(l.Fill(zeros, &c.values), l.Fill(ones, &c.values)); err != nil {
			t.Fatal(err)
		}
		declared := make([]bool, c.segment)
		field := map[kernarg.Kind]uint64{}
		for _, a := range c.args {
			if a.Kind.Class() == kernarg.Explicit {
				continue
			}
			var b [8]byte
			copy(b[:], zeros[a.Offset:a.Offset+a.Size])
			field[a.Kind] = binary.LittleEndian.Uint64(b[:])
			for i := range a.Size {
				declared[a.Offset+i] = true
			}
		}
		for i, d := range declared {
			if d != (zeros[i] == ones[i]) {
				t.Fatalf("byte %d: declared %v, but it is %#x over 0x00 and %#x over 0xff", i, d, zeros[i], ones[i])
			}
		}
		checkGrid(t, field, &c.values)

		shuffled := slices.Clone(c.args)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "shuffle"), 0)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		l2, err := kernarg.NewLayout("k", 6, c.segment, shuffled)
		if err != nil {
			t.Fatal(err)
		}
		again := make([]byte, c.segment)
		if err := l2.Fill(again, &c.values); err != nil || !bytes.Equal(again, zeros) {
			t.Fatalf("argument order matters (%v)", err)
		}
	})
}

func checkGrid(t *rapid.T, field map[kernarg.Kind]uint64, v *kernarg.LaunchValues) {
	for i, k := range [3][3]kernarg.Kind{
		{kernarg.HiddenBlockCountX, kernarg.HiddenGroupSizeX, kernarg.HiddenRemainderX},
		{kernarg.HiddenBlockCountY, kernarg.HiddenGroupSizeY, kernarg.HiddenRemainderY},
		{kernarg.HiddenBlockCountZ, kernarg.HiddenGroupSizeZ, kernarg.HiddenRemainderZ},
	} {
		count, ok1 := field[k[0]]
		size, ok2 := field[k[1]]
		rest, ok3 := field[k[2]]
		if !ok1 || !ok2 || !ok3 {
			continue
		}
		grid := uint64(1)
		if i < v.Dims {
			grid = uint64(v.Grid[i])
		}
		if count*size+rest != grid || rest >= size {
			t.Fatalf("dimension %d: %d groups of %d and %d do not make %d", i, count, size, rest, grid)
		}
	}
}

// TestKernargDisplaced: moving one hidden argument away from its place in the
// implicit block, or onto another argument, is an error.
func TestKernargDisplaced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawKernarg(t)
		var hidden []int
		for i, a := range c.args {
			if a.Kind.Class() != kernarg.Explicit {
				hidden = append(hidden, i)
			}
		}
		if len(hidden) < 2 {
			t.Skip("needs two hidden arguments")
		}
		a := &c.args[rapid.SampledFrom(hidden).Draw(t, "which")]
		old := a.Offset
		a.Offset = rapid.Uint32().Draw(t, "offset")
		if a.Offset == old {
			t.Skip("not moved")
		}
		if _, err := kernarg.NewLayout("k", 6, c.segment, c.args); !errors.Is(err, kernarg.ErrLayout) {
			t.Fatalf("argument %s moved from %d to %d: %v", a.Kind, old, a.Offset, err)
		}
	})
}
