package hostcall

import "runtime"

// Goroutine identifies the calling goroutine; 0 when it cannot be told. Go
// keeps this from programs lest they build on it. Here it only turns a deadlock
// into an error, so that not knowing costs no more than the message.
func Goroutine() uint64 {
	// A trace starts with "goroutine N [".
	var buf [64]byte
	text := buf[:runtime.Stack(buf[:], false)]
	const prefix = "goroutine "
	if len(text) < len(prefix) || string(text[:len(prefix)]) != prefix {
		return 0
	}
	var id uint64
	for _, c := range text[len(prefix):] {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uint64(c-'0')
	}
	return id
}
