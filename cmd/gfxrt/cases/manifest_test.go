package cases

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gfxrt/cmd/gfxrt/internal/num"
	"gfxrt/runtime"
)

func TestParse(t *testing.T) {
	m, err := Parse(strings.NewReader(`
# a comment
buf a 0x10 f32 1e-6 a.in -
buf t 16 raw 0 - t.exp
global g 4 raw 0 - g.exp
ptrtab t a g
expect stdout out.exp
expect trap -
coop
launch k 2 1 1 64 1 1 0 b:a b:g u8:200 i16:-300 f64:-3.5 lds:16
launchi k2 100 1 1 64 1 1 256
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Manifest{
		Buffers: []Buffer{
			{Name: "a", Size: 16, Type: num.F32, Tolerance: 1e-6, In: "a.in"},
			{Name: "t", Size: 16, Expected: "t.exp"},
		},
		Globals: []Buffer{{Name: "g", Size: 4, Expected: "g.exp"}},
		Tables:  []Table{{Buffer: "t", Targets: []string{"a", "g"}}},
		Stdout:  "out.exp",
		Trap:    true,
		Launches: []Launch{
			{Kernel: "k", Extent: [3]uint32{2, 1, 1}, Block: [3]uint32{64, 1, 1}, Cooperative: true, Args: []Arg{
				{Buffer: "a"}, {Buffer: "g"}, {Value: runtime.U8(200)}, {Value: runtime.I16(-300)}, {Value: runtime.F64(-3.5)}, {Value: runtime.LDS(16)}}},
			{Kernel: "k2", Extent: [3]uint32{100, 1, 1}, Items: true, Block: [3]uint32{64, 1, 1}, DynamicLDS: 256},
		},
	}
	// Values are compared below: their fields are the runtime's own.
	opt := cmp.Comparer(func(a, b runtime.Arg) bool {
		return cmp.Equal(a, b, cmp.AllowUnexported(runtime.Arg{}, runtime.Buffer{}))
	})
	if d := cmp.Diff(want, m, opt); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestParseRefuses(t *testing.T) {
	const launch = "\nlaunch k 1 1 1 64 1 1 0"
	for text, want := range map[string]string{
		"":                                     "no launch",
		"coop" + launch + "\ncoop":             "coop",
		"coop 1" + launch:                      "1 fields",
		"boo":                                  `1: unknown directive "boo"`,
		"\nbuf a 4 raw 0 -":                    "2: 5 fields",
		"buf a -4 raw 0 - -":                   "BYTES",
		"buf a 2G raw 0 - -":                   "limit",
		"buf a 4 f8 0 - -":                     "TYPE",
		"buf a 4 u32 0 - -":                    "TYPE",
		"buf a 4 raw -1 - -":                   "TOL",
		"buf a 4 raw nan - -":                  "TOL",
		"buf a 4 raw 0 ../x -":                 "outside",
		"buf a 4 raw 0 - /etc/passwd":          "outside",
		"buf a 4 raw 0 - -\nbuf a 4 raw 0 - -": "twice",
		"ptrtab a":                             "ptrtab",
		"ptrtab a b":                           "no buffer a",
		"buf a 4 raw 0 - -\nptrtab a a":        "do not fit",
		"launch k 1 1 1 64 1 1":                "at least 8",
		"launch k 0 1 1 64 1 1 0":              "start at 1",
		"launch k 4294967296 1 1 64 1 1 0":     "limit",
		"launch k x 1 1 64 1 1 0":              "field 2",
		launch[1:] + " b:q":                    "argument 0: no buffer q",
		launch[1:] + " u32":                    "KIND:VALUE",
		launch[1:] + " u8:256":                 "does not fit",
		launch[1:] + " q:1":                    "unknown kind",
		launch[1:] + " raw:1":                  "unknown kind",
		"expect stdout -":                      "expect",
		"expect trap x":                        "expect",
		"expect exit 3":                        "expect",
		"expect stdout a\nexpect stdout b":     "once",
		"expect stdout ../a":                   "outside",
		strings.Repeat("x", maxManifest+10):    "too long",
	} {
		if m, err := Parse(strings.NewReader(text)); !errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %+v, %v; want an error with %q", text, m, err, want)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vec")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("manifest", "buf a 8 raw 0 a.in a.exp\nlaunch k 1 1 1 1 1 1 0\n")
	other := write("edge.case", "launch k 1 1 1 1 1 1 0\n")
	m, err := Load(dir)
	if err != nil || m.Name != "vec" || m.Dir != dir {
		t.Fatalf("%+v, %v; want name vec", m, err)
	}
	if m, err := Load(other); err != nil || m.Name != "edge" {
		t.Errorf("%+v, %v; want name edge", m, err)
	}
	if _, err := Load(filepath.Join(dir, "absent")); !errors.Is(err, ErrManifest) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
	for _, c := range []struct{ in, exp, want string }{
		{"1234567", "12345678", ""}, // a short IN continues with zeros
		{"123456789", "12345678", "more than 8 bytes"},
		{"", "1234567", "has 7 bytes"},
		{"", "123456789", "more than 8 bytes"},
	} {
		write("a.in", c.in)
		write("a.exp", c.exp)
		err := m.CheckFiles()
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("in %q exp %q: %v, want %q", c.in, c.exp, err, c.want)
		}
	}
}

// TestRepositoryCases reads every case that the repository has.
func TestRepositoryCases(t *testing.T) {
	dirs, err := filepath.Glob("../../../kernels/cases/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, dir := range dirs {
		m, err := Load(dir)
		if err == nil {
			err = m.CheckFiles()
		}
		if err != nil {
			t.Error(err)
		}
	}
}
