package elf

import (
	"fmt"
	"slices"
	"strings"
)

// Feature is the setting of a target feature (XNACK, SRAMECC) with the numbers
// that e_flags uses from code object V4 on (LLVM AMDGPUUsage, ELF Header).
type Feature uint8

// Feature settings.
const (
	FeatureUnsupported Feature = 0
	FeatureAny         Feature = 1
	FeatureOff         Feature = 2
	FeatureOn          Feature = 3
)

// String gives "unsupported", "any", "off" or "on".
func (f Feature) String() string {
	switch f {
	case FeatureUnsupported:
		return "unsupported"
	case FeatureAny:
		return "any"
	case FeatureOff:
		return "off"
	case FeatureOn:
		return "on"
	}
	return fmt.Sprintf("Feature(%d)", uint8(f))
}

// Target is a target id: the processor and its feature settings (LLVM
// AMDGPUUsage, Target ID).
type Target struct {
	Processor      string
	XNACK, SRAMECC Feature
	// GenericVersion is the version of a generic processor's contract, 1 to
	// 255; 0 for a specific processor. A target id does not spell it.
	GenericVersion uint8
}

// Generation groups processors with one layout of the kernel descriptor.
type Generation uint8

// Generations.
const (
	Gfx9    Generation = iota + 1 // gfx900 to gfx90c without gfx90a
	Gfx90a                        // gfx90a, gfx940 to gfx950: unified VGPR file with AccVGPRs
	Gfx10                         // gfx1010 to gfx1036
	Gfx11                         // gfx1100 to gfx1153
	Gfx12                         // gfx1200, gfx1201
	Gfx1250                       // gfx1250, gfx1251
)

// processor is one row of what is known about processors: the EF_AMDGPU_MACH
// number and the properties that change how an object is loaded.
type processor struct {
	name        string
	mach        uint8
	gen         Generation
	xnack       bool   // takes :xnack+ and :xnack-
	sramecc     bool   // takes :sramecc+ and :sramecc-
	architected bool   // flat scratch set up by hardware (architected)
	packedID    bool   // work-item ids packed in v0
	family      string // generic processor it belongs to
	generic     bool
	// fixed marks processors whose objects carry "any" feature flags although
	// no target id may name the features (gfx125x).
	fixed bool
}

// processors follows LLVM AMDGPUUsage (Processors, EF_AMDGPU_MACH values,
// Generic Processors); gfx940 and gfx941 were dropped from it and come from
// ROCr's amd_hsa_elf.h.
var processors = []processor{
	{name: "gfx900", mach: 0x2c, gen: Gfx9, xnack: true, family: "gfx9-generic"},
	{name: "gfx902", mach: 0x2d, gen: Gfx9, xnack: true, family: "gfx9-generic"},
	{name: "gfx904", mach: 0x2e, gen: Gfx9, xnack: true, family: "gfx9-generic"},
	{name: "gfx906", mach: 0x2f, gen: Gfx9, xnack: true, sramecc: true, family: "gfx9-generic"},
	{name: "gfx908", mach: 0x30, gen: Gfx9, xnack: true, sramecc: true},
	{name: "gfx909", mach: 0x31, gen: Gfx9, xnack: true, family: "gfx9-generic"},
	{name: "gfx90c", mach: 0x32, gen: Gfx9, xnack: true, family: "gfx9-generic"},
	{name: "gfx90a", mach: 0x3f, gen: Gfx90a, xnack: true, sramecc: true, packedID: true},
	{name: "gfx940", mach: 0x40, gen: Gfx90a, xnack: true, sramecc: true, architected: true, packedID: true},
	{name: "gfx941", mach: 0x4b, gen: Gfx90a, xnack: true, sramecc: true, architected: true, packedID: true},
	{name: "gfx942", mach: 0x4c, gen: Gfx90a, xnack: true, sramecc: true, architected: true, packedID: true, family: "gfx9-4-generic"},
	{name: "gfx950", mach: 0x4f, gen: Gfx90a, xnack: true, sramecc: true, architected: true, packedID: true, family: "gfx9-4-generic"},
	{name: "gfx1010", mach: 0x33, gen: Gfx10, xnack: true, family: "gfx10-1-generic"},
	{name: "gfx1011", mach: 0x34, gen: Gfx10, xnack: true, family: "gfx10-1-generic"},
	{name: "gfx1012", mach: 0x35, gen: Gfx10, xnack: true, family: "gfx10-1-generic"},
	{name: "gfx1013", mach: 0x42, gen: Gfx10, xnack: true, family: "gfx10-1-generic"},
	{name: "gfx1030", mach: 0x36, gen: Gfx10, family: "gfx10-3-generic"},
	{name: "gfx1031", mach: 0x37, gen: Gfx10, family: "gfx10-3-generic"},
	{name: "gfx1032", mach: 0x38, gen: Gfx10, family: "gfx10-3-generic"},
	{name: "gfx1033", mach: 0x39, gen: Gfx10, family: "gfx10-3-generic"},
	{name: "gfx1034", mach: 0x3e, gen: Gfx10, family: "gfx10-3-generic"},
	{name: "gfx1035", mach: 0x3d, gen: Gfx10, family: "gfx10-3-generic"},
	{name: "gfx1036", mach: 0x45, gen: Gfx10, family: "gfx10-3-generic"},
	{name: "gfx1100", mach: 0x41, gen: Gfx11, architected: true, packedID: true, family: "gfx11-generic"},
	{name: "gfx1101", mach: 0x46, gen: Gfx11, architected: true, packedID: true, family: "gfx11-generic"},
	{name: "gfx1102", mach: 0x47, gen: Gfx11, architected: true, packedID: true, family: "gfx11-generic"},
	{name: "gfx1103", mach: 0x44, gen: Gfx11, architected: true, packedID: true, family: "gfx11-generic"},
	{name: "gfx1150", mach: 0x43, gen: Gfx11, architected: true, packedID: true, family: "gfx11-generic"},
	{name: "gfx1151", mach: 0x4a, gen: Gfx11, architected: true, packedID: true, family: "gfx11-generic"},
	{name: "gfx1152", mach: 0x55, gen: Gfx11, architected: true, packedID: true, family: "gfx11-generic"},
	{name: "gfx1153", mach: 0x58, gen: Gfx11, architected: true, packedID: true, family: "gfx11-generic"},
	{name: "gfx1200", mach: 0x48, gen: Gfx12, architected: true, packedID: true, family: "gfx12-generic"},
	{name: "gfx1201", mach: 0x4e, gen: Gfx12, architected: true, packedID: true, family: "gfx12-generic"},
	{name: "gfx1250", mach: 0x49, gen: Gfx1250, architected: true, packedID: true, fixed: true},
	{name: "gfx1251", mach: 0x5a, gen: Gfx1250, architected: true, packedID: true, fixed: true},
	{name: "gfx9-generic", mach: 0x51, gen: Gfx9, xnack: true, generic: true},
	{name: "gfx9-4-generic", mach: 0x5f, gen: Gfx90a, xnack: true, sramecc: true, architected: true, packedID: true, generic: true},
	{name: "gfx10-1-generic", mach: 0x52, gen: Gfx10, xnack: true, generic: true},
	{name: "gfx10-3-generic", mach: 0x53, gen: Gfx10, generic: true},
	{name: "gfx11-generic", mach: 0x54, gen: Gfx11, architected: true, packedID: true, generic: true},
	{name: "gfx12-generic", mach: 0x59, gen: Gfx12, architected: true, packedID: true, generic: true},
}

func processorNamed(name string) *processor {
	for i := range processors {
		if processors[i].name == name {
			return &processors[i]
		}
	}
	return nil
}

// ParseTarget reads a target id: "gfx942", "gfx90a:sramecc+:xnack-",
// "gfx11-generic". Features not named are FeatureAny where the processor has
// them. An unknown processor is ErrUnsupported, anything else ErrInvalid.
func ParseTarget(id string) (Target, error) {
	name, rest, more := strings.Cut(id, ":")
	p := processorNamed(name)
	if p == nil {
		return Target{}, fmt.Errorf("%w: processor %.64q", ErrUnsupported, name)
	}
	t := p.target()
	last := ""
	for more {
		var f string
		f, rest, more = strings.Cut(rest, ":")
		feature, setting := strings.TrimRight(f, "+-"), FeatureOff
		if strings.HasSuffix(f, "+") {
			setting = FeatureOn
		}
		if len(f) != len(feature)+1 || feature <= last {
			return Target{}, fmt.Errorf("%w: target id %.64q: feature %.64q: want sramecc then xnack, each with + or -", ErrInvalid, id, f)
		}
		last = feature
		switch {
		case feature == "xnack" && p.xnack:
			t.XNACK = setting
		case feature == "sramecc" && p.sramecc:
			t.SRAMECC = setting
		default:
			return Target{}, fmt.Errorf("%w: target id %.64q: %s has no feature %.64q", ErrInvalid, id, name, feature)
		}
	}
	return t, nil
}

// target gives the processor's target with every feature it has at "any".
func (p *processor) target() Target {
	t := Target{Processor: p.name}
	if p.xnack || p.fixed {
		t.XNACK = FeatureAny
	}
	if p.sramecc || p.fixed {
		t.SRAMECC = FeatureAny
	}
	if p.generic {
		t.GenericVersion = 1
	}
	return t
}

// String spells the target id; features at "any" are left out.
func (t Target) String() string {
	s := t.Processor
	for _, f := range []struct {
		name    string
		setting Feature
	}{{"sramecc", t.SRAMECC}, {"xnack", t.XNACK}} {
		switch f.setting {
		case FeatureOn:
			s += ":" + f.name + "+"
		case FeatureOff:
			s += ":" + f.name + "-"
		}
	}
	return s
}

// targetFromFlags decodes e_flags (LLVM AMDGPUUsage, ELF Header). version is
// the code object version, 3 to 6.
func targetFromFlags(flags uint32, version int) (Target, error) {
	const offset = 48 // of e_flags in the ELF header
	fail := func(format string, args ...any) error {
		return bad(offset, "e_flags", "%#x: %s", flags, fmt.Sprintf(format, args...))
	}
	i := slices.IndexFunc(processors, func(p processor) bool { return p.mach == uint8(flags) })
	if i < 0 {
		return Target{}, fmt.Errorf("%w: e_flags %#x: processor number %#x", ErrUnsupported, flags, uint8(flags))
	}
	p := &processors[i]
	t := p.target()
	known := uint32(0xfff)
	xnack, sramecc := Feature(flags>>8&3), Feature(flags>>10&3)
	if version == 3 {
		// V3 has one bit a feature and no "any".
		known = 0x3ff
		xnack, sramecc = FeatureUnsupported, FeatureUnsupported
		if p.xnack {
			xnack = FeatureOff + Feature(flags>>8&1)
		}
		if p.sramecc {
			sramecc = FeatureOff + Feature(flags>>9&1)
		}
	}
	if version >= 6 {
		known |= 0xff000000
		t.GenericVersion = uint8(flags >> 24)
	}
	if flags&^known != 0 {
		return Target{}, fail("reserved bits set for code object V%d", version)
	}
	if p.generic != (t.GenericVersion != 0) || p.generic && version < 6 {
		return Target{}, fail("generic version %d for %s in code object V%d", t.GenericVersion, p.name, version)
	}
	if p.fixed {
		return t, nil
	}
	if !p.xnack && xnack != 0 || !p.sramecc && sramecc != 0 {
		return Target{}, fail("%s has no such feature (xnack %v, sramecc %v)", p.name, xnack, sramecc)
	}
	if xnack != 0 {
		t.XNACK = xnack
	}
	if sramecc != 0 {
		t.SRAMECC = sramecc
	}
	return t, nil
}

// Compatible reports whether code built for one target runs on a device: the
// processor is the same or code's is the generic processor of the device's
// family, and each feature is "any" on one side or equal on both (Clang
// Offload Bundler, Target ID). Every generic version is 1 so far, and every
// device accepts it and later ones.
func Compatible(code, device Target) bool {
	if code.Processor != device.Processor {
		d, c := processorNamed(device.Processor), processorNamed(code.Processor)
		if d == nil || c == nil || !c.generic || d.family != c.name || code.GenericVersion < 1 {
			return false
		}
	}
	return featureMatches(code.XNACK, device.XNACK) && featureMatches(code.SRAMECC, device.SRAMECC)
}

func featureMatches(code, device Feature) bool {
	return code <= FeatureAny || device == FeatureAny || code == device
}

// specificity orders compatible code: the exact processor before a generic
// one, then the more features named the better.
func (t Target) specificity() int {
	n := 0
	if t.GenericVersion == 0 {
		n += 4
	}
	if t.XNACK > FeatureAny {
		n++
	}
	if t.SRAMECC > FeatureAny {
		n++
	}
	return n
}

// GenericMembers lists the processors of a generic processor, the lowest
// first; nil for any other name.
func GenericMembers(generic string) []string {
	var names []string
	for _, p := range processors {
		if p.family == generic && generic != "" {
			names = append(names, p.name)
		}
	}
	return names
}

// Concrete replaces a generic processor by the lowest member of its family,
// which executes everything the family's code may contain.
func (t Target) Concrete() Target {
	if m := GenericMembers(t.Processor); len(m) > 0 {
		t.Processor, t.GenericVersion = m[0], 0
		if p := processorNamed(m[0]); !p.sramecc {
			t.SRAMECC = FeatureUnsupported
		}
	}
	return t
}

// Generation tells which descriptor layout the processor has, 0 when it is
// not known.
func (t Target) Generation() Generation {
	if p := processorNamed(t.Processor); p != nil {
		return p.gen
	}
	return 0
}

// ArchitectedFlatScratch reports whether hardware sets up FLAT_SCRATCH, so
// that no private segment buffer or flat scratch SGPRs exist.
func (t Target) ArchitectedFlatScratch() bool {
	p := processorNamed(t.Processor)
	return p != nil && p.architected
}

// PackedWorkItemID reports whether v0 holds X, Y and Z in 10 bits each; else
// they are in v0, v1 and v2.
func (t Target) PackedWorkItemID() bool {
	p := processorNamed(t.Processor)
	return p != nil && p.packedID
}

// WaveSizes lists the wavefront sizes the processor runs.
func (t Target) WaveSizes() []int {
	switch g := t.Generation(); {
	case g == 0:
		return nil
	case g <= Gfx90a:
		return []int{64}
	case g == Gfx1250:
		return []int{32}
	}
	return []int{32, 64}
}

// Processors lists every processor name this package knows, generic ones last.
func Processors() []string {
	names := make([]string, len(processors))
	for i, p := range processors {
		names[i] = p.name
	}
	return names
}
