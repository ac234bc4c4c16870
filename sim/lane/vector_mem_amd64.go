package lane

import "unsafe"

// The kernels of vector_mem_amd64.s. They need hostVector.

//go:noescape
func vSplat(dst *Row, v uint32)

//go:noescape
func vAddresses(dst *[64]uint64, lo, hi *Row, off uint64)

//go:noescape
func vAddressesOffset(dst *[64]uint64, base uint64, off *Row)

//go:noescape
func vConsecutive(a *[64]uint64, stride uint64) bool

//go:noescape
func vConsecutive32(a *Row, stride uint32) bool

//go:noescape
func vAllWithin(a *[64]uint64, exec, base, room uint64) bool

//go:noescape
func vAllWithin32(a *Row, exec uint64, off, room uint32) bool

//go:noescape
func vDeinterleave2(d *Row, src unsafe.Pointer, exec uint64)

//go:noescape
func vDeinterleave3(d *Row, src unsafe.Pointer, exec uint64)

//go:noescape
func vDeinterleave4(d *Row, src unsafe.Pointer, exec uint64)

//go:noescape
func vInterleave2(dst unsafe.Pointer, s *Row)

//go:noescape
func vInterleave3(dst unsafe.Pointer, s *Row)

//go:noescape
func vInterleave4(dst unsafe.Pointer, s *Row)

//go:noescape
func vSignBits(dst, src *Row, clear, flip uint32)

//go:noescape
func vPermute(d, src, index *Row, srcMask, exec uint64)

//go:noescape
func vDwordIndex(index, addr *Row, offset uint32)

//go:noescape
func vField(dst, src *Row, up, down uint32, signed bool)

//go:noescape
func vGather2(d *Row, base unsafe.Pointer, addr *[64]uint64, origin uint64)

//go:noescape
func vGather4(d *Row, base unsafe.Pointer, addr *[64]uint64, origin uint64)

//go:noescape
func vScatter2(s *Row, base unsafe.Pointer, addr *[64]uint64, origin uint64)

//go:noescape
func vScatter4(s *Row, base unsafe.Pointer, addr *[64]uint64, origin uint64)

//go:noescape
func vGather1(d *Row, base unsafe.Pointer, addr *[64]uint64, origin uint64)

//go:noescape
func vGatherLDS(d *Row, base unsafe.Pointer, addr *Row, off uint32)
