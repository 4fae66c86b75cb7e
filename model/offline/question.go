package offline

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// longRunes is the length from which only the asking sentences of a message are
// the question, and the rest of it is a source like any other message.
const longRunes = 400

// question is the newest user message, cut to terms. At is its place among the
// items, or -1; dense says that it is mostly of an unspaced script.
type question struct {
	at    int
	seq   int64
	text  string
	asks  bool
	dense bool
	terms []questionTerm
	index map[string]int // of terms, by their text
	lone  []int          // terms of one character, found anywhere in a text
}

// questionTerm is a distinct term of a question. From and to are the bytes of the
// question that it came from; glue terms weigh little and are never missed.
type questionTerm struct {
	text     string
	surface  string
	from, to int
	glue     bool
}

func readQuestion(items []scrollback.Item) question {
	q := question{at: -1, index: map[string]int{}}
	for i, it := range items {
		if it.Kind == scrollback.KindMessage && it.Role == scrollback.RoleUser {
			q.at = i
			q.seq = it.Seq
		}
	}
	if q.at < 0 {
		return q
	}
	whole := firstText(items[q.at].Parts)
	var asking []string
	for s := range cutSentences(whole) {
		if isQuestion(s) {
			asking = append(asking, s)
		}
	}
	q.text = whole
	q.asks = len(asking) > 0
	if q.asks && utf8.RuneCountInString(whole) > longRunes {
		q.text = strings.Join(asking[max(0, len(asking)-3):], "\n")
	}
	q.dense = mostlyDense(q.text)
	q.cutTerms(withoutMarks(q.text, items[q.at].Parts.References()))
	return q
}

// firstText returns what the person typed; further texts of a message are references.
func firstText(ps scrollback.Parts) string {
	for _, p := range ps {
		if t, ok := p.(scrollback.Text); ok {
			return t.Text
		}
	}
	return ""
}

// withoutMarks has spaces where a text names what it refers to, which is not what is asked.
func withoutMarks(text string, refs []scrollback.Reference) string {
	blank := func(mark string) { text = strings.ReplaceAll(text, mark, strings.Repeat(" ", len(mark))) }
	for _, r := range refs {
		blank("@[" + r.Mark + "]")
		blank("@" + r.Mark)
		if r.Kind == scrollback.ReferenceImage {
			blank(r.Mark)
		}
	}
	return text
}

// cutTerms lists the question's distinct terms without the stop words.
func (q *question) cutTerms(text string) {
	for _, p := range stopPhrases {
		text = strings.ReplaceAll(text, p, strings.Repeat(" ", len(p)))
	}
	pairEnd := -1
	plain := 0
	terms.EachTermAt(text, func(t string, from, to int) bool {
		single := isLoneCharacter(t)
		if single && (to == pairEnd || hasGlue(t)) || stopWords()[t] {
			return true
		}
		if r, _ := utf8.DecodeRuneInString(t); terms.IsDense(r) {
			pairEnd = to
		}
		if _, seen := q.index[t]; seen {
			return true
		}
		q.index[t] = len(q.terms)
		if single {
			q.lone = append(q.lone, len(q.terms))
		}
		q.terms = append(q.terms, questionTerm{t, text[from:to], from, to, hasGlue(t)})
		if !hasGlue(t) {
			plain++
		}
		return len(q.terms) < terms.MaxTerms
	})
	for i := range q.terms {
		if plain == 0 {
			q.terms[i].glue = false // all there is
		}
	}
}

// countContent counts the terms that matter.
func (q *question) countContent() int {
	n := 0
	for _, t := range q.terms {
		if !t.glue {
			n++
		}
	}
	return n
}

// contentWords returns the question without its function words: what to search for. Pairs
// that overlap are joined again.
func (q *question) contentWords() string {
	var out []string
	end := -1
	for _, t := range q.terms {
		if t.glue {
			continue
		}
		if t.from < end && t.to > end && len(out) > 0 {
			_, size := utf8.DecodeRuneInString(t.surface)
			out[len(out)-1] += t.surface[size:]
		} else {
			out = append(out, t.surface)
		}
		end = t.to
	}
	return strings.Join(out, " ")
}

// mostlyDense weighs characters of unspaced scripts against the other words.
func mostlyDense(s string) bool {
	characters := 0
	words := 0
	inside := false
	for _, r := range s {
		word := !terms.IsDense(r) && unicode.IsLetter(r)
		if terms.IsDense(r) {
			characters++
		} else if word && !inside {
			words++
		}
		inside = word
	}
	return characters > words
}
