package crush

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/transcript"
)

// messageBuilder makes messages of rows.
type messageBuilder struct {
	left  map[string]int
	names map[string]string // of the calls so far
}

// makeEntry returns the message of a row, without parts if it has none.
func (t *messageBuilder) makeEntry(r *messageRow) (e transcript.Entry) {
	role, err := scrollback.ParseRole(r.role)
	if err != nil || role == scrollback.RoleSystem {
		t.left["message of role "+cmp.Or(strings.ToValidUTF8(r.role, "\uFFFD"), "none")]++
		return e
	}
	e.Message = scrollback.Message{ID: scrollback.MessageID(r.id), Role: role, CreatedAt: r.created,
		Status: scrollback.StatusComplete}
	for i, p := range r.parts {
		t.addPart(&e, p, fmt.Sprintf("%s#%d", r.id, i))
	}
	if len(e.Message.Parts) == 0 {
		if f := r.finishPart(); f != nil && f.Reason == "error" {
			t.left["error without an answer"]++
		} else {
			t.left["empty message"]++
		}
		return e
	}
	if role == scrollback.RoleAssistant {
		e.Message.Model = r.model
		e.Message.Status, e.Message.Meta = r.endStatus()
	}
	return e
}

// addPart adds a piece of a message; id is for a call that has none.
func (t *messageBuilder) addPart(e *transcript.Entry, p part, id string) {
	add := func(p scrollback.Part) { e.Message.Parts = append(e.Message.Parts, p) }
	switch d := &p.Data; p.Type {
	case "text":
		if d.Text != "" {
			add(scrollback.Text{Text: d.Text})
		}
	case "reasoning":
		if d.Thinking != "" {
			add(scrollback.Reasoning{Text: d.Thinking})
		}
	case "tool_call":
		call := scrollback.ToolCall{ID: cmp.Or(d.ID, id), Name: cmp.Or(d.Name, "unknown"), Arguments: callArguments(d.Input)}
		t.names[call.ID] = call.Name
		add(call)
	case "tool_result":
		name := cmp.Or(t.names[d.ToolCallID], d.Name, "unknown")
		text := mark().ReplaceAllString(d.Content, "")
		add(scrollback.ToolResult{CallID: cmp.Or(d.ToolCallID, id), Name: name, Text: text,
			IsError: d.IsError || name == "bash" && isFailed(text)})
		if d.Data != "" && !attachBytes(e, d.Data, d.Mime, "") {
			t.left["attachment that is not base64"]++
		}
	case "binary":
		if !attachBytes(e, d.Data, cmp.Or(d.MIMEType, d.Mime), d.Path) {
			t.left["attachment that is not base64"]++
		}
	case "image_url":
		if !strings.HasPrefix(d.URL, "https://") && !strings.HasPrefix(d.URL, "http://") {
			t.left["image address"]++
			return
		}
		add(scrollback.Image{URL: d.URL})
	case "finish":
	default:
		t.left[cmp.Or(strings.ToValidUTF8(p.Type, "\uFFFD"), "part")]++
	}
}

// exited is how the tool says at the end of an output that a command failed.
var exited = lazyregexp.New(`(?:^|\n)Exit code (\d+)\s*$`)

// isFailed reports whether a command failed: the tool only says so in its output.
func isFailed(text string) bool {
	m := exited().FindStringSubmatch(text)
	return m != nil && strings.Trim(m[1], "0") != ""
}

// attachBytes adds bytes as an image or a file.
func attachBytes(e *transcript.Entry, encoded, mime, name string) bool {
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(b) == 0 {
		return false
	}
	if e.Bytes == nil {
		e.Bytes = map[int][]byte{}
	}
	e.Bytes[len(e.Message.Parts)] = b
	mime = cmp.Or(mime, "application/octet-stream")
	if strings.HasPrefix(mime, "image/") && mime != "image/svg+xml" {
		e.Message.Parts = append(e.Message.Parts, scrollback.Image{MediaType: mime, Name: name, Size: int64(len(b))})
	} else {
		e.Message.Parts = append(e.Message.Parts, scrollback.File{MediaType: mime, Name: name, Size: int64(len(b))})
	}
	return true
}

// callArguments returns the input of a call, which the tool keeps as text.
func callArguments(input string) json.RawMessage {
	switch {
	case json.Valid([]byte(input)):
		return json.RawMessage(input)
	case input == "":
		return json.RawMessage("{}")
	}
	return transcript.MarshalObject(map[string]string{"input": input}) // it was cut
}

// endStatus returns how an answer ended.
func (r *messageRow) endStatus() (scrollback.Status, json.RawMessage) {
	status := scrollback.StatusComplete
	f := r.finishPart()
	kept := struct {
		Compaction  bool   `json:"compaction,omitempty"`
		Interrupted bool   `json:"interrupted,omitempty"`
		Finish      string `json:"finish,omitempty"`
		Error       string `json:"error,omitempty"`
	}{Compaction: r.summary}
	switch {
	case f == nil || f.Reason == "canceled":
		status = scrollback.StatusInterrupted
		kept.Interrupted = true
	case f.Reason == "error":
		status = scrollback.StatusFailed
		kept.Error = strings.TrimSuffix(f.Message+": "+f.Details, ": ")
	case f.Reason != "end_turn" && f.Reason != "tool_use" && f.Reason != "stop":
		kept.Finish = f.Reason
	}
	meta := transcript.MarshalObject(map[string]any{metaKey: kept})
	if string(meta) == `{"`+metaKey+`":{}}` {
		meta = nil
	}
	return status, meta
}
