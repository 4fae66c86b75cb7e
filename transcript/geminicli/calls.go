package geminicli

import (
	"bytes"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// callAnswers knows which calls of a session have their result. The same id may be made
// again by a later record, and by two calls of one record.
type callAnswers struct {
	byID map[string][]askedCall
	last []scrollback.ToolCall // of the last record that made any
}

// askedCall is a call, and whether its result was read.
type askedCall struct {
	name string
	done bool
}

// addCalls takes the calls of a record.
func (a *callAnswers) addCalls(calls []scrollback.ToolCall) {
	if len(calls) == 0 {
		return
	}
	if a.byID == nil {
		a.byID = map[string][]askedCall{}
	}
	for _, c := range calls {
		delete(a.byID, c.ID)
	}
	for _, c := range calls {
		a.byID[c.ID] = append(a.byID[c.ID], askedCall{name: c.Name})
	}
	a.last = calls
}

// settleCalls takes the calls of a record that are answered by the record itself.
func (a *callAnswers) settleCalls(calls []scrollback.ToolCall) {
	a.addCalls(calls)
	for _, c := range calls {
		for i := range a.byID[c.ID] {
			a.byID[c.ID][i].done = true
		}
	}
}

// takeResult finds the call of a result, and returns its id: that of the result, or, where it
// has none, of a call of that name. Not fresh is a result that was read before.
func (a *callAnswers) takeResult(id, name string) (call string, fresh bool) {
	if id != "" {
		return id, a.markGiven(id, name)
	}
	known := false
	for _, c := range a.last {
		if c.Name == name {
			if known = true; a.markGiven(c.ID, name) {
				return c.ID, true
			}
		}
	}
	return "", !known
}

func (a *callAnswers) markGiven(id, name string) bool {
	calls, known := a.byID[id]
	i := slices.IndexFunc(calls, func(c askedCall) bool { return !c.done && c.name == name })
	if i < 0 {
		i = slices.IndexFunc(calls, func(c askedCall) bool { return !c.done })
	}
	switch {
	case i >= 0:
		calls[i].done = true
		return true
	case known:
		return false
	}
	if a.byID == nil {
		a.byID = map[string][]askedCall{}
	}
	a.byID[id] = []askedCall{{name: name, done: true}} // its call is nowhere
	return true
}

// isWaiting reports whether a call with an id has no result yet.
func (a *callAnswers) isWaiting(id string) bool {
	return slices.ContainsFunc(a.byID[id], func(c askedCall) bool { return !c.done })
}

// addCalls adds the calls that stand beside the content, unless they are also in it, and
// returns them all, one for each.
func (b *partBuilder) addCalls(list []toolCall) []scrollback.ToolCall {
	out := make([]scrollback.ToolCall, len(list))
	said := len(b.parts)
	used := make([]bool, said)
	for k, c := range list {
		call := scrollback.ToolCall{ID: b.makeCallID(c.ID, k), Name: c.Name, Arguments: objectArguments(c.Args)}
		if call.Name == "" {
			call.Name = "tool"
		}
		i := slices.IndexFunc(b.parts, func(p scrollback.Part) bool {
			have, ok := p.(scrollback.ToolCall)
			return ok && have.ID == call.ID && have.Name == call.Name && bytes.Equal(have.Arguments, call.Arguments)
		})
		for j := 0; i < 0 && j < said; j++ { // the content may hold it under another id, or none
			have, ok := b.parts[j].(scrollback.ToolCall)
			if ok && !used[j] && have.Name == call.Name && (have.ID == call.ID || c.ID == "" || b.bare[j]) {
				i = j
			}
		}
		switch {
		case i < 0:
			b.parts = append(b.parts, call)
		case i < said:
			have, _ := b.parts[i].(scrollback.ToolCall)
			if c.ID == "" {
				call.ID = have.ID
			}
			have.ID = call.ID
			used[i] = true
			b.parts[i] = have
		}
		out[k] = call
	}
	return out
}

// callResult returns the parts of a call's result. A resumed session has them in the record that
// follows; beside the call the tool may then keep those of all calls of a turn, or of a
// later call with the same id.
func (r *record) callResult(c toolCall) []part {
	if own := ownResult(r.response, c); own != nil {
		return own
	}
	own := ownResult(c.Result.parts, c)
	if answers := slices.DeleteFunc(slices.Clone(c.Result.parts),
		func(p part) bool { return p.FunctionResponse == nil }); len(answers) < 2 || own == nil {
		return c.Result.parts
	}
	return own
}

// ownResult returns the parts of a list of results that belong to one call; nil if none do.
func ownResult(list []part, c toolCall) []part {
	at := -1
	for i, p := range list {
		f := p.FunctionResponse
		if f != nil && f.ID == c.ID && (at < 0 || f.Name == c.Name && list[at].FunctionResponse.Name != c.Name) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	end := slices.IndexFunc(list[at+1:], func(p part) bool { return p.FunctionResponse != nil })
	if end < 0 {
		return list[at:]
	}
	return list[at : at+1+end]
}

// spokenContent returns the content without the thoughts that stand beside it as well: the tool puts
// them there when a session is resumed.
func (r *record) spokenContent() content {
	c := r.Content
	for i, t := range r.Thoughts {
		text := t.Description
		if t.Subject != "" {
			text = "**" + t.Subject + "** " + t.Description
		}
		if i >= len(c.parts) || !c.parts[i].Thought || c.parts[i].ThoughtSignature != nil || c.parts[i].Text == nil ||
			*c.parts[i].Text != text {
			return c
		}
	}
	c.parts = c.parts[len(r.Thoughts):]
	return c
}

// lacksIDs reports whether calls or results of a record have no id of their own.
func (r *record) lacksIDs() bool {
	for _, c := range r.ToolCalls {
		if c.ID == "" {
			return true
		}
	}
	return slices.ContainsFunc(r.Content.parts, func(p part) bool {
		return p.FunctionCall != nil && p.FunctionCall.ID == "" || p.FunctionResponse != nil && p.FunctionResponse.ID == ""
	})
}

// answersRecord reports whether a record holds the results of the one before, as a session has
// them that was resumed.
func (r *record) answersRecord(to *record) bool {
	return r.Type == "user" && len(to.ToolCalls) > 0 && r.ID == to.ID+"_response"
}

// isRepeat reports whether a record that holds no message only says again what tools
// returned: the tool would send it to its model a second time.
func (r *record) isRepeat() bool {
	results := 0
	for _, p := range r.Content.parts {
		if p.FunctionResponse != nil {
			results++
		}
	}
	return r.Type == "user" && results > 0 && (results == len(r.Content.parts) || strings.HasSuffix(r.ID, "_response"))
}
