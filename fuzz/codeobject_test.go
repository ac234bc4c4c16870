package fuzz

import (
	"os"
	"path/filepath"
	"testing"

	"gfxrt/propertytests/oracle"
)

// seedObjects gives a few small code objects: several generations, wave
// sizes, code object versions, printf records and debug information.
func seedObjects(f *testing.F) [][]byte {
	f.Helper()
	var out [][]byte
	for _, path := range []string{"../kernels/gfx90a/globals.hsaco", "../kernels/gfx942/printf_ocl.hsaco", "../kernels/gfx1100/vecadd.hsaco",
		"../kernels/gfx1250/saxpy.hsaco", "../kernels/gfx1030.w64/vecadd.hsaco", "../kernels/gfx900/funcptr.hsaco",
		"../elf/testdata/v4.hsaco", "../elf/testdata/stripped.hsaco", "../elf/testdata/gnuhash-stripped.hsaco", "../elf/testdata/lines.hsaco",
		"../elf/testdata/lines4.hsaco", "../elf/testdata/lines-zlib.hsaco", "../elf/testdata/lines-zstd.hsaco",
		"../elf/testdata/extern.hsaco", "../elf/testdata/bare.hsaco", "../elf/testdata/preload.hsaco"} {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// FuzzCodeObject parses arbitrary bytes: an error or a valid value whose
// segments, kernels, relocations, symbols and lines are in range.
func FuzzCodeObject(f *testing.F) {
	for _, b := range seedObjects(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := oracle.CodeObject(b); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzMetadata puts arbitrary MessagePack into a good object.
func FuzzMetadata(f *testing.F) {
	objects := seedObjects(f)
	for _, b := range objects {
		if m := oracle.Metadata(b); m != nil {
			f.Add(m)
		}
	}
	f.Fuzz(func(t *testing.T, m []byte) {
		if err := oracle.CodeObject(oracle.WithMetadata(objects[0], m)); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzBundle reads arbitrary bytes as any container.
func FuzzBundle(f *testing.F) {
	for _, pattern := range []string{"../elf/testdata/*.hipfb", "../elf/testdata/host.*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatal(pattern, err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := oracle.Bundle(b); err != nil {
			t.Fatal(err)
		}
	})
}
