package main

import (
	"bytes"
	"fmt"
	"strings"
)

// Conditions of the VOPC compares. x and y are the operands, un tells that one
// is NaN (false for integers).
var floatConds = []struct{ name, expr string }{
	{"lt", "x < y"}, {"eq", "x == y"}, {"le", "x <= y"}, {"gt", "x > y"},
	{"lg", "x < y || x > y"}, {"ge", "x >= y"}, {"o", "x == x && y == y"},
	{"u", "x != x || y != y"}, {"nge", "!(x >= y)"}, {"nlg", "!(x < y || x > y)"},
	{"ngt", "!(x > y)"}, {"nle", "!(x <= y)"}, {"neq", "x != y"}, {"nlt", "!(x < y)"},
}

var intConds = []struct{ name, expr string }{
	{"lt", "x < y"}, {"eq", "x == y"}, {"le", "x <= y"}, {"gt", "x > y"},
	{"ne", "x != y"}, {"ge", "x >= y"},
}

// cmpTypes gives for each type suffix how a lane's bits p become a comparable
// value; loops with a flushing source mode use flush instead.
var cmpTypes = []struct{ suffix, typ, value, flush, cond string }{
	{"f32", "F32", "f32(p)", "f32(in32(p, m))", "m&0x10 != 0"},
	{"f16", "F16", "cmp16(p)", "cmp16(in16(p, m))", "m&0x40 != 0"},
	{"f64", "F64", "f64(p)", "f64(in64(p, m))", "m&0x40 != 0"},
	{"i32", "I32", "int32(p)", "", ""},
	{"u32", "U32", "p", "", ""},
	{"i16", "I16", "int16(p)", "", ""},
	{"u16", "U16", "uint16(p)", "", ""},
	{"i64", "I64", "int64(p)", "", ""},
	{"u64", "U64", "p", "", ""},
}

func compares() []byte {
	var reg, body bytes.Buffer
	add := func(name, fn, typ, src1 string) {
		for _, x := range []string{"", "x"} {
			flag := ""
			if x == "x" {
				flag = ", CmpX: true"
			}
			fmt.Fprintf(&reg, "\"v_cmp%s_%s\": {Cmp: %s, Dst: Mask, Src: [3]Type{%s, %s}%s},\n", x, name, fn, typ, src1, flag)
		}
	}
	for _, t := range cmpTypes {
		conds, always := intConds, "t"
		if t.flush != "" {
			conds, always = floatConds, "tru"
		}
		add("f_"+t.suffix, "cmpNever", t.typ, t.typ)
		add(always+"_"+t.suffix, "cmpAlways", t.typ, t.typ)
		for _, c := range conds {
			fn := "cmp" + strings.ToUpper(c.name[:1]) + c.name[1:] + strings.ToUpper(t.suffix)
			add(c.name+"_"+t.suffix, fn, t.typ, t.typ)
			fmt.Fprintf(&body, "\nfunc %s(a, b *Row, exec uint64, e *Env) (r uint64) {\n", fn)
			if wide(t.typ) == 2 {
				body.WriteString("as, bs := Rows(a, 2), Rows(b, 2)\na0, a1, b0, b1 := &as[0], &as[1], &bs[0], &bs[1]\n")
			}
			if t.flush != "" {
				fmt.Fprintf(&body, "m := e.Mode\nif %s {\n", t.cond)
				cmpLanes(&body, t.typ, t.value, c.expr, true)
				body.WriteString("return r\n}\n")
				cmpLanes(&body, t.typ, t.flush, c.expr, false)
			} else {
				cmpLanes(&body, t.typ, t.value, c.expr, true)
			}
			body.WriteString("return r\n}\n")
		}
	}
	for _, t := range []string{"16", "32", "64"} {
		add("class_f"+t, "cmpClassF"+t, "F"+t, "U32")
	}
	var b bytes.Buffer
	header(&b)
	fmt.Fprintf(&b, "import \"math/bits\"\n\nfunc init() {\nregister(map[string]Kernel{\n%s})\n}\n", reg.String())
	b.Write(body.Bytes())
	return b.Bytes()
}

// cmpLanes writes the loops of one compare. The full-EXEC loop shifts each
// lane's bit in from the top: after 64 lanes lane 0 is bit 0.
func cmpLanes(b *bytes.Buffer, typ, value, cond string, hot bool) {
	lane := func() {
		for i, v := range []string{"x", "y"} {
			row := string("ab"[i])
			raw := row + "[i]"
			if wide(typ) == 2 {
				raw = fmt.Sprintf("uint64(%s1[i])<<32 | uint64(%s0[i])", row, row)
			}
			fmt.Fprintf(b, "%s := %s\n", v, strings.Replace(strings.ReplaceAll(value, "(p", "("+raw), "p", raw, btoi(value == "p")))
		}
		fmt.Fprintf(b, "var t uint64\nif %s {\nt = 1\n}\n", cond)
	}
	if hot {
		row := "a"
		if wide(typ) == 2 {
			row = "a0"
		}
		fmt.Fprintf(b, "if exec == ^uint64(0) {\nfor i := range %s {\n", row)
		lane()
		b.WriteString("r = r>>1 | t<<63\n}\nreturn r\n}\n")
	}
	b.WriteString("for ; exec != 0; exec &= exec - 1 {\ni := bits.TrailingZeros64(exec) & 63\n")
	lane()
	b.WriteString("r |= t << uint(i)\n}\n")
}

func btoi(v bool) int {
	if v {
		return 1
	}
	return 0
}
