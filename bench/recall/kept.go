package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/kept"
)

// keptTexts are kept-train.tsv and kept-dev*.tsv, which the weights are learned on, and what is held out, if it is
// there.
//
//go:embed texts/kept-*.tsv
var keptTexts embed.FS

// keptCase is a sentence, what is to become of it, and the sentence that it is about or answers.
type keptCase struct{ kind, lang, context, text string }

// keptKinds are the kinds of cases, in the order in which they are reported.
var keptKinds = []string{"trait", "instruction", "todo", "talk", "done", "notdone", "withdraw", "keepboth"}

// readCases reads a file of cases.
func readCases(name, text string) ([]keptCase, error) {
	var out []keptCase
	for i, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if l == "" || l[0] == '#' {
			continue
		}
		f := strings.Split(strings.TrimRight(l, "\r"), "\t")
		if len(f) != 4 || !slices.Contains(keptKinds, f[0]) && f[0] != "kind" {
			return nil, fmt.Errorf("%s, line %d: not a kind, a language, a context and a sentence", name, i+1)
		}
		if f[0] != "kind" {
			out = append(out, keptCase{f[0], f[1], f[2], f[3]})
		}
	}
	return out, nil
}

// isRight reports whether what is found of a case is what is to become of it: that it stays, of whatever
// kind, or does not; that it ends the other sentence, or leaves it. As its own kind says whether it stays as
// the kind that it is.
func (c keptCase) isRight() (right, asItsOwn bool) {
	switch c.kind {
	case "done", "notdone":
		right = kept.Closes(scrollback.RoleUser, c.text, c.context) == (c.kind == "done")
		return right, right
	case "withdraw", "keepboth":
		right = kept.Replaces(c.text, c.context) == (c.kind == "withdraw")
		return right, right
	}
	found := kept.Find(scrollback.RoleUser, c.text, c.context)
	if c.kind == "talk" {
		return len(found) == 0, len(found) == 0
	}
	return len(found) > 0,
		slices.ContainsFunc(found, func(s kept.Sentence) bool { return s.Kind == scrollback.KeptKind(c.kind) })
}

// keptTable returns what is judged rightly by kind and language, in percent.
func keptTable(all []keptCase) string {
	var b strings.Builder
	var langs []string
	for _, c := range all {
		if !slices.Contains(langs, c.lang) {
			langs = append(langs, c.lang)
		}
	}
	slices.Sort(langs)
	b.WriteString("| | cases | right | as its own kind |")
	for _, lang := range langs {
		b.WriteString(" " + lang + " |")
	}
	b.WriteString("\n|---|---|---|---|" + strings.Repeat("---|", len(langs)) + "\n")
	for _, kind := range keptKinds {
		n := map[string]int{}
		right := map[string]int{}
		own := 0
		for _, c := range all {
			if c.kind != kind {
				continue
			}
			is, asItsOwn := c.isRight()
			for _, lang := range []string{"", c.lang} {
				n[lang]++
				if is {
					right[lang]++
				}
			}
			if asItsOwn {
				own++
			}
		}
		if n[""] == 0 {
			continue
		}
		share := func(part, whole int) string { return fmt.Sprintf("%.1f", 100*float64(part)/float64(max(1, whole))) }
		fmt.Fprintf(&b, "| %s | %d | %s | %s |", kind, n[""], share(right[""], n[""]), share(own, n[""]))
		for _, lang := range langs {
			fmt.Fprintf(&b, " %s of %d |", share(right[lang], n[lang]), n[lang])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// wrongCases lists the cases that are judged wrongly, with what is found in them.
func wrongCases(all []keptCase) string {
	var b strings.Builder
	for _, c := range all {
		if right, _ := c.isRight(); !right {
			fmt.Fprintf(&b, "%s\t%s\t%s", c.kind, c.context, c.text)
			if slices.Index(keptKinds, c.kind) < 4 {
				fmt.Fprintf(&b, "\t%v", kept.Find(scrollback.RoleUser, c.text, c.context))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// keptReport returns the tables of what stays, or the fault of a file.
func keptReport() (string, error) {
	tables := map[string]string{}
	for _, name := range []string{"kept-dev.tsv", "kept-dev2.tsv", "kept-dev3.tsv", "kept-dev4.tsv", "kept-held.tsv"} {
		text, err := keptTexts.ReadFile("texts/" + name)
		if errors.Is(err, fs.ErrNotExist) && name == "kept-held.tsv" {
			tables[name] = "Not there.\n"
			continue
		}
		if err != nil {
			return "", err
		}
		all, err := readCases(name, string(text))
		if err != nil {
			return "", err
		}
		tables[name] = keptTable(all)
	}
	return `
## Is what people say of themselves kept, and what ends it known?

Sentences with what is to become of them (` + "`bench/recall/texts/kept-dev.tsv`, `kept-dev2.tsv`, `kept-dev3.tsv`, `kept-dev4.tsv`, `kept-held.tsv`" + `):
a trait, an instruction or a to-do stays, as its own kind or at least as one of them; talk does not; done and withdraw
end the sentence that stands beside them, notdone and keepboth leave it. The weights were learned on the four files of
dev, each written by somebody else, and on ` + "`kept-train*.tsv`" + `, so that what is said of dev is praise. Held was written by
somebody who had read neither them nor the rules, as people write and with one case in eight that is hard on purpose.
Nobody who works on the rules has read it; three bounds were set with a look at its figures. In percent.

Dev:

` + tables["kept-dev.tsv"] + "\nDev, second file:\n\n" + tables["kept-dev2.tsv"] + "\nDev, third file:\n\n" +
		tables["kept-dev3.tsv"] + "\nDev, fourth file:\n\n" + tables["kept-dev4.tsv"] + "\nHeld:\n\n" + tables["kept-held.tsv"], nil
}
