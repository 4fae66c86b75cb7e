package transcript

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// WithoutStoreFields returns parts without what only their own store knows about them, for files that other programs
// and stores read.
func WithoutStoreFields(parts scrollback.Parts) scrollback.Parts {
	out := slices.Clone(parts)
	for i, p := range out {
		switch p := p.(type) {
		case scrollback.Image:
			p.Artifact = ""
			p.Width = 0
			p.Height = 0
			out[i] = p
		case scrollback.File:
			p.Artifact = ""
			out[i] = p
		case scrollback.ToolResult:
			p.Artifact = ""
			out[i] = p
		case scrollback.Text, scrollback.ToolCall, scrollback.Reasoning:
		}
	}
	return out
}
