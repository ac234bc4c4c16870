package cli

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"gfxrt/elf"
	"gfxrt/runtime"
	"gfxrt/sim/isa"
)

// blockDoc is the code behind one address that has names.
type blockDoc struct {
	Labels       []string  `json:"labels"`
	Address      uint64    `json:"address"`
	Instructions []instDoc `json:"instructions"`
}

type instDoc struct {
	Address uint64   `json:"address"`
	Words   []string `json:"words"`
	Text    string   `json:"text"`
	Target  string   `json:"target,omitempty"` // of a branch: symbol+offset
}

// maxInstBytes is the longest instruction.
const maxInstBytes = 20

// newDecoder makes the decoder of a code object.
func newDecoder(co *elf.CodeObject) (*isa.Decoder, error) {
	d, err := isa.NewDecoder(co.Target.Concrete().Processor)
	if err != nil {
		return nil, fmt.Errorf("target %s: no decoder: %w", co.Target, err)
	}
	return d, nil
}

// disassemble decodes the code of every executable segment, block by block:
// from each named address to the end of its symbol or the next name.
func disassemble(co *elf.CodeObject) ([]blockDoc, error) {
	d, err := newDecoder(co)
	if err != nil {
		return nil, err
	}
	blocks := []blockDoc{}
	for _, s := range co.Segments {
		if !s.Exec || s.FileSize == 0 {
			continue
		}
		for _, b := range split(co, s) {
			code := co.File[s.FileOff+b.start-s.VAddr : s.FileOff+b.end-s.VAddr]
			blocks = append(blocks, blockDoc{Labels: b.names, Address: b.start, Instructions: decodeAll(co, d, code, b.start)})
		}
	}
	return blocks, nil
}

type block struct {
	names      []string
	start, end uint64
}

// split finds the named blocks of a segment, in order and without overlap. A
// segment without names is one block.
func split(co *elf.CodeObject, s elf.Segment) []block {
	limit := s.VAddr + s.FileSize
	names, ends := map[uint64][]string{}, map[uint64]uint64{}
	add := func(addr, size uint64, name string) {
		if addr < s.VAddr || addr >= limit || addr&3 != 0 {
			return
		}
		if !slices.Contains(names[addr], name) && len(names[addr]) < 8 {
			names[addr] = append(names[addr], name)
		}
		if size == 0 || size > limit-addr {
			size = limit - addr
		}
		ends[addr] = max(ends[addr], addr+size)
	}
	for _, sym := range co.Symbols {
		if sym.Type == elf.SymbolFunc && sym.Defined {
			add(sym.Value, sym.Size, sym.Name)
		}
	}
	for i := range co.Kernels {
		if k := &co.Kernels[i]; names[k.Entry] == nil {
			add(k.Entry, 0, k.Name)
		}
	}
	if len(names) == 0 {
		return []block{{start: s.VAddr, end: limit, names: []string{}}}
	}
	var blocks []block
	for addr := range names {
		blocks = append(blocks, block{names: names[addr], start: addr, end: ends[addr]})
	}
	slices.SortFunc(blocks, func(a, b block) int {
		if a.start < b.start {
			return -1
		}
		return 1
	})
	for i := range len(blocks) - 1 {
		blocks[i].end = min(blocks[i].end, blocks[i+1].start)
	}
	return blocks
}

// decodeAll decodes all of code. What is no instruction becomes .long, as in
// llvm-objdump.
func decodeAll(co *elf.CodeObject, d *isa.Decoder, code []byte, addr uint64) []instDoc {
	out := []instDoc{}
	for len(code) > 0 {
		text, size := decodeOne(d, code, addr)
		doc := instDoc{Address: addr, Text: text, Target: branchTarget(co, text, code, addr)}
		for i := 0; i < size; i += 4 {
			doc.Words = append(doc.Words, wordText(code[i:size]))
		}
		out = append(out, doc)
		code, addr = code[size:], addr+uint64(size)
	}
	return out
}

func wordText(b []byte) string {
	var w [4]byte
	copy(w[:], b)
	return fmt.Sprintf("%08X", binary.LittleEndian.Uint32(w[:]))
}

// decodeOne gives the text and the size of what is at the start of code.
func decodeOne(d *isa.Decoder, code []byte, addr uint64) (string, int) {
	in, err := d.Decode(code[:min(len(code), maxInstBytes)])
	if err == nil && in.Size > 0 && int(in.Size) <= len(code) {
		return d.Format(&in, addr), int(in.Size)
	}
	if len(code) < 4 {
		return fmt.Sprintf(".byte 0x%02x", code[0]), 1
	}
	return fmt.Sprintf(".long 0x%08x", binary.LittleEndian.Uint32(code)), 4
}

// branchTarget names the place that an SOPP branch jumps to: the signed
// SIMM16 counts dwords from the next instruction.
func branchTarget(co *elf.CodeObject, text string, code []byte, addr uint64) string {
	if !strings.HasPrefix(text, "s_branch") && !strings.HasPrefix(text, "s_cbranch") {
		return ""
	}
	simm := int16(binary.LittleEndian.Uint16(code))
	name, off, ok := co.SymbolAt(addr + 4 + uint64(int64(simm)*4))
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s+%#x", name, off)
}

// instructionAt is the instruction at a GPU address of a module, "" when there
// is none or no module.
func instructionAt(mod *runtime.Module, pc uint64) string {
	if mod == nil || pc < mod.Base() {
		return ""
	}
	co := mod.Object()
	d, err := newDecoder(co)
	if err != nil {
		return ""
	}
	addr := pc - mod.Base()
	for _, s := range co.Segments {
		if addr >= s.VAddr && addr-s.VAddr < s.FileSize {
			text, _ := decodeOne(d, co.File[s.FileOff+addr-s.VAddr:s.FileOff+s.FileSize], addr)
			return text
		}
	}
	return ""
}

// writeDisasm prints the code of all entries in the layout of llvm-objdump.
func writeDisasm(w io.Writer, doc *fileDoc) error {
	var b strings.Builder
	for i := range doc.Entries {
		e := &doc.Entries[i]
		if e.Object == nil || e.Error != "" {
			continue
		}
		fmt.Fprintf(&b, "%s: target %s\n", doc.File, e.Object.Target)
		for _, block := range e.Code {
			b.WriteString("\n")
			for _, name := range block.Labels {
				fmt.Fprintf(&b, "%016x <%s>:\n", block.Address, name)
			}
			for _, in := range block.Instructions {
				fmt.Fprintf(&b, "\t%-58s // %012X: %s", in.Text, in.Address, strings.Join(in.Words, " "))
				if in.Target != "" {
					fmt.Fprintf(&b, " <%s>", in.Target)
				}
				b.WriteString("\n")
			}
			if _, err := io.WriteString(w, printable(b.String())); err != nil {
				return err
			}
			b.Reset()
		}
	}
	_, err := io.WriteString(w, printable(b.String()))
	return err
}
