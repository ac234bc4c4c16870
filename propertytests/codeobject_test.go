package propertytests

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"gfxrt/elf"
	"gfxrt/propertytests/oracle"
)

func objects(t *testing.T) [][]byte {
	t.Helper()
	var out [][]byte
	for _, pattern := range []string{"../elf/testdata/*.hsaco", "../kernels/gfx942/[a-d]*.hsaco"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) < 5 {
			t.Fatal(pattern, len(paths), err)
		}
		for _, p := range paths {
			b, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, b)
		}
	}
	return out
}

// damage changes some bits, mostly where the structure is: headers, notes,
// dynamic section, symbols and descriptors come first in a file.
func damage(t *rapid.T, b []byte) []byte {
	b = append([]byte(nil), b...)
	for range rapid.IntRange(1, 6).Draw(t, "changes") {
		limit := len(b)
		if rapid.Bool().Draw(t, "front") {
			limit = min(limit, 2048)
		}
		at := rapid.IntRange(0, limit-1).Draw(t, "at")
		if rapid.Bool().Draw(t, "flip") {
			b[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		} else {
			b[at] = rapid.Byte().Draw(t, "value")
		}
	}
	return b
}

// TestDamagedCodeObject holds that a damaged object gives an error or a value
// that is valid throughout.
func TestDamagedCodeObject(t *testing.T) {
	seeds := objects(t)
	rapid.Check(t, func(t *rapid.T) {
		b := damage(t, seeds[rapid.IntRange(0, len(seeds)-1).Draw(t, "object")])
		if err := oracle.CodeObject(b); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDamagedMetadata damages the metadata alone, which the test above seldom
// hits without breaking something before it.
func TestDamagedMetadata(t *testing.T) {
	seeds := objects(t)
	rapid.Check(t, func(t *rapid.T) {
		object := seeds[rapid.IntRange(0, len(seeds)-1).Draw(t, "object")]
		m := oracle.Metadata(object)
		if len(m) == 0 {
			t.Skip("no metadata")
		}
		if err := oracle.CodeObject(oracle.WithMetadata(object, damage(t, m))); err != nil {
			t.Fatal(err)
		}
	})
}

// TestParseMemory holds that parsing allocates in proportion to the file,
// whatever counts and sizes its fields state.
func TestParseMemory(t *testing.T) {
	seeds := objects(t)
	var before, after runtime.MemStats
	rapid.Check(t, func(t *rapid.T) {
		b := damage(t, seeds[rapid.IntRange(0, len(seeds)-1).Draw(t, "object")])
		runtime.ReadMemStats(&before)
		elf.Parse(b)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(len(b))*64+1<<20 {
			t.Fatalf("%d bytes allocated for a file of %d", n, len(b))
		}
	})
}
