package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

// texts are the vocabularies and cases: main ones, and others that were held out
// when the ranking was made.
//
//	slot NAME = a | b | c        what {NAME} may stand for; {NAME2} is another of them
//	filler WHO = text            what is said besides; ack and dunno are lists of answers
//	case KIND                    one kind of question, with what is said first:
//	> WHO text, > WHO* text      a message; the evidence has a star
//	-- and --!                   what follows is said much later; in another month
//	ask, ask~, ask? text         the question: in the same words, in others, in none of them
//
//go:embed texts/*.txt
var texts embed.FS

// lexicon is one of the texts, read.
type lexicon struct {
	chinese bool
	held    bool
	slots   map[string][]string
	filler  map[string][]string
	cases   []*caseText
}

// caseText is how one kind of fact is said and asked for.
type caseText struct {
	kind   string
	blocks []block
	asks   []ask
	keys   []string // slots that an ask names
	links  []string // slots that join two blocks of evidence
}

// block is messages said one after the other.
type block struct {
	lines      []line
	otherMonth bool // than the evidence
}

type line struct {
	role, text string
	evidence   bool
}

// ask is a question by its wording: close, reworded or far.
type ask struct{ wording, text string }

var wordings = map[string]string{"ask": "close", "ask~": "reworded", "ask?": "far"}

func readLexicon(name string) (*lexicon, error) {
	raw, err := texts.ReadFile("texts/" + name + ".txt")
	if err != nil {
		return nil, err
	}
	lex := &lexicon{chinese: strings.HasSuffix(name, ".zh"), held: strings.HasPrefix(name, "held"), slots: map[string][]string{}, filler: map[string][]string{}}
	for i, l := range strings.Split(string(raw), "\n") {
		if l == "" || l[0] == '#' {
			continue
		}
		if err := lex.read(l); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, i+1, err)
		}
	}
	for _, c := range lex.cases {
		c.findKeys()
	}
	return lex, nil
}

// read takes in one line.
func (lex *lexicon) read(l string) error {
	word, rest, _ := strings.Cut(l, " ")
	name, values, named := strings.Cut(rest, " = ")
	switch {
	case named && word == "slot":
		lex.slots[name] = strings.Split(values, " | ")
		return nil
	case named && word == "filler":
		lex.filler[name] = append(lex.filler[name], strings.Split(values, " | ")...)
		return nil
	case word == "case":
		lex.cases = append(lex.cases, &caseText{kind: rest, blocks: []block{{}}})
		return nil
	case len(lex.cases) == 0:
		return fmt.Errorf("%q stands in no case", l)
	}
	c := lex.cases[len(lex.cases)-1]
	switch word {
	case "--", "--!":
		c.blocks = append(c.blocks, block{otherMonth: word == "--!"})
	case ">":
		who, text, _ := strings.Cut(rest, " ")
		b := &c.blocks[len(c.blocks)-1]
		b.lines = append(b.lines, line{strings.TrimSuffix(who, "*"), text, strings.HasSuffix(who, "*")})
	default:
		wording, ok := wordings[word]
		if !ok {
			return fmt.Errorf("what is %q?", word)
		}
		c.asks = append(c.asks, ask{wording, rest})
	}
	return nil
}

// findKeys says which slots tell two of a case apart.
func (c *caseText) findKeys() {
	seen := map[string]int{} // blocks of evidence that name a slot
	for _, b := range c.blocks {
		here := map[string]bool{}
		for _, l := range b.lines {
			if !l.evidence {
				continue
			}
			for _, s := range slotsOf(l.text) {
				here[s] = true
			}
		}
		for s := range here {
			if seen[s]++; seen[s] == 2 {
				c.links = append(c.links, s)
			}
		}
	}
	for _, a := range c.asks {
		for _, s := range slotsOf(a.text) {
			if s != "day" && s != "month" && !slices.Contains(c.keys, s) {
				c.keys = append(c.keys, s)
			}
		}
	}
}

// slotsOf lists the slots of a text, without what follows a colon.
func slotsOf(text string) []string {
	var out []string
	for _, piece := range strings.Split(text, "{")[1:] {
		name, _, _ := strings.Cut(piece, "}")
		name, _, _ = strings.Cut(name, ":")
		out = append(out, name)
	}
	return out
}
