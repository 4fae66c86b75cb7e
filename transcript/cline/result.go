package cline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// readResult reads a block with the result of a call.
func (t *talkReader) readResult(b map[string]json.RawMessage, results, said *content) {
	r := scrollback.ToolResult{CallID: readText(b["tool_use_id"]), IsError: readBool(b["is_error"])}
	if r.CallID == "" {
		r.CallID = readText(b["toolCallId"])
	}
	r.Name = t.calls[r.CallID]
	t.open = slices.DeleteFunc(t.open, func(id string) bool { return id == r.CallID })
	if r.Name == "" {
		r.Name = readText(b["toolName"])
	}
	if r.CallID == "" {
		r.CallID = fmt.Sprintf("result-%d", t.index)
		r.Name = readText(b["toolName"])
	}
	out := b["content"]
	if out == nil {
		out = b["output"]
	}
	at := len(results.parts)
	results.addPart(r)
	words, failed := t.readOutcome(out, results)
	r.IsError = r.IsError || failed
	var own string
	r.Text, own = splitFeedback(r.Name, words)
	results.parts[at] = r
	said.addText(own)
	for _, name := range t.agents {
		if t.started[name] == "" && strings.Contains(r.Text, name) {
			t.started[name] = r.CallID
		}
	}
}

// readOutcome returns the text of a result, and whether it says that all of it failed: a text, a
// list of blocks, a list of queries with results, or one of these as JSON in a text. Images
// are attached.
func (t *talkReader) readOutcome(raw json.RawMessage, results *content) (words string, failed bool) {
	if s := readText(raw); s != "" {
		if inner := bytes.TrimSpace([]byte(s)); len(inner) > 0 && inner[0] == '[' && json.Valid(inner) {
			if words, failed, ok := t.readQueries(inner, results); ok {
				return words, failed
			}
		}
		words, _, left := stripWrapping(s)
		t.left["reminder"] += left
		return words, false
	}
	if f := objectFields(raw); f != nil {
		if value := f["value"]; value != nil { // {type, value}
			words, _ := t.readOutcome(value, results)
			return words, strings.HasPrefix(readText(f["type"]), "error")
		}
		raw = json.RawMessage("[" + string(raw) + "]")
	}
	words, failed, _ = t.readQueries(raw, results)
	return words, failed
}

// readQueries returns the text of a list of results; it is not ok if nothing in the list is one.
func (t *talkReader) readQueries(raw json.RawMessage, results *content) (words string, failed, ok bool) {
	var all []string
	list := contentBlocks(raw)
	for _, b := range list {
		switch {
		case b["result"] != nil || b["query"] != nil || b["error"] != nil:
			said := readText(b["result"])
			if said == "" && b["result"] != nil && string(b["result"]) != `""` && string(b["result"]) != "null" {
				said = string(b["result"])
			}
			if said == "" {
				said = readText(b["error"])
			}
			if query := readText(b["query"]); query != "" && len(list) > 1 {
				said = query + "\n" + said
			}
			failed = string(b["success"]) == "false"
			all = append(all, said)
			ok = true
		case readText(b["type"]) == "text":
			words, _, left := stripWrapping(readText(b["text"]))
			t.left["reminder"] += left
			all = append(all, words)
			ok = true
		case results.addAttachment(b):
			ok = true
		}
	}
	return strings.Join(all, "\n\n"), failed && len(all) == 1, ok
}
