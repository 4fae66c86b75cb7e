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

// Fields are the names that a format has for what a notebook says of itself. One that is empty
// stands in ours instead.
type Fields struct{ Title, Agents string }

// Tie reads the metadata of a notebook: the fields of Mutsumi's files, and ours.
func (n Fields) Tie(meta json.RawMessage) (t transcript.Tie) {
	get := func(name string, to any) bool {
		raw := splice.Get(meta, name)
		return raw != nil && json.Unmarshal(raw, to) == nil
	}
	var provider string
	var o ours
	get(n.Title, &t.Title)
	get("uuid", &t.ID)
	get("parent_agent_id", &t.AgentOf)
	get("model", &t.Model)
	get("provider", &provider)
	if provider != "" && t.Model != "" && !strings.HasPrefix(t.Model, provider+"/") {
		t.Model = provider + "/" + t.Model
	}
	t.Roots = idsOf(splice.Get(meta, "allowed_uris"))
	t.Agents = idsOf(splice.Get(meta, "sub_agents_list"))
	field := splice.Get(meta, OursField)
	for name, to := range map[string]any{"id": &o.ID, "conversation": &o.Conversation, "model": &o.Model,
		"instructions": &o.Instructions,
		"roots":        &o.Roots, "agent_of": &o.AgentOf, "agents": &o.Agents} {
		if raw := splice.Get(field, name); raw != nil {
			_ = json.Unmarshal(raw, to) // one of the wrong type is not there
		}
	}
	t.Conversation = o.Conversation
	t.Instructions = o.Instructions
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

// idsOf are the texts of a list, and the ids of the objects in it.
func idsOf(list json.RawMessage) (out []string) {
	for _, raw := range splice.Values(list) {
		if id := idOf(raw); id != "" {
			out = append(out, id)
		}
	}
	return out
}

func idOf(raw json.RawMessage) (id string) {
	for _, v := range []json.RawMessage{raw, splice.Get(raw, "uuid"), splice.Get(raw, "id")} {
		if v != nil && json.Unmarshal(v, &id) == nil && id != "" {
			return id
		}
	}
	return ""
}

// SetTie writes the conversation, the title and the agents into the metadata of a notebook,
// as far as they are not there yet.
func (n Fields) SetTie(f *splice.File, t transcript.Tie) error {
	was := splice.Get(f.Shell, "metadata")
	meta, err := n.tied(f.Form, was, t)
	if err == nil && !bytes.Equal(was, meta) {
		f.Shell = f.Set(f.Shell, 0, "metadata", meta)
	}
	return err
}

// tied is metadata with what [Fields.SetTie] writes.
func (n Fields) tied(f splice.Form, meta json.RawMessage, t transcript.Tie) (json.RawMessage, error) {
	was := n.Tie(meta)
	if was.Title == t.Title && was.Conversation == t.Conversation && slices.Equal(was.Agents, t.Agents) {
		return meta, nil
	}
	object := orEmpty(meta)
	field := orEmpty(splice.Get(meta, OursField))
	conversation, err := f.Marshal(t.Conversation, 3)
	if err != nil {
		return nil, err
	}
	if t.Conversation == "" {
		conversation = nil
	}
	title, err := f.Marshal(t.Title, 2)
	if err != nil {
		return nil, err
	}
	if was.Title != t.Title {
		object = f.Set(object, 1, n.Title, title)
	}
	field = f.Set(field, 2, "conversation", conversation)
	if !slices.Equal(was.Agents, t.Agents) {
		if n.Agents != "" {
			object = f.Set(object, 1, n.Agents, f.List(withIDs(splice.Get(object, n.Agents), t.Agents), 2))
		} else {
			field = f.Set(field, 2, "agents", f.List(withIDs(nil, t.Agents), 3))
		}
	}
	if len(splice.Members(field)) == 0 {
		field = nil
	}
	return f.Set(object, 1, OursField, field), nil
}

// withIDs are the values of a list that have these ids, and for the others the ids.
func withIDs(list json.RawMessage, ids []string) (out []json.RawMessage) {
	was := map[string]json.RawMessage{}
	for _, raw := range splice.Values(list) {
		if id := idOf(raw); id != "" {
			was[id] = raw
		}
	}
	for _, id := range ids {
		raw := was[id]
		if raw == nil {
			raw, _ = plain(id) // a text can always be written
		}
		out = append(out, raw)
	}
	return out
}

// orEmpty is an object, or an empty one where there is none.
func orEmpty(object json.RawMessage) json.RawMessage {
	if len(splice.Members(object)) == 0 {
		return json.RawMessage("{}")
	}
	return object
}

// Restore puts into the metadata of a new notebook what that of another program's said, from
// which the conversation was imported, where it says nothing itself.
func Restore(f splice.Form, meta, was json.RawMessage) json.RawMessage {
	for _, m := range splice.Members(was) {
		if is := string(splice.Get(meta, m.Name)); m.Name == OursField || is != "" && is != "null" && is != "[]" {
			continue
		}
		if raw, err := f.Marshal(was[m.Value.From:m.Value.To], 2); err == nil {
			meta = f.Set(meta, 1, m.Name, raw)
		}
	}
	return meta
}

// NewOurs is the field scrollback of a new notebook; nil if there is nothing to say.
// Foreign says that the format has fields of its own for the id, the model, the roots and the
// agents.
func NewOurs(t transcript.Tie, foreign bool, meta json.RawMessage) any {
	o := ours{Conversation: t.Conversation, Instructions: t.Instructions, Meta: meta}
	if !foreign {
		o.ID = t.ID
		o.Model = t.Model
		o.Roots = t.Roots
		o.AgentOf = t.AgentOf
		o.Agents = t.Agents
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
