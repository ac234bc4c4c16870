package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help tells where the script goes.
func (completionCmd) Help() string {
	return `bash: source <(gfxrt completion bash)
zsh: gfxrt completion zsh >"${fpath[1]}/_gfxrt"
fish: gfxrt completion fish >~/.config/fish/completions/gfxrt.fish`
}

// Run writes the script from the parser's own model, so that it cannot
// disagree with what is accepted.
func (c *completionCmd) Run(e *env, k *kong.Kong) error {
	switch c.Shell {
	case "bash":
		return bashCompletion(e.stdout, k.Model.Node)
	case "zsh":
		return zshCompletion(e.stdout, k.Model.Node)
	default:
		return fishCompletion(e.stdout, k.Model.Node)
	}
}

// commands are the visible commands below n.
func commands(n *kong.Node) []*kong.Node {
	var c []*kong.Node
	for _, child := range n.Children {
		if !child.Hidden {
			c = append(c, child)
		}
	}
	return c
}

// flagsOf are the visible flags that a command takes.
func flagsOf(n *kong.Node) []*kong.Flag {
	var f []*kong.Flag
	for _, group := range n.AllFlags(true) {
		f = append(f, group...)
	}
	return f
}

// words are the fixed values of a command's positional arguments.
func words(n *kong.Node) []string {
	var w []string
	for _, p := range n.Positional {
		if p.Enum != "" {
			w = append(w, p.EnumSlice()...)
		}
	}
	return w
}

func bashCompletion(w io.Writer, root *kong.Node) error {
	var b strings.Builder
	var names []string
	for _, c := range commands(root) {
		names = append(names, c.Name)
	}
	fmt.Fprintf(&b, `# bash completion for gfxrt
_gfxrt() {
	local cur=${COMP_WORDS[COMP_CWORD]} flags="" words=""
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W "%s --help" -- "$cur"))
		return
	fi
	case ${COMP_WORDS[1]} in
`, strings.Join(names, " "))
	for _, c := range commands(root) {
		var flags []string
		for _, f := range flagsOf(c) {
			flags = append(flags, "--"+f.Name)
		}
		fmt.Fprintf(&b, "\t%s) flags=%q words=%q ;;\n", c.Name, strings.Join(flags, " "), strings.Join(words(c), " "))
	}
	b.WriteString(`	esac
	if [ "${cur#-}" != "$cur" ]; then
		COMPREPLY=($(compgen -W "$flags" -- "$cur"))
	elif [ -n "$words" ]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	else
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
complete -o filenames -F _gfxrt gfxrt
`)
	_, err := io.WriteString(w, b.String())
	return err
}

// quote makes s safe between single quotes of zsh and fish, and free of what
// zsh's _arguments gives a meaning.
func quote(s string) string {
	return strings.NewReplacer("'", "’", "[", "(", "]", ")", ":", " ", "\\", "/", "\n", " ").Replace(s)
}

func zshCompletion(w io.Writer, root *kong.Node) error {
	var b strings.Builder
	b.WriteString("#compdef gfxrt\n_gfxrt() {\n\tlocal -a commands\n\tcommands=(\n")
	for _, c := range commands(root) {
		fmt.Fprintf(&b, "\t\t'%s:%s'\n", c.Name, quote(c.Help))
	}
	b.WriteString("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase ${words[2]} in\n")
	for _, c := range commands(root) {
		fmt.Fprintf(&b, "\t%s)\n\t\t_arguments", c.Name)
		for _, f := range flagsOf(c) {
			if f.IsBool() {
				fmt.Fprintf(&b, " \\\n\t\t\t'--%s[%s]'", f.Name, quote(f.Help))
			} else {
				fmt.Fprintf(&b, " \\\n\t\t\t'*--%s=[%s]:value:_files'", f.Name, quote(f.Help))
			}
		}
		if v := words(c); v != nil {
			fmt.Fprintf(&b, " \\\n\t\t\t'*:argument:(%s)'", strings.Join(v, " "))
		} else {
			b.WriteString(" \\\n\t\t\t'*:file:_files'")
		}
		b.WriteString("\n\t\t;;\n")
	}
	b.WriteString("\tesac\n}\n_gfxrt \"$@\"\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func fishCompletion(w io.Writer, root *kong.Node) error {
	var b strings.Builder
	b.WriteString("# fish completion for gfxrt\n")
	for _, c := range commands(root) {
		fmt.Fprintf(&b, "complete -c gfxrt -n __fish_use_subcommand -f -a %s -d '%s'\n", c.Name, quote(c.Help))
	}
	for _, c := range commands(root) {
		seen := fmt.Sprintf("-n '__fish_seen_subcommand_from %s'", c.Name)
		for _, f := range flagsOf(c) {
			value := ""
			if !f.IsBool() {
				value = " -r"
			}
			fmt.Fprintf(&b, "complete -c gfxrt %s -l %s%s -d '%s'\n", seen, f.Name, value, quote(f.Help))
		}
		if v := words(c); v != nil {
			fmt.Fprintf(&b, "complete -c gfxrt %s -f -a '%s'\n", seen, strings.Join(v, " "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
