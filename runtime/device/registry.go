package device

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Opener opens the device that spec names. spec is what follows the scheme:
// for "sim+seed=7:gfx90a" the scheme is "sim", options is "seed=7" split at
// '+', and target is "gfx90a".
type Opener func(ctx context.Context, options []string, target string) (Device, error)

var (
	registryMu sync.RWMutex
	registry   = map[string]Opener{}
)

// Register makes a scheme available to Open. It panics when the scheme is
// taken: that is a mistake in the program's imports.
func Register(scheme string, o Opener) {
	registryMu.Lock()
	defer registryMu.Unlock()
	if _, dup := registry[scheme]; dup {
		panic("device: scheme " + scheme + " registered twice")
	}
	registry[scheme] = o
}

// Schemes lists the registered schemes in alphabetical order.
func Schemes() []string {
	registryMu.RLock()
	defer registryMu.RUnlock()
	var s []string
	for k := range registry {
		s = append(s, k)
	}
	slices.Sort(s)
	return s
}

// Open resolves a device string SCHEME[+OPTION…][:TARGET].
func Open(ctx context.Context, spec string) (Device, error) {
	head, target, _ := strings.Cut(spec, ":")
	parts := strings.Split(head, "+")
	registryMu.RLock()
	o := registry[parts[0]]
	registryMu.RUnlock()
	if o == nil {
		return nil, fmt.Errorf("device %q: unknown scheme %q (known: %s): %w", spec, parts[0], strings.Join(Schemes(), ", "), ErrUnsupported)
	}
	return o(ctx, parts[1:], target)
}
