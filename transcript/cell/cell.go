// Package cell is what notebooks of every format have in common: the metadata of a cell,
// what a model and its tools said to it as messages of chat completions, the blocks that
// references were saved as, and images within Markdown.
//
// Words it adds: note (what a message of the file has no field for), ghost (what the
// references of a cell's prompt brought, as last_ghost_block keeps it).
//
// Invariants: a note counts only while the message beside it is still the one that it was
// written for; a field of the wrong type is not there.
//
// It may not know the store, the network or how a file is laid out.
package cell

import (
	"bytes"
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/splice"
)

// The names of fields in the metadata of a cell.
const (
	RoleField        = "role"
	InteractionField = "mutsumi_interaction"
	GhostField       = "last_ghost_block"
	OursField        = "scrollback"
)

// SystemPrefix stands before the text of a system cell, where people see it.
const SystemPrefix = "**System**: "

// BlockMark begins the block that a program adds to a prompt.
const BlockMark = "<content_reference>"

// metaDepth is how deep the metadata of a cell stands in a file.
const metaDepth = 3

// Ours is what the field scrollback holds.
type Ours struct {
	Stale bool          `json:"stale,omitempty"`
	Own   *messageNote  `json:"own,omitempty"`  // of the cell's own message
	Said  []messageNote `json:"said,omitempty"` // of the interaction
}

// Meta is the metadata of a cell.
type Meta struct {
	Role  scrollback.Role // user unless the cell says otherwise
	Ghost json.RawMessage
	Ours
}

// ReadMeta reads the metadata of a cell.
func ReadMeta(object json.RawMessage) Meta {
	m := Meta{Role: scrollback.RoleUser, Ghost: splice.GetField(object, GhostField)}
	var role string
	if json.Unmarshal(splice.GetField(object, RoleField), &role) == nil {
		if r, err := scrollback.ParseRole(role); err == nil {
			m.Role = r
		}
	}
	var ours bytes.Buffer
	if json.Compact(&ours, splice.GetField(object, OursField)) == nil {
		m.Ours = readOurs(ours.Bytes())
	}
	return m
}

// readOurs reads each field that has the right type.
func readOurs(object json.RawMessage) (o Ours) {
	read := func(name string, to any) bool { return json.Unmarshal(splice.GetField(object, name), to) == nil }
	if !read("stale", &o.Stale) {
		o.Stale = false
	}
	if !read("own", &o.Own) {
		o.Own = nil
	}
	if !read("said", &o.Said) {
		o.Said = nil
	}
	return o
}

// SetOurs writes the field into the metadata of a cell; what we do not know in it
// stays.
func SetOurs(f splice.Form, meta json.RawMessage, o Ours) (json.RawMessage, error) {
	was := splice.GetField(meta, OursField)
	now := orEmptyObject(was)
	set := func(name string, v any, there bool) error {
		if !there {
			now = f.SetField(now, metaDepth+1, name, nil)
			return nil
		}
		raw, err := f.MarshalAt(v, metaDepth+2)
		if err == nil {
			now = f.SetField(now, metaDepth+1, name, raw)
		}
		return err
	}
	if err := set("stale", true, o.Stale); err != nil {
		return nil, err
	}
	if err := set("own", o.Own, o.Own != nil); err != nil {
		return nil, err
	}
	said := false
	for i := range o.Said {
		said = said || !o.Said[i].isEmpty()
	}
	if err := set("said", o.Said, said); err != nil {
		return nil, err
	}
	if len(splice.ListMembers(now)) == 0 {
		if was == nil {
			return meta, nil
		}
		now = nil
	}
	return f.SetField(orEmptyObject(meta), metaDepth, OursField, now), nil
}

// marshalPlain is JSON without HTML escapes, on one line.
func marshalPlain(v any) (json.RawMessage, error) { return splice.Form{}.MarshalAt(v, 0) }
