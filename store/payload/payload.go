// Package payload brings what providers and callers put into messages as JSON into the form
// in which it is read back.
//
// Invariant: what is weighed and sent when a message is stored is what is read of it later.
package payload

import (
	"bytes"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
)

// Compact replaces the payloads of parts by the form in which they are read back, without
// space between tokens: what is weighed and sent now is then what is read later.
func Compact(parts scrollback.Parts) {
	for i, p := range parts {
		switch p := p.(type) {
		case scrollback.ToolCall:
			if p.Arguments == nil {
				p.Arguments = json.RawMessage("null")
			}
			p.Arguments = plain(p.Arguments)
			p.Opaque = plain(p.Opaque)
			parts[i] = p
		case scrollback.Text:
			p.Opaque = plain(p.Opaque)
			parts[i] = p
		case scrollback.Image:
			p.Opaque = plain(p.Opaque)
			parts[i] = p
		case scrollback.File:
			p.Opaque = plain(p.Opaque)
			parts[i] = p
		case scrollback.ToolResult:
			p.Opaque = plain(p.Opaque)
			parts[i] = p
		case scrollback.Reasoning:
			p.Opaque = plain(p.Opaque)
			parts[i] = p
		}
	}
}

// plain is raw without the space between its tokens; what is not JSON stays.
func plain(raw json.RawMessage) json.RawMessage {
	var buf bytes.Buffer
	if len(raw) == 0 || json.Compact(&buf, raw) != nil {
		return raw
	}
	return buf.Bytes()
}
