//go:build amd64.v3

package lane

// fused tells that the compiler fuses x*y+z.
const fused = true
