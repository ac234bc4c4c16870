package main

import (
	"bytes"
	"os"
	"testing"
)

// TestCommittedFiles: the committed files are what the generator writes.
func TestCommittedFiles(t *testing.T) {
	for name, want := range outputs() {
		got, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs; run go generate ./sim/lane", name)
		}
	}
}
