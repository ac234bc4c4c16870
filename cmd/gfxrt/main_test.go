package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
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
			e.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector sleeps a second at each exit
			e.Setenv("KERNELS", filepath.Join(root, "kernels"))
			e.Setenv("OBJECTS", filepath.Join(root, "elf", "testdata"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "json": jsonField, "bytes": writeBytes},
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

// bytes FILE HEX... makes a file of binary data.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: bytes FILE HEX...")
	}
	b, err := hex.DecodeString(strings.Join(args[1:], ""))
	ts.Check(err)
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o700))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}

// json PATH VALUE checks one field of the only document on stdout. PATH is
// names and indices with dots between; "len" is the length of a list.
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
		if key == "len" {
			return len(d)
		}
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(d) {
			return d[i]
		}
	}
	return "absent"
}

// TestInterrupt: Ctrl-C tells where the waves stand and ends with 1.
func TestInterrupt(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("a process cannot send another an interrupt on Windows")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A barrier that waits for a group that does not exist; the trace shows
	// that it has started.
	cmd := exec.Command(exe)
	cmd.Args = []string{"gfxrt", "run", "../../kernels/gfx942/gridsync.hsaco", "gridsync_atomic", "--grid", "1", "--block", "64", "--trace",
		"--arg", "buf:1200", "--arg", "buf:1200", "--arg", "fill:u32:2:5", "--arg", "u32:300", "--timeout", "2m"}
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var rest []string
	sent := false
	for sc := bufio.NewScanner(pipe); sc.Scan(); {
		if !sent {
			sent = true
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.HasPrefix(sc.Text(), "(") { // not the trace
			rest = append(rest, sc.Text())
		}
	}
	err = cmd.Wait()
	text := strings.Join(rest, "\n")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%v, want exit status 1", err)
	}
	for _, want := range []string{"gfxrt: 1 waves have not ended", "kernel gridsync_atomic  work-group (0,0,0) wave 0", "gfxrt: interrupted"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
