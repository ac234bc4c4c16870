package main

import "fmt"

// cmpKernels are the VOPC compares, which do not depend on MODE while denormals
// are kept. The v_cmpx forms share them.
func cmpKernels() []kern {
	ints := []struct {
		name string
		imm  int
	}{{"lt", 1}, {"eq", 0}, {"le", 2}, {"gt", 6}, {"ne", 4}, {"ge", 5}}
	// The quiet predicates of VCMPPS.
	floats := []struct {
		name string
		imm  int
	}{
		{"lt", 0x11}, {"eq", 0x00}, {"le", 0x12}, {"gt", 0x1E}, {"lg", 0x0C}, {"ge", 0x1D}, {"o", 0x07},
		{"u", 0x03}, {"nge", 0x19}, {"nlg", 0x08}, {"ngt", 0x1A}, {"nle", 0x16}, {"neq", 0x04}, {"nlt", 0x15},
	}
	var ks []kern
	add := func(name, typ, sig, format string, imm int) {
		ks = append(ks, kern{ops: "v_cmp_" + name + "_" + typ, sig: "m:" + sig, body: fmt.Sprintf(format, imm)})
	}
	for _, c := range ints {
		add(c.name, "i32", "d,d", "VPCMPD $%d, y, x, kr", c.imm)
		add(c.name, "u32", "d,d", "VPCMPUD $%d, y, x, kr", c.imm)
		add(c.name, "i64", "q,q", "VPCMPQ $%d, y, x, kr", c.imm)
		add(c.name, "u64", "q,q", "VPCMPUQ $%d, y, x, kr", c.imm)
		add(c.name, "i16", "d,d", "VPSLLD $16, x, x; VPSLLD $16, y, y; VPCMPD $%d, y, x, kr", c.imm)
		add(c.name, "u16", "d,d", "VPSLLD $16, x, x; VPSLLD $16, y, y; VPCMPUD $%d, y, x, kr", c.imm)
	}
	for _, c := range floats {
		add(c.name, "f32", "d,d", "VCMPPS $%d, y, x, kr", c.imm)
		add(c.name, "f64", "q,q", "VCMPPD $%d, y, x, kr", c.imm)
		add(c.name, "f16", "w,w", "VCMPPS $%d, y, x, kr", c.imm)
	}
	return ks
}
