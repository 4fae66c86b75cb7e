// Package bundles writes conversations as bundles, which hold a conversation whole, and reads
// them back.
//
// Words it adds: arrival (one conversation of a bundle, compared with what is here), desk
// (for whom, and between what, bundles go).
//
// Invariants: a bundle is checked completely before anything of it is written, and nobody
// sees a conversation that is new here until its last write; what is written belongs to the
// caller's projects.
//
// It may not know models, windows or the files of other tools.
package bundles

import (
	"cmp"
	"maps"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/bundle"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/store"
)

// Installation is the caller for whom bundles are written and read, the store and the archive of the
// engine that is behind it, and bounds, of which zero fields are the defaults.
type Installation struct {
	View    *engine.View
	Store   *store.Store
	Archive *archive.Archive
	Limits  bundle.Limits
}

// bundledConversation is one conversation of a bundle: what the bundle says about it, and what is
// here. Ids are those that it has here.
type bundledConversation struct {
	*store.Comparison
	conv     bundle.Conversation
	branches map[scrollback.BranchID]scrollback.Branch
	mentions map[scrollback.ArtifactID]scrollback.Artifact

	batch []store.IncomingMessage // of branch grows
	grows scrollback.BranchID
	size  int

	pending store.Adoption                               // small things that wait for a full batch
	final   store.Adoption                               // what becomes visible together
	last    []store.Growth                               // and the messages that become visible with it
	rollups []scrollback.Segment                         // of a copy, until what they hold is made
	made    map[scrollback.SegmentID]*scrollback.Segment // of a copy
}

// takeBatch returns the batch as what its branch grows by, and empties it.
func (a *bundledConversation) takeBatch() []store.Growth {
	if len(a.batch) == 0 {
		return nil
	}
	g := store.Growth{Branch: a.branches[a.grows], IfHead: a.batch[0].Seq - 1, Messages: a.batch}
	g.UpdatedAt = cmp.Or(g.UpdatedAt, a.batch[len(a.batch)-1].CreatedAt)
	a.batch = nil
	a.size = 0
	return []store.Growth{g}
}

// fullConversation returns the conversation as it is stored.
func (a *bundledConversation) fullConversation() scrollback.Conversation {
	c := a.conv.Conversation
	c.Ancestors = a.conv.Ancestors
	c.Environment = a.conv.Environment.WithoutRoots()
	return c
}

// mustWait reports whether something that shows messages up to seq has to wait for the last
// of them.
func (a *bundledConversation) mustWait(seq int64) bool {
	return a.isVisible() && len(a.last) > 0 && seq > a.last[0].IfHead
}

// isVisible reports whether people already see the conversation.
func (a *bundledConversation) isVisible() bool { return a.Known && !a.Hidden }

// AdaptSettings makes a conversation's own fields fit this installation: no folders, limit,
// recall scope or sub-agents from elsewhere, and only a model, a policy and numbers that are known here.
// Its project must be the caller's.
func AdaptSettings(v *engine.View, c *scrollback.Conversation, project string) (err error) {
	if c.Project, err = v.Bulk().ResolveProject(cmp.Or(project, c.Project)); err != nil {
		return err
	}
	c.Roots = []string{}
	c.Limit = 0
	c.DeletedAt = 0
	c.PurgedAt = 0
	c.Settings.RecallScope = ""
	c.Settings.Keep = ""
	c.Settings.Door = "" // no conversation has one
	c.AgentOf = nil
	c.Settings.Agents = false
	if c.Settings.ModelThinking().Check() != nil {
		c.Settings.ReasoningEffort = ""
		c.Settings.Thinking = nil
		c.Settings.ThinkingBudget = 0
	}
	if c.Model != "" && v.CheckModel(c.Model) != nil {
		c.Model = ""
	}
	fits := func(c scrollback.Conversation) bool { return v.CheckSettings(c) == nil }
	if fits(*c) {
		return nil
	}
	numbers := c.Settings.Compaction
	if c.Settings.Compaction = nil; !fits(*c) {
		c.Policy = ""
	}
	for _, name := range slices.Sorted(maps.Keys(numbers)) { // as many as go together
		was := c.Settings.Compaction
		c.Settings.Compaction = maps.Clone(was)
		if c.Settings.Compaction == nil {
			c.Settings.Compaction = map[string]float64{}
		}
		if c.Settings.Compaction[name] = numbers[name]; !fits(*c) {
			c.Settings.Compaction = was
		}
	}
	return nil
}

// stays reports whether the conversation stays where it stands here: something was said here, and what the bundle
// brings does not go on from there.
func (b *bundleImport) stays() bool {
	a := b.mainConversation()
	if !a.isVisible() || !a.Ours && a.Standing.Elsewhere {
		return false
	}
	of := b.ownerOf(a.conv.Branch, a.Messages)
	return of == "" || of != a.Standing.Branch || a.Standing.GoesOn
}

// pinsOnPath returns those pins, set on the path of a branch, whose messages are on the path
// that a bundle makes the current one.
func (b *bundleImport) pinsOnPath(pins []int64, set scrollback.BranchID) []int64 {
	now := b.mainConversation().conv.Branch
	return slices.DeleteFunc(append([]int64{}, pins...), func(pin int64) bool {
		of := b.ownerOf(now, pin)
		return of == "" || of != b.ownerOf(set, pin)
	})
}

// ownerOf returns the branch that owns the message of a seq on the path of a branch, as the bundle has it; empty if it
// has none.
func (b *bundleImport) ownerOf(id scrollback.BranchID, seq int64) scrollback.BranchID {
	find := func(id scrollback.BranchID) (scrollback.Branch, bool) {
		for _, a := range b.order {
			if br, ok := a.branches[id]; ok {
				return br, true
			}
		}
		return scrollback.Branch{}, false
	}
	for br, ok := find(id); ok; br, ok = find(br.Parent) {
		switch {
		case seq > br.HeadSeq:
			return ""
		case seq > br.AtSeq:
			return br.ID
		}
	}
	return ""
}
