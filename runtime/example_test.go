package runtime_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"gfxrt/runtime"
	_ "gfxrt/sim"
)

// Add two vectors on the simulator.
func Example() {
	if err := addVectors(context.Background(), "sim:gfx90a"); err != nil {
		fmt.Println(err)
	}
	// Output: 0.5 1.5 2.5 3.5
}

func addVectors(ctx context.Context, device string) error {
	rt, err := runtime.Open(ctx, device)
	if err != nil {
		return err
	}
	defer rt.Close()
	object, err := os.ReadFile("../kernels/gfx90a/vecadd.hsaco")
	if err != nil {
		return err
	}
	mod, err := rt.LoadModule(ctx, object)
	if err != nil {
		return err
	}
	vecadd, err := mod.Kernel("vecadd")
	if err != nil {
		return err
	}
	const n = 4
	var bufs [3]*runtime.Buffer // a + b = c
	for i := range bufs {
		if bufs[i], err = rt.Alloc(4*n, runtime.HostVisible); err != nil {
			return err
		}
	}
	for i := range n {
		binary.LittleEndian.PutUint32(bufs[0].Bytes()[4*i:], math.Float32bits(float32(i)))
		binary.LittleEndian.PutUint32(bufs[1].Bytes()[4*i:], math.Float32bits(0.5))
	}
	stream, err := rt.NewStream()
	if err != nil {
		return err
	}
	cfg := runtime.LaunchConfig{Grid: runtime.Dim3{X: 1}, Block: runtime.Dim3{X: 64}}
	launch, err := stream.Launch(ctx, vecadd, cfg, runtime.Ptr(bufs[0]), runtime.Ptr(bufs[1]), runtime.Ptr(bufs[2]), runtime.U32(n))
	if err != nil {
		return err
	}
	if err := launch.Wait(ctx); err != nil {
		return err
	}
	for i := range n {
		sep := " "
		if i == n-1 {
			sep = "\n"
		}
		fmt.Print(math.Float32frombits(binary.LittleEndian.Uint32(bufs[2].Bytes()[4*i:])), sep)
	}
	return nil
}
