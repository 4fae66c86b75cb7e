package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/transcript"
)

// none is the value of a key that was removed.
const none = "null"

// readOwn reads what a conversation that people see has besides: its fields with their clocks, where it comes from, and
// its receipts.
func (s Side) readOwn(ctx context.Context, c *heldConversation) error {
	h := c.head
	r := &c.record
	r.CreatedAt = h.CreatedAt
	for to, value := range map[*json.RawMessage]any{&r.Environment: firstEnvironment(h.Environment),
		&r.AgentOf: h.AgentOf} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if string(text) != none {
			*to = text
		}
	}
	if p := h.Parent; p != nil && p.Seq > 0 {
		id, err := s.messageAt(ctx, c, c.pathOfParent(p), p.Seq)
		if err != nil {
			return err
		}
		r.Parent = &merge.Parent{Conversation: p.ID, Message: id}
	}
	if err := s.readFirstBranch(ctx, c); err != nil {
		return err
	}
	var err error
	if r.Fields, err = s.readFields(ctx, c); err != nil {
		return err
	}
	origins, err := s.Store.Origins.List(ctx, store.OriginQuery{Conversations: []scrollback.ConversationID{h.ID},
		Trash: true, Limit: scrollback.ListMax})
	if err != nil {
		return err
	}
	for _, o := range origins {
		r.Origins = append(r.Origins, merge.Origin{Tool: o.Tool, ID: o.ID, Root: o.Root, Shared: o.Shared})
	}
	for f, err := range s.Store.Move.WalkReceipts(ctx, h.ID) {
		if err != nil {
			return err
		}
		one := merge.Receipt{Branch: f.Branch, Receipt: f.Receipt, Before: f.Before.WithLeftOut(nil), Folded: f.Folded}
		if one.First, err = s.messageAt(ctx, c, f.Branch, f.Receipt.FirstSeq); err != nil {
			return err
		}
		if one.Last, err = s.messageAt(ctx, c, f.Branch, f.Receipt.LastSeq); err != nil {
			return err
		}
		one.Receipt.FirstSeq = 0
		one.Receipt.LastSeq = 0
		one.Receipt.Archive = ""
		one.Receipt.Undone = false
		one.Receipt.Redo = false
		one.Receipt.Cost = 0
		r.Receipts = append(r.Receipts, one)
	}
	return nil
}

// firstEnvironment returns what travels of an environment: what the model was told first. What it was told since, as
// the day changed, is said in messages, and each store goes on from what it has told.
func firstEnvironment(e *scrollback.Environment) *scrollback.Environment {
	out := e.WithoutRoots()
	if out != nil {
		out.Told = scrollback.EnvironmentState{}
		out.Changed = false
	}
	return out
}

// setEnvironment gives a conversation the environment that another store has of it; nothing if there is none.
func setEnvironment(c *scrollback.Conversation, arrived json.RawMessage) error {
	if len(arrived) == 0 {
		return nil
	}
	var e scrollback.Environment
	if err := json.Unmarshal(arrived, &e); err != nil {
		return scrollback.Wrap(scrollback.Invalid, "exchange", err)
	}
	if own := c.Environment; own != nil {
		e.Told = own.Told
		e.Changed = own.Changed
		e.Kept = own.Kept
		e.First.Roots = own.First.Roots
	} else {
		e.Told = e.First
	}
	c.Environment = &e
	return nil
}

// pathOfParent returns a branch whose path leads over the message at which a fork left its parent: its own where it
// has one that begins there, since the branch of the parent may have been purged.
func (c *heldConversation) pathOfParent(p *scrollback.ParentRef) scrollback.BranchID {
	for _, b := range c.branches {
		if b.AtSeq == p.Seq && !c.hasBranch(b.Parent) {
			return b.Parent
		}
	}
	return p.Branch
}

func (c *heldConversation) hasBranch(id scrollback.BranchID) bool {
	return slices.ContainsFunc(c.branches, func(b scrollback.Branch) bool { return b.ID == id })
}

func sameID(id scrollback.MessageID) scrollback.MessageID { return id }

// readFirstBranch reads the branch with which a conversation began.
func (s Side) readFirstBranch(ctx context.Context, c *heldConversation) error {
	var first *scrollback.Branch
	for i, b := range c.branches {
		if !c.hasBranch(b.Parent) && (first == nil || b.ID < first.ID) {
			first = &c.branches[i]
		}
	}
	if first == nil {
		return nil
	}
	leaves, err := s.messageAt(ctx, c, first.Parent, first.AtSeq)
	c.record.Branches = []merge.Branch{{ID: first.ID, Leaves: leaves}}
	return err
}

// readFields returns the fields of a conversation that travel, with their clocks.
func (s Side) readFields(ctx context.Context, c *heldConversation) (map[string]merge.Field, error) {
	h := c.head
	values := map[string]any{
		stamp.FieldTitle:        merge.Title{Title: h.Title, By: h.TitleBy},
		stamp.FieldProject:      h.Project,
		stamp.FieldInstructions: h.Instructions,
		stamp.FieldModel:        h.Model,
		stamp.FieldPolicy:       h.Policy,
		stamp.FieldTrash:        h.DeletedAt,
	}
	for prefix, of := range map[string]any{stamp.SettingFields: h.Settings, stamp.MetaFields: h.Meta} {
		keys, err := splitObject(of)
		if err != nil {
			return nil, err
		}
		for key, value := range keys {
			if prefix == stamp.SettingFields && stamp.SettingRules[key] != stamp.Stamped ||
				prefix == stamp.MetaFields && transcript.IsLocalMeta(key) {
				continue
			}
			values[prefix+key] = value
		}
	}
	for _, seq := range h.PinnedSeqs {
		id, err := s.messageAt(ctx, c, h.Branch, seq)
		if err != nil {
			return nil, err
		}
		values[stamp.PinField(id)] = true
	}
	return s.stampFields(ctx, stamp.OfConversation(h.ID), values)
}

// stampFields makes fields of values, with the clocks that an owner has of them.
func (s Side) stampFields(ctx context.Context, owner string, values map[string]any) (map[string]merge.Field, error) {
	out := map[string]merge.Field{}
	for name, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		out[name] = merge.Field{Value: merge.Compact(text)}
	}
	clocks, err := s.Store.Move.ReadClocks(ctx, owner)
	if err != nil {
		return nil, err
	}
	for _, c := range clocks {
		f := out[c.Field]
		if c.Value != "" {
			f.Value = json.RawMessage(c.Value)
		}
		if f.Value == nil {
			f.Value = json.RawMessage(none)
		}
		if f.By = c.By; f.By != "" {
			f.At = c.At
		}
		out[c.Field] = f
	}
	for name, f := range out {
		if f.IsUnset() {
			delete(out, name)
		}
	}
	return out, nil
}

// splitObject returns the values of what is an object as JSON, by their keys.
func splitObject(v any) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	return out, json.Unmarshal(text, &out)
}

// setFields gives a conversation the fields that another store has of it.
func setFields(c *scrollback.Conversation, fields map[string]merge.Field) error {
	settings := map[string]json.RawMessage{}
	meta := map[string]json.RawMessage{}
	for name, f := range fields {
		var err error
		switch name {
		case stamp.FieldTitle:
			var t merge.Title
			err = json.Unmarshal(f.Value, &t)
			c.Title = t.Title
			c.TitleBy = t.By
		case stamp.FieldProject:
			err = json.Unmarshal(f.Value, &c.Project)
		case stamp.FieldInstructions:
			err = json.Unmarshal(f.Value, &c.Instructions)
		case stamp.FieldModel:
			err = json.Unmarshal(f.Value, &c.Model)
		case stamp.FieldPolicy:
			err = json.Unmarshal(f.Value, &c.Policy)
		case stamp.FieldTrash:
			err = json.Unmarshal(f.Value, &c.DeletedAt)
		default:
			if key, ok := strings.CutPrefix(name, stamp.SettingFields); ok && stamp.SettingRules[key] == stamp.Stamped {
				settings[key] = f.Value
			} else if key, ok := strings.CutPrefix(name, stamp.MetaFields); ok && !transcript.IsLocalMeta(key) {
				meta[key] = f.Value
			}
		}
		if err != nil {
			return scrollback.Wrap(scrollback.Invalid, "exchange", err)
		}
	}
	if len(settings) > 0 {
		var into scrollback.Settings
		if err := replaceKeys(c.Settings, settings, &into); err != nil {
			return err
		}
		c.Settings = into
	}
	if len(meta) == 0 {
		return nil
	}
	return replaceKeys(c.Meta, meta, &c.Meta)
}

// replaceKeys makes an object of another with some of its keys replaced, or removed where their values are null.
func replaceKeys(was any, keys map[string]json.RawMessage, into any) error {
	all := map[string]json.RawMessage{}
	if raw, ok := was.(json.RawMessage); !ok || len(raw) > 0 {
		var err error
		if all, err = splitObject(was); err != nil {
			return err
		}
	}
	for key, value := range keys {
		if bytes.Equal(value, []byte(none)) {
			delete(all, key)
		} else {
			all[key] = value
		}
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	return scrollback.Wrap(scrollback.Invalid, "exchange", err)
}

// clocksOf returns the clocks of fields that somebody has changed, and of those that this version does not know.
func clocksOf(owner string, fields map[string]merge.Field) (out []stamp.Clock) {
	for name, f := range fields {
		known := isKnownField(name)
		if f.By == "" && known {
			continue
		}
		c := stamp.Clock{Owner: owner, Field: name, Stamp: stamp.Stamp{At: f.At, By: f.By}}
		if !known || strings.HasPrefix(name, stamp.PinFields) {
			c.Value = string(f.Value)
		}
		out = append(out, c)
	}
	return out
}

// isKnownField reports whether a field of a conversation has a column here. A pin has none, and a clock in any case.
func isKnownField(name string) bool {
	switch name {
	case stamp.FieldTitle, stamp.FieldProject, stamp.FieldInstructions, stamp.FieldModel, stamp.FieldPolicy,
		stamp.FieldTrash:
		return true
	}
	if key, ok := strings.CutPrefix(name, stamp.SettingFields); ok {
		return stamp.SettingRules[key] == stamp.Stamped
	}
	return strings.HasPrefix(name, stamp.MetaFields)
}

// setProject gives a project the fields that another store has of it.
func setProject(p *scrollback.Project, fields map[string]merge.Field) error {
	settings := map[string]json.RawMessage{}
	for name, f := range fields {
		var err error
		switch name {
		case stamp.FieldTitle:
			err = json.Unmarshal(f.Value, &p.Title)
		case stamp.FieldInstructions:
			err = json.Unmarshal(f.Value, &p.Instructions)
		case stamp.FieldModel:
			err = json.Unmarshal(f.Value, &p.Model)
		case stamp.FieldPolicy:
			err = json.Unmarshal(f.Value, &p.Policy)
		default:
			if key, ok := strings.CutPrefix(name, stamp.SettingFields); ok && stamp.SettingRules[key] == stamp.Stamped {
				settings[key] = f.Value
			}
		}
		if err != nil {
			return scrollback.Wrap(scrollback.Invalid, "exchange", err)
		}
	}
	if len(settings) == 0 {
		return nil
	}
	var into scrollback.Settings
	err := replaceKeys(p.Settings, settings, &into)
	p.Settings = into
	return err
}
