package aql

// pm4IndirectBuffer is the first dword of the command in a PM4 IB packet: a
// type-3 INDIRECT_BUFFER packet of four dwords.
const pm4IndirectBuffer = 0xc0023f00

// Decode validates a packet and returns its contents. The error wraps
// ErrInvalidPacket. A command processor that must not allocate calls the
// typed Decode functions instead.
func Decode(p *Packet) (Value, error) {
	switch t := p.Header().Type(); t {
	case TypeKernelDispatch:
		return boxed(DecodeKernelDispatch(p))
	case TypeBarrierAnd, TypeBarrierOr:
		return boxed(DecodeBarrier(p))
	case TypeAgentDispatch:
		return boxed(DecodeAgentDispatch(p))
	case TypeVendorSpecific:
		switch f := p.Format(); f {
		case FormatBarrierValue:
			return boxed(DecodeBarrierValue(p))
		case FormatPM4IB:
			return boxed(DecodePM4IB(p))
		case FormatExtendedDispatch:
			return boxed(DecodeExtendedDispatch(p))
		default:
			return nil, invalid(2, "AmdFormat", "unknown vendor packet format %d", f)
		}
	default:
		return nil, invalid(0, "header", "packet type %d (%s)", uint8(t), t)
	}
}

func boxed[T any, P interface {
	*T
	Value
}](v T, err error) (Value, error) {
	if err != nil {
		return nil, err
	}
	return P(&v), nil
}

// checkHeader accepts the types first and second.
func checkHeader(p *Packet, first, second Type) error {
	h := p.Header()
	switch {
	case h.Type() != first && h.Type() != second:
		return invalid(0, "header", "packet type %d (%s), want %s", uint8(h.Type()), h.Type(), first)
	case h&headerReservedMask != 0:
		return invalid(0, "header", "reserved bits 15:13 set in %#04x", uint16(h))
	case h.Acquire() > ScopeSystem:
		return invalid(0, "header", "acquire fence scope %d", h.Acquire())
	case h.Release() > ScopeSystem:
		return invalid(0, "header", "release fence scope %d", h.Release())
	}
	return nil
}

func checkSignal(p *Packet, offset int, field string) error {
	if h := p.u64(offset); h%SignalAlign != 0 {
		return invalid(offset, field, "signal handle %#x is not %d-aligned", h, SignalAlign)
	}
	return nil
}

func checkZero(p *Packet, offset, n int, field string) error {
	for i, b := range p[offset : offset+n] {
		if b != 0 {
			return invalid(offset+i, field, "reserved byte is %#02x", b)
		}
	}
	return nil
}

// checkGroup checks what both forms of kernel dispatch share. The HSA
// specification (Kernel dispatch packet) allows only 1 in unused dimensions.
func checkGroup(p *Packet, setup uint16) error {
	dims := int(setup & 3)
	if dims == 0 {
		return invalid(2, "setup", "0 dimensions")
	}
	if setup > 3 {
		return invalid(2, "setup", "reserved bits set in %#04x", setup)
	}
	fields := [3]string{"workgroup_size_x", "workgroup_size_y", "workgroup_size_z"}
	for i, f := range fields {
		switch v := p.u16(4 + 2*i); {
		case v == 0:
			return invalid(4+2*i, f, "zero")
		case i >= dims && v != 1:
			return invalid(4+2*i, f, "%d in a grid of %d dimensions", v, dims)
		}
	}
	if p.u64(32) == 0 {
		return invalid(32, "kernel_object", "null")
	}
	return checkZero(p, 10, 2, "reserved0")
}

// DecodeKernelDispatch validates a kernel dispatch packet. What depends on the
// device (work-group and segment limits, addresses) is not checked.
func DecodeKernelDispatch(p *Packet) (KernelDispatch, error) {
	if err := checkHeader(p, TypeKernelDispatch, TypeKernelDispatch); err != nil {
		return KernelDispatch{}, err
	}
	if err := checkGroup(p, p.u16(2)); err != nil {
		return KernelDispatch{}, err
	}
	k := KernelDispatch{
		Header:             p.Header(),
		Setup:              p.u16(2),
		PrivateSegmentSize: p.u32(24),
		GroupSegmentSize:   p.u32(28),
		KernelObject:       p.u64(32),
		KernargAddress:     p.u64(40),
		Reserved2:          p.u64(48),
		CompletionSignal:   p.u64(56),
	}
	fields := [3]string{"grid_size_x", "grid_size_y", "grid_size_z"}
	for i, f := range fields {
		k.WorkgroupSize[i] = p.u16(4 + 2*i)
		k.GridSize[i] = p.u32(12 + 4*i)
		switch v := k.GridSize[i]; {
		case v == 0:
			return KernelDispatch{}, invalid(12+4*i, f, "zero")
		case i >= k.Dimensions() && v != 1:
			return KernelDispatch{}, invalid(12+4*i, f, "%d in a grid of %d dimensions", v, k.Dimensions())
		}
	}
	if err := checkSignal(p, 56, "completion_signal"); err != nil {
		return KernelDispatch{}, err
	}
	return k, nil
}

// DecodeBarrier validates a barrier-AND or barrier-OR packet.
func DecodeBarrier(p *Packet) (Barrier, error) {
	if err := checkHeader(p, TypeBarrierAnd, TypeBarrierOr); err != nil {
		return Barrier{}, err
	}
	if err := checkZero(p, 2, 6, "reserved"); err != nil {
		return Barrier{}, err
	}
	b := Barrier{Header: p.Header(), Reserved2: p.u64(48), CompletionSignal: p.u64(56)}
	for i := range b.DepSignal {
		if err := checkSignal(p, 8+8*i, "dep_signal"); err != nil {
			return Barrier{}, err
		}
		b.DepSignal[i] = p.u64(8 + 8*i)
	}
	if err := checkSignal(p, 56, "completion_signal"); err != nil {
		return Barrier{}, err
	}
	return b, nil
}

// DecodeAgentDispatch validates an agent dispatch packet.
func DecodeAgentDispatch(p *Packet) (AgentDispatch, error) {
	if err := checkHeader(p, TypeAgentDispatch, TypeAgentDispatch); err != nil {
		return AgentDispatch{}, err
	}
	if err := checkZero(p, 4, 4, "reserved0"); err != nil {
		return AgentDispatch{}, err
	}
	if err := checkSignal(p, 56, "completion_signal"); err != nil {
		return AgentDispatch{}, err
	}
	a := AgentDispatch{
		Header:           p.Header(),
		Type:             p.u16(2),
		ReturnAddress:    p.u64(8),
		Reserved2:        p.u64(48),
		CompletionSignal: p.u64(56),
	}
	for i := range a.Arg {
		a.Arg[i] = p.u64(16 + 8*i)
	}
	return a, nil
}

func checkVendor(p *Packet, f VendorFormat) error {
	if err := checkHeader(p, TypeVendorSpecific, TypeVendorSpecific); err != nil {
		return err
	}
	if p.Format() != f {
		return invalid(2, "AmdFormat", "%d, want %d", p.Format(), f)
	}
	return checkSignal(p, 56, "completion_signal")
}

// DecodeBarrierValue validates a barrier value packet.
func DecodeBarrierValue(p *Packet) (BarrierValue, error) {
	if err := checkVendor(p, FormatBarrierValue); err != nil {
		return BarrierValue{}, err
	}
	if err := checkZero(p, 3, 5, "reserved"); err != nil {
		return BarrierValue{}, err
	}
	if err := checkSignal(p, 8, "signal"); err != nil {
		return BarrierValue{}, err
	}
	if c := p.u32(32); c > uint32(ConditionGTE) {
		return BarrierValue{}, invalid(32, "cond", "unknown condition %d", c)
	}
	if err := checkZero(p, 36, 20, "reserved"); err != nil {
		return BarrierValue{}, err
	}
	return BarrierValue{
		Header:           p.Header(),
		AmdFormat:        p.Format(),
		Signal:           p.u64(8),
		Value:            int64(p.u64(16)),
		Mask:             int64(p.u64(24)),
		Cond:             BarrierCondition(p.u32(32)),
		CompletionSignal: p.u64(56),
	}, nil
}

// DecodePM4IB validates a PM4 indirect buffer packet. The buffer's contents
// are the command processor's to judge.
func DecodePM4IB(p *Packet) (PM4IB, error) {
	if err := checkVendor(p, FormatPM4IB); err != nil {
		return PM4IB{}, err
	}
	b := PM4IB{
		Header:           p.Header(),
		AmdFormat:        p.u16(2),
		DWCntRemain:      p.u32(20),
		CompletionSignal: p.u64(56),
	}
	for i := range b.IBJumpCmd {
		b.IBJumpCmd[i] = p.u32(4 + 4*i)
	}
	const validBit, cachePolicy, sizeMask = 1 << 23, 3 << 28, 0xfffff
	switch c := b.IBJumpCmd; {
	case b.AmdFormat != uint16(FormatPM4IB):
		return PM4IB{}, invalid(2, "ven_hdr", "%#04x, want %d", b.AmdFormat, FormatPM4IB)
	case c[0] != pm4IndirectBuffer:
		return PM4IB{}, invalid(4, "ib_jump_cmd", "command %#08x, want INDIRECT_BUFFER %#08x", c[0], uint32(pm4IndirectBuffer))
	case c[1]%4 != 0:
		return PM4IB{}, invalid(8, "ib_jump_cmd", "base %#x is not 4-aligned", c[1])
	case c[2] > 0xffff:
		return PM4IB{}, invalid(12, "ib_jump_cmd", "base high bits %#x", c[2])
	case c[3]&^(validBit|cachePolicy|sizeMask) != 0 || c[3]&validBit == 0:
		return PM4IB{}, invalid(16, "ib_jump_cmd", "control %#08x", c[3])
	case b.DWCntRemain != 10:
		return PM4IB{}, invalid(20, "dw_cnt_remain", "%d, want 10", b.DWCntRemain)
	}
	if err := checkZero(p, 24, 32, "reserved"); err != nil {
		return PM4IB{}, err
	}
	return b, nil
}

// DecodeExtendedDispatch validates an extended kernel dispatch packet.
func DecodeExtendedDispatch(p *Packet) (ExtendedDispatch, error) {
	if err := checkVendor(p, FormatExtendedDispatch); err != nil {
		return ExtendedDispatch{}, err
	}
	if err := checkGroup(p, uint16(p[3])); err != nil {
		return ExtendedDispatch{}, err
	}
	if err := checkSignal(p, 48, "dep_signal"); err != nil {
		return ExtendedDispatch{}, err
	}
	e := ExtendedDispatch{
		Header:             p.Header(),
		AmdFormat:          p.Format(),
		Setup:              p[3],
		ClusterCountX:      p.u32(12),
		ClusterCountY:      p.u16(16),
		ClusterCountZ:      p.u16(18),
		ClusterSize:        [3]uint8(p[20:23]),
		PerfHint:           p[23],
		PrivateSegmentSize: p.u32(24),
		GroupSegmentSize:   p.u32(28),
		KernelObject:       p.u64(32),
		KernargAddress:     p.u64(40),
		DepSignal:          p.u64(48),
		CompletionSignal:   p.u64(56),
	}
	for i := range e.WorkgroupSize {
		e.WorkgroupSize[i] = p.u16(4 + 2*i)
	}
	if e.ClusterCountX == 0 || e.ClusterCountY == 0 || e.ClusterCountZ == 0 {
		return ExtendedDispatch{}, invalid(12, "cluster_count", "zero in %d,%d,%d", e.ClusterCountX, e.ClusterCountY, e.ClusterCountZ)
	}
	for i, v := range e.ClusterSize {
		if v == 0 {
			return ExtendedDispatch{}, invalid(20+i, "cluster_size", "zero")
		}
	}
	return e, nil
}
