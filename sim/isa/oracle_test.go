package isa

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
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
	path, target string
	answers      []answer
}

type answer struct {
	text string
	size int
}

var mcLine = regexp.MustCompile(`^\s*(.*?)\s*(?:;|//)\s*encoding: \[(.*)\]`)

func (m *llvmMC) disassemble(t *testing.T, codes [][]byte) []answer {
	t.Helper()
	m.answers = make([]answer, len(codes))
	for lo := 0; lo < len(codes); {
		lo = m.feed(t, codes, lo, min(len(codes), lo+2000))
	}
	return m.answers
}

// feed runs codes lo..hi-1 through one process, each followed by a marker with its
// index, and returns the first index without an answer. A batch that kills
// llvm-mc is halved until the culprit is alone.
func (m *llvmMC) feed(t *testing.T, codes [][]byte, lo, hi int) int {
	var in bytes.Buffer
	for i := lo; i < hi; i++ {
		mcBlock(&in, codes[i])
		mcBlock(&in, []byte{0xff, 0, 0x85, 0xbe, byte(i), byte(i >> 8), byte(i >> 16), 0xab})
	}
	cmd := exec.Command(m.path, "--disassemble", "--triple=amdgcn-amd-amdhsa", "-mcpu="+m.target, "--show-encoding")
	cmd.Stdin = &in
	cmd.Env = append(os.Environ(), "LLVM_DISABLE_SYMBOLIZATION=1")
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	// Exit status 1 only says that some encoding was rejected.
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		if hi-lo == 1 {
			return hi
		}
		for mid := (lo + hi) / 2; lo < mid; {
			lo = m.feed(t, codes, lo, mid)
		}
		return lo
	}
	m.parse(t, out)
	return hi
}

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
		} else if first.text == "" {
			text, _, _ := strings.Cut(g[1], "//")
			first = answer{strings.TrimSpace(text), strings.Count(g[2], ",") + 1}
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
