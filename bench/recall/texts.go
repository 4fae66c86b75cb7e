package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

// texts are the vocabularies and cases of both halves. Nothing of one is in the other.
//
//	slot NAME = a | b | c      what {NAME} may stand for; {NAME2} is another of them, [a|b] is either
//	slot NAME = a ~ b ~ c | …  with the forms of {NAME'} and {NAME''}
//	when TEXT = N              a day as it is said N days later; also dow (of last week), weekend
//	aside, react, open, close, photo, head, tip, tail, filler, dunno WHO = a | b     what else is said
//	mention SLOT = a / b       two lines about a thing that say nothing of it
//	chat                       what follows is talk about nothing
//	case KIND                  one kind of question, with what is said first:
//	> WHO text                 a message; A and B are two people, U a person and M an assistant
//	> WHO* text                evidence; *+ says more besides, *~ means nothing without what was said before
//	> WHO @photo* caption      a photo; also @page and @ack, an assistant's answers
//	--                         what follows is said on another day
//	chatter U = a | b          what somebody says besides while asking
//	ask text                   the question; A's name is {A}, {day} and {month} are those of the evidence
//
//go:embed texts/*.txt
var texts embed.FS

// lexicon is one of the texts, read.
type lexicon struct {
	chinese  bool
	slots    map[string][]string
	said     map[string][]string // "aside A", "tip M" …
	whens    []when
	mentions []mention
	chats    []*caseText
	cases    []*caseText
}

// when is a way to say on which day something was.
type when struct{ text, back string }

// mention is a pair of lines about what a slot stands for.
type mention struct{ slot, asks, says string }

// caseText is how one kind of fact is said and asked for.
type caseText struct {
	kind   string
	pair   bool // two people talk
	blocks [][]line
	asks   []string
}

// line is a message of a case.
type line struct {
	who, text            string
	evidence, more, bare bool // more is said besides; bare means nothing by itself
	photo                bool
}

// readLexicon reads a lexicon. Further names add to it, and the cases are those of the last.
func readLexicon(names ...string) (*lexicon, error) {
	lex := &lexicon{chinese: strings.HasSuffix(names[0], ".zh"), slots: map[string][]string{}, said: map[string][]string{}}
	for _, name := range names {
		raw, err := texts.ReadFile("texts/" + name + ".txt")
		if err != nil {
			return nil, err
		}
		lex.cases = nil
		var c *caseText
		for i, l := range strings.Split(string(raw), "\n") {
			if l == "" || l[0] == '#' {
				continue
			}
			if c, err = lex.readLine(c, l); err != nil {
				return nil, fmt.Errorf("%s, line %d: %w", name, i+1, err)
			}
		}
		for _, c := range lex.cases {
			if c.evidenceForm() == "" || len(c.asks) == 0 {
				return nil, fmt.Errorf("%s: a case has no evidence or no question: %s", name, c.blocks[0][0].text)
			}
		}
	}
	return lex, nil
}

// readLine takes in one line; c is the case that it may belong to, and so is the result.
func (lex *lexicon) readLine(c *caseText, l string) (*caseText, error) {
	word, rest, _ := strings.Cut(l, " ")
	name, value, named := strings.Cut(rest, " = ")
	switch {
	case word == "case", word == "chat":
		c = &caseText{kind: rest, blocks: [][]line{nil}}
		if word == "case" {
			lex.cases = append(lex.cases, c)
		} else {
			lex.chats = append(lex.chats, c)
		}
	case word == "--" && c != nil:
		c.blocks = append(c.blocks, nil)
	case word == ">" && c != nil:
		l := readLine(rest)
		c.pair = l.who == "A" || l.who == "B"
		c.blocks[len(c.blocks)-1] = append(c.blocks[len(c.blocks)-1], l)
	case word == "ask" && c != nil:
		c.asks = append(c.asks, rest)
	case word == "slot" && named:
		lex.slots[name] = strings.Split(value, " | ")
	case word == "when" && named:
		lex.whens = append(lex.whens, when{name, value})
	case word == "mention" && named:
		asks, says, _ := strings.Cut(value, " / ")
		lex.mentions = append(lex.mentions, mention{name, asks, says})
	case named:
		lex.said[word+" "+name] = append(lex.said[word+" "+name], strings.Split(value, " | ")...)
	default:
		return c, fmt.Errorf("what is %q?", l)
	}
	return c, nil
}

func readLine(s string) line {
	who, text, _ := strings.Cut(s, " ")
	l := line{who: who[:1], text: text, evidence: strings.Contains(who, "*"), more: strings.Contains(who, "+"),
		bare: strings.Contains(who, "~")}
	if caption, ok := strings.CutPrefix(text, "@photo"); ok {
		l.photo = true
		l.evidence = strings.HasPrefix(caption, "*")
		l.text = strings.TrimLeft(caption, "* ")
	}
	return l
}

// evidenceForm says in what form the evidence of a case stands.
func (c *caseText) evidenceForm() string {
	var all []line
	for _, b := range c.blocks {
		for _, l := range b {
			if l.evidence {
				all = append(all, l)
			}
		}
	}
	switch {
	case len(all) == 0:
		return ""
	case len(all) > 1:
		return "several sessions"
	case all[0].photo:
		return "photo"
	case all[0].bare:
		return "reply"
	case all[0].who == "M":
		return "assistant's page"
	case all[0].more:
		return "long message"
	}
	return "statement"
}

// slotsOf lists the slots of a text, as they are named there, without names and times.
func slotsOf(text string) []string {
	var out []string
	for _, piece := range strings.Split(text, "{")[1:] {
		name, _, _ := strings.Cut(piece, "}")
		name, _ = formOf(name)
		switch name {
		case "A", "B", "ago", "Ago", "agoday", "Agoday", "day", "month", "nextmonth":
		default:
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// slotBase returns a slot's name without the number that tells two of them apart. A name that is
// a slot of its own stays whole.
func (lex *lexicon) slotBase(name string) string {
	if lex.slots[name] != nil {
		return name
	}
	return strings.TrimRight(name, "0123456789")
}
