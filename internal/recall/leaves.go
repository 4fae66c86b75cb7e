package recall

import (
	"context"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Leaf is a segment as part of a roll-up or of what a conversation shows. Tokens is the
// weight of its messages and CardTokens that of what stands for them; From and To are
// Unix ms. Hint says in a line what it is about, and SummaryBy who wrote its summary
// ([SummaryExtractive] if no model did). RolledUp says that it has leaves itself.
type Leaf struct {
	Ref        scrollback.Ref `json:"ref"`
	FirstSeq   int64          `json:"first_seq"`
	LastSeq    int64          `json:"last_seq"`
	From       int64          `json:"from"`
	To         int64          `json:"to"`
	Messages   int            `json:"messages"`
	Tokens     int64          `json:"tokens"`
	CardTokens int64          `json:"card_tokens"`
	Hint       string         `json:"hint"`
	SummaryBy  string         `json:"summary_by"`
	RolledUp   bool           `json:"rolled_up,omitempty"`
}

// Leaves is what a segment consists of, oldest first; of a leaf, that is itself.
type Leaves struct {
	Ref      scrollback.Ref `json:"ref"`
	FirstSeq int64          `json:"first_seq"`
	LastSeq  int64          `json:"last_seq"`
	Messages int            `json:"messages"`
	Leaves   []Leaf         `json:"leaves"`
}

// SegmentList is the segments that a conversation shows in place of messages, oldest first.
type SegmentList struct {
	Segments   []Leaf  `json:"segments"`
	HeadSeq    int64   `json:"head_seq"`
	PinnedSeqs []int64 `json:"pinned_seqs"`
}

// Leaves returns what a roll-up consists of, oldest first; a leaf consists of itself.
func (r *Reader) Leaves(ctx context.Context, id scrollback.ConversationID, ref scrollback.Ref) (Leaves, error) {
	if ref.IsNumbers() {
		return Leaves{}, scrollback.ParamErrorf("recall.Leaves", "ref", i18n.NumbersHaveNoLeaves, clipRef(ref))
	}
	entry, err := r.resolveRef(ctx, id, ref)
	if err != nil {
		return Leaves{}, err
	}
	kind, name, err := entry.Ref.Split() // it may have been named by its end
	if err != nil {
		return Leaves{}, err
	}
	if kind != scrollback.RefHistory {
		return Leaves{}, scrollback.ParamErrorf("recall.Leaves", "ref",
			i18n.AttachmentHasNoLeaves, entry.Ref)
	}
	of, err := r.store.ReadSegments(ctx, []scrollback.SegmentID{scrollback.SegmentID(name)})
	if err != nil {
		return Leaves{}, err
	}
	inside := of
	if len(of[0].Children) > 0 {
		if inside, err = r.store.ReadSegments(ctx, of[0].Children); err != nil {
			return Leaves{}, err
		}
	}
	return Leaves{Ref: entry.Ref, FirstSeq: of[0].FirstSeq, LastSeq: of[0].LastSeq, Messages: of[0].Messages,
		Leaves: listLeaves(inside)}, nil
}

// Segments returns the segments that a conversation shows in place of messages, oldest first.
func (r *Reader) Segments(ctx context.Context, id scrollback.ConversationID) (SegmentList, error) {
	head, err := r.access.Head(ctx, id)
	if err != nil {
		return SegmentList{}, err
	}
	var ids []scrollback.SegmentID
	for _, s := range head.Branch.View.Segments {
		ids = append(ids, s.ID)
	}
	shown, err := r.store.ReadSegments(ctx, ids)
	return SegmentList{Segments: listLeaves(shown), HeadSeq: head.Branch.HeadSeq,
		PinnedSeqs: append([]int64{}, head.PinnedSeqs...)}, err
}

// Shape returns the path of a conversation in bins; 0 means [scrollback.ShapeDefault].
func (r *Reader) Shape(ctx context.Context, id scrollback.ConversationID, bins int) (scrollback.Shape, error) {
	switch {
	case bins < 0 || bins > scrollback.ShapeMax:
		return scrollback.Shape{}, scrollback.ParamErrorf("recall.Shape", "bins", i18n.BinsOutOfRange, scrollback.ShapeMax)
	case bins == 0:
		bins = scrollback.ShapeDefault
	}
	head, err := r.access.Head(ctx, id)
	if err != nil {
		return scrollback.Shape{}, err
	}
	return r.store.Branches.ReadShape(ctx, head.Branch, bins)
}

func listLeaves(segs []scrollback.Segment) []Leaf {
	out := make([]Leaf, len(segs))
	for i, s := range segs {
		out[i] = Leaf{Ref: scrollback.HistoryRef(s.ID), FirstSeq: s.FirstSeq, LastSeq: s.LastSeq, From: s.From, To: s.To,
			Messages: s.Messages, Tokens: s.TokensBefore, CardTokens: s.TokensAfter, Hint: describeSegment(s),
			SummaryBy: s.SummaryBy,
			RolledUp:  len(s.Children) > 0}
	}
	return out
}

// describeSegment returns a line on what a segment is about: what was said first of what its card keeps,
// without the mark of who said it.
func describeSegment(s scrollback.Segment) string {
	hint := listSegment(s).hints[0]
	return strings.TrimSpace(quotePattern().ReplaceAllString(hint, ""))
}
