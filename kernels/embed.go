// Package kernels holds code objects of kernels/ for programs that must run
// them from anywhere. It is data only; README.md says how they were built.
package kernels

import (
	"embed"
	"io/fs"
)

//go:embed gfx90a/gemm_f16.hsaco gfx90a/mandelbrot.hsaco gfx90a/matmul_tiled.hsaco gfx90a/nbody.hsaco gfx90a/reduce_lds.hsaco
//go:embed gfx90a/sha256.hsaco gfx90a/softmax.hsaco gfx90a/transpose.hsaco gfx90a/vecadd.hsaco
//go:embed gfx942/gemm_f16.hsaco gfx942/mandelbrot.hsaco gfx942/matmul_tiled.hsaco gfx942/nbody.hsaco gfx942/reduce_lds.hsaco
//go:embed gfx942/sha256.hsaco gfx942/softmax.hsaco gfx942/transpose.hsaco gfx942/vecadd.hsaco
var objects embed.FS

// Object is the code object PROCESSOR/NAME.hsaco, such as "gfx90a" and
// "vecadd", byte for byte as committed. Errors wrap fs.ErrNotExist.
func Object(processor, name string) ([]byte, error) {
	return fs.ReadFile(objects, processor+"/"+name+".hsaco")
}
