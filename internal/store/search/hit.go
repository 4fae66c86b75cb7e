package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/terms"
)

// hitReader fills hits in. What many of them need is read once.
type hitReader struct {
	*search
	f        searchResult
	q        scrollback.SearchQuery
	heads    map[scrollback.ConversationID]driver.Head
	segments map[scrollback.SegmentID]scrollback.Segment
	leaves   map[scrollback.ConversationID][]scrollback.TurnID
}

// visibleCandidate is a candidate that becomes a hit, and the head from which it is seen.
type visibleCandidate struct {
	*Candidate
	head driver.Head
	best int // its number in the ranking
	path bool
	heir *driver.IndexedBranch // of what is in the trash, and inherited by a live conversation
}

// readHits fills in the best from skip on, as many as requested, and says how far it read.
func (s *search) readHits(ctx context.Context, f searchResult, skip int,
	q scrollback.SearchQuery) ([]scrollback.Hit, int, error) {
	fill := &hitReader{s, f, q, map[scrollback.ConversationID]driver.Head{}, map[scrollback.SegmentID]scrollback.Segment{},
		map[scrollback.ConversationID][]scrollback.TurnID{}}
	limit := cmp.Or(max(q.Limit, 0), scrollback.SearchDefault)
	var chosen []visibleCandidate
	read := 0
	for i, c := range f.best[skip:] {
		if len(chosen) == limit {
			break
		}
		read = i + 1
		seen, ok, err := fill.findVisible(ctx, c)
		if err != nil {
			return []scrollback.Hit{}, i, err
		}
		if seen.best = skip + i; ok {
			chosen = append(chosen, seen)
		}
	}
	out := make([]scrollback.Hit, len(chosen))
	if err := fill.loadSegments(ctx, chosen); err != nil {
		return []scrollback.Hit{}, 0, err
	}
	near, err := fill.readNeighbours(ctx, chosen)
	if err != nil {
		return []scrollback.Hit{}, 0, err
	}
	for i, c := range chosen {
		out[i] = fill.makeHit(c)
		for _, n := range near[c.Message.ID] {
			switch {
			case slices.Contains(q.Except, n.ID):
			case n.Seq < c.Message.Seq:
				out[i].Before = append(out[i].Before, clipMessage(n))
			case n.Seq > c.Message.Seq:
				out[i].After = append(out[i].After, clipMessage(n))
			}
		}
	}
	return out, read, nil
}

// findVisible finds the head from which a message is seen, and whether it can be.
func (l *hitReader) findVisible(ctx context.Context, c *Candidate) (visibleCandidate, bool, error) {
	of := cmp.Or(l.q.Conversation, l.f.scope.findHome(c.Message))
	if slices.Contains(l.q.Agents, c.Message.ConversationID) { // seen from itself
		of = c.Message.ConversationID
	}
	out := visibleCandidate{Candidate: c, heir: l.f.scope.findHeir(c.Message)}
	var err error
	out.head, err = l.readHead(ctx, of)
	if of != l.q.Conversation && scrollback.CodeOf(err) == scrollback.NotFound {
		return out, false, nil // purged since it was found
	}
	if err != nil {
		return out, false, err
	}
	if out.heir != nil {
		if err := l.f.scope.readPath(ctx, out.head.Branch.ID); err != nil {
			return out, false, err
		}
	}
	place := driver.NewPlace(l.f.scope.numbers[c.Message.Branch], c.Message.Seq)
	if out.path = l.f.scope.isOnPath(out.head.Branch.ID, place); !out.path && out.heir == nil &&
		c.Message.ConversationID != out.head.ID {
		// Of an ancestor that is purged or in the trash, only what is inherited exists.
		switch of, err := l.readHead(ctx, c.Message.ConversationID); {
		case scrollback.CodeOf(err) == scrollback.NotFound, err == nil && of.DeletedAt != 0:
			return out, false, nil
		case err != nil:
			return out, false, err
		}
	}
	if out.path {
		return out, true, nil
	}
	leaf, err := l.isOfLeaf(ctx, c.Message)
	return out, !leaf, err
}

// isOfLeaf reports whether a message is of a turn that stood beside the path of its conversation and was no turn of it.
func (l *hitReader) isOfLeaf(ctx context.Context, m scrollback.Message) (bool, error) {
	leaves, known := l.leaves[m.ConversationID]
	if !known {
		var err error
		if leaves, err = l.d.Threads.ListLeaves(ctx, m.ConversationID); err != nil {
			return false, err
		}
		l.leaves[m.ConversationID] = leaves
	}
	return slices.Contains(leaves, m.TurnID), nil
}

// readHead reads a head once, and the lines of its conversation.
func (l *hitReader) readHead(ctx context.Context, id scrollback.ConversationID) (driver.Head, error) {
	if h, known := l.heads[id]; known {
		return h, nil
	}
	h, err := l.d.Log.ReadHead(ctx, id)
	if err != nil {
		return h, err
	}
	l.heads[id] = h
	if l.f.scope.numbers[h.Branch.ID] != 0 {
		return h, nil
	}
	lines, err := l.look.ListBranchesOf(ctx, []scrollback.ConversationID{id})
	for _, line := range lines {
		l.f.scope.addBranch(line)
	}
	return h, err
}

// makeHit fills in what a reader needs of a ranked message.
func (l *hitReader) makeHit(c visibleCandidate) scrollback.Hit {
	m := c.Message
	text := strings.TrimSpace(c.text)
	found := findMatches(&l.finder, text, *c.asked)
	h := scrollback.Hit{ConversationID: m.ConversationID, Seq: m.Seq, MessageID: m.ID, Role: m.Role,
		CreatedAt: m.CreatedAt,
		Content:   found.cutPassage(PassageLength(l.q)), Score: math.Round(c.Score*1000) / 1000,
		OnPath: c.path}
	if c.heir != nil {
		h.ConversationID = c.heir.Heir
	}
	if !c.path {
		h.Branch = m.Branch
		if c.heir != nil {
			h.Branch = c.heir.Through
		}
	}
	h.Snippet, h.Spans = found.cutSnippet()
	h.Inside = l.isOnlyInside(m, *c.asked)
	if item, ok := findFold(c); ok {
		h.Ref = l.findLeaf(item.ID, m.Seq)
		if g, known := l.segments[item.ID]; known {
			h.Card = &scrollback.Card{FirstSeq: item.FirstSeq, LastSeq: item.LastSeq, Since: g.CreatedAt}
		}
	}
	h.Pinned = c.path && slices.Contains(c.head.PinnedSeqs, m.Seq)
	return h
}

// findFold returns what stands for a message in its window, if something does.
func findFold(c visibleCandidate) (scrollback.ViewItem, bool) {
	v := c.head.Branch.View
	seq := c.Message.Seq
	if !c.path || seq > v.Boundary {
		return scrollback.ViewItem{}, false
	}
	i := slices.IndexFunc(v.Segments, func(item scrollback.ViewItem) bool {
		return item.FirstSeq <= seq && seq <= item.LastSeq
	})
	if i < 0 {
		return scrollback.ViewItem{}, false
	}
	return v.Segments[i], true
}

// loadSegments reads the segments down to the leaves that hold what is folded, one level of all of
// them at a time.
func (l *hitReader) loadSegments(ctx context.Context, all []visibleCandidate) error {
	next := make([][]scrollback.SegmentID, len(all))
	for i, c := range all {
		if item, ok := findFold(c); ok {
			next[i] = []scrollback.SegmentID{item.ID}
		}
	}
	for {
		var missing []scrollback.SegmentID
		for _, ids := range next {
			for _, id := range ids {
				if _, known := l.segments[id]; !known && !slices.Contains(missing, id) {
					missing = append(missing, id)
				}
			}
		}
		if len(missing) > 0 {
			segs, err := l.d.Views.ReadSegments(ctx, missing)
			if err != nil {
				return err
			}
			for _, g := range segs {
				l.segments[g.ID] = g
			}
		}
		more := false
		for i, ids := range next {
			next[i] = nil
			for _, id := range ids {
				if g := l.segments[id]; g.FirstSeq <= all[i].Message.Seq && all[i].Message.Seq <= g.LastSeq {
					next[i] = g.Children
				}
			}
			more = more || len(next[i]) > 0
		}
		if !more {
			return nil
		}
	}
}

// findLeaf returns the ref of the leaf below a segment that holds seq, or nil.
func (l *hitReader) findLeaf(id scrollback.SegmentID, seq int64) *scrollback.Ref {
	for ids := []scrollback.SegmentID{id}; ; {
		i := slices.IndexFunc(ids, func(id scrollback.SegmentID) bool {
			g, known := l.segments[id]
			return known && g.FirstSeq <= seq && seq <= g.LastSeq
		})
		if i < 0 {
			return nil
		}
		g := l.segments[ids[i]]
		if ids = g.Children; len(ids) == 0 {
			ref := scrollback.HistoryRef(g.ID)
			return &ref
		}
	}
}

// readNeighbours reads the neighbours of the best hits, on the paths of their own branches, or of the
// branch that inherits one from a conversation in the trash.
func (l *hitReader) readNeighbours(ctx context.Context,
	all []visibleCandidate) (map[scrollback.MessageID][]scrollback.Message, error) {
	around := int64(min(max(l.q.Around, 0), scrollback.AroundMax))
	out := map[scrollback.MessageID][]scrollback.Message{}
	for _, c := range all {
		if around == 0 || c.best >= scrollback.SearchNear {
			continue
		}
		m := c.Message
		of := c.Message.Branch
		if c.heir != nil {
			of = c.heir.Through
		}
		own, err := l.d.Log.FindBranch(ctx, of)
		if scrollback.CodeOf(err) == scrollback.NotFound {
			continue // purged since it was found
		}
		if err != nil {
			return nil, err
		}
		from := max(1, m.Seq-around)
		to := min(m.Seq+around, own.HeadSeq)
		near, err := l.d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: own.ID, From: from, To: to})
		if err == nil && int64(len(near)) != to-from+1 {
			err = scrollback.Errorf(scrollback.Internal, "search.Run", i18n.PathHasGaps,
				own.ID, m.Seq)
		}
		if err != nil {
			return nil, err
		}
		out[m.ID] = near
	}
	return out, nil
}

// isOnlyInside reports whether none of the words is in what is said in a message: then they are
// in a file or a result that it holds.
func (s *search) isOnlyInside(m scrollback.Message, q terms.Query) bool {
	holds := false
	said := ""
	for _, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			if p.Reference == nil {
				said += p.Text + "\n"
			}
			holds = holds || p.Reference != nil
		case scrollback.ToolResult, scrollback.File:
			holds = true
		case scrollback.ToolCall, scrollback.Image, scrollback.Reasoning: // hold no text of their own
		}
	}
	return holds && len(findMatches(&s.finder, said, q).all) == 0
}

// clipMessage cuts what a message says to the length of a hit's content; the
// message it is given stays whole.
func clipMessage(m scrollback.Message) scrollback.Message {
	left := scrollback.HitContentMax
	clip := func(text string) string {
		short := ClipText(text, left)
		left = max(0, left-utf8.RuneCountInString(short))
		return short
	}
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		switch p := p.(type) {
		case scrollback.Text:
			p.Text = clip(p.Text)
			m.Parts[i] = p
		case scrollback.Reasoning:
			p.Text = clip(p.Text)
			m.Parts[i] = p
		case scrollback.ToolResult:
			p.Text = clip(p.Text)
			m.Parts[i] = p
		case scrollback.ToolCall, scrollback.Image, scrollback.File: // not prose
		}
	}
	return m
}
