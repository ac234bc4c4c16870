package propertytests

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// room is a folder and what its packages may import, as prefixes of import
// paths. Own packages are written without the module name.
type room struct {
	path    string
	own     []string // packages of this module
	outside []string // packages of other modules; the standard library is free
}

// rooms is the table of ARCHITECTURE.md: an import that no entry allows is a
// mistake. The longest matching path decides.
var rooms = []room{
	{path: "cmd", own: []string{"cmd/gfxrt", "runtime", "sim", "hw", "services", "aql", "elf", "kernels"}, outside: []string{"*"}},
	{path: "runtime", own: []string{"runtime/device", "services", "aql", "elf"}},
	{path: "runtime/device", own: []string{"aql"}},
	{path: "sim", own: []string{"sim", "runtime/device", "aql", "elf"}},
	{path: "sim/exec", own: []string{"sim/isa", "sim/lane", "sim/mem", "runtime/device"}},
	{path: "sim/isa"},
	{path: "sim/lane", outside: []string{"golang.org/x/sys/cpu"}},
	{path: "sim/mem"},
	{path: "sim/cp", own: []string{"sim/exec", "sim/mem", "runtime/device", "aql", "elf"}},
	{path: "sim/timing", own: []string{"sim/exec", "sim/isa"}},
	{path: "sim/check", own: []string{"sim/exec", "sim/isa"}},
	{path: "sim/kfd", own: []string{"hw/kfd", "sim", "aql", "elf", "runtime/device"}},
	{path: "hw", own: []string{"runtime/device", "aql", "elf", "hw/kfd"}},
	{path: "hw/kfd", outside: []string{"golang.org/x/sys/unix"}},
	{path: "services", own: []string{"services"}, outside: []string{"*"}},
	{path: "aql"},
	{path: "elf", outside: []string{"github.com/tinylib/msgp/msgp", "github.com/klauspost/compress"}},
	{path: "propertytests", own: []string{"*"}, outside: []string{"*"}},
	{path: "fuzz", own: []string{"*"}, outside: []string{"*"}},
	{path: "benchmarks", own: []string{"*"}, outside: []string{"*"}},
	{path: "examples", own: []string{"runtime", "sim", "hw", "elf", "aql"}},
}

// noOneImports may be imported only from within themselves.
var noOneImports = []string{"propertytests", "fuzz", "benchmarks"}

func under(path, prefix string) bool {
	return prefix == "*" || path == prefix || strings.HasPrefix(path, prefix+"/")
}

func roomOf(dir string) *room {
	var best *room
	for i := range rooms {
		if r := &rooms[i]; under(dir, r.path) && (best == nil || len(r.path) > len(best.path)) {
			best = r
		}
	}
	return best
}

func TestImportArrows(t *testing.T) {
	const module = "gfxrt"
	root := ".."
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == "tools" || rel == "kernels" || d.Name() == "testdata" || d.Name() == "gen" || d.Name() == "loopgen" || strings.HasPrefix(d.Name(), ".") && rel != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		dir := filepath.ToSlash(filepath.Dir(rel))
		r := roomOf(dir)
		if r == nil {
			t.Errorf("%s: no room for folder %s", rel, dir)
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, im := range f.Imports {
			p, _ := strconv.Unquote(im.Path.Value)
			if reason := forbidden(r, dir, p, module); reason != "" {
				t.Errorf("%s imports %q: %s", rel, p, reason)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Fatalf("looked at %d files only", files)
	}
}

func forbidden(r *room, dir, p, module string) string {
	first, _, _ := strings.Cut(p, "/")
	switch {
	case p == "C":
		return "cgo is not used here"
	case p == module || strings.HasPrefix(p, module+"/"):
		own := strings.TrimPrefix(p, module+"/")
		for _, n := range noOneImports {
			if under(own, n) && !under(dir, n) {
				return "nothing imports " + n
			}
		}
		for _, a := range r.own {
			if under(own, a) {
				return ""
			}
		}
		return "room " + r.path + " may not import it"
	case strings.Contains(first, "."):
		for _, a := range r.outside {
			if under(p, a) {
				return ""
			}
		}
		return "room " + r.path + " may not depend on it"
	}
	return ""
}

func TestArrowsForbidWhatTheyShould(t *testing.T) {
	for _, c := range []struct{ dir, imp string }{
		{"runtime", "gfxrt/sim"}, {"runtime", "gfxrt/hw"}, {"sim/exec", "gfxrt/sim/cp"}, {"sim/exec", "gfxrt/sim/check"},
		{"sim/isa", "gfxrt/sim/lane"}, {"sim/lane", "gfxrt/sim/isa"}, {"aql", "gfxrt/elf"}, {"elf", "gfxrt/aql"},
		{"services/printf", "gfxrt/runtime/device"}, {"cmd/gfxrt", "gfxrt/propertytests"}, {"hw", "golang.org/x/sys/unix"},
		{"sim/mem", "golang.org/x/sys/unix"}, {"cmd/gfxrt", "C"},
	} {
		if forbidden(roomOf(c.dir), c.dir, c.imp, "gfxrt") == "" {
			t.Errorf("%s may import %s", c.dir, c.imp)
		}
	}
}
