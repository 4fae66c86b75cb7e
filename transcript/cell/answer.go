package cell

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/transcript"
)

// messagesOf returns the messages of the file that say what e says, as far as they can.
func messagesOf(e transcript.Entry) []wire.Message {
	if e.Message.Role != scrollback.RoleTool || len(e.Message.Parts.Results()) == 0 {
		return []wire.Message{answerMessage(e)}
	}
	var out []wire.Message
	for i, p := range e.Message.Parts {
		var last *wire.Message
		if len(out) > 0 {
			last = &out[len(out)-1]
		}
		switch p := p.(type) {
		case scrollback.ToolResult:
			out = append(out, wire.Message{Role: string(scrollback.RoleTool), ToolCallID: p.CallID,
				Content: wire.Content{textPart(p.Text)}})
		case scrollback.Image:
			if last != nil {
				last.Content = append(last.Content, ImagePart(p, e.Bytes[i]))
			}
		case scrollback.Text, scrollback.File, scrollback.ToolCall, scrollback.Reasoning:
		}
	}
	return out
}

// answerMessage returns a message of the model's, or one of a tool's that holds no result.
func answerMessage(e transcript.Entry) wire.Message {
	m := wire.Message{Role: string(e.Message.Role), Name: e.Message.Name}
	var thoughts []string
	for i, p := range e.Message.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			m.Content = append(m.Content, textPart(p.Text))
		case scrollback.Image:
			m.Content = append(m.Content, ImagePart(p, e.Bytes[i]))
		case scrollback.File:
			m.Content = append(m.Content, textPart("["+p.Name+"]"))
		case scrollback.Reasoning:
			thoughts = append(thoughts, p.Text)
		case scrollback.ToolCall:
			m.ToolCalls = append(m.ToolCalls, wire.ToolCall{ID: wire.Word(p.ID), Type: "function",
				Function: wire.FunctionCall{Name: p.Name, Arguments: wire.Inner(p.Arguments)}})
		case scrollback.ToolResult:
			m.Content = append(m.Content, textPart(p.Text))
		}
	}
	if thought := strings.Join(thoughts, "\n\n"); thought != "" {
		m.ReasoningContent = &thought
	}
	return m
}

func textPart(s string) wire.ContentPart { return wire.ContentPart{Type: "text", Text: s} }

// ImagePart returns an image as part of a message.
func ImagePart(p scrollback.Image, b []byte) wire.ContentPart {
	return wire.ContentPart{Type: "image_url", ImageURL: &wire.ImageURL{URL: dataURL(p.MediaType, b), Detail: p.Detail}}
}

func dataURL(mediaType string, b []byte) string {
	if mediaType == "" {
		mediaType = "image/png"
	}
	return "data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString(b)
}

// writesAs reports whether e is written as these messages, however they are spelled.
func writesAs(e transcript.Entry, messages []json.RawMessage) bool {
	out := messagesOf(e)
	if len(out) != len(messages) {
		return false
	}
	for i := range out {
		var m wire.Message
		if json.Unmarshal(messages[i], &m) != nil {
			return false
		}
		m.Beside = nil // fields that are not known here say nothing of the message
		for i := range m.Content {
			m.Content[i].Beside = nil
		}
		a, errA := marshalPlain(m)
		b, errB := marshalPlain(out[i])
		if errA != nil || errB != nil || string(a) != string(b) {
			return false
		}
	}
	return true
}

// Write returns an interaction as messages, and their notes.
func Write(said []transcript.Entry) (messages []wire.Message, notes []messageNote, err error) {
	names := map[string]string{}
	for _, e := range said {
		if r := e.Message.Role; r != scrollback.RoleAssistant && r != scrollback.RoleTool {
			return nil, nil, scrollback.Errorf(scrollback.Invalid, "transcript.SetInteraction",
				i18n.InteractionLacksRole, r)
		}
		out := messagesOf(e)
		var raws []json.RawMessage
		for i := range out {
			raw, err := marshalPlain(out[i])
			if err != nil {
				return nil, nil, err
			}
			raws = append(raws, raw)
		}
		read, _ := readRun(raws, names)
		n, err := makeNote(e, read, len(out))
		if err != nil {
			return nil, nil, err
		}
		messages = append(messages, out...)
		notes = append(notes, n)
	}
	return messages, notes, nil
}
