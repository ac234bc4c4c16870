package mem

import (
	"syscall"
	"unsafe"
)

var (
	kernel32     = syscall.NewLazyDLL("kernel32.dll")
	virtualAlloc = kernel32.NewProc("VirtualAlloc")
	virtualFree  = kernel32.NewProc("VirtualFree")
)

// Values of winnt.h.
const (
	memCommitReserve = 0x3000
	memRelease       = 0x8000
	pageReadWrite    = 0x04
)

func mapHost(n uint64) ([]byte, error) {
	addr, _, err := virtualAlloc.Call(0, uintptr(n), memCommitReserve, pageReadWrite)
	if addr == 0 {
		return nil, err
	}
	// The address is not Go memory; reading it through its own storage keeps
	// vet's unsafeptr check meaningful elsewhere.
	p := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
	return unsafe.Slice((*byte)(p), n), nil
}

func unmapHost(b []byte) error {
	ok, _, err := virtualFree.Call(uintptr(unsafe.Pointer(unsafe.SliceData(b))), 0, memRelease)
	if ok == 0 {
		return err
	}
	return nil
}
