package elf_test

import (
	"bytes"
	"compress/zlib"
	"crypto/md5"
	"errors"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"gfxrt/elf"
)

func md5Low(s string) uint64 {
	sum := md5.Sum([]byte(s))
	return le.Uint64(sum[:])
}

func target(t testing.TB, id string) elf.Target {
	t.Helper()
	tg, err := elf.ParseTarget(id)
	if err != nil {
		t.Fatal(err)
	}
	return tg
}

// TestBundles reads the three forms clang writes; all hold the same objects.
func TestBundles(t *testing.T) {
	want := []string{"host-x86_64-unknown-linux-gnu-", "hipv4-amdgcn-amd-amdhsa--gfx11-generic", "hipv4-amdgcn-amd-amdhsa--gfx1100", "hipv4-amdgcn-amd-amdhsa--gfx90a"}
	plain, err := elf.List(testdata(t, "plain.hipfb"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range plain {
		seen[e.ID] = true
	}
	for _, id := range want {
		if !seen[id] {
			t.Errorf("no entry %s in %v", id, seen)
		}
	}
	for _, file := range []string{"ccob2.hipfb", "ccob3.hipfb"} {
		entries, err := elf.List(testdata(t, file))
		if err != nil || len(entries) != len(plain) {
			t.Fatalf("%s: %d entries, %v", file, len(entries), err)
		}
		for i, e := range entries {
			if e.ID != plain[i].ID || !bytes.Equal(e.Data, plain[i].Data) {
				t.Errorf("%s: entry %d (%s) differs from the plain bundle", file, i, e.ID)
			}
		}
	}
	if e := plain[1]; e.Kind != "hipv4" || e.Triple != "amdgcn-amd-amdhsa" || !e.Device() || plain[0].Device() {
		t.Errorf("%+v", e)
	}
}

// compressed builds a CCOB header of any version around a payload.
func compressed(version, method uint16, payload []byte, size, hash uint64) []byte {
	b := le.AppendUint16(le.AppendUint16([]byte("CCOB"), version), method)
	switch version {
	case 1:
		b = le.AppendUint32(b, uint32(size))
	case 2:
		b = le.AppendUint32(le.AppendUint32(b, uint32(24+len(payload))), uint32(size))
	default:
		b = le.AppendUint64(le.AppendUint64(b, uint64(32+len(payload))), size)
	}
	return append(le.AppendUint64(b, hash), payload...)
}

// TestCompressionForms covers what clang 22 does not write: version 1, zlib,
// and bundles that follow each other.
func TestCompressionForms(t *testing.T) {
	plain := testdata(t, "plain.hipfb")
	hash, size := md5Low(string(plain)), uint64(len(plain))
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	w.Write(plain)
	w.Close()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zst := enc.EncodeAll(plain, nil)
	n := len(must(elf.List(plain)))
	for version := uint16(1); version <= 3; version++ {
		for method, payload := range [][]byte{z.Bytes(), zst} {
			b := compressed(version, uint16(method), payload, size, hash)
			if got, err := elf.List(b); err != nil || len(got) != n {
				t.Errorf("version %d method %d: %d entries, %v", version, method, len(got), err)
			}
			if _, err := elf.List(compressed(version, uint16(method), payload, size, hash^1)); !errors.Is(err, elf.ErrInvalid) || !strings.Contains(err.Error(), "hash") {
				t.Errorf("version %d method %d: wrong hash: %v", version, method, err)
			}
			for _, wrong := range []uint64{size - 1, size + 1, 0} {
				if _, err := elf.List(compressed(version, uint16(method), payload, wrong, hash)); !errors.Is(err, elf.ErrInvalid) {
					t.Errorf("version %d method %d: size %d instead of %d: %v", version, method, wrong, size, err)
				}
			}
			// another bundle at the next multiple of 4096
			two := append(b, make([]byte, 8192-len(b)%4096)...)
			second := len(two) / 4096 * 4096
			two = append(two[:second], plain...)
			got, err := elf.List(two)
			if err != nil || len(got) != 2*n || got[n].Bundle != 1 || got[0].Bundle != 0 {
				t.Errorf("version %d method %d: two bundles: %d entries, %v", version, method, len(got), err)
			}
			if _, err := elf.Open(two, target(t, "gfx90a")); !errors.Is(err, elf.ErrAmbiguous) {
				t.Errorf("two bundles for gfx90a: %v", err)
			}
		}
	}
	if _, err := elf.List(compressed(3, 1, zst, 1<<40, hash)); !errors.Is(err, elf.ErrTooLarge) {
		t.Errorf("terabyte bundle: %v", err)
	}
	if _, err := elf.List(compressed(4, 1, zst, size, hash)); !errors.Is(err, elf.ErrUnsupported) {
		t.Errorf("version 4: %v", err)
	}
	if _, err := elf.List(compressed(3, 2, zst, size, hash)); !errors.Is(err, elf.ErrUnsupported) {
		t.Errorf("method 2: %v", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		file, want string
		got        string // processor opened, or the error
		err        error
	}{
		{"v6.hsaco", "", "gfx90a", nil},
		{"v6.hsaco", "gfx90a:xnack+", "gfx90a", nil},
		{"v6.hsaco", "gfx942", "", elf.ErrNoMatch},
		{"plain.hipfb", "gfx90a:sramecc+:xnack-", "gfx90a", nil},
		{"plain.hipfb", "gfx1100", "gfx1100", nil},       // exact before generic
		{"plain.hipfb", "gfx1103", "gfx11-generic", nil}, // only the generic fits
		{"plain.hipfb", "gfx942", "", elf.ErrNoMatch},
		{"plain.hipfb", "", "", elf.ErrAmbiguous},
		{"ccob3.hipfb", "gfx1151", "gfx11-generic", nil},
		{"features.hipfb", "gfx90a:xnack-", "gfx90a:sramecc+:xnack-", nil},
		{"features.hipfb", "gfx90a:sramecc-:xnack-", "", elf.ErrNoMatch}, // e_flags decide
		{"host.o", "gfx90a", "gfx90a", nil},
		{"host.so", "gfx90a", "", elf.ErrAmbiguous}, // two translation units
		{"bare.s", "", "", elf.ErrInvalid},
	} {
		want := elf.Target{}
		if c.want != "" {
			want = target(t, c.want)
		}
		co, err := elf.Open(testdata(t, c.file), want)
		if !errors.Is(err, c.err) || (co == nil) == (err == nil) {
			t.Errorf("%s for %q: %v, want %v", c.file, c.want, err, c.err)
		} else if co != nil && co.Target.String() != c.got {
			t.Errorf("%s for %q: opened %v, want %s", c.file, c.want, co.Target, c.got)
		}
	}
}

// TestHostFile finds both translation units of a linked host file.
func TestHostFile(t *testing.T) {
	entries, err := elf.List(testdata(t, "host.so"))
	if err != nil {
		t.Fatal(err)
	}
	found := elf.SelectAll(entries, target(t, "gfx1100"))
	if len(found) != 2 {
		t.Fatalf("%d code objects for gfx1100", len(found))
	}
	kernels := 0
	for _, e := range found {
		co, err := elf.Parse(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		kernels += len(co.Kernels)
	}
	if kernels != 3 { // add, add and twice
		t.Errorf("%d kernels", kernels)
	}
}

func TestRefusedContainers(t *testing.T) {
	kpack := testdata(t, "host.o")
	copy(kpack[bytes.Index(kpack, []byte("FPIH")):], "HIPK")
	spirv := testdata(t, "plain.hipfb")
	spirv = bytes.ReplaceAll(spirv, []byte("-amdgcn-amd-amdhsa--gfx"), []byte("-spirv6-amd-amdhsa--gfx"))
	for name, b := range map[string][]byte{"kpack": kpack, "SPIR-V entries": spirv, "SPIR-V": []byte("\x03\x02\x23\x07aaaa")} {
		if _, err := elf.Open(b, elf.Target{}); !errors.Is(err, elf.ErrUnsupported) || !strings.Contains(err.Error(), name[:4]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBundleTruncation(t *testing.T) {
	for _, file := range []string{"plain.hipfb", "ccob2.hipfb", "ccob3.hipfb", "host.o", "host.so"} {
		b := testdata(t, file)
		step := 1 + len(b)/3000
		for n := 0; n < len(b); n += step {
			if e, err := elf.List(b[:n:n]); err == nil || e != nil {
				t.Fatalf("%s: the first %d of %d bytes are accepted", file, n, len(b))
			}
		}
	}
}
