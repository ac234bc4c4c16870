package exec

import (
	"fmt"

	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
)

// Apertures of gfx9 and later (KFD, kfd_flat_memory.c): a flat address whose
// high dword is the aperture's lies in LDS or in the lane's private segment.
const (
	SharedBase   = 0x0001_0000_0000_0000
	PrivateBase  = 0x0002_0000_0000_0000
	apertureSize = 1 << 32
)

// Target is what the executor needs to know of a processor.
type Target struct {
	Name string // processor, "gfx90a"
	Gen  lane.Gen

	VGPRGranule int  // registers per granule of rsrc1[5:0]
	UnifiedAcc  bool // AccVGPRs share the file from accum_offset on
	PackedTID   bool // v0 holds x, y and z in 10 bits each
	// ArchitectedScratch: hardware sets FLAT_SCRATCH; there is no scratch
	// wave offset SGPR to add (abi.md C.5).
	ArchitectedScratch bool
	// PreloadSkip: a kernel with preloaded kernel arguments starts 256 bytes
	// after its entry.
	PreloadSkip bool
	LDSGranule  uint32 // bytes
	// SRAMECC: a 16-bit load zeroes the half it does not load (CDNA4 ISA
	// 9.1.6; LLVM's d16PreservesUnusedBits says the same of SRAM ECC).
	SRAMECC bool

	Decoder *isa.Decoder
}

var targets = map[string]Target{
	"gfx90a": {Gen: lane.GenGFX90A, VGPRGranule: 8, UnifiedAcc: true, PackedTID: true, PreloadSkip: true, LDSGranule: 512},
	"gfx942": {Gen: lane.GenGFX940, VGPRGranule: 8, UnifiedAcc: true, PackedTID: true, ArchitectedScratch: true, PreloadSkip: true, LDSGranule: 512},
}

// NewTarget returns the executor's description of a processor.
func NewTarget(processor string) (*Target, error) {
	t, ok := targets[processor]
	if !ok {
		return nil, fmt.Errorf("processor %q is not simulated", processor)
	}
	d, err := isa.NewDecoder(processor)
	if err != nil {
		return nil, err
	}
	t.Name = processor
	t.Decoder = d
	return &t, nil
}
