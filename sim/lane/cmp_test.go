package lane

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// relation of two operands, as the conditions see it.
type relation int

const (
	less relation = 1 << iota
	equal
	greater
	unordered
)

// holds is the set of relations under which a condition is true.
var holds = map[string]relation{
	"f": 0, "lt": less, "eq": equal, "le": less | equal, "gt": greater, "lg": less | greater,
	"ge": greater | equal, "o": less | equal | greater, "u": unordered,
	"nge": less | unordered, "nlg": equal | unordered, "ngt": less | equal | unordered,
	"nle": greater | unordered, "neq": less | greater | unordered, "nlt": greater | equal | unordered,
	"tru": less | equal | greater | unordered,
	"ne":  less | greater, "t": less | equal | greater,
}

func relate(c int) relation { return map[int]relation{-1: less, 0: equal, 1: greater}[c] }

func TestCompare(t *testing.T) {
	type cmpType struct {
		name  string
		conds []string
		draw  func(r *rand.Rand) uint64
		rel   func(x, y uint64, m Mode) relation
	}
	floats := []string{"f", "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "tru"}
	ints := []string{"f", "lt", "eq", "le", "gt", "ne", "ge", "t"}
	var types []cmpType
	for _, f := range []refFormat{ref16, ref32, ref64} {
		types = append(types, cmpType{f.name, floats, f.draw, func(x, y uint64, m Mode) relation {
			if f.isNaN(x) || f.isNaN(y) {
				return unordered
			}
			return relate(f.cmp(f.in(x, m), f.in(y, m)))
		}})
	}
	for name, width := range map[string]int{"i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 64, "u64": 64} {
		num := func(x uint64) *big.Int {
			if name[0] == 'i' {
				return signed(x, width)
			}
			return unsigned(x, width)
		}
		types = append(types, cmpType{name, ints,
			func(r *rand.Rand) uint64 { return r.Uint64() >> (r.IntN(3) * 31) },
			func(x, y uint64, m Mode) relation { return relate(num(x).Cmp(num(y))) }})
	}
	for _, ty := range types {
		for _, cond := range ty.conds {
			for _, x := range []string{"", "x"} {
				name := "v_cmp" + x + "_" + cond + "_" + ty.name
				rapid.Check(t, func(t *rapid.T) {
					r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
					e := Env{Mode: drawMode(t)}
					var w bench
					exec, want := drawExec(t), uint64(0)
					for i := range 64 {
						a, b := ty.draw(r), ty.draw(r)
						if r.IntN(4) == 0 {
							b = a
						}
						w.set(1, i, a)
						w.set(2, i, b)
						if ty.rel(a, b, e.Mode)&holds[cond] != 0 {
							want |= exec & (1 << i)
						}
					}
					if got := w.run(name, exec, &e); got != want {
						t.Fatalf("%s mode %#x exec %#x = %#x, want %#x", name, e.Mode, exec, got, want)
					}
				})
				if k := Kernels[name]; k.Dst != Mask || k.CmpX != (x == "x") {
					t.Errorf("%s: Dst %v, CmpX %v", name, k.Dst, k.CmpX)
				}
			}
		}
	}
}

// drawExec is any EXEC mask; full, empty and single lanes more often.
func drawExec(t *rapid.T) uint64 {
	return rapid.OneOf(rapid.Uint64(), rapid.Just(^uint64(0)), rapid.Just(uint64(0)), rapid.Just(uint64(0xFFFFFFFF)),
		rapid.Custom(func(t *rapid.T) uint64 { return 1 << rapid.IntRange(0, 63).Draw(t, "lane") })).Draw(t, "exec")
}

// TestClass: each class bit selects exactly the values of its class, whatever
// the denormal mode.
func TestClass(t *testing.T) {
	for _, f := range []refFormat{ref16, ref32, ref64} {
		s := f.sign()
		members := [10][]uint64{
			{f.inf() | 1, s | f.inf() | 1, f.inf() | f.qbit() - 1},
			{f.inf() | f.qbit(), s | f.inf() | f.qbit() | 1},
			{s | f.inf()},
			{s | f.one(), s | (f.inf() - 1), s | 1<<f.man},
			{s | 1, s | (1<<f.man - 1)},
			{s},
			{0},
			{1, 1<<f.man - 1},
			{f.one(), f.inf() - 1, 1 << f.man},
			{f.inf()},
		}
		for class, values := range members {
			for _, v := range values {
				for mask := range 10 {
					for _, name := range []string{"v_cmp_class_" + f.name, "v_cmpx_class_" + f.name} {
						var w bench
						w.set(1, 9, v)
						w.set(2, 9, 1<<mask)
						got := w.run(name, 1<<9, &Env{Mode: 0}) != 0
						if got != (mask == class) {
							t.Errorf("%s(%#x, bit %d) = %v; the value is of class %d", name, v, mask, got, class)
						}
					}
				}
			}
		}
	}
}
