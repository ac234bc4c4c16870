// Gfxrt runs, tests and inspects AMD GPU code objects, on a simulated GPU.
package main

import (
	"os"

	"gfxrt/cmd/gfxrt/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
}
