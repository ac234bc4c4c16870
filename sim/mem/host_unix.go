//go:build unix

package mem

import "syscall"

func mapHost(n uint64) ([]byte, error) {
	return syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func unmapHost(b []byte) error { return syscall.Munmap(b) }
