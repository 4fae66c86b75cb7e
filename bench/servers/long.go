//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/local"
)

// measureLong measures a store with one long conversation: how fast it is written and indexed, and
// then turns, windows and searches.
func (r *run) measureLong(where string) (err error) {
	place, err := r.newDatabase(where, "long")
	if err != nil {
		return err
	}
	sb, err := openStore(r.ctx, r.dir, place)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sb.Close()) }()
	c, _, err := sb.Store.CreateConversation(r.ctx, scrollback.Conversation{})
	if err != nil {
		return err
	}
	start := time.Now()
	if err := loadMessages(r.ctx, sb.Store, c.ID, r.messages); err != nil {
		return err
	}
	r.addValue("appended, a thousand at once", where, float64(r.messages)/time.Since(start).Seconds(), "messages/s")
	start = time.Now()
	if err := sb.Store.Audit.RebuildIndex(r.ctx, func(int64, int64) {}); err != nil {
		return err
	}
	r.addValue("indexed", where, float64(r.messages)/time.Since(start).Seconds(), "messages/s")
	if where == postgres {
		r.inputs["tend_ms"] = toMillis(time.Since(start)) / float64(r.messages)
		if err := r.noteSizes(place); err != nil {
			return err
		}
	}
	for range r.rounds {
		if err := r.longTurns(where, sb, c.ID); err != nil {
			return err
		}
		if err := r.measureSearches(where, sb, c.ID); err != nil {
			return err
		}
	}
	return nil
}

// loadMessages appends n messages, a thousand in each transaction.
func loadMessages(ctx context.Context, s *store.Store, id scrollback.ConversationID, n int) error {
	w := newWords(3)
	head, err := s.ReadHead(ctx, id)
	for i := 0; err == nil && i < n; {
		var in []store.IncomingMessage
		for len(in) < 1000 && i < n {
			in = append(in, w.nthMessage(i))
			i++
		}
		var done store.AppendResult
		if done, err = s.AppendMessages(ctx, head, in); err == nil {
			head = done.Head
		}
	}
	return err
}

func (r *run) longTurns(where string, sb *local.Scrollback, id scrollback.ConversationID) error {
	var turns, windows []float64
	w := newWords(4)
	for range 200 {
		d, err := runTurn(r.ctx, sb.Store, id, w)
		if err != nil {
			return err
		}
		turns = append(turns, toMillis(d))
	}
	if err := foldAllBut(r.ctx, sb.Store, id, 20); err != nil {
		return err
	}
	for range 100 {
		start := time.Now()
		if _, err := sb.Context(r.ctx, id); err != nil {
			return err
		}
		windows = append(windows, toMillis(time.Since(start)))
	}
	at := fmt.Sprintf(" at %d messages", r.messages)
	r.addValue("a turn"+at+", p50", where, percentileMS(turns, 0.5), "ms")
	r.addValue("a turn"+at+", p99", where, percentileMS(turns, 0.99), "ms")
	r.addValue("a window"+at+", p50", where, percentileMS(windows, 0.5), "ms")
	return nil
}

// foldAllBut gives the conversation the view that compacting all but its newest messages
// leaves, without asking anybody for summaries.
func foldAllBut(ctx context.Context, s *store.Store, id scrollback.ConversationID, newest int64) error {
	head, err := s.ReadHead(ctx, id)
	if err != nil {
		return err
	}
	boundary := head.Branch.HeadSeq - newest
	last, err := s.ReadMessageAt(ctx, head.Branch, boundary)
	if err != nil {
		return err
	}
	g := scrollback.Segment{ID: scrollback.SegmentID(s.NewID()), Conversation: id, Branch: head.Branch.ID, FirstSeq: 1,
		LastSeq:     boundary,
		Placeholder: "before this", TokensAfter: 100, SummaryBy: scrollback.SummaryExtractive}
	return s.Views.CommitFold(ctx, store.FoldCommit{Conversation: id, Branch: head.Branch.ID,
		IfViewVersion: head.Branch.ViewVersion, Now: s.Now(),
		View: scrollback.View{Boundary: boundary, Sum: last.Sum,
			Segments: []scrollback.ViewItem{{ID: g.ID, FirstSeq: 1, LastSeq: boundary}}},
		Segments: []scrollback.Segment{g}, Receipt: scrollback.Receipt{Result: scrollback.ResultCompacted}})
}

// measureSearches measures words of a known share, beside a page of messages.
func (r *run) measureSearches(where string, sb *local.Scrollback, id scrollback.ConversationID) error {
	for _, q := range []struct{ what, query string }{{"a word in 1 %", common}, {"a word in 0.01 %", rare},
		{"a page of 200", ""}} {
		if q.query == rare && r.messages < 10_000 {
			continue
		}
		var took []float64
		for range 20 {
			start := time.Now()
			var n int
			if q.query == "" {
				page, _, err := sb.Store.ReadPage(r.ctx, id, scrollback.PageQuery{Limit: 200})
				if n = len(page); err != nil {
					return err
				}
			} else {
				found, err := sb.Store.Search(r.ctx, scrollback.SearchQuery{Query: q.query, Limit: 5, Around: 1})
				if n = len(found.Hits); err != nil {
					return err
				}
			}
			if n == 0 {
				return fmt.Errorf("%s: nothing was found", q.what)
			}
			took = append(took, toMillis(time.Since(start)))
		}
		r.addValue(fmt.Sprintf("%s of %d messages", q.what, r.messages), where, percentileMS(took, 0.5), "ms")
	}
	return nil
}

// noteSizes notes what messages and their index take in a PostgreSQL.
func (r *run) noteSizes(place string) error {
	conn, err := pgx.Connect(r.ctx, place)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(r.ctx) }() // nothing was written
	for name, tables := range map[string]string{"row_bytes": "messages message_runs pending_messages",
		"index_bytes": "index_blocks index_marks"} {
		sum := 0.0
		for _, table := range strings.Fields(tables) {
			var n int64
			if err := conn.QueryRow(r.ctx, `SELECT pg_total_relation_size($1::text::regclass)`, table).Scan(&n); err != nil {
				return err
			}
			sum += float64(n)
		}
		r.inputs[name] = sum / float64(r.messages)
		r.addValue(map[string]string{"row_bytes": "stored a message", "index_bytes": "indexed a message"}[name], postgres,
			sum/float64(r.messages), "bytes")
	}
	return nil
}
