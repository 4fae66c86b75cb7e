package cell

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// IsSame reports whether two messages say the same, with all that a file keeps of them.
func IsSame(a, b transcript.Entry) bool {
	x, errX := canonicalJSON(a)
	y, errY := canonicalJSON(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// canonicalJSON returns a message without what only its own store knows.
func canonicalJSON(e transcript.Entry) (json.RawMessage, error) {
	e.Message.Parts = bareParts(e.Message.Parts)
	whole, err := transcript.EncodeParts(e)
	if err != nil {
		return nil, err
	}
	n := newNote(e.Message)
	n.ID = ""
	return marshalPlain([]any{e.Message.Role, whole, n})
}

// bareParts returns parts without what only their own store knows of them.
func bareParts(ps scrollback.Parts) scrollback.Parts {
	out := make(scrollback.Parts, len(ps))
	for i, p := range ps {
		switch p := p.(type) {
		case scrollback.Image:
			p.Artifact = ""
			p.Width = 0
			p.Height = 0
			p.Size = 0
			out[i] = p
		case scrollback.File:
			p.Artifact = ""
			p.Size = 0
			out[i] = p
		case scrollback.ToolResult:
			p.Artifact = ""
			out[i] = p
		case scrollback.Text, scrollback.ToolCall, scrollback.Reasoning:
			out[i] = p
		}
	}
	return out
}
