package cline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// content is what a message says, with the bytes of its attachments.
type content struct {
	parts scrollback.Parts
	bytes map[int][]byte
}

func (c *content) add(p scrollback.Part) { c.parts = append(c.parts, p) }

// text adds a text, if it has words.
func (c *content) text(s string) {
	if s = strings.TrimSpace(s); s != "" {
		c.add(scrollback.Text{Text: s})
	}
}

// blocks are the pieces of a message: one of text if it is a bare one.
func blocks(raw json.RawMessage) []map[string]json.RawMessage {
	if s := text(raw); s != "" {
		return []map[string]json.RawMessage{{"type": json.RawMessage(`"text"`), "text": raw}}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []map[string]json.RawMessage
	for _, b := range list {
		if f := fieldsOf(b); f != nil {
			out = append(out, f)
		} else if s := text(b); s != "" {
			out = append(out, map[string]json.RawMessage{"type": json.RawMessage(`"text"`), "text": b})
		}
	}
	return out
}

// assistant reads what a model said.
func (t *talk) assistant(m scrollback.Message, raw json.RawMessage) {
	var c content
	t.open = nil
	list := blocks(raw)
	called := false
	for _, b := range list {
		called = called || isCall(b)
	}
	for i, b := range list {
		kind := text(b["type"])
		switch {
		case kind == "text":
			said, cut := interrupted(text(b["text"]))
			if cut && m.Status == "" {
				m.Status = scrollback.StatusInterrupted
			}
			if called {
				c.text(said)
			} else {
				t.speaks(&c, said, i)
			}
		case kind == "thinking" || kind == "reasoning":
			if thought := thoughtOf(b); thought != "" {
				c.add(scrollback.Reasoning{Text: thought})
			} else {
				t.left["reasoning without text"]++
			}
		case kind == "redacted_thinking":
			t.left["reasoning without text"]++
		case isCall(b):
			c.add(t.call(b, i))
		case !c.attach(b):
			t.left["block"]++
		}
	}
	t.say(m, c)
}

// thoughtOf is the text of a block of reasoning.
func thoughtOf(b map[string]json.RawMessage) string {
	for _, name := range []string{"thinking", "text"} {
		if s := text(b[name]); strings.TrimSpace(s) != "" {
			return s
		}
	}
	var all []string
	for _, s := range blocks(b["summary"]) {
		if line := text(s["text"]); line != "" {
			all = append(all, line)
		}
	}
	return strings.Join(all, "\n\n")
}

func isCall(b map[string]json.RawMessage) bool {
	kind := text(b["type"])
	return kind == "tool_use" || kind == "tool-call"
}

func isResult(b map[string]json.RawMessage) bool {
	kind := text(b["type"])
	return kind == "tool_result" || kind == "tool-result"
}

// call is a block that calls a tool.
func (t *talk) call(b map[string]json.RawMessage, i int) scrollback.ToolCall {
	call := scrollback.ToolCall{ID: text(b["id"]), Name: text(b["name"]), Arguments: b["input"]}
	if call.ID == "" {
		call.ID = text(b["toolCallId"])
	}
	if call.ID == "" {
		call.ID = fmt.Sprintf("call-%d-%d", t.index, i)
	}
	if call.Name == "" {
		call.Name = text(b["toolName"])
	}
	if call.Name == "" {
		call.Name = "tool"
	}
	if s := text(call.Arguments); s != "" && fieldsOf(json.RawMessage(s)) != nil {
		call.Arguments = json.RawMessage(s) // a document within a text
	}
	if len(call.Arguments) == 0 {
		call.Arguments = json.RawMessage(`{}`)
	}
	t.called(call)
	return call
}

// called remembers a call for its result.
func (t *talk) called(call scrollback.ToolCall) {
	t.calls[call.ID] = call.Name
	t.open = append(t.open, call.ID)
	if call.Name == "new_task" {
		t.handovers = append(t.handovers, call.ID)
	}
}

// user reads what a person said, and the results of tools among it: these come first, as a
// message of their own.
func (t *talk) user(m scrollback.Message, raw json.RawMessage) {
	var said, results content
	answered := -1 // the part of results that answers a spoken call
	for _, b := range blocks(raw) {
		switch {
		case isResult(b):
			answered = -1
			t.result(b, &results, &said)
		case text(b["type"]) == "text":
			words, folder, left := stripped(text(b["text"]))
			if t.folder == "" {
				t.folder = folder
			}
			t.left["reminder"] += left
			if name, rest, ok := spokenResult(words); ok {
				answered = len(results.parts)
				results.add(t.answer(name))
				words = rest
			}
			if answered >= 0 {
				words = t.into(&results, answered, words)
			}
			said.text(words)
		case answered >= 0 && results.attach(b), said.attach(b):
		default:
			t.left["block"]++
		}
	}
	if t.title == "" {
		t.title = said.parts.Text()
	}
	id := m.ID
	if len(results.parts) > 0 {
		m.Role = scrollback.RoleTool
		t.say(m, results)
		m.ID = id + "/2"
	}
	m.Role = scrollback.RoleUser
	t.say(m, said)
}

// into adds a text to the result of a spoken call, and returns what the person said in it.
func (t *talk) into(results *content, i int, words string) string {
	r, ok := results.parts[i].(scrollback.ToolResult)
	if !ok {
		return words // it is one
	}
	words, own := spokenBy(r.Name, words)
	r.Text = strings.TrimSpace(r.Text + "\n" + words)
	results.parts[i] = r
	return own
}

// answer is the result, in words, of the first call of a tool in the last message that has
// none yet.
func (t *talk) answer(name string) scrollback.ToolResult {
	for i, id := range t.open {
		if t.calls[id] == name {
			t.open = slices.Delete(t.open, i, i+1)
			return scrollback.ToolResult{CallID: id, Name: name}
		}
	}
	return scrollback.ToolResult{CallID: fmt.Sprintf("result-%d-%s", t.index, name), Name: name}
}
