package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// talk is a made conversation, and what to ask of it.
type talk struct {
	form
	said      []said
	questions []question
}

// form is what a talk is like. A pair are two people with names; otherwise it is a person
// with an assistant.
type form struct {
	lang     string // en, zh or mixed
	pair     bool
	messages int
}

// said is a message. Name is that of the speaker, photo the caption of an image.
type said struct {
	role, name, text, photo string
	at                      time.Time
}

// readableText returns what can be read of a message.
func (s said) readableText() string {
	if s.photo == "" {
		return s.text
	}
	return s.text + "\n" + s.photo
}

// question has its evidence as places in what was said, and as the sentences that must
// be read there. Told is the form in which it stands, script how Chinese is written there
// and in the question.
type question struct {
	kind, told, script, text string
	asked                    string // in chatter, or two in one; empty is by itself
	evidence                 []int
	sentences                []string
}

var firstDay = time.Date(2025, 2, 3, 0, 0, 0, 0, time.UTC)

// Shares of what stands beside the facts.
const (
	asideShare   = 0.35 // of the messages of two people say something else as well
	otherShare   = 0.45 // of the facts are also told by the other person, of something else
	sameShare    = 0.4  // of the slots of these are the same
	mentionShare = 0.25 // of the facts have their things mentioned on other days
	callShare    = 0.35 // of the messages of two people say whom they are for
	leadShare    = 0.6  // of the facts are told while their things are spoken of
	mixedShare   = 0.3  // of what is spoken of may be in facts and in small talk
	echoShare    = 0.1  // of the questions to an assistant were asked before, in vain
	pairSession  = 26   // messages of a session of two people
	soloSession  = 10
	crossShare   = 0.35 // of Chinese questions are written with the other characters
	wideShare    = 0.12 // of Chinese questions and messages have full-width digits and letters
	prefixShare  = 0.3  // of the pairs have their names before each text
	buriedShare  = 0.3  // of the questions are also asked in chatter
	doubleShare  = 0.15 // and of the others, with another one
	captionShare = 0.5  // of the photos are text in brackets, the others parts
)

// maker makes one talk.
type maker struct {
	rng *rand.Rand
	form
	lexes    []*lexicon
	names    [2]string
	prefix   bool // names stand in the texts
	sessions []*session
	asked    []*question
	used     map[string]bool
	turn     uint64
	hant     bool // Chinese is said in Traditional characters
}

// session is what is said without a long pause.
type session struct {
	at        time.Time
	size      int
	exchanges [][]spoken
}

// spoken is a message on its way into a talk. A sentence that is evidence belongs to a
// question.
type spoken struct {
	said
	sentence string
	of       *question
}

// makeTalk makes a conversation of about as many messages as its form says.
func makeTalk(seed uint64, f form, lexes []*lexicon) talk {
	m := &maker{rng: newRand(seed, uint64(f.messages)), form: f, lexes: lexes, used: map[string]bool{}}
	a := m.rng.IntN(len(lexes[0].slots["name"]))
	m.names = [2]string{lexes[0].slots["name"][a], lexes[0].slots["name"][(a+1+m.rng.IntN(5))%len(lexes[0].slots["name"])]}
	m.turn = m.rng.Uint64()
	m.prefix = m.isChance(prefixShare)
	m.hant = m.isChance(0.3)
	m.planSessions()
	m.tellFacts()
	for _, s := range m.sessions {
		m.fillUp(s)
	}
	return m.finishTalk()
}

// planSessions lays out the sessions: days apart, sometimes two on a day.
func (m *maker) planSessions() {
	mean := soloSession
	if m.pair {
		mean = pairSession
	}
	for left := m.messages; left > 0; {
		n := min(left, mean/2+m.rng.IntN(mean+1))
		m.sessions = append(m.sessions, &session{size: n})
		left -= n
	}
	var gaps []float64
	sum := 0.0
	for range m.sessions {
		gaps = append(gaps, sum)
		sum += m.rng.ExpFloat64()
	}
	days := 110 + float64(m.messages)/15
	for i, s := range m.sessions {
		day := int(gaps[i] / sum * days)
		s.at = firstDay.AddDate(0, 0, day).Add(time.Duration(8+m.rng.IntN(13))*time.Hour +
			time.Duration(m.rng.IntN(60))*time.Minute)
	}
	slices.SortStableFunc(m.sessions, func(a, b *session) int { return a.at.Compare(b.at) })
}

// tellFacts tells cases of the form until there are enough questions.
func (m *maker) tellFacts() {
	type told struct {
		lex *lexicon
		c   *caseText
		end float64 // of its share, in the row of all
	}
	var all []told
	sum := 0.0
	for _, lex := range m.lexes {
		for _, c := range lex.cases {
			if c.pair == m.pair && len(c.blocks) <= len(m.sessions) {
				sum += cmp.Or(kindShare[c.kind], 1) * cmp.Or(toldShare[c.evidenceForm()], 1)
				all = append(all, told{lex, c, sum})
			}
		}
	}
	want := 5 + int(2*math.Sqrt(float64(m.messages)))
	for try := 0; len(m.asked) < want && try < 20*want; try++ {
		at := m.rng.Float64() * sum
		i := slices.IndexFunc(all, func(t told) bool { return at < t.end })
		m.tellFact(all[i].lex, all[i].c)
	}
}

// How often kinds and forms are told, against 1 for the others: what makes the talks as hard
// as real ones (see docs/RECALL.md).
var (
	kindShare = map[string]float64{"date": 0.2, "open": 0.35, "preference": 0.2, "instruction": 0.2}
	toldShare = map[string]float64{"reply": 0.3, "photo": 0.35, "several sessions": 0.35}
)

// tellFact tells a fact that is asked for, and what is like it.
func (m *maker) tellFact(lex *lexicon, c *caseText) {
	who := m.rng.IntN(2)
	s, ok := m.fillFresh(lex, c, who, nil)
	if !ok {
		return
	}
	q := &question{kind: c.kind, told: c.evidenceForm()}
	m.tellBlocks(s, c, who, q)
	m.asked = append(m.asked, q)
	if m.pair && m.isChance(otherShare) {
		same := map[string]string{}
		for _, k := range slices.Sorted(maps.Keys(s.fill)) {
			if m.isChance(sameShare) {
				same[k] = s.fill[k]
			}
		}
		if other, ok := m.fillFresh(lex, c, 1-who, same); ok {
			m.tellBlocks(other, c, 1-who, nil)
		}
	}
	for m.isChance(mentionShare) {
		m.addRemark(s)
	}
}

// fillFresh fills the slots of a case so that no other question fits, or gives up.
func (m *maker) fillFresh(lex *lexicon, c *caseText, who int, same map[string]string) (*scene, bool) {
	for range 30 {
		s := &scene{lex: lex, a: m.names[who], b: m.names[1-who], end: m.sessions[len(m.sessions)-1].at,
			fill: map[string]string{}}
		for k, v := range same {
			s.fill[k] = v
		}
		for _, a := range c.asks {
			for _, k := range slotsOf(a) {
				m.fillSlot(s, k)
			}
		}
		var marks []string
		for _, a := range c.asks {
			marks = append(marks, m.questionMark(s, c, who, a))
		}
		if !slices.ContainsFunc(marks, func(k string) bool { return m.used[k] }) {
			for _, k := range marks {
				m.used[k] = true
			}
			return s, true
		}
		same = nil
	}
	return nil, false
}

// questionMark names what a question is about: two questions with the same mark would have each
// other's answers.
func (m *maker) questionMark(s *scene, c *caseText, who int, ask string) string {
	out := []string{c.kind}
	if strings.Contains(ask, "{A}") {
		out = append(out, m.names[who])
	}
	keys := slotsOf(ask)
	slices.Sort(keys)
	for _, k := range keys {
		out = append(out, s.lex.slotBase(k)+"="+s.fill[k])
	}
	switch {
	case strings.Contains(ask, "{day}"), strings.Contains(ask, "{month}"):
		out = append(out, fmt.Sprint(m.rng.Uint64())) // the day tells them apart
	case len(keys) == 0:
		out = append(out, c.blocks[0][0].text)
	}
	return strings.Join(out, "\n")
}

// addRemark mentions something of a scene on another day, and says nothing of it.
func (m *maker) addRemark(s *scene) {
	if able := m.listMentions(s); len(able) > 0 {
		in := m.sessions[m.rng.IntN(len(m.sessions))]
		in.exchanges = append(in.exchanges, m.tellMention(s, able[m.rng.IntN(len(able))], in))
	}
}

// listMentions returns the ways to speak of what a scene is about.
func (m *maker) listMentions(s *scene) []mention {
	var able []mention
	for _, t := range s.lex.mentions {
		if s.fill[t.slot] != "" {
			able = append(able, t)
		}
	}
	return able
}

func (m *maker) tellMention(s *scene, t mention, in *session) []spoken {
	who := m.rng.IntN(2)
	about := &scene{lex: s.lex, a: m.names[who], b: m.names[1-who], at: in.at, day: in.at, filler: true,
		fill: map[string]string{}}
	if v := s.fill[t.slot]; v != "" {
		about.fill[t.slot] = v
	}
	sides := []string{"U", "M"}
	if m.pair {
		sides = []string{"01"[who : who+1], "10"[who : who+1]}
	}
	return []spoken{m.makeMessage(sides[0], m.tellLine(about, t.asks)), m.makeMessage(sides[1], m.tellLine(about, t.says))}
}

// fillUp talks about nothing until a session has its size, and mixes it with the facts.
func (m *maker) fillUp(in *session) {
	count := 0
	for _, x := range in.exchanges {
		count += len(x)
	}
	if m.pair {
		count += 2 // the first and the last
	}
	for count < in.size-1 {
		lex := m.lexes[m.rng.IntN(len(m.lexes))]
		who := m.rng.IntN(2)
		s := &scene{lex: lex, a: m.names[who], b: m.names[1-who], at: in.at, day: in.at, filler: true,
			fill: map[string]string{}}
		var x []spoken
		if m.isChance(0.25) {
			x = m.tellMention(s, lex.mentions[m.rng.IntN(len(lex.mentions))], in)
		} else if c := lex.chats[m.rng.IntN(len(lex.chats))]; c.pair == m.pair {
			x = m.tellExchange(s, c.blocks[0], who, nil)
		}
		in.exchanges = append(in.exchanges, x)
		count += len(x)
	}
	m.rng.Shuffle(len(in.exchanges),
		func(i, j int) { in.exchanges[i], in.exchanges[j] = in.exchanges[j], in.exchanges[i] })
	if !m.pair {
		return
	}
	lex := m.lexes[0]
	s := &scene{lex: lex, a: m.names[0], b: m.names[1], at: in.at, day: in.at, filler: true, fill: map[string]string{}}
	in.exchanges = slices.Insert(in.exchanges, 0,
		[]spoken{m.makeMessage("0", m.tellLine(s, m.pickOne(lex.said["open A"])))})
	in.exchanges = append(in.exchanges, []spoken{m.makeMessage("0", m.tellLine(s, m.pickOne(lex.said["close A"])))})
}

// finishTalk returns the talk, its evidence by its places.
func (m *maker) finishTalk() talk {
	t := talk{form: m.form}
	for _, in := range m.sessions {
		at := in.at
		for _, x := range in.exchanges {
			for _, p := range x {
				at = at.Add(time.Duration(10+m.rng.IntN(80)) * time.Second)
				write := m.spellMessage(p.text + p.photo)
				if m.prefix && p.name != "" {
					p.text = p.name + ": " + p.text
				}
				p.text = write(p.text)
				p.photo = write(p.photo)
				p.name = p.said.name
				p.at = at
				if p.of != nil {
					p.of.evidence = append(p.of.evidence, len(t.said))
					p.of.sentences = append(p.of.sentences, write(p.sentence))
				}
				t.said = append(t.said, p.said)
			}
		}
	}
	for _, q := range m.asked {
		t.questions = append(t.questions, *q)
	}
	t.questions = append(t.questions, m.askOtherwise(t.questions)...)
	slices.SortStableFunc(t.questions, func(a, b question) int { return cmp.Compare(a.kind, b.kind) })
	return t
}

// askOtherwise returns some questions once more: in the midst of small talk, and two in one. Lexicons
// without chatter have none.
func (m *maker) askOtherwise(all []question) []question {
	small := m.lexes[0].said["chatter U"]
	if len(small) == 0 {
		return nil
	}
	space := " "
	also := []string{" And also, ", " Also, "}
	if m.lexes[0].chinese {
		space = ""
		also = []string{"另外，", "还有，另外，"}
	}
	var out []question
	for i, q := range all {
		switch {
		case m.isChance(buriedShare):
			var talk []string
			order := m.rng.Perm(len(small))
			for _, n := range order[:3+m.rng.IntN(len(small)-4)] {
				talk = append(talk, small[n])
			}
			after := len(talk) - m.rng.IntN(2)
			q.text = strings.Join(slices.Insert(talk, after, q.text), space)
			q.asked = "in chatter"
			out = append(out, q)
		case i > 0 && m.isChance(doubleShare):
			out = append(out, joinQuestions(all[i-1], q, also[m.rng.IntN(len(also))]))
		}
	}
	return out
}

// joinQuestions asks two questions at once.
func joinQuestions(a, b question, also string) question {
	out := question{kind: a.kind, told: a.told, script: a.script, text: a.text + also + b.text, asked: "two in one"}
	if b.kind != a.kind {
		out.kind = "several kinds"
	}
	sentences := map[int]string{}
	for _, q := range []question{a, b} {
		for i, place := range q.evidence {
			sentences[place] = q.sentences[i]
		}
	}
	for _, place := range slices.Sorted(maps.Keys(sentences)) {
		out.evidence = append(out.evidence, place)
		out.sentences = append(out.sentences, sentences[place])
	}
	return out
}

// spellMessage returns how a message is written: Chinese in the characters of the talk, sometimes in
// full width.
func (m *maker) spellMessage(text string) func(string) string {
	wide := isChinese(text) && m.isChance(wideShare)
	return func(s string) string {
		if m.hant {
			s = traditional(s)
		}
		if wide {
			s = fullWidth(s)
		}
		return s
	}
}

// asChinese writes a Chinese question, sometimes in other characters than the talk's.
func (m *maker) asChinese(lex *lexicon, q *question) string {
	q.script = "same"
	text := q.text
	if !lex.chinese {
		return text
	}
	hant := m.hant
	if m.isChance(crossShare) {
		hant = !hant
		q.script = "crosswise"
	}
	if hant {
		text = traditional(text)
	}
	if m.isChance(wideShare) {
		text = fullWidth(text)
	}
	return text
}

func isChinese(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= 0x4e00 && r <= 0x9fff })
}
