package store

import (
	"context"
	"iter"
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
	More   bool
	Tokens int64 // that the live messages weigh
}

// Snapshot reads what the head shows. Its cost depends on what is live, not on
// the length of the log: at most maxTokens of it, or one piece of maxTokens when
// there is more. An earlier snapshot spares the reading of what both show, since messages and
// segments never change; nil is none.
func (p Views) Snapshot(ctx context.Context, h Head, maxTokens int64, last *Snapshot) (Snapshot, error) {
	if last == nil || last.Branch.ID != h.Branch.ID || last.Branch.HeadSeq > h.Branch.HeadSeq {
		last = &Snapshot{}
	}
	snap := Snapshot{Head: h}
	ids := make([]scrollback.SegmentID, len(h.Branch.View.Segments))
	for i, v := range h.Branch.View.Segments {
		ids[i] = v.ID
	}
	var err error
	if v := h.Branch.View.Summary; v != nil {
		ids = append(ids, v.Segment)
	}
	if snap.Segments, err = p.readSegments(ctx, ids, last); err != nil {
		return snap, err
	}
	if n := len(h.Branch.View.Segments); n < len(ids) {
		snap.Summary = &snap.Segments[n]
		snap.Segments = snap.Segments[:n:n]
	}
	for _, seq := range h.Branch.View.Carried {
		m, err := p.readMessage(ctx, h.Branch, seq, last)
		if err != nil {
			return snap, err
		}
		snap.Carried = append(snap.Carried, m)
	}
	for _, seq := range h.PinnedSeqs {
		if seq > min(h.Branch.View.Boundary, h.Branch.HeadSeq) || slices.Contains(h.Branch.View.Carried, seq) {
			continue
		}
		m, err := p.readMessage(ctx, h.Branch, seq, last)
		if err != nil {
			return snap, err
		}
		snap.Pinned = append(snap.Pinned, m)
	}
	for m, err := range p.walkLive(ctx, h.Branch, last) {
		if err != nil {
			return snap, err
		}
		if snap.Tokens+m.Weight.Tokens > maxTokens && len(snap.Live) >= minPiece {
			snap.More = true
			break
		}
		snap.Tokens += m.Weight.Tokens
		snap.Live = append(snap.Live, m)
	}
	snap.Live = slices.Clip(snap.Live) // who shows more appends to it
	return snap, nil
}

// walkLive yields the live messages of a branch, those of an earlier snapshot from there.
func (p Views) walkLive(ctx context.Context, b scrollback.Branch,
	last *Snapshot) iter.Seq2[scrollback.Message, error] {
	return func(yield func(scrollback.Message, error) bool) {
		from := b.View.Boundary + 1
		if len(last.Live) > 0 && last.Live[0].Seq <= from {
			for _, m := range last.Live[min(from-last.Live[0].Seq, int64(len(last.Live))):] {
				if !yield(m, nil) {
					return
				}
				from = m.Seq + 1
			}
		}
		for m, err := range p.s.WalkMessages(ctx, b.ID, from, b.HeadSeq) {
			if !yield(m, err) {
				return
			}
		}
	}
}

// readMessage reads a message that stays in sight, or takes it from an earlier snapshot.
func (p Views) readMessage(ctx context.Context, b scrollback.Branch, seq int64,
	last *Snapshot) (scrollback.Message, error) {
	for _, ms := range [][]scrollback.Message{last.Carried, last.Pinned} {
		for i := range ms {
			if ms[i].Seq == seq {
				return ms[i], nil
			}
		}
	}
	return p.s.ReadMessageAt(ctx, b, seq)
}

// readSegments reads segments in the order of their ids, those of an earlier snapshot from there.
func (p Views) readSegments(ctx context.Context, ids []scrollback.SegmentID,
	last *Snapshot) ([]scrollback.Segment, error) {
	known := map[scrollback.SegmentID]*scrollback.Segment{}
	for i := range last.Segments {
		known[last.Segments[i].ID] = &last.Segments[i]
	}
	if last.Summary != nil {
		known[last.Summary.ID] = last.Summary
	}
	fresh, err := p.s.d.Views.ReadSegments(ctx, slices.DeleteFunc(slices.Clone(ids),
		func(id scrollback.SegmentID) bool { return known[id] != nil }))
	if err != nil {
		return nil, err
	}
	for i := range fresh {
		known[fresh[i].ID] = &fresh[i]
	}
	out := make([]scrollback.Segment, len(ids))
	for i, id := range ids {
		out[i] = *known[id]
	}
	return out, nil
}
