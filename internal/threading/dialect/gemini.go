package dialect

import (
	"strings"

	"github.com/scrollback-ai/scrollback/internal/threading"
)

// readGemini reads a request of Google's generateContent. Its model stands in the path, which the caller reads.
func (l *list) readGemini(fields map[string]any) {
	instructions := firstOf(fields["systemInstruction"], fields["system_instruction"])
	if s := text(instructions); s != "" {
		l.request.System = append(l.request.System, s)
	}
	for _, p := range elements(field(instructions, "parts")) {
		if s := text(field(p, "text")); s != "" {
			l.request.System = append(l.request.System, s)
		}
	}
	for _, tool := range elements(fields["tools"]) {
		for _, f := range elements(firstOf(field(tool, "functionDeclarations"), field(tool, "function_declarations"))) {
			l.addTool(field(f, "name"))
		}
		for _, name := range []string{"googleSearch", "codeExecution", "urlContext"} {
			if field(tool, name) != nil {
				l.addTool(name)
			}
		}
	}
	contents := fields["contents"]
	if _, ok := contents.([]any); !ok && contents != nil {
		contents = []any{contents}
	}
	l.readEach(elements(contents), func(c any) {
		if s, ok := c.(string); ok {
			l.addText(threading.User, s)
			return
		}
		role := roleOf(field(c, "role"))
		l.each(field(c, "parts"), func(p any) { l.readGeminiPart(role, object(p)) })
	})
}

func (l *list) readGeminiPart(role threading.Role, p map[string]any) {
	call := object(firstOf(p["functionCall"], p["function_call"]))
	result := object(firstOf(p["functionResponse"], p["function_response"]))
	switch {
	case p == nil:
	case p["thought"] == true:
		l.add(threading.Item{Role: role, Kind: threading.Thinking, Text: text(p["text"])})
	case call != nil:
		l.add(threading.Item{Role: role, Kind: threading.Call, Name: text(call["name"]), ID: callID(call),
			Text: canonicalArguments(call["args"])})
	case result != nil:
		l.add(threading.Item{Role: threading.Tool, Kind: threading.Result, ID: callID(result),
			Name: text(result["name"]), Text: canonical(result["response"])})
	case p["text"] != nil:
		l.addText(role, text(p["text"]))
	default:
		l.add(threading.Item{Role: role, Kind: threading.Image, Text: digest(without(p, "thoughtSignature")),
			Media: readMedia(p)})
	}
}

// callID returns the id of a call, or of the result of one. Gemini CLI puts the name of the tool before it where it
// asks for a summary, and in no other request.
func callID(o map[string]any) string {
	return strings.TrimPrefix(text(o["id"]), text(o["name"])+"__")
}
