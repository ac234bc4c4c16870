package runtime_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gfxrt/runtime"
	"gfxrt/runtime/device"
)

func TestBuffer(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	for _, kind := range []runtime.MemoryKind{runtime.DeviceLocal, runtime.HostVisible} {
		b := alloc(t, rt, 100, kind)
		if b.Size() != 100 || b.Kind() != kind || b.Addr() == 0 {
			t.Errorf("size %d, kind %d, address %#x", b.Size(), b.Kind(), b.Addr())
		}
		if err := b.Write(90, []byte("0123456789")); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 4)
		if err := b.Read(93, got); err != nil || string(got) != "3456" {
			t.Errorf("read %q, %v", got, err)
		}
		if host := b.Bytes(); (host != nil) != (kind == runtime.HostVisible) || host != nil && (len(host) != 100 || string(host[90:]) != "0123456789") {
			t.Errorf("host view of %d bytes", len(host))
		}
		for _, r := range []struct {
			off uint64
			n   int
		}{{100, 1}, {0, 101}, {101, 0}, {math.MaxUint64, 2}, {math.MaxUint64 - 1, 2}, {1 << 63, 8}} {
			if err := b.Read(r.off, make([]byte, r.n)); !errors.Is(err, runtime.ErrOutOfRange) {
				t.Errorf("read of %d at %#x: %v", r.n, r.off, err)
			}
			if err := b.Write(r.off, make([]byte, r.n)); !errors.Is(err, runtime.ErrOutOfRange) {
				t.Errorf("write of %d at %#x: %v", r.n, r.off, err)
			}
		}
		if err := errors.Join(b.Read(100, nil), b.Write(100, nil)); err != nil {
			t.Errorf("nothing at the end: %v", err)
		}
		if err := b.Free(); err != nil {
			t.Fatal(err)
		}
		if _, err := d.at(b.Addr(), 1); err == nil {
			t.Error("memory is still there after Free")
		}
		for what, err := range map[string]error{"Free": b.Free(), "Read": b.Read(0, got), "Write": b.Write(0, got)} {
			if !errors.Is(err, runtime.ErrClosed) {
				t.Errorf("%s after Free: %v", what, err)
			}
		}
		if b.Bytes() != nil {
			t.Error("host view after Free")
		}
	}
}

func TestCopy(t *testing.T) {
	rt := open(t, newFake(t))
	a, b := alloc(t, rt, 16, runtime.DeviceLocal), alloc(t, rt, 16, runtime.HostVisible)
	if err := a.Write(0, []byte("abcdefghijklmnop")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Write(0, make([]byte, 16)), rt.Copy(b, 4, a, 2, 8), rt.Copy(a, 1, a, 0, 8)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 16)
	if err := b.Read(0, got); err != nil || !bytes.Equal(got, []byte("\x00\x00\x00\x00cdefghij\x00\x00\x00\x00")) {
		t.Errorf("copy gave %q, %v", got, err)
	}
	if err := a.Read(0, got); err != nil || string(got) != "aabcdefghjklmnop" {
		t.Errorf("overlapping copy gave %q, %v", got, err)
	}
	for _, r := range [][3]uint64{{9, 0, 8}, {0, 9, 8}, {math.MaxUint64, 0, 2}, {0, math.MaxUint64, 2}, {0, 0, math.MaxUint64}} {
		if err := rt.Copy(b, r[0], a, r[1], r[2]); !errors.Is(err, runtime.ErrOutOfRange) {
			t.Errorf("copy of %#x from %#x to %#x: %v", r[2], r[1], r[0], err)
		}
	}
	other := open(t, newFake(t))
	if err := rt.Copy(b, 0, alloc(t, other, 16, runtime.DeviceLocal), 0, 1); !errors.Is(err, runtime.ErrInvalidArgument) {
		t.Errorf("copy from another runtime: %v", err)
	}
}

func TestAlloc(t *testing.T) {
	d := newFake(t)
	rt := open(t, d)
	a, b := alloc(t, rt, 0, runtime.DeviceLocal), alloc(t, rt, 0, runtime.DeviceLocal)
	if a.Size() != 0 || a.Addr() == 0 || a.Addr() == b.Addr() {
		t.Errorf("empty buffers of %d bytes at %#x and %#x", a.Size(), a.Addr(), b.Addr())
	}
	if err := a.Read(0, make([]byte, 1)); !errors.Is(err, runtime.ErrOutOfRange) {
		t.Errorf("read of an empty buffer: %v", err)
	}
	if _, err := rt.Alloc(math.MaxUint64, runtime.DeviceLocal); !errors.Is(err, runtime.ErrOutOfMemory) {
		t.Errorf("2^64-1 bytes: %v", err)
	}
	if _, err := rt.Alloc(8, device.Code); !errors.Is(err, runtime.ErrInvalidArgument) {
		t.Errorf("code memory: %v", err)
	}
}

func TestCloseTwice(t *testing.T) {
	d := newFake(t)
	rt, err := runtime.New(d)
	if err != nil {
		t.Fatal(err)
	}
	b, err := rt.Alloc(8, runtime.DeviceLocal)
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	_, allocErr := rt.Alloc(8, runtime.DeviceLocal)
	_, streamErr := rt.NewStream()
	_, loadErr := rt.LoadModule(context.Background(), object(t, "gfx90a", "vecadd"))
	for what, err := range map[string]error{"Close": rt.Close(), "Alloc": allocErr, "NewStream": streamErr, "LoadModule": loadErr, "Free": b.Free()} {
		if !errors.Is(err, runtime.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
	if len(d.mems) != 0 {
		t.Errorf("%d allocations after Close", len(d.mems))
	}
}

func TestOptions(t *testing.T) {
	for what, o := range map[string]runtime.Option{
		"queue":       runtime.WithQueueSize(100),
		"output":      runtime.WithOutput(nil, nil),
		"diagnostics": runtime.WithDiagnostics(nil),
		"printf":      runtime.WithPrintfBuffer(16),
		"hostcall":    runtime.WithHostcall(9),
		"16 to 65536": runtime.WithQueueSize(8), // the fake's limits
	} {
		if _, err := runtime.New(newFake(t), o); !errors.Is(err, runtime.ErrInvalidArgument) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestOpen(t *testing.T) {
	if _, err := runtime.Open(context.Background(), "no-such-device:gfx90a"); !errors.Is(err, runtime.ErrUnsupported) || !strings.Contains(err.Error(), "no-such-device") {
		t.Errorf("unknown scheme: %v", err)
	}
	d := newFake(t)
	const scheme = "recorder"
	if slices.Contains(device.Schemes(), scheme) {
		t.Skip("the scheme can be registered once a process")
	}
	device.Register(scheme, func(_ context.Context, options []string, target string) (device.Device, error) {
		if len(options) != 1 || options[0] != "seed=7" || target != "gfx90a" {
			t.Errorf("options %q target %q", options, target)
		}
		return d, nil
	})
	rt, err := runtime.Open(context.Background(), "recorder+seed=7:gfx90a")
	if err != nil {
		t.Fatal(err)
	}
	if rt.Info() != d.info {
		t.Error("Info is not the device's")
	}
	if err := rt.Close(); err != nil || !d.closed {
		t.Errorf("close: %v", err)
	}
	// A device that Open opened is closed again when the options are wrong.
	d.closed = false
	if _, err := runtime.Open(context.Background(), "recorder+seed=7:gfx90a", runtime.WithQueueSize(3)); err == nil || !d.closed {
		t.Errorf("wrong option: %v, device closed: %v", err, d.closed)
	}
}
