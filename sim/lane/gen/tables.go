package main

// tables are the constant vectors that bodies and templates name.
var tables = func() map[string][]byte {
	t := map[string][]byte{}
	gen := func(name string, n int, f func(i int) uint32) {
		v := make([]uint32, n)
		for i := range v {
			v[i] = f(i)
		}
		t[name] = dwords(v...)
	}
	// For VPERMI2D of a row of low and a row of high dwords.
	gen("interleaveLo", 16, func(i int) uint32 { return uint32(i/2 + i%2*16) })
	gen("interleaveHi", 16, func(i int) uint32 { return uint32(8 + i/2 + i%2*16) })
	gen("evenDwords", 16, func(i int) uint32 { return uint32(2 * i) })
	gen("oddDwords", 16, func(i int) uint32 { return uint32(2*i + 1) })
	gen("countD", 16, func(i int) uint32 { return uint32(i) })
	gen("countQ", 16, func(i int) uint32 { return uint32((1 - i%2) * i / 2) })
	// The lanes below a lane.
	gen("lanesBelowLo", 64, func(i int) uint32 { return uint32(uint64(1)<<i - 1) })
	gen("lanesBelowHi", 64, func(i int) uint32 { return uint32((uint64(1)<<i - 1) >> 32) })
	// Per byte, for VPSHUFB. Each is repeated over four rows of chunks.
	bytes16 := func(name string, f func(i int) byte) {
		for i := range 256 {
			t[name] = append(t[name], f(i%16))
		}
	}
	rev4 := func(x int) byte { return byte(x&1<<3 | x&2<<1 | x&4>>1 | x&8>>3) }
	bytes16("reversedToHigh", func(i int) byte { return rev4(i) << 4 })
	bytes16("reversedToLow", func(i int) byte { return rev4(i) })
	// For each op_sel bit and op_sel_hi bit times 2: the bytes of a pair of halves.
	for sel := range 4 {
		for i := range 16 {
			half := sel >> (i >> 1 & 1) & 1
			t["halves"] = append(t["halves"], byte(i&^3|half<<1|i&1))
		}
	}
	bytes16("secondQword", func(i int) byte { return byte(i & 8) })
	bytes16("swapBytes", func(i int) byte { return byte(i ^ 3) })
	return t
}()
