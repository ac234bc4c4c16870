// Command vecadd adds two vectors with a compiled kernel on a simulated GPU:
//
//	go run ./examples/vecadd kernels/gfx90a/vecadd.hsaco
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"

	"gfxrt/runtime"
	_ "gfxrt/sim" // makes "sim:" devices known
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: vecadd OBJECT")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, object string) (err error) {
	code, err := os.ReadFile(object)
	if err != nil {
		return err
	}
	rt, err := runtime.Open(ctx, "sim:gfx90a")
	if err != nil {
		return err
	}
	// Close releases everything that was made on the device.
	defer func() {
		if cerr := rt.Close(); err == nil {
			err = cerr
		}
	}()
	module, err := rt.LoadModule(ctx, code)
	if err != nil {
		return err
	}
	kernel, err := module.Kernel("vecadd")
	if err != nil {
		return err
	}

	const n = 1000
	var buffers [3]*runtime.Buffer // a, b and c = a + b
	for i := range buffers {
		if buffers[i], err = rt.Alloc(4*n, runtime.DeviceLocal); err != nil {
			return err
		}
	}
	host := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(host[4*i:], math.Float32bits(float32(i)))
	}
	for _, b := range buffers[:2] {
		if err := b.Write(0, host); err != nil {
			return err
		}
	}

	stream, err := rt.NewStream()
	if err != nil {
		return err
	}
	launch, err := stream.Launch(ctx, kernel, runtime.LaunchConfig{
		Grid:  runtime.Dim3{X: (n + 255) / 256, Y: 1, Z: 1},
		Block: runtime.Dim3{X: 256, Y: 1, Z: 1},
	}, runtime.Ptr(buffers[0]), runtime.Ptr(buffers[1]), runtime.Ptr(buffers[2]), runtime.U32(n))
	if err != nil {
		return err
	}
	if err := launch.Wait(ctx); err != nil {
		return err // a *runtime.Fault says where the kernel went wrong
	}
	if err := buffers[2].Read(0, host); err != nil {
		return err
	}
	for i := range n {
		if got, want := math.Float32frombits(binary.LittleEndian.Uint32(host[4*i:])), float32(2*i); got != want {
			return fmt.Errorf("c[%d] = %v, want %v", i, got, want)
		}
	}
	fmt.Printf("%d sums are right\n", n)
	return nil
}
