package main

import (
	"bytes"
	"fmt"
	"log"
	"regexp"
	"strings"
)

// asm collects one file of assembly.
type asm struct {
	bytes.Buffer
	data map[string][]byte // of the constants used
	// whole tells that stores need no merge: EXEC is full.
	whole bool
}

func (a *asm) p(format string, args ...any) { fmt.Fprintf(a, "\t"+format+"\n", args...) }

// lines writes the instructions of a body.
func (a *asm) lines(body string) {
	for _, l := range strings.Split(body, ";") {
		if l = strings.TrimSpace(l); l != "" {
			a.p("%s", l)
		}
	}
}

// constant makes sure that a read-only symbol holds data and returns its name.
func (a *asm) constant(name string, data []byte) string {
	a.data[name] = data
	return name + "<>"
}

func dwords(v ...uint32) (b []byte) {
	for _, x := range v {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return b
}

func (a *asm) broadcasts(consts string) {
	for i, c := range strings.Fields(consts) {
		var v uint64
		if q, ok := strings.CutSuffix(c, "q"); ok {
			if _, err := fmt.Sscanf(q, "0x%x", &v); err != nil {
				log.Fatal(c, err)
			}
			a.p("VPBROADCASTQ %s(SB), Z%d", a.constant(fmt.Sprintf("vq%016x", v), dwords(uint32(v), uint32(v>>32))), 22+i)
			continue
		}
		if _, err := fmt.Sscanf(c, "0x%x", &v); err != nil {
			log.Fatal(c, err)
		}
		a.p("VPBROADCASTD %s(SB), Z%d", a.constant(fmt.Sprintf("vd%08x", v), dwords(uint32(v))), 22+i)
	}
}

var word = regexp.MustCompile(`\b(row\(\w+\)|old|[xyzr]|t[0-7]|c[0-9]|k[56]|ke|ki|ko|kr|kb)(\.y)?\b|row\(\w+\)`)

// unit writes a body for chunk i (16 lanes), half h of it when wide.
func (a *asm) unit(k *kern, body string, i, h int) {
	w := k.wide()
	if first, second, ok := strings.Cut(body, "|"); ok {
		body = []string{first, second}[h]
	}
	a.lines(word.ReplaceAllStringFunc(body, func(s string) string {
		s, half := strings.CutSuffix(s, ".y")
		reg := 0
		switch {
		case strings.HasPrefix(s, "row("):
			return fmt.Sprintf("%s+%d(SB)", a.constant(s[4:len(s)-1], tables[s[4:len(s)-1]]), 64*i)
		case s == "old":
			return fmt.Sprintf("%d(DI)", 64*i)
		case s == "ke":
			return fmt.Sprintf("K%d", 1+i)
		case s == "kr" && !w:
			return fmt.Sprintf("K%d", 1+i)
		case s == "kr", s == "ko":
			return "K6"
		case s == "ki", s == "kb":
			return "K7"
		case s[0] == 'k':
			return "K" + s[1:]
		case s == "r" && w:
			reg = 2*i + h
		case s == "r":
			reg = i
		case s[0] == 't':
			reg = 14 + int(s[1]-'0')
		case s[0] == 'c':
			reg = 22 + int(s[1]-'0')
		default:
			reg = 8 + 2*int(s[0]-'x') + h
		}
		if half {
			return fmt.Sprintf("Y%d", reg)
		}
		return fmt.Sprintf("Z%d", reg)
	}))
}
