package exec

import (
	"sync/atomic"
	"unsafe"

	"gfxrt/runtime/device"
	"gfxrt/sim/lane"
)

// atomicOp is the operation of a read-modify-write instruction.
type atomicOp uint8

const (
	atomSwap atomicOp = iota + 1
	atomCmpSwap
	atomAdd
	atomSub
	atomRSub
	atomSMin
	atomUMin
	atomSMax
	atomUMax
	atomAnd
	atomOr
	atomXor
	atomInc
	atomDec
	atomMskOr  // LDS: (old & ~data0) | data1
	atomWrap   // LDS: old >= data0 ? old - data0 : old + data1
	atomFCmpSt // LDS: compare as floats
	atomFAdd32
	atomFMin32
	atomFMax32
	atomFAdd64
	atomFMin64
	atomFMax64
	atomPkAddF16
	atomPkAddBF16
)

// isWide tells the operations that are 64-bit by name, without _x2.
func (a atomicOp) isWide() bool { return a >= atomFAdd64 && a <= atomFMax64 }

// known reports whether the operation has a meaning here: those that are
// vector instructions need their kernel.
func (a atomicOp) known() bool {
	return a < atomFAdd32 || atomicKernels[a] != nil
}

// atomicNames maps the mnemonic part after "atomic_".
var atomicNames = map[string]atomicOp{
	"swap": atomSwap, "cmpswap": atomCmpSwap, "add": atomAdd, "sub": atomSub,
	"smin": atomSMin, "umin": atomUMin, "smax": atomSMax, "umax": atomUMax,
	"and": atomAnd, "or": atomOr, "xor": atomXor, "inc": atomInc, "dec": atomDec,
	"add_f32": atomFAdd32, "add_f64": atomFAdd64, "min_f64": atomFMin64, "max_f64": atomFMax64,
	"pk_add_f16": atomPkAddF16, "pk_add_bf16": atomPkAddBF16,
}

// apply32 computes the new memory value. a is the first data operand, b the
// second (the comparand of a compare-and-swap).
func (w *Wave) apply32(op atomicOp, old, a, b uint32) uint32 {
	switch op {
	case atomSwap:
		return a
	case atomCmpSwap:
		if old == b {
			return a
		}
		return old
	case atomAdd:
		return old + a
	case atomSub:
		return old - a
	case atomRSub:
		return a - old
	case atomSMin:
		return uint32(min(int32(old), int32(a)))
	case atomUMin:
		return min(old, a)
	case atomSMax:
		return uint32(max(int32(old), int32(a)))
	case atomUMax:
		return max(old, a)
	case atomAnd:
		return old & a
	case atomOr:
		return old | a
	case atomXor:
		return old ^ a
	case atomInc:
		if old >= a {
			return 0
		}
		return old + 1
	case atomDec:
		if old == 0 || old > a {
			return a
		}
		return old - 1
	case atomMskOr:
		return old&^a | b
	case atomWrap:
		if old >= a {
			return old - a
		}
		return old + b
	case atomFCmpSt:
		if floatEqual(kernelEqF32, w, uint64(old), uint64(b)) {
			return a
		}
		return old
	}
	if k := atomicKernels[op]; k != nil {
		return uint32(w.applyKernel(k, uint64(old), uint64(a)))
	}
	return old
}

// apply64 is apply32 for 64-bit operations.
func (w *Wave) apply64(op atomicOp, old, a, b uint64) uint64 {
	switch op {
	case atomSwap:
		return a
	case atomCmpSwap:
		if old == b {
			return a
		}
		return old
	case atomAdd:
		return old + a
	case atomSub:
		return old - a
	case atomRSub:
		return a - old
	case atomSMin:
		return uint64(min(int64(old), int64(a)))
	case atomUMin:
		return min(old, a)
	case atomSMax:
		return uint64(max(int64(old), int64(a)))
	case atomUMax:
		return max(old, a)
	case atomAnd:
		return old & a
	case atomOr:
		return old | a
	case atomXor:
		return old ^ a
	case atomInc:
		if old >= a {
			return 0
		}
		return old + 1
	case atomDec:
		if old == 0 || old > a {
			return a
		}
		return old - 1
	case atomMskOr:
		return old&^a | b
	case atomFCmpSt:
		if floatEqual(kernelEqF64, w, old, b) {
			return a
		}
		return old
	}
	if k := atomicKernels[op]; k != nil {
		return w.applyKernel(k, old, a)
	}
	return old
}

func kernelByName(name string) *lane.Kernel {
	k, ok := lane.Kernels[name]
	if !ok {
		return nil
	}
	return &k
}

// Floating-point atomics mean what the vector instruction of the same name
// means; they are that kernel on one lane.
var (
	atomicKernels = map[atomicOp]*lane.Kernel{
		atomFAdd32: kernelByName("v_add_f32"), atomFMin32: kernelByName("v_min_f32"), atomFMax32: kernelByName("v_max_f32"),
		atomFAdd64: kernelByName("v_add_f64"), atomFMin64: kernelByName("v_min_f64"), atomFMax64: kernelByName("v_max_f64"),
		atomPkAddF16: kernelByName("v_pk_add_f16"), atomPkAddBF16: kernelByName("v_pk_add_bf16"),
	}
	kernelEqF32 = kernelByName("v_cmp_eq_f32")
	kernelEqF64 = kernelByName("v_cmp_eq_f64")
)

// atomicMode is MODE during a memory atomic: round to nearest even,
// denormals kept, not IEEE.
const atomicMode = lane.Mode(0xf0)

func (w *Wave) applyKernel(k *lane.Kernel, x, y uint64) uint64 {
	t := &w.tmp.src
	a, b, d := &t[0][0], &t[1][0], &t[2][0]
	lane.Rows(a, 2)[0][0], lane.Rows(a, 2)[1][0] = uint32(x), uint32(x>>32)
	lane.Rows(b, 2)[0][0], lane.Rows(b, 2)[1][0] = uint32(y), uint32(y>>32)
	e := lane.Env{Mode: atomicMode, OpSelHi: 7, Gen: w.env.Gen}
	k.Fn(d, a, b, nil, 1, &e)
	return uint64(lane.Rows(d, 2)[0][0]) | uint64(lane.Rows(d, 2)[1][0])<<32
}

func floatEqual(k *lane.Kernel, w *Wave, x, y uint64) bool {
	t := &w.tmp.src
	a, b := &t[0][0], &t[1][0]
	lane.Rows(a, 2)[0][0], lane.Rows(a, 2)[1][0] = uint32(x), uint32(x>>32)
	lane.Rows(b, 2)[0][0], lane.Rows(b, 2)[1][0] = uint32(y), uint32(y>>32)
	e := lane.Env{Mode: atomicMode, Gen: w.env.Gen}
	return k.Cmp(a, b, 1, &e) != 0
}

// atomicAt performs the operation on shared memory at p and returns the old
// value. p is naturally aligned.
func (w *Wave) atomicAt(m *memOp, p unsafe.Pointer, a, b uint64) uint64 {
	if m.wide {
		q := (*uint64)(p)
		if m.atom == atomAdd {
			return atomic.AddUint64(q, a) - a
		}
		for {
			old := atomic.LoadUint64(q)
			next := w.apply64(m.atom, old, a, b)
			if atomic.CompareAndSwapUint64(q, old, next) {
				return old
			}
		}
	}
	q := (*uint32)(p)
	if m.atom == atomAdd {
		return uint64(atomic.AddUint32(q, uint32(a)) - uint32(a))
	}
	for {
		old := atomic.LoadUint32(q)
		next := w.apply32(m.atom, old, uint32(a), uint32(b))
		if atomic.CompareAndSwapUint32(q, old, next) {
			return uint64(old)
		}
	}
}

// plainAt is atomicAt on memory that only this goroutine uses (LDS).
func (w *Wave) plainAt(m *memOp, p unsafe.Pointer, a, b uint64) uint64 {
	if m.wide {
		lo, hi := (*uint32)(p), (*uint32)(unsafe.Add(p, 4))
		old := uint64(*lo) | uint64(*hi)<<32
		next := w.apply64(m.atom, old, a, b)
		*lo, *hi = uint32(next), uint32(next>>32)
		return old
	}
	q := (*uint32)(p)
	old := *q
	*q = w.apply32(m.atom, old, uint32(a), uint32(b))
	return uint64(old)
}

// atomicData reads lane l's data operands. A compare-and-swap has its new
// value in the first register(s) and the comparand in the following.
func (m *memOp) atomicData(s *lane.Row, l int) (a, b uint64) {
	n := m.words
	if m.atom == atomCmpSwap {
		n *= 2
	}
	rows := lane.Rows(s, n)
	a = uint64(rows[0][l])
	if m.wide {
		a |= uint64(rows[1][l]) << 32
	}
	if m.atom == atomCmpSwap {
		b = uint64(rows[m.words][l])
		if m.wide {
			b |= uint64(rows[3][l]) << 32
		}
	}
	return a, b
}

// putOld writes an atomic's return value.
func (m *memOp) putOld(d *lane.Row, l int, old uint64) {
	d[l] = uint32(old)
	if m.wide {
		lane.Rows(d, 2)[1][l] = uint32(old >> 32)
	}
}

func (w *Wave) misaligned(l int, va uint64, n uint64) {
	w.setFault(device.FaultMemory, l, va, "atomic on an address that is not a multiple of its size")
}
