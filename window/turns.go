package window

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Fixed texts of turns that a dialect demands and nobody said.
const (
	ackText   = "Understood. I will look the originals up when I need them."
	heardText = "Understood."
	openText  = "Go on."
	ackTokens = 16
)

// TakeTurns makes user and assistant take turns, the user first and last, where the
// dialect demands it. Successive messages of users are sent as one turn, and so are the
// results of one turn's calls. What a model made is never joined with anything: its
// reasoning and payloads return as they came. A system message among the others is sent
// as a user's. Each item depends only on those before it, except for a last turn that
// stands in for the next message and is for this request only.
func TakeTurns(items []scrollback.Item, d scrollback.Dialect) []scrollback.Item {
	if !d.Alternates {
		return items
	}
	s := turnSequence{d: d}
	for _, it := range items {
		s.addItem(it)
	}
	if s.last.Role == "" || s.last.Role == scrollback.RoleAssistant {
		s.pushItem(fixedItem(scrollback.RoleUser, openText, scrollback.LayerRequestOnly))
	}
	return s.out
}

type turnSequence struct {
	d     scrollback.Dialect
	out   []scrollback.Item
	last  scrollback.Item // the last of out that is a turn
	calls []scrollback.ToolCall
}

func (s *turnSequence) addItem(it scrollback.Item) {
	if it.Kind == scrollback.KindTools || it.Role == scrollback.RoleSystem && s.last.Role == "" && !isSpoken(it) &&
		!s.d.NoSystem {
		if !s.d.NoBlank || len(it.Parts) == 0 || !isBlank(it.Parts.Text()) {
			s.out = append(s.out, it)
		}
		return
	}
	if it.Role == scrollback.RoleSystem {
		it.Role = scrollback.RoleUser
	}
	switch was := s.last.Role; {
	case was == scrollback.RoleTool && it.Role == scrollback.RoleTool,
		was == scrollback.RoleUser && it.Role == was && isSpoken(s.last) && isSpoken(it):
		s.joinItem(it)
		return
	case was == "" && it.Role == scrollback.RoleAssistant:
		s.pushItem(fixedItem(scrollback.RoleUser, openText, scrollback.LayerPlaceholders))
	case was == scrollback.RoleAssistant && it.Role == was:
		s.pushItem(fixedItem(scrollback.RoleUser, openText, it.Layer))
	case s.last.Kind == scrollback.KindFolded && it.Role == was:
		s.pushItem(fixedItem(scrollback.RoleAssistant, ackText, s.last.Layer))
	case was == scrollback.RoleUser && it.Role == was,
		was == scrollback.RoleTool && it.Role == scrollback.RoleUser && s.d.ResultsAlone:
		s.pushItem(fixedItem(scrollback.RoleAssistant, heardText, it.Layer))
	}
	s.pushItem(it)
}

// isSpoken reports whether an item is part of what was said, not of what comes before it.
func isSpoken(it scrollback.Item) bool {
	return it.Layer == scrollback.LayerMessages || it.Layer == scrollback.LayerPrompt
}

func (s *turnSequence) pushItem(it scrollback.Item) {
	switch it.Role {
	case scrollback.RoleAssistant:
		s.calls = it.Parts.Calls()
	case scrollback.RoleTool:
		it.Parts = s.orderResults(it.Parts)
	}
	s.out = append(s.out, it)
	s.last = it
}

// joinItem adds what an item says to the last turn.
func (s *turnSequence) joinItem(it scrollback.Item) {
	last := &s.out[len(s.out)-1]
	if len(last.Joins) == 0 {
		last.Joins = []scrollback.Join{asJoin(*last)}
	}
	last.Joins = append(last.Joins[:len(last.Joins):len(last.Joins)], asJoin(it))
	last.Parts = append(last.Parts[:len(last.Parts):len(last.Parts)], partsFor(last.Model, it)...)
	if last.Role == scrollback.RoleTool {
		last.Parts = s.orderResults(last.Parts)
	}
	last.Weight = last.Weight.Add(it.Weight)
	s.last = *last
}

// asJoin returns an item as one of those that make a turn.
func asJoin(it scrollback.Item) scrollback.Join {
	return scrollback.Join{Kind: it.Kind, Layer: it.Layer, Seq: it.Seq, Parts: len(it.Parts), Weight: it.Weight}
}

// orderResults returns results in the order of their calls, where the dialect demands it.
func (s *turnSequence) orderResults(ps scrollback.Parts) scrollback.Parts {
	if !s.d.ResultsAlone {
		return ps
	}
	out := slices.Clone(ps)
	slices.SortStableFunc(out, func(a, b scrollback.Part) int { return callIndex(s.calls, a) - callIndex(s.calls, b) })
	return out
}

// callIndex returns the index of a result's call among calls, or -1.
func callIndex(calls []scrollback.ToolCall, p scrollback.Part) int {
	r, ok := p.(scrollback.ToolResult)
	return slices.IndexFunc(calls, func(c scrollback.ToolCall) bool { return ok && c.ID == r.CallID })
}

// partsFor returns the parts of a user's or tool's item that may be sent with another's:
// payloads return to one model only.
func partsFor(model string, it scrollback.Item) scrollback.Parts {
	if it.Model == model {
		return it.Parts
	}
	out := make(scrollback.Parts, 0, len(it.Parts))
	for _, p := range it.Parts {
		switch q := p.(type) {
		case scrollback.Text:
			q.Opaque = nil
			p = q
		case scrollback.Image:
			q.Opaque = nil
			p = q
		case scrollback.File:
			q.Opaque = nil
			p = q
		case scrollback.ToolResult:
			q.Opaque = nil
			p = q
		case scrollback.ToolCall, scrollback.Reasoning: // only a model makes them
		}
		out = append(out, p)
	}
	return out
}

func fixedItem(role scrollback.Role, text string, layer scrollback.Layer) scrollback.Item {
	return scrollback.Item{Kind: scrollback.KindAck, Layer: layer, Role: role,
		Parts:  scrollback.Parts{scrollback.Text{Text: text}},
		Weight: scrollback.Weight{Tokens: ackTokens, Bytes: int64(len(text))}}
}
