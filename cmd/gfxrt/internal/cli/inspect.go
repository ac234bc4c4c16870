package cli

import (
	"bytes"
	"fmt"

	"gfxrt/elf"
)

type inspectCmd struct {
	File   string `arg:"" help:"Code object, offload bundle (compressed or not) or host executable."`
	JSON   bool   `help:"Print JSON."`
	Disasm bool   `help:"Print the machine code in LLVM's assembly syntax instead."`
}

// fileDoc is a file with everything found in it.
type fileDoc struct {
	Schema    int        `json:"schema"`
	File      string     `json:"file"`
	Bytes     int        `json:"bytes"`
	Container string     `json:"container"`
	Entries   []entryDoc `json:"entries"`
}

// entryDoc is a bundle entry, or the code object that is the file.
type entryDoc struct {
	ID     string     `json:"id,omitempty"`
	Bundle int        `json:"bundle"`
	Triple string     `json:"triple"`
	Target string     `json:"target,omitempty"`
	Bytes  int        `json:"bytes"`
	Object *objectDoc `json:"object,omitempty"`
	Code   []blockDoc `json:"code,omitempty"`
	Error  string     `json:"error,omitempty"`
}

type objectDoc struct {
	Target    string      `json:"target"`
	Generic   uint8       `json:"generic_version,omitempty"`
	Version   int         `json:"version"`
	ImageSize uint64      `json:"image_bytes"`
	Needs     []string    `json:"needs"`
	Kernels   []kernelDoc `json:"kernels"`
	Globals   []globalDoc `json:"globals"`
	Printf    []printfDoc `json:"printf"`
	Undefined []string    `json:"undefined_symbols"`
}

type kernelDoc struct {
	Name         string     `json:"name"`
	Kind         string     `json:"kind"`
	Language     string     `json:"language,omitempty"`
	Args         []argDoc   `json:"args"`
	Hidden       []argDoc   `json:"hidden_args"`
	Needs        []string   `json:"needs"`
	Wavefront    int        `json:"wavefront_size"`
	SGPRs        int        `json:"sgprs"`
	VGPRs        int        `json:"vgprs"`
	AGPRs        int        `json:"agprs"`
	SGPRSpills   int        `json:"sgpr_spills"`
	VGPRSpills   int        `json:"vgpr_spills"`
	LDS          uint32     `json:"lds_bytes"`
	Scratch      uint32     `json:"scratch_bytes"`
	DynamicStack bool       `json:"dynamic_stack"`
	Kernarg      uint32     `json:"kernarg_bytes"`
	KernargAlign uint32     `json:"kernarg_align"`
	MaxGroup     uint32     `json:"max_group_size"`
	Required     *[3]uint32 `json:"required_group_size,omitempty"`
	Descriptor   uint64     `json:"descriptor"`
	Entry        uint64     `json:"entry"`
	NoMetadata   bool       `json:"no_metadata,omitempty"`
}

type argDoc struct {
	Name   string `json:"name,omitempty"`
	Type   string `json:"type,omitempty"`
	Kind   string `json:"kind"`
	Offset uint32 `json:"offset"`
	Size   uint32 `json:"size"`
	Space  string `json:"address_space,omitempty"`
	Access string `json:"access,omitempty"`
}

type globalDoc struct {
	Name    string `json:"name"`
	Address uint64 `json:"address"`
	Bytes   uint64 `json:"bytes"`
	Managed bool   `json:"managed"`
}

type printfDoc struct {
	ID     uint32   `json:"id,omitempty"`
	Hash   string   `json:"hash,omitempty"`
	Sizes  []uint32 `json:"sizes,omitempty"`
	Format string   `json:"format"`
}

// Run prints the file.
func (c *inspectCmd) Run(e *env) error {
	data, err := readObject(c.File)
	if err != nil {
		return err
	}
	entries, err := elf.List(data)
	if err != nil {
		return inputError(fmt.Errorf("%s: %w", c.File, err))
	}
	doc := fileDoc{Schema: schema, File: c.File, Bytes: len(data), Container: container(data, entries), Entries: []entryDoc{}}
	var failed error
	for i := range entries {
		d, err := c.entry(&entries[i])
		if err != nil {
			err = fmt.Errorf("%s: entry %d (%s): %w", c.File, i, entries[i].TargetID, err)
			if len(entries) == 1 && entries[i].ID == "" {
				return inputError(fmt.Errorf("%s: %w", c.File, err))
			}
			d.Error = err.Error()
			failed = inputError(err)
		}
		doc.Entries = append(doc.Entries, d)
	}
	switch {
	case c.JSON:
		err = writeJSON(e.stdout, doc)
	case c.Disasm:
		err = writeDisasm(e.stdout, &doc)
	default:
		err = writeInspect(e.stdout, &doc)
	}
	if err != nil {
		return err
	}
	return failed
}

func container(data []byte, entries []elf.BundleEntry) string {
	switch {
	case entries[0].ID == "":
		return "code object"
	case bytes.HasPrefix(data, []byte("\x7fELF")):
		return "host executable"
	case bytes.HasPrefix(data, []byte("CCOB")):
		return "compressed offload bundle"
	}
	return "offload bundle"
}

func (c *inspectCmd) entry(b *elf.BundleEntry) (entryDoc, error) {
	d := entryDoc{ID: b.ID, Bundle: b.Bundle, Triple: b.Triple, Target: b.TargetID, Bytes: len(b.Data)}
	if !b.Device() {
		return d, nil
	}
	co, err := elf.Parse(b.Data)
	if err != nil {
		return d, err
	}
	d.Object = newObjectDoc(co)
	if c.Disasm {
		d.Code, err = disassemble(co)
	}
	return d, err
}

func newObjectDoc(co *elf.CodeObject) *objectDoc {
	d := &objectDoc{Target: co.Target.String(), Generic: co.Target.GenericVersion, Version: co.Version, ImageSize: co.ImageSize,
		Needs: []string{}, Kernels: []kernelDoc{}, Globals: []globalDoc{}, Printf: []printfDoc{}, Undefined: []string{}}
	for i := range co.Kernels {
		k := newKernelDoc(&co.Kernels[i])
		d.Needs = union(d.Needs, k.Needs)
		d.Kernels = append(d.Kernels, k)
	}
	if co.HasRPCClient {
		d.Needs = union(d.Needs, []string{"LLVM libc RPC"})
	}
	for _, g := range co.Globals {
		d.Globals = append(d.Globals, globalDoc{Name: g.Name, Address: g.Addr, Bytes: g.Size, Managed: g.Managed})
	}
	for _, p := range co.Printf {
		r := printfDoc{ID: p.ID, Sizes: p.Sizes, Format: p.Format}
		if p.IsHash {
			r.Hash = fmt.Sprintf("%#016x", p.Hash)
		}
		d.Printf = append(d.Printf, r)
	}
	for _, s := range co.Symbols {
		if !s.Defined && s.Name != "" {
			d.Undefined = append(d.Undefined, s.Name)
		}
	}
	return d
}

func newKernelDoc(k *elf.Kernel) kernelDoc {
	d := kernelDoc{Name: k.Name, Kind: k.Kind, Language: k.Language, Args: []argDoc{}, Hidden: []argDoc{}, Needs: []string{},
		Wavefront: k.WavefrontSize, SGPRs: k.SGPRs, VGPRs: k.VGPRs, AGPRs: k.AGPRs, SGPRSpills: k.SGPRSpills, VGPRSpills: k.VGPRSpills,
		LDS: k.GroupSize, Scratch: k.PrivateSize, DynamicStack: k.UsesDynamicStack, Kernarg: k.KernargSize, KernargAlign: k.KernargAlign,
		MaxGroup: k.MaxFlatGroupSize, Descriptor: k.DescAddr, Entry: k.Entry, NoMetadata: k.NoMetadata}
	if k.RequiredGroupSize != [3]uint32{} {
		r := k.RequiredGroupSize
		d.Required = &r
	}
	for _, a := range k.Args {
		doc := argDoc{Name: a.Name, Type: a.TypeName, Kind: a.ValueKind, Offset: a.Offset, Size: a.Size, Space: a.AddressSpace, Access: a.Access}
		if a.Kind.Hidden() {
			d.Hidden = append(d.Hidden, doc)
		} else {
			d.Args = append(d.Args, doc)
		}
		if s := serviceOf[a.Kind]; s != "" {
			d.Needs = union(d.Needs, []string{s})
		}
	}
	return d
}

// serviceOf names what the host must provide for a hidden argument to work
// (LLVM AMDGPUUsage, Code Object V5 Metadata: compilers leave out those that
// the kernel does not use).
var serviceOf = map[elf.ArgKind]string{
	elf.HiddenPrintfBuffer:     "printf buffer",
	elf.HiddenHostcallBuffer:   "hostcall",
	elf.HiddenHeapV1:           "device heap",
	elf.HiddenDefaultQueue:     "device enqueue",
	elf.HiddenCompletionAction: "device enqueue",
	elf.HiddenMultigridSyncArg: "multi-grid sync",
}

// union appends to a what it does not hold yet.
func union(a, b []string) []string {
next:
	for _, s := range b {
		for _, t := range a {
			if s == t {
				continue next
			}
		}
		a = append(a, s)
	}
	return a
}

// objectTarget is the target id that a device needs to run what data holds:
// of the first entry that the simulator has a profile for, else of the first.
func objectTarget(data []byte) (string, error) {
	entries, err := elf.List(data)
	if err != nil {
		return "", err
	}
	first := ""
	for _, b := range entries {
		if !b.Device() {
			continue
		}
		t, err := elf.ParseTarget(b.TargetID)
		if err != nil {
			continue // LoadModule tells what is wrong with it
		}
		t = t.Concrete()
		if simulated(t) {
			return t.String(), nil
		}
		if first == "" {
			first = t.String()
		}
	}
	if first == "" {
		return "", fmt.Errorf("no entry holds code for an AMD GPU: %w", elf.ErrNoMatch)
	}
	return first, nil
}
