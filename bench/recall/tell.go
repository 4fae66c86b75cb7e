package main

import (
	"slices"
	"sort"
	"strings"
	"time"
)

// tell puts the blocks of a case into sessions, in their order; the question is nil for a
// fact that nobody asks for.
func (m *maker) tell(s *scene, c *caseText, who int, q *question) {
	at := m.rng.Perm(len(m.sessions))[:len(c.blocks)]
	sort.Ints(at)
	var day time.Time
	for i, b := range c.blocks {
		in := m.sessions[at[i]]
		s.at = in.at
		s.day = in.at
		x := m.exchange(s, b, who, q)
		if able := m.mentions(s); len(able) > 0 && m.chance(leadShare) {
			if lead := m.mentioned(s, able[m.rng.IntN(len(able))], in); m.chance(0.6) {
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
	ask := m.pick(c.asks)
	if strings.Contains(ask, "''") && m.chance(0.5) { // other words are the exception
		ask = strings.ReplaceAll(ask, "''", "'")
	}
	q.text = m.say(s, ask)
	if !m.pair && m.chance(echoShare) && at[0] > 0 && !strings.Contains(ask, "{day}") {
		in := m.sessions[m.rng.IntN(at[0])]
		in.exchanges = append(in.exchanges, []spoken{m.message("U", q.text),
			m.message("M", m.say(s, m.pick(s.lex.said["dunno M"])))})
	}
	q.text = m.asChinese(s.lex, q)
}

// exchange says the lines of a block, and what follows them.
func (m *maker) exchange(s *scene, b []line, who int, q *question) []spoken {
	var out []spoken
	for _, l := range b {
		out = append(out, m.spoken(s, l, who, q))
	}
	switch last := b[len(b)-1]; {
	case last.who == "U":
		out = append(out, m.message("M", m.page(s, "")))
	case last.who == "A" && m.pair && m.chance(0.6):
		l := line{who: "B", text: m.pick(s.lex.said["react A"])}
		turned := *s
		turned.a = s.b
		turned.b = s.a
		out = append(out, m.message(m.sideOf(l, who), m.say(&turned, l.text)))
	}
	return out
}

// sideOf is the speaker of a line: 0 or 1 for two people, U or M for the others.
func (m *maker) sideOf(l line, who int) string {
	if !m.pair {
		return l.who
	}
	if (l.who == "A") == (who == 0) {
		return "0"
	}
	return "1"
}

// spoken says a line.
func (m *maker) spoken(s *scene, l line, who int, q *question) spoken {
	switch l.text {
	case "@page":
		return m.message("M", m.page(s, ""))
	case "@ack":
		return m.message("M", m.say(s, m.pick(s.lex.said["filler M"])))
	}
	text := m.say(s, l.text)
	sentence := text
	switch {
	case l.photo:
		p := m.message(m.sideOf(l, who), m.say(s, m.pick(s.lex.said["photo A"])))
		if p.photo = text; m.chance(captionShare) {
			p.photo = ""
			p.text = p.text + " [" + text + "]"
		}
		if l.evidence && q != nil {
			p.sentence = sentence
			p.of = q
		}
		return p
	case l.who == "M" && l.more:
		text = m.page(s, text)
	case l.more:
		for range 1 + m.rng.IntN(3) {
			text = m.beside(s, text, "aside U")
		}
	case m.pair && !l.bare && m.chance(asideShare):
		text = m.beside(s, text, "aside A")
	}
	if m.pair && m.chance(callShare) {
		text = m.calling(s, text, m.names['1'-m.sideOf(l, who)[0]], l.evidence)
	}
	out := m.message(m.sideOf(l, who), text)
	if l.evidence && q != nil {
		out.sentence = sentence
		out.of = q
	}
	return out
}

// calling is a text that says the name of whom it is for, at its beginning or, unless the text
// must stay whole, at its end.
func (m *maker) calling(s *scene, text, name string, whole bool) string {
	comma := ", "
	if s.lex.chinese {
		comma = "，"
	}
	if m.rng.IntN(2) == 0 || whole {
		return name + comma + text
	}
	return strings.TrimRight(text, ".。") + comma + name + text[len(strings.TrimRight(text, ".。")):]
}

// beside says something else before or after a text.
func (m *maker) beside(s *scene, text, what string) string {
	other := *s
	other.filler = true
	other.fill = map[string]string{}
	more := m.say(&other, m.pick(s.lex.said[what]))
	space := " "
	if s.lex.chinese {
		space = ""
	}
	if m.rng.IntN(2) == 0 {
		return text + space + more
	}
	return more + space + text
}

// message is what a side says.
func (m *maker) message(side, text string) spoken {
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
