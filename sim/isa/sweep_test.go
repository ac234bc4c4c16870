package isa

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// TestRandomEncodingsAgreeWithLLVM decodes random operand and modifier fields of
// every encoding and compares acceptance and text with llvm-mc. GFXRT_SWEEP=N
// takes N samples of each opcode instead of a few of each family.
func TestRandomEncodingsAgreeWithLLVM(t *testing.T) {
	mc := llvmTool(t, "llvm-mc")
	for _, target := range testTargets {
		t.Run(target, func(t *testing.T) {
			d := newDecoder(t, target)
			accepted, rejected := sweepSamples(t, d, target)
			oracle := &llvmMC{path: mc, d: d}
			for name, codes := range map[string][][]byte{"accepted": accepted, "rejected": rejected} {
				bad := map[string]int{}
				for i, a := range oracle.disassemble(t, codes) {
					got, want := answerOf(d, codes[i]), a
					if refused(d, want.text) || reserved(d, codes[i]) {
						want = answer{}
					}
					if want.text != "" && want.size == 0 {
						want.size = got.size
					}
					// LLVM ends the absolute value after the mask.
					want.text = maskInAbs.ReplaceAllString(want.text, "|$1|, $2")
					if got == want {
						continue
					}
					key := strings.Fields(got.text + " " + want.text)[0]
					if bad[key]++; bad[key] <= 2 {
						t.Errorf("%x: got %q size %d, llvm-mc %q size %d", codes[i], got.text, got.size, a.text, a.size)
					}
				}
				total := 0
				for _, n := range bad {
					total += n
				}
				t.Logf("%s by the decoder: %d of %d agree", name, len(codes)-total, len(codes))
			}
		})
	}
}

// refused reports text that the assembler would refuse. llvm-mc's disassembler
// remarks on some invalid operands, but prints others without a word: registers of
// other families, tuples that are odd or leave the register file, apertures as a
// destination or in a matrix operation, lane masks that are not in SGPRs, FLAT
// offsets of 13 bits.
func refused(d *Decoder, text string) bool {
	f := d.features
	text = strings.NewReplacer("/* invalid instid value */", "", "/* invalid instskip value */", "").Replace(text) // s_delay_alu
	if f.gen == 9 && !f.gfx90a && agprMemory.MatchString(text) {
		return true
	}
	if invalidOperand.MatchString(text) || f.gen == 9 && foreign.MatchString(text) || f.gen >= 10 && foreign10.MatchString(strings.TrimPrefix(text, "v_wmma_ld_scale")) {
		return true
	}
	if g := flatOffset.FindStringSubmatch(text); g != nil && f.gen >= 10 && f.gen < 12 {
		if n, _ := strconv.Atoi(g[1]); n >= 2048<<(f.gen-10) {
			return true
		}
	}
	if !f.gfx1250 && strings.Contains(text, "src_flat_scratch_base") || f.gen > 10 && strings.Contains(text, "src_lds_direct") {
		return true
	}
	for _, g := range tuple.FindAllStringSubmatch(text, -1) {
		lo, _ := strconv.Atoi(g[1])
		hi, _ := strconv.Atoi(g[2])
		if lo&1 != 0 && (f.gfx90a || f.gfx1250) && g[0][0] != 's' || hi > 255 {
			return true
		}
	}
	return laneMask.MatchString(text) && !sgprLast.MatchString(text)
}

var (
	maskInAbs  = regexp.MustCompile(`\|(v\d+), (vcc(?:_lo)?)\|`)
	agprMemory = regexp.MustCompile(`^(ds|flat|global|scratch|buffer|tbuffer)_.*\ba(\d|\[)`)
	foreign    = regexp.MustCompile(`[ -|(]null\b|src_flat_scratch_base|s\[\d+:10[2-9]\]|^v_cmp.*_e64 src_|^v_s?mf.* src_` +
		`|^global.*[ ,]exec\b|^flat_.* offset:(409[6-9]|4[1-9]\d\d|[5-8]\d{3})|^v_read(first)?lane_b32 src_|^v_swap_b32 .*src_|^v_readfirstlane_b32 .*src_|^v_nop |^v_clrexcp `)
	foreign10  = regexp.MustCompile(`s\[\d+:10[6-9]\]|^(global|flat|cluster).*[ ,]exec\b|^v_fma_mix\w*_dpp [^,]*, [^,]*, -?\|?(null|src_)|^v_s_\w+ src_|^v_cvt_scale_pk.* src_|^v_cmp_.*_e64(_dpp)? src_|^v_permlane64_b32 .*src_|^v_swap.*(null|src_)|^v_dot4_f32\w*_dpp .*src_|^v_readfirstlane_b32 .*src_|^v_s?w?mm.*[ ,](s\d|s\[|null|vcc|exec|m0|ttmp|src_)|^v_movrels.* (src_|null)`)
	flatOffset = regexp.MustCompile(`^flat_.* offset:(\d+)`)
	tuple      = regexp.MustCompile(`[va]\[(\d+):(\d+)\]`)
	laneMask   = regexp.MustCompile(`^v_((cndmask_b32|addc_co_u32|subb_co_u32|subbrev_co_u32|(add|sub|subrev)_co_ci_u32)_e64|cndmask_b16|cndmask_b16_e64)(_dpp)? `)
	sgprLast   = regexp.MustCompile(`, (s\[\d+:\d+\]|s\d+|(vcc|exec)(_lo|_hi)?|m0|null|flat_scratch|xnack_mask|ttmp(\[\d+:\d+\]|\d+))( clamp|$| [a-z0-9_]+:)`)
)

// noOperands reports the VOP1 opcodes v_nop, v_clrexcp and v_pipeflush.
func noOperands(d *Decoder, opcode uint32) bool {
	if d.gen == 9 {
		return opcode == 0 || opcode == 0x35
	}
	return opcode == 0 || opcode == 0x1b || opcode == 0x41 && d.gen == 10
}

// reserved reports a reserved field value that llvm-mc reads as another one:
// DST_UNUSED 3 of SDWA, SDWA or DPP of instructions without operands, and
// literals in gfx9's VOP3 and in buffer encodings, and op_sel bits of operands that an
// operation on halves does not have: LLVM reads it as one on whole registers.
func reserved(d *Decoder, code []byte) bool {
	w := binary.LittleEndian.Uint32(code)
	if d.gen >= 11 && w>>26 == 0x35 {
		if _, f := d.lookup(d.t.vop3, w>>16&0x3ff); f != nil && w>>11&15&f.noHalves() != 0 {
			return true
		}
	}
	if len(code) >= 12 && d.gen >= 11 && (w>>26 == 0x35 || w>>23 == 0x198) {
		hi := binary.LittleEndian.Uint32(code[4:])
		t, opcode := d.t.vop3DPP, w>>16&0x3ff
		if w>>26 == 0x33 {
			t, opcode = d.t.vop3pDPP, w>>16&0x7f
		}
		if _, f := d.lookup(t, opcode); f != nil && (hi&0x1ff == srcDPP || d.dpp8(hi&0x1ff)) {
			for _, sl := range f.src[:f.n] {
				src1, src2 := hi>>9&0x1ff, hi>>18&0x1ff
				if sl.field == fieldSrc1 && (src1 == 255 || src1 < 256 && d.gen == 11 && !d.gfx115) || sl.field == fieldSrc2 && src2 == 255 {
					return true
				}
			}
		}
	}
	if dpp8 := func(code uint32) bool { return code == srcDPP8 || code == srcDPP8FI }; len(code) >= 8 && d.gen >= 10 {
		hi := binary.LittleEndian.Uint32(code[4:])
		if w>>25 == 0x3f && dpp8(w&0x1ff) && noOperands(d, w>>9&0xff) {
			return true
		}
		if w>>26 == 0x35 && w>>24&3 == 1 && (hi&0x1ff == srcDPP || dpp8(hi&0x1ff)) && noOperands(d, w>>16&0x3ff-0x180) {
			return true
		}
		if gen12 := d.gen == 12; !gen12 && (w>>26 == 0x38 || w>>26 == 0x3a) && hi>>24 == 255 {
			return true
		}
	}
	if d.gen == 10 && w>>23 == 0x1a7 { // v_fma_mix* of gfx9, which llvm-mc takes for gfx10 too
		return true
	}
	if len(code) >= 8 && d.gen == 9 {
		hi := binary.LittleEndian.Uint32(code[4:])
		switch w >> 26 {
		case 0x34: // VOP3
			t, opcode := d.t.vop3, w>>16&0x3ff
			if w>>23 == 0x1a7 {
				t, opcode = d.t.vop3p, w>>16&0x7f
			}
			if _, f := d.lookup(t, opcode); f != nil {
				for i := range f.n {
					if hi>>(9*i)&0x1ff == 255 {
						return true
					}
				}
			}
		case 0x38, 0x3a:
			if hi>>24 == 255 {
				return true
			}
		}
	}
	low, vop1 := w&0x1ff, w>>25 == 0x3f
	if w>>31 != 0 || (low != srcSDWA || d.gen > 10) && low != srcDPP {
		return false
	}
	return vop1 && noOperands(d, w>>9&0xff) || low == srcSDWA && w>>25 != 0x3e && code[5]>>3&3 == 3
}

func answerOf(d *Decoder, code []byte) answer {
	in, err := d.Decode(code)
	if err != nil {
		return answer{}
	}
	return answer{d.Format(&in, 0), int(in.Size)}
}

// sweepSamples makes random encodings, sorted by whether the decoder takes them.
func sweepSamples(t *testing.T, d *Decoder, target string) (accepted, rejected [][]byte) {
	t.Helper()
	perOp, maxRejected := 1, 150
	if testing.Short() {
		perOp, maxRejected = 1, 30
	}
	if n, err := strconv.Atoi(os.Getenv("GFXRT_SWEEP")); err == nil && n > 0 {
		perOp, maxRejected = n, 1<<30
	}
	add := func(code []byte) {
		switch in, err := d.Decode(code); {
		case err == nil && in.Enc == EncDPP && (in.Op == VFmacF16 || in.Op == VFmacF32) && !in.Src[1].IsVGPR():
			// llvm-mc prints the code of the constant.
		case err == nil && in.Enc == EncDPP && (in.Base == EncVOP3 || in.Base == EncVOP3P) && in.DPP.Ctrl >= 128 && in.DPP.Ctrl < 256:
			// llvm-mc takes the control for a source code, as below.
		case err == nil && in.DPP.DPP8 && in.DPP.Ctrl >= 128 && in.DPP.Ctrl < 256:
			// For some opcodes, llvm-mc takes such a selector for a source code and prints
			// the constant with that code, or dies.
		case err == nil:
			accepted = append(accepted, code[:in.Size]) // what follows could make llvm-mc die
		case !errors.Is(err, ErrUnsupported) && !literal64(d, code):
			rejected = append(rejected, code)
		}
	}
	r := rand.New(rand.NewPCG(90, 42))
	for _, row := range tableRows(t, target) {
		for _, base := range variants(d, row) {
			for range perOp {
				add(randomize(r, d.gen, row.family, base))
			}
		}
	}
	for range perOp * 100 { // any opcode, known or not
		w := binary.LittleEndian.AppendUint64(nil, r.Uint64()>>(32*r.IntN(2)))
		add(append(w, 0, 0, 0, 0, 0, 0, 0, 0))
	}
	r.Shuffle(len(rejected), func(i, j int) { rejected[i], rejected[j] = rejected[j], rejected[i] })
	rejected = rejected[:min(len(rejected), maxRejected)]
	sort.Slice(rejected, func(i, j int) bool { return string(rejected[i]) < string(rejected[j]) })
	return accepted, rejected
}

// literal64 reports a source code that is a 64-bit literal on gfx1250, which LLVM's
// disassembler takes in more places than the assembler.
func literal64(d *Decoder, code []byte) bool {
	if !d.gfx1250 {
		return false
	}
	w, hi := binary.LittleEndian.Uint32(code), uint32(0)
	if len(code) >= 8 {
		hi = binary.LittleEndian.Uint32(code[4:])
	}
	const lit64 = 254
	switch {
	case w>>31 == 0:
		return w&0x1ff == lit64
	case w>>30 == 2:
		return w&0xff == lit64 || w>>8&0xff == lit64
	}
	return w>>26 == 0x32 && w&0x1ff == lit64 || hi&0x1ff == lit64 || hi>>9&0x1ff == lit64 || hi>>18&0x1ff == lit64
}

// variants are the encodings of a row: plain, and with an SDWA, DPP16 or DPP8 dword.
func variants(d *Decoder, row tableRow) [][]byte {
	w := binary.LittleEndian.Uint32(row.code)
	all := [][]byte{row.code}
	add := func(src0 uint32, second uint32) {
		code := binary.LittleEndian.AppendUint32(nil, w&^0x1ff|src0)
		all = append(all, binary.LittleEndian.AppendUint32(code, second))
	}
	switch row.family {
	case "VOP1", "VOP2", "VOPC":
		if d.gen <= 10 {
			add(srcSDWA, 0x06060600)
		}
		add(srcDPP, 0xff000000)
		if d.gen >= 10 {
			add(srcDPP8, 0)
			add(srcDPP8FI, 0xfac688<<8)
		}
	case "VOP3", "VOP3P":
		if d.gen < 11 {
			break
		}
		for _, src0 := range []byte{srcDPP, srcDPP8, srcDPP8FI} {
			code := append([]byte(nil), row.code[:8]...)
			code[4], code[5] = src0, code[5]&^1
			all = append(all, append(code, 7, 0, 0, 0xff))
		}
	}
	return all
}

// sweepFields are the bits of the first two dwords that a family's sample may
// change: operands, modifiers and reserved bits, not the opcode.
func sweepFields(gen uint8, family string) uint64 {
	m, ok := map[string]uint64{
		"SOP2": 0x7fffff, "SOPK": 0x7fffff, "SOP1": 0x7f00ff, "SOPC": 0xffff, "SOPP": 0xffff,
		"SMEM": 0xffffffff_0003ffff, "VOP1": 0xffffffff_01fe01ff, "VOP2": 0xffffffff_01ffffff, "VOPC": 0xffffffff_0001ffff,
		"VOP3": 0xffffffff_0000ffff, "VOP3P": 0xffffffff_0000ffff, "DS": 0xffffffff_0200ffff, "DS_GDS": 0xffffffff_0200ffff,
		"FLAT": 0xffffffff_02033fff, "GLOBAL": 0xffffffff_02033fff, "SCRATCH": 0xffffffff_02033fff,
		"MUBUF": 0xffffffff_0203ffff, "MTBUF": 0xffffffff_03f87fff, "VOPD_X": 0xffffffff_0001ffff, "VOPD_Y": 0xffffffff_0001ffff,
		"VBUFFER": 0xffffffff_03c03fff, "VOPD3_X": 0xffffffff_00000fff, "VOPD3_Y": 0xffffffff_00000fff, "TENSOR": 0xffffffff_03c03fff, "VOP3PX": 0xffffffff_0000ffff,
	}[family]
	if !ok || gen == 9 {
		return m
	}
	switch family {
	case "DS", "DS_GDS":
		return 0xffffffff_0001ffff
	case "MUBUF":
		return 0xffffffff_0003ffff
	case "SMEM":
		if gen == 12 {
			return 0xffffffff_03f81fff
		}
	case "FLAT", "GLOBAL", "SCRATCH":
		if gen == 12 {
			return 0xffffffff_00c03fff
		}
		if gen == 11 {
			return 0xffffffff_0200ffff
		}
	case "MTBUF":
		if gen == 10 {
			return 0xffdfffff_03f8ffff
		}
	}
	return m
}

// randomize changes a random subset of the bits that may change, in groups, so
// that both near-default and wild encodings occur, and adds two literal dwords.
func randomize(r *rand.Rand, gen uint8, family string, base []byte) []byte {
	code := append([]byte(nil), base...)
	mask := sweepFields(gen, family)
	low := binary.LittleEndian.Uint32(code) & 0x1ff
	plain := true
	switch family {
	case "VOP1", "VOP2", "VOPC":
		if plain = low != srcSDWA && low != srcDPP && low != srcDPP8 && low != srcDPP8FI; !plain {
			mask &^= 0x1ff
		}
	case "VOP3", "VOP3P":
		if plain = len(base) == 8; !plain {
			mask &^= 0x1ff << 32
		}
	}
	group := func(at int, m uint64) {
		var b [8]byte
		copy(b[:], code[at:])
		w := binary.LittleEndian.Uint64(b[:])
		for lo := 0; lo < 64; {
			n := 1 + r.IntN(9)
			g := (uint64(1)<<n - 1) << lo & m
			if r.IntN(2) == 0 {
				w = w&^g | r.Uint64()&g
			}
			lo += n
		}
		binary.LittleEndian.PutUint64(b[:], w)
		copy(code[at:], b[:])
	}
	if len(code) == 4 {
		mask &= 0xffffffff
	}
	group(0, mask)
	if len(code) > 8 && (!plain || family != "VOP3" && family != "VOP3P" && family != "VOPD_X" && family != "VOPD_Y") {
		if family == "VOP3PX" {
			group(8, mask)
		} else {
			group(8, 0xffffffff)
		}
	}
	literals := []uint64{r.Uint64(), uint64(r.IntN(100)), uint64(-r.IntN(20)), 0x3f800000, 0xc0800000, 0x3e22f983, 0x3c00, 0xc400, 0x3118, 0x3fe00000, 0xbff00000}
	return binary.LittleEndian.AppendUint64(code, literals[r.IntN(len(literals))])
}

// TestImmediatesAgreeWithLLVM walks the 16-bit immediates that print by name:
// every 251st value, or all of them with GFXRT_SWEEP.
func TestImmediatesAgreeWithLLVM(t *testing.T) {
	mc := llvmTool(t, "llvm-mc")
	step := 251
	if os.Getenv("GFXRT_SWEEP") != "" {
		step = 1
	}
	for _, target := range testTargets {
		t.Run(target, func(t *testing.T) {
			d := newDecoder(t, target)
			var codes, bases [][]byte
			for _, row := range tableRows(t, target) {
				switch row.mnemonic {
				case "s_waitcnt", "s_sendmsg", "s_set_gpr_idx_mode", "s_getreg_b32", "ds_swizzle_b32", "s_version",
					"s_delay_alu", "s_waitcnt_depctr", "s_wait_alu", "s_wait_event", "s_set_vgpr_msb":
					bases = append(bases, row.code)
				}
			}
			for i := 0; i < 1<<16; i += step {
				for _, base := range bases {
					code := append([]byte(nil), base...)
					binary.LittleEndian.PutUint16(code, uint16(i))
					codes = append(codes, code)
				}
			}
			failed := 0
			for i, want := range (&llvmMC{path: mc, d: d}).disassemble(t, codes) {
				if got := answerOf(d, codes[i]); got.text != want.text {
					if failed++; failed < 20 {
						t.Errorf("%x: got %q, llvm-mc %q", codes[i], got.text, want.text)
					}
				}
			}
			t.Logf("%d of %d agree", len(codes)-failed, len(codes))
		})
	}
}
