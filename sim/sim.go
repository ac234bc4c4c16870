// Package sim is the simulated GPU. Importing it registers the device scheme
// "sim": sim[+portable][+seed=N][+threads=N][:TARGET].
package sim

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"gfxrt/elf"
	"gfxrt/runtime/device"
	"gfxrt/sim/exec"
)

func init() {
	device.Register("sim", func(_ context.Context, options []string, target string) (device.Device, error) {
		o, err := ParseOptions(options)
		if err != nil {
			return nil, err
		}
		return Open(target, o)
	})
}

// TraceEvent is one executed instruction and the registers it changed.
type TraceEvent = exec.TraceEvent

// RegWrite is one changed register of a TraceEvent.
type RegWrite = exec.RegWrite

// WaveState says where a wave stands.
type WaveState = exec.WaveState

// Options change how a simulated device runs. The zero value is the usual one.
type Options struct {
	// Threads is the number of host threads that run work-groups; 0 means one
	// per CPU that Go uses.
	Threads int
	// Seed, when not nil, runs everything on one thread in an order that
	// depends on the seed alone.
	Seed *uint64
	// Portable forces the portable lane kernels.
	Portable bool
	// Trace, when not nil, is called after every instruction of the waves
	// that TraceWant selects (nil: all). Calls for different work-groups may
	// overlap.
	Trace     func(TraceEvent)
	TraceWant func(group [3]uint32, wave int) bool
	// Probe, when not nil, makes what follows the waves of each work-group.
	Probe exec.ProbeFunc
}

// ParseOptions reads the options of a device string: the words after "sim"
// that a plus sign separates. Errors wrap device.ErrUnsupported.
func ParseOptions(options []string) (Options, error) {
	var o Options
	seen := map[string]bool{}
	for _, s := range options {
		key, val, has := strings.Cut(s, "=")
		if seen[key] {
			return o, fmt.Errorf("device option %q is given twice: %w", key, device.ErrUnsupported)
		}
		seen[key] = true
		switch {
		case key == "portable" && !has:
			o.Portable = true
		case key == "seed" && has:
			n, err := strconv.ParseUint(val, 0, 64)
			if err != nil {
				return o, fmt.Errorf("device option %q: want a number from 0 to 2^64-1: %w", s, device.ErrUnsupported)
			}
			o.Seed = &n
		case key == "threads" && has:
			n, err := strconv.ParseUint(val, 0, 16)
			if err != nil || n == 0 {
				return o, fmt.Errorf("device option %q: want a number from 1 to 65535: %w", s, device.ErrUnsupported)
			}
			o.Threads = int(n)
		default:
			return o, fmt.Errorf("device option %q: known are portable, seed=N, threads=N: %w", s, device.ErrUnsupported)
		}
	}
	return o, nil
}

func (o Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// profile is the hardware a target imitates.
type profile struct {
	name              string
	cus, simds, waves int
	ldsGroup, ldsCU   uint32
	memory, clock     uint64
	xnack, sramecc    elf.Feature
}

// profiles of the simulated processors. Counts are of one device as the driver
// presents it: AMD's CDNA2 and CDNA3 white papers (MI210: 104 compute units;
// MI300X: 304), wave slots from the CDNA3 ISA document (8 a SIMD).
var profiles = map[string]profile{
	"gfx90a": {name: "AMD Instinct MI210 (simulated)", cus: 104, simds: 4, waves: 8, ldsGroup: 64 << 10, ldsCU: 64 << 10, memory: 64 << 30, clock: 1_700_000_000, xnack: elf.FeatureOff, sramecc: elf.FeatureOn},
	"gfx942": {name: "AMD Instinct MI300X (simulated)", cus: 304, simds: 4, waves: 8, ldsGroup: 64 << 10, ldsCU: 64 << 10, memory: 192 << 30, clock: 2_100_000_000, xnack: elf.FeatureOff, sramecc: elf.FeatureOn},
}

// timestampHz is the rate of s_memrealtime and of signal timestamps on
// gfx9 (abi.md J.3: 100 MHz).
const timestampHz = 100_000_000

func (p profile) info(processor string) device.Info {
	t := elf.Target{Processor: processor, XNACK: p.xnack, SRAMECC: p.sramecc}
	return device.Info{
		Name: p.name, Target: t.String(), Simulated: true, ComputeUnits: p.cus, SIMDsPerCU: p.simds, WavesPerSIMD: p.waves,
		WavefrontSize: exec.WaveLanes, LDSPerGroup: p.ldsGroup, LDSPerCU: p.ldsCU, MaxGroupSize: 1024, MaxScratchLane: 128 << 10,
		LocalMemory: p.memory, ClockHz: p.clock, TimestampHz: timestampHz, QueueMinPackets: 16, QueueMaxPackets: 1 << 20,
	}
}

// Profiles lists the devices that can be simulated.
func Profiles() []device.Info {
	var out []device.Info
	for _, name := range elf.Processors() {
		if p, ok := profiles[name]; ok {
			out = append(out, p.info(name))
		}
	}
	return out
}
