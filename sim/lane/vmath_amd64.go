package lane

// Functions of vmath_rows_amd64.s, described there.

//go:noescape
func vPermuteBytes(d, src *Row, idx *[64]uint8, exec uint64)

//go:noescape
func vMerge(d, r *Row, exec uint64)

//go:noescape
func vDeposit(d, r *Row, exec uint64, up, shift, keep, take uint32)

//go:noescape
func vClamp(d *Row, exec uint64, abs, one, inf uint32, nanToZero bool)

//go:noescape
func vOMod(d *Row, exec uint64, factor, least uint32)
