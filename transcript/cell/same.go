package cell

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// Same reports whether two messages say the same, with all that a file keeps of them.
func Same(a, b transcript.Entry) bool {
	x, errX := canonical(a)
	y, errY := canonical(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// canonical is a message without what only its own store knows.
func canonical(e transcript.Entry) (json.RawMessage, error) {
	e.Message.Parts = bare(e.Message.Parts)
	whole, err := transcript.Whole(e)
	if err != nil {
		return nil, err
	}
	n := noteOf(e.Message)
	n.ID = ""
	return plain([]any{e.Message.Role, whole, n})
}

// bare are parts without what only their own store knows of them.
func bare(ps scrollback.Parts) scrollback.Parts {
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
