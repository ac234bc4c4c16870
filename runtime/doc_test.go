package runtime_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/api.txt")

// TestAPI: the exported API changes only together with its golden file, where
// a reviewer sees it.
func TestAPI(t *testing.T) {
	path, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command in PATH to print the documentation with")
	}
	got, err := exec.Command(path, "doc", "-all", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "api.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("exported API changed; if that is meant, run go test ./runtime -run TestAPI -update (-want +got):\n%s", diff)
	}
}
