package main

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/kept"
)

//go:embed texts/standing.tsv
var sentences string

// splits of the labelled sentences: what rules are made on, what they are measured on, and
// what was written after them.
var splits = []string{"dev", "held", "late"}

// tongues of the labelled sentences.
var tongues = []string{"en", "zh-Hans", "zh-Hant", "ja", "ko"}

// labelled is a sentence and whether it is a standing instruction.
type labelled struct {
	keep        bool
	lang, split string
	text        string
}

// readSentences reads the labelled sentences, and refuses what breaks the rules at their head.
func readSentences() ([]labelled, error) {
	var out []labelled
	seen := map[string]bool{}
	for i, l := range strings.Split(sentences, "\n") {
		if l == "" || l[0] == '#' {
			continue
		}
		f := strings.Split(l, "\t")
		if len(f) != 4 || f[0] != "keep" && f[0] != "drop" || seen[f[3]] {
			return nil, fmt.Errorf("standing.tsv, line %d: not a label, a language, a split and a new sentence", i+1)
		}
		if want := splitOf(f[3]); f[2] != "late" && f[2] != want {
			return nil, fmt.Errorf("standing.tsv, line %d: the split is %s", i+1, want)
		}
		seen[f[3]] = true
		out = append(out, labelled{f[0] == "keep", f[1], f[2], f[3]})
	}
	return out, nil
}

// splitOf returns the split that a sentence belongs to, unless it is late.
func splitOf(sentence string) string {
	h := fnv.New32a()
	h.Write([]byte(sentence))
	if h.Sum32()%2 == 0 {
		return "dev"
	}
	return "held"
}

// found counts sentences by what they are and what was said of them.
type found struct{ kept, wrong, missed, dropped int }

// precisionShare returns the share of what was found that is an instruction, recall the share of the
// instructions that was found; in percent.
func (f found) precisionShare() float64 {
	return 100 * float64(f.kept) / float64(max(1, f.kept+f.wrong))
}
func (f found) recallShare() float64 { return 100 * float64(f.kept) / float64(max(1, f.kept+f.missed)) }

// stays reports whether a person's sentence is kept.
func stays(s string) bool { return len(kept.Find(scrollback.RoleUser, s, "")) > 0 }

// measureSplit judges the sentences of a split; all languages if lang is empty.
func measureSplit(all []labelled, split, lang string) found {
	var f found
	for _, s := range all {
		if s.split != split || lang != "" && s.lang != lang {
			continue
		}
		switch got := stays(s.text); {
		case got && s.keep:
			f.kept++
		case got:
			f.wrong++
		case s.keep:
			f.missed++
		default:
			f.dropped++
		}
	}
	return f
}

// wrongDev lists the sentences of dev that are judged wrongly.
func wrongDev(all []labelled) string {
	var b strings.Builder
	for _, s := range all {
		if s.split == "dev" && stays(s.text) != s.keep {
			fmt.Fprintf(&b, "%s, keep is %v: %s\n", s.lang, s.keep, s.text)
		}
	}
	return b.String()
}

// standingReport returns the table of standing instructions.
func standingReport(all []labelled) string {
	var b strings.Builder
	b.WriteString(`
## Are standing instructions found, and chatter not?

Sentences that people write to an assistant, labelled by hand; half of them only sound like instructions
(` + "`bench/recall/texts/standing.tsv`" + ` says by which rule). Rules are made on dev and measured on held. Both were written by
the author of the rules, who had them in mind, so held is kinder than life. Late are sentences that were written after
the rules, and for which no rule was changed: expect those figures. In percent.

| | dev | precision | recall | held | precision | recall | late | precision | recall |
|---|---|---|---|---|---|---|---|---|---|
`)
	for _, lang := range append([]string{""}, tongues...) {
		name := lang
		if name == "" {
			name = "all"
		}
		fmt.Fprintf(&b, "| %s |", name)
		for _, split := range splits {
			f := measureSplit(all, split, lang)
			fmt.Fprintf(&b, " %d | %.1f | %.1f |", f.kept+f.wrong+f.missed+f.dropped, f.precisionShare(), f.recallShare())
		}
		b.WriteString("\n")
	}
	return b.String()
}
