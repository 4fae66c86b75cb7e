package bundle

import (
	"io"
	"math"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// maxHeld bounds the bytes of messages that are in memory while the segments that
// cover them are judged.
const maxHeld = 64 << 20

// checkCover holds the leaves that end with a message against what they cover.
func (c *checker) checkCover(b *branchState, m scrollback.Message) error {
	for len(b.leaves) > 0 && b.leaves[0].FirstSeq == m.Seq {
		c.open = append(c.open, b.leaves[0])
		b.leaves = b.leaves[1:]
	}
	if len(c.open) == 0 {
		c.held = c.held[:0]
		c.sizes = c.sizes[:0]
		c.size = 0
		return nil
	}
	size := messageSize(m)
	c.held = append(c.held, m)
	c.sizes = append(c.sizes, size)
	c.size += size
	if c.size > maxHeld && len(c.held) > 1 {
		return newLimitError("segment %s covers more than %d bytes", c.open[0].ID, maxHeld)
	}
	for _, s := range c.open {
		if s.LastSeq != m.Seq {
			continue
		}
		ms := c.held[len(c.held)-s.Messages:]
		if hash, err := scrollback.HashMessages(ms); err != nil || hash != s.Hash {
			return newDamageError("segment %s does not match the messages it covers", s.ID)
		}
		if err := c.measureFile(s, func(w io.Writer) error { return c.render.Leaf(w, *s, ms) }); err != nil {
			return err
		}
	}
	c.open = slices.DeleteFunc(c.open, func(s *scrollback.Segment) bool { return s.LastSeq == m.Seq })
	if len(c.open) > 0 { // what no open leaf covers can be dropped
		first := c.open[0].FirstSeq
		for _, s := range c.open {
			first = min(first, s.FirstSeq)
		}
		drop := len(c.held) - int(m.Seq-first+1)
		for _, n := range c.sizes[:drop] {
			c.size -= n
		}
		c.held = slices.Delete(c.held, 0, drop)
		c.sizes = slices.Delete(c.sizes, 0, drop)
	}
	return nil
}

// messageSize returns roughly what a message takes in memory.
func messageSize(m scrollback.Message) int64 {
	n := int64(len(m.Meta) + 256)
	for _, p := range m.Parts {
		n += 64
		switch p := p.(type) {
		case scrollback.Text:
			n += int64(len(p.Text) + len(p.Opaque))
		case scrollback.Reasoning:
			n += int64(len(p.Text) + len(p.Opaque))
		case scrollback.ToolCall:
			n += int64(len(p.Arguments) + len(p.Opaque))
		case scrollback.ToolResult:
			n += int64(len(p.Text) + len(p.Opaque))
		case scrollback.Image:
			n += int64(len(p.Opaque))
		case scrollback.File:
			n += int64(len(p.Opaque))
		}
	}
	return n
}

// attachedArtifact is an artifact in the bundle; used says that a conversation mentions it.
type attachedArtifact struct {
	size int64
	used bool
}

func (c *checker) checkMention(a scrollback.Artifact) error {
	bytes := c.artifacts[a.ID]
	if bytes == nil || bytes.size != a.Size {
		return newDamageError("the bytes of artifact %q are missing", clipText(string(a.ID)))
	}
	if c.at.mentions[a.ID] {
		return newDamageError("artifact %s is mentioned twice", a.ID)
	}
	bytes.used = true
	c.at.mentions[a.ID] = true
	if err := c.countRecord(); err != nil {
		return err
	}
	return passRecord(c.also.Mention, a)
}

// findAttached returns an artifact that the conversation, or one before it, mentions: it
// inherits from all of these.
func (c *checker) findAttached(id scrollback.ArtifactID) *attachedArtifact {
	if a := c.artifacts[id]; a != nil && a.used {
		return a
	}
	return nil
}

// maxSide is the most pixels that the file of an image can claim as width or height.
const maxSide = math.MaxInt32

// hasSize reports whether an artifact is there and has size bytes.
func (c *checker) hasSize(id scrollback.ArtifactID, size int64) bool {
	a := c.findAttached(id)
	return a != nil && a.size == size
}
