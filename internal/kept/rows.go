package kept

import (
	"github.com/scrollback-ai/scrollback"
)

// End is the kind of a sentence that has ended others: news that something is done, or a change of
// mind. It is stored beside what is kept, and never listed.
const End scrollback.KeptKind = "end"

// ListRows lists what is kept of a message by rule. Before is the message before it, or nil: where
// that is the assistant's, it may be an offer that this one answers. Who wrote the message is left open.
func ListRows(m, before *scrollback.Message) []scrollback.Kept {
	offer := ""
	if before != nil && before.Role == scrollback.RoleAssistant {
		offer = before.Parts.Text()
	}
	var out []scrollback.Kept
	for _, s := range Find(m.Role, m.Parts.Text(), offer) {
		out = addRow(out, m, s.Kind, s.Text)
	}
	return out
}

// ListAnswerRows lists what ListRows lists besides where the message before it asks or offers what this one answers.
func ListAnswerRows(m, before *scrollback.Message) []scrollback.Kept {
	text := m.Parts.Text()
	offer := before.Parts.Text()
	if m.Role != scrollback.RoleUser || before.Role != scrollback.RoleAssistant || len(text) > longestAnswer ||
		!asks(offer) {
		return nil
	}
	for s := range ownSentences(text) {
		if isAnswer(s, offer) && kindOf(m.Role, s) == "" {
			return addRow(nil, m, scrollback.KeptTrait, s)
		}
		break // the first sentence answers, or none does
	}
	return nil
}

// ListEndRows lists the sentences of a message that may end what was kept before.
func ListEndRows(m *scrollback.Message) []scrollback.Kept {
	var out []scrollback.Kept
	for _, s := range ListEnds(m.Role, m.Parts.Text()) {
		out = addRow(out, m, End, s)
	}
	return out
}

// ListAllRows lists both.
func ListAllRows(m, before *scrollback.Message) []scrollback.Kept {
	return append(ListRows(m, before), ListEndRows(m)...)
}

func addRow(to []scrollback.Kept, m *scrollback.Message, kind scrollback.KeptKind, text string) []scrollback.Kept {
	for _, k := range to {
		if k.Text == text {
			return to
		}
	}
	return append(to, scrollback.Kept{ID: scrollback.NewKeptID(m.ID, kind, text), Kind: kind, Text: text,
		Message: m.ID, Branch: m.Branch, Seq: m.Seq, Role: m.Role, Conversation: m.ConversationID,
		By: scrollback.KeptByRule, State: scrollback.KeptOpen, CreatedAt: m.CreatedAt})
}

// longestAnswer bounds a message that may answer what the assistant asked, in bytes.
const longestAnswer = 2000

// NeedsOffer reports whether what is kept of a message may depend on the message before it.
func NeedsOffer(m *scrollback.Message) bool {
	text := m.Parts.Text()
	if m.Role != scrollback.RoleUser || len(text) > longestAnswer {
		return false
	}
	all := SplitSentences(firstPart(text))
	return len(all) > 0 && mayAnswer(all[0]) && kindOf(m.Role, all[0]) == ""
}

// GuessKind returns what a sentence is that a person wants kept, which no rule may know: an
// instruction, unless it reads as something else.
func GuessKind(sentence string) scrollback.KeptKind {
	switch {
	case IsTodo(scrollback.RoleUser, sentence):
		return scrollback.KeptTodo
	case !IsInstruction(sentence) && IsTrait(sentence):
		return scrollback.KeptTrait
	}
	return scrollback.KeptInstruction
}
