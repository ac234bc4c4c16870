package elf

import (
	"bytes"
	"crypto/md5"
	"errors"
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Bundle forms and their magic bytes (Clang Offload Bundler).
const (
	bundleMagic     = "__CLANG_OFFLOAD_BUNDLE__"
	compressedMagic = "CCOB"
	elfMagic        = "\x7fELF"
	// bundleStep is the alignment at which a linker joins the bundles of
	// several translation units.
	bundleStep = 4096
	// MaxBundleSize bounds what one call decompresses in total.
	MaxBundleSize = 4 << 30
	maxEntryID    = 4096
)

// ErrNoMatch is wrapped by the error about a device that no entry fits.
var ErrNoMatch = errors.New("no code object for the target")

// ErrAmbiguous is wrapped by the error about several bundles (translation
// units) or targets that all fit.
var ErrAmbiguous = errors.New("more than one code object fits")

// BundleEntry is one entry of an offload bundle, or a bare code object.
type BundleEntry struct {
	ID       string // as spelled, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"; "" for a bare code object
	Kind     string // "host", "hip", "hipv4", "openmp"; "" for a bare code object
	Triple   string // "amdgcn-amd-amdhsa", "x86_64-unknown-linux-gnu", …
	TargetID string // "gfx90a:xnack+"; "" for host entries
	Bundle   int    // which of the concatenated bundles
	Data     []byte // the code object, part of the input unless it was compressed
}

// Device reports whether the entry holds AMD GPU code.
func (e BundleEntry) Device() bool {
	return strings.HasPrefix(e.Triple, "amdgcn") && e.TargetID != "" && len(e.Data) > 0
}

// splitEntryID fills the parts of ID: kind, triple of three or four parts,
// target id. Target ids contain dashes ("gfx9-4-generic"), triples do not
// contain "-gfx".
func (e *BundleEntry) splitEntryID() {
	kind, rest, _ := strings.Cut(e.ID, "-")
	e.Kind, e.Triple = kind, rest
	for _, mark := range []string{"-gfx", "-amdgcnspirv"} {
		if i := strings.Index(rest, mark); i >= 0 {
			e.Triple, e.TargetID = rest[:i], rest[i+1:]
			break
		}
	}
	e.Triple = strings.TrimRight(e.Triple, "-")
}

// PrefixSize is how many bytes Recognized needs.
const PrefixSize = len(bundleMagic)

// Recognized reports whether a file that begins with prefix may be one that
// List reads, so that a reader can stop early at a file that is not.
func Recognized(prefix []byte) bool {
	for _, magic := range []string{elfMagic, bundleMagic, compressedMagic} {
		if bytes.HasPrefix(prefix, []byte(magic)) {
			return true
		}
	}
	return false
}

// List gives everything a file holds: a bare code object, an offload bundle
// (plain or compressed, or several at 4096-byte steps), or a host executable
// or object with a .hip_fatbin section.
func List(data []byte) ([]BundleEntry, error) {
	switch {
	case bytes.HasPrefix(data, []byte(bundleMagic)), bytes.HasPrefix(data, []byte(compressedMagic)):
		return ExtractAll(data)
	case bytes.HasPrefix(data, []byte(elfMagic)):
		return listELF(data)
	case bytes.HasPrefix(data, []byte{0x03, 0x02, 0x23, 0x07}):
		return nil, fmt.Errorf("%w: SPIR-V, which needs a compiler", ErrUnsupported)
	}
	return nil, bad(0, "magic", "neither a code object, an offload bundle nor a host executable")
}

func listELF(data []byte) ([]BundleEntry, error) {
	f, err := readELF(data)
	if err != nil {
		return nil, err
	}
	switch f.machine {
	case machineAMDGPU:
		version, err := f.codeObjectVersion()
		if err != nil {
			return nil, err
		}
		t, err := targetFromFlags(f.flags, version)
		if err != nil {
			return nil, err
		}
		return []BundleEntry{{Triple: "amdgcn-amd-amdhsa", TargetID: t.String(), Data: data}}, nil
	case machineX8664, machineAArch64:
	default:
		return nil, fmt.Errorf("%w: e_machine %d is neither AMDGPU, x86-64 nor AArch64", ErrUnsupported, f.machine)
	}
	if s := f.sectionNamed(".hipFatBinSegment"); s != nil && bytes.HasPrefix(f.sectionBytes(s), []byte("HIPK")) {
		return nil, fmt.Errorf("%w: kpack: device code lies in an external archive", ErrUnsupported)
	}
	s := f.sectionNamed(".hip_fatbin")
	if s == nil {
		if f.sectionNamed(".llvm.offloading") != nil {
			return nil, fmt.Errorf("%w: .llvm.offloading section: link the object first", ErrUnsupported)
		}
		return nil, fmt.Errorf("%w: host ELF file without a .hip_fatbin section", ErrUnsupported)
	}
	entries, err := ExtractAll(f.sectionBytes(s))
	var fe *FormatError
	if errors.As(err, &fe) {
		return nil, bad(s.off+fe.Offset, ".hip_fatbin "+fe.Field, "%s", fe.Reason)
	}
	return entries, err
}

// ExtractAll reads one or more bundles; the further ones start at multiples
// of 4096 with nothing but zeros between.
func ExtractAll(data []byte) ([]BundleEntry, error) {
	var all []BundleEntry
	budget := uint64(MaxBundleSize)
	for at, n := uint64(0), 0; at < uint64(len(data)); n++ {
		rest := data[at:]
		var entries []BundleEntry
		var size uint64
		var err error
		switch {
		case bytes.HasPrefix(rest, []byte(bundleMagic)):
			entries, size, err = readBundle(rest, at)
		case bytes.HasPrefix(rest, []byte(compressedMagic)):
			var plain []byte
			if plain, size, err = decompressBundle(rest, at, budget); err != nil {
				return nil, err
			}
			budget -= uint64(len(plain))
			if entries, _, err = readBundle(plain, 0); err != nil {
				return nil, bad(at, "compressed bundle", "contents: %v", err)
			}
		default:
			if step := rest[:min(len(rest), bundleStep)]; n > 0 && len(bytes.Trim(step, "\x00")) == 0 {
				size, n = uint64(len(step)), n-1
				break
			}
			return nil, bad(at, "magic", "no offload bundle")
		}
		if err != nil {
			return nil, err
		}
		for i := range entries {
			entries[i].Bundle = n
		}
		all = append(all, entries...)
		at = (at + size + bundleStep - 1) &^ (bundleStep - 1)
	}
	if len(all) == 0 {
		return nil, bad(0, "bundle", "no entries")
	}
	return all, nil
}

// readBundle reads a plain bundle at the start of b, at offset at of the
// input, and gives its length: no field tells it, the last entry ends it.
func readBundle(b []byte, at uint64) ([]BundleEntry, uint64, error) {
	limit := uint64(len(b))
	if !bytes.HasPrefix(b, []byte(bundleMagic)) || limit < 32 {
		return nil, 0, bad(at, "bundle magic", "no %s and entry count in %d bytes", bundleMagic, limit)
	}
	count := le.Uint64(b[24:])
	if count > (limit-32)/24 {
		return nil, 0, bad(at+24, "bundle entry count", "%d entries do not fit in %#x bytes", count, limit)
	}
	entries := make([]BundleEntry, 0, count)
	off, end := uint64(32), uint64(32)
	for i := range count {
		field := func(name string) string { return fmt.Sprintf("bundle entry %d %s", i, name) }
		if !inside(off, 24, limit) {
			return nil, 0, bad(at+off, field("header"), "beyond the end of the bundle, %#x", limit)
		}
		start, size, idLen := le.Uint64(b[off:]), le.Uint64(b[off+8:]), le.Uint64(b[off+16:])
		if !inside(start, size, limit) {
			return nil, 0, bad(at+off, field("offset"), "%#x bytes at %#x are beyond the end of the bundle, %#x", size, start, limit)
		}
		if idLen > maxEntryID || !inside(off+24, idLen, limit) {
			return nil, 0, bad(at+off+16, field("id length"), "%d bytes", idLen)
		}
		e := BundleEntry{ID: string(b[off+24 : off+24+idLen]), Data: b[start : start+size : start+size]}
		e.splitEntryID()
		entries = append(entries, e)
		off += 24 + idLen
		end = max(end, off, start+size)
	}
	return entries, end, nil
}

// Compression methods of a CCOB header (LLVM's compression::Format).
const (
	methodZlib = 0
	methodZstd = 1
)

// ccob is the header of a compressed bundle.
type ccob struct {
	version, method    uint16
	header, total      uint64 // bytes of the header, and with the payload; total is 0 in version 1
	uncompressed, hash uint64
}

// readCCOB reads the header at the start of b, versions 1 to 3 (Clang Offload
// Bundler, Compressed Bundle).
func readCCOB(b []byte, at uint64) (h ccob, err error) {
	if len(b) < 8 {
		return h, bad(at, "CCOB header", "%d bytes", len(b))
	}
	h.version, h.method = le.Uint16(b[4:]), le.Uint16(b[6:])
	switch h.version {
	case 1:
		h.header = 20
	case 2:
		h.header = 24
	case 3:
		h.header = 32
	default:
		return h, fmt.Errorf("%w: CCOB version %d at offset %#x", ErrUnsupported, h.version, at)
	}
	if uint64(len(b)) < h.header {
		return h, bad(at, "CCOB header", "%d bytes, want %d", len(b), h.header)
	}
	switch h.version {
	case 1:
		h.uncompressed = uint64(le.Uint32(b[8:]))
	case 2:
		h.total, h.uncompressed = uint64(le.Uint32(b[8:])), uint64(le.Uint32(b[12:]))
	case 3:
		h.total, h.uncompressed = le.Uint64(b[8:]), le.Uint64(b[16:])
	}
	h.hash = le.Uint64(b[h.header-8:])
	if h.version > 1 && (h.total < h.header || h.total > uint64(len(b))) {
		return h, bad(at+8, "CCOB total size", "%#x of %#x bytes", h.total, len(b))
	}
	return h, nil
}

// decompressBundle decompresses a CCOB bundle at the start of b and gives how
// many bytes it takes.
func decompressBundle(b []byte, at, budget uint64) (plain []byte, length uint64, err error) {
	h, err := readCCOB(b, at)
	if err != nil {
		return nil, 0, err
	}
	payload := b[h.header:]
	if h.version > 1 {
		payload = b[h.header:h.total]
	}
	if limit := min(budget, ratioLimit(len(payload))); h.uncompressed > limit {
		return nil, 0, fmt.Errorf("%w: %w", bad(at+8, "CCOB uncompressed size", "%#x bytes from %#x", h.uncompressed, len(payload)), ErrTooLarge)
	}
	taken := len(payload)
	switch h.method {
	case methodZlib:
		plain, taken, err = inflate(payload, h.uncompressed)
	case methodZstd:
		if h.version == 1 {
			taken, err = firstFrame(payload)
		}
		if err == nil {
			plain, err = unzstd(payload[:taken], h.uncompressed)
		}
	default:
		return nil, 0, fmt.Errorf("%w: CCOB method %d at offset %#x", ErrUnsupported, h.method, at)
	}
	if err != nil {
		return nil, 0, bad(at+h.header, "CCOB payload", "%v, want %#x bytes", err, h.uncompressed)
	}
	// The hash is the low half of the contents' MD5.
	if sum := md5.Sum(plain); le.Uint64(sum[:]) != h.hash {
		return nil, 0, bad(at+h.header-8, "CCOB hash", "%#x, but the contents have %#x", h.hash, le.Uint64(sum[:]))
	}
	if h.version > 1 {
		return plain, h.total, nil
	}
	return plain, h.header + uint64(taken), nil
}

// firstFrame gives the length of the zstd frame at the start of b (RFC 8878,
// section 3.1.1): a version 1 header does not tell where it ends.
func firstFrame(b []byte) (int, error) {
	var h zstd.Header
	if err := h.Decode(b); err != nil {
		return 0, err
	}
	if h.Skippable {
		return 0, errors.New("skippable frame")
	}
	for off := uint64(h.HeaderSize); ; {
		if !inside(off, 3, uint64(len(b))) {
			return 0, errors.New("frame does not end")
		}
		block := uint64(b[off]) | uint64(b[off+1])<<8 | uint64(b[off+2])<<16
		size := block >> 3
		if block>>1&3 == 1 {
			size = 1 // a repeated byte
		}
		off += 3 + size
		if block&1 == 0 {
			continue
		}
		if h.HasCheckSum {
			off += 4
		}
		if off > uint64(len(b)) {
			return 0, errors.New("frame does not end")
		}
		return int(off), nil
	}
}
