// Package kept finds what people say that stays: what is so about them, what they want an assistant
// to keep to beyond the next answer, and what they have still to do; and what ends these. It reads
// one sentence at a time, in Chinese (both scripts), English, Japanese or Korean.
//
// Words it adds: trait (what is so about a person: what they prefer, avoid, have or usually do), cue
// (a string without which a rule does not apply), rule (cues, what must be matched, and what must
// not), idiom (words that hold a cue and do not mean it), veto (what makes a sentence with a rule's
// wording something else: a question, a report, "not now"), form (how classes of words follow each other in a
// sentence; the rules/*.tsv of English and Chinese have those of traits), habit (what somebody does, told in the
// present, which is a trait where nothing else is asked), sieve (a cheap look before an expression is tried).
//
// Precision matters as much as recall: what is found is carried from summary to summary.
// bench/recall measures both on labelled sentences.
//
// It may not know anything but text, and the words of the root.
package kept

import (
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
	chooses := role == scrollback.RoleUser && isOffer(offer)
	answers := role == scrollback.RoleUser && asksPerson(offer)
	fenced := false
	for _, s := range SplitSentences(firstPart(text)) {
		if strings.HasPrefix(s, "```") {
			fenced = !fenced
		}
		if fenced || len(s) > maxSentence || s[0] == '>' { // code, a page, or what somebody else wrote
			continue
		}
		kind := kindOf(role, s)
		if kind == "" && (chooses && isChoice(s, offer) || answers && isAnswer(s)) {
			kind = scrollback.KeptTrait
			chooses = false
			answers = false
		}
		if kind != "" {
			out = append(out, Sentence{kind, s})
		}
	}
	return out
}

func kindOf(role scrollback.Role, s string) scrollback.KeptKind {
	switch {
	case IsTicked(s):
		return ""
	case IsListed(s), role == scrollback.RoleUser && IsTodo(role, s):
		return scrollback.KeptTodo
	case role != scrollback.RoleUser:
		return ""
	}
	trait := IsTrait(s)
	switch instruction := IsInstruction(s); {
	case instruction && (!trait || hasOrder(s)):
		return scrollback.KeptInstruction
	case trait:
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
