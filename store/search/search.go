// Package search finds messages by words and ranks them, the same way on every
// database: the database brings candidates by their terms, and what follows is
// judged here by rarity and closeness of words, names, dates and who spoke.
//
// Words it adds: ask (a query as it is understood), cue (what makes a match more likely
// without narrowing), passage (the piece of a text that matches best).
//
// Invariants: a search writes nothing; the order depends on what was found and the
// given time, not on a map's order or a clock.
//
// It may not know the store, SQL, HTTP or models.
package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// searching is a search under way.
type searching struct {
	d   *driver.Driver
	now time.Time
}

// candidates is how many matches are ranked in full, or twice as many as requested if
// that is more.
const candidates = 100

// Run finds messages by words and ranks them; now is what dates without a year are
// read by. A query without a word to look for is invalid. It looks in
// Projects, and does not read Project.
func Run(ctx context.Context, d *driver.Driver, q scrollback.SearchQuery, now time.Time) (scrollback.SearchResult, error) {
	s := searching{d, now}
	out := scrollback.SearchResult{Hits: []scrollback.Hit{}}
	a, err := readAsk(q.Query, s.now)
	if err != nil {
		return out, err
	}
	if a.Empty() {
		return out, scrollback.ParamErrorf("search.Run", "query", "there is no word to look for in the query")
	}
	if a.from = max(a.from, q.From); q.To != 0 {
		a.to = earlier(a.to, q.To)
	}
	dq := driver.SearchQuery{Match: driver.Match{Any: a.Any, Must: a.Must}, Words: a.Words, From: a.from, To: a.to,
		Projects: q.Projects, Role: cmp.Or(q.Role, a.role), Limit: cmp.Or(q.Depth, max(candidates, 2*q.Limit))}
	if q.Conversation != "" {
		h, err := s.d.Read.Head(ctx, q.Conversation)
		if err != nil {
			return out, err
		}
		dq.Conversations = slices.Concat([]scrollback.ConversationID{q.Conversation}, h.Ancestors, q.Agents)
	}
	found, err := s.candidates(ctx, dq, a)
	if err != nil {
		return out, err
	}
	out.Truncated = found.Truncated
	found.Found = slices.DeleteFunc(found.Found, func(m scrollback.Message) bool { return slices.Contains(q.Except, m.ID) })
	ranked, err := s.rank(ctx, found, dq, a)
	if err != nil {
		return out, err
	}
	if !out.Truncated {
		out.Total, out.Conversations = len(ranked), conversations(ranked)
	}
	skip := min(max(q.Offset, 0), len(ranked))
	var read int
	out.Hits, read, err = s.hits(ctx, ranked[skip:], a, q)
	if next := skip + read; next < len(ranked) {
		out.Next = &next
	}
	if q.Order == scrollback.OrderTime {
		slices.SortFunc(out.Hits, func(a, b scrollback.Hit) int {
			return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.MessageID, b.MessageID))
		})
	}
	return out, err
}

// candidates asks the database, and once more for the dates that a query names, so that
// what was said then is among them however much else matches.
func (s searching) candidates(ctx context.Context, dq driver.SearchQuery, a ask) (driver.SearchResult, error) {
	found, err := s.d.Find.Search(ctx, dq)
	if err != nil || !found.Truncated {
		return found, err
	}
	seen := map[scrollback.MessageID]bool{}
	for _, m := range found.Found {
		seen[m.ID] = true
	}
	for _, d := range a.dates {
		dq.From, dq.To = max(a.from, d.from), earlier(a.to, d.to)
		then, err := s.d.Find.Search(ctx, dq)
		if err != nil {
			return found, err
		}
		for _, m := range then.Found {
			if !seen[m.ID] {
				seen[m.ID] = true
				found.Found = append(found.Found, m)
			}
		}
	}
	return found, nil
}

// conversations counts those that the messages are in.
func conversations(all []*ranked) int {
	in := map[scrollback.ConversationID]bool{}
	for _, r := range all {
		in[r.m.ConversationID] = true
	}
	return len(in)
}

// hits fills in the best of what was ranked, as many as requested, and says how far it read.
func (s searching) hits(ctx context.Context, ranked []*ranked, a ask, q scrollback.SearchQuery) ([]scrollback.Hit, int, error) {
	out := []scrollback.Hit{}
	limit := cmp.Or(max(q.Limit, 0), scrollback.SearchDefault)
	heads := map[scrollback.ConversationID]driver.Head{} // most hits are in few conversations
	head := func(id scrollback.ConversationID) (driver.Head, error) {
		h, known := heads[id]
		if known {
			return h, nil
		}
		h, err := s.d.Read.Head(ctx, id)
		if err == nil {
			heads[id] = h
		}
		return h, err
	}
	for i, r := range ranked {
		if len(out) == limit {
			return out, i, nil
		}
		seen := cmp.Or(q.Conversation, r.m.ConversationID)
		if slices.Contains(q.Agents, r.m.ConversationID) { // seen from itself
			seen = r.m.ConversationID
		}
		from, err := head(seen)
		if seen != q.Conversation && scrollback.CodeOf(err) == scrollback.NotFound {
			continue // purged since it was found
		}
		if err != nil {
			return out, i, err
		}
		hit, err := s.hit(ctx, r, wanted{a.Query, q, from})
		if err != nil {
			return out, i, err
		}
		if !hit.OnPath && hit.ConversationID != from.ID {
			// Of an ancestor that is purged or in the trash, only what is inherited exists.
			switch of, err := head(hit.ConversationID); {
			case scrollback.CodeOf(err) == scrollback.NotFound, err == nil && of.DeletedAt != 0:
				continue
			case err != nil:
				return out, i, err
			}
		}
		out = append(out, hit)
	}
	return out, len(ranked), nil
}

// wanted is a search, cut into terms, and the head from which a hit is seen.
type wanted struct {
	terms.Query
	search scrollback.SearchQuery
	head   driver.Head
}

// hit fills in what a reader needs of a ranked message.
func (s searching) hit(ctx context.Context, r *ranked, q wanted) (scrollback.Hit, error) {
	m, head := r.m, q.head
	text := strings.TrimSpace(Text(m.Parts))
	h := scrollback.Hit{ConversationID: m.ConversationID, Seq: m.Seq, MessageID: m.ID, Role: m.Role, CreatedAt: m.CreatedAt,
		Content: passage(text, q.Query, cmp.Or(q.search.Passage, scrollback.HitContentMax)), Score: math.Round(r.score*1000) / 1000}
	h.Snippet, h.Spans = snippet(text, q.Query)
	h.Inside = inside(m, q.Query)
	at, err := s.d.Read.Messages(ctx, driver.MessageQuery{Branch: head.Branch.ID, From: m.Seq, To: m.Seq})
	if err != nil {
		return h, err
	}
	h.OnPath = len(at) == 1 && at[0].ID == m.ID
	if h.OnPath && m.Seq <= head.Branch.View.Boundary {
		if h.Ref, err = LeafRef(ctx, s.d.Views, head.Branch.View, m.Seq); err == nil {
			h.Card, err = s.card(ctx, head.Branch.View, m.Seq)
		}
		if err != nil {
			return h, err
		}
	}
	h.Pinned = h.OnPath && slices.Contains(head.PinnedSeqs, m.Seq)
	around := int64(min(max(q.search.Around, 0), scrollback.AroundMax))
	if around == 0 {
		return h, nil
	}
	own := head.Branch
	if m.Branch != own.ID {
		if own, err = s.d.Read.Branch(ctx, m.Branch); err != nil {
			return h, err
		}
	}
	from, to := max(1, m.Seq-around), min(m.Seq+around, own.HeadSeq)
	near, err := s.d.Read.Messages(ctx, driver.MessageQuery{Branch: own.ID, From: from, To: to})
	if err == nil && int64(len(near)) != to-from+1 {
		err = scrollback.Errorf(scrollback.Internal, "search.Run", "the path of branch %s has gaps around message %d", own.ID, m.Seq)
	}
	for _, n := range near {
		switch {
		case slices.Contains(q.search.Except, n.ID):
		case n.Seq < m.Seq:
			h.Before = append(h.Before, clipMessage(n))
		case n.Seq > m.Seq:
			h.After = append(h.After, clipMessage(n))
		}
	}
	return h, err
}

// inside reports whether none of the words is in what is said in a message: then they are
// in a file or a result that it holds.
func inside(m scrollback.Message, q terms.Query) bool {
	holds, said := false, ""
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

// card is what stands for seq in a view, or nil.
func (s searching) card(ctx context.Context, v scrollback.View, seq int64) (*scrollback.Card, error) {
	for _, item := range v.Segments {
		if item.FirstSeq <= seq && seq <= item.LastSeq {
			segs, err := s.d.Views.Segments(ctx, []scrollback.SegmentID{item.ID})
			if err != nil || len(segs) == 0 {
				return nil, err
			}
			return &scrollback.Card{FirstSeq: item.FirstSeq, LastSeq: item.LastSeq, Since: segs[0].CreatedAt}, nil
		}
	}
	return nil, nil
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

// LeafRef returns the ref of the leaf in a view that holds seq, or nil.
func LeafRef(ctx context.Context, views driver.Views, v scrollback.View, seq int64) (*scrollback.Ref, error) {
	for _, item := range v.Segments {
		if seq < item.FirstSeq || seq > item.LastSeq {
			continue
		}
		ids := []scrollback.SegmentID{item.ID}
		for {
			segs, err := views.Segments(ctx, ids)
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(segs, func(g scrollback.Segment) bool { return g.FirstSeq <= seq && seq <= g.LastSeq })
			if i < 0 {
				return nil, nil
			}
			if ids = segs[i].Children; len(ids) == 0 {
				ref := scrollback.HistoryRef(segs[i].ID)
				return &ref, nil
			}
		}
	}
	return nil, nil
}
