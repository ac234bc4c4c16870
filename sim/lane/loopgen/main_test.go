package main

import (
	"bytes"
	"go/format"
	"os"
	"testing"
)

// TestGeneratedFilesAreCurrent: the committed loops are what the tables give.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	for name, src := range outputs() {
		want, err := format.Source(src)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./sim/lane", name)
		}
	}
}
