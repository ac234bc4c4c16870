package runtime

import "math"

// Arg is one explicit kernel argument; the functions below make them. A launch
// checks it against the kernel's metadata.
type Arg struct {
	kind argKind
	size uint8  // bytes of a scalar
	bits uint64 // scalar, address or LDS offset
	buf  *Buffer
	data []byte
}

type argKind uint8

const (
	argNone argKind = iota
	argScalar
	argBuffer
	argAddr
	argNull
	argBytes
	argLDS
)

var argKindNames = [...]string{"no value", "scalar", "buffer", "address", "null pointer", "byte string", "LDS offset"}

func scalar(size uint8, bits uint64) Arg { return Arg{kind: argScalar, size: size, bits: bits} }

// U8 is a one-byte value.
func U8(v uint8) Arg { return scalar(1, uint64(v)) }

// U16 is a two-byte value.
func U16(v uint16) Arg { return scalar(2, uint64(v)) }

// U32 is a four-byte value.
func U32(v uint32) Arg { return scalar(4, uint64(v)) }

// U64 is an eight-byte value.
func U64(v uint64) Arg { return scalar(8, v) }

// I8 is a one-byte value.
func I8(v int8) Arg { return scalar(1, uint64(uint8(v))) }

// I16 is a two-byte value.
func I16(v int16) Arg { return scalar(2, uint64(uint16(v))) }

// I32 is a four-byte value.
func I32(v int32) Arg { return scalar(4, uint64(uint32(v))) }

// I64 is an eight-byte value.
func I64(v int64) Arg { return scalar(8, uint64(v)) }

// F16 is a half given by its bits.
func F16(bits uint16) Arg { return scalar(2, uint64(bits)) }

// BF16 is a bfloat16 given by its bits.
func BF16(bits uint16) Arg { return scalar(2, uint64(bits)) }

// F32 is a float.
func F32(v float32) Arg { return scalar(4, uint64(math.Float32bits(v))) }

// F64 is a double.
func F64(v float64) Arg { return scalar(8, math.Float64bits(v)) }

// Ptr is the address of a buffer; the launch keeps the buffer's memory until
// it has completed.
func Ptr(b *Buffer) Arg { return Arg{kind: argBuffer, buf: b} }

// Addr is a GPU virtual address. Whatever it belongs to must live until the
// launch has completed.
func Addr(addr uint64) Arg { return Arg{kind: argAddr, bits: addr} }

// Null is the null pointer.
func Null() Arg { return Arg{kind: argNull} }

// Bytes is a by-value struct in the memory layout of the kernel's compiler.
// The bytes are copied by Launch.
func Bytes(p []byte) Arg { return Arg{kind: argBytes, data: p} }

// LDS is a pointer into the dynamic LDS of the launch (an OpenCL __local
// pointer argument): offset bytes after the end of the static LDS.
func LDS(offset uint32) Arg { return Arg{kind: argLDS, bits: uint64(offset)} }
