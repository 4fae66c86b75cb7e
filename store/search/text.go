package search

import (
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Bounds of what is indexed of one message.
const (
	MaxTerms         = 16_000
	MaxArtifactBytes = 256 << 10 // of artifact text
)

// Artifacts are the artifacts whose text search reads with a message, each up to
// [MaxArtifactBytes].
func Artifacts(parts scrollback.Parts) (ids []scrollback.ArtifactID) {
	for _, p := range parts {
		switch p := p.(type) {
		case scrollback.File:
			if strings.HasPrefix(p.MediaType, "text/") || p.MediaType == "application/json" {
				ids = append(ids, p.Artifact)
			}
		case scrollback.ToolResult:
			if p.Artifact != "" {
				ids = append(ids, p.Artifact)
			}
		case scrollback.Text, scrollback.Image, scrollback.ToolCall, scrollback.Reasoning:
		}
	}
	return ids
}

// Text is what search reads of a message: everything a person or a tool said in it, but
// no look-up in the log or its result, which only repeat the log.
func Text(parts scrollback.Parts) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case scrollback.Text:
			if !p.Recall() {
				b.WriteString(p.Text)
			}
		case scrollback.ToolCall:
			if !p.Recall() {
				b.WriteString(p.Name + " ")
				b.Write(p.Arguments)
			}
		case scrollback.ToolResult:
			if !p.Recall {
				b.WriteString(p.Name + " " + p.Text)
			}
		case scrollback.Image:
			b.WriteString(p.Name)
		case scrollback.File:
			b.WriteString(p.Name)
		case scrollback.Reasoning: // not said to anyone
		}
		b.WriteByte('\n')
	}
	return b.String()
}
