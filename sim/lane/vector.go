package lane

import (
	"slices"
	"sync"
)

//go:generate go run ./gen

// vectorEntry is one line of the generated vectorTable.
type vectorEntry struct {
	op  string
	fn  Fn
	cmp CmpFn
	cpu cpuFeature // beyond AVX-512 F, BW, DQ and VL
}

// cpuFeature is a set of processor features that some kernels need.
type cpuFeature uint8

const (
	cpuCD cpuFeature = 1 << iota
	cpuPopcnt
)

// VectorKernels returns, by mnemonic, the kernels that have a version for the
// vector unit of the host: copies of their Kernels entries with Fn or Cmp
// replaced. It is empty when the host has no such unit (AVX-512 F, BW, DQ and
// VL, with BMI2) and when the environment variable GFXRT_VECTOR is "off" when the
// program starts.
//
// A vector kernel gives the same bits as the portable one, provided that
// Env.Mode rounds to nearest even and keeps denormals of all formats, that is
// Mode&0xFF == 0xF0; otherwise the caller must use the portable kernel. Every
// other part of Env is free. The map is not to be changed.
func VectorKernels() map[string]Kernel { return vectorKernels() }

var vectorKernels = sync.OnceValue(func() map[string]Kernel {
	m := map[string]Kernel{}
	if !useVector {
		return m
	}
	have, _ := hostVector()
	for _, v := range slices.Concat(vectorTable, vmathTable) {
		k, ok := Kernels[v.op]
		if !ok {
			panic("lane: vector kernel for unknown " + v.op)
		}
		if v.cpu&^have == 0 {
			k.Fn, k.Cmp = v.fn, v.cmp
			m[v.op] = k
		}
	}
	if have&cpuCD == 0 {
		return m
	}
	for _, s := range matrixShapes {
		for _, name := range []string{s.old, s.new} {
			if k, ok := Kernels[name]; ok {
				if k.Fn = vectorMatrix(s.shape, k.Fn); k.Fn != nil {
					m[name] = k
				}
			}
		}
	}
	return m
})
