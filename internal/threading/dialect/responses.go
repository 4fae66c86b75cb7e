package dialect

import (
	"strings"

	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/toolform"
)

// readResponses reads a request of OpenAI's responses, over HTTP or a WebSocket.
func (l *list) readResponses(fields map[string]any) {
	r := l.request
	if s := text(fields["instructions"]); s != "" {
		r.System = append(r.System, s)
	}
	for _, tool := range elements(fields["tools"]) {
		l.addResponsesTool(tool, "")
	}
	r.Chain = text(fields["previous_response_id"])
	r.Conversation = text(fields["conversation"])
	if r.Conversation == "" {
		r.Conversation = text(field(fields, "conversation", "id"))
	}
	r.WarmUp = fields["generate"] == false
	if s, ok := fields["input"].(string); ok {
		l.addText(threading.User, s)
		return
	}
	l.readEach(elements(fields["input"]), func(item any) {
		if s, ok := item.(string); ok {
			l.addText(threading.User, s)
		} else if o := object(item); o != nil {
			l.readResponsesItem(o)
		}
	})
}

// readResponsesItem reads an item of an input, or of an output.
func (l *list) readResponsesItem(o map[string]any) {
	id := text(o["call_id"])
	switch kind := text(o["type"]); {
	case kind == "", kind == "message":
		role := roleOf(o["role"])
		l.each(o["content"], func(p any) { l.readPart(role, p) })
	case kind == "reasoning":
		l.add(threading.Item{Role: threading.Assistant, Kind: threading.Thinking, Text: canonical(o)})
	case kind == "function_call":
		l.add(threading.Item{Role: threading.Assistant, Kind: threading.Call, ID: id,
			Name: modelName(o["namespace"], o["name"]), Text: canonicalArguments(o["arguments"])})
	case kind == "custom_tool_call":
		l.add(threading.Item{Role: threading.Assistant, Kind: threading.Call, ID: id,
			Name: modelName(o["namespace"], o["name"]), Text: textArguments(o["input"])})
	case kind == "additional_tools":
		for _, tool := range elements(o["tools"]) {
			l.addResponsesTool(tool, "")
		}
	case kind == "compaction_trigger":
		l.request.Compacts = true
	case kind == "compaction":
		l.add(threading.Item{Role: threading.Assistant, Kind: threading.Compaction,
			Text: canonical(without(o, "id", "status"))})
	case kind == "item_reference":
		l.add(threading.Item{Role: threading.Assistant, Kind: threading.Opaque, Text: kind + " " + text(o["id"])})
	case strings.HasSuffix(kind, "_call"):
		l.add(threading.Item{Role: threading.Assistant, Kind: threading.Opaque, ID: id,
			Text: kind + " " + canonical(without(o, "id", "status"))})
	case strings.HasSuffix(kind, "_output"):
		l.add(threading.Item{Role: threading.Tool, Kind: threading.Result, ID: id, Text: joinTexts(o["output"])})
	default:
		l.add(threading.Item{Role: threading.Assistant, Kind: threading.Opaque,
			Text: kind + " " + canonical(without(o, "id", "status"))})
	}
}

// addResponsesTool adds the name of a tool, or of each one of a namespace.
func (l *list) addResponsesTool(tool any, namespace string) {
	name := text(firstOf(field(tool, "name"), field(tool, "type")))
	if text(field(tool, "type")) != "namespace" || namespace != "" {
		l.addTool(modelName(namespace, name))
		return
	}
	for _, one := range elements(field(tool, "tools")) {
		l.addResponsesTool(one, name)
	}
}

// modelName returns the name that models have for a tool, which may be in a namespace.
func modelName(namespace, name any) string {
	return toolform.Name(text(namespace), text(name))
}
