package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"gfxrt/sim"
)

type infoCmd struct {
	JSON bool `help:"Print JSON."`
}

// deviceDoc is a device that can be opened. Counts are those of device.Info.
type deviceDoc struct {
	Device        string `json:"device"`
	Name          string `json:"name"`
	Target        string `json:"target"`
	Simulated     bool   `json:"simulated"`
	ComputeUnits  int    `json:"compute_units"`
	SIMDsPerCU    int    `json:"simds_per_cu"`
	WavesPerSIMD  int    `json:"waves_per_simd"`
	WavefrontSize int    `json:"wavefront_size"`
	LDSPerGroup   uint32 `json:"lds_per_group"`
	MaxGroupSize  uint32 `json:"max_group_size"`
	LocalMemory   uint64 `json:"local_memory"`
	ClockHz       uint64 `json:"clock_hz"`
}

// nodeDoc is a GPU that the KFD driver presents.
type nodeDoc struct {
	Node   string `json:"node"`
	Target string `json:"gfx_target_version"`
	Usable bool   `json:"usable"`
}

type infoDoc struct {
	Schema  int         `json:"schema"`
	Devices []deviceDoc `json:"devices"`
	KFD     []nodeDoc   `json:"kfd"`
}

// kfdNodes is where the KFD driver describes what it found.
const kfdNodes = "/sys/class/kfd/kfd/topology/nodes"

// Run lists the simulator's profiles and what the KFD driver shows.
func (c *infoCmd) Run(e *env) error {
	d := infoDoc{Schema: schema, Devices: []deviceDoc{}, KFD: kfdGPUs(kfdNodes)}
	for _, p := range sim.Profiles() {
		processor, _, _ := strings.Cut(p.Target, ":")
		d.Devices = append(d.Devices, deviceDoc{Device: "sim:" + processor, Name: p.Name, Target: p.Target, Simulated: true,
			ComputeUnits: p.ComputeUnits, SIMDsPerCU: p.SIMDsPerCU, WavesPerSIMD: p.WavesPerSIMD, WavefrontSize: p.WavefrontSize,
			LDSPerGroup: p.LDSPerGroup, MaxGroupSize: p.MaxGroupSize, LocalMemory: p.LocalMemory, ClockHz: p.ClockHz})
	}
	if c.JSON {
		return writeJSON(e.stdout, d)
	}
	t := tabwriter.NewWriter(e.stdout, 0, 1, 2, ' ', 0)
	fmt.Fprintln(t, "DEVICE\tNAME\tTARGET\tCUs\tWAVE\tLDS\tMEMORY")
	for _, p := range d.Devices {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d KiB\t%d MiB\n", p.Device, p.Name, p.Target, p.ComputeUnits, p.WavefrontSize, p.LDSPerGroup>>10, p.LocalMemory>>20)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, n := range d.KFD {
		fmt.Fprintf(e.stdout, "KFD node %s, gfx_target_version %s: not usable, the hardware back end is not part of this build\n", n.Node, n.Target)
	}
	return nil
}

// kfdGPUs reads the nodes that are GPUs: their gfx_target_version is not 0.
func kfdGPUs(root string) []nodeDoc {
	nodes := []nodeDoc{}
	paths, err := filepath.Glob(filepath.Join(root, "*", "properties"))
	if err != nil {
		return nodes
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // a node that this user may not read is none they can use
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) == 2 && f[0] == "gfx_target_version" && f[1] != "0" {
				nodes = append(nodes, nodeDoc{Node: filepath.Base(filepath.Dir(path)), Target: f[1]})
			}
		}
	}
	return nodes
}
