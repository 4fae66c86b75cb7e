package claudecode

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback/internal/plainjson"
)

// Lines are mostly long texts. encoding/json goes over each of them several times for every level that it reads; what
// follows goes over them once, and reads lines and blocks whose fields are named as the tool names them. Anything else
// is left to encoding/json: both read the same.

// fieldSetter sets a field of a T from its JSON. Values of a type that is not expected change nothing.
type fieldSetter[T any] func(to *T, value []byte)

// fieldTable has the fields of a T by the names that JSON gives them.
type fieldTable[T any] map[string]fieldSetter[T]

// textField returns the setter of a text.
func textField[T any](field func(*T) *string) fieldSetter[T] {
	return func(to *T, value []byte) {
		if text, ok := plainjson.Text(value); ok {
			*field(to) = text
		}
	}
}

// flagField returns the setter of a truth value.
func flagField[T any](field func(*T) *bool) fieldSetter[T] {
	return func(to *T, value []byte) {
		switch string(value) {
		case "true":
			*field(to) = true
		case "false":
			*field(to) = false
		}
	}
}

// otherField returns the setter of a field that is read by encoding/json.
func otherField[T any](field func(*T) any) fieldSetter[T] {
	return func(to *T, value []byte) { _ = json.Unmarshal(value, field(to)) } // what is of another type is missing
}

// set sets the fields of a T from an object that is valid JSON. It reports whether it could: a name that is spelled in
// another way may be one of the fields as well.
func (t fieldTable[T]) set(to *T, raw []byte) bool {
	for quoted, value := range plainjson.Members(raw) {
		name := quoted[1 : len(quoted)-1]
		if set := t[string(name)]; set != nil {
			set(to, value)
		} else if bytes.IndexByte(name, '\\') >= 0 || t.mayName(string(name)) {
			return false
		}
	}
	return true
}

// mayName reports whether encoding/json would take a name for that of a field, spelled in another way.
func (t fieldTable[T]) mayName(name string) bool {
	foreign := strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 // some fold to s and k
	for known := range t {
		if (foreign || len(known) == len(name)) && strings.EqualFold(known, name) {
			return true
		}
	}
	return false
}

var lineFields = fieldTable[line]{
	"type":              textField(func(l *line) *string { return &l.Type }),
	"subtype":           textField(func(l *line) *string { return &l.Subtype }),
	"uuid":              textField(func(l *line) *string { return &l.UUID }),
	"parentUuid":        textField(func(l *line) *string { return &l.ParentUUID }),
	"logicalParentUuid": textField(func(l *line) *string { return &l.LogicalParentUUID }),
	"leafUuid":          textField(func(l *line) *string { return &l.LeafUUID }),
	"timestamp":         textField(func(l *line) *string { return &l.Timestamp }),
	"sessionId":         textField(func(l *line) *string { return &l.SessionID }),
	"cwd":               textField(func(l *line) *string { return &l.CWD }),
	"gitBranch":         textField(func(l *line) *string { return &l.GitBranch }),
	"version":           textField(func(l *line) *string { return &l.Version }),
	"entrypoint":        textField(func(l *line) *string { return &l.Entrypoint }),
	"requestId":         textField(func(l *line) *string { return &l.RequestID }),
	"agentId":           textField(func(l *line) *string { return &l.AgentID }),
	"summary":           textField(func(l *line) *string { return &l.Summary }),
	"customTitle":       textField(func(l *line) *string { return &l.CustomTitle }),
	"aiTitle":           textField(func(l *line) *string { return &l.AITitle }),
	"isSidechain":       flagField(func(l *line) *bool { return &l.IsSidechain }),
	"isMeta":            flagField(func(l *line) *bool { return &l.IsMeta }),
	"isCompactSummary":  flagField(func(l *line) *bool { return &l.IsCompactSummary }),
	"isApiErrorMessage": flagField(func(l *line) *bool { return &l.IsAPIErrorMessage }),
	"message": func(l *line, value []byte) {
		was := l.Message
		if !messageFields.set(&l.Message, value) {
			l.Message = was
			_ = json.Unmarshal(value, &l.Message)
		}
	},
	"attachment":      otherField(func(l *line) any { return &l.Attachment }),
	"compactMetadata": otherField(func(l *line) any { return &l.CompactMetadata }),
	"toolUseResult":   func(l *line, value []byte) { _ = l.ToolUseResult.UnmarshalJSON(value) }, // it never fails
	"scrollback":      otherField(func(l *line) any { return &l.Scrollback }),
}

var messageFields = fieldTable[apiMessage]{
	"id":          textField(func(m *apiMessage) *string { return &m.ID }),
	"model":       textField(func(m *apiMessage) *string { return &m.Model }),
	"content":     func(m *apiMessage, value []byte) { m.Content = value },
	"stop_reason": textField(func(m *apiMessage) *string { return &m.StopReason }),
	"usage":       otherField(func(m *apiMessage) any { return &m.Usage }),
}

var blockFields = fieldTable[block]{
	"type":        textField(func(b *block) *string { return &b.Type }),
	"text":        textField(func(b *block) *string { return &b.Text }),
	"thinking":    textField(func(b *block) *string { return &b.Thinking }),
	"signature":   textField(func(b *block) *string { return &b.Signature }),
	"data":        textField(func(b *block) *string { return &b.Data }),
	"id":          textField(func(b *block) *string { return &b.ID }),
	"name":        textField(func(b *block) *string { return &b.Name }),
	"input":       func(b *block, value []byte) { b.Input = value },
	"tool_use_id": textField(func(b *block) *string { return &b.ToolUseID }),
	"content":     func(b *block, value []byte) { b.Content = value },
	"is_error":    flagField(func(b *block) *bool { return &b.IsError }),
	"title":       textField(func(b *block) *string { return &b.Title }),
	"source":      otherField(func(b *block) any { return &b.Source }),
}

// decodeLine reads a line that is valid JSON.
func decodeLine(raw []byte) (*line, error) {
	l := &line{}
	if lineFields.set(l, raw) && l.Type != "" {
		return l, nil
	}
	l = &line{}
	return l, json.Unmarshal(raw, l)
}

// decodeBlock reads a block that is valid JSON. Fields of another type count as missing.
func decodeBlock(raw []byte) (b block) {
	if !blockFields.set(&b, raw) {
		b = block{}
		_ = json.Unmarshal(raw, &b)
	}
	return b
}
