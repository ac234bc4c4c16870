package aql

import "testing"

// BenchmarkReservePublish is the producer's and consumer's work for one packet.
func BenchmarkReservePublish(b *testing.B) {
	r, _ := newTestRing(b, 1024)
	ctx := b.Context()
	k := KernelDispatch{Header: 0x1502, Setup: 1, WorkgroupSize: [3]uint16{64, 1, 1}, GridSize: [3]uint32{64, 1, 1}, KernelObject: 64}
	var p, got Packet
	b.ReportAllocs()
	for b.Loop() {
		first, err := r.Reserve(ctx, 1)
		if err != nil {
			b.Fatal(err)
		}
		k.Encode(&p)
		r.PublishPacket(first, &p)
		r.Read(first, &got)
		if _, err := DecodeKernelDispatch(&got); err != nil {
			b.Fatal(err)
		}
		r.Retire(first)
	}
}
