package device

import (
	"errors"
	"fmt"
)

// FaultKind classifies what ended a dispatch.
type FaultKind uint8

// Fault kinds.
const (
	FaultMemory        FaultKind = iota // access to an unmapped or protected address
	FaultAperture                       // LDS or scratch access outside the group's or lane's own
	FaultStack                          // scratch access beyond the private segment of the dispatch
	FaultIllegal                        // unknown encoding
	FaultUnimplemented                  // known instruction that the simulator does not have
	FaultTrap                           // s_trap 2: abort, assert, __builtin_trap
	FaultPacket                         // a packet the command processor rejects
	FaultHalted                         // wave stopped itself (s_sethalt)
	FaultCancelled                      // the queue was closed or the wait gave up
)

var faultNames = [...]string{"memory fault", "aperture violation", "stack overflow", "illegal instruction",
	"unimplemented instruction", "trap", "invalid packet", "wave halted", "cancelled"}

// String names the kind in words.
func (k FaultKind) String() string {
	if int(k) < len(faultNames) {
		return faultNames[k]
	}
	return fmt.Sprintf("fault(%d)", uint8(k))
}

// ErrFault is wrapped by every *Fault.
var ErrFault = errors.New("device fault")

// Fault says what stopped a queue and where. The device fills what it knows;
// the runtime adds Kernel, Symbol and Source.
type Fault struct {
	Kind   FaultKind
	Reason string // one sentence, with addresses and the limits that were passed

	KernelObject uint64    // GPU address of the kernel descriptor; 0 when no kernel ran
	Group        [3]uint32 // work-group id
	Wave         int       // wave in group; -1 unknown
	Lane         int       // first lane concerned; -1 when the whole wave is
	PC           uint64    // GPU address of the instruction; 0 unknown
	Instruction  string    // disassembly or raw words
	Addr         uint64    // address that could not be accessed
	PacketIndex  uint64

	Kernel string // kernel name
	Symbol string // symbol+0xoffset of PC
	Source string // file:line of PC
}

// Error describes the fault in one line, or several when a source is known.
func (f *Fault) Error() string {
	s := f.Kind.String()
	if f.Kernel != "" {
		s += " in kernel " + f.Kernel
	}
	if f.Wave >= 0 {
		s += fmt.Sprintf(", work-group (%d,%d,%d) wave %d", f.Group[0], f.Group[1], f.Group[2], f.Wave)
	}
	if f.Lane >= 0 {
		s += fmt.Sprintf(" lane %d", f.Lane)
	}
	if f.PC != 0 {
		s += fmt.Sprintf(", pc %#x", f.PC)
		if f.Symbol != "" {
			s += " <" + f.Symbol + ">"
		}
	}
	if f.Source != "" {
		s += " at " + f.Source
	}
	if f.Instruction != "" {
		s += ": " + f.Instruction
	}
	if f.Reason != "" {
		s += ": " + f.Reason
	}
	return s
}

// Unwrap makes errors.Is(err, ErrFault) true.
func (f *Fault) Unwrap() error { return ErrFault }
