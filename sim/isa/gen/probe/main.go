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
// /32, /64 (integer, or no literal is allowed), /f64, /i16 or /f16.
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
	mask uint64 // bits that may be set
	show uint64 // bits that change the text
	ops  []string
}

func main() {
	for _, target := range os.Args[1:] {
		if err := probe(target); err != nil {
			log.Fatal(err)
		}
	}
}

func probe(target string) error {
	rows, err := readRows("ops/" + target + ".tsv")
	if err != nil {
		return err
	}
	mc := &oracle{target: target}
	rows = findBases(mc, rows)
	findOperands(mc, rows)
	findMasks(mc, rows)
	findConstants(mc, rows)
	if mc.err != nil {
		return mc.err
	}
	var b bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%x\t%016x\t%016x\t%s\n", r.family, r.opcode, r.variant,
			strings.Fields(r.text)[0], r.base, r.mask, r.show, strings.Join(r.ops, " "))
	}
	return os.WriteFile("facts/"+target+".tsv", b.Bytes(), 0o644)
}

func readRows(path string) ([]*row, error) {
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
			rows = append(rows, &row{family: col[0], opcode: col[1], variant: variant, base: base, fields: fieldsOf(col[0], variant, col[2])})
		}
		add("-", code)
		switch col[0] {
		case "VOP1", "VOP2", "VOPC":
			w := binary.LittleEndian.Uint32(code)&^0x1ff | 249
			x := binary.LittleEndian.AppendUint32(nil, w)
			sel := uint32(0x06060600)
			switch col[0] {
			case "VOPC":
				sel = 0x06060000
			case "VOP1":
				sel = 0x00060600
			}
			add("sdwa", binary.LittleEndian.AppendUint32(x, sel))
			w = w&^0x1ff | 250
			x = binary.LittleEndian.AppendUint32(nil, w)
			add("dpp", binary.LittleEndian.AppendUint32(x, 0xff000000))
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
		case "sdwa", "dpp":
			ok = ok && strings.HasSuffix(strings.Fields(r.text)[0], "_"+r.variant)
		}
		if ok {
			kept = append(kept, r)
		} else if r.variant == "-" {
			log.Printf("%s %s: base not accepted", r.family, r.opcode)
		}
	}
	return kept
}

func word(code []byte) uint64 {
	var b [8]byte
	copy(b[:], code)
	return binary.LittleEndian.Uint64(b[:])
}

func put(code []byte, v uint64) []byte {
	out := append([]byte(nil), code...)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(out[:min(8, len(out))], b[:])
	return out
}

func findMasks(mc *oracle, rows []*row) {
	for _, r := range rows {
		operand := selectors(r.family, r.variant)
		for _, f := range r.fields {
			for _, o := range r.ops {
				if strings.HasPrefix(o, f.name+":") {
					operand |= f.mask()
				}
			}
		}
		r.mask, r.show = operand, operand
		operand |= opcodeMask(r.family)
		bits := 32
		if r.variant != "-" || !strings.HasPrefix(r.family, "SOP") && r.family != "VOP1" && r.family != "VOP2" && r.family != "VOPC" {
			bits = 64
		}
		name := strings.Fields(r.text)[0]
		for i := range bits {
			if operand>>i&1 != 0 {
				continue
			}
			mc.ask(put(r.base, word(r.base)^1<<i), func(text string, size int) {
				if size >= len(r.base) && strings.Fields(text)[0] == name && (!strings.Contains(text, "/*") || strings.Contains(r.text, "/*") || r.family == "GLOBAL" && i >= 32 && i < 40) {
					r.mask |= 1 << i
					if text != r.text {
						r.show |= 1 << i
					}
				}
			})
		}
	}
	mc.run()
}

func findOperands(mc *oracle, rows []*row) {
	for _, r := range rows {
		base := operandsOf(r.text)
		r.ops = make([]string, len(base))
		for i, o := range base {
			r.ops[i] = "?:" + kindOf(o)
		}
		for _, f := range r.fields {
			mc.ask(put(r.base, word(r.base)&^f.mask()|f.enc(f.probe)), func(text string, size int) {
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
	case "off", "m0":
		return o
	}
	if o[0] == '|' || o[0] == '-' {
		o = strings.Trim(o, "-|")
	}
	if len(o) > 1 && strings.ContainsRune("sva", rune(o[0])) {
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
			if f.kind != 's' || f.bits < 8 || r.variant != "-" {
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
			v := word(r.base) &^ f.mask()
			for _, file := range []struct {
				code int
				mark string
			}{{4, "!s"}, {256 + 4, "!v"}} {
				if file.code >= 1<<f.bits {
					continue
				}
				valid := false
				mc.ask(put(r.base, v|f.enc(file.code)), func(text string, size int) {
					valid = !strings.Contains(strings.Split(comment.ReplaceAllString(text, "!"), ", ")[at], "!")
				})
				mc.then(func() {
					if !valid {
						r.ops[at] += file.mark
					}
				})
			}
			typ := ""
			mc.ask(put(r.base, v|f.enc(248)), func(text string, size int) {
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
			if len(r.base) == 4 {
				mc.ask(append(put(r.base, v|f.enc(255)), 0x78, 0x56, 0x34, 0x12), func(text string, size int) {
					if o := operandsOf(text); o[at] == "0x5678" && typ == "/32" {
						typ = "/f16"
					}
				})
				mc.ask(append(put(r.base, v|f.enc(255)), 0, 0, 0xe0, 0x3f), func(text string, size int) {
					if o := operandsOf(text); o[at] == "0.5" && typ == "/64" {
						typ = "/f64"
					}
				})
			}
		}
	}
	mc.run()
}
