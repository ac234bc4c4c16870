package runtime

import (
	"errors"

	"gfxrt/elf"
	"gfxrt/runtime/device"
)

// Errors that callers test with errors.Is. The first four are the device's
// own, re-exported so that a program needs one import.
var (
	// ErrUnsupported: the device, or this runtime, cannot do what was asked.
	ErrUnsupported = device.ErrUnsupported
	// ErrFault: a dispatch faulted. errors.As with *Fault gives the details.
	ErrFault = device.ErrFault
	// ErrClosed: the object was closed or freed.
	ErrClosed = device.ErrClosed
	// ErrOutOfMemory: an allocation does not fit.
	ErrOutOfMemory = device.ErrOutOfMemory
	// ErrInvalidArgument: a launch, a size or an option is not acceptable.
	// Nothing was submitted.
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrOutOfRange: an offset and a length do not lie inside a buffer or a
	// variable.
	ErrOutOfRange = errors.New("out of range")
	// ErrIncompatible: a code object does not run on this device.
	ErrIncompatible = elf.ErrNoMatch
	// ErrNotFound: a module has no kernel or variable of that name.
	ErrNotFound = errors.New("not found")
	// ErrUndefinedSymbol: a code object refers to a symbol that no module
	// loaded before it defines.
	ErrUndefinedSymbol = elf.ErrUndefined
	// ErrBusy: something still uses the object.
	ErrBusy = errors.New("in use")
)

// Fault describes what stopped a stream: see device.Fault.
type Fault = device.Fault
