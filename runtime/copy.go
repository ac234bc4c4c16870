package runtime

import "context"

// Readable is memory that Stream.Read reads: a Buffer or a Global.
type Readable interface {
	Read(off uint64, p []byte) error
}

// Writable is memory that Stream.Write writes: a Buffer or a Global.
type Writable interface {
	Write(off uint64, p []byte) error
}

// Read fills p from off in what, after all launches made before the call. From
// a function that a kernel waits for it is refused with ErrInCallback; the
// Read of a Buffer or Global, which waits for nothing, is not.
func (s *Stream) Read(ctx context.Context, from Readable, off uint64, p []byte) error {
	if err := s.settle(ctx, "read"); err != nil {
		return err
	}
	return from.Read(off, p)
}

// Write copies p to off in what, after all launches made before the call and
// before those made after it returns. It is refused where Read is.
func (s *Stream) Write(ctx context.Context, to Writable, off uint64, p []byte) error {
	if err := s.settle(ctx, "write"); err != nil {
		return err
	}
	return to.Write(off, p)
}

// settle waits for what was launched, in the name of op.
func (s *Stream) settle(ctx context.Context, op string) error {
	if err := s.rt.checkCallback(op); err != nil {
		return err
	}
	return s.Wait(ctx)
}
