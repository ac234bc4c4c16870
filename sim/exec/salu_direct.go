package exec

import "math/bits"

// The scalar instructions that compiled kernels execute most, as functions of
// their own: an indirect call less than the generic forms of salu.go.

func sAddU32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r, c := bits.Add32(a, b, 0)
	w.setS(in.dst, r)
	w.scc = c
}

func sSubU32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r, c := bits.Sub32(a, b, 0)
	w.setS(in.dst, r)
	w.scc = c
}

func sAddcU32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r, c := bits.Add32(a, b, w.scc)
	w.setS(in.dst, r)
	w.scc = c
}

func sSubbU32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r, c := bits.Sub32(a, b, w.scc)
	w.setS(in.dst, r)
	w.scc = c
}

func sAddI32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r := a + b
	w.setS(in.dst, r)
	w.scc = (^(a ^ b) & (a ^ r)) >> 31
}

func sSubI32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r := a - b
	w.setS(in.dst, r)
	w.scc = ((a ^ b) & (a ^ r)) >> 31
}

func sAndB32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r := a & b
	w.setS(in.dst, r)
	w.scc = b2u(r != 0)
}

func sOrB32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r := a | b
	w.setS(in.dst, r)
	w.scc = b2u(r != 0)
}

func sXorB32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r := a ^ b
	w.setS(in.dst, r)
	w.scc = b2u(r != 0)
}

func sAndn2B32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r := a &^ b
	w.setS(in.dst, r)
	w.scc = b2u(r != 0)
}

func sLshlB32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r := a << (b & 31)
	w.setS(in.dst, r)
	w.scc = b2u(r != 0)
}

func sLshrB32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r := a >> (b & 31)
	w.setS(in.dst, r)
	w.scc = b2u(r != 0)
}

func sAshrI32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r := uint32(int32(a) >> (b & 31))
	w.setS(in.dst, r)
	w.scc = b2u(r != 0)
}

func sMulI32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	r := a * b
	w.setS(in.dst, r)
}

func sCmpEqI32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	w.scc = b2u(a == b)
}

func sCmpLgI32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	w.scc = b2u(a != b)
}

func sCmpGtI32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	w.scc = b2u(int32(a) > int32(b))
}

func sCmpGeI32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	w.scc = b2u(int32(a) >= int32(b))
}

func sCmpLtI32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	w.scc = b2u(int32(a) < int32(b))
}

func sCmpLeI32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	w.scc = b2u(int32(a) <= int32(b))
}

func sCmpEqU32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	w.scc = b2u(a == b)
}

func sCmpLgU32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	w.scc = b2u(a != b)
}

func sCmpGtU32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	w.scc = b2u(a > b)
}

func sCmpGeU32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	w.scc = b2u(a >= b)
}

func sCmpLtU32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	w.scc = b2u(a < b)
}

func sCmpLeU32(w *Wave, in *inst) {
	a, b := w.src32(in, 0), w.src32(in, 1)
	w.scc = b2u(a <= b)
}

func sAndB64(w *Wave, in *inst) {
	a, b := w.src64(in, 0), w.src64(in, 1)
	r := a & b
	w.setS64(in.dst, r)
	w.scc = b2u(r != 0)
}

func sOrB64(w *Wave, in *inst) {
	a, b := w.src64(in, 0), w.src64(in, 1)
	r := a | b
	w.setS64(in.dst, r)
	w.scc = b2u(r != 0)
}

func sXorB64(w *Wave, in *inst) {
	a, b := w.src64(in, 0), w.src64(in, 1)
	r := a ^ b
	w.setS64(in.dst, r)
	w.scc = b2u(r != 0)
}

func sAndn2B64(w *Wave, in *inst) {
	a, b := w.src64(in, 0), w.src64(in, 1)
	r := a &^ b
	w.setS64(in.dst, r)
	w.scc = b2u(r != 0)
}

func sAndSaveexecB64(w *Wave, in *inst) {
	s, e := w.src64(in, 0), w.exec()
	w.setS64(in.dst, e)
	r := s & e
	w.setExec(r)
	w.scc = b2u(r != 0)
}
