package runtime

import (
	"context"
)

// Dim3 is an extent in up to three dimensions. Zero Y and Z mean 1.
type Dim3 struct{ X, Y, Z uint32 }

// LaunchConfig is the shape of a launch. Exactly one of Grid and Items is set.
type LaunchConfig struct {
	// Grid counts work-groups.
	Grid Dim3
	// Items counts work-items; the last work-group of a dimension is partial
	// when Block does not divide it.
	Items Dim3
	// Block is the work-group size in work-items.
	Block Dim3
	// DynamicLDS is bytes of LDS a work-group on top of the static ones.
	DynamicLDS uint32
	// Stack is bytes of private segment a lane on top of the kernel's fixed
	// size. 0 gives kernels with a dynamic stack the runtime's stack size
	// (WithStackSize) and others nothing.
	Stack uint32
	// Cooperative asks for all work-groups resident at once, or an error. The
	// launch is submitted after all earlier ones of the stream have completed.
	Cooperative bool
	// NoBarrier lets the launch start before earlier ones of the stream have
	// completed.
	NoBarrier bool
}

// Launch submits a kernel and returns without waiting for it, except for room
// in a full queue (then ctx's end gives up). args are the explicit arguments in
// order. Everything is checked first; an error that wraps ErrInvalidArgument
// names the kernel, the argument's index and name and what is allowed, and
// nothing was submitted.
func (s *Stream) Launch(ctx context.Context, k *Kernel, cfg LaunchConfig, args ...Arg) (Launch, error) {
	return Launch{}, ErrUnsupported
}
