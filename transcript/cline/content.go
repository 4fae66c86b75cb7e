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

func (c *content) addPart(p scrollback.Part) { c.parts = append(c.parts, p) }

// addText adds a text, if it has words.
func (c *content) addText(s string) {
	if s = strings.TrimSpace(s); s != "" {
		c.addPart(scrollback.Text{Text: s})
	}
}

// contentBlocks returns the pieces of a message: one of text if it is a bare one.
func contentBlocks(raw json.RawMessage) []map[string]json.RawMessage {
	if s := readText(raw); s != "" {
		return []map[string]json.RawMessage{{"type": json.RawMessage(`"text"`), "text": raw}}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []map[string]json.RawMessage
	for _, b := range list {
		if f := objectFields(b); f != nil {
			out = append(out, f)
		} else if s := readText(b); s != "" {
			out = append(out, map[string]json.RawMessage{"type": json.RawMessage(`"text"`), "text": b})
		}
	}
	return out
}

// readAssistant reads what a model said.
func (t *talkReader) readAssistant(m scrollback.Message, raw json.RawMessage) {
	var c content
	t.open = nil
	list := contentBlocks(raw)
	called := false
	for _, b := range list {
		called = called || isCall(b)
	}
	for i, b := range list {
		kind := readText(b["type"])
		switch {
		case kind == "text":
			said, cut := beforeInterruption(readText(b["text"]))
			if cut && m.Status == "" {
				m.Status = scrollback.StatusInterrupted
			}
			if called {
				c.addText(said)
			} else {
				t.addSpeech(&c, said, i)
			}
		case kind == "thinking" || kind == "reasoning":
			if thought := thoughtText(b); thought != "" {
				c.addPart(scrollback.Reasoning{Text: thought})
			} else {
				t.left["reasoning without text"]++
			}
		case kind == "redacted_thinking":
			t.left["reasoning without text"]++
		case isCall(b):
			c.addPart(t.readCall(b, i))
		case !c.addAttachment(b):
			t.left["block"]++
		}
	}
	t.yieldMessage(m, c)
}

// thoughtText returns the text of a block of reasoning.
func thoughtText(b map[string]json.RawMessage) string {
	for _, name := range []string{"thinking", "text"} {
		if s := readText(b[name]); strings.TrimSpace(s) != "" {
			return s
		}
	}
	var all []string
	for _, s := range contentBlocks(b["summary"]) {
		if line := readText(s["text"]); line != "" {
			all = append(all, line)
		}
	}
	return strings.Join(all, "\n\n")
}

func isCall(b map[string]json.RawMessage) bool {
	kind := readText(b["type"])
	return kind == "tool_use" || kind == "tool-call"
}

func isResult(b map[string]json.RawMessage) bool {
	kind := readText(b["type"])
	return kind == "tool_result" || kind == "tool-result"
}

// readCall returns a block that calls a tool.
func (t *talkReader) readCall(b map[string]json.RawMessage, i int) scrollback.ToolCall {
	call := scrollback.ToolCall{ID: readText(b["id"]), Name: readText(b["name"]), Arguments: b["input"]}
	if call.ID == "" {
		call.ID = readText(b["toolCallId"])
	}
	if call.ID == "" {
		call.ID = fmt.Sprintf("call-%d-%d", t.index, i)
	}
	if call.Name == "" {
		call.Name = readText(b["toolName"])
	}
	if call.Name == "" {
		call.Name = "tool"
	}
	if s := readText(call.Arguments); s != "" && objectFields(json.RawMessage(s)) != nil {
		call.Arguments = json.RawMessage(s) // a document within a text
	}
	if len(call.Arguments) == 0 {
		call.Arguments = json.RawMessage(`{}`)
	}
	t.rememberCall(call)
	return call
}

// rememberCall remembers a call for its result.
func (t *talkReader) rememberCall(call scrollback.ToolCall) {
	t.calls[call.ID] = call.Name
	t.open = append(t.open, call.ID)
	if call.Name == "new_task" {
		t.handovers = append(t.handovers, call.ID)
	}
}

// readUser reads what a person said, and the results of tools among it: these come first, as a
// message of their own.
func (t *talkReader) readUser(m scrollback.Message, raw json.RawMessage) {
	var said, results content
	answered := -1 // the part of results that answers a spoken call
	for _, b := range contentBlocks(raw) {
		switch {
		case isResult(b):
			answered = -1
			t.readResult(b, &results, &said)
		case readText(b["type"]) == "text":
			words, folder, left := stripWrapping(readText(b["text"]))
			if t.folder == "" {
				t.folder = folder
			}
			t.left["reminder"] += left
			if name, rest, ok := spokenResult(words); ok {
				answered = len(results.parts)
				results.addPart(t.makeResult(name))
				words = rest
			}
			if answered >= 0 {
				words = t.addToResult(&results, answered, words)
			}
			said.addText(words)
		case answered >= 0 && results.addAttachment(b), said.addAttachment(b):
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
		t.yieldMessage(m, results)
		m.ID = id + "/2"
	}
	m.Role = scrollback.RoleUser
	t.yieldMessage(m, said)
}

// addToResult adds a text to the result of a spoken call, and returns what the person said in it.
func (t *talkReader) addToResult(results *content, i int, words string) string {
	r, ok := results.parts[i].(scrollback.ToolResult)
	if !ok {
		return words // it is one
	}
	words, own := splitFeedback(r.Name, words)
	r.Text = strings.TrimSpace(r.Text + "\n" + words)
	results.parts[i] = r
	return own
}

// makeResult returns the result, in words, of the first call of a tool in the last message that has
// none yet.
func (t *talkReader) makeResult(name string) scrollback.ToolResult {
	for i, id := range t.open {
		if t.calls[id] == name {
			t.open = slices.Delete(t.open, i, i+1)
			return scrollback.ToolResult{CallID: id, Name: name}
		}
	}
	return scrollback.ToolResult{CallID: fmt.Sprintf("result-%d-%s", t.index, name), Name: name}
}
