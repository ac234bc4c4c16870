//go:build !amd64

package lane

var vmathTable []vectorEntry

// Nothing calls these: see vector_other.go.

func vPermuteBytes(d, src *Row, idx *[64]uint8, exec uint64)           {}
func vMerge(d, r *Row, exec uint64)                                    {}
func vDeposit(d, r *Row, exec uint64, up, shift, keep, take uint32)    {}
func vClamp(d *Row, exec uint64, abs, one, inf uint32, nanToZero bool) {}
func vOMod(d *Row, exec uint64, factor, least uint32)                  {}
