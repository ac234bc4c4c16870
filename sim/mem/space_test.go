package mem

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestAllocate(t *testing.T) {
	s := NewSpace(64 << 20)
	defer s.Close()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Uint64Range(0, 5<<20).Draw(t, "size")
		r, err := s.Alloc(size, "test")
		if err != nil {
			t.Fatal(err)
		}
		if r.Base%PageSize != 0 || r.Size%PageSize != 0 || r.Size < size {
			t.Fatalf("region %#x+%#x for %d bytes", r.Base, r.Size, size)
		}
		if size >= HugeAlign && r.Base%HugeAlign != 0 {
			t.Fatalf("%d bytes at %#x, want 2 MiB alignment", size, r.Base)
		}
		for _, b := range r.Bytes() {
			if b != 0 {
				t.Fatal("memory is not zeroed")
			}
		}
		off := rapid.Uint64Range(0, r.Size-1).Draw(t, "off")
		if s.Find(r.Base+off) != r {
			t.Fatalf("byte %d is not found", off)
		}
		if s.Find(r.Base-1) != nil || s.Find(r.Base+r.Size) != nil {
			t.Fatal("regions touch")
		}
		if _, err := s.Slice(r.Base+off, r.Size-off+1); !errors.Is(err, ErrUnmapped) {
			t.Fatalf("a range past the end: %v", err)
		}
		if err := s.Unmap(r); err != nil {
			t.Fatal(err)
		}
		if s.Find(r.Base) != nil {
			t.Fatal("found after unmapping")
		}
		if err := s.Unmap(r); !errors.Is(err, ErrUnmapped) {
			t.Fatalf("second unmapping: %v", err)
		}
	})
}

func TestLimit(t *testing.T) {
	s := NewSpace(1 << 20)
	defer s.Close()
	if _, err := s.Alloc(1<<20+1, "x"); !errors.Is(err, ErrNoMemory) {
		t.Errorf("above the limit: %v", err)
	}
	if _, err := s.Alloc(1<<63, "x"); !errors.Is(err, ErrNoMemory) {
		t.Errorf("absurd size: %v", err)
	}
	r, err := s.Alloc(1<<20, "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Alloc(1, "x"); !errors.Is(err, ErrNoMemory) {
		t.Errorf("full space: %v", err)
	}
	if err := s.Unmap(r); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Alloc(1, "x"); err != nil {
		t.Errorf("after freeing: %v", err)
	}
}

// TestReadersKeepMemory frees regions that concurrent readers still touch.
func TestReadersKeepMemory(t *testing.T) {
	s := NewSpace(64 << 20)
	defer s.Close()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				r, err := s.Alloc(uint64(rand.IntN(100_000)), "x")
				if err != nil {
					t.Error(err)
					return
				}
				s.Enter()
				if err := s.Unmap(r); err != nil {
					t.Error(err)
				}
				if len(r.Bytes()) > 0 {
					r.Bytes()[0]++ // would crash if the host mapping were gone
				}
				s.Leave()
			}
		})
	}
	wg.Wait()
}

func TestDescribe(t *testing.T) {
	s := NewSpace(1 << 20)
	defer s.Close()
	a, _ := s.Alloc(100, "first")
	b, _ := s.Alloc(5000, "second")
	for va, want := range map[uint64]string{
		8:                  "null pointer plus 8",
		a.Base + 50:        "byte 50 of first of 100 bytes",
		a.Base + 120:       "20 bytes past the end of first of 100 bytes",
		a.Base + a.Size:    "3996 bytes past the end of first",
		b.Base - 1:         "1 bytes before second of 5000 bytes",
		b.Base + b.Size:    "3192 bytes past the end of second",
		0x7000_0000_0000:   "nothing is allocated near",
		0xffff_ffff_ffff_f: "nothing is allocated near",
	} {
		if got := s.Describe(va); !strings.Contains(got, want) {
			t.Errorf("%#x: %q, want %q", va, got, want)
		}
	}
}
