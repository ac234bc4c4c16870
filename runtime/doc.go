// Package runtime is what a program uses to run AMD GPU code objects: it opens
// a device, allocates memory, loads modules and launches kernels on streams by
// writing AQL packets into the device's queues. It never knows which device it
// has: a program imports the ones it wants for their registration,
//
//	import _ "gfxrt/sim"
//
//	rt, err := runtime.Open(ctx, "sim:gfx90a")
//	mod, err := rt.LoadModule(ctx, object)
//	k, err := mod.Kernel("vecadd")
//	s, err := rt.NewStream()
//	l, err := s.Launch(ctx, k, runtime.LaunchConfig{Grid: runtime.Dim3{X: 16}, Block: runtime.Dim3{X: 256}},
//		runtime.Ptr(a), runtime.Ptr(b), runtime.U32(n))
//	err = l.Wait(ctx)
//
// A launch is checked completely before anything of it becomes visible to the
// device. Modules and buffers that a launch uses live until it has completed.
// Launches of one stream run in order unless told otherwise; streams do not
// wait for each other. A fault makes its stream unusable and leaves the others
// alone.
package runtime
