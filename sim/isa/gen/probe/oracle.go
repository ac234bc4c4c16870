package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// oracle batches encodings for one llvm-mc process.
type oracle struct {
	target, features string
	gen              int
	codes            [][]byte
	acts             []func(text string, size int)
	after            []func()
	err              error
}

// ask queues an encoding; got is called by run with the text of the first
// instruction, or not at all when llvm-mc rejects it.
func (m *oracle) ask(code []byte, got func(text string, size int)) {
	m.codes = append(m.codes, code)
	m.acts = append(m.acts, got)
}

// then queues an action for the end of run.
func (m *oracle) then(f func()) { m.after = append(m.after, f) }

var encoding = regexp.MustCompile(`^\s*(.*?)\s*(?:;|//)\s*encoding: \[(.*)\]`)

// marker is s_mov_b32 s5, 0xABnnnnnn, fed after each candidate.
const marker = "s_mov_b32 s5, 0xab"

// markerOpcode is the opcode of s_mov_b32.
func (m *oracle) markerOpcode() byte {
	if m.gen == 10 {
		return 3
	}
	return 0
}

// run feeds what was queued. llvm-mc 22 dies on a few encodings: those count as
// rejected, and the rest is fed to a new process.
func (m *oracle) run() {
	for lo := 0; lo < len(m.codes); {
		lo = m.feed(lo, len(m.codes))
	}
	for _, f := range m.after {
		f()
	}
	m.codes, m.acts, m.after = nil, nil, nil
}

// feed runs candidates lo..hi-1 and returns the first that was not answered.
func (m *oracle) feed(lo, hi int) int {
	var in bytes.Buffer
	for i := lo; i < hi; i++ {
		line(&in, m.codes[i])
		line(&in, []byte{0xff, m.markerOpcode(), 0x85, 0xbe, byte(i), byte(i >> 8), byte(i >> 16), 0xab})
	}
	cmd := exec.Command("llvm-mc-22", "--disassemble", "--triple=amdgcn-amd-amdhsa", "-mcpu="+m.target, "-mattr="+m.features, "--show-encoding")
	cmd.Stdin = &in
	cmd.Env = append(os.Environ(), "LLVM_DISABLE_SYMBOLIZATION=1")
	out, err := cmd.Output()
	// Exit status 1 only says that some encoding was rejected.
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		if hi-lo == 1 {
			return hi
		}
		for mid := (lo + hi) / 2; lo < mid; {
			lo = m.feed(lo, mid)
		}
		return lo
	}
	m.parse(out)
	return hi
}

func (m *oracle) parse(out []byte) {
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, 1<<20)
	text, size := "", 0
	for sc.Scan() {
		g := encoding.FindStringSubmatch(sc.Text())
		if g == nil {
			continue
		}
		if n, ok := strings.CutPrefix(g[1], marker); ok && len(n) == 6 {
			i, err := strconv.ParseUint(n, 16, 32)
			if err != nil {
				m.err = err
				continue
			}
			if text != "" {
				m.acts[i](text, size)
			}
			text = ""
		} else if text == "" {
			text, size = strings.TrimSpace(strings.Split(g[1], "//")[0]), strings.Count(g[2], ",")+1
		}
	}
}

func line(b *bytes.Buffer, code []byte) {
	b.WriteByte('[')
	for i, c := range code {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "0x%02x", c)
	}
	b.WriteString("]\n")
}
