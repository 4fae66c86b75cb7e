package cell

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
	"github.com/scrollback-ai/scrollback/transcript"
)

// ours is what the field scrollback of a notebook's metadata holds.
type ours struct {
	ID           string                    `json:"id,omitempty"`
	Conversation scrollback.ConversationID `json:"conversation,omitempty"`
	Model        string                    `json:"model,omitempty"`
	Instructions string                    `json:"instructions,omitempty"`
	Roots        []string                  `json:"roots,omitempty"`
	AgentOf      string                    `json:"agent_of,omitempty"`
	Agents       []string                  `json:"agents,omitempty"`
	Meta         json.RawMessage           `json:"meta,omitempty"` // of the conversation
}

// TitleField is the name of a notebook's title in its metadata.
type TitleField string

// The names of titles.
const (
	NameTitle  TitleField = "name"
	TitleTitle TitleField = "title"
)

// ReadTie reads the metadata of a notebook: the fields of Mutsumi's files, and ours.
func ReadTie(meta json.RawMessage, title TitleField) (t transcript.Tie) {
	get := func(name string, to any) bool {
		raw := splice.Get(meta, name)
		return raw != nil && json.Unmarshal(raw, to) == nil
	}
	var provider string
	var o ours
	get(string(title), &t.Title)
	get("uuid", &t.ID)
	get("parent_agent_id", &t.AgentOf)
	get("model", &t.Model)
	get("provider", &provider)
	if provider != "" && t.Model != "" && !strings.HasPrefix(t.Model, provider+"/") {
		t.Model = provider + "/" + t.Model
	}
	t.Roots, t.Agents = texts(splice.Get(meta, "allowed_uris")), texts(splice.Get(meta, "sub_agents_list"))
	field := splice.Get(meta, OursField)
	for name, to := range map[string]any{"id": &o.ID, "conversation": &o.Conversation, "model": &o.Model, "instructions": &o.Instructions,
		"roots": &o.Roots, "agent_of": &o.AgentOf, "agents": &o.Agents} {
		if raw := splice.Get(field, name); raw != nil {
			_ = json.Unmarshal(raw, to) // one of the wrong type is not there
		}
	}
	t.Conversation, t.Instructions = o.Conversation, o.Instructions
	if t.ID == "" {
		t.ID = o.ID
	}
	if t.Model == "" {
		t.Model = o.Model
	}
	if t.AgentOf == "" {
		t.AgentOf = o.AgentOf
	}
	if t.Roots == nil {
		t.Roots = o.Roots
	}
	if t.Agents == nil {
		t.Agents = o.Agents
	}
	t.Meta = bytes.Clone(meta)
	return t
}

// texts are the texts of a list, or the ids of the objects in it.
func texts(list json.RawMessage) (out []string) {
	var raws []json.RawMessage
	if list == nil || json.Unmarshal(list, &raws) != nil {
		return nil
	}
	for _, raw := range raws {
		var s string
		if json.Unmarshal(raw, &s) == nil || json.Unmarshal(splice.Get(raw, "uuid"), &s) == nil || json.Unmarshal(splice.Get(raw, "id"), &s) == nil {
			out = append(out, s)
		}
	}
	return out
}

// SetTie writes the conversation, the title and the agents into the metadata of a notebook,
// as far as they are not there yet. Agents is the field that the format has for them, or
// empty.
func SetTie(f splice.Form, meta json.RawMessage, title TitleField, agents string, t transcript.Tie) (json.RawMessage, error) {
	was := ReadTie(meta, title)
	object := meta
	if len(splice.Members(object)) == 0 {
		object = json.RawMessage("{}")
	}
	var err error
	set := func(in json.RawMessage, depth int, name string, v any, none bool) json.RawMessage {
		if none {
			return f.Set(in, depth, name, nil)
		}
		raw, e := f.Marshal(v, depth+1)
		if e != nil {
			err = e
			return in
		}
		return f.Set(in, depth, name, raw)
	}
	if was.Title != t.Title {
		object = set(object, 1, string(title), t.Title, false)
	}
	field := splice.Get(object, OursField)
	if len(splice.Members(field)) == 0 {
		field = json.RawMessage("{}")
	}
	changed := was.Conversation != t.Conversation
	if changed {
		field = set(field, 2, "conversation", t.Conversation, t.Conversation == "")
	}
	if !slices.Equal(was.Agents, t.Agents) {
		if agents != "" {
			object = set(object, 1, agents, t.Agents, false)
		} else {
			field, changed = set(field, 2, "agents", t.Agents, len(t.Agents) == 0), true
		}
	}
	if changed {
		if len(splice.Members(field)) == 0 {
			field = nil
		}
		object = f.Set(object, 1, OursField, field)
	}
	return object, err
}

// NewOurs is the field scrollback of a new notebook; nil if there is nothing to say.
// Foreign says that the format has fields of its own for the id, the model, the roots and the
// agents.
func NewOurs(t transcript.Tie, foreign bool, meta json.RawMessage) any {
	o := ours{Conversation: t.Conversation, Instructions: t.Instructions, Meta: meta}
	if !foreign {
		o.ID, o.Model, o.Roots, o.AgentOf, o.Agents = t.ID, t.Model, t.Roots, t.AgentOf, t.Agents
	}
	if raw, err := plain(o); err != nil || string(raw) == "{}" {
		return nil
	}
	return o
}

// ConversationMeta is the meta of the conversation that was written into a notebook.
func ConversationMeta(meta json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, splice.Get(splice.Get(meta, OursField), "meta")) != nil {
		return nil
	}
	return out.Bytes()
}
