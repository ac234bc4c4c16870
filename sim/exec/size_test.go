package exec

import (
	"testing"
	"unsafe"
)

// An index into the decoded program is a shift as long as this holds.
func TestInstSize(t *testing.T) {
	if n := unsafe.Sizeof(inst{}); n != 128 {
		t.Errorf("inst has %d bytes, want 128", n)
	}
}
