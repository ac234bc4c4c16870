package elf

import (
	"errors"
	"fmt"
	"strings"
)

// SelectAll gives, of each concatenated bundle, the entry that fits the
// device best: the exact processor before the generic one, then the entry
// that names more features. A program of several translation units has one
// bundle for each.
func SelectAll(entries []BundleEntry, device Target) []BundleEntry {
	best := map[int]int{}
	var out []BundleEntry
	score := make([]int, 0, len(entries))
	for _, e := range entries {
		if !e.Device() {
			continue
		}
		t, err := ParseTarget(e.TargetID)
		if err != nil || !Compatible(t, device) {
			continue
		}
		if i, ok := best[e.Bundle]; !ok {
			best[e.Bundle] = len(out)
			out, score = append(out, e), append(score, t.specificity())
		} else if t.specificity() > score[i] {
			out[i], score[i] = e, t.specificity()
		}
	}
	return out
}

// Select gives the entry that fits the device best. It errors with ErrNoMatch
// when none does and ErrAmbiguous when several bundles have one.
func Select(entries []BundleEntry, device Target) (BundleEntry, error) {
	switch found := SelectAll(entries, device); len(found) {
	case 1:
		return found[0], nil
	case 0:
		err := ErrNoMatch
		if spirvOnly(entries) {
			err = fmt.Errorf("%w: %w: SPIR-V entries need a compiler", ErrNoMatch, ErrUnsupported)
		}
		return BundleEntry{}, fmt.Errorf("%w: want %v, have %s", err, device, describe(entries))
	default:
		return BundleEntry{}, fmt.Errorf("%w: %d bundles have code for %v", ErrAmbiguous, len(found), device)
	}
}

func spirvOnly(entries []BundleEntry) bool {
	found := false
	for _, e := range entries {
		if e.Device() {
			return false
		}
		found = found || strings.HasPrefix(e.Triple, "spirv")
	}
	return found
}

// describe lists entries for an error message.
func describe(entries []BundleEntry) string {
	var names []string
	for _, e := range entries {
		if len(names) == 16 {
			names = append(names, "…")
			break
		}
		name := e.ID
		if name == "" {
			name = e.TargetID
		}
		names = append(names, fmt.Sprintf("%.128q", name))
	}
	return strings.Join(names, ", ")
}

// Open finds the code object for a device in any container List reads and
// parses it. The zero Target takes the only device code there is. The
// object's e_flags decide finally whether it fits.
func Open(data []byte, want Target) (*CodeObject, error) {
	entries, err := List(data)
	if err != nil {
		return nil, err
	}
	var e BundleEntry
	if want.Processor != "" {
		if e, err = Select(entries, want); err != nil {
			return nil, err
		}
	} else if e, err = only(entries); err != nil {
		return nil, err
	}
	co, err := Parse(e.Data)
	if err != nil {
		if e.ID == "" {
			return nil, err
		}
		return nil, fmt.Errorf("bundle entry %.128q: %w", e.ID, err)
	}
	if want.Processor != "" && !Compatible(co.Target, want) {
		return nil, fmt.Errorf("%w: want %v, the code object is for %v", ErrNoMatch, want, co.Target)
	}
	return co, nil
}

func only(entries []BundleEntry) (BundleEntry, error) {
	var found []BundleEntry
	for _, e := range entries {
		if e.Device() {
			found = append(found, e)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return BundleEntry{}, fmt.Errorf("%w: name a target of %s", ErrAmbiguous, describe(found))
	case spirvOnly(entries):
		return BundleEntry{}, fmt.Errorf("%w: SPIR-V entries need a compiler", ErrUnsupported)
	}
	return BundleEntry{}, errors.Join(ErrNoMatch, fmt.Errorf("have only %s", describe(entries)))
}
