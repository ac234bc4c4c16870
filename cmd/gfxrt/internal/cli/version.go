package cli

import (
	"fmt"
	goruntime "runtime"
	"runtime/debug"
)

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

type versionDoc struct {
	Schema   int    `json:"schema"`
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Run prints what the Go tool recorded in the binary.
func (c *versionCmd) Run(e *env) error {
	d := versionDoc{Schema: schema, Version: "unknown", Go: goruntime.Version(), Platform: goruntime.GOOS + "/" + goruntime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			d.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				d.Revision = s.Value
			case "vcs.modified":
				d.Modified = s.Value == "true"
			}
		}
	}
	if c.JSON {
		return writeJSON(e.stdout, d)
	}
	fmt.Fprintf(e.stdout, "gfxrt %s %s %s", d.Version, d.Go, d.Platform)
	if d.Revision != "" {
		fmt.Fprintf(e.stdout, " %s", d.Revision)
		if d.Modified {
			fmt.Fprint(e.stdout, " (modified)")
		}
	}
	fmt.Fprintln(e.stdout)
	return nil
}
