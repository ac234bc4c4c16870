package fuzz

import (
	"errors"
	"io"
	"testing"
	"unsafe"

	"gfxrt/services/hostcall"
)

type noMemory struct{}

func (noMemory) Alloc(size uint64) (uint64, error) { return size, nil }
func (noMemory) Free(uint64) error                 { return nil }

// FuzzHostcall lets a device overwrite a hostcall buffer at will between
// drains: every drain ends, answers at most the packets there are, and a
// structural failure stays.
func FuzzHostcall(f *testing.F) {
	const packets = 3
	size, err := hostcall.Size(packets)
	if err != nil {
		f.Fatal(err)
	}
	// Each operation is offset (3 bytes), length (1) and bytes; length 0 drains.
	ready := []byte{32, 0, 0, 1, 2, 56 + 48, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}
	f.Add(ready)
	f.Add([]byte{0xff, 72, 0, 0, 13, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 56, 0, 0, 1, 1, 0, 0, 0, 0})
	f.Add(append([]byte{128 + 0, 32, 0, 8, 0x43, 0, 0, 0, 0, 0, 0, 0}, ready...))
	f.Fuzz(func(t *testing.T, ops []byte) {
		phase := len(ops) > 0 && ops[0] == 0xff // the other layout
		words := make([]uint64, (size+7)/8)
		mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
		var c hostcall.Buffer
		var err error
		if phase {
			ops = ops[1:]
			c, err = hostcall.NewPhase(mem, 4096, packets, 0, 0)
		} else {
			c, err = hostcall.NewClassic(mem, 4096, packets, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		s := &hostcall.Server{Stdout: io.Discard, Stderr: io.Discard, Devmem: noMemory{}, Failed: func(error) {}}
		var failed error
		drain := func() {
			n, err := c.Service(s)
			if n > packets || err != nil && !errors.Is(err, hostcall.ErrCorrupt) || failed != nil && (err != failed || n != 0) {
				t.Fatalf("%d packets, %v after %v", n, err, failed)
			}
			failed = err
		}
		for len(ops) >= 4 {
			off, n := int(ops[0])|int(ops[1])<<8|int(ops[2])<<16, int(ops[3])
			ops = ops[4:]
			if n == 0 {
				drain()
				continue
			}
			n = min(n, len(ops))
			copy(mem[off%size:], ops[:n])
			ops = ops[n:]
		}
		drain()
	})
}
