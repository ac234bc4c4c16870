package isa

import (
	"encoding/hex"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// testTargets names processors; .w64 asks for wave64 where wave32 is the default.
var testTargets = []string{"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1010.w64", "gfx1030", "gfx1030.w64", "gfx1100", "gfx1100.w64", "gfx1150", "gfx1201", "gfx1201.w64", "gfx1250"}

type tableRow struct {
	family, mnemonic, text string
	opcode                 int
	code                   []byte
}

// tableRows reads ops/TARGET.tsv: what llvm-mc printed for every opcode.
func tableRows(t *testing.T, target string) []tableRow {
	t.Helper()
	data, err := os.ReadFile("ops/" + newDecoder(t, target).t.name + ".tsv")
	if err != nil {
		t.Fatal(err)
	}
	var rows []tableRow
	for line := range strings.Lines(string(data)) {
		col := strings.Split(strings.TrimRight(line, "\n"), "\t")
		code, err := hex.DecodeString(col[4])
		if err != nil {
			t.Fatal(err)
		}
		opcode, err := strconv.Atoi(col[1])
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, tableRow{family: col[0], opcode: opcode, mnemonic: col[2], code: code, text: col[5]})
	}
	return rows
}

func newDecoder(t testing.TB, target string) *Decoder {
	t.Helper()
	name, wave64 := strings.CutSuffix(target, ".w64")
	d, err := NewDecoder(name)
	if wave64 {
		d, err = NewDecoderWave(name, 64)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// invalidOperand is llvm-mc's remark on an operand that the assembler refuses.
var invalidOperand = regexp.MustCompile(`/\*.*?\*/`)

// graphics reports an instruction that the package leaves undecoded.
func graphics(text string) bool {
	return strings.HasPrefix(text, "image_") || strings.HasPrefix(text, "v_interp_") || strings.Contains(text, " attr") || strings.HasPrefix(text, "lds_") || strings.HasPrefix(text, "ds_param") || strings.HasPrefix(text, "ds_direct")
}

func TestEveryTableRowDecodes(t *testing.T) {
	for _, target := range testTargets {
		if strings.HasSuffix(target, ".w64") { // the rows are for wave32
			continue
		}
		t.Run(target, func(t *testing.T) {
			d := newDecoder(t, target)
			for _, r := range tableRows(t, target) {
				in, err := d.Decode(r.code)
				if graphics(r.text) {
					if !errors.Is(err, ErrUnsupported) {
						t.Errorf("%x: got %v, want ErrUnsupported for %s", r.code, err, r.text)
					}
					continue
				}
				if refused(d, r.text) {
					// The sweep's VGPR for a lane number or a lane mask.
					if !errors.Is(err, ErrUnknown) {
						t.Errorf("%x: got %v, %v, want ErrUnknown for %s", r.code, in.Op, err, r.text)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s %d %x: %v, want %s", r.family, r.opcode, r.code, err, r.text)
					continue
				}
				if got := d.Format(&in, 0); got != r.text || int(in.Size) != len(r.code) {
					t.Errorf("%s %d %x: got %q size %d, want %q", r.family, r.opcode, r.code, got, in.Size, r.text)
				}
			}
		})
	}
}
