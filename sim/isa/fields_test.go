package isa

import (
	"encoding/hex"
	"strings"
	"testing"
)

// TestDecodedFieldsOfLaterFamilies: what the executor must see of encodings that
// gfx9 does not have. The encodings are llvm-mc's.
func TestDecodedFieldsOfLaterFamilies(t *testing.T) {
	const none = OperandNone
	s, v, a := func(n int) Operand { return Operand(n) }, func(n int) Operand { return OperandVGPR + Operand(n) }, func(n int) Operand { return OperandAGPR + Operand(n) }
	src := func(o ...Operand) [4]Operand {
		all := [4]Operand{none, none, none, none}
		copy(all[:], o)
		return all
	}
	for _, tc := range []struct {
		target, text, code string
		want               Inst
	}{
		{"gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], a[4:11], v[4:9], a[0:3], v20, v21 op_sel_hi:[1,0,0] blgp:2", "0000acd3142b02080088add30409024c",
			Inst{Op: VMfmaScaleF3216x16x128F8f6f4, Enc: EncVOP3P, Dst: a(0), DstWords: 4, Src: src(a(4), v(4), a(0)), SrcWords: [4]uint8{8, 6, 4},
				Blgp: 2, Scale: [2]Operand{v(20), v(21)}, ScaleOpSelHi: 1}},
		{"gfx1030", "v_cndmask_b32_e64 v1, v2, v3, s4", "010001d502071200",
			Inst{Op: VCndmaskB32, Enc: EncVOP3, Dst: v(1), DstWords: 1, Src: src(v(2), v(3), s(4)), SrcWords: [4]uint8{1, 1, 1}}},
		{"gfx1030", "v_cmp_lt_f32_e64 s6, v2, 0x40490fdb", "060001d402ff0100db0f4940",
			Inst{Op: VCmpLtF32, Enc: EncVOP3, Dst: s(6), DstWords: 1, Src: src(v(2), OperandLiteral), SrcWords: [4]uint8{1, 1}, Literal: 0x40490fdb}},
		{"gfx1030", "global_load_dword v1, v2, s[4:5] offset:-8", "f88f30dc02000401",
			Inst{Op: GlobalLoadDword, Enc: EncFLAT, Seg: SegGlobal, Dst: v(1), DstWords: 1, Src: src(v(2), none, s(4)), SrcWords: [4]uint8{1, 0, 2}, Flags: FlagSAddr, Offset: -8}},
		{"gfx1030", "v_mov_b32_dpp v1, v2 dpp8:[1,0,3,2,5,4,7,6] fi:1", "ea02027e02c154de",
			Inst{Op: VMovB32, Enc: EncDPP, Base: EncVOP1, Dst: v(1), DstWords: 1, Src: src(v(2)), SrcWords: [4]uint8{1}, Flags: FlagFI, DPP: DPP{Ctrl: 0xde54c1, DPP8: true}}},
		{"gfx1030.w64", "v_cmp_lt_f32_e32 vcc, v2, v3", "0207027c",
			Inst{Op: VCmpLtF32, Enc: EncVOPC, Dst: OperandVCCLo, DstWords: 2, Src: src(v(2), v(3)), SrcWords: [4]uint8{1, 1}}},
		{"gfx1030.w64", "v_add_co_ci_u32_e64 v1, s[2:3], v4, v5, s[6:7]", "010228d5040b1a00",
			Inst{Op: VAddCoCiU32, Enc: EncVOP3, Dst: v(1), DstWords: 1, SDst: s(2), SDstWords: 2, Src: src(v(4), v(5), s(6)), SrcWords: [4]uint8{1, 1, 2}}},
		{"gfx1100", "v_add_f16_e32 v1.l, v2.h, v3.l", "82070264",
			Inst{Op: VAddF16, Enc: EncVOP2, Dst: v(1), DstWords: 1, Src: src(v(2), v(3)), SrcWords: [4]uint8{1, 1}, OpSel: 1}},
		{"gfx1100", "v_add_f32_e64_dpp v1, v2, -v3 clamp row_shl:1 row_mask:0xf bank_mask:0xf", "018003d5fa060240020101ff",
			Inst{Op: VAddF32, Enc: EncDPP, Base: EncVOP3, Dst: v(1), DstWords: 1, Src: src(v(2), v(3)), SrcWords: [4]uint8{1, 1}, Neg: 2, Flags: FlagClamp,
				DPP: DPP{Ctrl: 0x101, RowMask: 15, BankMask: 15}}},
		{"gfx1100", "v_dual_fmaak_f32 v2, v5, v6, 0x42280000 :: v_dual_mov_b32 v3, s7", "050d50c80700020200002842",
			Inst{Op: VDualFmaakF32, Enc: EncVOPD, Dst: v(2), DstWords: 1, Src: src(v(5), v(6), OperandLiteral), SrcWords: [4]uint8{1, 1, 1}, Literal: 0x42280000,
				OpY: VDualMovB32, DstY: v(3), SrcY: [3]Operand{s(7), none, none}}},
		{"gfx1200", "scratch_load_b32 v1, v2, s3 offset:-4 th:TH_LOAD_NT scope:SCOPE_SYS", "030005ed01001e0002fcffff",
			Inst{Op: ScratchLoadB32, Enc: EncFLAT, Seg: SegScratch, Dst: v(1), DstWords: 1, Src: src(v(2), none, s(3)), SrcWords: [4]uint8{1, 0, 1},
				Flags: FlagSAddr, Offset: -4, Th: 1, Scope: 3}},
		{"gfx1200", "global_atomic_add_u32 v1, v[2:3], v4, off offset:16 th:TH_ATOMIC_RETURN scope:SCOPE_DEV", "7c400dee0100180202100000",
			Inst{Op: GlobalAtomicAddU32, Enc: EncFLAT, Seg: SegGlobal, Dst: v(1), DstWords: 1, Src: src(v(2), v(4)), SrcWords: [4]uint8{2, 1},
				Flags: FlagGLC, Offset: 16, Th: 1, Scope: 2}},
		{"gfx1200", "buffer_load_b64 v[2:3], v1, s[8:11], null offen offset:1024", "7c4005c40210804001000400",
			Inst{Op: BufferLoadB64, Enc: EncMUBUF, Dst: v(2), DstWords: 2, Src: src(v(1), s(8), OperandNull), SrcWords: [4]uint8{1, 4, 1}, Flags: FlagOffen, Offset: 1024}},
		{"gfx1250", "s_add_nc_u64 s[0:1], s[2:3], 0x123456789abcdef0", "02fe80a9f0debc9a78563412",
			Inst{Op: SAddNcU64, Enc: EncSOP2, Dst: s(0), DstWords: 2, Src: src(s(2), OperandLiteral), SrcWords: [4]uint8{2, 2}, Literal: 0x123456789abcdef0, Flags: FlagLiteral64}},
		{"gfx1250", "v_dual_cndmask_b32 v1, -v2, v3, s5 :: v_dual_bitop2_b32 v4, v5, v6 bitop3:0x14", "022125cf0503030501061404",
			Inst{Op: VDualCndmaskB32, Enc: EncVOPD, Dst: v(1), DstWords: 1, Src: src(v(2), v(3), s(5)), SrcWords: [4]uint8{1, 1, 1}, Neg: 1,
				OpY: VDualBitop2B32, DstY: v(4), SrcY: [3]Operand{v(5), v(6), none}, ImmY: 0x14, VOPD3: true}},
		{"gfx1250", "flat_load_b32 v1, v2, s[4:5] offset:8", "040005ec0100000002080000",
			Inst{Op: FlatLoadB32, Enc: EncFLAT, Dst: v(1), DstWords: 1, Src: src(v(2), none, s(4)), SrcWords: [4]uint8{1, 0, 2}, Flags: FlagSAddr, Offset: 8}},
		{"gfx1250", "v_wmma_scale16_f32_16x16x128_f8f6f4 v[0:7], v[8:15], v[24:39], v[40:47], v[2:3], v[4:5] matrix_a_fmt:MATRIX_FMT_FP4 matrix_b_scale_fmt:MATRIX_SCALE_FMT_E4M3", "00023acc02090204002033cc0831a204",
			Inst{Op: VWmmaScale16F3216x16x128F8f6f4, Enc: EncVOP3P, Dst: v(0), DstWords: 8, Src: src(v(8), v(24), v(40)), SrcWords: [4]uint8{8, 16, 8},
				Cbsz: 4, Scale: [2]Operand{v(2), v(4)}, ScaleFmt: [2]uint8{0, 2}}},
	} {
		d := newDecoder(t, tc.target)
		code, err := hex.DecodeString(tc.code)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Decode(code)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if text := d.Format(&got, 0); text != tc.text {
			t.Errorf("%s %s: got %q, want %q", tc.target, tc.code, text, tc.text)
		}
		fillDefaults(&tc.want)
		tc.want.Size, tc.want.opcode = uint8(len(code)), got.opcode
		if got != tc.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", tc.text, got, tc.want)
		}
	}
}

// fillDefaults sets the operands that a test left out.
func fillDefaults(in *Inst) {
	if in.SDstWords == 0 {
		in.SDst = OperandNone
	}
	if in.Scale == [2]Operand{} {
		in.Scale = [2]Operand{OperandNone, OperandNone}
	}
	if in.OpY == OpInvalid {
		in.DstY, in.SrcY = OperandNone, [3]Operand{OperandNone, OperandNone, OperandNone}
	}
	if in.Base == EncNone {
		in.Base = in.Enc
	}
}

func TestWaveSizes(t *testing.T) {
	for _, tc := range []struct {
		target string
		wave   int
		ok     bool
	}{
		{"gfx90a", 64, true}, {"gfx90a", 32, false}, {"gfx1100", 32, true}, {"gfx1100", 64, true}, {"gfx1100", 16, false},
		{"gfx1250", 32, true}, {"gfx1250", 64, false}, {"gfx1036", 64, true}, {"gfx1103", 32, true}, {"gfx1151", 32, true},
	} {
		d, err := NewDecoderWave(tc.target, tc.wave)
		if (err == nil) != tc.ok {
			t.Errorf("%s wave%d: %v", tc.target, tc.wave, err)
		}
		if err == nil && (d.WaveSize() != tc.wave || d.Target() != tc.target) {
			t.Errorf("%s wave%d: got %s wave%d", tc.target, tc.wave, d.Target(), d.WaveSize())
		}
		if err != nil && !strings.Contains(err.Error(), tc.target) {
			t.Errorf("%v does not name %s", err, tc.target)
		}
	}
}

// TestVOPDNeedsWave32: the encoding does not exist in wave64.
func TestVOPDNeedsWave32(t *testing.T) {
	code := []byte{0x05, 0x0d, 0x50, 0xc8, 0x07, 0x00, 0x02, 0x02, 0x00, 0x00, 0x28, 0x42}
	if _, err := newDecoder(t, "gfx1100.w64").Decode(code); err == nil {
		t.Error("decoded in wave64")
	}
}
