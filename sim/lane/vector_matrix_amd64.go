package lane

import "unsafe"

// The kernels of vector_matrix_amd64.s. They need hostVector and cpuCD.

//go:noescape
func vSpreadTruncate(dst unsafe.Pointer, src *Row) bool

//go:noescape
func vSpreadFlush(dst unsafe.Pointer, src *Row)

//go:noescape
func vTruncate8(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr) bool

//go:noescape
func vFlush4(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr)

//go:noescape
func vChain2(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr) bool

//go:noescape
func vChain4(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr) bool

//go:noescape
func vSpreadTruncateBF16(dst unsafe.Pointer, src *Row) bool

//go:noescape
func vSpreadFlushBF16(dst unsafe.Pointer, src *Row)

//go:noescape
func vTruncate8BF16(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr) bool

//go:noescape
func vFlush4BF16(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr)

//go:noescape
func vFlushC(dst, src *Row, n int)

//go:noescape
func vSpreadF64(dst unsafe.Pointer, src *Row)

//go:noescape
func vChainF64(c unsafe.Pointer, offsets *[16]int32, a unsafe.Pointer, b *Row) bool

//go:noescape
func vSpreadI8(dst unsafe.Pointer, src *Row)

//go:noescape
func vProductsI8(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr)
