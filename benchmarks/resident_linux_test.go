package benchmarks

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// watchResident samples the largest resident set of a running process every
// millisecond until stop, which returns it in bytes (proc(5): VmHWM; a process's
// ru_maxrss would start at the size of the one that made it).
func watchResident(pid int) (stop func() int64) {
	done, peak := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			most = max(most, resident(pid))
			select {
			case <-tick.C:
			case <-done:
				peak <- most
				return
			}
		}
	}()
	return func() int64 { close(done); return <-peak }
}

// resident is 0 when the process has ended.
func resident(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, ok := bytes.Cut(status, []byte("VmHWM:"))
	f := bytes.Fields(rest)
	if !ok || len(f) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(string(f[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
