package store

import (
	"context"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// minPiece is how many live messages a snapshot brings whatever they weigh, so
// that there is always a place to cut between.
const minPiece = 64

// Snapshot is what a window is built from: a conversation at one moment, the
// segments its view shows, and the live messages behind the boundary.
type Snapshot struct {
	Head
	Segments []scrollback.Segment
	Summary  *scrollback.Segment  // carries the summary that the view shows, if any
	Carried  []scrollback.Message // folded, but still shown verbatim
	Pinned   []scrollback.Message // the same, because a person wants them in sight; ascending
	Live     []scrollback.Message
	// More says that Live holds only the oldest of the live messages: there are
	// too many to bring into memory, and they must be folded piece by piece.
	More bool
}

// Snapshot reads what the head shows. Its cost depends on what is live, not on
// the length of the log: at most maxTokens of it, or one piece of maxTokens when
// there is more.
func (p Views) Snapshot(ctx context.Context, h Head, maxTokens int64) (Snapshot, error) {
	snap := Snapshot{Head: h}
	ids := make([]scrollback.SegmentID, len(h.Branch.View.Segments))
	for i, v := range h.Branch.View.Segments {
		ids[i] = v.ID
	}
	var err error
	if v := h.Branch.View.Summary; v != nil {
		ids = append(ids, v.Segment)
	}
	if snap.Segments, err = p.s.d.Views.ReadSegments(ctx, ids); err != nil {
		return snap, err
	}
	if n := len(h.Branch.View.Segments); n < len(ids) {
		snap.Summary = &snap.Segments[n]
		snap.Segments = snap.Segments[:n:n]
	}
	for _, seq := range h.Branch.View.Carried {
		m, err := p.s.ReadMessageAt(ctx, h.Branch, seq)
		if err != nil {
			return snap, err
		}
		snap.Carried = append(snap.Carried, m)
	}
	for _, seq := range h.PinnedSeqs {
		if seq > min(h.Branch.View.Boundary, h.Branch.HeadSeq) || slices.Contains(h.Branch.View.Carried, seq) {
			continue
		}
		m, err := p.s.ReadMessageAt(ctx, h.Branch, seq)
		if err != nil {
			return snap, err
		}
		snap.Pinned = append(snap.Pinned, m)
	}
	var tokens int64
	for m, err := range p.s.WalkMessages(ctx, h.Branch.ID, h.Branch.View.Boundary+1, h.Branch.HeadSeq) {
		if err != nil {
			return snap, err
		}
		if tokens += m.Weight.Tokens; tokens > maxTokens && len(snap.Live) >= minPiece {
			snap.More = true
			break
		}
		snap.Live = append(snap.Live, m)
	}
	return snap, nil
}
