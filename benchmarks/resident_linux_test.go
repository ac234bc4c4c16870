package benchmarks

import (
	"os"
	"syscall"
)

// maxResident is the largest resident set of a process that has ended, in
// bytes (getrusage(2): ru_maxrss counts KiB on Linux).
func maxResident(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10
	}
	return 0
}
