package exec

import (
	"testing"
	"unsafe"
)

// The loop reads one cache line an instruction as long as this holds.
func TestInstSize(t *testing.T) {
	if n := unsafe.Sizeof(inst{}); n != 64 {
		t.Errorf("inst has %d bytes, want 64", n)
	}
}
