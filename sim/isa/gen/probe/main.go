// Command probe asks llvm-mc which bits and operand codes each opcode accepts
// and which field each printed operand comes from, and writes the answers to
// facts/TARGET.tsv, from which gen makes the decoder's tables.
//
// It needs llvm-mc of LLVM 22 in PATH and is run by hand, from sim/isa:
//
//	go run ./gen/probe gfx90a gfx942
//
// Columns: family, opcode, variant (- for the plain encoding, sdwa, dpp),
// mnemonic as printed, base encoding in hex, mask of the bits outside the opcode
// that may be set, mask of those that change the text when set, and the operands
// in printed order as FIELD:KIND WIDTH, followed for sources by !s if no SGPR may
// stand there, !v if no VGPR may, and by the type of the constants that may:
// /32, /64 (integer, or no literal is allowed), /f64, /i16, /f16, /bf16, and for
// packed ones /pkf16 and /pkbf16. Then, where they differ, the operands, mask and
// changing bits in wave64, or none if the target lacks the instruction there.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log"
	"os"
	"regexp"
	"strconv"
	"strings"
)

type row struct {
	family, opcode, variant string
	base                    []byte
	fields                  []field

	text string
	mask word // bits that may be set
	show word // bits that change the text
	ops  []string
}

// mnemonic is the row's; the second one for VOPD_Y.
func (r *row) mnemonic() string {
	text := r.text
	if _, y, ok := strings.Cut(text, ":: "); ok && strings.HasPrefix(r.family, "VOPD") && strings.HasSuffix(r.family, "_Y") {
		text = y
	}
	return strings.Fields(text)[0]
}

func main() {
	for _, target := range os.Args[1:] {
		if err := probe(target); err != nil {
			log.Fatal(err)
		}
	}
}

func probe(target string) error {
	rows, err := probeWave(target, "")
	if err != nil {
		return err
	}
	wave64 := map[string]*row{}
	gen := genOf(target)
	two := gen >= 10 && target != "gfx1250"
	if two {
		other, err := probeWave(target, "+wavefrontsize64")
		if err != nil {
			return err
		}
		for _, r := range other {
			wave64[r.family+r.opcode+r.variant] = r
		}
	}
	var b bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%x\t%v\t%v\t%s", r.family, r.opcode, r.variant,
			r.mnemonic(), r.base, r.mask, r.show, strings.Join(r.ops, " "))
		if two {
			other, ok := wave64[r.family+r.opcode+r.variant]
			switch {
			case !ok:
				b.WriteString("\tnone")
			case strings.Join(other.ops, " ") != strings.Join(r.ops, " "):
				fmt.Fprintf(&b, "\t%s\t%v\t%v", strings.Join(other.ops, " "), other.mask, other.show)
			}
		}
		b.WriteByte('\n')
	}
	return os.WriteFile("facts/"+target+".tsv", b.Bytes(), 0o644)
}

// genOf returns the ISA generation of a processor.
func genOf(target string) int {
	n, err := strconv.ParseInt(strings.TrimPrefix(target, "gfx"), 16, 32)
	if err != nil {
		log.Fatal(err)
	}
	return int(n>>12*10 + n>>8&15)
}

func probeWave(target, features string) ([]*row, error) {
	mc := &oracle{target: target, features: features, gen: genOf(target)}
	rows, err := readRows(mc.gen, "ops/"+target+".tsv")
	if err != nil {
		return nil, err
	}
	rows = findBases(mc, rows)
	findOperands(mc, rows)
	findLow(mc, rows)
	findMasks(mc, rows)
	findConstants(mc, rows)
	return rows, mc.err
}

func readRows(gen int, path string) ([]*row, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rows []*row
	sc := bufio.NewScanner(bytes.NewReader(data))
	for sc.Scan() {
		col := strings.Split(sc.Text(), "\t")
		code, err := hex.DecodeString(col[4])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		add := func(variant string, base []byte) {
			rows = append(rows, &row{family: col[0], opcode: col[1], variant: variant, base: base, fields: fieldsOf(gen, col[0], variant)})
		}
		if col[0] == "VOP3PX" || col[0] == "TENSOR" { // made of what other rows tell, or decoded by hand
			continue
		}
		add("-", code)
		switch col[0] {
		case "VOP1", "VOP2", "VOPC":
			low := func(src0, second uint32) []byte {
				b := binary.LittleEndian.AppendUint32(nil, binary.LittleEndian.Uint32(code)&^0x1ff|src0)
				return binary.LittleEndian.AppendUint32(b, second)
			}
			if gen <= 10 {
				add("sdwa", low(249, map[string]uint32{"VOP1": 0x00060600, "VOP2": 0x06060600, "VOPC": 0x06060000}[col[0]]))
			}
			add("dpp", low(250, 0xff000000))
			if gen >= 10 {
				add("dpp8", low(233, 0))
			}
		case "VOP3", "VOP3P":
			if gen >= 11 {
				v := wordOf(code).not(shifted(0x1ff, 32))
				add("dpp", append(v.or(shifted(250, 32)).put(code), 0, 0, 0, 0xff))
				add("dpp8", append(v.or(shifted(233, 32)).put(code), 0, 0, 0, 0))
			}
		}
	}
	return rows, sc.Err()
}

// findBases drops the variants that the target does not have.
func findBases(mc *oracle, rows []*row) []*row {
	for _, r := range rows {
		mc.ask(r.base, func(text string, size int) {
			if size == len(r.base) {
				r.text = text
			}
		})
	}
	mc.run()
	kept := rows[:0]
	for _, r := range rows {
		ok := r.text != ""
		switch r.variant {
		case "sdwa":
			ok = ok && strings.Contains(r.text, " src0_sel:")
		case "dpp":
			ok = ok && strings.Contains(r.text, " row_mask:")
		case "dpp8":
			ok = ok && strings.Contains(r.text, " dpp8:")
		}
		if ok {
			kept = append(kept, r)
		} else if r.variant == "-" && mc.features == "" {
			log.Printf("%s %s: base not accepted", r.family, r.opcode)
		}
	}
	return kept
}

func findMasks(mc *oracle, rows []*row) {
	for _, r := range rows {
		if strings.HasPrefix(r.family, "VOPD") {
			continue
		}
		operand := shifted(selectors(r.family, r.variant), 0)
		if r.variant == "dpp" || r.variant == "dpp8" { // the last dword
			operand = operand.or(shifted(0x1ffff, 8*len(r.base)-32))
			if r.variant == "dpp8" {
				operand = operand.or(shifted(0xffffffff, 8*len(r.base)-32))
			}
		}
		for _, f := range r.fields {
			for _, o := range r.ops {
				if strings.HasPrefix(o, f.name+":") {
					operand = operand.or(f.mask())
				}
			}
		}
		r.mask, r.show = operand, operand
		operand = operand.or(shifted(opcodeMask(mc.gen, r.family), 0))
		if r.variant != "-" && strings.HasPrefix(r.family, "VOP3") {
			operand = operand.or(shifted(0x1ff, 32))
		}
		bits := 8 * len(r.base)
		if strings.HasPrefix(r.family, "SOP") || r.variant == "-" && (r.family == "VOP1" || r.family == "VOP2" || r.family == "VOPC") {
			bits = 32
		}
		name := strings.Fields(r.text)[0]
		for i := range bits {
			if operand.bit(i) {
				continue
			}
			mc.ask(wordOf(r.base).flip(i).put(r.base), func(text string, size int) {
				if size < len(r.base) || strings.Fields(text)[0] != name {
					return
				}
				// A remark says that the assembler refuses it.
				odd := (r.family == "GLOBAL" || r.family == "FLAT") && (mc.gen < 12 && i >= 32 && i < 40 || mc.gen >= 12 && i >= 64 && i < 72)
				if strings.Contains(text, "/*") && !strings.Contains(r.text, "/*") && !odd {
					return
				}
				r.mask = r.mask.or(shifted(1, i))
				if text != r.text {
					r.show = r.show.or(shifted(1, i))
				}
			})
		}
	}
	mc.run()
}

func findOperands(mc *oracle, rows []*row) {
	for _, r := range rows {
		if strings.HasPrefix(r.family, "VOPD") {
			continue
		}
		base := operandsOf(r.text)
		r.ops = make([]string, len(base))
		for i, o := range base {
			r.ops[i] = "?:" + kindOf(o)
		}
		for _, f := range r.fields {
			mc.ask(wordOf(r.base).not(f.mask()).or(f.enc(f.probe)).put(r.base), func(text string, size int) {
				if size < len(r.base) {
					return
				}
				moved := operandsOf(text)
				for i := range base {
					if i < len(moved) && len(moved) == len(base) && moved[i] != base[i] {
						r.ops[i] = f.name + ":" + kindOf(moved[i])
					}
				}
			})
		}
	}
	mc.run()
}

// findLow marks with l the VGPRs of 16-bit operands that must be v0..v127.
func findLow(mc *oracle, rows []*row) {
	for _, r := range rows {
		if r.family != "VOP1" && r.family != "VOP2" && r.family != "VOPC" || mc.gen < 11 {
			continue
		}
		for i, o := range r.ops {
			for _, f := range r.fields {
				if o != f.name+":v1" {
					continue
				}
				v := 160
				if f.bits == 9 {
					v += 256
				}
				r.ops[i] = f.name + ":l1"
				mc.ask(wordOf(r.base).not(f.mask()).or(f.enc(v)).put(r.base), func(text string, size int) {
					if size >= len(r.base) && !strings.Contains(text, "/*") {
						r.ops[i] = f.name + ":v1"
					}
				})
			}
		}
	}
	mc.run()
}

var comment = regexp.MustCompile(`/\*.*?\*/`)

// operandsOf splits the operands of an instruction, without modifiers.
func operandsOf(text string) []string {
	_, rest, _ := strings.Cut(comment.ReplaceAllString(text, ""), " ")
	var ops []string
	for _, o := range strings.Split(rest, ", ") {
		if o = strings.TrimSpace(o); o != "" {
			if o, _, _ = strings.Cut(o, " "); !strings.Contains(o, ":") || strings.Contains(o, "[") {
				ops = append(ops, o)
			}
		}
	}
	return ops
}

// kindOf gives the register file letter and the width in dwords of a printed operand.
func kindOf(o string) string {
	switch o {
	case "vcc":
		return "vcc2"
	case "vcc_lo":
		return "vcc1"
	case "off", "m0":
		return o
	}
	if o[0] == '|' || o[0] == '-' {
		o = strings.Trim(o, "-|")
	}
	if len(o) > 1 && strings.ContainsRune("sva", rune(o[0])) {
		if strings.HasSuffix(o, ".l") || strings.HasSuffix(o, ".h") {
			return "h1"
		}
		if o[1] >= '0' && o[1] <= '9' {
			return o[:1] + "1"
		}
		var lo, hi int
		if n, _ := fmt.Sscanf(o[1:], "[%d:%d]", &lo, &hi); n == 2 {
			return o[:1] + strconv.Itoa(hi-lo+1)
		}
	}
	return "i"
}

// findConstants finds the type of each source from how 1/(2*pi) and a literal print.
func findConstants(mc *oracle, rows []*row) {
	for _, r := range rows {
		for _, f := range r.fields {
			dpp := (r.variant == "dpp" || r.variant == "dpp8") && strings.HasPrefix(r.family, "VOP3") && f.name != "src0"
			if f.kind != 's' || f.bits < 8 || r.variant != "-" && !dpp {
				continue
			}
			at := -1
			for i, o := range r.ops {
				if strings.HasPrefix(o, f.name+":") {
					at = i
				}
			}
			if at < 0 {
				continue
			}
			v := wordOf(r.base).not(f.mask())
			for _, file := range []struct {
				code int
				mark string
			}{{4, "!s"}, {256 + 4, "!v"}} {
				if file.code >= 1<<f.bits {
					continue
				}
				valid := false
				mc.ask(v.or(f.enc(file.code)).put(r.base), func(text string, size int) {
					valid = !strings.Contains(strings.Split(comment.ReplaceAllString(text, "!"), ", ")[at], "!")
				})
				mc.then(func() {
					if !valid {
						r.ops[at] += file.mark
					}
				})
			}
			typ := ""
			mc.ask(v.or(f.enc(248)).put(r.base), func(text string, size int) {
				if strings.Contains(text, "Invalid immediate") {
					return
				}
				switch o := operandsOf(text); o[at] {
				case "0.15915494":
					typ = "/32"
				case "0.15915494309189532":
					typ = "/64"
				case "0x3118":
					typ = "/i16"
				}
			})
			mc.then(func() { r.ops[at] += typ })
			if dpp {
				continue
			}
			if len(r.base) == 4 || mc.gen >= 10 && strings.HasPrefix(r.family, "VOP3") {
				mc.ask(append(v.or(f.enc(255)).put(r.base), 0x78, 0x56, 0x34, 0x12), func(text string, size int) {
					if o := operandsOf(text); o[at] == "0x5678" && typ == "/32" {
						typ = "/f16"
					}
				})
				mc.ask(append(v.or(f.enc(255)).put(r.base), 0x80, 0x3f, 0, 0), func(text string, size int) {
					if o := operandsOf(text); strings.HasPrefix(o[at], "lit(") && typ == "/f16" { // 1.0
						typ = "/bf16"
					}
				})
				// Literals that have an inline form print as lit().
				marks := [4]bool{}
				for i, l := range [4]uint32{0x3c00, 0x3f80, 0x3f800000, 0x40} {
					mc.ask(binary.LittleEndian.AppendUint32(v.or(f.enc(255)).put(r.base), l), func(text string, size int) {
						marks[i] = strings.HasPrefix(operandsOf(text)[at], "lit(")
					})
				}
				mc.then(func() {
					switch {
					case typ == "/32" && marks == [4]bool{true, false, false, true}:
						r.ops[at] = strings.TrimSuffix(r.ops[at], typ) + "/pkf16"
					case typ == "/32" && marks == [4]bool{false, true, false, true}:
						r.ops[at] = strings.TrimSuffix(r.ops[at], typ) + "/pkbf16"
					}
				})
				mc.ask(append(v.or(f.enc(255)).put(r.base), 0, 0, 0xe0, 0x3f), func(text string, size int) {
					if o := operandsOf(text); o[at] == "0.5" && typ == "/64" {
						typ = "/f64"
					}
				})
			}
		}
	}
	mc.run()
}
