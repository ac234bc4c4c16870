package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"gfxrt/cmd/gfxrt/cases"
	"gfxrt/cmd/gfxrt/internal/spec"
	"gfxrt/elf"
	"gfxrt/runtime"
)

// Exit statuses.
const (
	exitFailure = 1 // a case failed, a kernel faulted or timed out, a check found something
	exitUsage   = 2 // wrong usage
	exitInput   = 3 // an input that cannot be read or is invalid
)

// statusError is an error with the exit status it leads to.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

func usageError(err error) error { return &statusError{exitUsage, err} }
func inputError(err error) error { return &statusError{exitInput, err} }

func usagef(format string, args ...any) error { return usageError(fmt.Errorf(format, args...)) }

// errFailed ends a command whose findings are already printed.
var errFailed = errors.New("failed")

// exitCode maps an error to the exit status.
func exitCode(err error) int {
	var s *statusError
	if errors.As(err, &s) {
		return s.status
	}
	for _, c := range []struct {
		sentinel error
		status   int
	}{
		{runtime.ErrFault, exitFailure},
		{context.Canceled, exitFailure},
		{context.DeadlineExceeded, exitFailure},
		{spec.ErrSpec, exitUsage},
		{spec.ErrFile, exitInput},
		{cases.ErrManifest, exitInput},
		{elf.ErrInvalid, exitInput},
		{elf.ErrUnsupported, exitInput},
		{elf.ErrTooLarge, exitInput},
		{runtime.ErrIncompatible, exitInput},
		{runtime.ErrUndefinedSymbol, exitInput},
		{runtime.ErrInvalidArgument, exitUsage},
		{runtime.ErrNotFound, exitUsage},
	} {
		if errors.Is(err, c.sentinel) {
			return c.status
		}
	}
	return exitFailure
}

// report prints an error for a person: a fault with a line for each of its
// facts, everything else in one.
func report(w io.Writer, err error) {
	if errors.Is(err, errFailed) {
		return
	}
	var f *runtime.Fault
	if !errors.As(err, &f) {
		io.WriteString(w, printable(fmt.Sprintf("gfxrt: %v\n", err))) // there is nobody left to tell
		return
	}
	io.WriteString(w, printable(faultText(f)))
}

// faultText has a line for each fact that is known.
func faultText(f *runtime.Fault) string {
	var b strings.Builder
	w := &b
	fmt.Fprintf(w, "gfxrt: %s", f.Kind)
	if f.Reason != "" {
		fmt.Fprintf(w, ": %s", f.Reason)
	}
	fmt.Fprintln(w)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-12s %s\n", name, value)
		}
	}
	line("kernel", f.Kernel)
	if f.Wave >= 0 && f.KernelObject != 0 {
		place := fmt.Sprintf("(%d,%d,%d)  wave %d", f.Group[0], f.Group[1], f.Group[2], f.Wave)
		if f.Lane >= 0 {
			place += fmt.Sprintf("  lane %d", f.Lane)
		}
		line("work-group", place)
	}
	if f.PC != 0 {
		pc := fmt.Sprintf("%#x", f.PC)
		if f.Symbol != "" {
			pc += " <" + f.Symbol + ">"
		}
		line("pc", pc)
	}
	line("instruction", f.Instruction)
	line("source", f.Source)
	return b.String()
}

// oneLine is an error's text without line breaks.
func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
