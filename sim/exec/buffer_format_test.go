package exec

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"gfxrt/runtime/device"
)

// All encodings are llvm-mc's for gfx90a.
const (
	tLoad     = "008009e800060280" // tbuffer_load_format_xyzw v[6:9], off, s[8:11], 0 format:[8,UNORM]
	tLoadD16  = "00800de800060280" // tbuffer_load_format_d16_xyzw v[6:7], off, s[8:11], 0 format:[8,UNORM]
	tStore    = "00800be800060280" // tbuffer_store_format_xyzw v[6:9], off, s[8:11], 0 format:[8,UNORM]
	tStoreD16 = "00800fe800060280" // tbuffer_store_format_d16_xyzw v[6:7], off, s[8:11], 0 format:[8,UNORM]
)

// typed puts another data and numeric format into an MTBUF instruction.
func typed(code string, dfmt, nfmt int) string {
	b, err := hex.DecodeString(code)
	if err != nil {
		panic(err)
	}
	w := binary.LittleEndian.Uint32(b)
	binary.LittleEndian.PutUint32(b, w&^(0x7f<<19)|uint32(dfmt)<<19|uint32(nfmt)<<23)
	return hex.EncodeToString(b)
}

func TestTypedEncoding(t *testing.T) {
	// tbuffer_load_format_xyzw v[6:9], off, s[8:11], 0 format:[32_32_32_32,FLOAT]
	if got, want := typed(tLoad, 14, nfmtFloat), "0080f1eb00060280"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Expected values are computed by hand from the meaning of the formats.
var typedLoads = []struct {
	dfmt, nfmt int
	memory     string
	want       [4]uint32
}{
	{1, nfmtUnorm, "ff", [4]uint32{0x3f800000}},
	{1, nfmtUnorm, "80", [4]uint32{0x3f008081}}, // 128/255
	{1, nfmtSnorm, "7f", [4]uint32{0x3f800000}},
	{1, nfmtSnorm, "81", [4]uint32{0xbf800000}},
	{1, nfmtSnorm, "80", [4]uint32{0xbf800000}}, // -128/127 is clamped
	{1, nfmtSnorm, "40", [4]uint32{0x3f010204}}, // 64/127
	{1, nfmtUscaled, "ff", [4]uint32{0x437f0000}},
	{1, nfmtSscaled, "ff", [4]uint32{0xbf800000}},
	{1, nfmtUint, "ff", [4]uint32{255}},
	{1, nfmtSint, "ff", [4]uint32{0xffffffff}},
	{2, nfmtUnorm, "ffff", [4]uint32{0x3f800000}},
	{2, nfmtSnorm, "0080", [4]uint32{0xbf800000}},
	{2, nfmtFloat, "013c", [4]uint32{0x3f802000}},
	{2, nfmtFloat, "0100", [4]uint32{0x33800000}}, // 2^-24, a denormal
	{2, nfmtFloat, "00fc", [4]uint32{0xff800000}},
	{3, nfmtUint, "0102", [4]uint32{1, 2}},
	{4, nfmtFloat, "0100a07f", [4]uint32{0x7fa00001}}, // signalling NaN unchanged
	{4, nfmtSint, "000000ff", [4]uint32{0xff000000}},
	{5, nfmtSint, "ffff0180", [4]uint32{0xffffffff, 0xffff8001}},
	{6, nfmtUint, "ff0fc0ff", [4]uint32{0x7ff, 1, 0x3ff}},
	{6, nfmtFloat, "c0031c80", [4]uint32{0x3f800000, 0x3f000000, 0x40000000}},
	{7, nfmtFloat, "e0010f78", [4]uint32{0x3f800000, 0x3f800000, 0x3f800000}},
	{7, nfmtSint, "00020000", [4]uint32{0xfffffe00}},
	{8, nfmtUint, "0720c0ff", [4]uint32{3, 1, 2, 0x3ff}},
	{9, nfmtUnorm, "ff03f0ff", [4]uint32{0x3f800000, 0, 0x3f800000, 0x3f800000}},
	{9, nfmtSint, "00020080", [4]uint32{0xfffffe00, 0, 0, 0xfffffffe}},
	{9, nfmtSnorm, "00000080", [4]uint32{0, 0, 0, 0xbf800000}}, // 2-bit -2 is clamped
	{10, nfmtSint, "01ff807f", [4]uint32{1, 0xffffffff, 0xffffff80, 127}},
	{11, nfmtUint, "0100000002000000", [4]uint32{1, 2}},
	{12, nfmtSscaled, "ffff0200fdff0400", [4]uint32{0xbf800000, 0x40000000, 0xc0400000, 0x40800000}},
	{13, nfmtFloat, "0000803f0000004000004040", [4]uint32{0x3f800000, 0x40000000, 0x40400000}},
	{14, nfmtUint, "01000000020000000300000004000000", [4]uint32{1, 2, 3, 4}},
}

func (g *bufferRig) memory(s string) {
	b, err := hex.DecodeString(s)
	if err != nil {
		g.t.Fatal(err)
	}
	copy(g.data.Bytes(), b)
}

func TestTypedLoads(t *testing.T) {
	g := newBufferRig(t, "gfx90a")
	g.w.setExec(1 << 9)
	for _, c := range typedLoads {
		// A buffer that ends with the element.
		g.descriptor(8, g.data.Base, 0, uint32(len(c.memory)/2), 0, false)
		g.memory(c.memory)
		g.ok(typed(tLoad, c.dfmt, c.nfmt))
		for k, want := range c.want {
			if got := g.v[6+k][9]; got != want {
				t.Errorf("%s %s of %s: component %d is %#x, want %#x", bufferFormats[c.dfmt].name, nfmtNames[c.nfmt], c.memory, k, got, want)
			}
		}
		// One byte less, and nothing of it is in range.
		g.w.S[10]--
		g.ok(typed(tLoad, c.dfmt, c.nfmt))
		for k := range 4 {
			g.expect(6+k, 9, 0)
		}
	}
}

func TestTypedLoadsD16(t *testing.T) {
	g := newBufferRig(t, "gfx90a")
	g.descriptor(8, g.data.Base, 0, 16, 0, false)
	for _, c := range []struct {
		dfmt, nfmt int
		memory     string
		want       [2]uint32
	}{
		{10, nfmtUnorm, "ff00ffff", [2]uint32{0x00003c00, 0x3c003c00}},
		{12, nfmtFloat, "017c00010080ffff", [2]uint32{0x01007c01, 0xffff8000}}, // bits unchanged
		{5, nfmtSint, "feff0080", [2]uint32{0x8000fffe, 0}},
		{11, nfmtUint, "45230100ff000000", [2]uint32{0x00ffffff, 0}},  // clamped
		{11, nfmtSint, "00000080ffffffff", [2]uint32{0xffff8000, 0}},  // clamped
		{11, nfmtFloat, "ff1f803f000000c0", [2]uint32{0xc0003c00, 0}}, // towards zero
		{6, nfmtFloat, "c0031c80", [2]uint32{0x38003c00, 0x00004000}},
	} {
		g.memory(c.memory)
		g.ok(typed(tLoadD16, c.dfmt, c.nfmt))
		if g.v[6][0] != c.want[0] || g.v[7][0] != c.want[1] {
			t.Errorf("%s %s of %s: %#x, want %#x", bufferFormats[c.dfmt].name, nfmtNames[c.nfmt], c.memory, []uint32{g.v[6][0], g.v[7][0]}, c.want)
		}
	}
	// The halves of a register are separate for one component.
	g.descriptor(8, g.data.Base, 0, 16, 1<<15|nfmtUint<<12|0xfac, false)
	g.memory("81")
	g.fill(6, func(int) uint32 { return 0x55555555 })
	g.ok("000098e000060280") // buffer_load_format_d16_hi_x v6, off, s[8:11], 0
	g.expect(6, 0, 0x00815555)
	g.fill(6, func(int) uint32 { return 0x00421234 })
	g.ok("00009ce000060280") // buffer_store_format_d16_hi_x v6, off, s[8:11], 0
	if got := g.data.Bytes()[0]; got != 0x42 {
		t.Errorf("stored %#x", got)
	}
}

func TestTypedStores(t *testing.T) {
	const one, half, two, inf, nan = 0x3f800000, 0x3f000000, 0x40000000, 0x7f800000, 0x7fc00000
	g := newBufferRig(t, "gfx90a")
	g.w.setExec(1)
	for _, c := range []struct {
		code       string
		dfmt, nfmt int
		regs       [4]uint32
		want       string
	}{
		{tStore, 10, nfmtUnorm, [4]uint32{half, two, 0xbf800000, nan}, "80ff0000"},
		{tStore, 10, nfmtSnorm, [4]uint32{0xbf800000, 0xc0000000, half, one}, "8181407f"},
		{tStore, 10, nfmtUscaled, [4]uint32{0x43965980, 0x4079999a, 0xbf800000, nan}, "ff030000"}, // 300.7, 3.9, -1
		{tStore, 10, nfmtSscaled, [4]uint32{0xc079999a, 0xc3480000, 0x43480000, one}, "fd807f01"}, // -3.9, -200, 200
		{tStore, 10, nfmtUint, [4]uint32{0x1ff, 1, 0xffffffff, 0}, "ff01ff00"},
		{tStore, 10, nfmtSint, [4]uint32{0xfffffeff, 200, 0xffffffff, 0}, "807fff00"},
		{tStore, 12, nfmtFloat, [4]uint32{one, 0x477ff000, 0x3f801fff, 0xff800000}, "003cff7b003c00fc"}, // 65520 and 1+2^-10-2^-23 towards zero
		{tStore, 12, nfmtUnorm, [4]uint32{one, half, 0, inf}, "ffff00800000ffff"},
		{tStore, 6, nfmtFloat, [4]uint32{one, 0xbf800000, inf, one}, "c00300f8"},
		{tStore, 6, nfmtFloat, [4]uint32{nan, 0, 0, 0}, "e0070000"},
		{tStore, 7, nfmtFloat, [4]uint32{one, one, one, 0}, "e0010f78"},
		{tStore, 8, nfmtUint, [4]uint32{3, 1, 2, 0x3ff}, "0720c0ff"},
		{tStore, 9, nfmtUnorm, [4]uint32{one, 0, one, one}, "ff03f0ff"},
		{tStore, 9, nfmtSint, [4]uint32{0xfffffe00, 0, 0, 0xfffffffe}, "00020080"},
		{tStore, 14, nfmtFloat, [4]uint32{nan + 1, 2, 3, 4}, "0100c07f020000000300000004000000"},
		{tStore, 1, nfmtUint, [4]uint32{7, 8, 9, 10}, "07"},
		{tStoreD16, 12, nfmtFloat, [4]uint32{0x00017c01, 0xfc003c00}, "017c0100003c00fc"},
		{tStoreD16, 10, nfmtUnorm, [4]uint32{0x3c003800, 0xbc000000}, "80ff0000"},
		{tStoreD16, 11, nfmtFloat, [4]uint32{0xc0003c00}, "0000803f000000c0"},
		{tStoreD16, 11, nfmtSint, [4]uint32{0x0001ffff}, "ffffffff01000000"},
		{tStoreD16, 11, nfmtUint, [4]uint32{0x0001ffff}, "ffff000001000000"},
		// tbuffer_store_format_x v6, off, s[8:11], 0 format:[8_8_8_8,UINT]: the rest is 0
		{"000052ea00060280", 10, nfmtUint, [4]uint32{5, 6, 7, 8}, "05000000"},
	} {
		n := len(c.want) / 2
		g.descriptor(8, g.data.Base, 0, uint32(n), 0, false)
		g.memory("eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee")
		for k, x := range c.regs {
			g.v[6+k][0] = x
		}
		g.ok(typed(c.code, c.dfmt, c.nfmt))
		if got := hex.EncodeToString(g.data.Bytes()[:n]); got != c.want || g.data.Bytes()[n] != 0xee {
			t.Errorf("%s %s of %#x: %s then %#x, want %s", bufferFormats[c.dfmt].name, nfmtNames[c.nfmt], c.regs, got, g.data.Bytes()[n], c.want)
		}
		g.memory("eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee")
		g.w.S[10]--
		g.ok(typed(c.code, c.dfmt, c.nfmt))
		for k, x := range g.data.Bytes()[:n] {
			if x != 0xee {
				t.Errorf("%s: byte %d of a store that does not fit was written", bufferFormats[c.dfmt].name, k)
			}
		}
	}
}

// TestTypedRoundTrip holds stores to be the inverse of loads for every value
// of 8-bit and random values of wider formats.
func TestTypedRoundTrip(t *testing.T) {
	g := newBufferRig(t, "gfx90a")
	g.descriptor(8, g.data.Base, 16, 64, w3AddTID, false) // lane l at 16*l
	rng := rand.New(rand.NewPCG(3, 4))
	combinations := 0
	for dfmt := range bufferFormats {
		f := &bufferFormats[dfmt]
		for nfmt := range 8 {
			if !f.exists(uint8(nfmt)) {
				continue
			}
			combinations++
			for round := range 8 {
				b := g.data.Bytes()[:1024]
				for i := range b {
					b[i] = byte(rng.Uint32())
				}
				for l := range 64 {
					b[l*16] = byte(l + round*64)
				}
				g.ok(typed(tLoad, dfmt, nfmt))
				old := append([]byte(nil), b...)
				for l := range 64 {
					clear(b[l*16:][:f.bytes])
				}
				g.ok(typed(tStore, dfmt, nfmt))
				before := append([]byte(nil), b...)
				loaded := [4][64]uint32{g.v[6], g.v[7], g.v[8], g.v[9]}
				g.ok(typed(tLoad, dfmt, nfmt))
				for l := range 64 {
					for k := range f.width {
						x, y := loaded[k][l], g.v[6+k][l]
						if nan := x&0x7f800000 == 0x7f800000 && nfmt == nfmtFloat; x != y && !(nan && y&0x7f800000 == 0x7f800000) {
							t.Fatalf("%s %s: lane %d component %d: %#x came back as %#x", f.name, nfmtNames[nfmt], l, k, x, y)
						}
					}
				}
				// Two spellings of -1, and NaNs, are the only losses.
				if nfmt != nfmtSnorm && nfmt != nfmtFloat && string(before) != string(old) {
					t.Fatalf("%s %s: memory did not come back", f.name, nfmtNames[nfmt])
				}
			}
		}
	}
	// LLVM's BUF_FMT_* of gfx10, which name the same combinations, end at 77.
	if combinations != 77 {
		t.Errorf("%d formats, want 77", combinations)
	}
}

func TestTypedSelects(t *testing.T) {
	const (
		load  = "00000ce000060280" // buffer_load_format_xyzw v[6:9], off, s[8:11], 0
		store = "00001ce000060280" // buffer_store_format_xyzw v[6:9], off, s[8:11], 0
	)
	word3 := func(dfmt, nfmt uint32, sel ...uint32) uint32 {
		return dfmt<<15 | nfmt<<12 | sel[0] | sel[1]<<3 | sel[2]<<6 | sel[3]<<9
	}
	g := newBufferRig(t, "gfx90a")
	g.memory("01020304")
	check := func(want ...uint32) {
		t.Helper()
		for k, x := range want {
			g.expect(6+k, 0, x)
		}
	}
	g.descriptor(8, g.data.Base, 0, 4, word3(10, nfmtUint, 7, 1, 0, 4), false)
	g.ok(load)
	check(4, 1, 0, 1)
	g.w.S[10] = 3 // out of range: only constants remain
	g.ok(load)
	check(0, 1, 0, 0)
	g.descriptor(8, g.data.Base, 0, 4, word3(1, nfmtUnorm, 4, 5, 1, 7), false)
	g.ok(load)
	check(0x3b808081, 0, 0x3f800000, 0) // 1/255

	g.descriptor(8, g.data.Base, 0, 4, word3(10, nfmtUint, 6, 5, 4, 7), false) // BGRA
	for k := range 4 {
		g.fill(6+k, func(int) uint32 { return uint32(k) + 0x10 })
	}
	g.ok(store)
	if got := g.word(0); got != 0x13101112 {
		t.Errorf("stored %#x", got)
	}
	g.memory("ff")
	g.descriptor(8, g.data.Base, 0, 1, word3(1, nfmtSint, 4, 0, 0, 1), false)
	g.ok("000001e000000280") // buffer_load_format_x off, s[8:11], 0 lds
	if got := binary.LittleEndian.Uint32(g.w.m.lds[4*63:]); got != 0xffffffff {
		t.Errorf("LDS holds %#x", got)
	}

	g.descriptor(8, g.data.Base, 0, 4, word3(10, nfmtUint, 4, 2, 0, 1), false)
	g.fault(load, device.FaultIllegal, "destination select 2 of component y")
	g.descriptor(8, g.data.Base, 0, 4, word3(0, nfmtUint, 4, 5, 6, 1), false) // unbound
	g.ok(load)
	check(0, 0, 0, 1)
	g.memory("aabbccdd")
	g.ok(store)
	if got := g.word(0); got != 0xddccbbaa {
		t.Errorf("a store to an unbound resource wrote %#x", got)
	}
}

func TestTypedReservedFormats(t *testing.T) {
	g := newBufferRig(t, "gfx90a")
	g.descriptor(8, g.data.Base, 0, 64, w3Raw, false)
	for _, c := range []struct {
		dfmt, nfmt int
		reason     string
	}{
		{1, nfmtFloat, "8) with numeric format 7 (float) is reserved"},
		{4, nfmtUnorm, "(32) with numeric format 0 (unorm)"},
		{9, nfmtFloat, "(2_10_10_10) with numeric format 7"},
		{8, nfmtFloat, "(10_10_10_2)"},
		{5, nfmtReserved, "numeric format 6 (reserved)"},
		{0, nfmtUint, "data format 0 (invalid)"},
		{15, nfmtUint, "data format 15 (reserved)"},
	} {
		g.fault(typed(tLoad, c.dfmt, c.nfmt), device.FaultIllegal, c.reason)
		g.fault(typed(tStore, c.dfmt, c.nfmt), device.FaultIllegal, c.reason)
	}
}
