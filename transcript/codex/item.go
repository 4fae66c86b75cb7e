package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// item is what a model reads or says. What differs between versions is read later.
type item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	CallID    string          `json:"call_id"`
	Phase     string          `json:"phase"`
	Status    string          `json:"status"`
	Content   json.RawMessage `json:"content"`
	Summary   json.RawMessage `json:"summary"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Action    json.RawMessage `json:"action"`
	Output    json.RawMessage `json:"output"`
	Result    json.RawMessage `json:"result"`
	Ours      *ours           `json:"scrollback"`
	Said      struct {
		Kinds []string `json:"content_item_kinds"`
		Items []struct {
			Provenance struct {
				Type string `json:"type"`
			} `json:"provenance"`
		} `json:"content_item_metadata"`
	} `json:"internal_chat_message_metadata_passthrough"`
}

// id is what a message is called whose item has no id: by its place in the thread, and what
// it says.
func (l *line) id() string {
	sum := sha256.Sum256(l.payload)
	return fmt.Sprintf("%s/%d-%s", l.thread, l.pos, hex.EncodeToString(sum[:4]))
}

// message is a message that a line tells.
func (l *line) message(id string, role scrollback.Role, parts scrollback.Parts) node {
	if id == "" {
		id = l.id()
	}
	return node{shared: l.shared, entry: transcript.Entry{Line: l.n, Message: scrollback.Message{
		ID: scrollback.MessageID(id), Role: role, Parts: parts, CreatedAt: l.at, Status: scrollback.StatusComplete,
	}}}
}

// answer is what one call of a model says, while it is read.
type answer struct {
	node
	usage  *scrollback.Usage
	status scrollback.Status
	kinds  map[string]string // of its calls that are not functions
	spaces map[string]string // of its calls, their namespaces
}

// item takes an item.
func (t *teller) item(l *line) error {
	var it item
	if err := json.Unmarshal(l.payload, &it); err != nil {
		return err
	}
	if t.doubt != nil {
		t.leave("reminder")
		t.doubt = nil
	}
	if it.Ours != nil && t.head.Originator == originator {
		return t.own(l, it.Ours)
	}
	switch it.Type {
	case "message":
		t.said(l, it)
	case "reasoning":
		t.reasoning(l, it)
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call", "mcp_call":
		t.call(l, it)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output",
		"mcp_tool_call_output":
		t.result(l, it)
	case "image_generation_call":
		t.drawn(l, it)
	case "ghost_snapshot":
		t.leave("snapshot")
	case "compaction", "compaction_summary", "context_compaction":
		t.leave("compaction")
	default:
		t.leave("unknown")
	}
	return nil
}

// said takes a message, of whatever role.
func (t *teller) said(l *line, it item) {
	switch it.Role {
	case "assistant":
		if l.summary {
			t.close()
			t.leave("compaction")
			return
		}
		a := t.answering(l, it)
		for _, p := range t.content(it.Content, nil) {
			a.add(p)
		}
		if it.Phase != "" {
			a.note("phase", it.Phase)
		}
	case "user":
		t.close()
		t.user(l, it)
	default:
		t.leave("instructions")
	}
}

// answering is the answer that an item belongs to.
func (t *teller) answering(l *line, it item) *answer {
	if t.answer == nil {
		t.answer = &answer{node: l.message(it.ID, scrollback.RoleAssistant, nil), status: scrollback.StatusComplete,
			usage: t.pending}
		t.pending = nil
		t.spare = nil
		t.aloud = nil
	}
	return t.answer
}

// close ends an answer: what comes next is not of it.
func (t *teller) close() {
	a := t.answer
	if t.answer = nil; a == nil {
		return
	}
	m := &a.entry.Message
	thought := false
	for _, p := range m.Parts {
		_, is := p.(scrollback.Reasoning)
		thought = thought || is
	}
	if len(t.aloud) > 0 && !thought && len(m.Parts) > 0 {
		m.Parts = append(scrollback.Parts{scrollback.Reasoning{Text: strings.Join(t.aloud, "\n\n")}}, m.Parts...)
		moved := map[int][]byte{}
		for i, b := range a.entry.Bytes {
			moved[i+1] = b
		}
		a.entry.Bytes = moved
	}
	t.aloud = nil
	m.Model = t.model
	m.Usage = a.usage
	m.Status = a.status
	if a.kinds != nil {
		a.note("kinds", a.kinds)
	}
	if a.spaces != nil {
		a.note("namespaces", a.spaces)
	}
	t.add(a.node)
}

// reasoning takes what a model thought. What is only there encrypted is left out.
func (t *teller) reasoning(l *line, it item) {
	text := joined(it.Summary)
	if text == "" {
		text = joined(it.Content)
	}
	a := t.answering(l, it)
	if text == "" {
		t.leave("encrypted reasoning")
		return
	}
	a.add(piece{Part: scrollback.Reasoning{Text: text}})
}

// joined are the texts of a list.
func joined(raw json.RawMessage) string {
	var list []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var texts []string
	for _, one := range list {
		if one.Text != "" {
			texts = append(texts, one.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// call takes a call of a tool.
func (t *teller) call(l *line, it item) {
	id := it.CallID
	if id == "" {
		id = it.ID
	}
	if id == "" {
		id = l.id()
	}
	name := it.Name
	args := document(it.Arguments)
	switch it.Type {
	case "custom_tool_call":
		args = transcript.Object(map[string]json.RawMessage{"input": textual(it.Input)})
	case "local_shell_call":
		name = "local_shell"
		args = document(it.Action)
	case "web_search_call":
		name = "web_search"
		args = document(it.Action)
	case "tool_search_call":
		name = "tool_search"
	}
	if name == "" {
		name = "unknown"
	}
	a := t.answering(l, it)
	a.add(piece{Part: scrollback.ToolCall{ID: id, Name: name, Arguments: args}})
	if it.Type != "function_call" {
		if a.kinds == nil {
			a.kinds = map[string]string{}
		}
		a.kinds[id] = it.Type
	}
	if it.Namespace != "" {
		if a.spaces == nil {
			a.spaces = map[string]string{}
		}
		a.spaces[id] = it.Namespace
	}
	t.tools.names[id] = name
}

// document is a JSON document of what may be one inside a text.
func document(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if strings.TrimSpace(text) == "" {
			return json.RawMessage("{}")
		}
		if json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
		return transcript.Object(map[string]string{"input": text})
	}
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

// textual is a text as JSON, whatever it was.
func textual(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage(`""`)
	}
	return raw
}

// drawn takes an image that a model made.
func (t *teller) drawn(l *line, it item) {
	var data string
	_ = json.Unmarshal(it.Result, &data) // another form has no image
	if p, ok := imageOf("data:image/png;base64,"+data, ""); ok && data != "" {
		t.answering(l, it).add(p)
		return
	}
	t.leave("image")
}
