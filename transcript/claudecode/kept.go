package claudecode

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// keptMessage is a message of ours on a line that we wrote, where the line itself cannot say
// all of it. Without a role it stands on a further line of the same answer.
type keptMessage struct {
	Role    scrollback.Role   `json:"role,omitempty"`
	Name    string            `json:"name,omitempty"`
	Model   string            `json:"model,omitempty"`
	Status  scrollback.Status `json:"status,omitempty"`
	Content json.RawMessage   `json:"content,omitempty"` // parts with the bytes of attachments
}

// UnmarshalJSON implements json.Unmarshaler. What has another shape is none of ours.
func (k *keptMessage) UnmarshalJSON(raw []byte) error {
	type fields keptMessage // without this method
	var f fields
	if json.Unmarshal(raw, &f) != nil {
		f = fields{Role: "?"}
	}
	*k = keptMessage(f)
	return nil
}

// readOwn takes a message of ours from its line, and reports whether it is one.
func (t *conversationReading) readOwn(l *line) bool {
	k := l.Scrollback
	if k.Role == "" && l.Type == "assistant" {
		l.kind = answer
		return true
	}
	kinds := map[scrollback.Role]kind{scrollback.RoleUser: prompt, scrollback.RoleSystem: prompt,
		scrollback.RoleAssistant: answer, scrollback.RoleTool: result}
	var parts scrollback.Parts
	if kinds[k.Role] == aside || json.Unmarshal(k.Content, &parts) != nil || len(parts) == 0 {
		l.Scrollback = nil
		return false
	}
	bytes, err := transcript.DecodeAttached(k.Content, parts)
	if err != nil {
		l.Scrollback = nil
		return false
	}
	for i, p := range parts {
		if !isWhole(p, bytes[i]) {
			l.Scrollback = nil
			return false
		}
	}
	for i, p := range parts {
		l.pieces = append(l.pieces, messagePiece{part: p, data: bytes[i]})
		if _, ok := p.(scrollback.ToolResult); ok {
			l.results++
		}
	}
	l.kind = kinds[k.Role]
	switch {
	case l.IsCompactSummary && l.kind == prompt:
		l.kind = summary
	case l.kind == answer && l.Type != "assistant", l.kind == result && l.results == 0:
		l.kind = prompt // it stands where it is: it is not part of an answer, nor the result of a call
	}
	if k.Status != "" && !k.Status.Known() {
		k.Status = ""
	}
	return true
}

// isWhole reports whether a part has all that it needs.
func isWhole(p scrollback.Part, data []byte) bool {
	switch p := p.(type) {
	case scrollback.Image:
		return data != nil || p.URL != "" && p.Artifact == ""
	case scrollback.File:
		return data != nil && p.Artifact == ""
	case scrollback.ToolCall:
		return p.ID != "" && p.Name != "" && json.Valid(p.Arguments)
	case scrollback.ToolResult:
		return p.CallID != "" && p.Artifact == ""
	}
	return true
}
