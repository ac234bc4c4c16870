package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"gfxrt/runtime"
	"gfxrt/sim/check"
	"gfxrt/sim/exec"
)

// fidelityFlag is --fidelity[=FILE]. A nil record does nothing.
type fidelityFlag struct {
	record *check.Fidelity
	file   string
	// symbols are the places of the report by PC, found while the module that
	// has their names is loaded.
	symbols map[uint64]string
}

const fidelityHelp = "Report each instruction executed, how often, whether it is exact, and where approximate results reached an address, a branch or a synchronising operation: a table on stderr, or with =FILE a JSON document."

// IsBool lets the flag stand without a value.
func (f *fidelityFlag) IsBool() bool { return true }

// Decode reads the optional file name.
func (f *fidelityFlag) Decode(ctx *kong.DecodeContext) error {
	f.record, f.symbols = check.NewFidelity(), map[uint64]string{}
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		f.file = ctx.Scan.Pop().String()
		if f.file == "" {
			return fmt.Errorf("the file name is empty")
		}
	}
	return nil
}

// probe is what follows the waves, or nil.
func (f *fidelityFlag) probe() exec.ProbeFunc {
	if f.record == nil {
		return nil
	}
	return f.record.Probe
}

// name remembers the symbols of the places reported so far.
func (f *fidelityFlag) name(mod *runtime.Module) {
	if f.record == nil || mod == nil {
		return
	}
	r := f.record.Report()
	for _, list := range [][]check.Place{r.Addresses, r.Branches, r.Syncs} {
		for _, p := range list {
			if f.symbols[p.PC] == "" {
				f.symbols[p.PC] = place(mod, p.PC)
			}
		}
	}
}

// fidelityDoc is the JSON document.
type fidelityDoc struct {
	Schema int    `json:"schema"`
	Device string `json:"device"`
	check.Report
}

// report is the record with symbols.
func (f *fidelityFlag) report() check.Report {
	r := f.record.Report()
	for _, list := range [][]check.Place{r.Addresses, r.Branches, r.Syncs} {
		for i := range list {
			list[i].Symbol = f.symbols[list[i].PC]
		}
	}
	return r
}

// write prints the report to stderr or writes the file.
func (f *fidelityFlag) write(stderr io.Writer, dev string) error {
	if f.record == nil {
		return nil
	}
	r := f.report()
	if f.file == "" {
		return printFidelity(stderr, r)
	}
	var b bytes.Buffer
	if err := writeJSON(&b, fidelityDoc{schema, dev, r}); err != nil {
		return err
	}
	if err := os.WriteFile(f.file, b.Bytes(), 0o666); err != nil {
		return fmt.Errorf("--fidelity: %w", err)
	}
	return nil
}

// maxFidelityPlaces bounds the places printed of a kind.
const maxFidelityPlaces = 20

func printFidelity(w io.Writer, r check.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "instruction\texecuted by waves\tresult")
	for _, i := range r.Instructions {
		fmt.Fprintf(t, "%s\t%d\t%s\n", i.Mnemonic, i.Count, i.Status)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "fidelity: %d exact, %d approximate, %d unsupported\n", r.Exact, r.Approximate, r.Unsupported)
	if r.Approximate == 0 {
		return nil
	}
	for _, s := range []struct {
		what string
		list []check.Place
	}{{"an address", r.Addresses}, {"a branch", r.Branches}, {"a synchronising operation", r.Syncs}} {
		if len(s.list) == 0 {
			fmt.Fprintf(w, "no approximate result reached %s\n", s.what)
			continue
		}
		fmt.Fprintf(w, "an approximate result reached %s in %d places:\n", s.what, len(s.list))
		for k, p := range s.list {
			if k == maxFidelityPlaces {
				fmt.Fprintf(w, "  … %d more\n", len(s.list)-k)
				break
			}
			at := p.Symbol
			if at == "" {
				at = fmt.Sprintf("%#x", p.PC)
			}
			fmt.Fprintf(w, "  %s  %s  %d times\n", printable(at), p.Mnemonic, p.Count)
		}
	}
	return nil
}
