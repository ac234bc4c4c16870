package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"gfxrt/cmd/gfxrt/workloads"
)

// TestBenchWrongOutput: a difference from the oracle is told, stands in the
// row, and ends with 1 after all rows.
func TestBenchWrongOutput(t *testing.T) {
	wrong := *workloads.Named("reduce_lds")
	wrong.Prepare = func() *workloads.Problem {
		p := workloads.Named("reduce_lds").Prepare()
		p.Buffers[0].Data[12345] ^= 4 // after this the oracle and the device see different inputs
		check := p.Check
		p.Check = func(out []byte) error {
			p.Buffers[0].Data[12345] ^= 4
			return check(out)
		}
		return p
	}
	var stdout, stderr bytes.Buffer
	e := &env{ctx: context.Background(), stdout: &stdout, stderr: &stderr}
	err := (&benchCmd{JSON: true}).measure(e, []*workloads.Workload{&wrong, workloads.Named("sha256")})
	if !errors.Is(err, errFailed) || exitCode(err) != 1 {
		t.Errorf("measure: %v", err)
	}
	if got := stderr.String(); !strings.Contains(got, "reduce_lds on sim:gfx90a: the output is wrong: the sum is") {
		t.Errorf("stderr: %s", got)
	}
	var rows []benchRow
	if err := json.Unmarshal(stdout.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Error == "" || rows[1].Error != "" || rows[1].WaveInstructions == 0 {
		t.Errorf("rows: %+v", rows)
	}
}
