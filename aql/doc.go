// Package aql holds the memory layouts and publication rules of HSA's
// Architected Queuing Language as AMD GPUs implement it: 64-byte packets, the
// queue structure with its ring, and signals. It does no I/O; all memory comes
// from the caller.
//
// Publication: a producer reserves packet indices from write_dispatch_id,
// writes bytes 4 to 63 of each slot, publishes header and setup with one
// 32-bit release store, and rings the doorbell once for a batch. The doorbell
// value is the index of the batch's last packet, not a count and not one past
// it. With several producers doorbell values may go backwards, and a doorbell
// does not mean that all earlier packets are published: a consumer walks from
// its read index and stops at the first INVALID header.
//
// Memory a device can write is hostile. A Ring keeps its base and size to
// itself, and every index is reduced modulo that size before it is used.
//
// All structures are little-endian, as are all hosts this package supports.
// Layouts: hsa.h and hsa_ext_amd.h (packets), amd_hsa_queue.h and
// amd_hsa_signal.h of ROCR-Runtime.
package aql
