package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Check reads a bundle and judges everything it says: ids, paths and seqs, hashes of
// messages, segments and their files, and that whatever is named is in it. What has
// been judged is handed on to also, save artifacts and files.
func Check(r io.ReadSeeker, limits Limits, render Renderer, also Visit) (Manifest, error) {
	c := &checker{limits: limits.withDefaults(DefaultLimits()), render: render, also: also,
		artifacts: map[scrollback.ArtifactID]*attachedArtifact{},
		segments:  map[scrollback.SegmentID]*scrollback.Segment{}, branches: map[scrollback.BranchID]*branchState{}}
	m, err := Walk(r, limits, Visit{
		Header: c.checkHeader, Artifact: c.checkArtifact, Conversation: c.beginConversation, Segment: c.checkSegment,
		Branch:  c.checkBranch,
		Mention: c.checkMention, File: c.checkFile, Message: c.checkMessage, Fold: c.checkFold, Kept: c.checkKept,
	})
	if err == nil {
		err = c.checkEnd(m)
	}
	if err == nil && len(c.kept) > 0 {
		err = c.checkKeptTexts(r, limits)
	}
	return m, err
}

// checker remembers what later records of a bundle are checked against.
type checker struct {
	limits   Limits
	render   Renderer
	also     Visit
	head     Header
	records  int
	children int // of all roll-ups

	artifacts map[scrollback.ArtifactID]*attachedArtifact
	parts     []*conversationPart                          // in the order of the file
	segments  map[scrollback.SegmentID]*scrollback.Segment // without long fields
	branches  map[scrollback.BranchID]*branchState
	counts    []Count
	kept      map[keptPlace][]KeptChange

	at    *conversationPart
	log   hash.Hash
	ready bool // the conversation's branches are complete, and checked
	line  int  // in at.order: whose messages come

	held  []scrollback.Message // of the branch, for the leaves that cover them
	sizes []int64
	size  int64
	open  []*scrollback.Segment // leaves of the branch, by their first message
}

// countRecord counts a record that is kept in memory.
func (c *checker) countRecord() error {
	if c.records++; c.records > c.limits.Records {
		return newLimitError("it has more than %d branches, segments, artifacts and receipts", c.limits.Records)
	}
	return nil
}

func (c *checker) checkHeader(h Header) error {
	c.head = h
	return passRecord(c.also.Header, h)
}

func (c *checker) checkArtifact(id scrollback.ArtifactID, size int64, _ io.Reader) error {
	c.artifacts[id] = &attachedArtifact{size: size}
	return c.countRecord()
}

func (c *checker) beginConversation(v Conversation) error {
	if err := c.endConversation(); err != nil {
		return err
	}
	if !c.followsAncestors(v.Ancestors) {
		return newDamageError("conversation %s inherits from others than those before it", v.ID)
	}
	if v.Inherited == (v.ID == c.head.Conversation) {
		return newDamageError("conversation %s is not the one in the bundle's header", v.ID)
	}
	if v.Inherited {
		if err := checkBare(v); err != nil {
			return err
		}
	}
	c.at = &conversationPart{ID: v.ID, Branch: v.Branch, PinnedSeqs: v.PinnedSeqs, Inherited: v.Inherited, Draft: v.Draft,
		mentions: map[scrollback.ArtifactID]bool{}, leaves: map[scrollback.BranchID][]*scrollback.Segment{}}
	c.parts = append(c.parts, c.at)
	c.ready = false
	c.line = 0
	c.log = sha256.New()
	c.counts = append(c.counts, Count{ID: v.ID})
	return passRecord(c.also.Conversation, v)
}

func (c *checker) currentCount() *Count { return &c.counts[len(c.counts)-1] }

// endConversation checks that a conversation is complete.
func (c *checker) endConversation() error {
	if c.at == nil {
		return nil
	}
	if err := c.prepareMessages(); err != nil {
		return err
	}
	for _, b := range c.at.order {
		if b.seq != b.HeadSeq {
			return newDamageError("branch %s ends with #%d instead of #%d", b.ID, b.seq, b.HeadSeq)
		}
	}
	for _, pin := range c.at.PinnedSeqs {
		if pin < 1 {
			return newDamageError("conversation %s pins message %d", c.at.ID, pin)
		}
	}
	if err := c.at.checkDraft(); err != nil {
		return err
	}
	c.currentCount().Log = hex.EncodeToString(c.log.Sum(nil))
	return nil
}

// checkDraft checks that the turn whose draft a conversation brings stands on one of its branches.
func (p *conversationPart) checkDraft() error {
	t := p.Draft
	if t == nil {
		return nil
	}
	on := slices.ContainsFunc(p.order, func(b *branchState) bool {
		return b.ID == t.Branch && b.AtSeq <= t.Seq && t.LastSeq <= b.HeadSeq
	})
	if !on || t.Conversation != p.ID || t.Seq > t.LastSeq || t.Seq < 1 || t.ID == "" || len(t.ID) > maxTurnID ||
		t.State != scrollback.TurnInterrupted {
		return newDamageError("the draft of conversation %s is of no turn of its own", p.ID)
	}
	return nil
}

// maxTurnID bounds the id of a turn, in bytes.
const maxTurnID = 100

// checkEnd checks the whole bundle.
func (c *checker) checkEnd(m Manifest) error {
	if err := c.endConversation(); err != nil {
		return err
	}
	if c.at.ID != c.head.Conversation {
		return newDamageError("the exported conversation is not the last one")
	}
	if !slices.Equal(c.counts, m.Conversations) {
		return newDamageError("its conversations do not match the manifest")
	}
	for _, p := range c.parts {
		for _, b := range p.order {
			if p.Inherited && b.left != b.HeadSeq {
				return newDamageError("branch %s ends with #%d, and the path leaves it at #%d", b.ID, b.HeadSeq, b.left)
			}
		}
	}
	for id, a := range c.artifacts {
		if !a.used {
			return newDamageError("artifact %s is mentioned nowhere", id)
		}
	}
	return nil
}
