package printf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"
)

// FIFO is the host side of a printf buffer: a word with the offset of the next
// free byte, a word with the capacity, and records (device libraries,
// printf_alloc.cl). Kernels append; the host decodes once the kernel is done.
type FIFO struct {
	mem []byte
}

// ErrFull is wrapped when a buffer had no room for one more record like those
// it holds: the device drops what does not fit, and tells only the lane.
var ErrFull = errors.New("printf buffer is full")

const (
	fifoHeader = 8
	// fifoSpare is what an allocation leaves unused at the end.
	fifoSpare = 8
	// sentinel fills memory that no record has been written to. It has no
	// zero byte, so it cannot end a string.
	sentinel = 0xf5a5c3e9
)

const (
	// maxRecordErrors bounds the errors that one decode collects.
	maxRecordErrors = 16
	// maxDecoded bounds the text of one decode: a few bytes of a hostile
	// record may ask for a megabyte of padding.
	maxDecoded = 256 << 20
)

// Emit receives the text of one record. Its error ends decoding.
type Emit func(stream Stream, text []byte) error

// NewFIFO writes the initial state into mem, which is 4-aligned.
func NewFIFO(mem []byte) (*FIFO, error) {
	if len(mem) < fifoHeader+8 || uint64(len(mem)) > math.MaxUint32 {
		return nil, fmt.Errorf("printf buffer of %d bytes, want 16 to 2^32-1: %w", len(mem), ErrMessage)
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%4 != 0 {
		return nil, fmt.Errorf("printf buffer is not 4-aligned: %w", ErrMessage)
	}
	f := &FIFO{mem: mem}
	binary.LittleEndian.PutUint32(mem[4:], uint32(f.capacity()))
	f.fill(len(mem))
	f.Reset()
	return f, nil
}

func (f *FIFO) capacity() int { return len(f.mem) - fifoHeader }

func (f *FIFO) offset() *uint32 { return (*uint32)(unsafe.Pointer(&f.mem[0])) }

func (f *FIFO) fill(end int) {
	for i := fifoHeader; i+4 <= end; i += 4 {
		binary.LittleEndian.PutUint32(f.mem[i:], sentinel)
	}
}

// Reset empties the buffer for the next kernel.
func (f *FIFO) Reset() {
	f.fill(fifoHeader + int(min(uint64(atomic.LoadUint32(f.offset())), uint64(f.capacity()))))
	atomic.StoreUint32(f.offset(), 0)
}

// records returns the bytes that kernels have allocated. Device code does not
// move the offset beyond the capacity; whatever lies there is still decoded.
func (f *FIFO) records() ([]byte, error) {
	n := uint64(atomic.LoadUint32(f.offset()))
	if c := uint64(f.capacity()); n > c {
		return f.mem[fifoHeader:], fmt.Errorf("offset 0: next free byte %d of %d: %w", n, c, ErrMessage)
	}
	return f.mem[fifoHeader : fifoHeader+int(n)], nil
}

// decoder walks records and keeps the first few errors about their contents.
type decoder struct {
	emit Emit
	text []byte
	left int // of maxDecoded
	errs []error
}

// checkRoom notes that records of largest bytes may have been dropped.
func (d *decoder) checkRoom(f *FIFO, used int, largest uint64) {
	if free := f.capacity() - fifoSpare - used; used > 0 && free < int(min(largest, math.MaxInt32)) && len(d.errs) < maxRecordErrors {
		d.errs = append(d.errs, fmt.Errorf("%d of %d bytes used, records take up to %d: later ones may be lost: %w", used, f.capacity(), largest, ErrFull))
	}
}

func (d *decoder) fail(pos int, err error) {
	if err != nil && len(d.errs) < maxRecordErrors {
		d.errs = append(d.errs, fmt.Errorf("printf record at offset %d: %w", fifoHeader+pos, err))
	}
}

// print formats and emits one record. Text before a mistake is emitted too.
func (d *decoder) print(pos int, stream Stream, format []byte, args ArgSource) error {
	text, n, err := Format(d.text[:0], format, args)
	d.text = text
	if d.left -= n; d.left < 0 {
		return fmt.Errorf("printf record at offset %d: more than %d bytes of text: %w", fifoHeader+pos, maxDecoded, ErrLimit)
	}
	d.fail(pos, err)
	if n == 0 {
		return nil
	}
	return d.emit(stream, text)
}

// DecodeHIP passes the text of each record of HIP's buffered printf to emit,
// in buffer order. formats finds constant formats by their hash, the first 8
// bytes of their MD5. Mistakes in one record do not hide the next; a broken
// record length ends the walk. The error joins what went wrong, and ErrFull
// when records may have been dropped.
//
// Record: control word (bit 0 stderr, bit 1 constant format, [31:2] length in
// bytes), then the hash or the format itself padded to 8, then arguments as
// Words (LLVM AMDGPUEmitPrintf.cpp).
func (f *FIFO) DecodeHIP(formats map[uint64][]byte, emit Emit) error {
	recs, err := f.records()
	d := decoder{emit: emit, left: maxDecoded}
	if err != nil {
		d.errs = append(d.errs, err)
	}
	largest := uint64(0)
	for pos := 0; pos < len(recs); {
		const least = 12 // control and one word
		if len(recs)-pos < least {
			d.fail(pos, fmt.Errorf("%d bytes left: %w", len(recs)-pos, ErrMessage))
			break
		}
		control := binary.LittleEndian.Uint32(recs[pos:])
		size := uint64(control >> 2)
		if size < least || size%4 != 0 || size > uint64(len(recs)-pos) {
			d.fail(pos, fmt.Errorf("length %d with %d bytes left: %w", size, len(recs)-pos, ErrMessage))
			break
		}
		if err := d.hipRecord(pos, control, recs[pos+4:pos+int(size)], formats); err != nil {
			return errors.Join(append(d.errs, err)...)
		}
		pos += int(size)
		largest = max(largest, size)
	}
	d.checkRoom(f, len(recs), largest)
	return errors.Join(d.errs...)
}

func (d *decoder) hipRecord(pos int, control uint32, body []byte, formats map[uint64][]byte) error {
	args := &hipArgs{Words{body}}
	var format []byte
	if control&2 != 0 {
		hash, err := args.Int()
		if err != nil {
			d.fail(pos, err)
			return nil
		}
		var ok bool
		if format, ok = formats[hash]; !ok {
			d.fail(pos, fmt.Errorf("no format with hash %#016x: %w", hash, ErrMessage))
			return nil
		}
	} else {
		var err error
		if format, _, err = args.Words.String(); err != nil {
			d.fail(pos, err)
			return nil
		}
	}
	return d.print(pos, Stream(control&1), format, args)
}

// hipArgs are Words whose null strings take no bytes at all: they can be told
// only when nothing follows.
type hipArgs struct{ Words }

func (a *hipArgs) String() ([]byte, bool, error) {
	if len(a.data) == 0 {
		return nil, true, nil
	}
	return a.Words.String()
}

// OpenCLFormat is what metadata says of one printf call site.
type OpenCLFormat struct {
	Format []byte
	Sizes  []uint32 // stored bytes of each argument
}

// DecodeOpenCL passes the text of each OpenCL printf record to emit, in buffer
// order. formats is indexed by call-site id. An unknown id ends the walk, as
// only the format tells a record's length. The error joins what went wrong, and
// ErrFull when records may have been dropped.
//
// Record: id, then arguments as stored, 4-aligned (LLVM
// AMDGPUPrintfRuntimeBinding.cpp).
func (f *FIFO) DecodeOpenCL(formats map[uint32]OpenCLFormat, emit Emit) error {
	recs, err := f.records()
	d := decoder{emit: emit, left: maxDecoded}
	if err != nil {
		d.errs = append(d.errs, err)
	}
	largest := uint64(0)
	for pos := 0; pos < len(recs); {
		if len(recs)-pos < 4 {
			d.fail(pos, fmt.Errorf("%d bytes left: %w", len(recs)-pos, ErrMessage))
			break
		}
		id := binary.LittleEndian.Uint32(recs[pos:])
		format, ok := formats[id]
		if !ok {
			d.fail(pos, fmt.Errorf("no printf call site %d: %w", id, ErrMessage))
			break
		}
		size := format.recordSize()
		if size > uint64(len(recs)-pos) {
			d.fail(pos, fmt.Errorf("call site %d needs %d bytes, %d left: %w", id, size, len(recs)-pos, ErrMessage))
			break
		}
		args := newOpenCLArgs(recs[pos+4:pos+int(size)], format)
		if err := d.print(pos, Stdout, format.Format, args); err != nil {
			return errors.Join(append(d.errs, err)...)
		}
		pos += int(size)
		largest = max(largest, size)
	}
	d.checkRoom(f, len(recs), largest)
	return errors.Join(d.errs...)
}

// recordSize is the bytes of a record of that call site.
func (f *OpenCLFormat) recordSize() uint64 {
	size := uint64(4)
	for _, s := range f.Sizes {
		size += stored(s)
	}
	return size
}

// stored is the room that an argument takes in a record.
func stored(size uint32) uint64 { return (uint64(size) + 3) &^ 3 }

// openCLArgs is a VectorSource over one record.
type openCLArgs struct {
	args [][]byte // the bytes of each argument that is left
}

func (a *openCLArgs) pop() ([]byte, error) {
	if len(a.args) == 0 {
		return nil, ErrArguments
	}
	b := a.args[0]
	a.args = a.args[1:]
	return b, nil
}

func (a *openCLArgs) Int() (uint64, error) {
	b, err := a.pop()
	if err != nil {
		return 0, err
	}
	switch len(b) {
	case 4:
		return uint64(binary.LittleEndian.Uint32(b)), nil
	case 8:
		return binary.LittleEndian.Uint64(b), nil
	}
	return 0, fmt.Errorf("integer of %d bytes: %w", len(b), ErrArguments)
}

func (a *openCLArgs) Float() (float64, error) {
	b, err := a.pop()
	if err != nil {
		return 0, err
	}
	switch len(b) {
	case 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), nil
	case 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
	}
	return 0, fmt.Errorf("floating-point value of %d bytes: %w", len(b), ErrArguments)
}

func (a *openCLArgs) String() ([]byte, bool, error) {
	b, err := a.pop()
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	return b, false, err
}

// Vector infers the element size from the stored one: a vector of three is
// stored as one of four, and narrow elements may have been widened.
func (a *openCLArgs) Vector(n int) (elements [16]uint64, size int, err error) {
	b, err := a.pop()
	if err != nil {
		return elements, 0, err
	}
	count := n
	if n == 3 {
		count = 4
	}
	size = len(b) / count
	switch {
	case size*count != len(b) || size == 0 || size > 8 || size&(size-1) != 0:
		return elements, 0, fmt.Errorf("vector of %d in %d bytes: %w", n, len(b), ErrArguments)
	}
	var word [8]byte
	for i := range n {
		copy(word[:], b[i*size:(i+1)*size])
		elements[i] = binary.LittleEndian.Uint64(word[:])
	}
	return elements, size, nil
}
