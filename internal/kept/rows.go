package kept

import (
	"github.com/scrollback-ai/scrollback"
)

// ListRows lists what is kept of a message by rule, and the sentences of it that may end what was
// kept before. Before is the message before it, or nil: where that is the assistant's, it may be an
// offer that this one answers. Where the message is, and who wrote it, is left open.
func ListRows(m, before *scrollback.Message) []scrollback.Kept {
	if m.Role != scrollback.RoleUser && m.Role != scrollback.RoleAssistant {
		return nil
	}
	offer := ""
	if before != nil && before.Role == scrollback.RoleAssistant {
		offer = before.Parts.Text()
	}
	var out []scrollback.Kept
	text := m.Parts.Text()
	add := func(kind scrollback.KeptKind, text string) {
		for _, k := range out {
			if k.Kind == kind && k.Text == text {
				return
			}
		}
		out = append(out, scrollback.Kept{ID: scrollback.NewKeptID(m.ID, kind, text), Kind: kind, Text: text, Role: m.Role,
			By: scrollback.KeptByRule, State: scrollback.KeptOpen, CreatedAt: m.CreatedAt})
	}
	stays := map[string]bool{}
	for _, s := range Find(m.Role, text, offer) {
		stays[s.Text] = true
		add(s.Kind, s.Text)
	}
	for _, s := range ListEnds(m.Role, text) {
		if !stays[s] {
			add(scrollback.KeptEnd, s)
		}
	}
	return out
}

// anyOffer is an offer that every choice answers.
const anyOffer = "Which would you like? Option one, the first, or option two, the second? 您想选第一个还是第二个方案？"

// longestChoice bounds a message that may answer an offer, in bytes.
const longestChoice = 2000

// NeedsOffer reports whether what is kept of a message may depend on the message before it.
func NeedsOffer(m *scrollback.Message) bool {
	if m.Role != scrollback.RoleUser {
		return false
	}
	text := m.Parts.Text()
	return len(text) <= longestChoice && len(Find(m.Role, text, anyOffer)) > len(Find(m.Role, text, ""))
}

// GuessKind returns what a sentence is that a person wants kept, which no rule may know: an
// instruction, unless it reads as something else.
func GuessKind(sentence string) scrollback.KeptKind {
	switch {
	case IsTodo(sentence):
		return scrollback.KeptTodo
	case !IsInstruction(sentence) && IsTrait(sentence):
		return scrollback.KeptTrait
	}
	return scrollback.KeptInstruction
}
