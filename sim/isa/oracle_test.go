package isa

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// llvmTool finds an LLVM tool in PATH, or skips the test.
func llvmTool(t *testing.T, name string) string {
	t.Helper()
	for _, n := range []string{name + "-22", name} {
		if p, err := exec.LookPath(n); err == nil {
			return p
		}
	}
	t.Skipf("%s is not in PATH: nothing to compare with", name)
	return ""
}

// llvmMC disassembles each encoding on its own. An empty answer means that
// llvm-mc rejects it, or dies on it: release 22 does for some invalid operands.
type llvmMC struct {
	path    string
	d       *Decoder
	codes   [][]byte
	answers []answer
	next    int // the code whose answer comes next
}

type answer struct {
	text string
	size int
}

var mcLine = regexp.MustCompile(`^\s*(.*?)\s*(?:;|//)\s*encoding: \[(.*)\]`)

func (m *llvmMC) disassemble(t *testing.T, codes [][]byte) []answer {
	t.Helper()
	m.codes, m.answers = codes, make([]answer, len(codes))
	for lo := 0; lo < len(codes); {
		lo = m.feed(t, codes, lo, min(len(codes), lo+400))
	}
	return m.answers
}

// mattr gives LLVM's features for the decoder's wave size.
func mattr(d *Decoder) string {
	if d.wave == 64 && d.gen >= 10 {
		return "+wavefrontsize64"
	}
	return ""
}

// feed runs codes lo..hi-1 through one process, each followed by a marker with its
// index and by an invalid encoding, whose warning on the unbuffered standard error
// tells how far the process got if it dies. It returns the first index that has
// no answer yet.
func (m *llvmMC) feed(t *testing.T, codes [][]byte, lo, hi int) int {
	var in bytes.Buffer
	sMovB32 := byte(0)
	if m.d.gen == 10 {
		sMovB32 = 3
	}
	for i := lo; i < hi; i++ {
		mcBlock(&in, codes[i])
		mcBlock(&in, []byte{0xff, sMovB32, 0x85, 0xbe, byte(i), byte(i >> 8), byte(i >> 16), 0xab})
		mcBlock(&in, []byte{0xff, 0xff, 0xff, 0xff})
	}
	cmd := exec.Command(m.path, "--disassemble", "--triple=amdgcn-amd-amdhsa", "-mcpu="+m.d.name, "-mattr="+mattr(m.d), "--show-encoding")
	cmd.Stdin = &in
	cmd.Env = append(os.Environ(), "LLVM_DISABLE_SYMBOLIZATION=1", "LLVM_DISABLE_CRASH_REPORT=1")
	var out, warnings bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &warnings
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	// Exit status 1 only says that some encoding was rejected.
	if err == nil || cmd.ProcessState.ExitCode() == 1 {
		m.next = lo
		m.parse(t, out.Bytes())
		return hi
	}
	died := lo
	for _, g := range mcWarning.FindAllSubmatch(warnings.Bytes(), -1) {
		if line, err := strconv.Atoi(string(g[1])); err == nil && line%3 == 0 {
			died = lo + line/3
		}
	}
	if died > lo {
		m.feed(t, codes, lo, died)
	}
	return died + 1
}

var mcWarning = regexp.MustCompile(`(?m)^<stdin>:(\d+):\d+: warning: invalid`)

func (m *llvmMC) parse(t *testing.T, out []byte) {
	sc := bufio.NewScanner(bytes.NewReader(out))
	var first answer
	for sc.Scan() {
		g := mcLine.FindStringSubmatch(sc.Text())
		if g == nil {
			continue
		}
		var i int
		if n, _ := fmt.Sscanf(g[1], "s_mov_b32 s5, 0xab%06x", &i); n == 1 {
			m.answers[i] = first
			first = answer{}
			m.next = i + 1
		} else if first.text == "" {
			text, _, _ := strings.Cut(g[1], "//")
			first = answer{strings.TrimSpace(text), strings.Count(g[2], ",") + 1}
			// The encoding is made anew from the text. Where that gives another one,
			// it says nothing about the size that was read.
			if enc := strings.ReplaceAll(strings.ReplaceAll(g[2], ",", ""), "0x", ""); enc != hex.EncodeToString(m.codes[m.next])[:min(len(enc), 2*len(m.codes[m.next]))] {
				first.size = 0
			}
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
}

func mcBlock(b *bytes.Buffer, code []byte) {
	b.WriteByte('[')
	for i, c := range code {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "0x%02x", c)
	}
	b.WriteString("]\n")
}
