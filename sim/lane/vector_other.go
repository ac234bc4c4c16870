//go:build !amd64

package lane

import "unsafe"

var vectorTable []vectorEntry

func hostVector() (cpuFeature, bool) { return 0, false }

// useVector is false here, so that none of the following is called and the
// compiler drops the calls.
const useVector = false

func vSplat(dst *Row, v uint32)                                              {}
func vAddresses(dst *[64]uint64, lo, hi *Row, off uint64)                    {}
func vAddressesOffset(dst *[64]uint64, base uint64, off *Row)                {}
func vConsecutive(a *[64]uint64, stride uint64) bool                         { return false }
func vConsecutive32(a *Row, stride uint32) bool                              { return false }
func vAllWithin(a *[64]uint64, exec, base, room uint64) bool                 { return false }
func vAllWithin32(a *Row, exec uint64, off, room uint32) bool                { return false }
func vDeinterleave2(d *Row, src unsafe.Pointer, exec uint64)                 {}
func vDeinterleave3(d *Row, src unsafe.Pointer, exec uint64)                 {}
func vDeinterleave4(d *Row, src unsafe.Pointer, exec uint64)                 {}
func vInterleave2(dst unsafe.Pointer, s *Row)                                {}
func vInterleave3(dst unsafe.Pointer, s *Row)                                {}
func vInterleave4(dst unsafe.Pointer, s *Row)                                {}
func vSignBits(dst, src *Row, clear, flip uint32)                            {}
func vPermute(d, src, index *Row, srcMask, exec uint64)                      {}
func vDwordIndex(index, addr *Row, offset uint32)                            {}
func vField(dst, src *Row, up, down uint32, signed bool)                     {}
func vGather2(d *Row, base unsafe.Pointer, addr *[64]uint64, origin uint64)  {}
func vGather4(d *Row, base unsafe.Pointer, addr *[64]uint64, origin uint64)  {}
func vScatter2(s *Row, base unsafe.Pointer, addr *[64]uint64, origin uint64) {}
func vScatter4(s *Row, base unsafe.Pointer, addr *[64]uint64, origin uint64) {}
func vGather1(d *Row, base unsafe.Pointer, addr *[64]uint64, origin uint64)  {}
func vGatherLDS(d *Row, base unsafe.Pointer, addr *Row, off uint32)          {}
func vSpreadTruncate(dst unsafe.Pointer, src *Row) bool                      { return false }
func vSpreadFlush(dst unsafe.Pointer, src *Row)                              {}
func vTruncate8(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr) bool {
	return false
}
func vFlush4(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr) {}
func vChain2(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr) bool {
	return false
}
func vChain4(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr) bool {
	return false
}
func vSpreadTruncateBF16(dst unsafe.Pointer, src *Row) bool { return false }
func vSpreadFlushBF16(dst unsafe.Pointer, src *Row)         {}
func vTruncate8BF16(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr) bool {
	return false
}
func vFlush4BF16(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr) {}
func vFlushC(dst, src *Row, n int)                                                          {}
func vSpreadF64(dst unsafe.Pointer, src *Row)                                               {}
func vChainF64(c unsafe.Pointer, offsets *[16]int32, a unsafe.Pointer, b *Row) bool         { return false }
func vSpreadI8(dst unsafe.Pointer, src *Row)                                                {}
func vProductsI8(c unsafe.Pointer, offsets *[16]int32, a, b unsafe.Pointer, stride uintptr) {}
