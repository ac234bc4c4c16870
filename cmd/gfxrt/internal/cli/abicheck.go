package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"gfxrt/cmd/gfxrt/abicheck"
	"gfxrt/runtime"
)

type abiCheckCmd struct {
	Object   string `arg:"" help:"Device library (ockl.bc), or a code object with a kernel that passes its arguments to __ockl_dm_init_v1."`
	Kernel   string `placeholder:"NAME" help:"That kernel; by default gfxrt_dm_init or __amd_rocclr_initHeap."`
	Slabs    int    `default:"4" placeholder:"N" help:"Initial slabs of 2 MiB, 1 to 64."`
	Compiler string `placeholder:"CLANG" help:"Compiler that links a library; by default clang-22, clang-23 or clang in PATH."`
	Device   string `placeholder:"DEVICE" help:"sim[+seed=N][+portable][+threads=N][:TARGET]; by default the object's own target, or gfx90a for a library."`
}

// Help says what is compared.
func (abiCheckCmd) Help() string {
	return `Runs the library's own initialisation of the device heap as one work-group of 256 and compares the 128 KiB
it leaves with those this runtime makes; then, when the kernels are there, runs its malloc and free.`
}

// Run checks one library.
func (c *abiCheckCmd) Run(e *env) (err error) {
	if c.Slabs < 1 || c.Slabs > 64 {
		return usagef("--slabs %d: want 1 to 64", c.Slabs)
	}
	object, dev, versions, err := c.open(e)
	if err != nil {
		return err
	}
	s, err := openSession(e.ctx, dev, watch{}, append(abicheck.RuntimeOptions(c.Slabs), runtime.WithOutput(e.stdout, e.stderr))...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.rt.Close()) }()
	r, err := abicheck.Check(e.ctx, s.rt, abicheck.Options{Object: object, Kernel: c.Kernel, Slabs: c.Slabs})
	if errors.Is(err, abicheck.ErrKernel) {
		return inputError(fmt.Errorf("%s: %w", c.Object, err))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Object, err)
	}
	text := ""
	for _, v := range versions {
		text += fmt.Sprintf("made by  %s\n", v)
	}
	text += fmt.Sprintf("header   %d bytes equal after %s with %d slabs\n", r.Bytes, r.Kernel, c.Slabs)
	if r.Unordered {
		text += "note     it stores its fields before all its waves have cleared the header, and may lose them; compared with a header cleared beforehand\n"
	}
	if r.Blocks > 0 {
		text += fmt.Sprintf("malloc   %d blocks of %d bytes from the initial slabs, all freed; layout of ROCm %s\n", r.Blocks, r.BlockSize, r.Layout.Versions)
	} else {
		text += "malloc   not checked: the object has no kernels gfxrt_dm_alloc and gfxrt_dm_free\n"
	}
	_, err = fmt.Fprint(e.stdout, printable(text))
	return err
}

// open makes a code object of what the user gave.
func (c *abiCheckCmd) open(e *env) (object []byte, dev string, versions []string, err error) {
	f, err := os.Open(c.Object)
	if err != nil {
		return nil, "", nil, inputError(err)
	}
	magic := make([]byte, 4)
	n, _ := f.Read(magic) // what cannot be read now fails below
	f.Close()
	if !abicheck.IsBitcode(magic[:n]) {
		if object, err = readObject(c.Object); err == nil {
			dev, err = deviceFor(c.Device, c.Object, object)
		}
		return object, dev, unique(abicheck.Versions(object)), err
	}
	if c.Kernel != "" {
		return nil, "", nil, usagef("--kernel: a library has no kernels")
	}
	library, err := os.ReadFile(c.Object)
	if err != nil {
		return nil, "", nil, inputError(err)
	}
	dev = c.Device
	if dev == "" {
		dev = "sim:gfx90a"
	}
	_, target, _ := strings.Cut(dev, ":")
	processor, _, _ := strings.Cut(target, ":")
	if processor == "" {
		return nil, "", nil, usagef("--device %s: a library needs a target, such as sim:gfx90a", c.Device)
	}
	object, err = abicheck.Build(e.ctx, c.Object, processor, c.Compiler)
	if err != nil {
		err = inputError(fmt.Errorf("%s: %w", c.Object, err))
	}
	return object, dev, unique(abicheck.Versions(library)), err
}

// unique drops repetitions.
func unique(s []string) (u []string) {
	seen := map[string]bool{}
	for _, x := range s {
		if !seen[x] {
			u = append(u, x)
		}
		seen[x] = true
	}
	return u
}
