package isa

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNewDecoderRefusesOtherTargets(t *testing.T) {
	for _, target := range []string{"", "gfx90", "gfx803", "gfx90a:xnack+"} {
		if _, err := NewDecoder(target); !errors.Is(err, ErrTarget) || !strings.Contains(err.Error(), target) {
			t.Errorf("NewDecoder(%q): %v, want ErrTarget naming it", target, err)
		}
	}
}

func TestTruncatedCode(t *testing.T) {
	d := newDecoder(t, "gfx90a")
	for _, tc := range []struct {
		name string
		code []byte
		need int
	}{
		{"s_mov_b32 s0, literal", []byte{0xff, 0, 0x80, 0xbe, 0x78, 0x56, 0x34, 0x12}, 8},
		{"v_mov_b32_dpp", []byte{0xfa, 2, 0, 0x7e, 1, 0xe4, 0, 0xff}, 8},
		{"v_fma_f32", []byte{0, 0, 0xcb, 0xd1, 1, 5, 0xe, 4}, 8},
		{"v_fmamk_f32", []byte{1, 5, 0, 0x2e, 0, 0, 0x80, 0x3f}, 8},
		{"s_endpgm", []byte{0, 0, 0x81, 0xbf}, 4},
	} {
		if in, err := d.Decode(tc.code); err != nil || int(in.Size) != tc.need {
			t.Errorf("%s: size %d, %v, want %d", tc.name, in.Size, err, tc.need)
		}
		for n := range tc.need {
			if _, err := d.Decode(tc.code[:n]); !errors.Is(err, ErrTruncated) {
				t.Errorf("%s cut to %d bytes: %v, want ErrTruncated", tc.name, n, err)
			}
		}
	}
}

// assembled encodings and what the executor must see of them.
func TestDecodedFields(t *testing.T) {
	s, v, a := func(n int) Operand { return Operand(n) }, func(n int) Operand { return OperandVGPR + Operand(n) }, func(n int) Operand { return OperandAGPR + Operand(n) }
	none := OperandNone
	for _, tc := range []struct {
		text   string
		target string
		code   []uint32
		want   Inst
	}{
		{"v_add_co_u32_e32 v1, vcc, v2, v3", "gfx90a", []uint32{0x32020702},
			Inst{Op: VAddCoU32, Enc: EncVOP2, Dst: v(1), SDst: OperandVCCLo, Src: [4]Operand{v(2), v(3), none, none}, DstWords: 1, SDstWords: 2, SrcWords: [4]uint8{1, 1}}},
		{"v_addc_co_u32_e32 v1, vcc, v2, v3, vcc", "gfx90a", []uint32{0x38020702},
			Inst{Op: VAddcCoU32, Enc: EncVOP2, Dst: v(1), SDst: OperandVCCLo, Src: [4]Operand{v(2), v(3), OperandVCCLo, none}, DstWords: 1, SDstWords: 2, SrcWords: [4]uint8{1, 1, 2}}},
		{"v_cmp_lt_f64_e32 vcc, v[2:3], v[4:5]", "gfx90a", []uint32{0x7cc20902},
			Inst{Op: VCmpLtF64, Enc: EncVOPC, Dst: OperandVCCLo, SDst: none, Src: [4]Operand{v(2), v(4), none, none}, DstWords: 2, SrcWords: [4]uint8{2, 2}}},
		{"v_fmamk_f32 v0, v1, 0x3f800000, v2", "gfx942", []uint32{0x2e000501, 0x3f800000},
			Inst{Op: VFmamkF32, Enc: EncVOP2, Dst: v(0), SDst: none, Src: [4]Operand{v(1), OperandLiteral, v(2), none}, Literal: 0x3f800000, DstWords: 1, SrcWords: [4]uint8{1, 1, 1}}},
		{"global_atomic_cmpswap_x2 v[0:1], v2, v[4:7], s[8:9] offset:-16 glc", "gfx90a", []uint32{0xdd859ff0, 0x00080402},
			Inst{Op: GlobalAtomicCmpswapX2, Enc: EncFLAT, Seg: SegGlobal, Dst: v(0), SDst: none, Src: [4]Operand{v(2), v(4), s(8), none}, DstWords: 2, SrcWords: [4]uint8{1, 4, 2}, Flags: FlagGLC | FlagSAddr, Offset: -16}},
		{"scratch_load_dword v2, off, off offset:4095", "gfx942", []uint32{0xdc504fff, 0x027f0001},
			Inst{Op: ScratchLoadDword, Enc: EncFLAT, Seg: SegScratch, Dst: v(2), SDst: none, Src: [4]Operand{none, none, none, none}, DstWords: 1, Flags: FlagVAddrOff, Offset: 4095}},
		{"v_mfma_f32_32x32x8f16 a[0:15], v[2:3], a[4:5], a[0:15] cbsz:1 blgp:2", "gfx90a", []uint32{0xd3cc8100, 0x54020902},
			Inst{Op: VMfmaF3232x32x8f16, Enc: EncVOP3P, Dst: a(0), SDst: none, Src: [4]Operand{v(2), a(4), a(0), none}, DstWords: 16, SrcWords: [4]uint8{2, 2, 16}, Cbsz: 1, Blgp: 2}},
		{"ds_read2_b64 a[0:3], v1 offset0:2 offset1:3", "gfx90a", []uint32{0xdaee0302, 0x00000001},
			Inst{Op: DsRead2B64, Enc: EncDS, Dst: a(0), SDst: none, Src: [4]Operand{v(1), none, none, none}, DstWords: 4, SrcWords: [4]uint8{1}, Flags: FlagAcc, Offset: 2, Offset1: 3}},
		{"s_cmpk_eq_u32 s5, 0xff", "gfx90a", []uint32{0xb40500ff},
			Inst{Op: SCmpkEqU32, Enc: EncSOPK, Dst: s(5), SDst: none, Src: [4]Operand{s(5), none, none, none}, DstWords: 1, SrcWords: [4]uint8{1}, Imm: 0xff}},
	} {
		d := newDecoder(t, tc.target)
		var code []byte
		for _, w := range tc.code {
			code = binary.LittleEndian.AppendUint32(code, w)
		}
		got, err := d.Decode(code)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if text := d.Format(&got, 0); text != tc.text {
			t.Errorf("%x: got %q, want %q", code, text, tc.text)
		}
		tc.want.Scale, tc.want.DstY, tc.want.SrcY = [2]Operand{none, none}, none, [3]Operand{none, none, none}
		tc.want.Base, tc.want.Size, tc.want.opcode = tc.want.Enc, uint8(len(code)), got.opcode
		if got != tc.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", tc.text, got, tc.want)
		}
	}
}

func TestBranchTargets(t *testing.T) {
	d := newDecoder(t, "gfx90a")
	in, err := d.Decode([]byte{0xfe, 0xff, 0x82, 0xbf}) // s_branch 65534: one instruction back
	if err != nil {
		t.Fatal(err)
	}
	if got := BranchTarget(&in, 0x1000); got != 0xffc {
		t.Errorf("target %#x, want 0xffc", got)
	}
	got := d.FormatTarget(&in, 0x1000, func(addr uint64) string {
		if addr == 0xffc {
			return "loop"
		}
		return ""
	})
	if got != "s_branch loop" {
		t.Errorf("got %q", got)
	}
	if got := d.Format(&in, 0x1000); got != "s_branch 65534" {
		t.Errorf("got %q", got)
	}
}

// TestAnyBytes: an error or an instruction within bounds, never both.
func TestAnyBytes(t *testing.T) {
	var decoders []*Decoder
	for _, target := range testTargets {
		decoders = append(decoders, newDecoder(t, target))
	}
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.SliceOfN(rapid.Byte(), 0, 24).Draw(t, "code")
		for _, d := range decoders {
			in, err := d.Decode(code)
			switch {
			case err != nil && in != (Inst{}):
				t.Fatalf("both %v and %+v", err, in)
			case err != nil && !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrUnsupported):
				t.Fatalf("unnamed error %v", err)
			case err == nil && (in.Size < 4 || int(in.Size) > len(code) || in.Size%4 != 0):
				t.Fatalf("size %d of %d bytes", in.Size, len(code))
			case err == nil && d.Format(&in, 0) == "invalid":
				t.Fatalf("%+v has no text", in)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, target := range testTargets {
		b.Run(target, func(b *testing.B) {
			d := newDecoder(b, target)
			code := textSections(b, kernelObjects(b, target)[0])[0].code
			b.ReportAllocs()
			at := 0
			for b.Loop() {
				in, err := d.Decode(code[at:])
				if err != nil {
					b.Fatal(err)
				}
				if at += int(in.Size); at+20 > len(code) {
					at = 0
				}
			}
		})
	}
}
