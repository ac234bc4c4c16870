package exec

import (
	"testing"

	"gfxrt/runtime/device"
)

// privateByte is where byte a of lane l's private segment lies in the wave's
// scratch (LLVM AMDGPUUsage, "Address Spaces"; abi.md C.5).
func privateByte(a, l int) int { return a/4*(64*4) + l*4 + a%4 }

func TestBufferPrivateSegment(t *testing.T) {
	const (
		storeDword  = "080070e000050021" // buffer_store_dword v5, off, s[0:3], s33 offset:8
		storeX4     = "10007ce000060021" // buffer_store_dwordx4 v[6:9], off, s[0:3], s33 offset:16
		loadX4      = "10005ce0000a0021" // buffer_load_dwordx4 v[10:13], off, s[0:3], s33 offset:16
		storeByte   = "090060e000050021" // buffer_store_byte v5, off, s[0:3], s33 offset:9
		storeShort  = "0a0068e000050021" // buffer_store_short v5, off, s[0:3], s33 offset:10
		storeOdd    = "0d0070e000050021" // buffer_store_dword v5, off, s[0:3], s33 offset:13
		loadOdd     = "0d0050e000060021" // buffer_load_dword v6, off, s[0:3], s33 offset:13
		storeOffen  = "001070e001050021" // buffer_store_dword v5, v1, s[0:3], s33 offen
		storeX4Own  = "00107ce001060021" // buffer_store_dwordx4 v[6:9], v1, s[0:3], s33 offen
		loadX2Own   = "001054e0010a0021" // buffer_load_dwordx2 v[10:11], v1, s[0:3], s33 offen
		storeHalf   = "001068e001050021" // buffer_store_short v5, v1, s[0:3], s33 offen
		loadHalf    = "001048e001010021" // buffer_load_ushort v1, v1, s[0:3], s33 offen
		stackOffset = 4                  // bytes a lane that s33 stands for
	)
	for _, exec := range []uint64{^uint64(0), 0xf0f0_0000_1234_5671} {
		g := newBufferRig(t, "gfx90a")
		g.w.setExec(exec)
		g.descriptor(0, g.w.scratchVA, 0, 0, w3Private, true)
		g.w.S[33] = stackOffset * 64
		want := make([]byte, len(g.w.scratch))
		put := func(a, n int, v uint32, l int) {
			for k := range n {
				if exec>>l&1 != 0 {
					want[privateByte(a+stackOffset+k, l)] = byte(v >> (8 * k))
				}
			}
		}
		check := func(what string) {
			t.Helper()
			if string(want) != string(g.w.scratch) {
				t.Fatalf("%s with exec %#x: scratch differs", what, exec)
			}
		}
		lanes := func(f func(l int)) {
			for l := range 64 {
				f(l)
			}
		}
		g.ok(storeDword)
		lanes(func(l int) { put(8, 4, g.v[5][l], l) })
		check("dword")
		g.ok(storeX4)
		lanes(func(l int) {
			for k := range 4 {
				put(16+4*k, 4, g.v[6+k][l], l)
			}
		})
		check("dwordx4")
		g.ok(loadX4)
		for k := range 4 {
			for l := range 64 {
				if exec>>l&1 != 0 && g.v[10+k][l] != g.v[6+k][l] {
					t.Fatalf("dwordx4 loaded %#x, want %#x", g.v[10+k][l], g.v[6+k][l])
				}
			}
		}
		g.ok(storeByte)
		lanes(func(l int) { put(9, 1, g.v[5][l], l) })
		check("byte")
		g.ok(storeShort)
		lanes(func(l int) { put(10, 2, g.v[5][l], l) })
		check("short")
		// Unaligned accesses go on in the next element.
		g.ok(storeOdd)
		lanes(func(l int) { put(13, 4, g.v[5][l], l) })
		check("unaligned dword")
		g.ok(loadOdd)
		lanes(func(l int) {
			if exec>>l&1 != 0 {
				g.expect(6, l, g.v[5][l])
			}
		})
		// Every lane at its own offset.
		g.fill(1, func(l int) uint32 { return uint32(l*7%11) * 4 })
		g.ok(storeOffen)
		lanes(func(l int) { put(l*7%11*4, 4, g.v[5][l], l) })
		check("own offsets")
		g.ok(storeX4Own)
		lanes(func(l int) {
			for k := range 4 {
				put(l*7%11*4+4*k, 4, g.v[6+k][l], l)
			}
		})
		check("dwordx4 at own offsets")
		g.ok(loadX2Own)
		lanes(func(l int) {
			if exec>>l&1 != 0 && (g.v[10][l] != g.v[6][l] || g.v[11][l] != g.v[7][l]) {
				t.Fatalf("lane %d loaded %#x, %#x at its own offset", l, g.v[10][l], g.v[11][l])
			}
		})
		// Halves at any byte: in a dword, and across two.
		g.fill(1, func(l int) uint32 { return uint32(l * 5 % 13) })
		g.ok(storeHalf)
		lanes(func(l int) { put(l*5%13, 2, g.v[5][l], l) })
		check("halves at own offsets")
		g.ok(loadHalf) // into its own address register
		lanes(func(l int) {
			if exec>>l&1 != 0 {
				g.expect(1, l, g.v[5][l]&0xffff)
			}
		})
		// The same within dwords only.
		g.fill(1, func(l int) uint32 { return uint32(l * 2 % 14) })
		g.ok(storeHalf)
		lanes(func(l int) { put(l*2%14, 2, g.v[5][l], l) })
		check("aligned halves at own offsets")
		g.ok(loadHalf)
		lanes(func(l int) {
			if exec>>l&1 != 0 {
				g.expect(1, l, g.v[5][l]&0xffff)
			}
		})
		g.fill(1, func(l int) uint32 { return rigPrivate - stackOffset })
		g.fault(storeOffen, device.FaultStack, "beyond the wave's private segment")
		check("overflow")
	}
}
