package jsonl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/plainjson"
	"github.com/scrollback-ai/scrollback/transcript"
)

// roles are what others call a role.
var roles = map[string]scrollback.Role{
	"model": scrollback.RoleAssistant, "gpt": scrollback.RoleAssistant, "chatgpt": scrollback.RoleAssistant,
	"bot": scrollback.RoleAssistant,
	"ai":  scrollback.RoleAssistant, "human": scrollback.RoleUser, "developer": scrollback.RoleSystem,
	"function":    scrollback.RoleTool,
	"observation": scrollback.RoleTool,
}

// messageForm is one message of a record, or an entry that is none.
type messageForm struct {
	message json.RawMessage
	source  string
	entry   transcript.Entry
}

// lists are the fields in which a record has a whole conversation.
var lists = []string{"messages", "conversations", "conversation", "contents", "input"}

// messageList returns the list of messages that an object has, or nil.
func messageList(object map[string]json.RawMessage) (out []json.RawMessage) {
	for _, name := range lists {
		if out = nil; json.Unmarshal(object[name], &out) == nil && len(out) > 0 && isMessage(out[0]) {
			return out
		}
	}
	return nil
}

// isMessage reports whether a value says who says something.
func isMessage(raw json.RawMessage) bool {
	var m struct {
		Role *string `json:"role"`
		From *string `json:"from"`
	}
	return json.Unmarshal(raw, &m) == nil && (m.Role != nil || m.From != nil)
}

// sniffForms reports whether a file begins with messages in one of the forms of others.
//
//nolint:gocognit // a list of forms, each with its signs
func sniffForms(head []byte) bool {
	switch {
	case bytes.HasPrefix(head, []byte("[")):
		seen := transcript.ItemHeadFields(head)
		if seen["role"] && (seen["content"] || seen["parts"] || seen["tool_calls"]) || seen["from"] && seen["value"] {
			return true
		}
		rest := bytes.TrimLeft(head[1:], " \t\r\n")
		return sniffForms(rest)
	case bytes.HasPrefix(head, []byte("{")):
		d := transcript.NewDocument(bytes.NewReader(head), transcript.MaxLine)
		seen := map[string]bool{}
		for {
			name, err := d.Next()
			if err != nil {
				return seen["prompt"] && (seen["completion"] || seen["response"]) ||
					seen["instruction"] && (seen["output"] || seen["response"]) ||
					seen["question"] && seen["answer"]
			}
			seen[name] = true
			if name == "messages" || name == "conversations" || name == "conversation" || name == "contents" || name == "input" {
				at := bytes.Index(head, []byte(`"`+name+`"`))
				rest := bytes.TrimLeft(head[max(at, 0)+len(name)+2:], " \t\r\n:")
				if name == "input" && !bytes.HasPrefix(rest, []byte("[")) { // of another form
					if _, err := d.Value(); err != nil {
						return false
					}
					continue
				}
				if !bytes.HasPrefix(rest, []byte("[")) {
					return false
				}
				seen := transcript.ItemHeadFields(rest)
				if seen["messages"] {
					return sniffForms(bytes.TrimLeft(rest[1:], " \t\r\n"))
				}
				return seen["role"] && (seen["content"] || seen["parts"] || seen["tool_calls"]) || seen["from"] && seen["value"]
			}
			if _, err := d.Value(); err != nil {
				return false
			}
		}
	}
	return false
}

// readForms returns the messages of a record: itself, or those of the conversations that it is. Each of
// several conversations without an id is identified by its place in the file.
//
//nolint:gocognit // a list of forms, each with its fields
func readForms(raw json.RawMessage, talks *int) []messageForm {
	talk := func(id string, list []json.RawMessage) (out []messageForm) {
		if *talks++; id == "" && *talks > 1 {
			id = strconv.Itoa(*talks)
		}
		for _, m := range list {
			m = responsesItem(m)
			out = append(out, messageForm{message: m, source: id})
		}
		return out
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil {
		if len(items) == 0 {
			return nil
		}
		if isMessage(items[0]) {
			return talk("", items)
		}
		var out []messageForm
		for _, item := range items {
			out = append(out, readForms(item, talks)...)
		}
		return out
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || object["role"] != nil {
		return []messageForm{{message: bytes.Clone(raw)}}
	}
	list := messageList(object)
	if list == nil {
		list = questionPair(object)
	}
	if list == nil {
		var out []messageForm
		for _, name := range lists { // of conversations, not of messages
			var inner []map[string]json.RawMessage
			if json.Unmarshal(object[name], &inner) != nil {
				continue
			}
			for i := range inner {
				if messageList(inner[i]) == nil {
					continue
				}
				one, err := json.Marshal(inner[i])
				if err != nil {
					continue
				}
				out = append(out, readForms(one, talks)...)
			}
		}
		if out != nil {
			return out
		}
		return []messageForm{{message: bytes.Clone(raw)}}
	}
	text := func(names ...string) string {
		for _, name := range names {
			var s string
			if json.Unmarshal(object[name], &s) == nil && strings.TrimSpace(s) != "" {
				return s
			}
		}
		return ""
	}
	id := text("id", "conversation_id")
	out := talk(id, list)
	about := &scrollback.Conversation{Title: text("title"),
		Instructions: cmp.Or(text("system", "instructions"), systemText(object))}
	if about.Title != "" || about.Instructions != "" {
		out = append([]messageForm{{entry: transcript.Entry{Source: out[0].source, Conversation: about}}}, out...)
	}
	return out
}

// questionPair returns the two messages of a line that has a question and its answer, as files for
// fine-tuning do; nil if it is none.
func questionPair(object map[string]json.RawMessage) []json.RawMessage {
	text := func(name string) string {
		var s string
		if json.Unmarshal(object[name], &s) != nil {
			return ""
		}
		return s
	}
	for _, names := range [][3]string{{"prompt", "completion"}, {"prompt", "response"}, {"instruction", "output", "input"},
		{"instruction", "response", "context"},
		{"question", "answer"}} {
		asked := text(names[0])
		answer := text(names[1])
		if strings.TrimSpace(asked) == "" || strings.TrimSpace(answer) == "" {
			continue
		}
		if more := text(names[2]); names[2] != "" && more != "" {
			asked += "\n\n" + more
		}
		user, err := plainjson.Marshal(map[string]any{"role": "user", "content": asked})
		assistant, err2 := plainjson.Marshal(map[string]any{"role": "assistant", "content": answer})
		if err == nil && err2 == nil {
			return []json.RawMessage{user, assistant}
		}
	}
	return nil
}

// responsesItem returns a message of OpenAI's responses: calls, results and thoughts stand beside what is said
// there. Others stay as they are.
func responsesItem(raw json.RawMessage) json.RawMessage {
	var it struct {
		Type, Name, Role  string
		CallID            string `json:"call_id"`
		Arguments, Output json.RawMessage
		Summary           json.RawMessage
	}
	if json.Unmarshal(raw, &it) != nil || it.Role != "" {
		return raw
	}
	var m any
	switch it.Type {
	case "function_call":
		m = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": it.CallID,
			"function": map[string]any{"name": it.Name, "arguments": it.Arguments}}}}
	case "function_call_output":
		m = map[string]any{"role": "tool", "tool_call_id": it.CallID, "content": it.Output}
	case "reasoning":
		words := resultText(it.Summary)
		if words == "" {
			return raw
		}
		m = map[string]any{"role": "assistant", "reasoning_content": words}
	default:
		return raw
	}
	out, err := plainjson.Marshal(m)
	if err != nil {
		return raw
	}
	return out
}

// systemText returns instructions that stand in parts: Anthropic's, Bedrock's and Gemini's.
func systemText(object map[string]json.RawMessage) string {
	for _, name := range []string{"system", "systemInstruction", "system_instruction"} {
		raw := object[name]
		var of struct {
			Parts json.RawMessage `json:"parts"`
		}
		if json.Unmarshal(raw, &of) == nil && len(of.Parts) > 0 {
			raw = of.Parts
		}
		if words := resultText(raw); strings.TrimSpace(words) != "" {
			return words
		}
	}
	return ""
}

// messageFields is what a message has in the forms of others.
type messageFields struct {
	Value     *string         `json:"value"`
	Parts     json.RawMessage `json:"parts"`
	Reasoning string          `json:"reasoning_content"`
	Thoughts  string          `json:"reasoning"`
	Details   json.RawMessage `json:"reasoning_details"`
	Calls     []struct {
		besideCall
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	CallID  string `json:"tool_call_id"`
	Name    string `json:"name"`
	Refusal string `json:"refusal"`
}

// besideCall is what came beside a call and goes back with it; some gateways keep a model's
// signature there.
type besideCall struct {
	Extra    json.RawMessage `json:"extra_content,omitempty"`
	Specific json.RawMessage `json:"provider_specific_fields,omitempty"`
}

// keptPayload returns a payload as a part's own form has it, or nil for none.
func keptPayload(v any) json.RawMessage {
	b, err := plainjson.Marshal(v)
	if err != nil || len(b) <= len("{}") {
		return nil
	}
	return b
}

// withPayload returns a part with the payload that goes back with it.
func withPayload(fields map[string]any, opaque json.RawMessage) map[string]any {
	if len(opaque) > 0 && string(opaque) != "null" {
		fields["opaque"] = opaque
	}
	return fields
}

// readContent returns what a message says, as our own parts.
func readContent(line, given json.RawMessage, role scrollback.Role) (json.RawMessage, error) {
	var s messageFields
	if json.Unmarshal(line, &s) != nil { // of another's fields some have another meaning here
		s = messageFields{}
	}
	if s.Value != nil && len(given) == 0 {
		given, _ = json.Marshal(*s.Value) // a text has no other form
	}
	if len(given) == 0 {
		given = s.Parts
	}
	more := s.Reasoning != "" || s.Thoughts != "" || reasoningDetails(s.Details) != nil || len(s.Calls) > 0 ||
		s.Refusal != ""
	switch {
	case len(given) == 0 && !more:
		return nil, errors.New("a message without content")
	case len(given) == 0 || string(given) == "null":
		given = json.RawMessage(`[]`)
	}
	var parts []any
	var text string
	var list []json.RawMessage
	switch {
	case json.Unmarshal(given, &text) == nil:
		if s.CallID != "" && role == scrollback.RoleTool {
			return json.Marshal([]any{map[string]any{"type": "tool_result", "call_id": s.CallID, "name": s.Name, "text": text}})
		}
		if !more {
			return given, nil
		}
		if text != "" {
			parts = append(parts, map[string]any{"type": "text", "text": text})
		}
	case json.Unmarshal(given, &list) == nil:
		var texts []string
		for _, raw := range list {
			part, plain := readPart(raw)
			parts = append(parts, part)
			texts = append(texts, plain)
		}
		if s.CallID != "" && role == scrollback.RoleTool {
			return json.Marshal([]any{map[string]any{"type": "tool_result", "call_id": s.CallID, "name": s.Name,
				"text": strings.Join(texts, "")}})
		}
	default:
		return given, nil // the parts say what is wrong with it
	}
	if list := reasoningDetails(s.Details); s.Reasoning+s.Thoughts != "" || list != nil {
		var opaque json.RawMessage
		if list != nil {
			opaque = keptPayload(map[string]any{"details": list})
		}
		parts = append([]any{withPayload(map[string]any{"type": "reasoning", "text": cmp.Or(s.Reasoning, s.Thoughts)},
			opaque)},
			parts...)
	}
	if s.Refusal != "" {
		parts = append(parts, map[string]any{"type": "text", "text": s.Refusal})
	}
	for i, c := range s.Calls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", i)
		}
		call := map[string]any{"type": "tool_call", "id": c.ID, "name": c.Function.Name,
			"arguments": callArguments(c.Function.Arguments)}
		parts = append(parts, withPayload(call, keptPayload(c.besideCall)))
	}
	if parts == nil {
		parts = []any{}
	}
	return plainjson.Marshal(parts)
}

// reasoningDetails are OpenRouter's details of reasoning, which its servers want back in order.
func reasoningDetails(raw json.RawMessage) (out []json.RawMessage) {
	if json.Unmarshal(raw, &out) != nil || len(out) == 0 {
		return nil
	}
	return out
}

// geminiText returns a text of Gemini's form: a thought where it is said to be one.
func geminiText(text string, thought bool, signature json.RawMessage) map[string]any {
	kind := "text"
	if thought {
		kind = "reasoning"
	}
	return withPayload(map[string]any{"type": kind, "text": text}, signature)
}

// callArguments returns those of a call, which may stand in a text.
func callArguments(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if raw = json.RawMessage(text); !json.Valid(raw) {
			raw, _ = json.Marshal(text)
		}
	}
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == `""` {
		return json.RawMessage(`{}`)
	}
	return raw
}

// readPart returns a part as we have it, and its text; what is not known stays as it stands.
func readPart(raw json.RawMessage) (part any, plain string) {
	var p struct {
		Type     string          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Thinking string          `json:"thinking"`
		ImageURL json.RawMessage `json:"image_url"`
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Input    json.RawMessage `json:"input"`
		UseID    string          `json:"tool_use_id"`
		Content  json.RawMessage `json:"content"`
		IsError  bool            `json:"is_error"`
		Sign     json.RawMessage `json:"signature"`
		Data     string          `json:"data"`
		Thought  bool            `json:"thought"`
		Signed   json.RawMessage `json:"thoughtSignature"`
		Call     *struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCall"`
		Answer *struct {
			ID       string          `json:"id"`
			Name     string          `json:"name"`
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
		Source *struct {
			Type, Data, URL string
			MediaType       string `json:"media_type"`
		} `json:"source"`
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return map[string]any{"type": "text", "text": text}, text
	}
	if json.Unmarshal(raw, &p) != nil {
		return raw, ""
	}
	isText := json.Unmarshal(p.Text, &text) == nil
	switch {
	case isText && (p.Type == "" || p.Type == "input_text" || p.Type == "output_text"):
		return geminiText(text, p.Thought, p.Signed), text
	case p.Type == "" && p.Call != nil:
		return withPayload(map[string]any{"type": "tool_call", "id": cmp.Or(p.Call.ID, "call_"+p.Call.Name),
			"name":      p.Call.Name,
			"arguments": callArguments(p.Call.Args)}, p.Signed), ""
	case p.Type == "" && p.Answer != nil:
		return map[string]any{"type": "tool_result", "call_id": cmp.Or(p.Answer.ID, "call_"+p.Answer.Name),
			"name": p.Answer.Name,
			"text": responseText(p.Answer.Response)}, ""
	case p.Type == "" && len(p.Signed) > 0 && string(p.Signed) != "null" && len(p.Text) == 0:
		return geminiText("", p.Thought, p.Signed), ""
	case p.Type == "thinking":
		var opaque json.RawMessage
		if len(p.Sign) > len(`""`) && p.Sign[0] == '"' {
			opaque = keptPayload(map[string]any{"signature": p.Sign})
		}
		return withPayload(map[string]any{"type": "reasoning", "text": p.Thinking}, opaque), ""
	case p.Type == "redacted_thinking" && p.Data != "":
		return withPayload(map[string]any{"type": "reasoning", "text": ""},
			keptPayload(map[string]any{"redacted": p.Data})), ""
	case p.Type == "tool_use":
		return map[string]any{"type": "tool_call", "id": p.ID, "name": p.Name, "arguments": callArguments(p.Input)}, ""
	case p.Type == "tool_result" && p.UseID != "":
		return map[string]any{"type": "tool_result", "call_id": p.UseID, "text": resultText(p.Content),
			"is_error": p.IsError}, ""
	case p.Type == "image" && p.Source != nil && p.Source.Data != "":
		return map[string]any{"type": "image", "media_type": p.Source.MediaType, "data": p.Source.Data}, ""
	case p.Type == "image" && p.Source != nil && p.Source.URL != "":
		return imagePart(p.Source.URL), ""
	case p.Type == "image_url" || p.Type == "input_image":
		var u struct {
			URL string `json:"url"`
		}
		if json.Unmarshal(p.ImageURL, &u.URL) != nil && json.Unmarshal(p.ImageURL, &u) != nil {
			return raw, ""
		}
		return imagePart(u.URL), ""
	}
	return raw, text
}

// responseText returns the text of a function's response: its output or its error where it has
// one of these, else all of it.
func responseText(raw json.RawMessage) string {
	var r struct{ Output, Error *string }
	if json.Unmarshal(raw, &r) == nil && r.Output != nil {
		return *r.Output
	}
	if r.Error != nil {
		return *r.Error
	}
	return string(raw)
}

// resultText returns the text of a result.
func resultText(raw json.RawMessage) string {
	var text string
	var list []json.RawMessage
	if json.Unmarshal(raw, &text) == nil || json.Unmarshal(raw, &list) != nil {
		return text
	}
	for _, item := range list {
		_, plain := readPart(item)
		text += plain
	}
	return text
}

// imagePart returns the picture at an address; of one that is not in the file, only the address is read.
func imagePart(url string) any {
	if rest, ok := strings.CutPrefix(url, "data:"); ok {
		if kind, data, ok := strings.Cut(rest, ";base64,"); ok {
			return map[string]any{"type": "image", "media_type": kind, "data": data}
		}
	}
	return map[string]any{"type": "text", "text": "[" + url + "]"}
}
