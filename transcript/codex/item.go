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
	Ours      *ownFields      `json:"scrollback"`
	Said      struct {
		Kinds []string `json:"content_item_kinds"`
		Items []struct {
			Provenance struct {
				Type string `json:"type"`
			} `json:"provenance"`
		} `json:"content_item_metadata"`
	} `json:"internal_chat_message_metadata_passthrough"`
}

// messageID returns what a message is called whose item has no id: by its place in the thread, and what
// it says.
func (l *line) messageID() string {
	sum := sha256.Sum256(l.payload)
	return fmt.Sprintf("%s/%d-%s", l.thread, l.pos, hex.EncodeToString(sum[:4]))
}

// newMessage returns a message that a line tells.
func (l *line) newMessage(id string, role scrollback.Role, parts scrollback.Parts) node {
	if id == "" {
		id = l.messageID()
	}
	return node{shared: l.shared, entry: transcript.Entry{Line: l.n, Message: scrollback.Message{
		ID: scrollback.MessageID(id), Role: role, Parts: parts, CreatedAt: l.at, Status: scrollback.StatusComplete,
	}}}
}

// openAnswer is what one call of a model says, while it is read.
type openAnswer struct {
	node
	usage  *scrollback.Usage
	status scrollback.Status
	kinds  map[string]string // of its calls that are not functions
	spaces map[string]string // of its calls, their namespaces
}

// takeItem takes an item.
func (t *threadBuilder) takeItem(l *line) error {
	var it item
	if err := json.Unmarshal(l.payload, &it); err != nil {
		return err
	}
	if t.doubt != nil {
		t.countLeft("reminder")
		t.doubt = nil
	}
	if it.Ours != nil && t.head.Originator == originator {
		return t.takeOwn(l, it.Ours)
	}
	switch it.Type {
	case "message":
		t.takeMessage(l, it)
	case "reasoning":
		t.takeReasoning(l, it)
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call", "mcp_call":
		t.takeCall(l, it)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output",
		"mcp_tool_call_output":
		t.takeResult(l, it)
	case "image_generation_call":
		t.takeImage(l, it)
	case "ghost_snapshot":
		t.countLeft("snapshot")
	case "compaction", "compaction_summary", "context_compaction":
		t.countLeft("compaction")
	default:
		t.countLeft("unknown")
	}
	return nil
}

// takeMessage takes a message, of whatever role.
func (t *threadBuilder) takeMessage(l *line, it item) {
	switch it.Role {
	case "assistant":
		if l.summary {
			t.closeAnswer()
			t.countLeft("compaction")
			return
		}
		a := t.openAnswerFor(l, it)
		for _, p := range t.readContent(it.Content, nil) {
			a.addPiece(p)
		}
		if it.Phase != "" {
			a.setMeta("phase", it.Phase)
		}
	case "user":
		t.closeAnswer()
		t.takeUser(l, it)
	default:
		t.countLeft("instructions")
	}
}

// openAnswerFor returns the answer that an item belongs to.
func (t *threadBuilder) openAnswerFor(l *line, it item) *openAnswer {
	if t.answer == nil {
		t.answer = &openAnswer{node: l.newMessage(it.ID, scrollback.RoleAssistant, nil), status: scrollback.StatusComplete,
			usage: t.pending}
		t.pending = nil
		t.spare = nil
		t.aloud = nil
	}
	return t.answer
}

// closeAnswer ends an answer: what comes next is not of it.
func (t *threadBuilder) closeAnswer() {
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
		a.setMeta("kinds", a.kinds)
	}
	if a.spaces != nil {
		a.setMeta("namespaces", a.spaces)
	}
	t.addNode(a.node)
}

// takeReasoning takes what a model thought. What is only there encrypted is left out.
func (t *threadBuilder) takeReasoning(l *line, it item) {
	text := joinTexts(it.Summary)
	if text == "" {
		text = joinTexts(it.Content)
	}
	a := t.openAnswerFor(l, it)
	if text == "" {
		t.countLeft("encrypted reasoning")
		return
	}
	a.addPiece(messagePiece{Part: scrollback.Reasoning{Text: text}})
}

// joinTexts returns the texts of a list.
func joinTexts(raw json.RawMessage) string {
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

// takeCall takes a call of a tool.
func (t *threadBuilder) takeCall(l *line, it item) {
	id := it.CallID
	if id == "" {
		id = it.ID
	}
	if id == "" {
		id = l.messageID()
	}
	name := it.Name
	args := innerDocument(it.Arguments)
	switch it.Type {
	case "custom_tool_call":
		args = transcript.MarshalObject(map[string]json.RawMessage{"input": asText(it.Input)})
	case "local_shell_call":
		name = "local_shell"
		args = innerDocument(it.Action)
	case "web_search_call":
		name = "web_search"
		args = innerDocument(it.Action)
	case "tool_search_call":
		name = "tool_search"
	}
	if name == "" {
		name = "unknown"
	}
	a := t.openAnswerFor(l, it)
	a.addPiece(messagePiece{Part: scrollback.ToolCall{ID: id, Name: name, Arguments: args}})
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

// innerDocument returns a JSON document of what may be one inside a text.
func innerDocument(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if strings.TrimSpace(text) == "" {
			return json.RawMessage("{}")
		}
		if json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
		return transcript.MarshalObject(map[string]string{"input": text})
	}
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

// asText returns a text as JSON, whatever it was.
func asText(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage(`""`)
	}
	return raw
}

// takeImage takes an image that a model made.
func (t *threadBuilder) takeImage(l *line, it item) {
	var data string
	_ = json.Unmarshal(it.Result, &data) // another form has no image
	if p, ok := readImage("data:image/png;base64,"+data, ""); ok && data != "" {
		t.openAnswerFor(l, it).addPiece(p)
		return
	}
	t.countLeft("image")
}
