package dialect

import (
	"strings"

	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/toolform"
)

// readChat reads a request of OpenAI's chat completions.
func (l *list) readChat(fields map[string]any) {
	for _, tool := range elements(fields["tools"]) {
		l.addTool(firstOf(field(tool, "function", "name"), field(tool, "custom", "name"), field(tool, "type")))
	}
	for _, f := range elements(fields["functions"]) {
		l.addTool(field(f, "name"))
	}
	l.readEach(elements(fields["messages"]), func(m any) { l.readChatMessage(object(m)) })
}

// addTool adds the name of a tool that is offered.
func (l *list) addTool(name any) {
	if s := text(name); s != "" {
		l.request.Tools = append(l.request.Tools, s)
	}
}

func (l *list) readChatMessage(m map[string]any) {
	role := roleOf(m["role"])
	for _, name := range []string{"reasoning_content", "reasoning", "thinking"} {
		if s := text(m[name]); s != "" {
			l.add(threading.Item{Role: role, Kind: threading.Thinking, Text: s})
			break
		}
	}
	if role == threading.Tool {
		l.add(threading.Item{Role: role, Kind: threading.Result, Text: joinTexts(m["content"]), ID: text(m["tool_call_id"]),
			Name: text(firstOf(m["tool_name"], m["name"]))})
		return
	}
	l.each(m["content"], func(p any) { l.readPart(role, p) })
	l.addText(role, text(m["refusal"]))
	l.each(m["tool_calls"], func(c any) {
		it := threading.Item{Role: role, Kind: threading.Call, ID: text(field(c, "id")),
			Name: text(field(c, "function", "name")), Text: canonicalArguments(field(c, "function", "arguments"))}
		if custom := object(field(c, "custom")); custom != nil {
			it.Name = text(custom["name"])
			it.Text = textArguments(custom["input"])
		}
		l.add(it)
	})
	if f := object(m["function_call"]); f != nil {
		l.add(threading.Item{Role: role, Kind: threading.Call, Name: text(f["name"]),
			Text: canonicalArguments(f["arguments"])})
	}
}

// canonicalArguments returns the arguments of a call in canonical JSON; none are an empty object.
func canonicalArguments(v any) string {
	if v == nil {
		return "{}"
	}
	return canonical(v)
}

// textArguments returns the arguments of a call of a tool that takes a text, as a model gives them.
func textArguments(input any) string {
	return canonicalArguments(string(toolform.Arguments(text(input))))
}

// readPart reads a part of a message in one of OpenAI's dialects.
func (l *list) readPart(role threading.Role, p any) {
	if s, ok := p.(string); ok {
		l.addText(role, s)
		return
	}
	o := object(p)
	if o == nil {
		return
	}
	switch kind := text(o["type"]); kind {
	case "", "text", "input_text", "output_text":
		l.addText(role, text(o["text"]))
	case "refusal":
		l.addText(role, text(firstOf(o["refusal"], o["text"])))
	case "image_url", "input_image", "image", "input_file", "file", "document", "input_audio", "audio":
		l.add(threading.Item{Role: role, Kind: threading.Image, Text: digest(without(o, "cache_control")),
			Media: readMedia(o)})
	default:
		l.add(threading.Item{Role: role, Kind: threading.Opaque, Text: kind + " " + canonical(without(o, "cache_control"))})
	}
}

// joinTexts returns the text of a result: of a string, of the parts of a list, or the value in canonical JSON.
func joinTexts(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		var out []string
		for _, p := range v {
			if s, ok := p.(string); ok {
				out = append(out, s)
				continue
			}
			if s, ok := field(p, "text").(string); ok {
				out = append(out, s)
				continue
			}
			if o := object(p); o != nil {
				out = append(out, digest(without(o, "cache_control")))
			}
		}
		return strings.Join(out, "\n")
	default:
		return canonical(v)
	}
}
