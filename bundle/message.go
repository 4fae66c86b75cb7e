package bundle

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// prepareMessages checks what comes before the messages of a conversation.
func (c *checker) prepareMessages() error {
	if c.ready {
		return nil
	}
	c.ready = true
	if len(c.at.order) == 0 {
		return newDamageError("conversation %s has no branch", c.at.ID)
	}
	i := slices.IndexFunc(c.at.order, func(b *branchState) bool { return b.ID == c.at.Branch })
	if i < 0 && !c.at.Inherited {
		return newDamageError("the current branch of conversation %s is missing", c.at.ID)
	}
	if err := c.checkReached(); err != nil {
		return err
	}
	return c.endSegments()
}

// followsAncestors reports whether ancestors are all the conversations so far, nearest first.
// What is on a path is one line, so each inherits from all that come before it.
func (c *checker) followsAncestors(ancestors []scrollback.ConversationID) bool {
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

// checkReached checks that the branches of a conversation come from every conversation that
// it inherits from: otherwise a name alone would give the writer access to that one.
func (c *checker) checkReached() error {
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
		return newDamageError("conversation %s inherits from one that no branch of it comes from", c.at.ID)
	}
	return nil
}

func (c *checker) checkMessage(m scrollback.Message) error {
	if err := c.prepareMessages(); err != nil {
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
		return newDamageError("conversation %s has more messages than its branches", c.at.ID)
	}
	b := c.at.order[c.line]
	if m.ConversationID != c.at.ID || m.Branch != b.ID || m.Seq != b.seq+1 {
		return newDamageError("#%d of branch %q is in the place of #%d of branch %s", m.Seq, clipText(string(m.Branch)),
			b.seq+1, b.ID)
	}
	b.seq++
	if err := c.judgeMessage(m); err != nil {
		return err
	}
	sum, err := scrollback.HashMessages([]scrollback.Message{m})
	if err != nil {
		return newDamageError("message %s cannot be read", m.ID)
	}
	c.log.Write([]byte(sum + "\n"))
	c.currentCount().Messages++
	if err := c.checkCover(b, m); err != nil {
		return err
	}
	return passRecord(c.also.Message, m)
}

// judgeMessage checks one message by itself.
func (c *checker) judgeMessage(m scrollback.Message) error {
	wrong := func(what i18n.ID) error {
		return newDamageError("message %q (#%d) %s", clipText(string(m.ID)), m.Seq, what)
	}
	_, err := scrollback.ParseRole(string(m.Role))
	switch {
	case !isID(string(m.ID)) || m.TurnID != "" && !isID(string(m.TurnID)):
		return wrong(i18n.RecordHasMalformedID)
	case err != nil:
		return wrong(i18n.MessageHasUnknownRole)
	case !m.Status.Known():
		return wrong(i18n.MessageHasUnknownStatus)
	case m.CreatedAt == 0:
		return wrong(i18n.MessageHasNoTime)
	}
	for id := range m.Parts.Artifacts() {
		if c.findAttached(id) == nil {
			return wrong(i18n.MessageNamesNoArtifact)
		}
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Image:
			web := strings.HasPrefix(p.URL, "https://") || strings.HasPrefix(p.URL, "http://")
			if p.URL != "" && (!web || p.Artifact != "" || p.Size != 0) {
				return wrong(i18n.MessageImageAddressImpossible)
			}
			if p.URL == "" && !c.hasSize(p.Artifact, p.Size) || p.Width < 0 || p.Height < 0 ||
				max(p.Width, p.Height) > maxSide {
				return wrong(i18n.MessageImageSizeDiffers)
			}
		case scrollback.File:
			if !c.hasSize(p.Artifact, p.Size) {
				return wrong(i18n.MessageFileSizeDiffers)
			}
		case scrollback.Text, scrollback.Reasoning, scrollback.ToolCall, scrollback.ToolResult: // say no sizes
		}
	}
	return nil
}

func (c *checker) checkFold(f scrollback.StoredReceipt) error {
	if err := c.prepareMessages(); err != nil {
		return err
	}
	if b := c.branches[f.Branch]; b == nil || b.Conversation != c.at.ID {
		return newDamageError("a receipt is of branch %q, which does not exist", clipText(string(f.Branch)))
	}
	if err := c.countRecord(); err != nil {
		return err
	}
	if err := c.checkView(f.Branch, f.Before); err != nil {
		return err
	}
	return passRecord(c.also.Fold, f)
}
