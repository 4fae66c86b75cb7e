package merge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// Kinds of elements. What an element is made of must never change: stores of different versions compare them.
const (
	kindMessage     = 'm'
	kindAlias       = 'a'
	kindField       = 'f'
	kindBranch      = 'b'
	kindParent      = 'p'
	kindCreated     = 'c'
	kindEnvironment = 'e'
	kindAgent       = 'g'
	kindSegment     = 's'
	kindReceipt     = 'r'
	kindKept        = 'k'
	kindMention     = 'n'
	kindUnknown     = 'u'
	kindStone       = 'x'
	kindDigest      = 'd'
	kindSummary     = 'i'
	kindStore       = 'z'
)

// Keys gives the key of a message by any of its ids; the id itself where it is not held.
type Keys func(scrollback.MessageID) scrollback.MessageID

// Key is what makes two imports of a message one.
func (m Message) Key() scrollback.MessageID { return cmp.Or(m.Source, m.ID) }

// Element is what a message adds to [Tally.Messages].
func (m Message) Element() Hash {
	return newElement(kindMessage).text(string(m.Key())).bytes(m.Hash[:]).number(m.Seq).hash()
}

// AddMessage counts a message that was stored.
func (t Tally) AddMessage(m Message) Tally {
	t.Messages = t.Messages.Add(m.Element())
	t.Count++
	return t.AddAlias(m.alias())
}

// RemoveMessage counts a message no more that was purged.
func (t Tally) RemoveMessage(m Message) Tally {
	t.Messages = t.Messages.Remove(m.Element())
	t.Count--
	return t.RemoveAlias(m.alias())
}

// AddAlias counts another id of a message.
func (t Tally) AddAlias(a Alias) Tally {
	if a.ID != a.Of {
		t.Rest = t.Rest.Add(a.Element())
	}
	return t
}

// RemoveAlias counts another id of a message no more.
func (t Tally) RemoveAlias(a Alias) Tally {
	if a.ID != a.Of {
		t.Rest = t.Rest.Remove(a.Element())
	}
	return t
}

// alias is what the id of a message says about its key.
func (m Message) alias() Alias { return Alias{m.ID, m.Key()} }

// Replace counts a record other than a message in place of the one that it replaces: either may be missing.
func (t Tally) Replace(before, after *Hash) Tally {
	if before != nil {
		t.Rest = t.Rest.Remove(*before)
	}
	if after != nil {
		t.Rest = t.Rest.Add(*after)
	}
	return t
}

// Digest is what a conversation comes to: equal of two stores that hold the same of it.
func (t Tally) Digest(id scrollback.ConversationID) Hash {
	return newElement(kindDigest).text(string(id)).bytes(t.Messages.Bytes()).number(t.Count).bytes(t.Rest.Bytes()).hash()
}

// IsEmpty reports whether nothing is counted: the conversation is not there.
func (t Tally) IsEmpty() bool { return t == Tally{} }

// Element is what a conversation adds to [Head.Conversations].
func (s Summary) Element() Hash {
	return newElement(kindSummary).text(string(s.ID)).bytes(s.Digest[:]).hash()
}

// Digest is what a whole store comes to.
func (h Head) Digest() Hash {
	return newElement(kindStore).bytes(h.Conversations.Bytes()).number(int64(h.Count)).bytes(h.Rest.Bytes()).hash()
}

// Element is what a field adds to the sum of its owner.
func (f Field) Element(name string, keys Keys) Hash {
	at := f.At
	if f.By == "" {
		at = 0 // what nobody has changed has no clock: when a conversation was made says nothing about its title
	}
	return newElement(kindField).text(fieldKey(name, keys)).number(at).text(f.By).bytes(f.Value).hash()
}

// IsUnset reports whether a field says nothing: its value is empty and nobody has made it so. It is no record.
func (f Field) IsUnset() bool {
	if f.By != "" {
		return false
	}
	switch string(f.Value) {
	case "", "null", `""`, "0", "false", "{}", "[]", `{"title":""}`:
		return true
	}
	return false
}

// fieldKey is the name of a field as all stores know it: a pin is on a message, whichever of its ids it has here.
func fieldKey(name string, keys Keys) string {
	if id, ok := strings.CutPrefix(name, stamp.PinFields); ok {
		return stamp.PinFields + string(keys(scrollback.MessageID(id)))
	}
	return name
}

// Element is what a first branch adds to [Tally.Rest].
func (b Branch) Element(keys Keys) Hash {
	return newElement(kindBranch).text(string(b.ID)).text(string(keys(b.Leaves))).hash()
}

// Element is what a parent adds to [Tally.Rest].
func (p Parent) Element(keys Keys) Hash {
	return newElement(kindParent).text(string(p.Conversation)).text(string(keys(p.Message))).hash()
}

// Element is what a segment adds to [Tally.Rest].
func (s Segment) Element(keys Keys) Hash {
	of := s.Segment
	e := newElement(kindSegment).text(string(of.ID)).text(string(keys(s.First))).text(string(keys(s.Last)))
	e = e.text(string(keys(s.SummaryOf))).number(int64(of.Level)).number(int64(of.Messages))
	e = e.number(int64(len(of.Children)))
	for _, child := range of.Children {
		e = e.text(string(child))
	}
	e = e.text(of.Hash).number(of.From).number(of.To).text(of.Summary).text(of.SummaryBy).number(int64(of.PromptVersion))
	e = e.text(of.Placeholder).number(of.TokensBefore).number(of.TokensAfter).number(int64(of.Renderer))
	return e.number(of.Bytes).text(of.SHA256).number(of.CreatedAt).hash()
}

// Element is what a receipt adds to [Tally.Rest], and what it is known by: its branch, time, range and segments.
func (r Receipt) Element(keys Keys) Hash {
	branch := r.Branch
	if r.Last != "" {
		branch = "" // the last message says it, also where the branch has another number
	}
	e := newElement(kindReceipt).text(string(branch)).text(string(keys(r.First))).text(string(keys(r.Last)))
	e = e.number(r.Receipt.CreatedAt).number(int64(len(r.Receipt.Segments)))
	for _, id := range r.Receipt.Segments {
		e = e.text(string(id))
	}
	return e.hash()
}

// Element is what an entry of what is kept adds to [Tally.Rest].
func (k Kept) Element(keys Keys) Hash {
	e := newElement(kindKept).text(string(k.ID)).text(k.Change).text(string(keys(k.Message))).text(string(k.Role))
	e = e.text(string(k.Kind)).text(k.Text).text(string(k.State)).number(k.CreatedAt)
	return e.number(k.At).text(k.By).hash()
}

// Element is what a mention adds to [Tally.Rest].
func (m Mention) Element() Hash { return newElement(kindMention).text(string(m.Artifact)).hash() }

// Element is what an id of a message that is not its key adds to [Tally.Rest].
func (a Alias) Element() Hash {
	return newElement(kindAlias).text(string(a.ID)).text(string(a.Of)).hash()
}

// Element is what a stone adds to [Tally.Rest] of its conversation.
func (s Stone) Element() Hash {
	e := newElement(kindStone).text(s.Project).number(s.At).text(s.By)
	for _, origin := range slices.Sorted(slices.Values(s.Origins)) {
		e = e.text(origin)
	}
	return addUnknown(e, s.Unknown).hash()
}

func addUnknown(e element, unknown map[string]json.RawMessage) element {
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		e = e.text(name).bytes(unknown[name])
	}
	return e
}

func createdElement(at int64) Hash { return newElement(kindCreated).number(at).hash() }

func valueElement(kind byte, name string, value []byte) Hash {
	return newElement(kind).text(name).bytes(value).hash()
}

// UnknownElement is what a record of a newer version adds to the sum of its owner.
func UnknownElement(name string, value json.RawMessage) Hash {
	return valueElement(kindUnknown, name, value)
}

// RestElements lists what everything in a conversation but its messages adds to [Tally.Rest], and calls seen with each
// and with what puts the record that it stands for into another conversation. Ids of its messages that are not their
// keys count as aliases.
func (c *Conversation) RestElements(keys Keys, seen func(Hash, func(into *Conversation))) {
	if c.CreatedAt != 0 {
		seen(createdElement(c.CreatedAt), func(into *Conversation) { into.CreatedAt = c.CreatedAt })
	}
	if len(c.Environment) > 0 {
		seen(valueElement(kindEnvironment, "", c.Environment), func(into *Conversation) { into.Environment = c.Environment })
	}
	if len(c.AgentOf) > 0 {
		seen(valueElement(kindAgent, "", c.AgentOf), func(into *Conversation) { into.AgentOf = c.AgentOf })
	}
	if c.Parent != nil {
		seen(c.Parent.Element(keys), func(into *Conversation) { into.Parent = c.Parent })
	}
	for name, field := range c.Fields {
		seen(field.Element(name, keys), func(into *Conversation) { set(&into.Fields, name, field) })
	}
	for _, b := range c.Branches {
		seen(b.Element(keys), func(into *Conversation) { into.Branches = append(into.Branches, b) })
	}
	alias := func(a Alias) {
		if a.ID != a.Of {
			seen(a.Element(), func(into *Conversation) { into.Aliases = append(into.Aliases, a) })
		}
	}
	for _, m := range c.Messages {
		alias(m.alias())
	}
	for _, a := range c.Aliases {
		alias(a)
	}
	for _, s := range c.Segments {
		seen(s.Element(keys), func(into *Conversation) { into.Segments = append(into.Segments, s) })
	}
	for _, r := range c.Receipts {
		seen(r.Element(keys), func(into *Conversation) { into.Receipts = append(into.Receipts, r) })
	}
	for _, k := range c.Kept {
		seen(k.Element(keys), func(into *Conversation) { into.Kept = append(into.Kept, k) })
	}
	for _, m := range c.Mentions {
		seen(m.Element(), func(into *Conversation) { into.Mentions = append(into.Mentions, m) })
	}
	for name, value := range c.Unknown {
		seen(UnknownElement(name, value), func(into *Conversation) { set(&into.Unknown, name, value) })
	}
}

// Elements lists what a project adds to [Head.Rest].
func (p *Project) Elements() []Hash {
	var out []Hash
	none := func(id scrollback.MessageID) scrollback.MessageID { return id }
	of := func(h Hash) Hash { return newElement(kindField).text(p.Name).bytes(h[:]).hash() }
	for name, field := range p.Fields {
		out = append(out, of(field.Element(name, none)))
	}
	for name, value := range p.Unknown {
		out = append(out, of(UnknownElement(name, value)))
	}
	return out
}

func set[V any](m *map[string]V, name string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[name] = value
}

// Compact returns JSON as it is compared and hashed: without spaces; nothing if it is none.
func Compact(value json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, value) != nil {
		return nil
	}
	return out.Bytes()
}
