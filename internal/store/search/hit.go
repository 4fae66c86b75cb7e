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

// filling fills hits in. What many of them need is read once.
type filling struct {
	*searching
	f        found
	q        scrollback.SearchQuery
	heads    map[scrollback.ConversationID]driver.Head
	segments map[scrollback.SegmentID]scrollback.Segment
}

// shown is a candidate that becomes a hit, and the head from which it is seen.
type shown struct {
	*Candidate
	head driver.Head
	best int // its number in the ranking
	on   bool
	heir *driver.IndexedBranch // of what is in the trash, and inherited by a live conversation
}

// hits fills in the best from skip on, as many as requested, and says how far it read.
func (s *searching) hits(ctx context.Context, f found, skip int,
	q scrollback.SearchQuery) ([]scrollback.Hit, int, error) {
	fill := &filling{s, f, q, map[scrollback.ConversationID]driver.Head{}, map[scrollback.SegmentID]scrollback.Segment{}}
	limit := cmp.Or(max(q.Limit, 0), scrollback.SearchDefault)
	var chosen []shown
	read := 0
	for i, c := range f.best[skip:] {
		if len(chosen) == limit {
			break
		}
		read = i + 1
		seen, ok, err := fill.see(ctx, c)
		if err != nil {
			return []scrollback.Hit{}, i, err
		}
		if seen.best = skip + i; ok {
			chosen = append(chosen, seen)
		}
	}
	out := make([]scrollback.Hit, len(chosen))
	if err := fill.load(ctx, chosen); err != nil {
		return []scrollback.Hit{}, 0, err
	}
	near, err := fill.near(ctx, chosen)
	if err != nil {
		return []scrollback.Hit{}, 0, err
	}
	for i, c := range chosen {
		out[i] = fill.hit(c)
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

// see finds the head from which a message is seen, and whether it can be.
func (l *filling) see(ctx context.Context, c *Candidate) (shown, bool, error) {
	of := cmp.Or(l.q.Conversation, l.f.scope.home(c.Message))
	if slices.Contains(l.q.Agents, c.Message.ConversationID) { // seen from itself
		of = c.Message.ConversationID
	}
	out := shown{Candidate: c, heir: l.f.scope.heir(c.Message)}
	var err error
	out.head, err = l.head(ctx, of)
	if of != l.q.Conversation && scrollback.CodeOf(err) == scrollback.NotFound {
		return out, false, nil // purged since it was found
	}
	if err != nil {
		return out, false, err
	}
	if out.heir != nil {
		if err := l.f.scope.path(ctx, out.head.Branch.ID); err != nil {
			return out, false, err
		}
	}
	place := driver.NewPlace(l.f.scope.numbers[c.Message.Branch], c.Message.Seq)
	if out.on = l.f.scope.on(out.head.Branch.ID, place); !out.on && out.heir == nil &&
		c.Message.ConversationID != out.head.ID {
		// Of an ancestor that is purged or in the trash, only what is inherited exists.
		switch of, err := l.head(ctx, c.Message.ConversationID); {
		case scrollback.CodeOf(err) == scrollback.NotFound, err == nil && of.DeletedAt != 0:
			return out, false, nil
		case err != nil:
			return out, false, err
		}
	}
	return out, true, nil
}

// head reads a head once, and the lines of its conversation.
func (l *filling) head(ctx context.Context, id scrollback.ConversationID) (driver.Head, error) {
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
		l.f.scope.know(line)
	}
	return h, err
}

// hit fills in what a reader needs of a ranked message.
func (l *filling) hit(c shown) scrollback.Hit {
	m := c.Message
	text := strings.TrimSpace(c.text)
	h := scrollback.Hit{ConversationID: m.ConversationID, Seq: m.Seq, MessageID: m.ID, Role: m.Role,
		CreatedAt: m.CreatedAt,
		Content:   passage(text, l.f.Query, Characters(l.q)), Score: math.Round(c.Score*1000) / 1000,
		OnPath: c.on}
	if c.heir != nil {
		h.ConversationID = c.heir.Heir
	}
	if !c.on {
		h.Branch = m.Branch
		if c.heir != nil {
			h.Branch = c.heir.Through
		}
	}
	h.Snippet, h.Spans = snippet(text, l.f.Query)
	h.Inside = inside(m, l.f.Query)
	if item, ok := folded(c); ok {
		h.Ref = l.leaf(item.ID, m.Seq)
		if g, known := l.segments[item.ID]; known {
			h.Card = &scrollback.Card{FirstSeq: item.FirstSeq, LastSeq: item.LastSeq, Since: g.CreatedAt}
		}
	}
	h.Pinned = c.on && slices.Contains(c.head.PinnedSeqs, m.Seq)
	return h
}

// folded is what stands for a message in its window, if something does.
func folded(c shown) (scrollback.ViewItem, bool) {
	v := c.head.Branch.View
	seq := c.Message.Seq
	if !c.on || seq > v.Boundary {
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

// load reads the segments down to the leaves that hold what is folded, one level of all of
// them at a time.
func (l *filling) load(ctx context.Context, all []shown) error {
	next := make([][]scrollback.SegmentID, len(all))
	for i, c := range all {
		if item, ok := folded(c); ok {
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

// leaf is the ref of the leaf below a segment that holds seq, or nil.
func (l *filling) leaf(id scrollback.SegmentID, seq int64) *scrollback.Ref {
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

// near reads the neighbours of the best hits, on the paths of their own branches, or of the
// branch that inherits one from a conversation in the trash.
func (l *filling) near(ctx context.Context, all []shown) (map[scrollback.MessageID][]scrollback.Message, error) {
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

// inside reports whether none of the words is in what is said in a message: then they are
// in a file or a result that it holds.
func inside(m scrollback.Message, q terms.Query) bool {
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
	_, spans := snippet(said, q)
	return holds && len(spans) == 0
}

// clipMessage cuts what a message says to the length of a hit's content; the
// message it is given stays whole.
func clipMessage(m scrollback.Message) scrollback.Message {
	left := scrollback.HitContentMax
	clip := func(text string) string {
		short := Clip(text, left)
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
