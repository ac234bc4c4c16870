package cp

import (
	"fmt"
	"unsafe"

	"gfxrt/aql"
	"gfxrt/elf"
	"gfxrt/sim/exec"
	"gfxrt/sim/mem"
)

// prepare fills a job from a dispatch packet.
func (q *Queue) prepare(j *job, index uint64, p *aql.Packet, d *aql.KernelDispatch) error {
	j.q, j.index, j.completion, j.slot = q, index, d.CompletionSignal, -1
	pr := q.p
	b, err := pr.machine.Space.Slice(d.KernelObject, elf.DescriptorSize)
	if err != nil {
		return fmt.Errorf("kernel_object: %w", err)
	}
	desc, err := elf.DecodeDescriptor(b, pr.target)
	if err != nil {
		return fmt.Errorf("kernel_object %#x: %w", d.KernelObject, err)
	}
	gen := pr.target.Generation()
	t := pr.machine.Target
	l := &j.launch
	*l = exec.Launch{
		Machine: pr.machine, KernelObject: d.KernelObject, Entry: d.KernelObject + uint64(desc.EntryOffset),
		Grid:  d.GridSize,
		Block: [3]uint32{uint32(d.WorkgroupSize[0]), uint32(d.WorkgroupSize[1]), uint32(d.WorkgroupSize[2])},
		VGPRs: desc.VGPRs(gen), Mode: mode(desc, gen),
		PrivateBytes: d.PrivateSegmentSize,
		GroupIDX:     desc.WorkGroupIDX(), GroupIDY: desc.WorkGroupIDY(), GroupIDZ: desc.WorkGroupIDZ(),
		GroupInfo: desc.WorkGroupInfo(), ScratchOffset: desc.PrivateSegment() && !t.ArchitectedScratch,
		WorkitemDims: desc.WorkItemIDDims() - 1, GWS: q.gws, Observer: pr.observe,
	}
	l.AccOffset = l.VGPRs
	if t.UnifiedAcc {
		l.AccOffset = desc.AccumOffset(gen)
	}
	if err := q.check(d, l); err != nil {
		return err
	}
	l.LDSBytes = (d.GroupSegmentSize + t.LDSGranule - 1) &^ (t.LDSGranule - 1)
	l.Prepare()
	packetAddr := uint64(0)
	if desc.Properties&elf.PropDispatchPtr != 0 {
		select {
		case j.slot = <-q.freeCopies:
		case <-q.stop:
			return errStopped
		}
		packetAddr = q.copyPacket(j.slot, p)
	}
	if desc.KernargPreloadLength() > 0 && t.PreloadSkip {
		l.Entry += preloadPrologue
	}
	return q.userSGPRs(desc, d, l, index, packetAddr)
}

// preloadPrologue is the length of the code that loads preloaded kernel
// arguments on firmware that does not (LLVM AMDGPUUsage, Preloaded Kernel
// Arguments).
const preloadPrologue = 256

func (q *Queue) check(d *aql.KernelDispatch, l *exec.Launch) error {
	i := &q.p.info
	if n := uint64(l.Block[0]) * uint64(l.Block[1]) * uint64(l.Block[2]); n > uint64(i.MaxGroupSize) {
		return fmt.Errorf("workgroup_size %v: %d work-items, the limit is %d", l.Block, n, i.MaxGroupSize)
	}
	if d.GroupSegmentSize > i.LDSPerGroup {
		return fmt.Errorf("group_segment_size %d: the limit is %d", d.GroupSegmentSize, i.LDSPerGroup)
	}
	if d.PrivateSegmentSize > i.MaxScratchLane {
		return fmt.Errorf("private_segment_size %d: the limit is %d", d.PrivateSegmentSize, i.MaxScratchLane)
	}
	if l.Machine.Target.PackedTID {
		for k, n := range l.Block {
			if n > 1024 {
				return fmt.Errorf("workgroup_size %c %d: the limit is 1024", 'x'+k, n)
			}
		}
	}
	return nil
}

// mode is the initial MODE register (abi.md C.4).
func mode(d elf.Descriptor, gen elf.Generation) uint32 {
	m := uint32(d.FloatMode())
	if d.DX10Clamp(gen) {
		m |= 1 << 8
	}
	if d.IEEEMode(gen) {
		m |= 1 << 9
	}
	m |= uint32(d.ExceptionEnables()) << 12
	if d.FP16Ovfl() {
		m |= 1 << 23
	}
	return m
}

// copyPacket keeps a dispatch packet where the kernel can read it.
func (q *Queue) copyPacket(slot int, p *aql.Packet) uint64 {
	off := uint64(slot) * aql.PacketSize
	copy(unsafe.Slice((*byte)(q.copies.Ptr(off)), aql.PacketSize), p[:])
	return q.copies.Base + off
}

// userSGPRs lays out the user SGPRs in their fixed order (abi.md C.1).
func (q *Queue) userSGPRs(desc elf.Descriptor, d *aql.KernelDispatch, l *exec.Launch, index, packet uint64) error {
	s := l.UserSGPRs[:0]
	put64 := func(bit uint16, v uint64) {
		if desc.Properties&bit != 0 {
			s = append(s, uint32(v), uint32(v>>32))
		}
	}
	if desc.Properties&elf.PropPrivateSegmentBuffer != 0 {
		s = append(s, uint32(mem.ScratchBase&0xffffffff), uint32(mem.ScratchBase>>32)|1<<31, 0xffffffff, exec.ScratchWord3)
	}
	put64(elf.PropDispatchPtr, packet)
	put64(elf.PropQueuePtr, q.queueAddr)
	put64(elf.PropKernargPtr, d.KernargAddress)
	put64(elf.PropDispatchID, index)
	put64(elf.PropFlatScratchInit, mem.ScratchBase)
	if desc.Properties&elf.PropPrivateSegmentSize != 0 {
		s = append(s, (d.PrivateSegmentSize+3)&^3)
	}
	if n := desc.KernargPreloadLength(); n > 0 {
		b, err := q.p.machine.Space.Slice(d.KernargAddress+uint64(desc.KernargPreloadOffset())*4, uint64(n)*4)
		if err != nil {
			return fmt.Errorf("kernarg_address: preloaded arguments: %w", err)
		}
		for k := range n {
			s = append(s, le32(b[4*k:]))
		}
	}
	count := desc.UserSGPRCount(q.p.target.Generation())
	if len(s) > count || count > len(l.UserSGPRs) {
		return fmt.Errorf("kernel descriptor: %d user SGPRs enabled, user_sgpr_count is %d", len(s), count)
	}
	// What lies between the enabled ones and the system SGPRs is undefined.
	l.UserSGPRCount = count
	return nil
}

func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}
