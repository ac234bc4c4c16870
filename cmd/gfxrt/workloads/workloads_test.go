package workloads

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"gfxrt/runtime"
	_ "gfxrt/sim"
)

// TestOraclesRefuse: an oracle that finds nothing would let anything pass.
// Each must refuse zeros, and inputs are the same every time.
func TestOraclesRefuse(t *testing.T) {
	if testing.Short() {
		t.Skip("full sizes")
	}
	for _, w := range All() {
		t.Run(w.Name, func(t *testing.T) {
			p := w.Prepare()
			if err := p.Check(make([]byte, p.Buffers[p.Output].Size)); err == nil {
				t.Error("zeros pass for the output")
			}
			q := w.Prepare()
			for i := range p.Buffers {
				if !bytes.Equal(p.Buffers[i].Data, q.Buffers[i].Data) {
					t.Errorf("buffer %d differs between two preparations", i)
				}
			}
		})
	}
}

// TestMeasure: a kernel that ran right passes, and one wrong bit of its output
// is found.
func TestMeasure(t *testing.T) {
	ctx := context.Background()
	rt, err := runtime.Open(ctx, "sim:gfx90a")
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	r, err := Named("sha256").Start(ctx, rt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Launch(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	out := r.buffers[r.problem.Output]
	var last [1]byte
	if err := out.Read(out.Size()-1, last[:]); err != nil {
		t.Fatal(err)
	}
	last[0] ^= 1
	if err := out.Write(out.Size()-1, last[:]); err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); !errors.Is(err, ErrWrong) {
		t.Errorf("one wrong bit: %v", err)
	}
}

// TestRoundConstants holds the constants to those that the kernel's case has.
func TestRoundConstants(t *testing.T) {
	want, err := os.ReadFile("../../../kernels/cases/sha256/sha_k.in")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(roundConstants(), want) {
		t.Error("the constants differ from kernels/cases/sha256/sha_k.in")
	}
}

// TestHalf holds the encoder to its definition: sign, exponent and fraction.
func TestHalf(t *testing.T) {
	for v := int32(-1023); v <= 1023; v++ {
		h := half(v)
		exp, frac := int(h>>10&31), float64(h&1023)
		got := 0.0
		if exp != 0 {
			got = (1 + frac/1024) * float64(uint64(1)<<exp) / (1 << 15)
		} else if frac != 0 {
			t.Fatalf("%d/1024 is subnormal: %#x", v, h)
		}
		if h>>15 != 0 {
			got = -got
		}
		if got != float64(v)/1024 {
			t.Fatalf("%d/1024 became %v (%#x)", v, got, h)
		}
	}
}

// TestObjectsAreTheCommittedOnes: what the program carries is what lies in
// kernels/.
func TestObjectsAreTheCommittedOnes(t *testing.T) {
	for _, w := range All() {
		for _, processor := range []string{"gfx90a", "gfx942"} {
			b, err := w.Object(processor)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile("../../../kernels/" + processor + "/" + w.Name + ".hsaco")
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b, want) {
				t.Errorf("%s for %s differs from the committed file", w.Name, processor)
			}
			if binary.BigEndian.Uint32(b) != 0x7f454c46 {
				t.Errorf("%s for %s is not ELF", w.Name, processor)
			}
		}
	}
}
