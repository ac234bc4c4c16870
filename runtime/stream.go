package runtime

import (
	"context"
)

// Stream is a queue of launches that run in order. Its methods may be called
// concurrently; launches are then ordered as they are admitted.
type Stream struct {
	rt *Runtime
}

// NewStream opens a queue on the device.
func (rt *Runtime) NewStream() (*Stream, error) { return nil, ErrUnsupported }

// Wait waits for all launches made before the call. It returns the stream's
// error when the stream has faulted, and ctx's error, with the stream still
// usable, when ctx ends first.
func (s *Stream) Wait(ctx context.Context) error { return ErrUnsupported }

// Err is nil while the stream is usable, else what made it unusable.
func (s *Stream) Err() error { return nil }

// Close stops the queue, abandoning what still runs, and frees what the stream
// holds. Waits for abandoned launches then return ErrClosed.
func (s *Stream) Close() error { return nil }

// Launch is a submitted launch. The zero value is not valid.
type Launch struct {
	s   *Stream
	seq uint64
}

// Wait waits until the launch has completed. It returns nil when it did, an
// error that wraps ErrFault when the stream faulted first, and ctx's error,
// with the stream still usable, when ctx ends first.
func (l Launch) Wait(ctx context.Context) error { return ErrUnsupported }

// Timestamps returns the device's counter values at the launch's start and
// end (Info().TimestampHz ticks a second). ok is false before completion, and
// again once the stream has reused the launch's signal: with as many launches
// after it as the ring has packets, or fewer.
func (l Launch) Timestamps() (start, end uint64, ok bool) { return 0, 0, false }
