package num

import (
	"math"

	"gfxrt/runtime"
)

// Arg makes the kernel argument of the element at the start of b.
func (t Type) Arg(b []byte) runtime.Arg {
	bits := t.bits(b)
	switch t {
	case I8:
		return runtime.I8(int8(bits))
	case I16:
		return runtime.I16(int16(bits))
	case U16:
		return runtime.U16(uint16(bits))
	case I32:
		return runtime.I32(int32(bits))
	case U32:
		return runtime.U32(uint32(bits))
	case I64:
		return runtime.I64(int64(bits))
	case U64:
		return runtime.U64(bits)
	case F16:
		return runtime.F16(uint16(bits))
	case BF16:
		return runtime.BF16(uint16(bits))
	case F32:
		return runtime.F32(math.Float32frombits(uint32(bits)))
	case F64:
		return runtime.F64(math.Float64frombits(bits))
	default:
		return runtime.U8(uint8(bits))
	}
}
