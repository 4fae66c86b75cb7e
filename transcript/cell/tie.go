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

// ownFields is what the field scrollback of a notebook's metadata holds.
type ownFields struct {
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

// ReadTie reads the metadata of a notebook: the fields of Mutsumi's files, and ours.
func (n Fields) ReadTie(meta json.RawMessage) (t transcript.Tie) {
	get := func(name string, to any) bool {
		raw := splice.GetField(meta, name)
		return raw != nil && json.Unmarshal(raw, to) == nil
	}
	var provider string
	var o ownFields
	get(n.Title, &t.Title)
	get("uuid", &t.ID)
	get("parent_agent_id", &t.AgentOf)
	get("model", &t.Model)
	get("provider", &provider)
	if provider != "" && t.Model != "" && !strings.HasPrefix(t.Model, provider+"/") {
		t.Model = provider + "/" + t.Model
	}
	t.Roots = readIDs(splice.GetField(meta, "allowed_uris"))
	t.Agents = readIDs(splice.GetField(meta, "sub_agents_list"))
	field := splice.GetField(meta, OursField)
	for name, to := range map[string]any{"id": &o.ID, "conversation": &o.Conversation, "model": &o.Model,
		"instructions": &o.Instructions,
		"roots":        &o.Roots, "agent_of": &o.AgentOf, "agents": &o.Agents} {
		if raw := splice.GetField(field, name); raw != nil {
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

// readIDs returns the texts of a list, and the ids of the objects in it.
func readIDs(list json.RawMessage) (out []string) {
	for _, raw := range splice.ListValues(list) {
		if id := readID(raw); id != "" {
			out = append(out, id)
		}
	}
	return out
}

func readID(raw json.RawMessage) (id string) {
	for _, v := range []json.RawMessage{raw, splice.GetField(raw, "uuid"), splice.GetField(raw, "id")} {
		if v != nil && json.Unmarshal(v, &id) == nil && id != "" {
			return id
		}
	}
	return ""
}

// SetTie writes the conversation, the title and the agents into the metadata of a notebook,
// as far as they are not there yet.
func (n Fields) SetTie(f *splice.File, t transcript.Tie) error {
	was := splice.GetField(f.Shell, "metadata")
	meta, err := n.withTie(f.Form, was, t)
	if err == nil && !bytes.Equal(was, meta) {
		f.Shell = f.SetField(f.Shell, 0, "metadata", meta)
	}
	return err
}

// withTie returns metadata with what [Fields.SetTie] writes.
func (n Fields) withTie(f splice.Form, meta json.RawMessage, t transcript.Tie) (json.RawMessage, error) {
	was := n.ReadTie(meta)
	if was.Title == t.Title && was.Conversation == t.Conversation && slices.Equal(was.Agents, t.Agents) {
		return meta, nil
	}
	object := orEmptyObject(meta)
	field := orEmptyObject(splice.GetField(meta, OursField))
	conversation, err := f.MarshalAt(t.Conversation, 3)
	if err != nil {
		return nil, err
	}
	if t.Conversation == "" {
		conversation = nil
	}
	title, err := f.MarshalAt(t.Title, 2)
	if err != nil {
		return nil, err
	}
	if was.Title != t.Title {
		object = f.SetField(object, 1, n.Title, title)
	}
	field = f.SetField(field, 2, "conversation", conversation)
	if !slices.Equal(was.Agents, t.Agents) {
		if n.Agents != "" {
			object = f.SetField(object, 1, n.Agents, f.MakeList(keepIDs(splice.GetField(object, n.Agents), t.Agents), 2))
		} else {
			field = f.SetField(field, 2, "agents", f.MakeList(keepIDs(nil, t.Agents), 3))
		}
	}
	if len(splice.ListMembers(field)) == 0 {
		field = nil
	}
	return f.SetField(object, 1, OursField, field), nil
}

// keepIDs returns the values of a list that have these ids, and for the others the ids.
func keepIDs(list json.RawMessage, ids []string) (out []json.RawMessage) {
	was := map[string]json.RawMessage{}
	for _, raw := range splice.ListValues(list) {
		if id := readID(raw); id != "" {
			was[id] = raw
		}
	}
	for _, id := range ids {
		raw := was[id]
		if raw == nil {
			raw, _ = marshalPlain(id) // a text can always be written
		}
		out = append(out, raw)
	}
	return out
}

// orEmptyObject returns an object, or an empty one where there is none.
func orEmptyObject(object json.RawMessage) json.RawMessage {
	if len(splice.ListMembers(object)) == 0 {
		return json.RawMessage("{}")
	}
	return object
}

// RestoreMeta puts into the metadata of a new notebook what that of another program's said, from
// which the conversation was imported, where it says nothing itself.
func RestoreMeta(f splice.Form, meta, was json.RawMessage) json.RawMessage {
	for _, m := range splice.ListMembers(was) {
		if is := string(splice.GetField(meta, m.Name)); m.Name == OursField || is != "" && is != "null" && is != "[]" {
			continue
		}
		if raw, err := f.MarshalAt(was[m.Value.From:m.Value.To], 2); err == nil {
			meta = f.SetField(meta, 1, m.Name, raw)
		}
	}
	return meta
}

// NewOurs returns the field scrollback of a new notebook; nil if there is nothing to say.
// Foreign says that the format has fields of its own for the id, the model, the roots and the
// agents.
func NewOurs(t transcript.Tie, foreign bool, meta json.RawMessage) any {
	o := ownFields{Conversation: t.Conversation, Instructions: t.Instructions, Meta: meta}
	if !foreign {
		o.ID = t.ID
		o.Model = t.Model
		o.Roots = t.Roots
		o.AgentOf = t.AgentOf
		o.Agents = t.Agents
	}
	if raw, err := marshalPlain(o); err != nil || string(raw) == "{}" {
		return nil
	}
	return o
}

// ConversationMeta returns the meta of the conversation that was written into a notebook.
func ConversationMeta(meta json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, splice.GetField(splice.GetField(meta, OursField), "meta")) != nil {
		return nil
	}
	return out.Bytes()
}
