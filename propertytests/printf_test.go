package propertytests

import (
	"fmt"
	"testing"

	"gfxrt/runtime"
)

// TestOpenCLPrintf: literal strings, which LLVM 22 stores with and without
// their NUL, and vectors of every width. The text is what OpenCL C says
// (6.15.14: elements separated by commas, flags and width for each).
func TestOpenCLPrintf(t *testing.T) {
	literals := "[] 7\n[a] 7\n[ab] 7\n[abc] 7\n[abcd] 7\n[abcde] 7\n[abcdefgh] 7\n[abcd|efghijkl] 7\n[abc|defg] 7\n" +
		"7 [1234||12345678]\n[ab] [     efgh] [ijkl     ]\n"
	vectors := "7,-1 7,2,255 1,2,3,fe\n7,-2 1,-2,3 1,2,3,4,5,6,7,65535\n7,-3 1,2,3,deadbeef 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n" +
		"7,-5000000000 1,2,18446744073709551615\n" +
		"0.500000,-0.250000 1.000000e+00,2.000000e+00,3.000000e+00,4.000000e+00 0.1,1e+10,-0\n" +
		fmt.Sprintf("0.100000,%f 0x1p+0,0x1p+1,0x1p-1,0x0p+0\n", -1e300) +
		"|    1,    2|3    ,4    |00005,-0006|+7,+8|1.500,2.250|0x9,0xa|\n"
	for _, target := range serviceTargets {
		for _, c := range []struct{ kernel, want string }{{"printf_literals", literals}, {"printf_vectors", vectors}} {
			t.Run(c.kernel+"/"+target, func(t *testing.T) {
				r := newRig(t, target)
				a := r.words(1)
				if err := a.Write(0, []byte{7}); err != nil {
					t.Fatal(err)
				}
				r.run("printf_literals", c.kernel, 1, 1, runtime.Ptr(a))
				if got := r.out.String(); got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
				if d := r.diagnostics(); len(d) != 0 {
					t.Errorf("diagnostics %v", d)
				}
			})
		}
	}
}
