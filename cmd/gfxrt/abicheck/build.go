package abicheck

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrCompiler is wrapped when bitcode cannot be made a code object.
var ErrCompiler = errors.New("cannot compile the device library")

//go:embed src/kernels.c
var source []byte

// IsBitcode reports whether file begins like LLVM bitcode.
func IsBitcode(file []byte) bool { return bytes.HasPrefix(file, []byte("BC\xc0\xde")) }

// compilers are tried in this order; older ones may not read the bitcode.
var compilers = []string{"clang-22", "clang-23", "clang"}

// Build links the device library at path, LLVM bitcode, into a code object for
// a processor such as gfx90a, with the kernels that Check looks for. It needs a
// clang in PATH, or the one that compiler names.
func Build(ctx context.Context, path, processor, compiler string) ([]byte, error) {
	isa, err := isaVersion(processor)
	if err != nil {
		return nil, err
	}
	for _, name := range compilers {
		if compiler != "" {
			break
		}
		if found, err := exec.LookPath(name); err == nil {
			compiler = found
		}
	}
	if compiler == "" {
		return nil, fmt.Errorf("%w: no %s in PATH", ErrCompiler, strings.Join(compilers, ", "))
	}
	dir, err := os.MkdirTemp("", "gfxrt-abi")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "kernels.c"), filepath.Join(dir, "kernels.hsaco")
	if err := os.WriteFile(in, source, 0o666); err != nil {
		return nil, err
	}
	wave64 := 1
	if isa >= 10000 {
		wave64 = 0
	}
	text, err := exec.CommandContext(ctx, compiler, "-x", "c", "-std=c23", "--target=amdgcn-amd-amdhsa", "-mcpu="+processor, "-O2", "-nogpulib", "-nostdlib",
		"-ffreestanding", "-fvisibility=default", "-Wno-everything", fmt.Sprintf("-DISA_VERSION=%d", isa), fmt.Sprintf("-DWAVE64=%d", wave64),
		"-Xclang", "-mlink-builtin-bitcode", "-Xclang", path, in, "-o", out).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w\n%s", ErrCompiler, compiler, err, bytes.TrimSpace(text))
	}
	return os.ReadFile(out)
}

// isaVersion is what the library's __oclc_ISA_version holds for gfxMmmss: M in
// decimal, minor and stepping in hexadecimal, as two digits each.
func isaVersion(processor string) (int, error) {
	digits, ok := strings.CutPrefix(processor, "gfx")
	n := len(digits)
	if !ok || n < 3 {
		return 0, fmt.Errorf("%w: processor %q", ErrCompiler, processor)
	}
	major, err1 := strconv.Atoi(digits[:n-2])
	minor, err2 := strconv.ParseUint(digits[n-2:n-1], 16, 8)
	step, err3 := strconv.ParseUint(digits[n-1:], 16, 8)
	if err := errors.Join(err1, err2, err3); err != nil {
		return 0, fmt.Errorf("%w: processor %q: %w", ErrCompiler, processor, err)
	}
	return major*1000 + int(minor)*100 + int(step), nil
}

// Versions lists what a file says of the compilers it was made with: a device
// library names its ROCm release there.
func Versions(file []byte) []string {
	var found []string
	mark := []byte("clang version ")
	for rest := file; ; {
		at := bytes.Index(rest, mark)
		if at < 0 {
			return found
		}
		start := at
		for start > 0 && at-start < len("AMD ") && printable(rest[start-1]) {
			start--
		}
		if !bytes.Equal(rest[start:at], []byte("AMD ")) {
			start = at
		}
		end := at
		for end < len(rest) && printable(rest[end]) && end-at < 200 {
			end++
			if rest[end-1] == ')' { // bitcode runs its strings together
				break
			}
		}
		found = append(found, string(rest[start:end]))
		rest = rest[end:]
	}
}

func printable(c byte) bool { return c >= ' ' && c < 0x7f }
