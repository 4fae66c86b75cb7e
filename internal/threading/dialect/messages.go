package dialect

import (
	"strings"

	"github.com/scrollback-ai/scrollback/internal/threading"
)

// readMessages reads a request of Anthropic's messages.
func (l *list) readMessages(fields map[string]any) {
	r := l.request
	if s := text(fields["system"]); s != "" {
		r.System = append(r.System, s)
	}
	for _, block := range elements(fields["system"]) {
		if s := text(field(block, "text")); s != "" && !strings.HasPrefix(s, attribution) {
			r.System = append(r.System, s)
		}
	}
	for _, tool := range elements(fields["tools"]) {
		l.addTool(firstOf(field(tool, "name"), field(tool, "type")))
	}
	if text(field(fields, "thread", "type")) == "continue" {
		r.Chain = text(field(fields, "thread", "previous_message_id"))
	}
	l.readEach(elements(fields["messages"]), func(m any) {
		role := roleOf(field(m, "role"))
		l.each(field(m, "content"), func(p any) { l.readBlock(role, p) })
	})
}

func (l *list) readBlock(role threading.Role, p any) {
	if s, ok := p.(string); ok {
		l.addText(role, s)
		return
	}
	o := object(p)
	if o == nil {
		return
	}
	switch kind := text(o["type"]); kind {
	case "", "text":
		l.addText(role, text(o["text"]))
	case "tool_use":
		l.add(threading.Item{Role: role, Kind: threading.Call, Name: text(o["name"]), ID: text(o["id"]),
			Text: canonicalArguments(o["input"])})
	case "tool_result":
		l.add(threading.Item{Role: threading.Tool, Kind: threading.Result, ID: text(o["tool_use_id"]),
			Text: joinTexts(o["content"]), IsError: o["is_error"] == true})
	case "thinking", "redacted_thinking":
		l.add(threading.Item{Role: role, Kind: threading.Thinking, Text: text(firstOf(o["thinking"], o["data"]))})
	case "image", "document":
		l.add(threading.Item{Role: role, Kind: threading.Image, Text: digest(o["source"]), Media: readMedia(o)})
	case "compaction":
		l.add(threading.Item{Role: role, Kind: threading.Compaction, Text: canonical(without(o, "cache_control"))})
	default:
		l.add(threading.Item{Role: role, Kind: threading.Opaque, Text: kind + " " + canonical(without(o, "cache_control"))})
	}
}
