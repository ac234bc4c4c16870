package exec

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"gfxrt/runtime/device"
	"gfxrt/sim/isa"
	"gfxrt/sim/lane"
	"gfxrt/sim/mem"
)

// Machine is what all dispatches of one simulated GPU share.
type Machine struct {
	Target *Target
	Space  *mem.Space
	GDS    *GDS
	// Clock is the timestamp counter (s_memrealtime), Cycles the shader
	// clock (s_memtime).
	Clock, Cycles func() uint64
	// Message receives s_sendmsg MSG_INTERRUPT with M0.
	Message func(msg, m0 uint32)

	cache *codeCache

	idsMu sync.Mutex
	ids   map[idKey][][]lane.Row
}

// NewMachine makes a machine over an address space. portable keeps it to the
// portable lane kernels.
func NewMachine(t *Target, space *mem.Space, portable bool) *Machine {
	return &Machine{Target: t, Space: space, GDS: NewGDS(), cache: newCodeCache(space, t, portable), ids: map[idKey][][]lane.Row{}}
}

// InvalidateCode makes later instruction fetches from [va, va+n) read memory
// again.
func (m *Machine) InvalidateCode(va, n uint64) { m.cache.invalidate(va, n) }

// Launch is one dispatch in the form waves are started from. Its fields are
// fixed before the first group is made.
type Launch struct {
	Machine      *Machine
	KernelObject uint64 // GPU address of the kernel descriptor
	Entry        uint64 // first instruction executed
	Grid         [3]uint32
	Block        [3]uint32
	VGPRs        int    // rows allocated a wave
	AccOffset    int    // row of a0; VGPRs when there are no AccVGPRs
	Mode         uint32 // initial MODE
	LDSBytes     uint32
	PrivateBytes uint32 // a lane
	// UserSGPRs are s0 and following; the system SGPRs come after the first
	// UserSGPRCount.
	UserSGPRs     [MaxUserSGPRs]uint32
	UserSGPRCount int
	// Which system SGPRs follow the user SGPRs (abi.md C.1).
	GroupIDX, GroupIDY, GroupIDZ, GroupInfo, ScratchOffset bool
	// WorkitemDims is 0 for x, 1 for x and y, 2 for x, y and z.
	WorkitemDims int
	GWS          *GWS
	Observer     *Observer

	full [][]lane.Row // work-item id rows of a full group, by wave
}

// MaxUserSGPRs bounds the user SGPRs of a kernel: 6 bits count them on
// gfx125x, 5 before.
const MaxUserSGPRs = 64

// WaveLanes is the number of lanes of a wave.
const WaveLanes = 64

// Prepare computes what all groups share.
func (l *Launch) Prepare() {
	k := idKey{l.Block, l.WorkitemDims}
	m := l.Machine
	m.idsMu.Lock()
	defer m.idsMu.Unlock()
	if l.full = m.ids[k]; l.full == nil {
		l.full = l.groupIDs()
		if len(m.ids) < maxIDs {
			m.ids[k] = l.full
		}
	}
}

// idKey is what the work-item ids of a full group depend on.
type idKey struct {
	block [3]uint32
	dims  int
}

// maxIDs bounds the group shapes whose work-item ids a machine remembers.
const maxIDs = 64

// groupIDs makes the work-item id rows of a full group, by wave.
func (l *Launch) groupIDs() [][]lane.Row {
	items := l.Block[0] * l.Block[1] * l.Block[2]
	waves := int(items+WaveLanes-1) / WaveLanes
	full := make([][]lane.Row, waves)
	rows := l.tidRows()
	all := make([]lane.Row, waves*rows)
	for i := range full {
		full[i] = all[i*rows : (i+1)*rows]
		fillIDs(l, full[i], l.Block, i)
	}
	return full
}

func (l *Launch) tidRows() int {
	if l.Machine.Target.PackedTID {
		return 1
	}
	return l.WorkitemDims + 1
}

// fillIDs writes the work-item ids of wave i of a group of the given size.
func fillIDs(l *Launch, rows []lane.Row, size [3]uint32, i int) {
	for ln := range WaveLanes {
		flat := uint32(i*WaveLanes + ln)
		x, y, z := flat%size[0], flat/size[0]%size[1], flat/size[0]/size[1]
		if l.WorkitemDims < 1 {
			y = 0
		}
		if l.WorkitemDims < 2 {
			z = 0
		}
		if l.Machine.Target.PackedTID {
			rows[0][ln] = x&0x3ff | y&0x3ff<<10 | z&0x3ff<<20
			continue
		}
		for k, v := range [3]uint32{x, y, z} {
			if k < len(rows) {
				rows[k][ln] = v
			}
		}
	}
}

// Groups is the number of work-groups in each dimension.
func (l *Launch) Groups() [3]uint32 {
	var n [3]uint32
	for i := range n {
		n[i] = uint32((uint64(l.Grid[i]) + uint64(l.Block[i]) - 1) / uint64(l.Block[i]))
	}
	return n
}

// WavesPerGroup is the number of waves of a full group.
func (l *Launch) WavesPerGroup() int { return len(l.full) }

// ScratchWaveBytes is the size of one wave's private memory. The unit of
// allocation is 1 KiB up to gfx10 (abi.md C.5).
func (l *Launch) ScratchWaveBytes() uint64 {
	return (uint64(l.PrivateBytes)*WaveLanes + 1023) &^ 1023
}

// scratchSlots is how many groups get scratch at different addresses: the
// wave offset is a 32-bit SGPR. Groups that share an address do not share
// memory.
func (l *Launch) scratchSlots() uint64 {
	return max(1, (1<<32-1)/max(1, l.ScratchWaveBytes()*uint64(len(l.full))))
}

// Group is a work-group: its LDS, its waves and their registers. A Group is
// reused for one work-group after another of any launch; its memory only
// grows.
type Group struct {
	launch  *Launch
	m       machineState
	waves   []Wave
	rows    []lane.Row // VGPRs of all waves
	backing []lane.Row
	lds     []byte
	scratch []byte
	tmp     *scratchRows
	live    int
	slot    int
	unmaps  uint64 // Space.Unmaps when the waves' regions were looked up
	preempt int    // turns that ended with the quantum spent
}

// NewGroup makes an empty group. slot is its place in the scratch address
// range.
func NewGroup(slot int) *Group { return &Group{slot: slot, tmp: &scratchRows{}} }

// Start makes g the work-group id of l, ready to run.
func (g *Group) Start(l *Launch, id [3]uint32) {
	size := l.Block
	full := true
	for i := range size {
		if rest := l.Grid[i] - id[i]*l.Block[i]; rest < size[i] {
			size[i], full = rest, false
		}
	}
	items := size[0] * size[1] * size[2]
	n := int(items+WaveLanes-1) / WaveLanes
	g.reserve(l, n)
	mc := l.Machine
	g.launch = l
	g.live = n
	g.preempt = 0
	g.forgetRegions(mc.Space)
	g.m = machineState{
		space: mc.Space, cache: mc.cache, target: mc.Target, lds: g.lds[:l.LDSBytes], gds: mc.GDS, group: id,
		kobj: l.KernelObject, waves: n, gws: l.GWS, clock: mc.Clock, cycles: mc.Cycles, message: mc.Message, observe: l.Observer,
	}
	if o := l.Observer; o != nil && o.Probe != nil {
		g.m.probe = o.Probe(l.KernelObject, id)
	}
	stride := waveStride(l)
	swb := l.ScratchWaveBytes()
	for i := range g.waves {
		w := &g.waves[i]
		w.reset()
		w.m, w.index, w.lanes, w.tmp = &g.m, i, WaveLanes, g.tmp
		w.v = &g.rows[i*stride]
		w.bases = [2]unsafe.Pointer{unsafe.Pointer(w.v), mc.cache.chunks[0]}
		w.nv, w.acc = uint32(l.VGPRs), uint32(l.AccOffset)
		w.na = w.nv - w.acc
		w.limit = w.nv
		w.env = lane.Env{}
		w.setMode(l.Mode)
		w.env.Gen = mc.Target.Gen
		w.private = l.PrivateBytes
		slot := uint64(g.slot)%l.scratchSlots()*uint64(len(l.full)) + uint64(i)
		w.scratchVA = mem.ScratchBase + slot*swb
		w.scratch = g.scratch[uint64(i)*swb : uint64(i+1)*swb]
		w.initRegisters(l, id, slot*swb, n)
		ids := lane.Rows(w.v, l.tidRows())
		if full {
			copy(ids, l.full[i])
		} else {
			fillIDs(l, ids, size, i)
		}
		lanes := items - uint32(i)*WaveLanes
		w.setExec(^uint64(0))
		if lanes < WaveLanes {
			w.setExec(1<<lanes - 1)
		}
		w.jump(l.Entry)
	}
}

// forgetRegions drops the regions that the waves remember when some may be
// gone.
func (g *Group) forgetRegions(s *mem.Space) {
	n := s.Unmaps()
	if g.m.space == s && g.unmaps == n {
		return
	}
	g.unmaps = n
	for i := range g.waves {
		g.waves[i].lastRegion = [4]*mem.Region{}
	}
}

// waveStride is the distance of two waves' first rows: odd, so that the same
// register of all waves does not fall into one cache set.
func waveStride(l *Launch) int { return l.VGPRs | 1 }

// reserve makes room for n waves of l.
func (g *Group) reserve(l *Launch, n int) {
	if cap(g.waves) < n {
		g.waves = make([]Wave, n)
		for i := range g.waves {
			g.waves[i].initConstants()
		}
	}
	g.waves = g.waves[:n]
	if need := len(l.full) * waveStride(l); len(g.rows) < need {
		g.backing = make([]lane.Row, need+1)
		g.rows = alignRows(g.backing)
	}
	if int(l.LDSBytes) > len(g.lds) {
		// A multiple of 8 so that wide LDS accesses stay aligned.
		g.lds = make([]byte, (l.LDSBytes+15)&^15)
	}
	if need := l.ScratchWaveBytes() * uint64(len(l.full)); need > uint64(len(g.scratch)) {
		g.scratch = make([]byte, need)
	}
}

// alignRows drops what is needed to make rows start at a 64-byte boundary.
func alignRows(b []lane.Row) []lane.Row {
	off := -uintptr(unsafe.Pointer(&b[0])) & 63
	if off == 0 {
		return b[:len(b)-1]
	}
	p := (*lane.Row)(unsafe.Add(unsafe.Pointer(&b[0]), off))
	return unsafe.Slice(p, len(b)-1)
}

// reset clears a wave's state, keeping the inline constants.
func (w *Wave) reset() {
	clear(w.S[:isa.OperandInt])
	w.prog, w.pc, w.at, w.state, w.scc = nil, 0, 0, running, 0
	w.gprIdx, w.vskip, w.gwsWaiting = false, false, false
	w.executed, w.trapStatus, w.fault = 0, 0, nil
}

// initRegisters writes the SGPRs of a new wave (abi.md C.1).
func (w *Wave) initRegisters(l *Launch, id [3]uint32, scratchOffset uint64, waves int) {
	n := copy(w.S[:], l.UserSGPRs[:l.UserSGPRCount])
	put := func(on bool, v uint32) {
		if on {
			w.S[n] = v
			n++
		}
	}
	put(l.GroupIDX, id[0])
	put(l.GroupIDY, id[1])
	put(l.GroupIDZ, id[2])
	put(l.GroupInfo, uint32(waves)&0x3f|b2u(w.index == 0)<<31)
	put(l.ScratchOffset, uint32(scratchOffset))
	if l.Machine.Target.ArchitectedScratch {
		w.setS64(isa.OperandFlatScratchLo, w.scratchVA)
	}
}

// Outcome is what a call of Group.Run ended with.
type Outcome uint8

// Outcomes.
const (
	Done      Outcome = iota // all waves ended
	Waiting                  // every wave waits for something outside the group
	Preempted                // the quantum is spent
	Faulted                  // Fault says why
)

// passBudget is how many instructions a wave runs before its siblings get a
// turn; observedBudget when each of them is reported.
const (
	passBudget     = 1 << 12
	observedBudget = 1 << 7
)

// Run advances the group until it is done, faults, waits, or each wave has
// had about quantum instructions. It returns early, as if the quantum were
// spent, when one of the flags is set.
func (g *Group) Run(quantum int, stop, attention *atomic.Bool) Outcome {
	for spent := 0; spent < quantum && !stop.Load() && !attention.Load(); spent += passBudget {
		slept := true
		for i := range g.waves {
			w := &g.waves[i]
			if w.state == yielded {
				w.state = running
			}
			if w.state != running {
				continue
			}
			if g.m.observe != nil {
				w.runObserved(observedBudget)
			} else {
				w.run(passBudget)
			}
			switch w.state {
			case ended:
				g.live--
				slept = false
			case faulted:
				return Faulted
			case running, atBarrier:
				slept = false
			}
		}
		if g.live == 0 {
			return Done
		}
		if g.releaseBarrier() {
			slept = false
		}
		if slept {
			return Waiting
		}
	}
	g.preempt++
	return Preempted
}

// Preemptions is how often Run ended because the quantum was spent.
func (g *Group) Preemptions() int { return g.preempt }

// releaseBarrier lets the waves go on when all that have not ended wait.
func (g *Group) releaseBarrier() bool {
	n := 0
	for i := range g.waves {
		if g.waves[i].state == atBarrier {
			n++
		}
	}
	if n == 0 || n < g.live {
		return false
	}
	for i := range g.waves {
		if g.waves[i].state == atBarrier {
			g.waves[i].state = running
		}
	}
	return true
}

// Fault is the first fault among the waves.
func (g *Group) Fault() *device.Fault {
	for i := range g.waves {
		if f := g.waves[i].fault; f != nil {
			return f
		}
	}
	return nil
}

// Executed is the number of instructions the group's waves completed.
func (g *Group) Executed() uint64 {
	var n uint64
	for i := range g.waves {
		n += g.waves[i].executed
	}
	return n
}

// WaveState says where a wave stands. It is only meaningful while the group
// is not running.
type WaveState struct {
	KernelObject uint64
	Group        [3]uint32
	Wave         int
	PC           uint64 // address of the next instruction
	State        string // "running", "at barrier", "ended" …
	Instruction  string // disassembly of the next instruction, when decoded
}

var statusNames = [...]string{running: "running", atBarrier: "at barrier", yielded: "sleeping", ended: "ended", faulted: "faulted"}

// States appends the state of every wave that has not ended.
func (g *Group) States(to []WaveState) []WaveState {
	for i := range g.waves {
		w := &g.waves[i]
		if w.state == ended {
			continue
		}
		s := WaveState{KernelObject: g.m.kobj, Group: g.m.group, Wave: i, State: statusNames[w.state]}
		if w.prog != nil {
			s.PC = w.pcAddr()
			if w.pc < windowInsts {
				if in := &w.prog.insts[w.pc]; in.decoded() {
					s.Instruction = g.m.target.Decoder.Format(in.i, s.PC)
				}
			}
		}
		to = append(to, s)
	}
	return to
}

// String names the group for messages.
func (g *Group) String() string {
	return fmt.Sprintf("work-group (%d,%d,%d)", g.m.group[0], g.m.group[1], g.m.group[2])
}
