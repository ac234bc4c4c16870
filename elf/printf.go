package elf

import (
	"strconv"
	"strings"
)

// parsePrintf reads one amdhsa.printf string (LLVM AMDGPUUsage, Code Object
// Metadata; forms as clang writes them):
//
//	OpenCL        ID:N:S1:…:SN:FORMAT      FORMAT escaped
//	HIP buffered  0:0:HASH,FORMAT          FORMAT raw, HASH 16 hex digits
//
// reason says what is wrong, "" when nothing is.
func parsePrintf(s string) (p PrintfFormat, reason string) {
	number := func() (uint32, bool) {
		digits, rest, ok := strings.Cut(s, ":")
		v, err := strconv.ParseUint(digits, 10, 32)
		s = rest
		return uint32(v), ok && err == nil
	}
	var ok bool
	if p.ID, ok = number(); !ok {
		return p, "no decimal id before the first colon"
	}
	count, ok := number()
	if !ok {
		return p, "no decimal argument count before the second colon"
	}
	if p.ID == 0 && count == 0 {
		hash, format, ok := strings.Cut(s, ",")
		v, err := strconv.ParseUint(hash, 16, 64)
		if !ok || err != nil {
			return p, "id 0 without a hexadecimal hash and a comma"
		}
		p.IsHash, p.Hash, p.Format = true, v, format
		return p, ""
	}
	if int64(count) > int64(strings.Count(s, ":")) {
		return p, strconv.Itoa(int(count)) + " argument sizes are not all there"
	}
	p.Sizes = make([]uint32, count)
	for i := range p.Sizes {
		if p.Sizes[i], ok = number(); !ok {
			return p, "size of argument " + strconv.Itoa(i) + " is no decimal number"
		}
	}
	p.Format = unescapePrintf(s)
	return p, ""
}

// unescapePrintf undoes the escapes LLVM's printf lowering writes: the seven
// control characters as backslash and letter, and the colon as \72.
func unescapePrintf(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return printfEscapes.Replace(s)
}

var printfEscapes = strings.NewReplacer(`\a`, "\a", `\b`, "\b", `\f`, "\f", `\n`, "\n", `\r`, "\r", `\v`, "\v", `\72`, ":")
