// Package check holds analyses that follow a simulated run.
package check

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"gfxrt/sim/exec"
	"gfxrt/sim/isa"
)

// Status says how far an instruction's results can be trusted.
type Status string

// Statuses.
const (
	Exact       Status = "exact"
	Approximate Status = "approximate" // within the bound that AMD documents
	Unsupported Status = "unsupported" // the run stopped there
)

// Fidelity counts what the waves of one device or several execute, and
// follows approximate results: it tells whether one may have reached an
// address, a branch or a synchronising operation, where a last bit can change
// what a program does rather than how precise it is.
//
// A result is followed through registers by lane, through masks by bit,
// through LDS, private and global memory by dword, until something exact
// replaces it. The choice of a branch is not followed into what the branch
// then computes, nor is memory that the host rewrites between launches
// forgotten. It errs towards reporting.
type Fidelity struct {
	counts  [isa.NumOps]atomic.Uint64
	refused [isa.NumOps]atomic.Uint64
	other   atomic.Uint64 // steps that were no instruction

	global shadow

	mu      sync.Mutex
	reached [3]map[place]uint64
}

// NewFidelity makes an empty record.
func NewFidelity() *Fidelity {
	f := &Fidelity{}
	for k := range f.reached {
		f.reached[k] = map[place]uint64{}
	}
	return f
}

// place is a kind of use of an approximate result.
type place struct {
	kernel, pc uint64
	op         isa.Op
}

// sink is where an approximate result can do more than make a result less
// precise.
type sink int

const (
	sinkAddress sink = iota
	sinkBranch
	sinkSync
)

// maxPlaces bounds the places remembered of each kind.
const maxPlaces = 1 << 12

func (f *Fidelity) hit(s sink, p place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.reached[s]; m[p] > 0 || len(m) < maxPlaces {
		m[p]++
	}
}

// Probe makes the probe of a work-group: it is what sim.Options.Probe takes.
func (f *Fidelity) Probe(kernel uint64, _ [3]uint32) exec.Probe {
	return &groupTaint{f: f, kernel: kernel}
}

// Report is what a run came to.
type Report struct {
	// Instructions executed by waves, by mnemonic in alphabetical order. The
	// halves of a dual instruction count each.
	Instructions []Instruction `json:"instructions"`
	// Totals of the counts by status.
	Exact       uint64 `json:"exact"`
	Approximate uint64 `json:"approximate"`
	Unsupported uint64 `json:"unsupported"`
	// Where approximate results arrived.
	Addresses []Place `json:"approximate_addresses"`
	Branches  []Place `json:"approximate_branches"`
	Syncs     []Place `json:"approximate_synchronisation"`
}

// Instruction is one mnemonic of a Report.
type Instruction struct {
	Mnemonic string `json:"mnemonic"`
	Count    uint64 `json:"count"`
	Status   Status `json:"status"`
}

// Place is an instruction that used an approximate result.
type Place struct {
	Kernel   uint64 `json:"kernel_object"` // GPU address of the kernel descriptor
	PC       uint64 `json:"pc"`
	Symbol   string `json:"symbol,omitempty"` // for the caller to fill in
	Mnemonic string `json:"mnemonic"`
	Count    uint64 `json:"count"`
}

// Report sums up what was executed until now.
func (f *Fidelity) Report() Report {
	r := Report{Instructions: []Instruction{}}
	for op := isa.Op(1); op < isa.NumOps; op++ {
		if n := f.counts[op].Load(); n > 0 {
			i := Instruction{op.String(), n, Exact}
			if e, ok := exec.EffectOf(op); ok && e.Approx {
				i.Status = Approximate
				r.Approximate += n
			} else {
				r.Exact += n
			}
			r.Instructions = append(r.Instructions, i)
		}
		if n := f.refused[op].Load(); n > 0 {
			r.Instructions = append(r.Instructions, Instruction{op.String(), n, Unsupported})
			r.Unsupported += n
		}
	}
	if n := f.other.Load(); n > 0 {
		r.Instructions = append(r.Instructions, Instruction{"(not an instruction)", n, Unsupported})
		r.Unsupported += n
	}
	slices.SortFunc(r.Instructions, func(a, b Instruction) int { return cmp.Compare(a.Mnemonic, b.Mnemonic) })
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Addresses, r.Branches, r.Syncs = places(f.reached[sinkAddress]), places(f.reached[sinkBranch]), places(f.reached[sinkSync])
	return r
}

func places(m map[place]uint64) []Place {
	out := []Place{}
	for p, n := range m {
		out = append(out, Place{Kernel: p.kernel, PC: p.pc, Mnemonic: p.op.String(), Count: n})
	}
	slices.SortFunc(out, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.PC, b.PC))
	})
	return out
}
