package cell

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// messageNote is what a message of the file has no field for.
type messageNote struct {
	Messages  int                  `json:"messages,omitempty"` // of the file that are this one, if not 1
	ID        scrollback.MessageID `json:"id,omitempty"`
	Name      string               `json:"name,omitempty"`
	Model     string               `json:"model,omitempty"`
	Usage     *scrollback.Usage    `json:"usage,omitempty"`
	Status    scrollback.Status    `json:"status,omitempty"` // if not complete
	CreatedAt int64                `json:"created_at,omitempty"`
	Meta      json.RawMessage      `json:"meta,omitempty"`
	// Parts holds, for each part, the fields in which it differs from what the file says, or
	// null, and for a reference what stands around its content; Whole all parts, with the bytes of attachments, where it
	// says something else.
	Parts []map[string]json.RawMessage `json:"parts,omitempty"`
	Whole json.RawMessage              `json:"whole,omitempty"`
}

func (n *messageNote) isEmpty() bool {
	return n.ID == "" && n.Name == "" && n.Model == "" && n.Usage == nil && n.Status == "" && n.CreatedAt == 0 &&
		len(n.Meta) == 0 && len(n.Parts) == 0 && len(n.Whole) == 0 && n.Messages < 2
}

// newNote returns a note of all but what a message says.
func newNote(m scrollback.Message) messageNote {
	n := messageNote{ID: m.ID, Name: m.Name, Model: m.Model, Usage: m.Usage, Status: m.Status, CreatedAt: m.CreatedAt,
		Meta: m.Meta}
	if n.Status == scrollback.StatusComplete {
		n.Status = ""
	}
	return n
}

// makeNote makes the note of a message of which the file says read.
func makeNote(e, read transcript.Entry, messages int) (messageNote, error) {
	n := newNote(e.Message)
	if messages != 1 {
		n.Messages = messages
	}
	e.Message.Parts = bareParts(e.Message.Parts)
	read.Message.Parts = bareParts(read.Message.Parts)
	var err error
	if n.Parts, err = differences(read, e); err != nil {
		return n, err
	}
	if n.Parts == nil {
		n.Whole, err = transcript.EncodeParts(e)
		return n, err
	}
	if !slices.ContainsFunc(n.Parts, func(p map[string]json.RawMessage) bool { return p != nil }) {
		n.Parts = nil
	}
	return n, nil
}

// encodeParts returns parts as JSON objects.
func encodeParts(ps scrollback.Parts) (out []map[string]json.RawMessage, err error) {
	raw, err := marshalPlain(ps)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(raw, &out)
}

// differences returns the fields in which each part of to differs from that of from; nil if
// these are not the same kinds of parts, or not the same attachments.
func differences(from, to transcript.Entry) ([]map[string]json.RawMessage, error) {
	if !maps.EqualFunc(from.Bytes, to.Bytes, bytes.Equal) {
		return nil, nil
	}
	was, err := encodeParts(from.Message.Parts)
	if err != nil {
		return nil, err
	}
	is, err := encodeParts(to.Message.Parts)
	if err != nil || len(was) != len(is) {
		return nil, err
	}
	out := make([]map[string]json.RawMessage, len(is))
	for i := range is {
		if !bytes.Equal(was[i]["type"], is[i]["type"]) {
			return nil, nil
		}
		if around := textAround(from.Message.Parts[i], to.Message.Parts[i]); around != nil {
			delete(was[i], "text")
			delete(is[i], "text")
			is[i]["around"] = around
		}
		for name := range was[i] {
			if is[i][name] == nil {
				is[i][name] = json.RawMessage("null")
			}
		}
		for name, v := range is[i] {
			if bytes.Equal(was[i][name], v) {
				continue
			}
			if out[i] == nil {
				out[i] = map[string]json.RawMessage{}
			}
			out[i][name] = v
		}
	}
	return out, nil
}

// textAround returns what stands before and behind the content of a reference, as JSON; nil if the
// parts are not the same, or the text is.
func textAround(from, to scrollback.Part) json.RawMessage {
	was, ok := from.(scrollback.Text)
	is, both := to.(scrollback.Text)
	if !ok || !both || was.Reference == nil || is.Reference == nil || was.Text == is.Text {
		return nil
	}
	content := referenceContent(was)
	before, behind, found := strings.Cut(is.Text, content)
	if content == "" || !found {
		return nil
	}
	raw, err := marshalPlain([]string{before, behind})
	if err != nil {
		return nil
	}
	return raw
}
