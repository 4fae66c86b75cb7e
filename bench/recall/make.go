package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// talk is a made conversation, and what to ask of it.
type talk struct {
	lang      string
	said      []said
	questions []question
}

type said struct {
	role, text string
	at         time.Time
}

// question has its evidence as places in what was said, and as the sentences
// that must be read there.
type question struct {
	kind, wording, lang, text string
	evidence                  []int
	sentences                 []string
}

// A talk goes on for so long, however many messages it has.
var (
	firstDay = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	span     = 200 * 24 * time.Hour
)

const (
	doubles   = 3   // near-duplicates of each fact, with other names and numbers
	echoShare = 0.4 // of the questions were asked before, and not answered
	padShare  = 0.3 // of the messages with a fact say something else as well
	longShare = 0.1 // of the fillers are long
)

// maker makes one talk.
type maker struct {
	rng    *rand.Rand
	lexes  []*lexicon
	pieces []piece
	asked  []*asked
}

// piece is a block on its way into a talk.
type piece struct {
	at    float64 // of the span
	lines []filledLine
}

// filledLine is a line with its slots filled in. A sentence that is evidence belongs
// to a question.
type filledLine struct {
	role, text, sentence string
	of                   *asked
}

type asked struct {
	question
	lex  *lexicon
	text string // with {day} and {month} still open
}

// makeTalk makes a conversation of a size, or of as many messages as its facts take.
func makeTalk(seed uint64, lang string, lexes []*lexicon, z size) talk {
	m := &maker{rng: rand.New(rand.NewPCG(seed, uint64(z.messages))), lexes: lexes}
	for _, lex := range lexes {
		for _, c := range lex.cases {
			m.tellCase(lex, c, z.each)
		}
	}
	count := 0
	for _, p := range m.pieces {
		count += len(p.lines)
	}
	for ; count < z.messages; count += 2 {
		lex := lexes[m.rng.IntN(len(lexes))]
		m.pieces = append(m.pieces, piece{m.rng.Float64(), []filledLine{
			{role: "user", text: m.chat(lex, "user")}, {role: "assistant", text: m.chat(lex, "assistant")}}})
	}
	slices.SortStableFunc(m.pieces, func(a, b piece) int { return cmp.Compare(a.at, b.at) })
	t := talk{lang: lang}
	for _, p := range m.pieces {
		at := dateOf(p.at)
		for _, l := range p.lines {
			if l.of != nil {
				l.of.evidence = append(l.of.evidence, len(t.said))
				l.of.sentences = append(l.of.sentences, l.sentence)
			}
			t.said = append(t.said, said{l.role, l.text, at})
			at = at.Add(20 * time.Second)
		}
	}
	for _, a := range m.asked {
		q := a.question
		q.lang, q.text = lang, a.dated(m.rng, t.said[q.evidence[0]].at)
		t.questions = append(t.questions, q)
	}
	return t
}

func dateOf(at float64) time.Time { return firstDay.Add(time.Duration(at * float64(span))) }

// tellCase tells a case for each question, and others like it.
func (m *maker) tellCase(lex *lexicon, c *caseText, each int) {
	var before []map[string]string
	for i := range each * (1 + doubles) {
		fill, ok := m.fresh(lex, c, before)
		if !ok {
			return
		}
		before = append(before, fill)
		var a *asked
		if i%(1+doubles) == 0 {
			choice := c.asks[m.rng.IntN(len(c.asks))]
			a = &asked{lex: lex, text: m.fill(lex, choice.text, fill), question: question{kind: c.kind, wording: choice.wording}}
			m.asked = append(m.asked, a)
		}
		m.tell(lex, c, fill, a)
	}
}

// fresh fills the slots of a case differently from all that was told before.
func (m *maker) fresh(lex *lexicon, c *caseText, before []map[string]string) (map[string]string, bool) {
	for range 50 {
		fill := map[string]string{}
		for _, k := range slices.Concat(c.keys, c.links) {
			m.fill(lex, "{"+k+"}", fill)
		}
		if !slices.ContainsFunc(before, func(was map[string]string) bool {
			for _, k := range c.links {
				if was[k] == fill[k] {
					return true
				}
			}
			return !slices.ContainsFunc(c.keys, func(k string) bool { return was[k] != fill[k] })
		}) {
			return fill, true
		}
	}
	return nil, false
}

// tell places the blocks of a case, in their order; the question is nil for one
// that is like another.
func (m *maker) tell(lex *lexicon, c *caseText, fill map[string]string, a *asked) {
	places := make([]float64, len(c.blocks))
	for i := range places {
		places[i] = m.rng.Float64()
	}
	slices.Sort(places)
	for i := range c.blocks {
		for c.blocks[i].otherMonth && dateOf(places[i]).Month() == dateOf(places[0]).Month() {
			places[i] = m.rng.Float64()
		}
	}
	first := 1.0
	for i, b := range c.blocks {
		p := piece{at: places[i]}
		for _, l := range b.lines {
			s := filledLine{role: l.role, text: m.fill(lex, l.text, fill)}
			if l.text == "@ack" {
				s.text = m.pick(lex.filler["ack"])
			}
			if l.evidence && a != nil {
				s.sentence, s.of = s.text, a
				first = min(first, places[i])
			}
			if l.text != "@ack" && m.rng.Float64() < padShare {
				s.text = m.pad(lex, s.role, s.text)
			}
			p.lines = append(p.lines, s)
		}
		m.pieces = append(m.pieces, p)
	}
	if a != nil && c.kind != "time" && m.rng.Float64() < echoShare {
		m.pieces = append(m.pieces, piece{first * m.rng.Float64(), []filledLine{
			{role: "user", text: m.fill(lex, c.asks[0].text, fill)}, {role: "assistant", text: m.pick(lex.filler["dunno"])}}})
	}
}

func (m *maker) pick(from []string) string { return from[m.rng.IntN(len(from))] }

// pad says something else before or after a text.
func (m *maker) pad(lex *lexicon, role, text string) string {
	more := m.fill(lex, m.pick(lex.filler[role]), map[string]string{})
	if m.rng.IntN(2) == 0 {
		return text + " " + more
	}
	return more + " " + text
}

// chat is a message that holds no fact.
func (m *maker) chat(lex *lexicon, role string) string {
	n := 1 + m.rng.IntN(3)
	if m.rng.Float64() < longShare {
		n = 6 + m.rng.IntN(15)
	}
	var out []string
	for range n {
		out = append(out, m.fill(lex, m.pick(lex.filler[role]), map[string]string{}))
	}
	return strings.Join(out, " ")
}

// fill replaces the slots of a text, and notes in fill what they stand for.
func (m *maker) fill(lex *lexicon, text string, fill map[string]string) string {
	var b strings.Builder
	for i, piece := range strings.Split(text, "{") {
		if i == 0 {
			b.WriteString(piece)
			continue
		}
		name, rest, _ := strings.Cut(piece, "}")
		name, form, _ := strings.Cut(name, ":")
		if name == "day" || name == "month" { // known when the evidence has its place
			b.WriteString("{" + name + "}" + rest)
			continue
		}
		if fill[name] == "" {
			fill[name] = m.value(lex, name, fill)
		}
		b.WriteString(inForm(fill[name], form))
		b.WriteString(rest)
	}
	return b.String()
}

// value draws what a slot stands for, unlike the slots of the same kind.
func (m *maker) value(lex *lexicon, name string, fill map[string]string) string {
	base := strings.TrimRight(name, "0123456789")
	for {
		var v string
		if from := lex.slots[base]; from != nil {
			v = m.pick(from)
		} else {
			v = m.made(lex, base)
		}
		taken := false
		for other, was := range fill {
			taken = taken || was == v && strings.TrimRight(other, "0123456789") == base
		}
		if !taken {
			return v
		}
	}
}

// dated is the question with the date of its evidence.
func (a *asked) dated(rng *rand.Rand, at time.Time) string {
	days := []string{"2006-01-02", "January 2", "2 January 2006", "January 2, 2006"}
	months := []string{"January", "January 2006"}
	if a.lex.chinese {
		days = []string{"2006-01-02", "1月2日", "2006年1月2日"}
		months = []string{"1月", "2006年1月"}
	}
	return strings.NewReplacer("{day}", at.Format(days[rng.IntN(len(days))]), "{month}", at.Format(months[rng.IntN(len(months))])).Replace(a.text)
}

// made is a number or a name that is drawn, not listed.
func (m *maker) made(lex *lexicon, base string) string {
	words := identifiers[lex.held]
	a, b, c := m.pick(words), m.pick(words), m.pick(words)
	switch base {
	case "num":
		return fmt.Sprint(12 + m.rng.IntN(970))
	case "small":
		return fmt.Sprint(2 + m.rng.IntN(10))
	case "money":
		return fmt.Sprintf("%d,%03d", 2+m.rng.IntN(900), m.rng.IntN(1000))
	case "code":
		if lex.held {
			return fmt.Sprintf("%c%c%d/%d", 'A'+m.rng.IntN(26), 'A'+m.rng.IntN(26), 10+m.rng.IntN(90), 100+m.rng.IntN(900))
		}
		return fmt.Sprintf("ERR-%d", 1000+m.rng.IntN(9000))
	case "func":
		if lex.held {
			return strings.Join([]string{a, b, c}, "_")
		}
		return a + title(b) + title(c)
	case "flag":
		if lex.held {
			return a + "." + b + "=" + c
		}
		return "--" + a + "-" + b + "-" + c
	case "file":
		if lex.held {
			return strings.ToUpper(a) + ".INI"
		}
		return a + "/" + b + ".toml"
	}
	panic("bench/recall: there is no slot {" + base + "}") // a mistake in texts
}

// identifiers are the words that names in code consist of.
var identifiers = map[bool][]string{
	false: {"parse", "load", "merge", "flush", "ledger", "row", "header", "batch", "token", "limit", "retry", "slow", "page", "user", "index", "total"},
	true:  {"scan", "blend", "rinse", "weigh", "sample", "tray", "probe", "spin", "curve", "blank", "assay", "tally", "drain", "plate", "shelf", "pulse"},
}

func title(w string) string { return strings.ToUpper(w[:1]) + w[1:] }

// inForm is a value as it is asked for: a name in code as its words, apart.
func inForm(v, form string) string {
	if form != "words" {
		return v
	}
	var b strings.Builder
	for _, r := range v {
		switch {
		case r == '_':
			b.WriteByte(' ')
		case 'A' <= r && r <= 'Z':
			b.WriteString(" " + strings.ToLower(string(r)))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
