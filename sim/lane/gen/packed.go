package main

// packedKernels are the VOP3P kernels.
func packedKernels() []kern {
	var ks []kern
	ints := func(op string, srcs int, body string, consts string) {
		sig := "d:p,p"
		if srcs == 3 {
			sig = "d:p,p,p"
		}
		ks = append(ks, kern{ops: op, sig: sig, flags: "packed", body: body, consts: consts})
	}
	for _, t := range []string{"i16", "u16"} {
		ints("v_pk_add_"+t, 2, "VPADDW y, x, r", "")
		ints("v_pk_sub_"+t, 2, "VPSUBW y, x, r", "")
		ints("v_pk_mad_"+t, 3, "VPMULLW y, x, x; VPADDW z, x, r", "")
	}
	ints("v_pk_mul_lo_u16", 2, "VPMULLW y, x, r", "")
	ints("v_pk_min_i16", 2, "VPMINSW y, x, r", "")
	ints("v_pk_max_i16", 2, "VPMAXSW y, x, r", "")
	ints("v_pk_min_u16", 2, "VPMINUW y, x, r", "")
	ints("v_pk_max_u16", 2, "VPMAXUW y, x, r", "")
	ints("v_pk_lshlrev_b16", 2, "VPANDD c0, x, x; VPSLLVW x, y, r", "0x000f000f")
	ints("v_pk_lshrrev_b16", 2, "VPANDD c0, x, x; VPSRLVW x, y, r", "0x000f000f")
	ints("v_pk_ashrrev_i16", 2, "VPANDD c0, x, x; VPSRAVW x, y, r", "0x000f000f")

	const f16Flags = "packed ieee ovfl"
	return append(ks, []kern{
		{ops: "v_pk_add_f16", sig: "ph:ph,ph", flags: f16Flags, body: "VADDPS y, x, r"},
		{ops: "v_pk_mul_f16", sig: "ph:ph,ph", flags: f16Flags, body: "VMULPS y, x, r"},
		{ops: "v_pk_fma_f16", sig: "ph:ph,ph,ph", flags: f16Flags, consts: "0x1", body: fmaOdd("x", "y", "z", "t0") + "VMOVDQA32 x, r"},
		{ops: "v_pk_min_f16", sig: "ph:ph,ph", flags: f16Flags + " bad", body: "VCMPPS $3, y, x, kb; " + minImm + "y, x, r"},
		{ops: "v_pk_max_f16", sig: "ph:ph,ph", flags: f16Flags + " bad", body: "VCMPPS $3, y, x, kb; " + maxImm + "y, x, r"},

		{ops: "v_pk_add_f32", sig: "rr:rr,rr", flags: "packed nanps", body: "VADDPS y, x, r"},
		{ops: "v_pk_mul_f32", sig: "rr:rr,rr", flags: "packed nanps", body: "VMULPS y, x, r"},
		{ops: "v_pk_fma_f32", sig: "rr:rr,rr,rr", flags: "packed nanps", body: fma132},
		{ops: "v_pk_mov_b32", sig: "rr:rm,rm", flags: "packed", body: "VMOVDQA32 x, r | VMOVDQA32 y, r"},
	}...)
}

// selectors prepares what chooses and negates the parts of packed sources: for
// pairs of 16 bits, byte selectors in Z26 to Z28 and signs in Z29 to Z31; for
// pairs of rows, their addresses, and the signs of source n in Z(26+2n) and
// Z(27+2n).
func (a *asm) selectors(k *kern) {
	_, src := k.kinds()
	for n, s := range src {
		switch s {
		case "p", "ps", "ph":
			a.bit("Env_OpSel", n, 0, "AX")
			a.bit("Env_OpSelHi", n, 1, "R9")
			a.p("ORL R9, AX")
			a.p("SHLL $4, AX")
			a.p("LEAQ %s(SB), R9", a.constant("halves", tables["halves"]))
			a.p("VBROADCASTI32X4 (R9)(AX*1), Z%d", 26+n)
			if s != "p" {
				a.bit("Env_NegLo", n, 15, "AX")
				a.bit("Env_NegHi", n, 31, "R9")
				a.p("ORL R9, AX")
				a.p("VPBROADCASTD AX, Z%d", 29+n)
			}
		case "dn":
			a.bit("Env_NegLo", n, 31, "AX")
			a.p("VPBROADCASTD AX, Z%d", 29+n)
		case "mx":
			a.mixSelectors(n)
		case "rm":
			a.bit("Env_OpSel", n, 8, "AX")
			a.p("ADDQ AX, %s", sourceRegs[n])
		case "rr":
			a.bit("Env_OpSelHi", n, 8, "AX")
			a.p("LEAQ (%s)(AX*1), %s", sourceRegs[n], highRegs[n])
			a.bit("Env_OpSel", n, 8, "AX")
			a.p("ADDQ AX, %s", sourceRegs[n])
			a.bit("Env_NegLo", n, 31, "AX")
			a.p("VPBROADCASTD AX, Z%d", 26+2*n)
			a.bit("Env_NegHi", n, 31, "AX")
			a.p("VPBROADCASTD AX, Z%d", 27+2*n)
		}
	}
}

// mixSelectors prepares source n of a mixed instruction: the shift to its half in
// Z(23+n), whether it is an f16 in K(5+n), what abs keeps in Z(26+n) and the sign
// in Z(29+n).
func (a *asm) mixSelectors(n int) {
	a.bit("Env_OpSel", n, 4, "AX")
	a.p("VPBROADCASTD AX, Z%d", 23+n)
	a.bit("Env_OpSelHi", n, 0, "AX")
	a.p("NEGL AX")
	a.p("KMOVW AX, K%d", 5+n)
	a.bit("Env_NegHi", n, 31, "AX")
	a.bit("Env_Abs", n, 31, "R9")
	a.p("ORL R9, AX")
	a.p("NOTL AX")
	a.p("VPBROADCASTD AX, Z%d", 26+n)
	a.bit("Env_NegLo", n, 31, "AX")
	a.p("VPBROADCASTD AX, Z%d", 29+n)
}

// bit moves bit n of a byte of Env to bit at of a register.
func (a *asm) bit(field string, n, at int, reg string) {
	a.p("MOVBLZX %s(R8), %s", field, reg)
	if n > 0 {
		a.p("SHRL $%d, %s", n, reg)
	}
	a.p("ANDL $1, %s", reg)
	if at > 0 {
		a.p("SHLL $%d, %s", at, reg)
	}
}
