package bundle

import (
	"io"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// maxHeld bounds the bytes of messages that are in memory while the segments that
// cover them are judged.
const maxHeld = 64 << 20

// cover holds the leaves that end with a message against what they cover.
func (c *checker) cover(b *branch, m scrollback.Message) error {
	for len(b.leaves) > 0 && b.leaves[0].FirstSeq == m.Seq {
		c.open, b.leaves = append(c.open, b.leaves[0]), b.leaves[1:]
	}
	if len(c.open) == 0 {
		c.held, c.sizes, c.size = c.held[:0], c.sizes[:0], 0
		return nil
	}
	size := sizeOf(m)
	c.held, c.sizes, c.size = append(c.held, m), append(c.sizes, size), c.size+size
	if c.size > maxHeld && len(c.held) > 1 {
		return tooMuch("segment %s covers more than %d bytes", c.open[0].ID, maxHeld)
	}
	for _, s := range c.open {
		if s.LastSeq != m.Seq {
			continue
		}
		ms := c.held[len(c.held)-s.Messages:]
		if hash, err := scrollback.HashMessages(ms); err != nil || hash != s.Hash {
			return damaged("segment %s does not fit the messages it covers", s.ID)
		}
		if err := c.measure(s, func(w io.Writer) error { return c.render.Leaf(w, *s, ms) }); err != nil {
			return err
		}
	}
	c.open = slices.DeleteFunc(c.open, func(s *scrollback.Segment) bool { return s.LastSeq == m.Seq })
	if len(c.open) > 0 { // what no open leaf covers may go
		first := c.open[0].FirstSeq
		for _, s := range c.open {
			first = min(first, s.FirstSeq)
		}
		drop := len(c.held) - int(m.Seq-first+1)
		for _, n := range c.sizes[:drop] {
			c.size -= n
		}
		c.held, c.sizes = slices.Delete(c.held, 0, drop), slices.Delete(c.sizes, 0, drop)
	}
	return nil
}

// sizeOf is about what a message takes in memory.
func sizeOf(m scrollback.Message) int64 {
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
