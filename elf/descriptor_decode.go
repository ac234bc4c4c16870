package elf

import "fmt"

// DecodeDescriptor reads a kernel descriptor from memory, as a command
// processor does for the kernel_object of a dispatch, and checks it for the
// target it is to run on. Errors wrap ErrInvalid; their offset is relative to
// the descriptor.
func DecodeDescriptor(b []byte, t Target) (Descriptor, error) {
	if len(b) < DescriptorSize {
		return Descriptor{}, &FormatError{Field: "kernel descriptor", Reason: fmt.Sprintf("%d bytes of %d", len(b), DescriptorSize)}
	}
	d, reserved := decodeDescriptor(b[:DescriptorSize])
	if reserved != "" {
		return Descriptor{}, &FormatError{Field: "kernel descriptor", Reason: reserved + " are not zero"}
	}
	if field, reason := d.check(t); field != "" {
		return Descriptor{}, &FormatError{Field: "kernel descriptor " + field, Reason: reason}
	}
	return d, nil
}
