package store

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/store/driver"
)

// candidates is how many matches are ranked in full, or twice as many as are
// asked for if that is more.
const candidates = 100

// BM25 with a fixed mean length, so that a message's score does not depend on
// which database holds it or on what else is stored.
const (
	bmK1        = 1.2
	bmB         = 0.75
	bmMeanTerms = 120
)

// Search finds messages by words and ranks them: those with more of the words
// first, then by BM25, then the newer. The order is the same on every database.
func (s *Store) Search(ctx context.Context, q scrollback.SearchQuery) (scrollback.SearchResult, error) {
	out := scrollback.SearchResult{Hits: []scrollback.Hit{}}
	parsed := terms.Parse(q.Query)
	if parsed.Empty() {
		return out, scrollback.ParamErrorf("store.Search", "query", "there is no word to look for in the query")
	}
	dq := driver.SearchQuery{Match: driver.Match{Any: parsed.Any, Must: parsed.Must},
		Project: q.Project, Role: q.Role, Limit: max(candidates, 2*q.Limit)}
	if q.Conversation != "" {
		ids, err := s.Lineage(ctx, q.Conversation)
		if err != nil {
			return out, err
		}
		dq.Conversations = ids
	}
	found, err := s.d.Search(ctx, dq)
	if err != nil {
		return out, err
	}
	out.Truncated = found.Truncated
	ranked := rank(found, parsed)
	limit := cmp.Or(max(q.Limit, 0), scrollback.SearchDefault)
	heads := map[scrollback.ConversationID]driver.Head{} // most hits are in few conversations
	head := func(id scrollback.ConversationID) (driver.Head, error) {
		h, known := heads[id]
		if known {
			return h, nil
		}
		h, err := s.d.Head(ctx, id)
		if err == nil {
			heads[id] = h
		}
		return h, err
	}
	for _, r := range ranked {
		if len(out.Hits) == limit {
			break
		}
		from, err := head(cmp.Or(q.Conversation, r.m.ConversationID))
		if err != nil {
			return out, err
		}
		hit, err := s.hit(ctx, r, wanted{parsed, q, from})
		if err != nil {
			return out, err
		}
		if !hit.OnPath && hit.ConversationID != from.ID {
			// Of an ancestor that is in the trash, or purged, only what is inherited is there.
			switch of, err := head(hit.ConversationID); {
			case scrollback.CodeOf(err) == scrollback.NotFound, err == nil && of.DeletedAt != 0:
				continue
			case err != nil:
				return out, err
			}
		}
		out.Hits = append(out.Hits, hit)
	}
	return out, nil
}

type ranked struct {
	m       scrollback.Message
	matched int
	score   float64
}

// rank orders candidates.
func rank(found driver.SearchResult, q terms.Query) []ranked {
	out := make([]ranked, len(found.Found))
	for i, m := range found.Found {
		out[i] = score(m, found, q)
	}
	slices.SortFunc(out, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.matched, a.matched), cmp.Compare(b.score, a.score),
			cmp.Compare(b.m.CreatedAt, a.m.CreatedAt), cmp.Compare(b.m.Seq, a.m.Seq), cmp.Compare(a.m.ID, b.m.ID))
	})
	return out
}

func score(m scrollback.Message, found driver.SearchResult, q terms.Query) ranked {
	counts, n := terms.Count(IndexText(m.Parts), q.Any, maxIndexTerms)
	r, length := ranked{m: m}, float64(n)
	for i, count := range counts {
		if count == 0 {
			continue
		}
		tf := float64(count)
		r.matched++
		df := float64(found.Holding[i])
		idf := math.Log(1 + (float64(max(found.Documents, found.Holding[i]))-df+0.5)/(df+0.5))
		r.score += idf * tf * (bmK1 + 1) / (tf + bmK1*(1-bmB+bmB*length/bmMeanTerms))
	}
	return r
}

// wanted is a search, cut into terms, and the head that a hit is seen from.
type wanted struct {
	terms.Query
	search scrollback.SearchQuery
	head   driver.Head
}

// hit fills in what a reader needs of a ranked message.
func (s *Store) hit(ctx context.Context, r ranked, q wanted) (scrollback.Hit, error) {
	m, head := r.m, q.head
	text := strings.TrimSpace(IndexText(m.Parts))
	h := scrollback.Hit{ConversationID: m.ConversationID, Seq: m.Seq, MessageID: m.ID, Role: m.Role, CreatedAt: m.CreatedAt,
		Content: clipRunes(text, scrollback.HitContentMax), Score: math.Round(r.score*1000) / 1000}
	h.Snippet, h.Spans = snippet(text, q.Query)
	at, err := s.d.Messages(ctx, driver.MessageQuery{Branch: head.Branch.ID, From: m.Seq, To: m.Seq})
	if err != nil {
		return h, err
	}
	h.OnPath = len(at) == 1 && at[0].ID == m.ID
	if h.OnPath && m.Seq <= head.Branch.View.Boundary {
		if h.Ref, err = s.LeafRef(ctx, head.Branch.View, m.Seq); err != nil {
			return h, err
		}
	}
	around := int64(min(max(q.search.Around, 0), scrollback.AroundMax))
	if around == 0 {
		return h, nil
	}
	own := head.Branch
	if m.Branch != own.ID {
		if own, err = s.d.Branch(ctx, m.Branch); err != nil {
			return h, err
		}
	}
	near, err := s.Messages(ctx, own.ID, m.Seq-around, min(m.Seq+around, own.HeadSeq))
	for _, n := range near {
		switch {
		case n.Seq < m.Seq:
			h.Before = append(h.Before, clipMessage(n))
		case n.Seq > m.Seq:
			h.After = append(h.After, clipMessage(n))
		}
	}
	return h, err
}

// clipMessage cuts what a message says to the length of a hit's content; the
// message it is given stays whole.
func clipMessage(m scrollback.Message) scrollback.Message {
	left := scrollback.HitContentMax
	clip := func(text string) string {
		short := clipRunes(text, left)
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

// LeafRef is the ref of the leaf in a view that holds seq, or nil.
func (s *Store) LeafRef(ctx context.Context, v scrollback.View, seq int64) (*scrollback.Ref, error) {
	for _, item := range v.Segments {
		if seq < item.FirstSeq || seq > item.LastSeq {
			continue
		}
		ids := []scrollback.SegmentID{item.ID}
		for {
			segs, err := s.d.Segments(ctx, ids)
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
