//go:build !amd64

package lane

var vectorTable []vectorEntry

func hostVector() (cpuFeature, bool) { return 0, false }
