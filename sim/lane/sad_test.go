package lane

import (
	"math/big"
	"testing"
)

// bytesOf splits x into n bytes.
func bytesOf(x uint64, n int) []int {
	var b []int
	for i := range n {
		b = append(b, int(x>>(8*i)&0xFF))
	}
	return b
}

func diff(x, y int) int { return max(x-y, y-x) }

// sad4 is the sum of absolute differences of four bytes; masked leaves out zero
// references.
func sad4(x, ref []int, masked bool) int {
	s := 0
	for i := range 4 {
		if !masked || ref[i] != 0 {
			s += diff(x[i], ref[i])
		}
	}
	return s
}

func TestSad(t *testing.T) {
	sum := func(s int, z uint64, e *Env) uint64 {
		v := new(big.Int).SetUint64(z)
		return fold(v.Add(v, big.NewInt(int64(s))), 32, false, e.Clamp)
	}
	quad := func(x [3]uint64, e *Env, masked bool) uint64 {
		var r uint64
		for k := range 4 {
			s := sad4(bytesOf(x[0]>>(8*k), 4), bytesOf(x[1], 4), masked) + int(field(x[2], 16*k+15, 16*k))
			r += fold(big.NewInt(int64(s)), 16, false, e.Clamp) << (16 * k)
		}
		return r
	}
	for name, f := range map[string]func(x [3]uint64, e *Env) uint64{
		"v_sad_u8":  func(x [3]uint64, e *Env) uint64 { return sum(sad4(bytesOf(x[0], 4), bytesOf(x[1], 4), false), x[2], e) },
		"v_msad_u8": func(x [3]uint64, e *Env) uint64 { return sum(sad4(bytesOf(x[0], 4), bytesOf(x[1], 4), true), x[2], e) },
		"v_sad_hi_u8": func(x [3]uint64, e *Env) uint64 {
			return sum(65536*sad4(bytesOf(x[0], 4), bytesOf(x[1], 4), false), x[2], e)
		},
		"v_sad_u16": func(x [3]uint64, e *Env) uint64 {
			return sum(diff(int(field(x[0], 15, 0)), int(field(x[1], 15, 0)))+diff(int(field(x[0], 31, 16)), int(field(x[1], 31, 16))), x[2], e)
		},
		"v_sad_u32":         func(x [3]uint64, e *Env) uint64 { return sum(diff(int(x[0]), int(x[1])), x[2], e) },
		"v_qsad_pk_u16_u8":  func(x [3]uint64, e *Env) uint64 { return quad(x, e, false) },
		"v_mqsad_pk_u16_u8": func(x [3]uint64, e *Env) uint64 { return quad(x, e, true) },
		"v_lerp_u8": func(x [3]uint64, e *Env) uint64 {
			var r uint64
			a, b, c := bytesOf(x[0], 4), bytesOf(x[1], 4), bytesOf(x[2], 4)
			for i := range 4 {
				r += uint64((a[i]+b[i]+c[i]%2)/2) << (8 * i)
			}
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			intAgainst(t, name, func(x [3]uint64, e *Env) (uint64, uint64) { return f(x, e), 0 })
		})
	}
}

// TestMqsadU32: four dword sums over the byte windows of a qword.
func TestMqsadU32(t *testing.T) {
	var w bench
	w.set(1, 3, 0x8877665544332211)
	w.set(2, 3, 0x40003020)
	for k, v := range []uint32{100, 200, 300, 0xFFFFFFFF} {
		w.rows[3][k][3] = v
	}
	var want [4]uint32
	x, ref := bytesOf(0x8877665544332211, 8), bytesOf(0x40003020, 4)
	for k := range 4 {
		want[k] = w.rows[3][k][3] + uint32(sad4(x[k:], ref, true))
	}
	w.run("v_mqsad_u32_u8", 1<<3, &Env{})
	for k := range 4 {
		if w.rows[0][k][3] != want[k] {
			t.Errorf("sum %d = %d, want %d", k, w.rows[0][k][3], want[k])
		}
	}
	w.run("v_mqsad_u32_u8", 1<<3, &Env{Clamp: true})
	if w.rows[0][3][3] != 0xFFFFFFFF {
		t.Errorf("clamped sum = %#x, want 0xffffffff", w.rows[0][3][3])
	}
}
