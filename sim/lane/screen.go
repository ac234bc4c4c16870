package lane

import "math/bits"

func init() {
	register(map[string]Kernel{"v_screen_partition_4se_b32": {Fn: screenPartition4SE, Dst: B32, Src: [3]Type{B32}}})
}

// screenPartition4SE is v_screen_partition_4se_b32 ("Vega" ISA document): the
// mask of shader engines whose 32-pixel tiles a rectangle covers. The source
// holds bits 6:5 of x_min, y_min, x_max and y_max from bit 7 down; the tile at
// (x, y) belongs to engine {x[5]^y[6], y[5]^x[6]}. Ranges wrap at four tiles.
func screenPartition4SE(d, a, _, _ *Row, exec uint64, _ *Env) {
	for m := exec; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m) & 63
		d[l] = screenMask(a[l])
	}
}

func screenMask(s uint32) uint32 {
	x0, y0, x1, y1 := s>>6&3, s>>4&3, s>>2&3, s&3
	var mask uint32
	for i := uint32(0); i <= (x1-x0)&3; i++ {
		for j := uint32(0); j <= (y1-y0)&3; j++ {
			x, y := (x0+i)&3, (y0+j)&3
			mask |= 1 << ((x&1^y>>1)<<1 | (y&1 ^ x>>1))
		}
	}
	return mask
}
