package claudecode

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// messagePiece is a part with the bytes of an attachment.
type messagePiece struct {
	part    scrollback.Part
	data    []byte
	clipped bool // a result of which the rest, kept in a file of its own, is gone
}

// block is one block of a message, of any type.
type block struct {
	Type      string
	Text      string
	Thinking  string
	Signature string
	Data      string
	ID        string
	Name      string
	Input     json.RawMessage
	ToolUseID string `json:"tool_use_id"`
	Content   body
	IsError   bool `json:"is_error"`
	Title     string
	Source    struct {
		Type      string
		MediaType string `json:"media_type"`
		Data      string
		URL       string
	}
}

// bodyBlocks returns those of a body, which is valid JSON; a text is one block.
func bodyBlocks(b body) (out []block) {
	b = bytes.TrimSpace(b)
	if text, ok := plainjson.Text(b); ok {
		return []block{{Type: "text", Text: text}}
	}
	for raw := range plainjson.Elements(b) {
		if text, ok := plainjson.Text(raw); ok {
			out = append(out, block{Type: "text", Text: text})
			continue
		}
		out = append(out, decodeBlock(raw))
	}
	return out
}

// readLine makes pieces of what a line says, and says what it is.
func (t *conversationReading) readLine(l *line) {
	switch {
	case l.Type == "system" && l.Subtype == "compact_boundary":
		l.kind = limit
	case l.Scrollback != nil && t.readOwn(l):
	case l.Type == "user":
		t.readUser(l)
	case l.Type == "assistant":
		t.readAssistant(l)
	case l.Type == "attachment" && l.Attachment.Type == "queued_command" &&
		(l.Attachment.CommandMode == "" || l.Attachment.CommandMode == "prompt"):
		l.queued = true
		t.readSpeech(l, l.Attachment.Prompt)
	}
	l.Message.Content = nil
	l.Attachment.Prompt = nil
}

// readUser takes a line that the tool sent as a user's.
func (t *conversationReading) readUser(l *line) {
	switch {
	case l.IsCompactSummary:
		t.readSpeech(l, l.Message.Content)
		if l.kind == prompt {
			l.kind = summary
			l.event = ""
		}
	case l.IsMeta:
		t.countLeft("injected")
	default:
		t.readSpeech(l, l.Message.Content)
	}
}

// readSpeech takes texts, images and results.
func (t *conversationReading) readSpeech(l *line, b body) {
	stop := false
	for _, b := range bodyBlocks(b) {
		switch {
		case b.Type == "text" && strings.HasPrefix(b.Text, interruption):
			stop = true
		case b.Type == "text":
			text, event := t.spokenWords(b.Text)
			if text != "" {
				l.pieces = append(l.pieces, messagePiece{part: scrollback.Text{Text: text}})
				l.event = cmp.Or(l.event, event)
			}
		case b.Type == "tool_result":
			l.results++
			l.pieces = append(l.pieces, t.readResult(l, b)...)
		default:
			if p, ok := t.readAttachment(b); ok {
				l.pieces = append(l.pieces, p)
			}
		}
	}
	switch {
	case l.results > 0:
		l.kind = result
	case len(l.pieces) > 0:
		l.kind = prompt
	case stop:
		l.kind = stopped
	}
	if stop {
		t.countLeft("interruption")
	}
}

// readAssistant takes a block of an answer.
func (t *conversationReading) readAssistant(l *line) {
	for i, b := range bodyBlocks(l.Message.Content) {
		switch b.Type {
		case "text":
			if b.Text != "" {
				l.pieces = append(l.pieces, messagePiece{part: scrollback.Text{Text: b.Text}})
			}
		case "thinking", "redacted_thinking":
			if p := readThought(b); p.Text != "" || p.Opaque != nil {
				l.pieces = append(l.pieces, messagePiece{part: p})
			}
		case "tool_use", "server_tool_use":
			call := scrollback.ToolCall{ID: cmp.Or(b.ID, fmt.Sprintf("%s/%d", l.UUID, i)), Name: cmp.Or(b.Name, "unknown"),
				Arguments: compactJSON(b.Input)}
			l.pieces = append(l.pieces, messagePiece{part: call})
		default:
			if strings.HasSuffix(b.Type, "_tool_result") && b.ToolUseID != "" { // of a tool that the model's server runs
				l.pieces = append(l.pieces, t.readResult(l, b)...)
				l.results++
			} else if p, ok := t.readAttachment(b); ok {
				l.pieces = append(l.pieces, p)
			}
		}
	}
	l.kind = answer
	if l.Message.Model == synthetic {
		l.kind = notice
	}
}

// synthetic is the model of what the tool puts in an answer's place.
const synthetic = "<synthetic>"

// readThought returns what a model thought, with what proves it to its server: in the form in
// which our client of that API keeps it, so that it can go on with it.
func readThought(b block) scrollback.Reasoning {
	proof := struct {
		Signature string `json:"signature,omitempty"`
		Redacted  string `json:"redacted,omitempty"`
	}{b.Signature, b.Data}
	out := scrollback.Reasoning{Text: b.Thinking}
	if proof.Signature != "" || proof.Redacted != "" {
		out.Opaque = encodePlain(proof)
	}
	return out
}

// readResult returns the result of a call, and the images that came with it behind it.
func (t *conversationReading) readResult(l *line, b block) []messagePiece {
	r := scrollback.ToolResult{CallID: cmp.Or(b.ToolUseID, l.UUID, "unknown"), IsError: b.IsError}
	out := []messagePiece{{}}
	var texts []string
	content := bodyBlocks(b.Content)
	if len(content) == 0 && len(bytes.TrimSpace(b.Content)) > 2 && b.Content[0] == '{' {
		content = []block{{Type: "text", Text: string(compactJSON(json.RawMessage(b.Content)))}}
	}
	for _, b := range content {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		} else if b.Type == "web_search_result" {
			texts = append(texts, b.Title)
		} else if p, ok := t.readAttachment(b); ok {
			out = append(out, p)
		}
	}
	r.Text, out[0].clipped = t.wholeResult(strings.Join(texts, "\n"))
	out[0].part = r
	return out
}

// readAttachment returns an image or a file.
func (t *conversationReading) readAttachment(b block) (messagePiece, bool) {
	if b.Type != "image" && b.Type != "document" {
		t.countLeft("block")
		return messagePiece{}, false
	}
	if b.Type == "image" && b.Source.Type == "url" &&
		(strings.HasPrefix(b.Source.URL, "https://") || strings.HasPrefix(b.Source.URL, "http://")) {
		return messagePiece{part: scrollback.Image{URL: b.Source.URL, MediaType: b.Source.MediaType}}, true
	}
	var data []byte
	if b.Source.Type == "text" {
		data = []byte(b.Source.Data)
	} else {
		var err error
		if data, err = base64.StdEncoding.DecodeString(b.Source.Data); err != nil {
			data = nil
		}
	}
	switch {
	case len(data) == 0:
		t.countLeft("attachment_without_bytes")
		return messagePiece{}, false
	case b.Type == "image":
		return messagePiece{part: scrollback.Image{MediaType: b.Source.MediaType, Size: int64(len(data))}, data: data}, true
	}
	return messagePiece{part: scrollback.File{MediaType: b.Source.MediaType, Name: b.Title, Size: int64(len(data))},
		data: data}, true
}

// compactJSON is JSON without white space; an object if there is none.
func compactJSON(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if len(raw) == 0 || string(raw) == "null" || json.Compact(&b, raw) != nil {
		return json.RawMessage("{}")
	}
	return b.Bytes()
}

// encodePlain is JSON without HTML escapes; v holds nothing that cannot be encoded.
func encodePlain(v any) json.RawMessage {
	out, err := plainjson.Marshal(v)
	if err != nil {
		return nil
	}
	return out
}
