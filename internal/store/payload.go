package store

import (
	"bytes"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
)

// compactPayloads replaces the payloads of parts by the form in which they are read back, without
// space between tokens: what is weighed and sent now is then what is read later.
//
// What is weighed and sent when a message is stored is what is read of it later.
func compactPayloads(parts scrollback.Parts) {
	for i, p := range parts {
		switch p := p.(type) {
		case scrollback.ToolCall:
			if p.Arguments == nil {
				p.Arguments = json.RawMessage("null")
			}
			p.Arguments = compactJSON(p.Arguments)
			p.Opaque = compactJSON(p.Opaque)
			parts[i] = p
		case scrollback.Text:
			p.Opaque = compactJSON(p.Opaque)
			parts[i] = p
		case scrollback.Image:
			p.Opaque = compactJSON(p.Opaque)
			parts[i] = p
		case scrollback.File:
			p.Opaque = compactJSON(p.Opaque)
			parts[i] = p
		case scrollback.ToolResult:
			p.Opaque = compactJSON(p.Opaque)
			parts[i] = p
		case scrollback.Reasoning:
			p.Opaque = compactJSON(p.Opaque)
			parts[i] = p
		}
	}
}

// compactJSON is raw without the space between its tokens; what is not JSON stays.
func compactJSON(raw json.RawMessage) json.RawMessage {
	var buf bytes.Buffer
	if len(raw) == 0 || json.Compact(&buf, raw) != nil {
		return raw
	}
	return buf.Bytes()
}
