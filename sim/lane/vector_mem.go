package lane

import (
	"math/bits"
	"unsafe"
)

// The functions of this file move data between rows and memory and look at
// addresses of 64 lanes at once. They use the vector unit where the host has
// one and give the same results without.

// SplatRow sets all lanes of dst to v.
func SplatRow(dst *Row, v uint32) {
	if useVector {
		vSplat(dst, v)
		return
	}
	Splat(dst, v)
}

// Addresses sets dst[l] to the 64-bit address hi[l]:lo[l] plus off.
func Addresses(dst *[64]uint64, lo, hi *Row, off uint64) {
	if useVector {
		vAddresses(dst, lo, hi, off)
		return
	}
	for l := range dst {
		dst[l] = (uint64(hi[l])<<32 | uint64(lo[l])) + off
	}
}

// AddressesOffset sets dst[l] to base plus the unsigned off[l].
func AddressesOffset(dst *[64]uint64, base uint64, off *Row) {
	if useVector {
		vAddressesOffset(dst, base, off)
		return
	}
	for l := range dst {
		dst[l] = base + uint64(off[l])
	}
}

// Consecutive reports whether a[l] is a[0] + l*stride for all 64 lanes.
func Consecutive(a *[64]uint64, stride uint64) bool {
	if useVector {
		return vConsecutive(a, stride)
	}
	for l := range a {
		if a[l] != a[0]+uint64(l)*stride {
			return false
		}
	}
	return true
}

// Consecutive32 is Consecutive for 32-bit addresses, which wrap around.
func Consecutive32(a *Row, stride uint32) bool {
	if useVector {
		return vConsecutive32(a, stride)
	}
	for l := range a {
		if a[l] != a[0]+uint32(l)*stride {
			return false
		}
	}
	return true
}

// AllWithin reports whether a[l]-base, modulo 2^64, is at most room in every
// lane of exec.
func AllWithin(a *[64]uint64, exec, base, room uint64) bool {
	if useVector {
		return vAllWithin(a, exec, base, room)
	}
	for ; exec != 0; exec &= exec - 1 {
		if a[bits.TrailingZeros64(exec)]-base > room {
			return false
		}
	}
	return true
}

// AllWithin32 reports whether a[l]+off, modulo 2^32, is at most room in every
// lane of exec.
func AllWithin32(a *Row, exec uint64, off, room uint32) bool {
	if useVector {
		return vAllWithin32(a, exec, off, room)
	}
	for ; exec != 0; exec &= exec - 1 {
		if a[bits.TrailingZeros64(exec)]+off > room {
			return false
		}
	}
	return true
}

// Gather32 loads the dword at base + (a[l]-origin) into d[l] in the lanes of
// exec. The caller has checked that the addresses lie inside one object. They
// need not be aligned. (The vector form loads lane by lane: gather instructions
// are no faster on the processors measured, and whole rows forward to a kernel
// that reads them at once.)
func Gather32(d *Row, base unsafe.Pointer, a *[64]uint64, origin, exec uint64) {
	if useVector && exec == ^uint64(0) {
		vGather1(d, base, a, origin)
		return
	}
	for ; exec != 0; exec &= exec - 1 {
		l := bits.TrailingZeros64(exec) & 63
		d[l] = *(*uint32)(unsafe.Add(base, a[l]-origin))
	}
}

// Scatter32 stores s[l] to the dword at base + (a[l]-origin) in the lanes of
// exec, in lane order. See Gather32.
func Scatter32(base unsafe.Pointer, a *[64]uint64, origin uint64, s *Row, exec uint64) {
	for ; exec != 0; exec &= exec - 1 {
		l := bits.TrailingZeros64(exec) & 63
		*(*uint32)(unsafe.Add(base, a[l]-origin)) = s[l]
	}
}

// GatherWide loads n (2 to 4) consecutive dwords from base + (a[l]-origin) into
// lane l of the n rows from d in the lanes of exec. See Gather32.
func GatherWide(d *Row, n int, base unsafe.Pointer, a *[64]uint64, origin, exec uint64) {
	full := useVector && exec == ^uint64(0)
	switch {
	case full && n == 2:
		vGather2(d, base, a, origin)
	case full && n == 4:
		vGather4(d, base, a, origin)
	default:
		rows := Rows(d, n)
		for ; exec != 0; exec &= exec - 1 {
			l := bits.TrailingZeros64(exec) & 63
			p := unsafe.Slice((*uint32)(unsafe.Add(base, a[l]-origin)), n)
			for k, v := range p {
				rows[k][l] = v
			}
		}
	}
}

// ScatterWide stores lane l of the n (2 to 4) rows from s to n consecutive dwords
// at base + (a[l]-origin) in the lanes of exec, in lane order. See Gather32.
func ScatterWide(base unsafe.Pointer, a *[64]uint64, origin uint64, s *Row, n int, exec uint64) {
	full := useVector && exec == ^uint64(0)
	switch {
	case full && n == 2:
		vScatter2(s, base, a, origin)
	case full && n == 4:
		vScatter4(s, base, a, origin)
	default:
		rows := Rows(s, n)
		for ; exec != 0; exec &= exec - 1 {
			l := bits.TrailingZeros64(exec) & 63
			p := unsafe.Slice((*uint32)(unsafe.Add(base, a[l]-origin)), n)
			for k := range p {
				p[k] = rows[k][l]
			}
		}
	}
}

// GatherLDS32 loads the dword at byte addr[l]+off (modulo 2^32) of lds into d[l]
// in the lanes of exec; a lane whose dword is not all inside reads 0. d may be
// addr.
func GatherLDS32(d *Row, lds []byte, addr *Row, off uint32, exec uint64) {
	if len(lds) < 4 {
		for ; exec != 0; exec &= exec - 1 {
			d[bits.TrailingZeros64(exec)] = 0
		}
		return
	}
	p := unsafe.Pointer(unsafe.SliceData(lds))
	room := uint32(min(len(lds)-4, 1<<32-1))
	if exec == ^uint64(0) && AllWithin32(addr, exec, off, room) {
		if at := addr[0] + off; Consecutive32(addr, 4) && room-at >= 252 {
			*d = *(*Row)(unsafe.Add(p, at))
			return
		}
		if useVector {
			vGatherLDS(d, p, addr, off)
			return
		}
		for l, x := range addr {
			d[l] = *(*uint32)(unsafe.Add(p, x+off))
		}
		return
	}
	for ; exec != 0; exec &= exec - 1 {
		l := bits.TrailingZeros64(exec) & 63
		v := uint32(0)
		if at := addr[l] + off; at <= room {
			v = *(*uint32)(unsafe.Add(p, at))
		}
		d[l] = v
	}
}

// ScatterLDS32 stores s[l] to the dword at byte addr[l]+off (modulo 2^32) of lds
// in the lanes of exec, in lane order; a dword that is not all inside is dropped.
func ScatterLDS32(lds []byte, addr *Row, off uint32, s *Row, exec uint64) {
	if len(lds) < 4 {
		return
	}
	p := unsafe.Pointer(unsafe.SliceData(lds))
	room := uint32(min(len(lds)-4, 1<<32-1))
	if exec == ^uint64(0) && AllWithin32(addr, exec, off, room) && Consecutive32(addr, 4) && room-(addr[0]+off) >= 252 {
		*(*Row)(unsafe.Add(p, addr[0]+off)) = *s
		return
	}
	for ; exec != 0; exec &= exec - 1 {
		l := bits.TrailingZeros64(exec) & 63
		if at := addr[l] + off; at <= room {
			*(*uint32)(unsafe.Add(p, at)) = s[l]
		}
	}
}

// Deinterleave loads n (1 to 4) consecutive dwords per lane: dword n*l+k of src
// goes to lane l of row k of d in the lanes of exec. All 64*n dwords of src must
// be readable.
func Deinterleave(d *Row, src unsafe.Pointer, n int, exec uint64) {
	switch {
	case n == 1 && exec == ^uint64(0):
		*d = *(*Row)(src)
	case n == 2 && useVector:
		vDeinterleave2(d, src, exec)
	case n == 3 && useVector:
		vDeinterleave3(d, src, exec)
	case n == 4 && useVector:
		vDeinterleave4(d, src, exec)
	default:
		rows, s := Rows(d, n), unsafe.Slice((*uint32)(src), 64*n)
		for ; exec != 0; exec &= exec - 1 {
			l := bits.TrailingZeros64(exec) & 63
			for k := range rows {
				rows[k][l] = s[n*l+k]
			}
		}
	}
}

// Interleave stores n (1 to 4) consecutive dwords per lane for all 64 lanes:
// lane l of row k of s goes to dword n*l+k of dst.
func Interleave(dst unsafe.Pointer, s *Row, n int) {
	switch {
	case n == 1:
		*(*Row)(dst) = *s
	case n == 2 && useVector:
		vInterleave2(dst, s)
	case n == 3 && useVector:
		vInterleave3(dst, s)
	case n == 4 && useVector:
		vInterleave4(dst, s)
	default:
		rows, d := Rows(s, n), unsafe.Slice((*uint32)(dst), 64*n)
		for k := range rows {
			for l, v := range rows[k] {
				d[n*l+k] = v
			}
		}
	}
}
