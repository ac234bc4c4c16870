package cli

import (
	"errors"
	"fmt"
	"io/fs"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gfxrt/cmd/gfxrt/workloads"
)

type benchCmd struct {
	Name    []string `arg:"" optional:"" help:"Kernels to measure; all when none is named. See above."`
	Device  string   `placeholder:"DEVICE" help:"sim[+seed=N][+portable][+threads=N][:TARGET]; by default sim:gfx90a, and sim:gfx942 for gemm_f16."`
	Threads int      `placeholder:"N" help:"Worker threads of the simulator; by default one for each processor."`
	JSON    bool     `help:"Print one JSON array of rows."`
}

// Help lists the names.
func (benchCmd) Help() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 1, 2, ' ', 0)
	for _, w := range workloads.All() {
		fmt.Fprintf(t, "  %s\t%s\n", w.Name, w.Size)
	}
	t.Flush() // to memory
	return "Measures committed kernels on the simulator and compares their output with an oracle on the host. NAME is one of:\n\n" + b.String() +
		"\nThe median of at least three runs counts, each from the doorbell to the completion signal. Instructions are those that waves completed."
}

// benchRow is one NAME's result.
type benchRow struct {
	Name             string  `json:"name"`
	Size             string  `json:"size"`
	Device           string  `json:"device"`
	Threads          int     `json:"threads"`
	WaveInstructions uint64  `json:"wave_instructions"`
	Seconds          float64 `json:"seconds"` // median
	SecondsMin       float64 `json:"seconds_min"`
	SecondsMax       float64 `json:"seconds_max"`
	Runs             int     `json:"runs"`
	PerSecond        float64 `json:"wave_instructions_per_second"`
	Error            string  `json:"error,omitempty"`
}

// Run measures one NAME after the other.
func (c *benchCmd) Run(e *env) error {
	list := workloads.All()
	if len(c.Name) > 0 {
		list = nil
	}
	for _, name := range c.Name {
		w := workloads.Named(name)
		if w == nil {
			return usagef("unknown NAME %q (known: %s)", name, strings.Join(workloads.Names(), ", "))
		}
		list = append(list, w)
	}
	return c.measure(e, list)
}

// measure prints a row for each workload, also for those with a wrong output.
func (c *benchCmd) measure(e *env, list []*workloads.Workload) error {
	devices := make([]benchDevice, len(list))
	for i, w := range list {
		var err error
		if devices[i], err = c.device(w); err != nil {
			return err
		}
	}
	rows := []benchRow{}
	failed := false
	for i, w := range list {
		row, err := c.one(e, w, devices[i])
		switch {
		case e.ctx.Err() != nil:
			return interrupted(e.ctx)
		case errors.Is(err, workloads.ErrWrong):
			report(e.stderr, err)
			failed = true
		case err != nil:
			return err
		}
		rows = append(rows, *row)
	}
	if err := c.print(e, rows); err != nil {
		return err
	}
	if failed {
		return errFailed
	}
	return nil
}

// benchDevice is a device to open and how its rows name it.
type benchDevice struct {
	open    string
	name    string // without the number of threads
	threads int
}

// device completes --device and --threads for a workload.
func (c *benchCmd) device(w *workloads.Workload) (d benchDevice, err error) {
	if c.Threads < 0 || c.Threads > 1<<16-1 {
		return d, usagef("--threads %d: want a number from 1 to %d", c.Threads, 1<<16-1)
	}
	spec := c.Device
	if spec == "" {
		spec = "sim"
	}
	head, target, _ := strings.Cut(spec, ":")
	words := strings.Split(head, "+")
	if words[0] != "sim" {
		return d, usagef("--device %s: bench counts instructions, which needs a simulated device", c.Device)
	}
	if target == "" {
		target = w.Processor
	}
	d.threads = c.Threads
	words = slices.DeleteFunc(words, func(word string) bool {
		value, ok := strings.CutPrefix(word, "threads=")
		n, e := strconv.ParseUint(value, 0, 16)
		if !ok || e != nil {
			return false // openSession says what is wrong with it
		}
		if d.threads == 0 {
			d.threads = int(n)
		}
		return true
	})
	if d.threads == 0 {
		d.threads = goruntime.GOMAXPROCS(0)
	}
	head = strings.Join(words, "+")
	d.name = head + ":" + target
	d.open = fmt.Sprintf("%s+threads=%d:%s", head, d.threads, target)
	return d, nil
}

// one measures one workload on a fresh device. A wrong output gives a row and
// an error.
func (c *benchCmd) one(e *env, w *workloads.Workload, d benchDevice) (row *benchRow, err error) {
	s, err := openSession(e.ctx, d.open, watch{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.rt.Close()) }()
	m, err := w.Measure(e.ctx, s.rt, s.sim.Instructions)
	if m == nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = inputError(err)
		}
		return nil, err
	}
	row = &benchRow{Name: w.Name, Size: w.Size, Device: d.name, Threads: d.threads, WaveInstructions: m.Instructions,
		Seconds: m.Median().Seconds(), SecondsMin: m.Times[0].Seconds(), SecondsMax: m.Times[len(m.Times)-1].Seconds(), Runs: len(m.Times)}
	row.PerSecond = float64(row.WaveInstructions) / row.Seconds
	if err != nil {
		err = fmt.Errorf("%s on %s: %w", w.Name, d.name, err)
		row.Error = oneLine(err)
	}
	return row, err
}

func (c *benchCmd) print(e *env, rows []benchRow) error {
	if c.JSON {
		return writeJSON(e.stdout, rows)
	}
	t := tabwriter.NewWriter(e.stdout, 0, 1, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tSIZE\tDEVICE\tTHREADS\tWAVE INSTRUCTIONS\tSECONDS\tM/s\tRUNS\tOUTPUT")
	for _, r := range rows {
		verdict := "ok"
		if r.Error != "" {
			verdict = "WRONG"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%.4f\t%.1f\t%d\t%s\n", r.Name, r.Size, r.Device, r.Threads, r.WaveInstructions, r.Seconds, r.PerSecond/1e6, r.Runs, verdict)
	}
	return t.Flush()
}
