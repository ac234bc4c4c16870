package fuzz

import (
	"debug/elf"
	"errors"
	"path/filepath"
	"testing"

	"gfxrt/sim/isa"
)

// FuzzDecode feeds any bytes to every decoder: an error or a valid instruction,
// never both, never a panic.
func FuzzDecode(f *testing.F) {
	var decoders []*isa.Decoder
	for _, target := range []string{"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030", "gfx1100", "gfx1150", "gfx1200", "gfx1250"} {
		d, err := isa.NewDecoder(target)
		if err != nil {
			f.Fatal(err)
		}
		decoders = append(decoders, d)
		addKernelCode(f, target)
	}
	f.Add([]byte{})
	f.Add([]byte{0xff, 0, 0x80, 0xbe, 0x78}) // a literal cut short
	f.Fuzz(func(t *testing.T, code []byte) {
		for _, d := range decoders {
			in, err := d.Decode(code)
			if err != nil {
				if in != (isa.Inst{}) {
					t.Fatalf("%s: both %v and %+v", d.Target(), err, in)
				}
				if !errors.Is(err, isa.ErrTruncated) && !errors.Is(err, isa.ErrUnknown) && !errors.Is(err, isa.ErrUnsupported) {
					t.Fatalf("%s: unnamed error %v", d.Target(), err)
				}
				continue
			}
			checkInst(t, &in, len(code))
			if text := d.Format(&in, 0); text == "" || text == "invalid" {
				t.Fatalf("%s: no text for %+v", d.Target(), in)
			}
		}
	})
}

// addKernelCode seeds with stretches of real code.
func addKernelCode(f *testing.F, target string) {
	objects, err := filepath.Glob("../kernels/" + target + "/*.hsaco")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range objects {
		obj, err := elf.Open(path)
		if err != nil {
			f.Fatal(err)
		}
		code, err := obj.Section(".text").Data()
		if err != nil {
			f.Fatal(err)
		}
		obj.Close()
		for at := 0; at+20 <= len(code) && at < 20*60; at += 60 {
			f.Add(code[at : at+20])
		}
	}
}

// checkInst holds size and operand ranges of a decoded instruction.
func checkInst(t *testing.T, in *isa.Inst, available int) {
	t.Helper()
	if in.Size < 4 || in.Size > 20 || in.Size%4 != 0 || int(in.Size) > available {
		t.Fatalf("size %d of %d bytes: %+v", in.Size, available, in)
	}
	if in.Op == isa.OpInvalid || in.Op >= isa.NumOps || in.Enc == isa.EncNone {
		t.Fatalf("no opcode: %+v", in)
	}
	checkOperand(t, in.Dst, in.DstWords)
	checkOperand(t, in.SDst, in.SDstWords)
	for i, o := range in.Src {
		checkOperand(t, o, in.SrcWords[i])
	}
}

func checkOperand(t *testing.T, o isa.Operand, words uint8) {
	t.Helper()
	n := int(words)
	ok := false
	switch {
	case o == isa.OperandNone:
		ok = n == 0
	case o == isa.OperandNull:
		ok = n > 0
	case o.IsScalar():
		ok = n > 0 && int(o)+n <= int(isa.OperandInt)
	case o.IsVGPR():
		ok = n > 0 && int(o)+n <= int(isa.OperandAGPR)
	case o.IsAGPR():
		ok = n > 0 && int(o)+n <= int(isa.OperandAGPR)+256
	default:
		ok = o < isa.OperandVGPR && n > 0
	}
	if !ok {
		t.Fatalf("operand %d of %d dwords", o, n)
	}
}
