package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Copy gives the records of a bundle ids of their own. Where a text names one of
// those that pointers use (conversations, branches, segments), it names the new one
// afterwards; what has a provider's payload stays as it is, to the byte.
//
// Names are added before they are used. What covers messages (the hashes and files
// of segments) no longer fits then, and has to be rendered again.
type Copy struct {
	Names map[string]string // from the old ids to the new
	salt  string
	texts *strings.Replacer
}

// NewCopy makes ids that depend only on salt and the old ones.
func NewCopy(salt string) *Copy { return &Copy{Names: map[string]string{}, salt: salt} }

// newID returns the new id for an old one. If the old one begins with a timestamp, so does the
// new one, so that ids stay in order.
func (c *Copy) newID(old string) string {
	if old == "" {
		return ""
	}
	if id, ok := c.Names[old]; ok {
		return id
	}
	sum := sha256.Sum256([]byte(c.salt + "\x00" + old))
	b := []byte(hex.EncodeToString(sum[:16]))
	if isConversationID(old) {
		copy(b, old[:8]+old[9:13])
	}
	b[12] = '7'
	b[16] = "89ab"[sum[8]>>6]
	return string(slices.Concat(b[:8], []byte{'-'}, b[8:12], []byte{'-'}, b[12:16], []byte{'-'}, b[16:20], []byte{'-'},
		b[20:]))
}

// AddName names a conversation, a branch or a segment; and an artifact, as texts name it, whose bytes have changed.
func (c *Copy) AddName(old, name string) {
	if name == "" {
		name = c.newID(old)
	}
	c.Names[old] = name
}

// renameText returns a text with the new names.
func (c *Copy) renameText(s string) string {
	if c.texts == nil {
		var pairs []string
		for old, name := range c.Names {
			if isConversationID(old) || isHash(old) { // anything shorter is too common to be searched for in a text
				pairs = append(pairs, old, name)
			}
		}
		c.texts = strings.NewReplacer(pairs...)
	}
	return c.texts.Replace(s)
}

// CopyConversation renames a conversation, and drops what is not in the bundle.
func (c *Copy) CopyConversation(v Conversation) Conversation {
	v.Ancestors = slices.Clone(v.Ancestors)
	for i, id := range v.Ancestors {
		v.Ancestors[i] = scrollback.ConversationID(c.newID(string(id)))
	}
	if p := v.Parent; p != nil {
		v.Parent = nil
		if c.Names[string(p.ID)] != "" && c.Names[string(p.Branch)] != "" {
			v.Parent = &scrollback.ParentRef{ID: scrollback.ConversationID(c.newID(string(p.ID))),
				Branch: scrollback.BranchID(c.newID(string(p.Branch))), Seq: p.Seq}
		}
	}
	v.ID = scrollback.ConversationID(c.newID(string(v.ID)))
	v.Branch = scrollback.BranchID(c.newID(string(v.Branch)))
	if v.Draft != nil {
		t := *v.Draft
		t.ID = scrollback.TurnID(c.newID(string(t.ID)))
		t.Conversation = v.ID
		t.Branch = scrollback.BranchID(c.newID(string(t.Branch)))
		v.Draft = &t
	}
	return v
}

// CopySegment renames a segment.
func (c *Copy) CopySegment(s scrollback.Segment) scrollback.Segment {
	s.ID = c.renameSegmentID(s.ID)
	s.Conversation = scrollback.ConversationID(c.newID(string(s.Conversation)))
	s.Branch = scrollback.BranchID(c.newID(string(s.Branch)))
	s.Children = slices.Clone(s.Children)
	for i, id := range s.Children {
		s.Children[i] = c.renameSegmentID(id)
	}
	s.Summary = c.renameText(s.Summary)
	s.Placeholder = c.renameText(s.Placeholder)
	return s
}

func (c *Copy) renameSegmentID(id scrollback.SegmentID) scrollback.SegmentID {
	return scrollback.SegmentID(c.newID(string(id)))
}

// CopyBranch renames a branch.
func (c *Copy) CopyBranch(b Branch) Branch {
	b.ID = scrollback.BranchID(c.newID(string(b.ID)))
	b.Parent = scrollback.BranchID(c.newID(string(b.Parent)))
	b.Conversation = scrollback.ConversationID(c.newID(string(b.Conversation)))
	b.View = c.renameView(b.View)
	return b
}

func (c *Copy) renameView(v scrollback.View) scrollback.View {
	v.Segments = slices.Clone(v.Segments)
	for i := range v.Segments {
		v.Segments[i].ID = c.renameSegmentID(v.Segments[i].ID)
	}
	if s := v.Summary; s != nil {
		v.Summary = new(*s)
		v.Summary.Segment = c.renameSegmentID(s.Segment)
	}
	return v
}

// CopyReceipt renames a receipt.
func (c *Copy) CopyReceipt(f scrollback.StoredReceipt) scrollback.StoredReceipt {
	f.Branch = scrollback.BranchID(c.newID(string(f.Branch)))
	f.Before = c.renameView(f.Before)
	r := &f.Receipt
	r.Segments = slices.Clone(r.Segments)
	r.Refs = slices.Clone(r.Refs)
	for i, id := range r.Segments {
		r.Segments[i] = c.renameSegmentID(id)
	}
	for i, ref := range r.Refs {
		if kind, id, err := ref.Split(); err == nil && kind == scrollback.RefHistory {
			r.Refs[i] = scrollback.HistoryRef(c.renameSegmentID(scrollback.SegmentID(id)))
		}
	}
	return f
}

// CopyKept renames what a person says about a sentence. Messages must have been renamed.
func (c *Copy) CopyKept(k KeptChange) KeptChange {
	k.Message = scrollback.MessageID(c.newID(string(k.Message)))
	k.Conversation = scrollback.ConversationID(c.newID(string(k.Conversation)))
	k.Branch = scrollback.BranchID(c.newID(string(k.Branch)))
	k.Change = c.newID(k.Change)
	k.Text = c.renameText(k.Text)
	k.ID = scrollback.NewKeptID(k.Message, k.Kind, k.Text)
	return k
}

// CopyMessage renames a message.
func (c *Copy) CopyMessage(m scrollback.Message) scrollback.Message {
	m.ID = scrollback.MessageID(c.newID(string(m.ID)))
	m.TurnID = scrollback.TurnID(c.newID(string(m.TurnID)))
	m.ConversationID = scrollback.ConversationID(c.newID(string(m.ConversationID)))
	m.Branch = scrollback.BranchID(c.newID(string(m.Branch)))
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if len(p.Opaque) == 0 && (p.Reference == nil || p.IsRecall()) { // a file says what it says
				p.Text = c.renameText(p.Text)
			}
			m.Parts[i] = p
		case scrollback.ToolResult:
			if len(p.Opaque) == 0 {
				p.Text = c.renameText(p.Text)
			}
			m.Parts[i] = p
		case scrollback.ToolCall:
			if len(p.Opaque) == 0 && len(p.Arguments) > 0 {
				p.Arguments = []byte(c.renameText(string(p.Arguments)))
			}
			m.Parts[i] = p
		case scrollback.Reasoning, scrollback.Image, scrollback.File: // not read by pointers
		}
	}
	return m
}

// WrapVisit hands v the records with their new ids.
func (c *Copy) WrapVisit(v Visit) Visit {
	renamed := v
	if v.Conversation != nil {
		renamed.Conversation = func(r Conversation) error { return v.Conversation(c.CopyConversation(r)) }
	}
	if v.Segment != nil {
		renamed.Segment = func(r scrollback.Segment) error { return v.Segment(c.CopySegment(r)) }
	}
	if v.Branch != nil {
		renamed.Branch = func(r Branch) error { return v.Branch(c.CopyBranch(r)) }
	}
	if v.Message != nil {
		renamed.Message = func(r scrollback.Message) error { return v.Message(c.CopyMessage(r)) }
	}
	if v.Fold != nil {
		renamed.Fold = func(r scrollback.StoredReceipt) error { return v.Fold(c.CopyReceipt(r)) }
	}
	if v.Kept != nil {
		renamed.Kept = func(r KeptChange) error { return v.Kept(c.CopyKept(r)) }
	}
	return renamed
}
