package evidence

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// Message is one that may be told.
type Message struct {
	Found
	Features []Feature
	told     bool
}

// Bounds of what is told.
const (
	before     = 2   // messages before the one with the most words
	after      = 4   // and behind it
	leastNews  = 4   // words that a message has at least and the prompt has not
	cueBytes   = 600 // of a message that are looked through for cues
	longAnswer = 12  // characters of what is more than a word of thanks
)

// Messages returns what of a stretch may be told: what is near the message with the most words of the prompt.
func (s *Stretch) Messages() []Message {
	if s.may == nil {
		s.may = s.listMessages()
	}
	return s.may
}

func (s *Stretch) listMessages() []Message {
	out := []Message{}
	anchor := 0
	most := tiny
	for i, m := range s.messages {
		if m.weight > s.messages[anchor].weight+tiny {
			anchor = i
		}
		most = max(most, m.weight)
	}
	for i := max(0, anchor-before); i <= min(len(s.messages)-1, anchor+after); i++ {
		m := s.messages[i]
		if s.Facts.Long && !m.named && len(m.proper) == 0 || !s.f.saysMore(m) {
			continue
		}
		found := Found{Conversation: s.conversation, Seq: m.Seq, At: m.CreatedAt, Tool: s.tool, Role: m.Role,
			Text: m.text}
		out = append(out, Message{found, s.weighMessage(i, anchor, most), s.f.told[Seen{s.conversation, m.Seq}]})
	}
	return out
}

// weighMessage returns what speaks for telling the i-th message. An answer says what it was asked for without the words
// of the question, and what a person decides behind a proposal without those of either.
func (s *Stretch) weighMessage(i, anchor int, most float64) []Feature {
	m := s.messages[i]
	var previous, next heard
	if i > 0 {
		previous = s.messages[i-1]
	}
	if i+1 < len(s.messages) {
		next = s.messages[i+1]
	}
	text := foldCues(m.text)
	asks := s.f.prompt.asks
	user := oneIf(m.Role == scrollback.RoleUser)
	model := 1 - user
	question := oneIf(isQuestion(m.text))
	reply := user * (1 - question) * oneIf(i > 0)
	size := utf8.RuneCountInString(text)
	number := strings.ContainsAny(text, "0123456789")
	return []Feature{
		{"words", model * m.weight / most},
		{"words, person", user * m.weight / most},
		{"words before", model * previous.weight / most},
		{"words before, reply", reply * previous.weight / most},
		{"words behind", next.weight / most},
		{"question", question},
		{"person", user},
		{"first", user * oneIf(i == 0)},
		{"reply", reply},
		{"reply decides", reply * oneIf(decisionCue().MatchString(text))},
		{"reply to proposal", reply * oneIf(proposalCue().MatchString(foldCues(previous.text)))},
		{"reply stands", reply * oneIf(standingCue().MatchString(text))},
		{"reply is long", reply * oneIf(size > longAnswer)},
		{"reply, asked why", reply * oneIf(asks.why)},
		{"done", model * oneIf(doneCue().MatchString(text))},
		{"proposes", model * oneIf(proposalCue().MatchString(text))},
		{"length", math.Log1p(float64(size))},
		{"amount", oneIf(asks.amount && number)},
		{"no amount", oneIf(asks.amount && !number)},
		{"place", oneIf(asks.place && pathCue().MatchString(text))},
		{"reason", oneIf(asks.why && reasonCue().MatchString(text))},
		{"before", float64(max(anchor-i, 0))},
		{"behind", float64(max(i-anchor, 0))},
		{"right behind", oneIf(i == anchor+1)},
	}
}

// Choose returns the messages of a stretch that are told, at most some, best first: none if the best was told
// already, since the rest says less.
func (s *Stretch) Choose(w Weights, most int) []Found {
	all := slices.Clone(s.Messages())
	score := map[int64]float64{}
	for _, m := range all {
		score[m.Seq] = w.Score(Tell, m.Features)
	}
	slices.SortStableFunc(all, func(a, b Message) int { return cmp.Compare(score[b.Seq], score[a.Seq]) })
	var out []Found
	for i, m := range all {
		switch {
		case m.told && i == 0, len(out) == most, i > 0 && score[m.Seq] < w[Tell+" "+Bar]:
			return out
		case !m.told:
			out = append(out, m.Found)
		}
	}
	return out
}

// saysMore reports whether a message says something that the prompt does not say.
func (f *finding) saysMore(m heard) bool {
	news := map[string]bool{}
	terms.EachTerm(clipText(m.text), func(t string) bool {
		if !slices.Contains(f.prompt.terms, t) {
			news[t] = true
		}
		return len(news) < leastNews
	})
	return len(news) >= leastNews
}

// isQuestion reports whether a message only asks.
func isQuestion(text string) bool {
	if questionEnd().MatchString(terms.FoldText(strings.ToValidUTF8(text[max(0, len(text)-endBytes):], ""))) {
		return true
	}
	text = foldCues(text)
	n := utf8.RuneCountInString(text)
	return n < longQuestion && questionStart().MatchString(text) ||
		n < longDenseQuestion && denseQuestion().MatchString(text) && !strings.HasSuffix(text, "吧")
}

// From how many characters on only its end says that a message asks, and how many bytes are its end.
const (
	longQuestion      = 120
	longDenseQuestion = 40
	endBytes          = 24
)

// foldCues returns what of a text is looked through for cues.
func foldCues(s string) string {
	if len(s) > cueBytes {
		s = strings.ToValidUTF8(s[:cueBytes], "")
	}
	return terms.FoldText(s)
}
