package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"gfxrt/elf"
)

// maxObject bounds the files that are read as code objects.
const maxObject = 1 << 30

// readObject reads a whole file.
func readObject(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, inputError(err)
	}
	defer f.Close()
	prefix := make([]byte, elf.PrefixSize)
	n, err := io.ReadFull(f, prefix)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, inputError(err)
	}
	if prefix = prefix[:n]; !elf.Recognized(prefix) {
		// List says what is wrong with it; reading on would not help.
		_, err := elf.List(prefix)
		return nil, inputError(fmt.Errorf("%s: %w", path, err))
	}
	b, err := io.ReadAll(io.MultiReader(bytes.NewReader(prefix), io.LimitReader(f, maxObject+1)))
	if err != nil {
		return nil, inputError(err)
	}
	if len(b) > maxObject {
		return nil, inputError(fmt.Errorf("%s has more than %d bytes", path, maxObject))
	}
	return b, nil
}

// deviceFor completes a device string: without one it is the simulator, and
// without a target it is the one that data was made for (a generic target's
// lowest member).
func deviceFor(spec string, path string, data []byte) (string, error) {
	if spec == "" {
		spec = "sim"
	}
	head, target, _ := strings.Cut(spec, ":")
	scheme, _, _ := strings.Cut(head, "+")
	if target != "" || scheme != "sim" {
		return spec, nil
	}
	t, err := objectTarget(data)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return head + ":" + t, nil
}
