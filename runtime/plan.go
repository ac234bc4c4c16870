package runtime

import (
	"fmt"
	"math"

	"gfxrt/elf"
)

// launchError says which kernel's launch failed.
func (k *Kernel) launchError(err error) error { return fmt.Errorf("launch %s: %w", k.Name(), err) }

// refuse is a launch error about the configuration.
func (k *Kernel) refuse(format string, args ...any) error {
	return fmt.Errorf("launch %s: %w: %s", k.Name(), ErrInvalidArgument, fmt.Sprintf(format, args...))
}

// argError is a launch error about argument i; the format wraps its cause.
func (k *Kernel) argError(i int, format string, args ...any) error {
	name := ""
	if ex := k.explicit; i < len(ex) && ex[i].Name != "" {
		name = " " + ex[i].Name
	}
	return fmt.Errorf("launch %s: argument %d%s: %w", k.Name(), i, name, fmt.Errorf(format, args...))
}

// plan checks a launch against the kernel and the device. It changes nothing.
func (rt *Runtime) plan(k *Kernel, cfg LaunchConfig, args []Arg) (dispatch, error) {
	d := dispatch{k: k, dynamic: cfg.DynamicLDS, coop: cfg.Cooperative, noBarrier: cfg.NoBarrier}
	var err error
	if d.geometry, err = rt.planGeometry(k, &cfg); err != nil {
		return d, err
	}
	if d.group, err = rt.planLDS(k, cfg.DynamicLDS); err != nil {
		return d, err
	}
	if d.private, err = rt.planPrivate(k, cfg.Stack); err != nil {
		return d, err
	}
	if cfg.Cooperative {
		if err := rt.planResident(k, &d); err != nil {
			return d, err
		}
	}
	return d, rt.planArgs(k, cfg.DynamicLDS, args)
}

// planGeometry checks work-group and grid and turns the grid into work-items.
func (rt *Runtime) planGeometry(k *Kernel, cfg *LaunchConfig) (geometry, error) {
	var g geometry
	if k.meta.ClusterDims != [3]uint32{} {
		return g, k.launchError(fmt.Errorf("work-group clusters of %v: %w", k.meta.ClusterDims, ErrUnsupported))
	}
	byGroups, byItems := cfg.Grid != Dim3{}, cfg.Items != Dim3{}
	if byGroups == byItems {
		return g, k.refuse("need exactly one of Grid and Items")
	}
	block := cfg.Block.array()
	if block[0] == 0 {
		return g, k.refuse("Block %v has no work-items", cfg.Block)
	}
	if req := k.meta.RequiredGroupSize; req != [3]uint32{} && block != req {
		return g, k.refuse("Block %v, the kernel requires %v", block, req)
	}
	size := satMul(satMul(uint64(block[0]), uint64(block[1])), uint64(block[2]))
	limit := k.maxGroupItems()
	if size > limit || max(block[0], block[1], block[2]) > math.MaxUint16 {
		return g, k.refuse("Block %v has %d work-items, the limit is %d", block, size, limit)
	}
	extent := cfg.Grid.array()
	if byItems {
		extent = cfg.Items.array()
	}
	for i, n := range extent {
		items := uint64(n)
		if byGroups {
			items *= uint64(block[i])
		}
		if items == 0 || items > math.MaxUint32 {
			return g, k.refuse("dimension %c of the grid has %d work-items, allowed are 1 to %d", 'x'+i, items, uint32(math.MaxUint32))
		}
		g.block[i], g.items[i] = uint16(block[i]), uint32(items)
	}
	for i, n := range g.groups() {
		if most := k.meta.MaxGroups[i]; most != 0 && n > uint64(most) {
			return g, k.refuse("dimension %c of the grid has %d work-groups, the kernel allows %d", 'x'+i, n, most)
		}
	}
	return g, nil
}

// maxGroupItems is the largest work-group the kernel and the device allow.
func (k *Kernel) maxGroupItems() uint64 {
	limit := uint64(1024) // the most any AMD GPU runs
	if v := k.m.rt.info.MaxGroupSize; v != 0 {
		limit = uint64(v)
	}
	if v := k.meta.MaxFlatGroupSize; v != 0 {
		limit = min(limit, uint64(v))
	}
	return limit
}

func (rt *Runtime) planLDS(k *Kernel, dynamic uint32) (uint32, error) {
	total := uint64(k.groupSize()) + uint64(dynamic)
	if total > uint64(rt.info.LDSPerGroup) {
		return 0, k.refuse("%d bytes of LDS (%d static, %d dynamic), the limit is %d", total, k.groupSize(), dynamic, rt.info.LDSPerGroup)
	}
	return uint32(total), nil
}

// planPrivate computes the private segment a lane. The size of a kernel with a
// dynamic stack covers only its own frame: what it calls comes on top.
func (rt *Runtime) planPrivate(k *Kernel, stack uint32) (uint32, error) {
	if stack == 0 && k.dynamicStack() {
		stack = rt.opts.stack
	}
	total := uint64(k.privateSize()) + uint64(stack)
	if total > uint64(rt.info.MaxScratchLane) {
		return 0, k.refuse("%d bytes of private segment a lane (%d fixed, %d stack), the limit is %d", total, k.privateSize(), stack, rt.info.MaxScratchLane)
	}
	return uint32(total), nil
}

// planResident refuses cooperative launches that cannot be resident whatever
// registers they use. The device has the last word.
func (rt *Runtime) planResident(k *Kernel, d *dispatch) error {
	groups := d.geometry.totalGroups()
	wave := uint64(max(k.meta.WavefrontSize, 1))
	waves := (d.geometry.groupItems() + wave - 1) / wave
	perCU := uint64(rt.info.SIMDsPerCU) * uint64(rt.info.WavesPerSIMD) / waves
	if d.group > 0 && rt.info.LDSPerCU > 0 {
		perCU = min(perCU, uint64(rt.info.LDSPerCU)/uint64(d.group))
	}
	if most := perCU * uint64(rt.info.ComputeUnits); groups > most {
		return k.refuse("cooperative launch of %d work-groups, at most %d are resident at once", groups, most)
	}
	return nil
}

// planArgs checks explicit arguments against the metadata.
func (rt *Runtime) planArgs(k *Kernel, dynamic uint32, args []Arg) error {
	if k.meta.NoMetadata {
		return rt.planRawArgs(k, args)
	}
	if len(args) != len(k.explicit) {
		return k.refuse("%d arguments, the kernel takes %d%s", len(args), len(k.explicit), k.signature())
	}
	for i := range args {
		if err := rt.planArg(k, i, &k.explicit[i], &args[i], dynamic); err != nil {
			return err
		}
	}
	return nil
}

// planRawArgs: a kernel that is only a descriptor takes its segment as it is.
func (rt *Runtime) planRawArgs(k *Kernel, args []Arg) error {
	size := k.kernargBytes()
	if size == 0 && len(args) == 0 {
		return nil
	}
	if len(args) != 1 || args[0].kind != argBytes || uint64(len(args[0].data)) != size {
		return k.refuse("the kernel has no metadata and takes one argument: Bytes with its %d bytes of kernargs", size)
	}
	return nil
}

func (rt *Runtime) planArg(k *Kernel, i int, want *elf.Arg, got *Arg, dynamic uint32) error {
	if got.kind == argBuffer {
		switch b := got.buf; {
		case b == nil:
			return k.argError(i, "%w: Ptr of no buffer", ErrInvalidArgument)
		case b.rt != rt:
			return k.argError(i, "%w: buffer of another runtime", ErrInvalidArgument)
		case b.freed.Load():
			return k.argError(i, "buffer was freed: %w", ErrClosed)
		}
	}
	switch want.Kind {
	case elf.ArgByValue:
		if got.valueSize() != uint64(want.Size) {
			return k.argError(i, "%w: %s of %d bytes, need a value of %d bytes", ErrInvalidArgument, got.kindName(), got.valueSize(), want.Size)
		}
	case elf.ArgGlobalBuffer:
		if got.kind != argBuffer && got.kind != argAddr && got.kind != argNull {
			return k.argError(i, "%w: %s, need a pointer: Ptr, Addr or Null", ErrInvalidArgument, got.kindName())
		}
	case elf.ArgDynamicSharedPointer:
		if got.kind != argLDS {
			return k.argError(i, "%w: %s, need an LDS pointer: LDS", ErrInvalidArgument, got.kindName())
		}
		if got.bits > uint64(dynamic) {
			return k.argError(i, "%w: LDS offset %d, DynamicLDS is %d", ErrInvalidArgument, got.bits, dynamic)
		}
	default:
		return k.argError(i, "value_kind %s: %w", want.ValueKind, ErrUnsupported)
	}
	return nil
}

// valueSize is the number of bytes the argument fills.
func (a *Arg) valueSize() uint64 {
	switch a.kind {
	case argScalar:
		return uint64(a.size)
	case argBuffer, argAddr, argNull:
		return 8
	case argBytes:
		return uint64(len(a.data))
	case argLDS:
		return 4
	}
	return 0
}

func (a *Arg) kindName() string { return argKindNames[a.kind] }

// signature lists the explicit arguments for an error message.
func (k *Kernel) signature() string {
	s := ""
	for i, a := range k.explicit {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		name := a.Name
		if name == "" {
			name = fmt.Sprint(i)
		}
		s += fmt.Sprintf("%s%s (%s, %d bytes)", sep, name, a.ValueKind, a.Size)
	}
	return s
}
