package lane

import (
	"os"

	"golang.org/x/sys/cpu"
)

// useVector tells whether the host's vector unit is used at all.
var useVector = func() bool {
	_, ok := hostVector()
	return ok && os.Getenv("GFXRT_VECTOR") != "off"
}()

// hostVector tells whether the host has the vector unit that the kernels of
// vectorTable need, and which of the further features.
func hostVector() (cpuFeature, bool) {
	x := &cpu.X86
	ok := x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasBMI2
	var have cpuFeature
	if x.HasAVX512CD {
		have |= cpuCD
	}
	if x.HasAVX512VPOPCNTDQ {
		have |= cpuPopcnt
	}
	return have, ok
}
