package isa

import "errors"

// ErrTruncated reports that the code ends inside an instruction.
var ErrTruncated = errors.New("truncated instruction")

// ErrUnknown reports an encoding that the target does not have.
var ErrUnknown = errors.New("unknown encoding")
