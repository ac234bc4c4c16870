// Package kernarg knows the layout of kernel argument segments: which
// arguments are the caller's, which hidden ones a runtime fills in, and what
// it writes there. A Layout is made once per kernel; Fill then does the work
// of a launch without allocating.
package kernarg

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// ErrLayout is wrapped by every error about a kernel's declared arguments.
var ErrLayout = errors.New("invalid kernel arguments")

// ErrLaunch is wrapped by errors of Fill.
var ErrLaunch = errors.New("invalid launch")

// Arg is one declared argument.
type Arg struct {
	Offset, Size uint32 // bytes in the kernarg segment
	Kind         Kind
	Name         string // as in the source; often "" for hidden arguments
}

type patch struct {
	offset uint32
	size   uint32
	source source
}

// Layout is the validated argument layout of one kernel. It is immutable.
type Layout struct {
	kernel   string
	size     uint32
	explicit []Arg
	patches  []patch
	slots    [NumSlots]bool
}

// NewLayout checks the arguments of a kernel of code object version version
// (3 to 6), whose kernarg segment has segmentSize bytes. Arguments may come in
// any order. Errors name the kernel and the argument.
func NewLayout(kernel string, version int, segmentSize uint32, args []Arg) (*Layout, error) {
	l := &Layout{kernel: kernel, size: segmentSize}
	sorted := slices.Clone(args)
	slices.SortStableFunc(sorted, func(a, b Arg) int { return cmp.Compare(a.Offset, b.Offset) })
	base := int64(-1) // start of the implicit block, from the first hidden argument
	var end, explicitEnd uint32
	for i := range sorted {
		a := &sorted[i]
		if err := l.checkPlace(a, end); err != nil {
			return nil, err
		}
		end = max(end, a.Offset+a.Size)
		switch a.Kind.Class() {
		case Unknown:
			return nil, l.bad(a, "unknown value_kind %q", a.Kind)
		case Unused:
		case Explicit:
			l.explicit = append(l.explicit, *a)
			explicitEnd = end
		default:
			if err := l.addHidden(a, version, &base); err != nil {
				return nil, err
			}
		}
	}
	if base >= 0 && base < int64(explicitEnd) {
		return nil, fmt.Errorf("kernel %s: implicit arguments start at offset %d, before the end of the explicit ones at %d: %w",
			kernel, base, explicitEnd, ErrLayout)
	}
	return l, nil
}

func (l *Layout) checkPlace(a *Arg, end uint32) error {
	if uint64(a.Offset)+uint64(a.Size) > uint64(l.size) {
		return l.bad(a, "offset %d + size %d exceeds the kernarg segment of %d bytes", a.Offset, a.Size, l.size)
	}
	if a.Size != 0 && a.Offset < end {
		return l.bad(a, "offset %d overlaps the argument before it, which ends at %d", a.Offset, end)
	}
	return nil
}

// addHidden checks a hidden argument against the ABI's fixed place: device
// code reads it relative to the implicit block, whatever the metadata says.
func (l *Layout) addHidden(a *Arg, version int, base *int64) error {
	offset, size, ok := a.Kind.Implicit(version)
	switch {
	case !ok:
		return l.bad(a, "code object V%d has no such argument", version)
	case a.Size != size:
		return l.bad(a, "size %d, want %d", a.Size, size)
	case a.Offset < offset:
		return l.bad(a, "offset %d, but it lies %d bytes into the implicit arguments", a.Offset, offset)
	}
	b := int64(a.Offset - offset)
	if *base < 0 {
		*base = b
	}
	if b != *base || b%8 != 0 {
		return l.bad(a, "offset %d puts the implicit arguments at %d; others put them at %d", a.Offset, b, *base)
	}
	r := rules[a.Kind]
	l.patches = append(l.patches, patch{a.Offset, a.Size, r.source})
	if r.class == Service {
		l.slots[r.source] = true
	}
	return nil
}

func (l *Layout) bad(a *Arg, format string, args ...any) error {
	return fmt.Errorf("kernel %s, argument %q (%s): %s: %w", l.kernel, a.Name, a.Kind, fmt.Sprintf(format, args...), ErrLayout)
}

// Kernel returns the kernel's name.
func (l *Layout) Kernel() string { return l.kernel }

// Size returns the size of the kernarg segment in bytes.
func (l *Layout) Size() uint32 { return l.size }

// Explicit returns the caller's arguments in offset order. Do not modify it.
func (l *Layout) Explicit() []Arg { return l.explicit }

// Needs reports whether the kernel asks for a service's memory. A kernel that
// asks for it may follow the pointer without testing it.
func (l *Layout) Needs(s Slot) bool { return s < NumSlots && l.slots[s] }

// LaunchValues is what a launch knows.
type LaunchValues struct {
	Dims         int       // 1 to 3; further dimensions count as 1
	Grid         [3]uint32 // work-items
	Group        [3]uint16 // work-items
	GlobalOffset [3]uint64 // OpenCL's global work offset; 0 for HIP
	DynamicLDS   uint32    // bytes
	QueuePtr     uint64    // GPU address of the amd_queue_t
	PrivateBase  uint32    // aperture, high dword
	SharedBase   uint32
	Slots        [NumSlots]uint64 // GPU addresses; 0 for none
}

// Fill writes the declared hidden arguments into dst, the kernarg segment, and
// leaves all other bytes alone: callers zero the segment first and write the
// explicit arguments themselves. The error wraps ErrLaunch; nothing is then
// written.
func (l *Layout) Fill(dst []byte, v *LaunchValues) error {
	if uint64(len(dst)) < uint64(l.size) {
		return fmt.Errorf("kernel %s: %d bytes for a kernarg segment of %d: %w", l.kernel, len(dst), l.size, ErrLaunch)
	}
	if v.Dims < 1 || v.Dims > 3 {
		return fmt.Errorf("kernel %s: %d grid dimensions: %w", l.kernel, v.Dims, ErrLaunch)
	}
	var values [numSources]uint64
	copy(values[:], v.Slots[:])
	for i := range 3 {
		grid, group := uint32(1), uint32(1)
		if i < v.Dims {
			grid, group = v.Grid[i], uint32(v.Group[i])
		}
		if group == 0 {
			return fmt.Errorf("kernel %s: work-group size %d in dimension %d: %w", l.kernel, group, i, ErrLaunch)
		}
		d := source(i)
		// Only full work-groups count; the partial one is the remainder.
		values[srcBlockCount+d] = uint64(grid / group)
		values[srcGroupSize+d] = uint64(group)
		values[srcRemainder+d] = uint64(grid % group)
		values[srcGlobalOffset+d] = v.GlobalOffset[i]
	}
	values[srcGridDims] = uint64(v.Dims)
	values[srcDynamicLDS] = uint64(v.DynamicLDS)
	values[srcPrivateBase] = uint64(v.PrivateBase)
	values[srcSharedBase] = uint64(v.SharedBase)
	values[srcQueuePtr] = v.QueuePtr
	for _, p := range l.patches {
		switch x := values[p.source]; p.size {
		case 2:
			binary.LittleEndian.PutUint16(dst[p.offset:], uint16(x))
		case 4:
			binary.LittleEndian.PutUint32(dst[p.offset:], uint32(x))
		case 8:
			binary.LittleEndian.PutUint64(dst[p.offset:], x)
		}
	}
	return nil
}

// GridSync is the structure that hidden_multigrid_sync_arg points to (device
// library cg.cl). For a cooperative launch on one device only NumWorkgroups
// and NumGrids are set.
type GridSync struct {
	MultigridState uint64 // GPU address of the multi-grid barrier; 0 for one device
	GridID         uint32
	NumGrids       uint32
	PrevSum        uint64 // work-items of earlier grids
	AllSum         uint64 // work-items of all grids
	NumWorkgroups  uint32
}

// GridSyncSize is the size of a GridSync in memory, in bytes.
const GridSyncSize = 48

// Encode writes g with the single-grid barrier in its initial state. dst has
// GridSyncSize bytes.
func (g *GridSync) Encode(dst []byte) {
	_ = dst[GridSyncSize-1]
	clear(dst[:GridSyncSize])
	binary.LittleEndian.PutUint64(dst[0:], g.MultigridState)
	binary.LittleEndian.PutUint32(dst[8:], g.GridID)
	binary.LittleEndian.PutUint32(dst[12:], g.NumGrids)
	binary.LittleEndian.PutUint64(dst[16:], g.PrevSum)
	binary.LittleEndian.PutUint64(dst[24:], g.AllSum)
	binary.LittleEndian.PutUint32(dst[40:], g.NumWorkgroups)
}
