package standing

import (
	"embed"
	"fmt"
	"strings"
)

// tables are languages whose patterns are data, a row each.
//
//go:embed rules/*.tsv
var tables embed.FS

// row is one pattern of a table: the rule that it belongs to, what it is there for, and a sentence in which
// it is found.
type row struct {
	rule, part, pattern, meaning, example string
}

// readTable reads the rows of a language. The files are part of the program, so a fault in one is a
// panic.
func readTable(language string) []row {
	raw, err := tables.ReadFile("rules/" + language + ".tsv")
	if err != nil {
		panic("standing: " + err.Error())
	}
	pieces := map[string]string{}
	var out []row
	headed := false
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 5 {
			panic(fmt.Sprintf("standing: %s.tsv has a row of %d fields: %s", language, len(f), line))
		}
		if !headed {
			headed = true
			continue
		}
		r := row{f[0], f[1], f[2], f[3], f[4]}
		for name, piece := range pieces {
			r.pattern = strings.ReplaceAll(r.pattern, "{"+name+"}", piece)
		}
		if r.part == "piece" {
			pieces[r.rule] = r.pattern
		}
		out = append(out, r)
	}
	return out
}

// readGrammar returns a language as its table has it. Rules are in the order in which they come.
func readGrammar(language string) languageGrammar {
	var g languageGrammar
	at := map[string]int{}
	for _, r := range readTable(language) {
		switch r.part {
		case "piece":
			continue
		case "idiom":
			g.idiom = append(g.idiom, r.pattern)
			continue
		case "veto":
			g.veto = append(g.veto, r.pattern)
			continue
		case "once":
			g.once = append(g.once, r.pattern)
			continue
		case "scope":
			g.scope = append(g.scope, r.pattern)
			continue
		case "asks":
			g.asks = append(g.asks, r.pattern)
			continue
		case "asked":
			g.asked = append(g.asked, r.pattern)
			continue
		}
		i, known := at[r.rule]
		if !known {
			i = len(g.rules)
			at[r.rule] = i
			g.rules = append(g.rules, rule{})
		}
		switch r.part {
		case "cue":
			g.rules[i].cues = append(g.rules[i].cues, r.pattern)
		case "match":
			g.rules[i].match = append(g.rules[i].match, r.pattern)
		case "but":
			g.rules[i].but = append(g.rules[i].but, r.pattern)
		default:
			panic("standing: " + language + ".tsv has a part " + r.part)
		}
	}
	return g
}
