package usage

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"
)

// Man writes the manual page, in the language of man(7).
func (p Page) Man(root *kong.Node, version, date string) error {
	fmt.Fprintf(p.W, ".TH SCROLLBACK 1 \"%s\" \"%s\" \"User Commands\"\n.ad l\n", date, roff(version))
	fmt.Fprint(p.W, ".SH NAME\nscrollback \\- keep conversations with language models, and send what fits\n")
	fmt.Fprint(p.W, ".SH SYNOPSIS\n.B scrollback\n.I COMMAND\n[\\-\\-flags]\n")
	fmt.Fprintf(
		p.W,
		".SH DESCRIPTION\n%s\n",
		roff(
			strings.ReplaceAll(
				p.say(
					"scrollback keeps every conversation with a language model for ever, and sends the model\nthe best of it that fits its window. What no longer fits is compacted, never lost.",
				),
				"\n",
				" ",
			),
		),
	)
	fmt.Fprint(p.W, ".SH COMMANDS\n")
	for _, n := range root.Leaves(true) {
		fmt.Fprintf(p.W, ".SS %s\n%s\n", roff(strings.TrimSuffix(strings.TrimPrefix(synopsis(n), "scrollback "),
			" [--flags]")), roff(p.say(n.Help)))
		p.terms(arguments(n))
		p.terms(flags(n.Flags))
	}
	fmt.Fprintf(p.W, ".SH OPTIONS\n%s\n", roff(p.colon("Flags of every command, before or after its name")))
	p.terms(flags(root.Flags))
	fmt.Fprint(p.W, ".SH ENVIRONMENT\n")
	p.terms(Variables)
	fmt.Fprint(p.W, ".SH EXIT STATUS\n")
	p.terms([][2]string{{"0", "done"}, {"1", "refused, or an internal error; doctor found problems"}, {"2", "wrong usage"},
		{"3", "not found"}, {"4", "conflict"},
		{"5", "over the budget"}, {"6", "a model or a server is not available"}, {"130", "interrupted"}})
	fmt.Fprint(p.W, ".SH EXAMPLES\n.nf\n")
	for _, g := range Groups {
		for _, e := range g.Commands {
			fmt.Fprintln(p.W, roff(e.Line))
		}
	}
	_, err := fmt.Fprint(p.W, ".fi\n")
	return err
}

func (p Page) terms(rows [][2]string) {
	for _, r := range rows {
		fmt.Fprintf(p.W, ".TP\n.B %s\n%s\n", roff(r[0]), roff(p.say(r[1])))
	}
}

// roff is a text that troff sets as it is.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "…", "...", "\"", `\(dq`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
		if unicode.Is(unicode.Han, r) {
			b.WriteString(`\:`) // troff knows no other place to break it
		}
	}
	return b.String()
}
