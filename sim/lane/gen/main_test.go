package main

import (
	"bytes"
	"os"
	"testing"
)

// TestGeneratedFilesAreCurrent: the committed files are what the tables give.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	for name, want := range outputs() {
		got, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./sim/lane", name)
		}
	}
}
