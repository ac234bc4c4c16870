package lane

import (
	"bufio"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// Instructions that have no lane kernel: the executor moves data for these.
var execOnly = map[string]bool{
	"v_readfirstlane_b32": true, "v_readlane_b32": true, "v_writelane_b32": true,
	"v_nop": true, "v_clrexcp": true, "v_swap_b32": true,
}

// Prefixes of the matrix, packed and mixed instructions, whose own tests count
// them.
var packedPrefixes = []string{
	"v_mfma", "v_smfmac", "v_pk_", "v_dot", "v_mad_mix", "v_fma_mix", "v_accvgpr",
	"v_cvt_f32_fp8", "v_cvt_f32_bf8", "v_cvt_pk_f32_fp8", "v_cvt_pk_f32_bf8",
	"v_cvt_pk_fp8", "v_cvt_pk_bf8", "v_cvt_sr_fp8", "v_cvt_sr_bf8",
}

func mnemonics(t *testing.T, target string) []string {
	t.Helper()
	f, err := os.Open("../isa/ops/" + target + ".tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		col := strings.Split(sc.Text(), "\t")
		if fam := col[0]; fam != "VOP1" && fam != "VOP2" && fam != "VOPC" && fam != "VOP3" {
			continue
		}
		name := col[2]
		for _, suffix := range []string{"_e32", "_e64", "_dpp", "_sdwa"} {
			name = strings.TrimSuffix(name, suffix)
		}
		names = append(names, name)
	}
	return names
}

// TestEveryMnemonicHasKernel: no VALU instruction of the tables is forgotten.
func TestEveryMnemonicHasKernel(t *testing.T) {
	for _, target := range []string{"gfx90a", "gfx942"} {
	names:
		for _, name := range mnemonics(t, target) {
			for _, p := range packedPrefixes {
				if strings.HasPrefix(name, p) {
					continue names
				}
			}
			k, ok := Kernels[name]
			switch {
			case execOnly[name]:
				if ok {
					t.Errorf("%s: %s is listed as having no kernel but has one", target, name)
				}
			case !ok:
				t.Errorf("%s: %s has no kernel", target, name)
			case (k.Fn == nil) == (k.Cmp == nil):
				t.Errorf("%s: %s needs either Fn or Cmp", target, name)
			case strings.HasPrefix(name, "v_cmpx") != k.CmpX || (k.Cmp != nil) != strings.HasPrefix(name, "v_cmp"):
				t.Errorf("%s: %s: compare flags %+v", target, name, k)
			}
		}
	}
}

// rowsOf is the number of rows that an operand spans.
func rowsOf(t Type) int {
	switch t {
	case TypeNone, Mask:
		return 0
	case B128:
		return 4
	}
	return max(typeBits(t)/32, 1)
}

// unpackedKernels are the kernels that read and write their own lane only.
func unpackedKernels(t *testing.T) []string {
	var names []string
	for _, target := range []string{"gfx90a", "gfx942"} {
	next:
		for _, name := range mnemonics(t, target) {
			for _, p := range packedPrefixes {
				if strings.HasPrefix(name, p) {
					continue next
				}
			}
			if _, ok := Kernels[name]; ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// randomRows fills rows with floats and integers of all sizes.
func randomRows(r *rand.Rand, rows []Row) {
	for i := range rows {
		for j := range rows[i] {
			switch r.IntN(4) {
			case 0:
				rows[i][j] = uint32(ref32.draw(r))
			case 1:
				rows[i][j] = uint32(ref16.draw(r))
			case 2:
				rows[i][j] = uint32(ref64.draw(r) >> 32)
			default:
				rows[i][j] = r.Uint32() >> r.IntN(32)
			}
		}
	}
}

// TestExecAndOverlap: under any EXEC a kernel gives active lanes what it gives
// them under a full one and leaves inactive lanes alone, wherever the
// destination lies over the sources.
func TestExecAndOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for _, name := range unpackedKernels(t) {
		k := Kernels[name]
		for try := range 12 {
			exec := []uint64{r.Uint64(), r.Uint64() & r.Uint64() & r.Uint64(), 0, 1, 1 << 63, ^uint64(0), 0xFFFFFFFF, ^uint64(1)}[try%8]
			env := Env{Mode: Mode(r.Uint32() & 0x8003FF), CarryIn: r.Uint64(), Clamp: r.IntN(3) == 0, Gen: GenGFX90A}
			if try%2 == 0 {
				env.Mode = 0x2F0
			}
			// Sources at rows 0, 4 and 8; destination anywhere over them or apart.
			const rows = 20
			var before [rows]Row
			randomRows(r, before[:])
			apart, full := before, env
			if k.Cmp != nil {
				all := k.Cmp(&apart[0], &apart[4], ^uint64(0), &full)
				if got := k.Cmp(&apart[0], &apart[4], exec, &env); got != all&exec {
					t.Fatalf("%s exec %#x = %#x, want %#x", name, exec, got, all&exec)
				}
				continue
			}
			k.Fn(&apart[12], &apart[0], &apart[4], &apart[8], ^uint64(0), &full)
			for i := range apart {
				if i < 12 || i >= 12+rowsOf(k.Dst) {
					if apart[i] != before[i] {
						t.Fatalf("%s wrote row %d outside its destination", name, i-12)
					}
				}
			}
			for _, at := range []int{12, 0, 1, 3, 4, 5, 8, 9} {
				over, part := before, env
				k.Fn(&over[at], &over[0], &over[4], &over[8], exec, &part)
				want := before
				for n := range rowsOf(k.Dst) {
					for i := range 64 {
						if exec>>i&1 != 0 {
							want[at+n][i] = apart[12+n][i]
						}
					}
				}
				if over != want {
					t.Fatalf("%s exec %#x mode %#x clamp %v: destination at row %d differs", name, exec, env.Mode, env.Clamp, at)
				}
				if k.CarryOut && part.CarryOut != full.CarryOut&exec {
					t.Fatalf("%s exec %#x carries %#x, want %#x", name, exec, part.CarryOut, full.CarryOut&exec)
				}
			}
		}
	}
}

// Test16BitResults: a 16-bit result comes zero-extended, and KeepHigh is set for
// the instructions that LLVM's GCNSubtarget::zeroesHigh16BitsOfDest does not
// list for gfx9 and for no others.
func Test16BitResults(t *testing.T) {
	keep := strings.Fields(`v_mad_f16 v_mad_u16 v_mad_i16 v_fma_f16 v_div_fixup_f16 v_mac_f16 v_madmk_f16 v_madak_f16
		v_add_i16 v_sub_i16 v_min3_f16 v_max3_f16 v_med3_f16 v_min3_i16 v_max3_i16 v_med3_i16 v_min3_u16 v_max3_u16 v_med3_u16`)
	r := rand.New(rand.NewPCG(12, 12))
	for _, name := range unpackedKernels(t) {
		k := Kernels[name]
		if got, want := k.KeepHigh, slices.Contains(keep, name); got != want {
			t.Errorf("%s: KeepHigh is %v, want %v", name, got, want)
		}
		if k.Fn == nil || typeBits(k.Dst) != 16 {
			continue
		}
		var w bench
		for i := range w.rows {
			randomRows(r, w.rows[i][:])
		}
		w.run(name, ^uint64(0), &Env{Mode: 0x2F0})
		for i, v := range w.rows[0][0] {
			if v>>16 != 0 {
				t.Fatalf("%s lane %d = %#x: not zero-extended", name, i, v)
			}
		}
	}
}

// TestNoAllocation: kernels run in the simulator's innermost loop.
func TestNoAllocation(t *testing.T) {
	var w bench
	for _, name := range unpackedKernels(t) {
		e := &Env{Mode: 0x2F1}
		if n := testing.AllocsPerRun(1, func() { w.run(name, ^uint64(0), e) }); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// BenchmarkKernels measures one instruction over 64 lanes, one of each class.
func BenchmarkKernels(b *testing.B) {
	r := rand.New(rand.NewPCG(13, 13))
	for _, name := range strings.Fields(`v_mov_b32 v_add_u32 v_lshlrev_b32 v_bfe_u32 v_alignbit_b32 v_mul_lo_u32 v_mad_u64_u32 v_cndmask_b32
		v_addc_co_u32 v_perm_b32 v_med3_i32 v_lshlrev_b64 v_sad_u8 v_cmp_lt_i32 v_cmp_lt_u64 v_cmp_lt_f32 v_cmp_class_f32
		v_add_f32 v_mul_f32 v_fma_f32 v_mad_f32 v_max_f32 v_floor_f32 v_ldexp_f32 v_cvt_f32_i32 v_cvt_i32_f32 v_cvt_f16_f32 v_cvt_f32_f16
		v_add_f16 v_fma_f16 v_add_f64 v_mul_f64 v_fma_f64 v_rcp_f32 v_exp_f32 v_log_f32 v_sin_f32 v_sqrt_f64 v_div_scale_f32 v_div_fmas_f32 v_div_fixup_f32`) {
		var w bench
		for i := range 64 {
			for k := 1; k < 4; k++ {
				w.set(k, i, math.Float64bits(r.Float64()*8))
				if strings.HasSuffix(name, "f32") {
					w.set(k, i, uint64(math.Float32bits(r.Float32()*8)))
				} else if strings.HasSuffix(name, "f16") {
					w.set(k, i, uint64(0x3000+r.IntN(0x1800)))
				}
			}
		}
		for _, c := range []struct {
			name string
			exec uint64
		}{{"full", ^uint64(0)}, {"half", 0x5A3C96A55A3C96A5}, {"one", 1 << 17}} {
			if c.name != "full" && name != "v_add_u32" && name != "v_fma_f32" && name != "v_cmp_lt_f32" {
				continue
			}
			b.Run(name+"/"+c.name, func(b *testing.B) {
				e, k := &Env{Mode: 0x2F0}, Kernels[name]
				d, x, y, z := &w.rows[0][0], &w.rows[1][0], &w.rows[2][0], &w.rows[3][0]
				for b.Loop() {
					if k.Cmp != nil {
						k.Cmp(x, y, c.exec, e)
					} else {
						k.Fn(d, x, y, z, c.exec, e)
					}
				}
			})
		}
	}
}
