package exec

import (
	"math/rand/v2"
	"testing"

	"gfxrt/sim/lane"

	"pgregory.net/rapid"
)

// docBuffer restates the documents' addressing and range checking for the
// tests, in their terms and a byte at a time.
type docBuffer struct {
	base, stride, records  int64
	swizzle, addTID, idxen bool
	indexStride            int64
	dataFormat             int64
	soffset                int64
}

// at gives the address of byte k of an access at vgpr index and offset.
func (d docBuffer) at(vgprIndex, offset uint32, k int64, thread int) int64 {
	index, stride := int64(vgprIndex), d.stride
	if d.addTID && !(d.idxen && !d.swizzle) {
		index = int64(uint32(index + int64(thread)))
		stride = d.dataFormat<<14 + d.stride
	}
	off := int64(offset) + k
	if !d.swizzle {
		return d.base + d.soffset + stride*index + off
	}
	indexMSB, indexLSB := index/d.indexStride, index%d.indexStride
	offsetMSB, offsetLSB := off/4, off%4
	return d.base + d.soffset + (indexMSB*stride+offsetMSB*4)*d.indexStride + indexLSB*4 + offsetLSB
}

// outside is the range check of n bytes that begin k bytes into the access.
func (d docBuffer) outside(vgprIndex, offset uint32, k, n int64) bool {
	if d.addTID && !d.idxen {
		return false
	}
	if d.idxen && d.stride != 0 {
		return int64(vgprIndex) >= d.records
	}
	return int64(offset)+d.soffset+k+n > d.records
}

// modelled are instructions with the forms of their addressing.
var modelled = []struct {
	code, text   string
	words        int64
	store        bool
	idxen, offen bool
	inst         uint32
	soff         bool // s3, else 0
}{
	{"080050e000050203", "buffer_load_dword v5, off, s[8:11], s3 offset:8", 1, false, false, false, 8, true},
	{loadOffen, "buffer_load_dword v5, v1, s[8:11], s3 offen offset:8", 1, false, false, true, 8, true},
	{loadIdxen, "buffer_load_dword v5, v1, s[8:11], s3 idxen offset:8", 1, false, true, false, 8, true},
	{"083050e002050203", "buffer_load_dword v5, v[2:3], s[8:11], s3 idxen offen offset:8", 1, false, true, true, 8, true},
	{"001054e001060280", "buffer_load_dwordx2 v[6:7], v1, s[8:11], 0 offen", 2, false, false, true, 0, false},
	{"001058e001060280", "buffer_load_dwordx3 v[6:8], v1, s[8:11], 0 offen", 3, false, false, true, 0, false},
	{loadX4, "buffer_load_dwordx4 v[6:9], v1, s[8:11], 0 offen", 4, false, false, true, 0, false},
	{"04305ce002060203", "buffer_load_dwordx4 v[6:9], v[2:3], s[8:11], s3 idxen offen offset:4", 4, false, true, true, 4, true},
	{"081070e001050203", "buffer_store_dword v5, v1, s[8:11], s3 offen offset:8", 1, true, false, true, 8, true},
	{"003070e002050203", "buffer_store_dword v5, v[2:3], s[8:11], s3 idxen offen", 1, true, true, true, 0, true},
	{storeX3, "buffer_store_dwordx3 v[6:8], v1, s[8:11], s3 offen", 3, true, false, true, 0, true},
	{"04307ce002060203", "buffer_store_dwordx4 v[6:9], v[2:3], s[8:11], s3 idxen offen offset:4", 4, true, true, true, 4, true},
}

// TestBufferModel runs loads and stores through random descriptors, offsets
// and EXEC masks against docBuffer: same registers, same memory, and a fault
// exactly when an address in range is not mapped.
func TestBufferModel(t *testing.T) {
	g := newBufferRig(t, "gfx90a")
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SampledFrom(modelled).Draw(t, "instruction")
		size := int64(g.data.Size)
		d := docBuffer{
			base: int64(g.data.Base) + rapid.Int64Range(0, 512).Draw(t, "base"), stride: rapid.SampledFrom([]int64{0, 4, 12, 16, 20}).Draw(t, "stride"),
			records: rapid.OneOf(rapid.Int64Range(0, 600), rapid.Int64Range(0, 1<<32-1)).Draw(t, "records"),
			swizzle: rapid.Bool().Draw(t, "swizzle"), addTID: rapid.Bool().Draw(t, "addTID"), idxen: in.idxen,
			indexStride: 8 << rapid.IntRange(0, 3).Draw(t, "indexStride"),
		}
		d.dataFormat = 4
		if d.addTID { // then it is part of the stride
			d.dataFormat = rapid.SampledFrom([]int64{0, 0, 0, 1, 4}).Draw(t, "dataFormat")
		}
		if in.soff {
			d.soffset = rapid.OneOf(rapid.Int64Range(0, 64), rapid.Int64Range(0, 1<<32-1)).Draw(t, "soffset")
		}
		shift := 0
		for 8<<shift != d.indexStride {
			shift++
		}
		g.descriptor(8, uint64(d.base), uint32(d.stride), uint32(d.records),
			uint32(d.dataFormat)<<15|0xfac|uint32(shift)<<21|b2u(d.addTID)<<23, d.swizzle)
		g.w.S[3] = uint32(d.soffset)
		exec := rapid.SampledFrom([]uint64{^uint64(0), 1, 0x8000_0000_0000_0000, 0x5a5a_1234_0000_ffff, 0}).Draw(t, "exec")
		g.w.setExec(exec)
		// Offsets: one for all lanes, neighbours, or anything.
		kind := rapid.IntRange(0, 2).Draw(t, "offsets")
		wild := rapid.IntRange(0, 9).Draw(t, "wild") == 0
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 1))
		start := uint32(rng.IntN(256)) &^ (3 * uint32(rng.IntN(2)))
		value := func(l int) uint32 {
			switch {
			case wild && rng.IntN(8) == 0:
				return rng.Uint32()
			case kind == 0:
				return start
			case kind == 1:
				return start + uint32(l)*4
			}
			return uint32(rng.IntN(600))
		}
		for v := 1; v <= 3; v++ {
			g.fill(v, value)
		}

		memory := append([]byte(nil), g.data.Bytes()...)
		regs := append([]lane.Row(nil), g.v...)
		faults := false
		dst := 6
		if in.words == 1 {
			dst = 5
		}
		for l := range 64 {
			if exec>>l&1 == 0 {
				continue
			}
			var index uint32
			off := in.inst
			switch {
			case in.idxen && in.offen:
				index, off = g.v[2][l], off+g.v[3][l]
			case in.idxen:
				index = g.v[1][l]
			case in.offen:
				off += g.v[1][l]
			}
			for k := range in.words {
				if !in.store {
					regs[dst+int(k)][l] = 0
				}
				if d.outside(index, off, k*4, 4) {
					continue
				}
				for j := range int64(4) {
					p := d.at(index, off, k*4+j, l) - int64(g.data.Base)
					if p < 0 || p >= size {
						faults = true
						continue
					}
					if in.store {
						memory[p] = byte(regs[dst+int(k)][l] >> (8 * j))
					} else {
						regs[dst+int(k)][l] |= uint32(memory[p]) << (8 * j)
					}
				}
			}
		}
		held := append([]byte(nil), g.data.Bytes()...)
		g.run(in.code)
		if faults != (g.w.fault != nil) {
			t.Fatalf("%s: fault %v, want one: %v", in.text, g.w.fault, faults)
		}
		if raw := !d.addTID && !d.idxen && !d.swizzle; raw {
			low := d.base - int64(g.data.Base)
			high := min(max(low+d.records, low), size)
			if got := g.data.Bytes(); string(got[:low]) != string(held[:low]) || string(got[high:]) != string(held[high:]) {
				t.Fatalf("%s wrote outside the %d bytes of the buffer", in.text, d.records)
			}
		}
		if faults {
			return
		}
		if string(memory) != string(g.data.Bytes()) {
			t.Fatalf("%s: memory differs", in.text)
		}
		for v := range regs {
			if regs[v] != g.v[v] {
				t.Fatalf("%s: v%d is %#x, want %#x", in.text, v, g.v[v], regs[v])
			}
		}
	})
}
