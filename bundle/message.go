package bundle

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// prepare checks what comes before the messages of a conversation.
func (c *checker) prepare() error {
	if c.ready {
		return nil
	}
	c.ready = true
	if len(c.at.order) == 0 {
		return damaged("conversation %s has no branch", c.at.ID)
	}
	i := slices.IndexFunc(c.at.order, func(b *branch) bool { return b.ID == c.at.Branch })
	if i < 0 && !c.at.Inherited {
		return damaged("the current branch of conversation %s is missing", c.at.ID)
	}
	if err := c.reaches(); err != nil {
		return err
	}
	return c.endSegments()
}

// follows reports whether ancestors are all the conversations so far, nearest first.
// What is on a path is one line, so each inherits from all that come before it.
func (c *checker) follows(ancestors []scrollback.ConversationID) bool {
	if len(ancestors) != len(c.parts) {
		return false
	}
	for i, p := range c.parts {
		if ancestors[len(ancestors)-1-i] != p.ID {
			return false
		}
	}
	return true
}

// reaches checks that the branches of a conversation come from every conversation that
// it inherits from: otherwise a name alone would give the writer access to that one.
func (c *checker) reaches() error {
	missing := len(c.parts) - 1
	for _, b := range c.at.order {
		for e := b.exit; e != nil && e.met != c.at && missing > 0; e = e.exit {
			e.met = c.at
			if e.of.met != c.at {
				e.of.met = c.at
				missing--
			}
		}
	}
	if missing > 0 {
		return damaged("conversation %s inherits from one that no branch of it comes from", c.at.ID)
	}
	return nil
}

func (c *checker) message(m scrollback.Message) error {
	if err := c.prepare(); err != nil {
		return err
	}
	for c.line < len(c.at.order) && c.at.order[c.line].seq == c.at.order[c.line].HeadSeq {
		c.line++
		c.held = nil
		c.sizes = nil
		c.size = 0
		c.open = nil
	}
	if c.line == len(c.at.order) {
		return damaged("conversation %s has more messages than its branches", c.at.ID)
	}
	b := c.at.order[c.line]
	if m.ConversationID != c.at.ID || m.Branch != b.ID || m.Seq != b.seq+1 {
		return damaged("#%d of branch %q is in the place of #%d of branch %s", m.Seq, clip(string(m.Branch)), b.seq+1, b.ID)
	}
	b.seq++
	if err := c.judge(m); err != nil {
		return err
	}
	sum, err := scrollback.HashMessages([]scrollback.Message{m})
	if err != nil {
		return damaged("message %s cannot be read", m.ID)
	}
	c.log.Write([]byte(sum + "\n"))
	c.count().Messages++
	if err := c.cover(b, m); err != nil {
		return err
	}
	return hand(c.also.Message, m)
}

// judge checks one message by itself.
func (c *checker) judge(m scrollback.Message) error {
	wrong := func(what string) error { return damaged("message %q (#%d) %s", clip(string(m.ID)), m.Seq, what) }
	_, err := scrollback.ParseRole(string(m.Role))
	switch {
	case !isID(string(m.ID)) || m.TurnID != "" && !isID(string(m.TurnID)):
		return wrong("has a malformed id")
	case err != nil:
		return wrong("has an unknown role")
	case !m.Status.Known():
		return wrong("has an unknown status")
	case m.CreatedAt == 0:
		return wrong("has no time")
	}
	for id := range m.Parts.Artifacts() {
		if c.attached(id) == nil {
			return wrong("names an artifact that is not there")
		}
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Image:
			web := strings.HasPrefix(p.URL, "https://") || strings.HasPrefix(p.URL, "http://")
			if p.URL != "" && (!web || p.Artifact != "" || p.Size != 0) {
				return wrong("has an image at an address that cannot be")
			}
			if p.URL == "" && !c.measures(p.Artifact, p.Size) || p.Width < 0 || p.Height < 0 ||
				max(p.Width, p.Height) > maxSide {
				return wrong("has an image of another size than its artifact")
			}
		case scrollback.File:
			if !c.measures(p.Artifact, p.Size) {
				return wrong("has a file of another size than its artifact")
			}
		case scrollback.Text, scrollback.Reasoning, scrollback.ToolCall, scrollback.ToolResult: // say no sizes
		}
	}
	return nil
}

func (c *checker) fold(f scrollback.StoredReceipt) error {
	if err := c.prepare(); err != nil {
		return err
	}
	if b := c.branches[f.Branch]; b == nil || b.Conversation != c.at.ID {
		return damaged("a receipt is of branch %q, which does not exist", clip(string(f.Branch)))
	}
	if err := c.remember(); err != nil {
		return err
	}
	if err := c.view(f.Branch, f.Before); err != nil {
		return err
	}
	return hand(c.also.Fold, f)
}
