package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Renderer makes the Markdown files of segments, so that they can be held against
// what the bundle says of them. An error means that it cannot be made here.
type Renderer struct {
	Leaf  func(w io.Writer, s scrollback.Segment, ms []scrollback.Message) error
	Table func(w io.Writer, s scrollback.Segment, children []scrollback.Segment) error
}

// isSegmentID is isID for ids in refs.
func isSegmentID(id scrollback.SegmentID) bool {
	_, _, err := scrollback.HistoryRef(id).Split()
	return err == nil
}

func (c *checker) checkSegment(s scrollback.Segment) error {
	wrong := func(what i18n.ID) error { return newDamageError("segment %q %s", clipText(string(s.ID)), what) }
	leaf := len(s.Children) == 0
	n := s.LastSeq - s.FirstSeq + 1
	switch {
	case !isSegmentID(s.ID):
		return wrong(i18n.RecordHasMalformedID)
	case c.segments[s.ID] != nil:
		return wrong(i18n.RecordIsListedTwice)
	case s.Conversation != c.at.ID || !isID(string(s.Branch)):
		return wrong(i18n.RecordBelongsElsewhere)
	case s.FirstSeq < 1 || n < 1 || s.Messages < 1 || int64(s.Messages) != n:
		return wrong(i18n.SegmentCoversOtherMessages)
	case leaf && (s.Level != 0 || n > scrollback.MaxSegmentMessages), !leaf && s.Level < 1:
		return wrong(i18n.SegmentCannotBeMade)
	case !isHash(s.Hash) || !isHash(s.SHA256):
		return wrong(i18n.SegmentHasNoHashes)
	case s.SummaryOf < 0 || s.SummaryOf > s.LastSeq || s.TokensBefore < 0 || s.TokensAfter < 0 || s.Bytes < 0:
		return wrong(i18n.SegmentIsImpossible)
	}
	for _, id := range s.Children {
		if !isSegmentID(id) {
			return newDamageError("segment %s does not hold segment %q", s.ID, clipText(string(id)))
		}
	}
	if c.children += len(s.Children); c.children > c.limits.Records {
		return newLimitError("its segments hold more than %d segments", c.limits.Records)
	}
	light := s // a hint is cloned: it must not keep the summary that it is cut from
	light.Summary = strings.Clone(scrollback.Hint(s.Summary))
	light.SummaryBy = ""
	light.Placeholder = scrollback.GistOnly(s.Placeholder)
	c.segments[s.ID] = &light
	if leaf {
		c.at.leaves[s.Branch] = append(c.at.leaves[s.Branch], &light)
	} else {
		c.at.rollups = append(c.at.rollups, &light)
	}
	c.currentCount().Segments++
	if err := c.countRecord(); err != nil {
		return err
	}
	return passRecord(c.also.Segment, s)
}

// endSegments checks the roll-ups, once everything they may hold is there.
func (c *checker) endSegments() error {
	for _, s := range c.at.rollups {
		next := s.FirstSeq
		hashes := []string{}
		var children []scrollback.Segment
		for _, id := range s.Children {
			child := c.segments[id]
			if child == nil || child.FirstSeq != next || child.Level >= s.Level {
				return newDamageError("segment %s does not hold segment %q", s.ID, clipText(string(id)))
			}
			next = child.LastSeq + 1
			children = append(children, *child)
			hashes = append(hashes, child.Hash)
		}
		if next != s.LastSeq+1 || s.Hash != scrollback.HashChildren(hashes) {
			return newDamageError("segment %s does not match the segments that it holds", s.ID)
		}
		if err := c.measureFile(s, func(w io.Writer) error { return c.render.Table(w, *s, children) }); err != nil {
			return err
		}
	}
	leaves := c.at.leaves
	for _, b := range c.at.order {
		b.leaves = leaves[b.ID]
		delete(leaves, b.ID)
		for _, s := range b.leaves {
			if s.FirstSeq <= b.AtSeq || s.LastSeq > b.HeadSeq {
				return newDamageError("segment %s covers more than its branch has", s.ID)
			}
		}
		slices.SortFunc(b.leaves, func(x, y *scrollback.Segment) int { return int(x.FirstSeq - y.FirstSeq) })
	}
	for _, b := range leaves {
		return newDamageError("segment %s is of a branch that does not exist", b[0].ID)
	}
	return nil
}

// measureFile checks the file of a segment against what the segment says about it.
func (c *checker) measureFile(s *scrollback.Segment, render func(io.Writer) error) error {
	sum := &countingReader{Hash: sha256.New()}
	if err := render(sum); err != nil {
		return newRefusal(i18n.BundleRendererTooNew, s.ID,
			s.Renderer)
	}
	if sum.n != s.Bytes || hex.EncodeToString(sum.Sum(nil)) != s.SHA256 {
		return newDamageError("the file of segment %s is not the one that was folded", s.ID)
	}
	return nil
}

type countingReader struct {
	hash.Hash
	n int64
}

// Write implements io.Writer.
func (c *countingReader) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.Hash.Write(p)
}

// checkFile checks the Markdown file of a segment in the same way.
func (c *checker) checkFile(name string, sum EntrySum) error {
	for i := len(name) - len(".md"); i > 0 && name[i-1] != '/'; i-- {
		s := c.segments[scrollback.SegmentID(name[i:len(name)-len(".md")])]
		if s != nil && s.Conversation == c.at.ID && segmentPath(c.at.ID, *s) == name {
			if s.SHA256 != sum.SHA256 || s.Bytes != sum.Size {
				return newDamageError("%q is not the file of its segment", name)
			}
			return nil
		}
	}
	return newRefusal(i18n.BundleHoldsStranger, clipText(name))
}
