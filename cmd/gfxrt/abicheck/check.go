// Package abicheck holds this runtime's device heap to a device library: the
// header that the library's own initialisation leaves must equal ours byte for
// byte, and its malloc and free must run from the slabs we give.
package abicheck

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"gfxrt/runtime"
	"gfxrt/services/heap"
)

// ErrDrift is wrapped when the library's heap is not ours.
var ErrDrift = errors.New("the device library's heap differs from this runtime's")

// ErrKernel is wrapped when an object has no kernel to check with.
var ErrKernel = errors.New("no kernel for the check")

// initKernels are the names of kernels that pass their four arguments to
// __ockl_dm_init_v1: this package's and that of AMD's runtime (CLR).
var initKernels = []string{"gfxrt_dm_init", "__amd_rocclr_initHeap"}

// Options say what to check.
type Options struct {
	Object []byte // a code object for the runtime's device
	Kernel string // the initialisation kernel; "" looks for a known name
	Slabs  int    // initial slabs
}

// Result is what a check found. Everything in it agreed.
type Result struct {
	Kernel string // that initialised
	Bytes  int    // that were compared
	// Unordered: the kernel stores its fields before all its waves have cleared
	// the header, so that they may be lost: a library of 2024 (clang 19) lacks
	// the barrier that ROCm 7.1 has. It agreed when it was given a clear header
	// and told not to clear.
	Unordered bool
	// Blocks of BlockSize bytes were allocated and freed by one wave; 0 when
	// the object has no kernels for it (gfxrt_dm_alloc, gfxrt_dm_free).
	Blocks, BlockSize int
	Layout            *heap.Layout // in which the library left the heap; nil without Blocks
}

// RuntimeOptions are those that the runtime for Check must be opened with.
func RuntimeOptions(slabs int) []runtime.Option {
	return []runtime.Option{runtime.WithHeap(uint64(slabs)*heap.SlabSize, 1<<32)}
}

// checker is the state of one check.
type checker struct {
	rt *runtime.Runtime
	m  *runtime.Module
	s  *runtime.Stream
	o  Options
}

// Check runs a check on a runtime that nothing else uses. A difference wraps
// ErrDrift and lists the fields.
func Check(ctx context.Context, rt *runtime.Runtime, o Options) (r *Result, err error) {
	m, err := rt.LoadModule(ctx, o.Object)
	if err != nil {
		return nil, err
	}
	s, err := rt.NewStream()
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	defer func() { err = errors.Join(err, s.Close()) }() // the runtime unloads the module
	c := &checker{rt, m, s, o}
	k, err := c.initKernel()
	if err != nil {
		return nil, err
	}
	r = &Result{Kernel: k.Name(), Bytes: heap.HeaderSize}
	err = c.compare(ctx, k, heap.HeaderSize)
	if errors.Is(err, ErrDrift) && c.compare(ctx, k, 0) == nil {
		r.Unordered, err = true, nil
	}
	if err != nil {
		return nil, err
	}
	return r, c.blocks(ctx, k, r)
}

func (c *checker) initKernel() (*runtime.Kernel, error) {
	names := initKernels
	if c.o.Kernel != "" {
		names = []string{c.o.Kernel}
	}
	for _, name := range names {
		k, err := c.m.Kernel(name)
		if err != nil {
			continue
		}
		var sizes []uint32
		for _, a := range k.Metadata().Args {
			if !strings.HasPrefix(a.ValueKind, "hidden_") {
				sizes = append(sizes, a.Size)
			}
		}
		if fmt.Sprint(sizes) != "[8 8 4 4]" {
			return nil, fmt.Errorf("%w: arguments of %s have %v bytes, want those of __ockl_dm_init_v1: [8 8 4 4]", ErrKernel, name, sizes)
		}
		return k, nil
	}
	return nil, fmt.Errorf("%w: want one of %s, which passes its arguments to __ockl_dm_init_v1", ErrKernel, strings.Join(names, ", "))
}

func (c *checker) launch(ctx context.Context, k *runtime.Kernel, groups, block uint32, args ...runtime.Arg) error {
	l, err := c.s.Launch(ctx, k, runtime.LaunchConfig{Grid: runtime.Dim3{X: groups}, Block: runtime.Dim3{X: block}}, args...)
	if err != nil {
		return err
	}
	return l.Wait(ctx)
}

// initialise has the library initialise a header as AMD's runtime does. It
// clears the header when clear is not 0.
func (c *checker) initialise(ctx context.Context, k *runtime.Kernel, header, slabs uint64, clear uint32) error {
	return c.launch(ctx, k, 1, 256, runtime.U64(header), runtime.U64(slabs), runtime.U32(clear), runtime.U32(uint32(c.o.Slabs)))
}

// compare has the library initialise memory: full of noise if it is to clear
// it, else of zeros.
func (c *checker) compare(ctx context.Context, k *runtime.Kernel, clear uint32) error {
	header, err := c.rt.Alloc(heap.HeaderSize, runtime.DeviceLocal)
	if err != nil {
		return err
	}
	slabs, err := c.rt.Alloc(uint64(c.o.Slabs+1)*heap.SlabSize, runtime.DeviceLocal)
	if err != nil {
		return err
	}
	first := (slabs.Addr() + heap.SlabSize - 1) &^ (heap.SlabSize - 1)
	got, want := make([]byte, heap.HeaderSize), make([]byte, heap.HeaderSize)
	for i := range got {
		if clear != 0 {
			got[i] = byte(i*7) | 1
		}
	}
	if err := header.Write(0, got); err != nil {
		return err
	}
	if err := c.initialise(ctx, k, header.Addr(), first, clear); err != nil {
		return err
	}
	if err := header.Read(0, got); err != nil {
		return err
	}
	if err := heap.Init(want, first, c.o.Slabs); err != nil {
		return err
	}
	if err := differences(got, want); err != nil {
		return err
	}
	return errors.Join(header.Free(), slabs.Free())
}

// maxDifferences bounds the words that an error lists.
const maxDifferences = 8

func differences(got, want []byte) error {
	var lines []string
	count := 0
	for off := 0; off < len(want); off += 8 {
		g, w := binary.LittleEndian.Uint64(got[off:]), binary.LittleEndian.Uint64(want[off:])
		if g == w {
			continue
		}
		if count++; count <= maxDifferences {
			lines = append(lines, fmt.Sprintf("offset %#x: library %#x, ours %#x", off, g, w))
		}
	}
	if count == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d words of the header:\n  %s", ErrDrift, count, strings.Join(lines, "\n  "))
}

// blocks has the library initialise the runtime's own heap, and its malloc and
// free run from it.
func (c *checker) blocks(ctx context.Context, init *runtime.Kernel, r *Result) error {
	alloc, err1 := c.m.Kernel("gfxrt_dm_alloc")
	free, err2 := c.m.Kernel("gfxrt_dm_free")
	if err1 != nil || err2 != nil {
		return nil
	}
	const n, size = 1000, 64
	wave := uint32(alloc.Metadata().WavefrontSize)
	addr, header, err := c.rt.HeapHeader()
	if err != nil {
		return err
	}
	newest := heap.Layouts[len(heap.Layouts)-1]
	first := binary.LittleEndian.Uint64(header[newest.First:])
	before, err := c.rt.HeapStats()
	if err != nil {
		return err
	}
	clear := uint32(heap.HeaderSize)
	if r.Unordered {
		clear = 0 // as it is already
	}
	if err := c.initialise(ctx, init, addr, first, clear); err != nil {
		return err
	}
	table, err := c.rt.Alloc(8*n, runtime.DeviceLocal)
	if err != nil {
		return err
	}
	words := make([]byte, 8*n)
	if err := c.launch(ctx, alloc, 1, wave, runtime.Ptr(table), runtime.U32(n), runtime.U32(size)); err != nil {
		return err
	}
	if err := table.Read(0, words); err != nil {
		return err
	}
	during, err := c.rt.HeapStats()
	if err != nil {
		return err
	}
	if err := placed(words, first, uint64(c.o.Slabs)*heap.SlabSize); err != nil {
		return err
	}
	if err := c.launch(ctx, free, 1, wave, runtime.Ptr(table), runtime.U32(n), runtime.U32(size)); err != nil {
		return err
	}
	if err := table.Read(0, words); err != nil {
		return err
	}
	after, err := c.rt.HeapStats()
	if err != nil {
		return err
	}
	for i := range n {
		if binary.LittleEndian.Uint64(words[8*i:]) != 1 {
			return fmt.Errorf("%w: block %d was overwritten", ErrDrift, i)
		}
	}
	switch {
	case during.Live != n*size || after.Live != 0:
		return fmt.Errorf("%w: %d bytes live after %d blocks of %d bytes, %d after their free", ErrDrift, during.Live, n, size, after.Live)
	case after.Peak != before.Reserved:
		return fmt.Errorf("%w: %d bytes reserved, then %d: not from the initial slabs", ErrDrift, before.Reserved, after.Peak)
	case len(during.Problems)+len(after.Problems) > 0:
		return fmt.Errorf("%w: %w", ErrDrift, errors.Join(append(during.Problems, after.Problems...)...))
	}
	r.Blocks, r.BlockSize, r.Layout = n, size, during.Layout
	return table.Free()
}

// placed checks that all blocks lie in the initial slabs, each at its own place.
func placed(words []byte, first, size uint64) error {
	seen := map[uint64]bool{}
	for i := 0; i < len(words); i += 8 {
		p := binary.LittleEndian.Uint64(words[i:])
		if p < first || p-first >= size || seen[p] {
			return fmt.Errorf("%w: block %d at %#x, the slabs are %d bytes at %#x", ErrDrift, i/8, p, size, first)
		}
		seen[p] = true
	}
	return nil
}
