package lane

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// Instructions that have no lane kernel: the executor moves data for these.
var execOnly = map[string]bool{
	"v_readfirstlane_b32": true, "v_readlane_b32": true, "v_writelane_b32": true,
	"v_nop": true, "v_clrexcp": true, "v_swap_b32": true,
}

// AMD has not published what this one computes; it must stop the wave.
var undefined = map[string]bool{"v_screen_partition_4se_b32": true}

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
			case execOnly[name] || undefined[name]:
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
