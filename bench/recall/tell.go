package main

import (
	"slices"
	"sort"
	"strings"
	"time"
)

// tellBlocks puts the blocks of a case into sessions, in their order; the question is nil for a
// fact that nobody asks for.
func (m *maker) tellBlocks(s *scene, c *caseText, who int, q *question) {
	at := m.rng.Perm(len(m.sessions))[:len(c.blocks)]
	sort.Ints(at)
	var day time.Time
	for i, b := range c.blocks {
		in := m.sessions[at[i]]
		s.at = in.at
		s.day = in.at
		x := m.tellExchange(s, b, who, q)
		if able := m.listMentions(s); len(able) > 0 && m.isChance(leadShare) {
			if lead := m.tellMention(s, able[m.rng.IntN(len(able))], in); m.isChance(0.6) {
				x = slices.Concat(lead, x)
			} else {
				x = slices.Concat(x, lead)
			}
		}
		in.exchanges = append(in.exchanges, x)
		if day.IsZero() && slices.ContainsFunc(b, func(l line) bool { return l.evidence }) {
			day = s.day
		}
	}
	if q == nil {
		return
	}
	s.day = day
	ask := m.pickOne(c.asks)
	if strings.Contains(ask, "''") && m.isChance(0.5) { // other words are the exception
		ask = strings.ReplaceAll(ask, "''", "'")
	}
	q.text = m.tellLine(s, ask)
	if !m.pair && m.isChance(echoShare) && at[0] > 0 && !strings.Contains(ask, "{day}") {
		in := m.sessions[m.rng.IntN(at[0])]
		in.exchanges = append(in.exchanges, []spoken{m.makeMessage("U", q.text),
			m.makeMessage("M", m.tellLine(s, m.pickOne(s.lex.said["dunno M"])))})
	}
	q.text = m.asChinese(s.lex, q)
}

// tellExchange says the lines of a block, and what follows them.
func (m *maker) tellExchange(s *scene, b []line, who int, q *question) []spoken {
	var out []spoken
	for _, l := range b {
		out = append(out, m.speakLine(s, l, who, q))
	}
	switch last := b[len(b)-1]; {
	case last.who == "U":
		out = append(out, m.makeMessage("M", m.makePage(s, "")))
	case last.who == "A" && m.pair && m.isChance(0.6):
		l := line{who: "B", text: m.pickOne(s.lex.said["react A"])}
		turned := *s
		turned.a = s.b
		turned.b = s.a
		out = append(out, m.makeMessage(m.sideOf(l, who), m.tellLine(&turned, l.text)))
	}
	return out
}

// sideOf returns the speaker of a line: 0 or 1 for two people, U or M for the others.
func (m *maker) sideOf(l line, who int) string {
	if !m.pair {
		return l.who
	}
	if (l.who == "A") == (who == 0) {
		return "0"
	}
	return "1"
}

// speakLine says a line.
func (m *maker) speakLine(s *scene, l line, who int, q *question) spoken {
	switch l.text {
	case "@page":
		return m.makeMessage("M", m.makePage(s, ""))
	case "@ack":
		return m.makeMessage("M", m.tellLine(s, m.pickOne(s.lex.said["filler M"])))
	}
	text := m.tellLine(s, l.text)
	sentence := text
	switch {
	case l.photo:
		p := m.makeMessage(m.sideOf(l, who), m.tellLine(s, m.pickOne(s.lex.said["photo A"])))
		if p.photo = text; m.isChance(captionShare) {
			p.photo = ""
			p.text = p.text + " [" + text + "]"
		}
		if l.evidence && q != nil {
			p.sentence = sentence
			p.of = q
		}
		return p
	case l.who == "M" && l.more:
		text = m.makePage(s, text)
	case l.more:
		for range 1 + m.rng.IntN(3) {
			text = m.addAround(s, text, "aside U")
		}
	case m.pair && !l.bare && m.isChance(asideShare):
		text = m.addAround(s, text, "aside A")
	}
	if m.pair && m.isChance(callShare) {
		text = m.nameListener(s, text, m.names['1'-m.sideOf(l, who)[0]], l.evidence)
	}
	out := m.makeMessage(m.sideOf(l, who), text)
	if l.evidence && q != nil {
		out.sentence = sentence
		out.of = q
	}
	return out
}

// nameListener returns a text that says the name of whom it is for, at its beginning or, unless the text
// must stay whole, at its end.
func (m *maker) nameListener(s *scene, text, name string, whole bool) string {
	comma := ", "
	if s.lex.chinese {
		comma = "，"
	}
	if m.rng.IntN(2) == 0 || whole {
		return name + comma + text
	}
	return strings.TrimRight(text, ".。") + comma + name + text[len(strings.TrimRight(text, ".。")):]
}

// addAround says something else before or after a text.
func (m *maker) addAround(s *scene, text, what string) string {
	other := *s
	other.filler = true
	other.fill = map[string]string{}
	more := m.tellLine(&other, m.pickOne(s.lex.said[what]))
	space := " "
	if s.lex.chinese {
		space = ""
	}
	if m.rng.IntN(2) == 0 {
		return text + space + more
	}
	return more + space + text
}

// makeMessage returns what a side says.
func (m *maker) makeMessage(side, text string) spoken {
	out := spoken{said: said{role: "user", text: text}}
	switch side {
	case "0", "1":
		out.name = m.names[side[0]-'0']
		if side == "1" {
			out.role = "assistant"
		}
	case "M":
		out.role = "assistant"
	}
	return out
}
