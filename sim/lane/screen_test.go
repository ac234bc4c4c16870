package lane

import "testing"

// The first entries of the table that the "Vega" ISA document prints for
// V_SCREEN_PARTITION_4SE_B32.
func TestScreenPartitionTable(t *testing.T) {
	want := []uint32{
		0x1, 0x3, 0x7, 0xf, 0x5, 0xf, 0xf, 0xf, 0x7, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf,
		0xf, 0x2, 0x6, 0xe, 0xf, 0xa, 0xf, 0xf, 0xf, 0xb, 0xf, 0xf, 0xf, 0xf, 0xf, 0xf,
	}
	var d, a Row
	for i := range want {
		a[i] = uint32(i) | 0xabcd00
	}
	Kernels["v_screen_partition_4se_b32"].Fn(&d, &a, nil, nil, 1<<len(want)-1, &Env{})
	for i, w := range want {
		if d[i] != w {
			t.Errorf("entry %#x is %#x, want %#x", i, d[i], w)
		}
	}
	if d[len(want)] != 0 {
		t.Error("an inactive lane was written")
	}
}
