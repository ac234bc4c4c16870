package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// writeInspect prints a file the way a person wants to read it.
func writeInspect(w io.Writer, d *fileDoc) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %d bytes\n", d.File, d.Container, d.Bytes)
	for i := range d.Entries {
		e := &d.Entries[i]
		if e.ID != "" {
			fmt.Fprintf(&b, "\nentry %s, %d bytes", e.ID, e.Bytes)
			if d.Entries[len(d.Entries)-1].Bundle > 0 {
				fmt.Fprintf(&b, ", bundle %d", e.Bundle)
			}
			b.WriteString("\n")
		}
		if e.Error != "" {
			fmt.Fprintf(&b, "  %s\n", e.Error)
		}
		if e.Object != nil {
			writeObject(&b, e.Object)
		}
	}
	_, err := io.WriteString(w, printable(b.String()))
	return err
}

func writeObject(b *strings.Builder, o *objectDoc) {
	fmt.Fprintf(b, "target %s, code object V%d", o.Target, o.Version)
	if o.Generic != 0 {
		fmt.Fprintf(b, ", generic version %d", o.Generic)
	}
	fmt.Fprintf(b, ", image %d bytes\n", o.ImageSize)
	if len(o.Needs) > 0 {
		fmt.Fprintf(b, "needs %s\n", strings.Join(o.Needs, ", "))
	}
	for i := range o.Kernels {
		writeKernel(b, &o.Kernels[i])
	}
	if len(o.Globals) > 0 {
		b.WriteString("\nvariables\n")
		var rows []string
		for _, g := range o.Globals {
			managed := ""
			if g.Managed {
				managed = "managed"
			}
			rows = append(rows, fmt.Sprintf("  %s\t%#x\t%d bytes\t%s", g.Name, g.Address, g.Bytes, managed))
		}
		writeTable(b, rows)
	}
	if len(o.Printf) > 0 {
		b.WriteString("\nprintf formats\n")
		for _, p := range o.Printf {
			id := fmt.Sprint(p.ID)
			if p.Hash != "" {
				id = p.Hash
			}
			fmt.Fprintf(b, "  %s  %q", id, p.Format)
			if len(p.Sizes) > 0 {
				fmt.Fprintf(b, "  argument bytes %v", p.Sizes)
			}
			b.WriteString("\n")
		}
	}
	if len(o.Undefined) > 0 {
		fmt.Fprintf(b, "\nundefined symbols\n  %s\n", strings.Join(o.Undefined, "\n  "))
	}
}

func writeKernel(b *strings.Builder, k *kernelDoc) {
	fmt.Fprintf(b, "\nkernel %s", k.Name)
	if k.Kind != "" && k.Kind != "normal" {
		fmt.Fprintf(b, " (%s)", k.Kind)
	}
	if k.NoMetadata {
		b.WriteString(" (no metadata)")
	}
	b.WriteString("\n")
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "  %-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	registers := fmt.Sprintf("VGPRs %d, AGPRs %d, SGPRs %d", k.VGPRs, k.AGPRs, k.SGPRs)
	if k.VGPRSpills+k.SGPRSpills > 0 {
		registers += fmt.Sprintf(", spilled VGPRs %d, SGPRs %d", k.VGPRSpills, k.SGPRSpills)
	}
	line("registers", "%s", registers)
	scratch := fmt.Sprintf("%d bytes a work-item", k.Scratch)
	if k.DynamicStack {
		scratch += " and a stack"
	}
	line("LDS", "%d bytes", k.LDS)
	line("scratch", "%s", scratch)
	group := fmt.Sprintf("at most %d work-items", k.MaxGroup)
	if k.Required != nil {
		group = fmt.Sprintf("exactly %d x %d x %d work-items", k.Required[0], k.Required[1], k.Required[2])
	}
	line("group", "%s, wavefront size %d", group, k.Wavefront)
	line("kernarg", "%d bytes, alignment %d", k.Kernarg, k.KernargAlign)
	if len(k.Needs) > 0 {
		line("needs", "%s", strings.Join(k.Needs, ", "))
	}
	line("code", "%#x, descriptor %#x", k.Entry, k.Descriptor)
	writeArgs(b, "arguments", k.Args)
	writeArgs(b, "hidden arguments", k.Hidden)
}

func writeArgs(b *strings.Builder, title string, args []argDoc) {
	if len(args) == 0 {
		return
	}
	fmt.Fprintf(b, "  %s\n", title)
	var rows []string
	for i, a := range args {
		kind := a.Kind
		for _, more := range []string{a.Space, a.Access} {
			if more != "" {
				kind += " " + more
			}
		}
		rows = append(rows, fmt.Sprintf("    %d\toffset %d\tsize %d\t%s\t%s\t%s", i, a.Offset, a.Size, kind, a.Type, a.Name))
	}
	writeTable(b, rows)
}

// writeTable aligns the cells of rows, which tabs separate.
func writeTable(b *strings.Builder, rows []string) {
	var aligned strings.Builder
	t := tabwriter.NewWriter(&aligned, 0, 1, 2, ' ', 0)
	io.WriteString(t, strings.Join(rows, "\n")+"\n") // both into memory: cannot fail
	t.Flush()
	for line := range strings.Lines(aligned.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}
