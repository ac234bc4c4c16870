//go:build !linux

package benchmarks

import "os"

// maxResident is 0: not measured on this system.
func maxResident(*os.ProcessState) int64 { return 0 }
