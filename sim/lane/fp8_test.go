package lane

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// ocpValue decodes an OFP8 code by the OCP specification's tables.
func ocpValue(c uint32, typ string) float64 {
	if typ == "bf8" {
		return smallFloat(c, 5, 2)
	}
	if c&0x7F == 0x7F {
		return math.NaN()
	}
	e, m, sign := int(c>>3&15), float64(c&7), 1.0
	if c&0x80 != 0 {
		sign = -1
	}
	if e == 0 {
		return sign * math.Ldexp(m, -9)
	}
	return sign * math.Ldexp(m+8, e-10)
}

func value8(c uint32, typ string, gen Gen) float64 {
	if gen == GenGFX940 {
		return fnuzValue(c, typ)
	}
	return ocpValue(c, typ)
}

func sameFloat(a, b float64) bool {
	return a == b && math.Signbit(a) == math.Signbit(b) || a != a && b != b
}

// TestFP8Decode goes through all codes of the four formats, alone and in pairs.
func TestFP8Decode(t *testing.T) {
	for _, gen := range []Gen{GenGFX940, GenGFX950} {
		for _, typ := range []string{"fp8", "bf8"} {
			e := Env{Gen: gen}
			for c := range uint32(256) {
				var a, d Row
				var pair [2]Row
				Splat(&a, 0xABCD0000|c<<8|(255-c))
				Kernels["v_cvt_f32_"+typ].Fn(&d, &a, nil, nil, 1, &e)
				Kernels["v_cvt_pk_f32_"+typ].Fn(&pair[0], &a, nil, nil, 1, &e)
				for _, x := range []struct {
					got  uint32
					code uint32
				}{{d[0], 255 - c}, {pair[0][0], 255 - c}, {pair[1][0], c}} {
					if got, want := float64(math.Float32frombits(x.got)), value8(x.code, typ, gen); !sameFloat(got, want) {
						t.Errorf("gen %d %s %#x: got %v, want %v", gen, typ, x.code, got, want)
					}
				}
				if d[1] != 0 {
					t.Fatal("a lane outside exec was written")
				}
			}
		}
	}
}

// nearest8 searches all codes for the nearest value, ties to the even code, and
// returns what overflow gives when v rounds past the largest.
func nearest8(v float64, typ string, gen Gen, saturate bool) (want float64) {
	if v != v {
		return v
	}
	best, bestCode, largest := math.Inf(1), uint32(0), 0.0
	for c := range uint32(256) {
		x := value8(c, typ, gen)
		if x-x != 0 {
			continue
		}
		largest = max(largest, x)
		if d := math.Abs(x - v); d < best || d == best && c&1 == 0 && bestCode&1 != 0 {
			best, bestCode, want = d, c, x
		}
	}
	// The next value after the largest, were there one, is a step of the
	// largest's binade away; half of that step is where overflow begins.
	man := 3
	if typ == "bf8" {
		man = 2
	}
	step := math.Ldexp(1, math.Ilogb(largest)-man)
	over := math.Abs(v) > largest+step/2
	if math.Abs(v) == largest+step/2 { // tie: the even neighbour
		over = math.Mod(largest/step, 2) != 0
	}
	hasInf := gen != GenGFX940 && typ == "bf8"
	switch {
	case math.IsInf(v, 0) && hasInf, over && !saturate && hasInf:
		return math.Inf(int(math.Copysign(1, v)))
	case math.IsInf(v, 0), over && !saturate:
		return math.NaN()
	case over:
		return math.Copysign(largest, v)
	}
	if want == 0 {
		want = 0
		if gen != GenGFX940 {
			want = math.Copysign(0, v)
		}
	}
	return want
}

func TestFP8Encode(t *testing.T) {
	for _, gen := range []Gen{GenGFX940, GenGFX950} {
		for _, typ := range []string{"fp8", "bf8"} {
			check := func(t interface{ Fatalf(string, ...any) }, x uint32, saturate bool) {
				e := Env{Gen: gen, OpSel: 8}
				if saturate {
					e.Mode = modeFP16Ovfl
				}
				var a, b, d Row
				a[0], b[0], d[0] = x, 0x3F800000, 0xDEADBEEF
				Kernels["v_cvt_pk_"+typ+"_f32"].Fn(&d, &a, &b, nil, 1, &e)
				v := float64(math.Float32frombits(x))
				got, want := value8(d[0]>>16&0xFF, typ, gen), nearest8(v, typ, gen, saturate)
				if !sameFloat(got, want) || d[0]&0xFFFF != 0xBEEF || value8(d[0]>>24, typ, gen) != 1 {
					t.Fatalf("gen %d %s of %v saturate %v: got %v (%#x), want %v", gen, typ, v, saturate, got, d[0], want)
				}
			}
			// Every value, every midpoint, and their neighbours.
			for c := range uint32(128) {
				lo, hi := value8(c, typ, gen), value8((c+1)&127, typ, gen)
				for _, v := range []float64{lo, (lo + hi) / 2, lo + (hi-lo)/4} {
					if v-v != 0 {
						v = 1e6
					}
					for near := int32(-1); near <= 1; near++ {
						x := uint32(int32(math.Float32bits(float32(v))) + near)
						check(t, x, false)
						check(t, x^1<<31, true)
					}
				}
			}
			for _, x := range []uint32{0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0, 0x80000000, 1, 0x80000001, 0x7F7FFFFF} {
				check(t, x, false)
				check(t, x, true)
			}
			rapid.Check(t, func(t *rapid.T) {
				check(t, rapid.Uint32().Draw(t, "x"), rapid.Bool().Draw(t, "saturate"))
			})
		}
	}
}

// Cases that were compared with CDNA4 hardware by an independent emulator's
// test-suite (OCP encodings): overflow and infinity of bf8, two values of fp8.
func TestFP8Hardware(t *testing.T) {
	for _, tc := range []struct {
		name          string
		x, y, d, want uint32
	}{
		{"v_cvt_pk_bf8_f32", 0x47700000, 0x3F800000, 0xDEADBEEF, 0xDEAD3C7C},
		{"v_cvt_pk_bf8_f32", 0x7F800000, 0x3F800000, 0xDEADBEEF, 0xDEAD3C7C},
		{"v_cvt_pk_bf8_f32", 0xFF800000, 0x3F800000, 0xDEADBEEF, 0xDEAD3CFC},
		{"v_cvt_pk_fp8_f32", 0x3F800000, 0x40000000, 0xDEADBEEF, 0xDEAD4038},
	} {
		var a, b, d Row
		a[0], b[0], d[0] = tc.x, tc.y, tc.d
		Kernels[tc.name].Fn(&d, &a, &b, nil, 1, &Env{Gen: GenGFX950, Mode: 0xF0})
		if d[0] != tc.want {
			t.Errorf("%s(%#x, %#x): got %#x, want %#x", tc.name, tc.x, tc.y, d[0], tc.want)
		}
	}
}

func TestFP8Modifiers(t *testing.T) {
	var a, b, d Row
	a[0], b[0] = 0xC0000000, 0x3F800000 // |-2|, -1
	Kernels["v_cvt_pk_fp8_f32"].Fn(&d, &a, &b, nil, 1, &Env{Gen: GenGFX940, Abs: 1, NegLo: 2})
	if lo, hi := fnuzValue(d[0]&0xFF, "fp8"), fnuzValue(d[0]>>8&0xFF, "fp8"); lo != 2 || hi != -1 {
		t.Errorf("got %v, %v", lo, hi)
	}
}

// TestFP8Stochastic checks what makes rounding stochastic: the result is one of
// the two neighbours, an exact value is kept whatever the noise, and the noise
// decides in proportion to the distance.
func TestFP8Stochastic(t *testing.T) {
	for _, typ := range []string{"fp8", "bf8"} {
		convert := func(x, noise uint32, byteSel uint8) (float64, uint32) {
			var a, b, d Row
			a[0], b[0], d[0] = x, noise, 0x01020304
			Kernels["v_cvt_sr_"+typ+"_f32"].Fn(&d, &a, &b, nil, 1, &Env{Gen: GenGFX940, OpSel: byteSel << 2})
			keep := uint32(0xFF) << (8 * byteSel)
			if d[0]&^keep != 0x01020304&^keep {
				t.Fatalf("byte %d: other bytes became %#x", byteSel, d[0])
			}
			return fnuzValue(d[0]>>(8*byteSel)&0xFF, typ), d[0]
		}
		for c := range uint32(127) {
			lo, hi := fnuzValue(c, typ), fnuzValue(c+1, typ)
			for q := range 4 {
				x := math.Float32bits(float32(lo + (hi-lo)*float64(q)/4))
				for n := range uint32(8) { // noise in steps of 1/8 of the dropped range
					want := lo
					if 2*q+int(n) >= 8 {
						want = hi
					}
					if got, raw := convert(x, n<<29, uint8(n&3)); got != want {
						t.Fatalf("%s of %v noise %d/8: got %v (%#x), want %v", typ, math.Float32frombits(x), n, got, raw, want)
					}
				}
			}
			if got, _ := convert(math.Float32bits(float32(-lo)), math.MaxUint32, 0); got != -lo && !(lo == 0 && got == 0) {
				t.Fatalf("%s: exact %v with full noise gave %v", typ, -lo, got)
			}
		}
	}
}
