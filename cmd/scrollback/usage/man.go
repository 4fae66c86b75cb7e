package usage

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/scrollback-ai/scrollback/cmd/scrollback/line"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Man writes the manual page, in the language of man(7).
func (p Page) Man(root *line.Node, version, date string) error {
	fmt.Fprintf(p.W, ".TH SCROLLBACK 1 \"%s\" \"%s\" \"User Commands\"\n.ad l\n", date, roff(version))
	p.section(i18n.ManName)
	fmt.Fprintf(p.W, "scrollback \\- %s\n", roff(p.say(i18n.ManPurpose)))
	p.section(i18n.ManSynopsis)
	fmt.Fprint(p.W, ".B scrollback\n.I COMMAND\n[\\-\\-flags]\n")
	p.section(i18n.ManDescription)
	fmt.Fprintf(p.W, "%s\n", roff(strings.ReplaceAll(p.say(i18n.HelpAbout), "\n", " ")))
	p.section(i18n.ManCommands)
	for _, n := range root.Leaves(true) {
		fmt.Fprintf(p.W, ".SS %s\n%s\n", roff(strings.TrimSuffix(strings.TrimPrefix(synopsis(n), "scrollback "),
			" [--flags]")), roff(n.Help))
		p.terms(arguments(n))
		p.terms(flags(n.Flags))
	}
	p.section(i18n.ManOptions)
	fmt.Fprintf(p.W, "%s\n", roff(p.heading(i18n.HelpGlobalFlags)))
	p.terms(flags(root.Flags))
	p.section(i18n.ManEnvironment)
	p.terms(p.variables())
	p.section(i18n.ManExitStatus)
	p.terms([][2]string{{"0", p.say(i18n.ExitDone)}, {"1", p.say(i18n.ExitRefused)}, {"2", p.say(i18n.ExitWrongUsage)},
		{"3", p.say(i18n.ExitNotFound)}, {"4", p.say(i18n.ExitConflict)}, {"5", p.say(i18n.ExitOverBudget)},
		{"6", p.say(i18n.ExitUnavailable)}, {"130", p.say(i18n.ExitInterrupted)}})
	p.section(i18n.ManExamples)
	fmt.Fprint(p.W, ".nf\n")
	for _, g := range Groups {
		for _, e := range g.Commands {
			fmt.Fprintln(p.W, roff(e.Line))
		}
	}
	_, err := fmt.Fprint(p.W, ".fi\n")
	return err
}

// section begins a section. Its name is in the language of the page, and without places to break it:
// programs that list manual pages look for some of these names.
func (p Page) section(name i18n.ID) { fmt.Fprintf(p.W, ".SH %s\n", p.say(name)) }

func (p Page) terms(rows [][2]string) {
	for _, r := range rows {
		fmt.Fprintf(p.W, ".TP\n.B %s\n%s\n", roff(r[0]), roff(r[1]))
	}
}

// roff returns a text that troff sets as it is.
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
