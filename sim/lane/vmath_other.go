//go:build !amd64

package lane

var vmathTable []vectorEntry
