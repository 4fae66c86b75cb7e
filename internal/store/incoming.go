package store

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/kept"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/search"
	"github.com/scrollback-ai/scrollback/window"
)

// IncomingMessage is a message before it is in the log. The store fills in what is missing: id,
// time, status, weight. Mentions are its artifacts. Counted may be nil.
type IncomingMessage struct {
	scrollback.Message
	Mentions []scrollback.Artifact
	Counted  TokenCounts
	SaidBy   scrollback.KeyID // whose key the person has; empty for the operator and for imports
}

// TokenCounts has the tokens of texts of a message, so that none is counted again on its way in.
type TokenCounts map[string]int

// prepareEntries makes rows of messages. Weighing them takes most of the time of an import, so many
// are done at once.
func (s *Store) prepareEntries(in []IncomingMessage, turn scrollback.TurnID) []driver.Entry {
	out := make([]driver.Entry, len(in))
	now := s.Now()
	for i := range in {
		m := in[i].Message
		if m.ID == "" {
			m.ID = scrollback.MessageID(s.newID())
		}
		if m.CreatedAt == 0 {
			m.CreatedAt = now
		}
		if m.Status == "" {
			m.Status = scrollback.StatusComplete
		}
		if m.TurnID == "" {
			m.TurnID = turn
		}
		if m.Usage != nil {
			if u, wrong := m.Usage.Checked(); wrong {
				m.Usage = &u
			}
		}
		out[i] = driver.Entry{Message: m, Mentions: in[i].Mentions}
	}
	defer func() { s.index.NoteWritten(countEntries(out)) }()
	inParts(len(in), func(from, to int) { measureEntries(s, in, out, from, to) })
	// A message may answer the one before it, whose parts are as they stay from here on.
	inParts(len(in), func(from, to int) { keepEntries(in, out, from, to) })
	return out
}

// inParts does a piece of work on n messages, many at once where there are many.
func inParts(n int, work func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), n/minShare)
	if workers < 2 {
		work(0, n)
		return
	}
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() { work(w*n/workers, (w+1)*n/workers) })
	}
	done.Wait()
}

// countEntries returns how many messages there are, and how many bytes search reads of them.
func countEntries(entries []driver.Entry) (messages int, bytes int64) {
	for _, e := range entries {
		bytes += e.Weight.Bytes
		for _, a := range e.Mentions {
			bytes += min(a.Size, search.MaxArtifactBytes)
		}
	}
	return len(entries), bytes
}

// artifactTexts reads the texts of artifacts.
type artifactTexts struct {
	read   func(ctx context.Context, id scrollback.ArtifactID, most int64) (string, error)
	failed atomic.Int64 // when it last failed, in Unix ms
}

// Bounds of reading a text. After a failure nobody tries for a while: a search does not wait
// for a server that is gone.
const (
	textTime  = 2 * time.Second
	textAgain = 5 * time.Second
)

// readTexts returns what search reads of a message: what it says and what its artifacts say. With an
// error it is as much of that as can be read now.
func (t *artifactTexts) readTexts(ctx context.Context, m scrollback.Message) (string, error) {
	text := search.IndexedText(m.Parts)
	if t.read == nil {
		return text, nil
	}
	for _, id := range search.ListArtifacts(m.Parts) {
		if time.Since(time.UnixMilli(t.failed.Load())) < textAgain {
			return text, scrollback.Errorf(scrollback.Unavailable, "store.text", i18n.ArtifactsCannotBeRead)
		}
		timed, cancel := context.WithTimeout(ctx, textTime)
		more, err := t.read(timed, id, search.MaxArtifactBytes)
		cancel()
		if err != nil {
			if ctx.Err() == nil {
				t.failed.Store(time.Now().UnixMilli())
			}
			return text, err
		}
		text += "\n" + more
	}
	return text, nil
}

// minShare is how many messages are worth a goroutine.
const minShare = 16

// measureEntries fills in the weight of the rows from one to another.
func measureEntries(s *Store, in []IncomingMessage, out []driver.Entry, from, to int) {
	for i := from; i < to; i++ {
		m := &out[i].Message
		compactPayloads(m.Parts)
		m.Weight = s.WeighParts(m.Parts, in[i].Counted)
		m.Tokens = int(m.Weight.Tokens)
		out[i].Sources = listSources(m.Parts)
	}
}

// keepEntries lists what is kept of the rows from one to another.
func keepEntries(in []IncomingMessage, out []driver.Entry, from, to int) {
	for i := from; i < to; i++ {
		var before *scrollback.Message
		if i > 0 {
			before = &out[i-1].Message
		}
		keepRows(&out[i], before, in[i].SaidBy)
	}
}

// keepRows lists what is kept of an entry.
func keepRows(e *driver.Entry, before *scrollback.Message, by scrollback.KeyID) {
	e.Kept = kept.ListRows(&e.Message, before)
	for i := range e.Kept {
		e.Kept[i].SaidBy = by
	}
}

// keepAnswer adds what is kept of the first of some entries where that answers an offer: the
// message at the end of the path that they are added to.
func (s *Store) keepAnswer(ctx context.Context, in []IncomingMessage, entries []driver.Entry,
	end func() (scrollback.BranchID, int64, error)) error {
	if len(entries) == 0 || !kept.NeedsOffer(&entries[0].Message) {
		return nil
	}
	b, seq, err := end()
	if err != nil || seq == 0 {
		return err
	}
	before, ok := s.replies.find(b, seq)
	if !ok {
		ms, err := s.d.Log.ReadMessages(ctx, driver.MessageQuery{Branch: b, From: seq, To: seq})
		if err != nil || len(ms) != 1 {
			return err
		}
		before = ms[0]
	}
	answer := kept.ListAnswerRows(&entries[0].Message, &before)
	for i := range answer {
		answer[i].SaidBy = in[0].SaidBy
	}
	entries[0].Kept = append(answer, entries[0].Kept...)
	return nil
}

// lastReplies has the newest replies of branches that were just answered: the next message of each is read
// beside the one before it. What stands at a place of a branch never changes.
type lastReplies struct {
	mu  sync.Mutex
	all map[scrollback.BranchID]scrollback.Message
}

// Bounds of what is remembered; when it is full, all is forgotten.
const (
	maxReplies    = 512
	maxReplyBytes = 8 << 10
)

// note remembers the last of some messages that were stored, if it is small.
func (l *lastReplies) note(stored []scrollback.Message) {
	if len(stored) == 0 || stored[len(stored)-1].Weight.Bytes > maxReplyBytes {
		return
	}
	m := stored[len(stored)-1]
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil || len(l.all) >= maxReplies {
		l.all = map[scrollback.BranchID]scrollback.Message{}
	}
	l.all[m.Branch] = scrollback.Message{Role: m.Role, Parts: m.Parts, Seq: m.Seq}
}

// find returns what is read of the message at a place: its role and its parts.
func (l *lastReplies) find(b scrollback.BranchID, seq int64) (scrollback.Message, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, ok := l.all[b]
	return m, ok && m.Seq == seq
}

// maxVersion is the greatest version that is counted on from: what an import says may be
// anything.
const maxVersion = 1 << 30

// listSources returns those whose content is in parts.
func listSources(parts scrollback.Parts) (out []driver.SourceVersion) {
	for _, r := range parts.References() {
		if r.IsWhole() && r.Version <= maxVersion {
			out = append(out, driver.SourceVersion{Name: r.Source, Version: r.Version, SHA256: r.SHA256})
		}
	}
	return out
}

// salvageDraft makes an interrupted message of the draft of a turn whose owner is gone.
func (s *Store) salvageDraft(old scrollback.Turn) []driver.Entry {
	if old.Draft.IsEmpty() {
		return nil
	}
	return s.prepareEntries([]IncomingMessage{{Message: scrollback.Message{Role: scrollback.RoleAssistant,
		Parts: old.Draft.Parts(), Model: old.Draft.Model, Status: scrollback.StatusInterrupted}}}, old.ID)
}

// WeighParts returns the load of parts on a window: o200k tokens, bytes on the wire, and
// images. What counted has is not counted, and what it lacks is put there, unless it is nil.
func (s *Store) WeighParts(parts scrollback.Parts, counted TokenCounts) scrollback.Weight {
	return window.Weigh(parts, func(t string) int {
		n, known := counted[t]
		if !known {
			if n = s.count(t); counted != nil {
				counted[t] = n
			}
		}
		return n
	}, s.image)
}
