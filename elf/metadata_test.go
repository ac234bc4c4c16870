package elf_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tinylib/msgp/msgp"

	"gfxrt/elf"
)

// object is MessagePack under construction: pairs of keys and values.
type object []any

// encode writes a value; ints go out as msgp chooses, the named types below
// force a form.
func encode(b []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		b = msgp.AppendMapHeader(b, uint32(len(v)/2))
		for _, x := range v {
			b = encode(b, x)
		}
	case []any:
		b = msgp.AppendArrayHeader(b, uint32(len(v)))
		for _, x := range v {
			b = encode(b, x)
		}
	case string:
		b = msgp.AppendString(b, v)
	case int:
		b = msgp.AppendInt(b, v)
	case bool:
		b = msgp.AppendBool(b, v)
	case float64:
		b = msgp.AppendFloat64(b, v)
	case nil:
		b = msgp.AppendNil(b)
	case raw:
		b = append(b, v...)
	}
	return b
}

// raw is MessagePack given byte by byte.
type raw string

// set replaces or adds a key; nil removes it.
func (o object) set(key string, v any) object {
	o = slices.Clone(o)
	for i := 0; i < len(o); i += 2 {
		if o[i] == key {
			if v == nil {
				return slices.Delete(o, i, i+2)
			}
			o[i+1] = v
			return o
		}
	}
	return append(o, key, v)
}

func goodKernel() object {
	return object{".name", "add", ".symbol", "add.kd", ".kernarg_segment_size", 280, ".kernarg_segment_align", 8,
		".group_segment_fixed_size", 0, ".private_segment_fixed_size", 0, ".wavefront_size", 64, ".sgpr_count", 16,
		".vgpr_count", 8, ".max_flat_workgroup_size", 256}
}

func arg(offset, size int, kind string) object {
	return object{".offset", offset, ".size", size, ".value_kind", kind}
}

// withMetadata puts a metadata note at the end of v6.hsaco.
func withMetadata(t testing.TB, metadata []byte) []byte {
	b := testdata(t, "v6.hsaco")
	at := len(b)
	b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, 7), uint32(len(metadata))), 32)
	b = append(append(b, "AMDGPU\x00\x00"...), metadata...)
	for p := b[64:]; ; p = p[56:] {
		if le.Uint32(p) == 4 {
			le.PutUint64(p[8:], uint64(at))
			le.PutUint64(p[32:], uint64(len(b)-at))
			return b
		}
	}
}

func kernelFile(t testing.TB, kernels ...any) []byte {
	return withMetadata(t, encode(nil, object{"amdhsa.version", []any{1, 2}, "amdhsa.kernels", kernels}))
}

// TestMetadataForms accepts what other producers may write.
func TestMetadataForms(t *testing.T) {
	k := goodKernel().
		set(".kernarg_segment_size", raw("\xcf\x00\x00\x00\x00\x00\x00\x01\x18")).  // 280 as uint64
		set(".kernarg_segment_align", raw("\xd3\x00\x00\x00\x00\x00\x00\x00\x08")). // 8 as int64
		set(".wavefront_size", raw("\xd0\x40")).                                    // 64 as int8
		set(".uses_dynamic_stack", 1).set(".uniform_work_group_size", true).
		set(".reqd_workgroup_size", []any{64, 2, 1}).set(".cluster_dims", []any{2, 1, 1}).
		set(".max_num_workgroups_x", 7).set(".max_num_work_groups_y", 9).
		set(".future_key", object{"a", []any{1.5, nil, object{"b", raw("\xc4\x01x")}}, 7, raw("\xc7\x01\x05z")}).
		set(".args", []any{arg(0, 8, "global_buffer"), arg(16, 4, "by_value"), arg(24, 4, "hidden_block_count_x"),
			arg(32, 8, "hidden_none"), arg(32, 8, "hidden_from_the_future"), arg(40, 3, "from_the_future")})
	co, err := elf.Parse(kernelFile(t, k))
	if err != nil {
		t.Fatal(err)
	}
	got := co.Kernels[0]
	if got.KernargSize != 280 || got.KernargAlign != 8 || got.WavefrontSize != 64 || !got.UsesDynamicStack || !got.UniformGroupSize ||
		got.RequiredGroupSize != [3]uint32{64, 2, 1} || got.ClusterDims != [3]uint32{2, 1, 1} || got.MaxGroups != [3]uint32{7, 9, 0} || got.Kind != "normal" {
		t.Errorf("%+v", got)
	}
	var hidden []bool
	for _, a := range got.Args {
		hidden = append(hidden, a.Kind.Hidden())
	}
	if !slices.Equal(hidden, []bool{false, false, true, true, true, false}) || got.Args[4].Kind != elf.HiddenUnknown || got.Args[5].Kind != elf.ArgUnknown {
		t.Errorf("%+v", got.Args)
	}
	if got.Args[4].ValueKind != "hidden_from_the_future" {
		t.Errorf("%+v", got.Args[4])
	}
}

func TestMetadataErrors(t *testing.T) {
	deep := raw(strings.Repeat("\x91", 200000) + "\x01")
	for _, c := range []struct {
		field   string
		kernels []any
	}{
		{"amdhsa.kernels[0].wavefront_size", []any{goodKernel().set(".wavefront_size", -1)}},
		{"amdhsa.kernels[0].wavefront_size", []any{goodKernel().set(".wavefront_size", "64")}},
		{"amdhsa.kernels[0].wavefront_size", []any{goodKernel().set(".wavefront_size", 64.0)}},
		{"amdhsa.kernels[0].name", []any{goodKernel().set(".name", 7)}},
		{"amdhsa.kernels[1].name", []any{goodKernel(), goodKernel()}},
		{"amdhsa.kernels[0].symbol", []any{goodKernel().set(".symbol", "none.kd")}},
		{"amdhsa.kernels[0].kind", []any{goodKernel().set(".kind", "other")}},
		{"amdhsa.kernels[0].kernarg_segment_align", []any{goodKernel().set(".kernarg_segment_align", 3)}},
		{"kernarg_size", []any{goodKernel().set(".kernarg_segment_size", elf.MaxKernargSize+1)}},
		{"amdhsa.kernels[0].reqd_workgroup_size", []any{goodKernel().set(".reqd_workgroup_size", []any{1, 2})}},
		{"amdhsa.kernels[0].reqd_workgroup_size[3]", []any{goodKernel().set(".reqd_workgroup_size", []any{1, 2, 3, 4})}},
		{"amdhsa.kernels[0].args[1].offset", []any{goodKernel().set(".args", []any{arg(0, 8, "by_value"), arg(4, 4, "by_value")})}},
		{"amdhsa.kernels[0].args[0].offset", []any{goodKernel().set(".args", []any{arg(280, 1, "by_value")})}},
		{"amdhsa.kernels[0].args[0].offset", []any{goodKernel().set(".args", []any{arg(8, 1<<32-1, "by_value")})}},
		{"amdhsa.kernels[0].args[0].size", []any{goodKernel().set(".args", []any{arg(0, 4, "global_buffer")})}},
		{"amdhsa.kernels[0].args[0].size", []any{goodKernel().set(".args", []any{arg(0, 8, "hidden_group_size_x")})}},
		{"amdhsa.kernels[0].args[0]", []any{goodKernel().set(".args", []any{object{".offset", 0, ".size", 4}})}},
		{"amdhsa.kernels[0].args", []any{goodKernel().set(".args", raw("\xdd\xff\xff\xff\xff"))}},
		{"amdhsa.kernels[0].more", []any{goodKernel().set(".more", raw("\xdf\xff\xff\xff\xff"))}},
		{"amdhsa.kernels[0].more", []any{goodKernel().set(".more", raw("\xc1"))}},
		{"amdhsa.kernels[0].name", []any{append(goodKernel(), ".name", "again")}},
		{"amdhsa.kernels[0]", []any{append(goodKernel(), 7, 7)}},
	} {
		_, err := elf.Parse(kernelFile(t, c.kernels...))
		var fe *elf.FormatError
		if !errors.As(err, &fe) || !strings.Contains(fe.Field, c.field) || fe.Offset == 0 {
			t.Errorf("want an error about %s: %v", c.field, err)
		}
	}
	for _, key := range []string{".name", ".symbol", ".kernarg_segment_size", ".wavefront_size", ".vgpr_count"} {
		if _, err := elf.Parse(kernelFile(t, goodKernel().set(key, nil))); err == nil || !strings.Contains(err.Error(), key+" is missing") {
			t.Errorf("without %s: %v", key, err)
		}
	}
	// A deeply nested unknown value is data to skip, not a stack to exhaust.
	if _, err := elf.Parse(kernelFile(t, goodKernel().set(".deep", deep))); err != nil {
		t.Errorf("nested arrays: %v", err)
	}
	for _, m := range []any{object{}, object{"amdhsa.version", []any{2, 0}}, 7, object{"amdhsa.version", []any{1, 2}, "amdhsa.printf", []any{"x"}}} {
		if co, err := elf.Parse(withMetadata(t, encode(nil, m))); err == nil || co != nil {
			t.Errorf("%v is accepted", m)
		}
	}
}

func TestPrintfForms(t *testing.T) {
	parse := func(s string) (*elf.CodeObject, error) {
		return elf.Parse(withMetadata(t, encode(nil, object{"amdhsa.version", []any{1, 2}, "amdhsa.printf", []any{s}})))
	}
	for _, c := range []struct {
		record string
		want   elf.PrintfFormat
	}{
		{`1:2:4:8:x=%d y\72 %f\n`, elf.PrintfFormat{ID: 1, Sizes: []uint32{4, 8}, Format: "x=%d y: %f\n"}},
		{`2:0:plain: text`, elf.PrintfFormat{ID: 2, Sizes: []uint32{}, Format: "plain: text"}},
		{`7:1:4:\a\b\f\r\v`, elf.PrintfFormat{ID: 7, Sizes: []uint32{4}, Format: "\a\b\f\r\v"}},
		{"0:0:432e42b22288ba97,const %s only\n", elf.PrintfFormat{IsHash: true, Hash: 0x432e42b22288ba97, Format: "const %s only\n"}},
		{`0:0:1,raw \n, a:b`, elf.PrintfFormat{IsHash: true, Hash: 1, Format: `raw \n, a:b`}},
	} {
		co, err := parse(c.record)
		if err != nil || fmt.Sprint(co.Printf) != fmt.Sprint([]elf.PrintfFormat{c.want}) {
			t.Errorf("%q: %+v, %v", c.record, co, err)
		}
	}
	for _, bad := range []string{"", ":", "a:1:2:", "1:", "1:3:4:4:x", "1:4294967295:4", "1:1:x:y", "0:0:xyz,f", "0:0:12", "99999999999:0:x"} {
		if _, err := parse(bad); !errors.Is(err, elf.ErrInvalid) || !strings.Contains(err.Error(), "amdhsa.printf[0]") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
