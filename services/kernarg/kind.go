package kernarg

// Kind is a kernel argument's .value_kind as code object metadata spells it.
type Kind string

// Explicit argument kinds: the caller supplies the value.
const (
	ByValue              Kind = "by_value"
	GlobalBuffer         Kind = "global_buffer"
	DynamicSharedPointer Kind = "dynamic_shared_pointer"
	Sampler              Kind = "sampler"
	Image                Kind = "image"
	Pipe                 Kind = "pipe"
	Queue                Kind = "queue"
)

// Hidden argument kinds: the runtime supplies the value.
const (
	HiddenNone             Kind = "hidden_none"
	HiddenGlobalOffsetX    Kind = "hidden_global_offset_x"
	HiddenGlobalOffsetY    Kind = "hidden_global_offset_y"
	HiddenGlobalOffsetZ    Kind = "hidden_global_offset_z"
	HiddenPrintfBuffer     Kind = "hidden_printf_buffer"
	HiddenHostcallBuffer   Kind = "hidden_hostcall_buffer"
	HiddenMultigridSyncArg Kind = "hidden_multigrid_sync_arg"
	HiddenDefaultQueue     Kind = "hidden_default_queue"
	HiddenCompletionAction Kind = "hidden_completion_action"
	HiddenBlockCountX      Kind = "hidden_block_count_x"
	HiddenBlockCountY      Kind = "hidden_block_count_y"
	HiddenBlockCountZ      Kind = "hidden_block_count_z"
	HiddenGroupSizeX       Kind = "hidden_group_size_x"
	HiddenGroupSizeY       Kind = "hidden_group_size_y"
	HiddenGroupSizeZ       Kind = "hidden_group_size_z"
	HiddenRemainderX       Kind = "hidden_remainder_x"
	HiddenRemainderY       Kind = "hidden_remainder_y"
	HiddenRemainderZ       Kind = "hidden_remainder_z"
	HiddenGridDims         Kind = "hidden_grid_dims"
	HiddenHeapV1           Kind = "hidden_heap_v1"
	HiddenDynamicLDSSize   Kind = "hidden_dynamic_lds_size"
	HiddenPrivateBase      Kind = "hidden_private_base"
	HiddenSharedBase       Kind = "hidden_shared_base"
	HiddenQueuePtr         Kind = "hidden_queue_ptr"
)

// Class says who supplies an argument.
type Class uint8

// Classes of arguments.
const (
	Unknown  Class = iota
	Explicit       // the caller
	Launch         // Fill, from grid, group and queue
	Service        // Fill, with the address of a service's memory
	Unused         // nobody: hidden_none
)

// Slot is a service whose memory a kernel may ask for.
type Slot uint8

// Service slots.
const (
	PrintfBuffer Slot = iota
	HostcallBuffer
	MultigridSync
	Heap
	DefaultQueue
	CompletionAction
	NumSlots
)

// source indexes the values that Fill computes once per launch. The slots are
// its first members.
type source uint8

const (
	srcBlockCount = source(NumSlots) + 3*iota // and the two after it: x, y, z
	srcGroupSize
	srcRemainder
	srcGlobalOffset
	srcGridDims
)

const (
	srcDynamicLDS = srcGridDims + 1 + source(iota)
	srcPrivateBase
	srcSharedBase
	srcQueuePtr
	numSources
)

const absent = -1

// rule is what the ABI says of a kind. Offsets are relative to the implicit
// argument block, which starts at the 8-aligned end of the explicit arguments.
// Sources: LLVM AMDGPUUsage, "Code Object V5 Metadata" and "V3 Metadata"; the
// offsets are those in metadata that clang 22 emits and that the device
// libraries read (workitem.cl, hostcall.cl, dm.cl, cg.cl).
type rule struct {
	class  Class
	size   uint32 // bytes; 0 for any
	v5, v4 int    // offset since V5 and before; absent when there is none
	source source
}

var rules = map[Kind]rule{
	ByValue:              {class: Explicit},
	GlobalBuffer:         {class: Explicit},
	DynamicSharedPointer: {class: Explicit},
	Sampler:              {class: Explicit},
	Image:                {class: Explicit},
	Pipe:                 {class: Explicit},
	Queue:                {class: Explicit},

	HiddenNone:             {class: Unused},
	HiddenBlockCountX:      {Launch, 4, 0, absent, srcBlockCount},
	HiddenBlockCountY:      {Launch, 4, 4, absent, srcBlockCount + 1},
	HiddenBlockCountZ:      {Launch, 4, 8, absent, srcBlockCount + 2},
	HiddenGroupSizeX:       {Launch, 2, 12, absent, srcGroupSize},
	HiddenGroupSizeY:       {Launch, 2, 14, absent, srcGroupSize + 1},
	HiddenGroupSizeZ:       {Launch, 2, 16, absent, srcGroupSize + 2},
	HiddenRemainderX:       {Launch, 2, 18, absent, srcRemainder},
	HiddenRemainderY:       {Launch, 2, 20, absent, srcRemainder + 1},
	HiddenRemainderZ:       {Launch, 2, 22, absent, srcRemainder + 2},
	HiddenGlobalOffsetX:    {Launch, 8, 40, 0, srcGlobalOffset},
	HiddenGlobalOffsetY:    {Launch, 8, 48, 8, srcGlobalOffset + 1},
	HiddenGlobalOffsetZ:    {Launch, 8, 56, 16, srcGlobalOffset + 2},
	HiddenGridDims:         {Launch, 2, 64, absent, srcGridDims},
	HiddenPrintfBuffer:     {Service, 8, 72, 24, source(PrintfBuffer)},
	HiddenHostcallBuffer:   {Service, 8, 80, 24, source(HostcallBuffer)},
	HiddenMultigridSyncArg: {Service, 8, 88, 48, source(MultigridSync)},
	HiddenHeapV1:           {Service, 8, 96, absent, source(Heap)},
	HiddenDefaultQueue:     {Service, 8, 104, 32, source(DefaultQueue)},
	HiddenCompletionAction: {Service, 8, 112, 40, source(CompletionAction)},
	HiddenDynamicLDSSize:   {Launch, 4, 120, absent, srcDynamicLDS},
	HiddenPrivateBase:      {Launch, 4, 192, absent, srcPrivateBase},
	HiddenSharedBase:       {Launch, 4, 196, absent, srcSharedBase},
	HiddenQueuePtr:         {Launch, 8, 200, absent, srcQueuePtr},
}

// Class returns who supplies arguments of this kind, Unknown for kinds that
// are not in the table.
func (k Kind) Class() Class { return rules[k].class }

// Implicit returns where the implicit argument block of a code object version
// holds a hidden kind, relative to the start of the block, and its size in
// bytes. ok is false when that version has no such argument.
func (k Kind) Implicit(version int) (offset, size uint32, ok bool) {
	r, known := rules[k]
	off := r.v4
	if version >= 5 {
		off = r.v5
	}
	if !known || r.class != Launch && r.class != Service || off == absent {
		return 0, 0, false
	}
	return uint32(off), r.size, true
}
