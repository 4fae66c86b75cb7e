package stamp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Rule says what becomes of a field where two stores meet.
type Rule int

// The rules.
const (
	Stamped Rule = iota + 1 // it travels with a clock of its own
	EachKey                 // each of its keys does
	Once                    // it travels, and is set once
	Logged                  // it follows from messages, branches and stones, or names what they belong to
	Local                   // it is each store's own
)

// ConversationRules are those of the fields of [scrollback.Conversation], by their names.
var ConversationRules = map[string]Rule{
	"ID": Logged, "Messages": Logged, "Parent": Logged, "Ancestors": Logged, "PurgedAt": Logged,
	"Project": Stamped, "Title": Stamped, "TitleBy": Stamped, "Model": Stamped, "Instructions": Stamped, "Policy": Stamped,
	"PinnedSeqs": Stamped, "DeletedAt": Stamped,
	"Settings": EachKey, "Meta": EachKey,
	"CreatedAt": Once, "AgentOf": Once, "Environment": Once,
	"Limit": Local, "Roots": Local, "Version": Local, "Branch": Local, "UpdatedAt": Local,
}

// SettingRules are those of the fields of [scrollback.Settings], by their names in JSON.
var SettingRules = map[string]Rule{
	"pinned": Stamped, "tools": Stamped, "keep": Stamped, "door": Stamped, "compaction": Stamped,
	"reasoning_effort": Stamped, "thinking": Stamped, "thinking_budget": Stamped, "agents": Stamped,
	"archive_on_compact": Stamped,
	"recall_scope":       Local,
}

// ProjectRules are those of the fields of [scrollback.Project], by their names.
var ProjectRules = map[string]Rule{
	"Name": Logged, "Conversations": Logged,
	"Title": Stamped, "Instructions": Stamped, "Model": Stamped, "Policy": Stamped,
	"Settings":  EachKey,
	"CreatedAt": Once,
	"Limit":     Local, "Budget": Local, "Version": Local, "UpdatedAt": Local,
}

// Names of fields. Those of the settings, of meta and of pins have what they are of behind the dot. Deleted is of
// projects: whether one was removed.
const (
	FieldTitle        = "title"
	FieldProject      = "project"
	FieldInstructions = "instructions"
	FieldModel        = "model"
	FieldPolicy       = "policy"
	FieldTrash        = "trash"
	FieldDeleted      = "deleted"

	SettingFields = "settings."
	MetaFields    = "meta."
	PinFields     = "pin."
)

// Values of pins and of [FieldDeleted].
const (
	Yes = "true"
	No  = "false"
)

// PinField returns the name of the field that says whether a message is pinned.
func PinField(id scrollback.MessageID) string { return PinFields + string(id) }

// Change is a field that was changed, and what its clock has as value.
type Change struct{ Field, Value string }

// Snapshot is what a conversation has of fields with clocks, but for pins. Settings are as JSON, always by the same
// encoder.
type Snapshot struct {
	Title, Project, Instructions, Model, Policy string

	TitleBy  scrollback.TitleState
	Settings string
	Meta     string
	Trashed  bool
}

// TakeSnapshot returns a conversation's, whose settings are encoded already.
func TakeSnapshot(c *scrollback.Conversation, settings string) Snapshot {
	return Snapshot{Title: c.Title, TitleBy: c.TitleBy, Project: c.Project, Instructions: c.Instructions, Model: c.Model,
		Policy: c.Policy, Settings: settings, Meta: string(c.Meta), Trashed: c.DeletedAt != 0}
}

// Changes returns which fields an edit has changed, in the order of their names. A title that is made from the prompt,
// or is the first that a tool gives, is none: it has the time at which the conversation began.
func (s Snapshot) Changes(after Snapshot) []Change {
	if s == after {
		return nil
	}
	changed := map[string]bool{
		FieldTitle:        s.Title != after.Title && !after.isFirstTitle(s),
		FieldProject:      s.Project != after.Project,
		FieldInstructions: s.Instructions != after.Instructions,
		FieldModel:        s.Model != after.Model,
		FieldPolicy:       s.Policy != after.Policy,
		FieldTrash:        s.Trashed != after.Trashed,
	}
	noteSettings(changed, s.Settings, after.Settings)
	if s.Meta != after.Meta {
		noteKeys(changed, MetaFields, splitKeys(s.Meta), splitKeys(after.Meta))
	}
	return listChanges(changed)
}

// isFirstTitle reports whether a title is as old as its conversation, given what that was before.
func (s Snapshot) isFirstTitle(before Snapshot) bool {
	switch s.TitleBy {
	case scrollback.TitlePrompt, scrollback.TitleAsked:
		return true
	case scrollback.TitleTool:
		return before.Title == ""
	}
	return false
}

// ProjectChanges returns which fields of a project an edit has changed, in the order of their names; those of one that
// is not stored are empty.
func ProjectChanges(before, after scrollback.Project) ([]Change, error) {
	changed := map[string]bool{
		FieldTitle:        before.Title != after.Title,
		FieldInstructions: before.Instructions != after.Instructions,
		FieldModel:        before.Model != after.Model,
		FieldPolicy:       before.Policy != after.Policy,
	}
	was, err := json.Marshal(before.Settings)
	if err != nil {
		return nil, err
	}
	is, err := json.Marshal(after.Settings)
	if err != nil {
		return nil, err
	}
	noteSettings(changed, string(was), string(is))
	return listChanges(changed), nil
}

// AddDeleted adds to the changes of a project that it was removed, or is stored again; one that is not stored has
// version 0.
func AddDeleted(changed []Change, was, is scrollback.Project) []Change {
	switch {
	case is.Version == 0:
		return append(changed, Change{FieldDeleted, Yes})
	case was.Version == 0:
		return append(changed, Change{FieldDeleted, No})
	}
	return changed
}

// noteSettings notes which settings that travel differ.
func noteSettings(changed map[string]bool, before, after string) {
	if before == after {
		return
	}
	was := splitKeys(before)
	is := splitKeys(after)
	for name, rule := range SettingRules {
		if rule == Local {
			delete(was, name)
			delete(is, name)
		}
	}
	noteKeys(changed, SettingFields, was, is)
}

// noteKeys notes which keys of two objects differ.
func noteKeys(changed map[string]bool, prefix string, before, after map[string]json.RawMessage) {
	for key, value := range before {
		if other, ok := after[key]; !ok || !bytes.Equal(value, other) {
			changed[prefix+key] = true
		}
	}
	for key := range after {
		if _, ok := before[key]; !ok {
			changed[prefix+key] = true
		}
	}
}

// splitKeys returns the values of a JSON object without white space; what is no object has one, with an empty key.
func splitKeys(object string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	switch {
	case object == "":
		return out
	case json.Unmarshal([]byte(object), &out) != nil:
		return map[string]json.RawMessage{"": json.RawMessage(object)}
	}
	for key, value := range out {
		var b bytes.Buffer
		if json.Compact(&b, value) == nil {
			out[key] = b.Bytes()
		}
	}
	return out
}

// listChanges returns the fields that were changed, in the order of their names.
func listChanges(changed map[string]bool) (out []Change) {
	for _, field := range slices.Sorted(maps.Keys(changed)) {
		if changed[field] {
			out = append(out, Change{Field: field})
		}
	}
	return out
}
