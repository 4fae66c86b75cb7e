package kept

import (
	"embed"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/wordtable"
)

// tables are languages whose patterns are data, a row each.
//
//go:embed rules/*.tsv
var tables embed.FS

// readTable reads the rows of a language.
func readTable(language string) []wordtable.Row {
	name := "rules/" + language + ".tsv"
	raw, err := tables.ReadFile(name)
	if err != nil {
		panic("kept: " + err.Error())
	}
	return wordtable.Read(name, string(raw))
}

// readGrammar returns a language as its table has it. Rules are in the order in which they come.
func readGrammar(language string) languageGrammar {
	var g languageGrammar
	at := map[string]int{}
	for _, r := range readTable(language) {
		switch r.Part {
		case "piece", "log":
			continue
		case "idiom":
			g.idiom = append(g.idiom, r.Pattern)
			continue
		case "veto":
			g.veto = append(g.veto, r.Pattern)
			continue
		case "once":
			g.once = append(g.once, r.Pattern)
			continue
		case "scope":
			g.scope = append(g.scope, r.Pattern)
			continue
		case "asks":
			g.asks = append(g.asks, r.Pattern)
			continue
		case "asked":
			g.asked = append(g.asked, r.Pattern)
			continue
		}
		i, known := at[r.Rule]
		if !known {
			i = len(g.rules)
			at[r.Rule] = i
			g.rules = append(g.rules, rule{name: r.Rule})
		}
		switch r.Part {
		case "cue":
			g.rules[i].cues = append(g.rules[i].cues, r.Pattern)
		case "match":
			g.rules[i].match = append(g.rules[i].match, r.Pattern)
		case "but":
			g.rules[i].but = append(g.rules[i].but, r.Pattern)
		default:
			panic("kept: " + language + ".tsv has a part " + r.Part)
		}
	}
	return g
}

// logWords are how a line of a log begins in Japanese and Korean.
func logWords() string {
	var out []string
	for _, language := range []string{"japanese", "korean"} {
		for _, r := range readTable(language) {
			if r.Part == "log" {
				out = append(out, r.Pattern)
			}
		}
	}
	return strings.Join(out, "|")
}
