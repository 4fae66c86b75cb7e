package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
	"runtime"
	"sync"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/search"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// chunk bounds how many messages one read holds in memory.
const chunk = 512

// WalkMessages reads the path of a branch from seq to seq, a bounded piece at a time.
func (s *Store) WalkMessages(ctx context.Context, b scrollback.BranchID, from,
	to int64) iter.Seq2[scrollback.Message, error] {
	return func(yield func(scrollback.Message, error) bool) {
		for from = max(from, 1); from <= to; {
			end := min(to, from+chunk-1)
			ms, err := s.d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: b, From: from, To: end})
			if err == nil && (len(ms) != int(end-from+1) || ms[0].Seq != from || ms[len(ms)-1].Seq != end) {
				err = scrollback.Errorf(scrollback.Internal, "store.WalkMessages", i18n.PathHasNoMessage, b,
					firstMissing(ms, from))
			}
			if err != nil {
				yield(scrollback.Message{}, err)
				return
			}
			for _, m := range ms {
				if !yield(m, nil) {
					return
				}
			}
			from = end + 1
		}
	}
}

// SiftMessages reads, of the path of a branch from seq to seq, the messages of which wanted accepts
// the parts as JSON; nil accepts all. Pieces are read ahead, on all cores: wanted is called
// by several goroutines.
func (s *Store) SiftMessages(ctx context.Context, b scrollback.BranchID, from, to int64,
	wanted func(parts []byte) bool) iter.Seq2[scrollback.Message, error] {
	if from = max(from, 1); to-from < chunk {
		return readWanted(ctx, s.d.Log, driver.MessageQuery{Branch: b, From: from, To: to, Wanted: wanted})
	}
	return func(yield func(scrollback.Message, error) bool) {
		var reading sync.WaitGroup
		defer reading.Wait()
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		pieces := make(chan chan iter.Seq2[scrollback.Message, error], min(runtime.GOMAXPROCS(0), readersMost)-1)
		reading.Go(func() {
			defer close(pieces)
			for q := (driver.MessageQuery{Branch: b, From: from, Wanted: wanted}); q.From <= to; q.From += chunk {
				q.To = min(to, q.From+chunk-1)
				piece := make(chan iter.Seq2[scrollback.Message, error], 1)
				select {
				case pieces <- piece:
				case <-ctx.Done():
					return
				}
				reading.Go(func() { piece <- readWanted(ctx, s.d.Log, q) })
			}
		})
		for piece := range pieces {
			for m, err := range <-piece {
				if !yield(m, err) || err != nil {
					return
				}
			}
		}
		if err := ctx.Err(); err != nil {
			yield(scrollback.Message{}, scrollback.Wrap(scrollback.Canceled, "store.SiftMessages", err))
		}
	}
}

// readersMost bounds how many pieces of a path are read at once.
const readersMost = 4

// readWanted reads one piece of a path. Each message of it was either read or left out.
func readWanted(ctx context.Context, read driver.Log, q driver.MessageQuery) iter.Seq2[scrollback.Message, error] {
	var seen int64
	if wanted := q.Wanted; wanted != nil {
		q.Wanted = func(parts []byte) bool { seen++; return wanted(parts) }
	}
	ms, err := read.ReadMessages(ctx, q)
	if q.Wanted == nil {
		seen = int64(len(ms))
	}
	if n := max(0, q.To-q.From+1); err == nil && seen != n {
		err = scrollback.Errorf(scrollback.Internal, "store.SiftMessages", i18n.PathHasTooFewMessages,
			q.Branch, seen, n, q.From)
	}
	return func(yield func(scrollback.Message, error) bool) {
		for i := range ms {
			if !yield(ms[i], nil) {
				return
			}
		}
		if err != nil {
			yield(scrollback.Message{}, err)
		}
	}
}

// firstMissing returns the first seq that ms, which should continue from there, lacks.
func firstMissing(ms []scrollback.Message, from int64) int64 {
	for _, m := range ms {
		if m.Seq != from {
			break
		}
		from++
	}
	return from
}

// WalkConversation reads the whole path of a conversation's current branch.
func (s *Store) WalkConversation(ctx context.Context,
	id scrollback.ConversationID) iter.Seq2[scrollback.Message, error] {
	return func(yield func(scrollback.Message, error) bool) {
		h, err := s.ReadHead(ctx, id)
		if err != nil {
			yield(scrollback.Message{}, err)
			return
		}
		for m, err := range s.WalkMessages(ctx, h.Branch.ID, 1, h.Branch.HeadSeq) {
			if !yield(m, err) {
				return
			}
		}
	}
}

// ReadMessageAt returns the message with the given seq on a branch's path.
func (s *Store) ReadMessageAt(ctx context.Context, b scrollback.Branch, seq int64) (scrollback.Message, error) {
	if seq < 1 || seq > b.HeadSeq {
		return scrollback.Message{}, scrollback.Errorf(scrollback.NotFound, "store.ReadMessageAt", i18n.NoMessageOnPath,
			seq)
	}
	ms, err := collectMessages(s.WalkMessages(ctx, b.ID, seq, seq))
	if err != nil {
		return scrollback.Message{}, err
	}
	return ms[0], nil
}

// ReadMessages reads the path of a branch from seq to seq.
func (s *Store) ReadMessages(ctx context.Context, b scrollback.BranchID, from, to int64) ([]scrollback.Message, error) {
	return collectMessages(s.WalkMessages(ctx, b, from, to))
}

func collectMessages(seq iter.Seq2[scrollback.Message, error]) ([]scrollback.Message, error) {
	var out []scrollback.Message
	for m, err := range seq {
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// ReadPage returns messages and the seq to continue from in the same direction, or 0.
func (s *Store) ReadPage(ctx context.Context, id scrollback.ConversationID,
	q scrollback.PageQuery) ([]scrollback.Message, int64, error) {
	h, err := s.ReadHead(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	b, err := s.Branches.Find(ctx, h, q.Branch)
	if err != nil {
		return nil, 0, err
	}
	n, err := pageSize(q.Limit)
	if err != nil {
		return nil, 0, err
	}
	limit := int64(n)
	to := b.HeadSeq
	if q.Before > 0 {
		to = min(to, q.Before-1)
	}
	from := max(1, to-limit+1)
	end := to
	if q.After != nil {
		from = max(1, *q.After+1)
		to = min(from+limit-1, end)
	}
	ms, err := s.ReadMessages(ctx, b.ID, from, to)
	switch {
	case err != nil || len(ms) == 0:
		return ms, 0, err
	case q.After != nil && to < end:
		return ms, to, nil
	case q.After == nil && from > 1:
		return ms, from, nil
	}
	return ms, 0, nil
}

// AppendMessages adds messages outside any turn, as an import does, after the head that the
// caller saw; any other head is a conflict. A turn left open by an owner whose lease has
// ended is closed first, as Begin does it.
func (s *Store) AppendMessages(ctx context.Context, head Head, in []IncomingMessage) (AppendResult, error) {
	return s.appendMessages(ctx, head, in, false)
}

// AppendForeign is AppendMessages for what another wrote, such as a tool's file: a branch that begins with it is
// that other's ([scrollback.Branch.Elsewhere]).
func (s *Store) AppendForeign(ctx context.Context, head Head, in []IncomingMessage) (AppendResult, error) {
	return s.appendMessages(ctx, head, in, true)
}

func (s *Store) appendMessages(ctx context.Context, head Head, in []IncomingMessage,
	elsewhere bool) (AppendResult, error) {
	entries := s.prepareEntries(in, "")
	end := func() (scrollback.BranchID, int64, error) { return head.Branch.ID, head.Branch.HeadSeq, nil }
	if err := s.keepAnswer(ctx, in, entries, end); err != nil {
		return AppendResult{}, err
	}
	out, err := s.d.Log.AppendEntries(ctx, driver.Append{Conversation: head.ID, Now: s.Now(),
		IfHead: head.Branch.HeadSeq, IfBranch: head.Branch.ID, Entries: entries, Elsewhere: elsewhere,
		Salvage: s.salvageDraft})
	if err == nil {
		s.index.NoteStored(out.Messages)
	}
	return out, err
}

// AppendBeside adds messages to a branch beside the path of a conversation, with rows of its thread: no path leads to
// them until a turn begins behind them. It returns the branch as it is then; the first one comes from
// [Branches.NewBeside].
func (s *Store) AppendBeside(ctx context.Context, b scrollback.Branch, in []IncomingMessage,
	thread *threading.Rows) (scrollback.Branch, error) {
	entries := s.prepareEntries(in, "")
	end := func() (scrollback.BranchID, int64, error) {
		if b.HeadSeq == b.AtSeq {
			return b.Parent, b.AtSeq, nil
		}
		return b.ID, b.HeadSeq, nil
	}
	if err := s.keepAnswer(ctx, in, entries, end); err != nil {
		return b, err
	}
	out, err := s.d.Log.AppendEntries(ctx, driver.Append{Conversation: b.Conversation, Now: s.Now(), Beside: &b,
		Entries: entries, Thread: thread})
	return out.Head.Branch, err
}

// ReadSegments returns those with the given ids, in that order.
func (s *Store) ReadSegments(ctx context.Context, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	return s.d.Views.ReadSegments(ctx, ids)
}

// Search finds messages by words and ranks them; see [search.Run].
func (s *Store) Search(ctx context.Context, q scrollback.SearchQuery) (scrollback.SearchResult, error) {
	return s.SearchByMeaning(ctx, q, nil)
}

// SearchByMeaning is Search by vectors as well; ask may be nil, and return nil.
func (s *Store) SearchByMeaning(ctx context.Context, q scrollback.SearchQuery,
	ask search.Question) (scrollback.SearchResult, error) {
	if q.Projects = boundProjects(q.Project, q.Projects); q.Projects != nil && len(q.Projects) == 0 {
		return scrollback.SearchResult{Hits: []scrollback.Hit{}}, nil
	}
	l, err := newSearchLog(ctx, s)
	if err != nil {
		return scrollback.SearchResult{Hits: []scrollback.Hit{}}, err
	}
	l.Ask = ask
	out, err := search.Run(ctx, l, q, s.now())
	if share, whole := l.Look.IndexedShare(); !whole {
		out.Indexed = &share
	}
	if l.Look.Stopped() {
		out.Truncated = true
		out.Total = 0
		out.Conversations = 0
	}
	return out, err
}

// FindCandidates returns what Search ranks, for those who tune the ranking; see
// [search.FindCandidates].
func (s *Store) FindCandidates(ctx context.Context, q scrollback.SearchQuery) ([]*search.Candidate, error) {
	if q.Projects = boundProjects(q.Project, q.Projects); q.Projects != nil && len(q.Projects) == 0 {
		return nil, nil
	}
	l, err := newSearchLog(ctx, s)
	if err != nil {
		return nil, err
	}
	return search.FindCandidates(ctx, l, q, s.now())
}

// newSearchLog returns what a search looks at.
func newSearchLog(ctx context.Context, s *Store) (search.Log, error) {
	look, err := s.index.TakeSnapshot(ctx)
	return search.Log{Driver: s.d, Look: look, Text: s.index.ReadText}, err
}

// pageSize is how many entries a list returns when n are requested, 0 for the default.
func pageSize(n int) (int, error) {
	switch {
	case n < 0 || n > scrollback.ListMax:
		return 0, scrollback.ParamErrorf("store.pageSize", "limit", i18n.LimitOutOfRange, scrollback.ListMax)
	case n == 0:
		return scrollback.ListDefault, nil
	}
	return n, nil
}

// encodeCursor returns a list key as opaque text.
func encodeCursor(k driver.ListKey) string {
	b, err := json.Marshal(k)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(s string) (*driver.ListKey, error) {
	if s == "" {
		return nil, nil
	}
	var k driver.ListKey
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || json.Unmarshal(b, &k) != nil {
		return nil, scrollback.ParamErrorf("store", "cursor", i18n.NotACursorOfOurs)
	}
	return &k, nil
}

// walkPages walks pages until there are no more.
func walkPages[T any](next func() (page []T, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for more := true; more; {
			page, rest, err := next()
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, v := range page {
				if !yield(v, nil) {
					return
				}
			}
			more = rest
		}
	}
}
