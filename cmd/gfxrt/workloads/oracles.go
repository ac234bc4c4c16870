package workloads

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"gfxrt/runtime"
)

// The oracles write every float32 product that is added to something as
// float32(x*y): the Go compiler may fuse the two otherwise.

var all = []*Workload{
	{Name: "vecadd", Kernel: "vecadd", Size: "2^24 f32", Processor: "gfx90a", Grid: dim(1<<24/256, 1), Block: dim(256, 1), Prepare: vecadd},
	{Name: "transpose", Kernel: "transpose", Size: "4096x4096 f32", Processor: "gfx90a", Grid: dim(128, 128), Block: dim(32, 8), Prepare: transpose},
	{Name: "nbody", Kernel: "nbody", Size: "4096 bodies", Processor: "gfx90a", Grid: dim(4096/128, 1), Block: dim(128, 1), Prepare: nbody},
	{Name: "sha256", Kernel: "sha256", Size: "2^16 messages of 100 bytes", Processor: "gfx90a", Grid: dim(1<<16/64, 1), Block: dim(64, 1), Prepare: sha},
	{Name: "mandelbrot", Kernel: "mandelbrot_f", Size: "1024x1024, 256 iterations", Processor: "gfx90a", Grid: dim(128, 128), Block: dim(8, 8), Prepare: mandelbrot},
	{Name: "matmul_tiled", Kernel: "matmul_tiled", Size: "512x512x512 f32", Processor: "gfx90a", Grid: dim(32, 32), Block: dim(16, 16), Prepare: matmul},
	{Name: "softmax", Kernel: "softmax", Size: "4096 rows of 1024 f32", Processor: "gfx90a", Grid: dim(4096, 1), Block: dim(256, 1), Prepare: softmax},
	{Name: "reduce_lds", Kernel: "reduce_lds", Size: "2^24 i32", Processor: "gfx90a", Grid: dim(1024, 1), Block: dim(256, 1), Prepare: reduce},
	{Name: "gemm_f16", Kernel: "gemm_f16", Size: "1024x1024x1024 f16", Processor: "gfx942", Grid: dim(8, 8), Block: dim(256, 1), Prepare: gemm},
}

func dim(x, y uint32) runtime.Dim3 { return runtime.Dim3{X: x, Y: y, Z: 1} }

// input is a buffer with that content, output one of zeros.
func input(b []byte) Buffer   { return Buffer{Size: len(b), Data: b} }
func output(bytes int) Buffer { return Buffer{Size: bytes} }

// vecadd is exact: one rounding.
func vecadd() *Problem {
	const n = 1 << 24
	r := newRandom()
	a, b := r.floats(n, -1, 1), r.floats(n, -1, 1)
	return &Problem{Buffers: []Buffer{input(a), input(b), output(4 * n)}, Scalars: []uint32{n}, Output: 2,
		Check: func(out []byte) error {
			return parallel(n, func(lo, hi int) error {
				for i := lo; i < hi; i++ {
					if x, y := f32(out, i), f32(a, i)+f32(b, i); x != y {
						return fmt.Errorf("element %d is %v, want %v", i, x, y)
					}
				}
				return nil
			})
		}}
}

// transpose moves bits.
func transpose() *Problem {
	const n = 4096
	in := newRandom().floats(n*n, -9, 9)
	return &Problem{Buffers: []Buffer{input(in), output(4 * n * n)}, Scalars: []uint32{n, n}, Output: 1,
		Check: func(out []byte) error {
			return parallel(n, func(lo, hi int) error {
				for y := lo; y < hi; y++ {
					for x := range n {
						got, want := binary.LittleEndian.Uint32(out[4*(y*n+x):]), binary.LittleEndian.Uint32(in[4*(x*n+y):])
						if got != want {
							return fmt.Errorf("row %d, column %d has bits %#x, want %#x", y, x, got, want)
						}
					}
				}
				return nil
			})
		}}
}

// nbody sums 4096 terms in float32; the oracle in float64. The tolerance is
// relative to the sum of the terms' magnitudes, as the forces of bodies on
// opposite sides cancel: a term has an error of about ten roundings, and a
// rounding of the sum follows each.
func nbody() *Problem {
	const n, tolerance = 4096, 4e-6
	r := newRandom()
	pos := make([]byte, 16*n)
	for i := range n {
		copy(pos[16*i:], r.floats(3, -1, 1))
		copy(pos[16*i+12:], r.floats(1, 0.1, 1))
	}
	return &Problem{Buffers: []Buffer{input(pos), output(16 * n)}, Scalars: []uint32{n}, Output: 1,
		Check: func(out []byte) error {
			p := decode(pos)
			return parallel(n, func(lo, hi int) error {
				for i := lo; i < hi; i++ {
					want, size := acceleration(p, i)
					for k := range 4 {
						if err := near(4*i+k, f32(out, 4*i+k), want[k], tolerance*size[k]); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}}
}

// acceleration of body i by all bodies x, y, z, mass, with a softening of 0.01;
// and the sum of the absolute values of its terms.
func acceleration(p []float32, i int) (sum, size [4]float64) {
	px, py, pz := float64(p[4*i]), float64(p[4*i+1]), float64(p[4*i+2])
	for j := 0; j < len(p); j += 4 {
		dx, dy, dz := float64(p[j])-px, float64(p[j+1])-py, float64(p[j+2])-pz
		d2 := dx*dx + dy*dy + dz*dz + float64(float32(0.01))
		f := float64(p[j+3]) / (d2 * math.Sqrt(d2))
		sum[0] += f * dx
		sum[1] += f * dy
		sum[2] += f * dz
		size[0] += math.Abs(f * dx)
		size[1] += math.Abs(f * dy)
		size[2] += math.Abs(f * dz)
	}
	return sum, size
}

// sha hashes messages of two padded blocks; the oracle is crypto/sha256.
func sha() *Problem {
	const n, length, blocks = 1 << 16, 100, 2
	r := newRandom()
	msg := make([]byte, n*blocks*64)
	for i := range n {
		m := msg[i*blocks*64:][:blocks*64]
		for k := range length {
			m[k] = byte(r.u32())
		}
		m[length] = 0x80
		binary.BigEndian.PutUint64(m[blocks*64-8:], length*8)
	}
	return &Problem{Buffers: []Buffer{input(msg), output(32 * n)}, Scalars: []uint32{n, blocks}, Output: 1,
		Globals: []Global{{"sha_k", roundConstants()}},
		Check: func(out []byte) error {
			return parallel(n, func(lo, hi int) error {
				for i := lo; i < hi; i++ {
					want := sha256.Sum256(msg[i*blocks*64:][:length])
					if got := out[32*i : 32*i+32]; !bytes.Equal(got, want[:]) {
						return fmt.Errorf("hash %d is %x, want %x", i, got, want)
					}
				}
				return nil
			})
		}}
}

// roundConstants are the first 32 fraction bits of the cube roots of the first
// 64 primes (FIPS 180-4, 4.2.2).
func roundConstants() []byte {
	var b []byte
	for p := uint64(2); len(b) < 256; p++ {
		prime := true
		for q := uint64(2); q*q <= p; q++ {
			prime = prime && p%q != 0
		}
		if prime {
			_, fraction := math.Modf(math.Cbrt(float64(p)))
			b = binary.LittleEndian.AppendUint32(b, uint32(fraction*(1<<32)))
		}
	}
	return b
}

// mandelbrot is exact although iteration counts near the set depend on every
// rounding: the objects add and multiply one by one in the loop, and what they
// fuse before it (x/w*3-2) is exact for a width of a power of two.
func mandelbrot() *Problem {
	const n, limit = 1024, 256
	return &Problem{Buffers: []Buffer{output(4 * n * n)}, Scalars: []uint32{n, n, limit},
		Check: func(out []byte) error {
			return parallel(n, func(lo, hi int) error {
				for y := lo; y < hi; y++ {
					for x := range n {
						cx, cy := float32(float32(x)/n*3)-2, float32(float32(y)/n*2)-1
						if got, want := binary.LittleEndian.Uint32(out[4*(y*n+x):]), escape(cx, cy, limit); got != want {
							return fmt.Errorf("row %d, column %d has %d iterations, want %d", y, x, got, want)
						}
					}
				}
				return nil
			})
		}}
}

func escape(cx, cy float32, limit uint32) (n uint32) {
	var zx, zy float32
	for ; n < limit; n++ {
		xx, yy := float32(zx*zx), float32(zy*zy)
		if !(xx+yy < 4) {
			break
		}
		zx, zy = xx-yy+cx, float32(2*zx*zy)+cy
	}
	return n
}

// matmul sums 512 products in float32; the oracle in float64. The kernel's case
// allows 1e-5 for 52 products; errors grow with their number.
func matmul() *Problem {
	const n, tolerance = 512, 1e-4
	r := newRandom()
	a, b := r.floats(n*n, -1, 1), r.floats(n*n, -1, 1)
	return &Problem{Buffers: []Buffer{input(a), input(b), output(4 * n * n)}, Scalars: []uint32{n}, Output: 2,
		Check: func(out []byte) error {
			av, bv := decode(a), decode(b)
			return parallel(n, func(lo, hi int) error {
				row := make([]float64, n)
				for i := lo; i < hi; i++ {
					clear(row)
					for k := range n {
						x := float64(av[i*n+k])
						for j, y := range bv[k*n : k*n+n] {
							row[j] += x * float64(y)
						}
					}
					for j, want := range row {
						if err := near(i*n+j, f32(out, i*n+j), want, tolerance*max(1, math.Abs(want))); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}}
}

// softmax: the tolerance is relative, for p[i]-max is rounded to 24 bits before
// expf makes an absolute error of it a relative one, and for the sum.
func softmax() *Problem {
	const rows, cols, tolerance = 4096, 1024, 4e-6
	in := newRandom().floats(rows*cols, -8, 8)
	return &Problem{Buffers: []Buffer{input(in), output(4 * rows * cols)}, Scalars: []uint32{cols}, Output: 1,
		Check: func(out []byte) error {
			v := decode(in)
			return parallel(rows, func(lo, hi int) error {
				e := make([]float64, cols)
				for r := lo; r < hi; r++ {
					m, sum := math.Inf(-1), 0.0
					for _, x := range v[r*cols : (r+1)*cols] {
						m = max(m, float64(x))
					}
					for i, x := range v[r*cols : (r+1)*cols] {
						e[i] = math.Exp(float64(x) - m)
						sum += e[i]
					}
					for i := range e {
						want := e[i] / sum
						if err := near(r*cols+i, f32(out, r*cols+i), want, tolerance*want); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}}
}

// reduce is exact: the sum wraps.
func reduce() *Problem {
	const n = 1 << 24
	r := newRandom()
	in := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(in[4*i:], r.u32())
	}
	return &Problem{Buffers: []Buffer{input(in), output(4)}, Scalars: []uint32{n}, Output: 1,
		Check: func(out []byte) error {
			var want uint32
			for i := range n {
				want += binary.LittleEndian.Uint32(in[4*i:])
			}
			if got := binary.LittleEndian.Uint32(out); got != want {
				return fmt.Errorf("the sum is %d, want %d", int32(got), int32(want))
			}
			return nil
		}}
}

// gemm multiplies halves that are multiples of 1/1024, so that the oracle's
// integers are exact. The tolerance is 128 times 2^-19: the matrix unit adds 8
// of the 1024 products at a time, to sums below 64 that are rounded to 24 bits.
func gemm() *Problem {
	const n, tolerance = 1024, 128.0 / (1 << 19)
	r := newRandom()
	operand := func() ([]byte, []int32) {
		b, v := make([]byte, 2*n*n), make([]int32, n*n)
		for i := range v {
			v[i] = int32(r.u32()%2047) - 1023
			binary.LittleEndian.PutUint16(b[2*i:], half(v[i]))
		}
		return b, v
	}
	a, av := operand()
	bt, bv := operand() // transposed
	return &Problem{Buffers: []Buffer{input(a), input(bt), output(4 * n * n)}, Scalars: []uint32{n, n, n}, Output: 2,
		Check: func(out []byte) error {
			return parallel(n/2, func(lo, hi int) error {
				for i := 2 * lo; i < 2*hi; i += 2 {
					for j := 0; j < n; j += 2 {
						want := product(av[i*n:(i+2)*n], bv[j*n:(j+2)*n])
						for e, s := range want {
							at := (i+e/2)*n + j + e%2
							if err := near(at, f32(out, at), float64(s)/(1<<20), tolerance); err != nil {
								return err
							}
						}
					}
				}
				return nil
			})
		}}
}

// product multiplies two rows of a with two of b.
func product(a, b []int32) (sum [4]int32) {
	n := len(a) / 2
	a0, a1, b0, b1 := a[:n], a[n:2*n], b[:n], b[n:2*n]
	var s0, s1, s2, s3 int32
	for k := range n {
		s0 += a0[k] * b0[k]
		s1 += a0[k] * b1[k]
		s2 += a1[k] * b0[k]
		s3 += a1[k] * b1[k]
	}
	return [4]int32{s0, s1, s2, s3}
}

// half is v/1024 as IEEE binary16, for |v| < 1024.
func half(v int32) uint16 {
	var sign uint16
	if v < 0 {
		sign, v = 1<<15, -v
	}
	if v == 0 {
		return sign
	}
	shift := 11 - bits.Len32(uint32(v)) // leading one to bit 10
	return sign | uint16(15-shift)<<10 | uint16(v<<shift)&(1<<10-1)
}
