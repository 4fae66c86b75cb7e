// Package kept finds what people say that stays: what is so about them, what they want an assistant
// to keep to beyond the next answer, and what they have still to do; and what ends these. It reads
// one sentence at a time, in Chinese (both scripts), English, Japanese or Korean.
//
// How a sentence of a person is judged, in English and Chinese (judge.go):
//
//  1. It is cut into its parts: itself and each of its clauses (of a question, those before what is asked).
//  2. Each part has evidence (evidence.go): its words, each two that follow each other, how many they are, whether it
//     asks or exclaims, whether a rule of rules/english.tsv finds an instruction in it (instruction.go), and whether
//     it has one of the forms of rules/english.forms.tsv (form.go). A word that has no row counts by its ending.
//  3. rules/english.weights.tsv says how much each piece speaks for or against: that it stays, that it is a to-do, that
//     it tells the assistant how to work. The part that speaks most for staying counts. The weights are learned from
//     labelled sentences by go -C bench run ./recall -learn-kept; nobody writes them by hand, and an example more
//     makes them better, not longer.
//  4. The sums are held against the bounds in judge.go.
//
// An answer to what the assistant asked or offered is weighed in the same way, with the words of both (speech.go), and
// so is a sentence that may take an earlier one back (ends.go, pairs.go). That a to-do is done is found by what both
// name (done.go). Japanese and Korean have rules of instructions and marks of to-dos alone.
//
// Words it adds: trait (what is so about a person: what they prefer, avoid, have or usually do), evidence (what in a
// sentence speaks for or against something), weight (how much), part (a clause, or all of a sentence), form (how
// classes of words follow each other), cue (a string without which a rule does not apply), rule (cues, what must be
// matched, and what must not), idiom (words that hold a cue and do not mean it), veto (what makes a sentence with a
// rule's wording something else), sieve (a cheap look before an expression is tried).
//
// Precision matters as much as recall: what is found is carried from summary to summary.
// bench/recall measures both on labelled sentences.
//
// It may not know anything but text, and the words of the root.
package kept

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
)

// Bounds of what is read and kept.
const (
	maxRead     = 64 << 10 // bytes of a message that are read
	maxSentence = 600      // bytes of a sentence that is kept
)

// Sentence is one that stays, as it was written, on one line.
type Sentence struct {
	Kind scrollback.KeptKind
	Text string
}

// Find lists what a message says that stays, in the order in which it is said. Offer is the text of
// the assistant's message before it, of which a choice is the answer; empty if there is none. The
// assistant's own messages hold nothing that stays but to-dos that are written down as a list.
func Find(role scrollback.Role, text, offer string) []Sentence {
	if role != scrollback.RoleUser && role != scrollback.RoleAssistant {
		return nil
	}
	var out []Sentence
	answers := role == scrollback.RoleUser && len(text) <= longestAnswer && asks(offer)
	for s := range ownSentences(text) {
		kind := kindOf(role, s)
		if kind == "" && answers && isAnswer(s, offer) {
			kind = scrollback.KeptTrait
		}
		if kind != "" {
			out = append(out, Sentence{kind, s})
		}
		answers = false // with the first sentence, or not at all
	}
	return out
}

// ownSentences yields the sentences of a text but for code, pages, and what somebody else wrote.
func ownSentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fenced := false
		for _, s := range SplitSentences(firstPart(text)) {
			if strings.HasPrefix(s, "```") {
				fenced = !fenced
			}
			if fenced || len(s) > maxSentence || s[0] == '>' {
				continue
			}
			if !yield(s) {
				return
			}
		}
	}
}

func kindOf(role scrollback.Role, s string) scrollback.KeptKind {
	switch {
	case IsTicked(s):
		return ""
	case IsListed(s):
		return scrollback.KeptTodo
	case role != scrollback.RoleUser:
		return ""
	case mayBeTodo(s) && todos().MatchString(s):
		return scrollback.KeptTodo
	}
	switch is := judge(s); {
	case is.todo:
		return scrollback.KeptTodo
	case is.instruction:
		return scrollback.KeptInstruction
	case is.trait:
		return scrollback.KeptTrait
	}
	return ""
}

// firstPart returns what is read of a text.
func firstPart(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxRead)], "")
}

// SplitSentences cuts text at the ends of sentences and lines.
func SplitSentences(text string) []string {
	var out []string
	start := 0
	flush := func(end int) {
		if s := strings.Join(strings.Fields(text[start:end]), " "); s != "" {
			out = append(out, s)
		}
		start = end
	}
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		switch r {
		case '\n', '。', '！', '？', '；':
			flush(next)
		case '.', '!', '?':
			if next < len(text) && (text[next] == ' ' || text[next] == '\n') {
				flush(next)
			}
		}
	}
	flush(len(text))
	return out
}
