package cell

import (
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript"
)

// applyTo returns a message of which the file says e, as the note has it.
func (n *messageNote) applyTo(e transcript.Entry) (transcript.Entry, bool) {
	m := &e.Message
	m.ID = n.ID
	m.Name = n.Name
	m.Model = n.Model
	m.Usage = n.Usage
	m.Status = n.Status
	m.CreatedAt = n.CreatedAt
	m.Meta = n.Meta
	if m.CreatedAt < 0 {
		return e, false
	}
	if n.Status != "" && !n.Status.Known() {
		return e, false
	}
	switch {
	case len(n.Whole) > 0:
		var parts scrollback.Parts
		if json.Unmarshal(n.Whole, &parts) != nil {
			return e, false
		}
		attached, err := transcript.DecodeAttached(n.Whole, parts)
		m.Parts = parts
		e.Bytes = attached
		return e, err == nil
	case len(n.Parts) > 0:
		parts, ok := patchParts(m.Parts, n.Parts)
		m.Parts = parts
		return e, ok
	}
	return e, true
}

// patchParts returns parts with other values in some of their fields. Parts without any stay as
// they are, and so do the arguments of calls.
func patchParts(ps scrollback.Parts, fields []map[string]json.RawMessage) (out scrollback.Parts, ok bool) {
	if len(ps) != len(fields) {
		return nil, false
	}
	out = slices.Clone(ps)
	for i, p := range ps {
		if len(fields[i]) == 0 {
			continue
		}
		is, err := encodeParts(scrollback.Parts{p})
		if err != nil || fields[i]["type"] != nil {
			return nil, false
		}
		var around []string
		if t, ok := p.(scrollback.Text); ok && t.Reference != nil && json.Unmarshal(fields[i]["around"], &around) == nil &&
			len(around) == 2 {
			if is[0]["text"], err = marshalPlain(around[0] + referenceContent(t) + around[1]); err != nil {
				return nil, false
			}
		}
		for name, v := range fields[i] {
			if is[0][name] = v; string(v) == "null" {
				delete(is[0], name)
			}
		}
		raw, err := marshalPlain(is)
		var one scrollback.Parts
		if err != nil || json.Unmarshal(raw, &one) != nil {
			return nil, false
		}
		out[i] = one[0]
	}
	return out, true
}
