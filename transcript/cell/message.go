package cell

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/transcript"
)

// ReadInteraction reads the messages that were said to a cell. A message that cannot be read is
// an entry with Bad, without a line; of says how many messages each entry takes.
func ReadInteraction(messages []json.RawMessage, notes []messageNote) (said []transcript.Entry, of []int) {
	names := map[string]string{}
	spans := noteSpans(notes, len(messages))
	for k := 0; len(messages) > 0; k++ {
		n := 1
		if spans != nil {
			n = spans[k]
		}
		e, whole := readRun(messages[:n], names)
		if spans != nil && whole {
			if noted, ok := notes[k].applyTo(e); ok && writesAs(noted, messages[:n]) {
				e = noted
			} else if !ok || n > 1 {
				whole = false
			}
		}
		if whole || n == 1 {
			said = append(said, e)
			of = append(of, n)
		} else { // they are no longer the message that the note was written for
			for i := range n {
				e, _ := readRun(messages[i:i+1], names)
				said = append(said, e)
				of = append(of, 1)
			}
		}
		messages = messages[n:]
	}
	return said, of
}

// noteSpans returns how many messages each note is of; nil if together they are not of all.
func noteSpans(notes []messageNote, messages int) (out []int) {
	for i := range notes {
		n := max(notes[i].Messages, 1)
		if messages -= n; messages < 0 {
			return nil
		}
		out = append(out, n)
	}
	if messages > 0 {
		return nil
	}
	return out
}

// readRun reads messages that are one of ours; names are those of calls by their ids.
func readRun(messages []json.RawMessage, names map[string]string) (e transcript.Entry, ok bool) {
	for i, raw := range messages {
		var m wire.Message
		if !utf8.Valid(raw) {
			return badEntry("not UTF-8"), false
		}
		if json.Unmarshal(raw, &m) != nil {
			return badEntry("an interaction has a message of the wrong shape"), false
		}
		role := scrollback.Role(m.Role)
		if role != scrollback.RoleAssistant && role != scrollback.RoleTool {
			return badEntry("an interaction has a message of role %q", m.Role), false
		}
		if i > 0 && role != e.Message.Role {
			return e, false
		}
		e.Message.Role = role
		if role == scrollback.RoleTool {
			readResult(&e, m, names)
		} else {
			readAnswer(&e, m, names)
		}
	}
	return e, true
}

func badEntry(format string, args ...any) transcript.Entry {
	return transcript.Entry{Bad: &transcript.Bad{Reason: fmt.Sprintf(format, args...)}}
}

func readResult(e *transcript.Entry, m wire.Message, names map[string]string) {
	r := scrollback.ToolResult{CallID: m.ToolCallID, Name: m.Name, Text: m.Content.Text()}
	if r.Name == "" {
		r.Name = names[m.ToolCallID]
	}
	addPart(e, r)
	for _, p := range m.Content {
		if p.ImageURL != nil {
			readImage(e, *p.ImageURL)
		}
	}
}

func readAnswer(e *transcript.Entry, m wire.Message, names map[string]string) {
	e.Message.Name = m.Name
	thought := m.Content.Thought()
	for _, s := range []*string{m.ReasoningContent, m.Reasoning} {
		if s != nil && *s != "" && thought == "" {
			thought = *s
		}
	}
	if thought != "" {
		addPart(e, scrollback.Reasoning{Text: thought})
	}
	for _, p := range m.Content {
		switch {
		case p.ImageURL != nil:
			readImage(e, *p.ImageURL)
		case p.Text != "":
			addPart(e, scrollback.Text{Text: p.Text})
		}
	}
	if m.Refusal != nil && *m.Refusal != "" {
		addPart(e, scrollback.Text{Text: *m.Refusal})
	}
	for _, c := range m.ToolCalls {
		names[string(c.ID)] = c.Function.Name
		args := json.RawMessage(c.Function.Arguments)
		if strings.TrimSpace(string(args)) == "" {
			args = json.RawMessage("{}")
		} else if !json.Valid(args) {
			args, _ = marshalPlain(string(args)) // a text can always be written
		}
		addPart(e, scrollback.ToolCall{ID: string(c.ID), Name: c.Function.Name, Arguments: args})
	}
}

func addPart(e *transcript.Entry, p scrollback.Part) { e.Message.Parts = append(e.Message.Parts, p) }

// readImage adds an image, or its address where that does not hold one.
func readImage(e *transcript.Entry, u wire.ImageURL) {
	mediaType, b, ok := decodeDataURL(u.URL)
	if !ok {
		addPart(e, scrollback.Text{Text: ImageMark("image", u.URL)})
		return
	}
	attachImage(e, scrollback.Image{MediaType: mediaType, Detail: u.Detail}, b)
}

func attachImage(e *transcript.Entry, p scrollback.Image, b []byte) {
	if e.Bytes == nil {
		e.Bytes = map[int][]byte{}
	}
	e.Bytes[len(e.Message.Parts)] = b
	addPart(e, p)
}
