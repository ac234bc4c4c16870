package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gfxrt": main})
}

func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("KERNELS", filepath.Join(root, "kernels"))
			e.Setenv("OBJECTS", filepath.Join(root, "elf", "testdata"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "json": jsonField},
	})
}

// status N ARG... runs gfxrt with the arguments and checks its exit status.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: status N ARG...")
	}
	err := ts.Exec("gfxrt", args[1:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit status %d, want %s\nstdout: %s\nstderr: %s", code, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// json PATH VALUE checks one field of the only document on stdout. PATH is
// names and indices with dots between; a final # is the length.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: json PATH VALUE")
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	d.UseNumber()
	var doc any
	ts.Check(d.Decode(&doc))
	if _, err := d.Token(); err != io.EOF {
		ts.Fatalf("text after the JSON document")
	}
	for _, key := range strings.Split(args[0], ".") {
		doc = step(doc, key)
	}
	if got := fmt.Sprint(doc); got != args[1] {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
}

func step(doc any, key string) any {
	switch d := doc.(type) {
	case map[string]any:
		v, ok := d[key]
		if !ok {
			return "absent"
		}
		return v
	case []any:
		if key == "#" {
			return len(d)
		}
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(d) {
			return d[i]
		}
	}
	return "absent"
}
