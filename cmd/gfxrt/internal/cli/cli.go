// Package cli is the gfxrt command line: it reads flags, wires devices to the
// runtime and formats results.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/alecthomas/kong"
)

// grammar is the command line as kong reads it.
type grammar struct {
	Run        runCmd        `cmd:"" help:"Run a kernel."`
	Test       testCmd       `cmd:"" help:"Run test cases and compare what the kernels left with what was expected."`
	Inspect    inspectCmd    `cmd:"" help:"Print what a code object holds."`
	Info       infoCmd       `cmd:"" help:"List devices."`
	Bench      benchCmd      `cmd:"" help:"Measure committed kernels on the simulator of this machine."`
	AbiCheck   abiCheckCmd   `cmd:"" help:"Compare the device heap with that of a device library."`
	Version    versionCmd    `cmd:"" help:"Print how this program was built."`
	Completion completionCmd `cmd:"" help:"Print a shell's completion script."`
}

const description = `Runs, tests and inspects AMD GPU code objects without the GPU.

Exit status: 0 success; 1 a case failed, a kernel faulted or timed out; 2 wrong usage; 3 an input that cannot be read or is invalid.`

// env is what a command may use of the process.
type env struct {
	ctx            context.Context
	stdout, stderr io.Writer
}

// Main runs one command line (without the program's name) and returns the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// A second Ctrl-C ends the process at once.
	context.AfterFunc(ctx, stop)

	var g grammar
	helped := false
	parser, err := kong.New(&g, kong.Name("gfxrt"), kong.Description(description), kong.Writers(stdout, stderr),
		kong.Exit(func(int) { helped = true }), kong.Vars{"fidelity": fidelityHelp}, kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}))
	if err != nil {
		fmt.Fprintf(stderr, "gfxrt: %v\n", err)
		return exitFailure
	}
	selected, err := parser.Parse(args)
	if helped { // kong has printed help, and then went on parsing
		return 0
	}
	if err != nil {
		err = usageError(explain(err))
	} else {
		err = selected.Run(&env{ctx: ctx, stdout: stdout, stderr: stderr}, parser)
	}
	if err == nil {
		return 0
	}
	report(stderr, err)
	return exitCode(err)
}

// explain adds to a parse error what would have been accepted.
func explain(err error) error {
	var p *kong.ParseError
	if !errors.As(err, &p) || p.Context == nil {
		return err
	}
	node := p.Context.Selected()
	if node == nil {
		var names []string
		for _, c := range p.Context.Model.Children {
			names = append(names, c.Name)
		}
		return fmt.Errorf("%w (commands: %s; gfxrt COMMAND --help tells more)", err, strings.Join(names, ", "))
	}
	if !strings.HasPrefix(err.Error(), "unknown flag") {
		return fmt.Errorf("%w (gfxrt %s --help tells more)", err, node.Name)
	}
	var flags []string
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			flags = append(flags, "--"+f.Name)
		}
	}
	return fmt.Errorf("%w (gfxrt %s allows: %s)", err, node.Name, strings.Join(flags, ", "))
}
