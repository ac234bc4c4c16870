package lane

import "golang.org/x/sys/cpu"

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
