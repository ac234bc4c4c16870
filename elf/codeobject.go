// Package elf reads AMD GPU code objects: ELF files of code object versions 3
// to 6, their kernel descriptors and metadata, and the offload bundles that
// carry them. Input is hostile: whatever is wrong gives an error that names
// the offset and the field.
package elf

import "errors"

// ErrInvalid is wrapped by every error that says a file is malformed.
var ErrInvalid = errors.New("invalid code object")

// ErrUnsupported is wrapped by errors about files that are well-formed but of
// a kind this package does not load (code object V2, SPIR-V, kpack …).
var ErrUnsupported = errors.New("unsupported code object")

// FormatError locates what is wrong in a file. It wraps ErrInvalid.
type FormatError struct {
	Offset uint64 // byte offset in the input
	Field  string // "e_phnum", "program header 2 p_offset", "amdhsa.kernels[0].args[3].offset" …
	Reason string
}

// CodeObject is a validated code object. All ranges lie inside File and
// inside the segments they belong to.
type CodeObject struct {
	File    []byte // the ELF bytes; not copied
	Version int    // code object version, 3 to 6
	Target  Target // from e_flags
	Flags   uint32 // e_flags

	Segments    []Segment
	ImageSize   uint64 // bytes of the loaded image: end of the last segment, from address 0
	ImageAlign  uint64 // largest segment alignment
	Symbols     []Symbol
	Relocations []Relocation // dynamic relocations
	Kernels     []Kernel     // in metadata order
	Globals     []Global
	Printf      []PrintfFormat
	// MetadataTarget is the string of amdhsa.target, "" before V4.
	MetadataTarget string
	HasRPCClient   bool // defines __llvm_rpc_client

	elf      *elfFile // header tables, for section look-ups
	kernelAt []uint64 // file offset of each entry of amdhsa.kernels
	lookup   lookup
}

// Segment is one PT_LOAD.
type Segment struct {
	VAddr, MemSize    uint64
	FileOff, FileSize uint64
	Align             uint64
	Read, Write, Exec bool
}

// SymbolType is the ELF symbol type.
type SymbolType uint8

// Symbol types met in code objects.
const (
	SymbolNone   SymbolType = 0
	SymbolObject SymbolType = 1
	SymbolFunc   SymbolType = 2
)

// Symbol is a symbol of .dynsym, or of .symtab when that has more.
type Symbol struct {
	Name    string
	Value   uint64 // virtual address in the image
	Size    uint64
	Type    SymbolType
	Global  bool // STB_GLOBAL or STB_WEAK
	Weak    bool
	Defined bool
	// Absolute marks a value that is a number, not an address (SHN_ABS), such
	// as the KERNEL.num_vgpr that LLVM writes.
	Absolute bool
}

// RelocationType is an R_AMDGPU_* number.
type RelocationType uint32

// Dynamic relocations a loader applies (abi.md A.4).
const (
	RelocNone       RelocationType = 0
	RelocAbs32Lo    RelocationType = 1
	RelocAbs32Hi    RelocationType = 2
	RelocAbs64      RelocationType = 3
	RelocAbs32      RelocationType = 6
	RelocRelative64 RelocationType = 13
)

// Relocation is one dynamic relocation record.
type Relocation struct {
	Offset uint64 // virtual address of the place, inside a segment
	Type   RelocationType
	Symbol int // index into Symbols, -1 for none
	Addend int64
}

// Kernel is a kernel: metadata, descriptor and where its code starts.
type Kernel struct {
	Name       string
	Symbol     string // descriptor symbol, "NAME.kd"
	Descriptor Descriptor
	DescAddr   uint64 // virtual address of the descriptor
	Entry      uint64 // virtual address of the first instruction
	Args       []Arg  // explicit then hidden, in metadata order
	Kind       string // "normal", "init", "fini"
	Language   string

	KernargSize, KernargAlign uint32
	GroupSize                 uint32 // static LDS, bytes
	PrivateSize               uint32 // bytes a lane
	WavefrontSize             int
	SGPRs, VGPRs, AGPRs       int
	SGPRSpills, VGPRSpills    int
	MaxFlatGroupSize          uint32
	RequiredGroupSize         [3]uint32 // zero when not required
	MaxGroups                 [3]uint32 // zero when not limited
	UsesDynamicStack          bool
	UniformGroupSize          bool
	WorkgroupProcessorMode    bool
	ClusterDims               [3]uint32
	// NoMetadata marks a kernel known only by its descriptor symbol.
	NoMetadata bool
}

// ArgKind is a .value_kind.
type ArgKind uint8

// Argument kinds (abi.md A.6).
const (
	ArgUnknown ArgKind = iota
	ArgByValue
	ArgGlobalBuffer
	ArgDynamicSharedPointer
	ArgSampler
	ArgImage
	ArgPipe
	ArgQueue
	HiddenNone // first hidden kind: ArgKind.Hidden compares with it
	HiddenGlobalOffsetX
	HiddenGlobalOffsetY
	HiddenGlobalOffsetZ
	HiddenPrintfBuffer
	HiddenHostcallBuffer
	HiddenMultigridSyncArg
	HiddenDefaultQueue
	HiddenCompletionAction
	HiddenBlockCountX
	HiddenBlockCountY
	HiddenBlockCountZ
	HiddenGroupSizeX
	HiddenGroupSizeY
	HiddenGroupSizeZ
	HiddenRemainderX
	HiddenRemainderY
	HiddenRemainderZ
	HiddenGridDims
	HiddenHeapV1
	HiddenDynamicLDSSize
	HiddenPrivateBase
	HiddenSharedBase
	HiddenQueuePtr
	HiddenUnknown // a hidden_… kind this package does not know; ValueKind has it
	numArgKinds
)

// Hidden reports whether the runtime, not the caller, supplies the argument.
func (k ArgKind) Hidden() bool { return k >= HiddenNone }

// Arg is one kernel argument.
type Arg struct {
	Name, TypeName string
	Offset, Size   uint32
	Kind           ArgKind
	ValueKind      string // the metadata's spelling, kept for unknown kinds
	AddressSpace   string // "global", "local", …; "" when not stated
	Access         string // .actual_access, else .access
	PointeeAlign   uint32
	IsConst        bool
}

// Global is a device or managed variable.
type Global struct {
	Name    string
	Addr    uint64 // virtual address in the image
	Size    uint64 // bytes; for managed variables of the value, not of the pointer
	Managed bool
	// InitAddr is the address of NAME.managed, the initial value of a managed
	// variable; Addr then holds the 8-byte pointer that device code follows.
	InitAddr uint64
}

// PrintfFormat is one amdhsa.printf record (abi.md H).
type PrintfFormat struct {
	ID     uint32   // OpenCL: call-site id, from 1
	Hash   uint64   // HIP buffered: first 8 bytes of the format's MD5
	IsHash bool     // HIP buffered record
	Sizes  []uint32 // OpenCL: stored bytes of each argument
	Format string   // unescaped
}

// Descriptor is the 64-byte kernel descriptor (abi.md B).
type Descriptor struct {
	GroupSegmentSize   uint32
	PrivateSegmentSize uint32
	KernargSize        uint32
	EntryOffset        int64
	Rsrc1, Rsrc2       uint32
	Rsrc3              uint32
	Properties         uint16
	KernargPreload     uint16
}

// DescriptorSize is the size of a kernel descriptor in bytes.
const DescriptorSize = 64

// Kernel code properties bits.
const (
	PropPrivateSegmentBuffer = 1 << 0
	PropDispatchPtr          = 1 << 1
	PropQueuePtr             = 1 << 2
	PropKernargPtr           = 1 << 3
	PropDispatchID           = 1 << 4
	PropFlatScratchInit      = 1 << 5
	PropPrivateSegmentSize   = 1 << 6
	PropWave32               = 1 << 10
	PropDynamicStack         = 1 << 11
)
