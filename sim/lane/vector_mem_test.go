package lane

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// drawRand draws the seed of a cheaper source than rapid's.
func drawRand(t *rapid.T) *rand.Rand { return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)) }

func randomRow(r *rand.Rand) (x Row) {
	for l := range x {
		x[l] = r.Uint32()
	}
	return x
}

// TestAddresses: both ways of building addresses, by their definition.
func TestAddresses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRand(t)
		lo, hi := randomRow(r), randomRow(r)
		off := rapid.Uint64().Draw(t, "off")
		var a, b [64]uint64
		Addresses(&a, &lo, &hi, off)
		AddressesOffset(&b, off, &lo)
		for l := range a {
			if want := uint64(lo[l]) + uint64(hi[l])<<32 + off; a[l] != want {
				t.Fatalf("lane %d: %#x, want %#x", l, a[l], want)
			}
			if want := off + uint64(lo[l]); b[l] != want {
				t.Fatalf("offset, lane %d: %#x, want %#x", l, b[l], want)
			}
		}
		v := uint32(off)
		SplatRow(&lo, v)
		for l, x := range lo {
			if x != v {
				t.Fatalf("splat, lane %d: %#x", l, x)
			}
		}
	})
}

// TestConsecutive: a run of any stride is one, and stops being one when any
// lane's address changes.
func TestConsecutive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Uint64().Draw(t, "base")
		stride := rapid.OneOf(rapid.SampledFrom([]uint64{0, 1, 4, 8, 12, 16, 1 << 40}), rapid.Uint64()).Draw(t, "stride")
		var a [64]uint64
		var b Row
		for l := range a {
			a[l] = base + uint64(l)*stride
			b[l] = uint32(a[l])
		}
		if !Consecutive(&a, stride) || !Consecutive32(&b, uint32(stride)) {
			t.Fatal("a run is not recognised")
		}
		l := rapid.IntRange(0, 63).Draw(t, "lane")
		a[l] ^= 1 << rapid.IntRange(0, 63).Draw(t, "bit")
		b[l] ^= 1 << rapid.IntRange(0, 31).Draw(t, "bit32")
		if Consecutive(&a, stride) || Consecutive32(&b, uint32(stride)) {
			t.Fatal("a broken run is taken for one")
		}
	})
}

// TestAllWithin: the bound holds to the byte, and only for active lanes.
func TestAllWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRand(t)
		exec := drawExec(t)
		base, room := r.Uint64(), r.Uint64()>>r.IntN(64)
		var a [64]uint64
		var b Row
		for l := range a {
			a[l] = base + room
			b[l] = uint32(base) + uint32(room)
			if k := r.Uint64(); k&1 == 0 && room > 0 {
				a[l] -= k % room
			}
			if k := r.Uint32(); k&1 == 0 && uint32(room) > 0 {
				b[l] -= k % uint32(room)
			}
		}
		if !AllWithin(&a, exec, base, room) || !AllWithin32(&b, exec, -uint32(base), uint32(room)) {
			t.Fatal("addresses inside are taken for outside")
		}
		l := r.IntN(64)
		a[l], b[l] = base+room+1, uint32(base)+uint32(room)+1
		if r.IntN(2) == 0 {
			a[l], b[l] = base-1, uint32(base)-1
		}
		outside := exec>>l&1 != 0
		if got := AllWithin(&a, exec, base, room); got == (outside && room != 1<<64-1) {
			t.Fatalf("lane %d outside: %v", l, got)
		}
		if got := AllWithin32(&b, exec, -uint32(base), uint32(room)); got == (outside && uint32(room) != 1<<32-1) {
			t.Fatalf("32 bits, lane %d outside: %v", l, got)
		}
	})
}

// TestGatherScatter: dwords go to and come from any place of a buffer.
func TestGatherScatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRand(t)
		exec := drawExec(t)
		buf := make([]byte, 4096)
		for i := range buf {
			buf[i] = byte(r.Uint32())
		}
		origin := r.Uint64()
		var a [64]uint64
		for l := range a {
			a[l] = origin + r.Uint64N(4093)
			if exec>>l&1 == 0 {
				a[l] = r.Uint64()
			}
		}
		d, s := randomRow(r), randomRow(r)
		want, out := d, append([]byte(nil), buf...)
		for l := range a {
			if exec>>l&1 != 0 {
				want[l] = *(*uint32)(unsafe.Pointer(&buf[a[l]-origin]))
			}
		}
		Gather32(&d, unsafe.Pointer(&buf[0]), &a, origin, exec)
		if d != want {
			t.Fatal("gather")
		}
		for l := range a {
			if exec>>l&1 != 0 {
				*(*uint32)(unsafe.Pointer(&out[a[l]-origin])) = s[l]
			}
		}
		Scatter32(unsafe.Pointer(&buf[0]), &a, origin, &s, exec)
		if string(buf) != string(out) {
			t.Fatal("scatter")
		}
	})
}

// TestGatherScatterWide: several dwords per lane; where lanes overlap the highest
// wins.
func TestGatherScatterWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRand(t)
		exec := drawExec(t)
		n := rapid.IntRange(2, 4).Draw(t, "n")
		buf := make([]byte, 2048)
		for i := range buf {
			buf[i] = byte(r.Uint32())
		}
		origin := r.Uint64()
		var a [64]uint64
		for l := range a {
			a[l] = origin + r.Uint64N(uint64(len(buf)-4*n+1))
			if exec>>l&1 == 0 {
				a[l] = r.Uint64()
			}
		}
		var rows [5]Row
		for k := range rows {
			rows[k] = randomRow(r)
		}
		want, out := rows, append([]byte(nil), buf...)
		for l := range a {
			for k := range n {
				if exec>>l&1 != 0 {
					want[k][l] = binary.LittleEndian.Uint32(buf[a[l]-origin+uint64(4*k):])
				}
			}
		}
		GatherWide(&rows[0], n, unsafe.Pointer(&buf[0]), &a, origin, exec)
		if rows != want {
			t.Fatalf("gather %d", n)
		}
		rows[0], rows[3] = randomRow(r), randomRow(r)
		for l := range a {
			for k := range n {
				if exec>>l&1 != 0 {
					binary.LittleEndian.PutUint32(out[a[l]-origin+uint64(4*k):], rows[k][l])
				}
			}
		}
		ScatterWide(unsafe.Pointer(&buf[0]), &a, origin, &rows[0], n, exec)
		if string(buf) != string(out) {
			t.Fatalf("scatter %d", n)
		}
	})
}

// TestLDS: dwords partly or wholly outside read 0 and are not written.
func TestLDS(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRand(t)
		exec := drawExec(t)
		size := rapid.SampledFrom([]int{0, 3, 4, 100, 256, 260, 65536}).Draw(t, "size")
		lds := make([]byte, size)
		for i := range lds {
			lds[i] = byte(r.Uint32())
		}
		off := rapid.SampledFrom([]uint32{0, 4, 256, 65532, 0xFFFFFFF0}).Draw(t, "off")
		addr := randomRow(r)
		switch rapid.IntRange(0, 3).Draw(t, "addresses") {
		case 1: // a run
			for l := range addr {
				addr[l] = addr[0]&0x3FF + uint32(l)*4
			}
		case 2: // inside
			for l := range addr {
				addr[l] = r.Uint32N(uint32(max(size-3, 1))) - off
			}
		case 3: // on the edges
			for l := range addr {
				addr[l] = uint32(size) - 8 + r.Uint32N(16) - off
			}
		}
		d, s := randomRow(r), randomRow(r)
		want, out := d, append([]byte(nil), lds...)
		for l := range addr {
			if exec>>l&1 == 0 {
				continue
			}
			want[l] = 0
			if at := uint64(addr[l] + off); at+4 <= uint64(size) {
				want[l] = *(*uint32)(unsafe.Pointer(&lds[at]))
			}
		}
		for l := range addr {
			if at := uint64(addr[l] + off); exec>>l&1 != 0 && at+4 <= uint64(size) {
				*(*uint32)(unsafe.Pointer(&out[at])) = s[l]
			}
		}
		a := addr
		GatherLDS32(&a, lds, &a, off, exec)
		for l := range a {
			if w := want[l]; exec>>l&1 != 0 && a[l] != w || exec>>l&1 == 0 && a[l] != addr[l] {
				t.Fatalf("into the addresses, lane %d: %#x, want %#x", l, a[l], w)
			}
		}
		GatherLDS32(&d, lds, &addr, off, exec)
		if d != want {
			t.Fatal("gather")
		}
		ScatterLDS32(lds, &addr, off, &s, exec)
		if string(lds) != string(out) {
			t.Fatal("scatter")
		}
	})
}

// TestInterleave: rows and consecutive dwords, by their definition.
func TestInterleave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRand(t)
		exec := drawExec(t)
		n := rapid.IntRange(1, 4).Draw(t, "n")
		var mem [64*4 + 1]uint32
		for i := range mem {
			mem[i] = r.Uint32()
		}
		var rows [5]Row
		for k := range rows {
			rows[k] = randomRow(r)
		}
		want := rows
		for l := range 64 {
			for k := range n {
				if exec>>l&1 != 0 {
					want[k][l] = mem[1+n*l+k]
				}
			}
		}
		Deinterleave(&rows[0], unsafe.Pointer(&mem[1]), n, exec)
		if rows != want {
			t.Fatalf("deinterleave %d", n)
		}
		out := mem
		for l := range 64 {
			for k := range n {
				out[n*l+k] = rows[k][l]
			}
		}
		Interleave(unsafe.Pointer(&mem[0]), &rows[0], n)
		if mem != out {
			t.Fatalf("interleave %d", n)
		}
	})
}
