//go:build !linux

package benchmarks

// watchResident measures nothing on this system.
func watchResident(int) (stop func() int64) { return func() int64 { return 0 } }
