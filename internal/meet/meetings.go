package meet

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
)

// Meetings keeps the peers that a server answers by, from one request of a meeting to the next: what a peer has found
// out need not be found out again. They answer one question at a time. The zero value is ready.
type Meetings struct {
	mu  sync.Mutex
	all map[meetingKey]*kept
}

// meetingKey is a meeting, and whose it is: nobody gets at the peer of another key.
type meetingKey struct{ owner, meeting string }

type kept struct {
	peer *oneByOne
	used time.Time
}

const (
	mostMeetings = 64
	meetingIdle  = 10 * time.Minute
)

// Peer returns the peer of the meeting that a request is part of. Owner is whose key it has, as the gate found for this
// request. Open makes a peer for a meeting that begins, or that was forgotten.
func (m *Meetings) Peer(r *http.Request, owner string, open func() (Peer, error)) (Peer, error) {
	id := MeetingOf(r)
	key := meetingKey{owner, id}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.all[key]; k != nil && id != "" {
		k.used = now
		return k.peer, nil
	}
	p, err := open()
	if err != nil {
		return nil, err
	}
	one := &oneByOne{peer: p}
	if id == "" {
		return one, nil
	}
	if m.all == nil {
		m.all = map[meetingKey]*kept{}
	}
	m.all[key] = &kept{one, now}
	m.forget(now)
	return one, nil
}

// forget drops the meetings that nobody goes on with, and the one that has waited longest where they are too many.
func (m *Meetings) forget(now time.Time) {
	var oldest meetingKey
	for key, k := range m.all {
		if now.Sub(k.used) > meetingIdle {
			delete(m.all, key)
			continue
		}
		if o := m.all[oldest]; o == nil || k.used.Before(o.used) {
			oldest = key
		}
	}
	if len(m.all) > mostMeetings {
		delete(m.all, oldest)
	}
}

// oneByOne is a peer that is asked one question at a time, whoever asks.
type oneByOne struct {
	mu   sync.Mutex
	peer Peer
}

func askAlone[A any](p *oneByOne, ask func() (A, error)) (A, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return ask()
}

// Head implements [merge.Side].
func (p *oneByOne) Head(ctx context.Context) (merge.Head, error) {
	return askAlone(p, func() (merge.Head, error) { return p.peer.Head(ctx) })
}

// Access implements [Limited].
func (p *oneByOne) Access(ctx context.Context) (merge.Access, error) {
	return askAlone(p, func() (merge.Access, error) {
		if l, ok := p.peer.(Limited); ok {
			return l.Access(ctx)
		}
		return merge.Access{}, nil
	})
}

// Level implements [merge.Side].
func (p *oneByOne) Level(ctx context.Context, below merge.Prefix) (merge.Level, error) {
	return askAlone(p, func() (merge.Level, error) { return p.peer.Level(ctx, below) })
}

// Inventory implements [merge.Side].
func (p *oneByOne) Inventory(ctx context.Context, id scrollback.ConversationID) (merge.Inventory, error) {
	return askAlone(p, func() (merge.Inventory, error) { return p.peer.Inventory(ctx, id) })
}

// Ranges implements [merge.Side].
func (p *oneByOne) Ranges(ctx context.Context, id scrollback.ConversationID, of []merge.Range) ([]merge.Range, error) {
	return askAlone(p, func() ([]merge.Range, error) { return p.peer.Ranges(ctx, id, of) })
}

// Messages implements [merge.Side].
func (p *oneByOne) Messages(ctx context.Context, id scrollback.ConversationID,
	of []merge.Range) ([]scrollback.MessageID, error) {
	return askAlone(p, func() ([]scrollback.MessageID, error) { return p.peer.Messages(ctx, id, of) })
}

// Lacks implements [merge.Side].
func (p *oneByOne) Lacks(ctx context.Context, id scrollback.ConversationID,
	keys []scrollback.MessageID) ([]scrollback.MessageID, error) {
	return askAlone(p, func() ([]scrollback.MessageID, error) { return p.peer.Lacks(ctx, id, keys) })
}

// Rest implements [merge.Side].
func (p *oneByOne) Rest(ctx context.Context, id scrollback.ConversationID, buckets []uint8) ([]merge.Hash, error) {
	return askAlone(p, func() ([]merge.Hash, error) { return p.peer.Rest(ctx, id, buckets) })
}

// Records implements [merge.Side].
func (p *oneByOne) Records(ctx context.Context, wanted []merge.Wanted) (merge.Set, error) {
	return askAlone(p, func() (merge.Set, error) { return p.peer.Records(ctx, wanted) })
}

// Projects implements [merge.Side].
func (p *oneByOne) Projects(ctx context.Context) (merge.Set, error) {
	return askAlone(p, func() (merge.Set, error) { return p.peer.Projects(ctx) })
}

// Put implements [Peer].
func (p *oneByOne) Put(ctx context.Context, set merge.Set, on merge.Terms) (merge.Outcome, error) {
	return askAlone(p, func() (merge.Outcome, error) { return p.peer.Put(ctx, set, on) })
}

// LacksArtifacts implements [Peer].
func (p *oneByOne) LacksArtifacts(ctx context.Context, ids []scrollback.ArtifactID) ([]scrollback.ArtifactID, error) {
	return askAlone(p, func() ([]scrollback.ArtifactID, error) { return p.peer.LacksArtifacts(ctx, ids) })
}

// OpenArtifact implements [Peer]. The bytes are read beside other questions.
func (p *oneByOne) OpenArtifact(ctx context.Context, id scrollback.ArtifactID) (io.ReadCloser, int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peer.OpenArtifact(ctx, id)
}

// PutArtifact implements [Peer].
func (p *oneByOne) PutArtifact(ctx context.Context, id scrollback.ArtifactID, r io.Reader, size int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peer.PutArtifact(ctx, id, r, size)
}
