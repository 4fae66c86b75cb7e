package compact

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Append adds a message with its weight (see [window.Weigh]) to a conversation that is held in
// memory. The message gets the next number.
func (s *Shown) Append(m scrollback.Message) {
	b := &s.Branch
	b.HeadSeq++
	b.Sum = b.Sum.Add(m.Weight)
	m.Seq = b.HeadSeq
	m.Sum = b.Sum
	s.Window.Live = append(s.Window.Live, m)
}

// fillDefaults puts something in the place of the functions that a conversation in memory has no use for.
func (in *Input) fillDefaults() {
	if in.Writers == nil {
		in.Writers = func() []Summarizer { return nil }
	}
	if in.ModelTokens == nil {
		in.ModelTokens = func(tokens int64) int64 { return tokens }
	}
	if in.Price == nil {
		in.Price = func(_ string, u scrollback.Usage) scrollback.Usage { return u }
	}
	if in.Load == nil {
		in.Load = in.findSegments
	}
	if in.Measure == nil {
		in.Measure = func(scrollback.Segment, []scrollback.Message) (int64, string, error) { return 0, "", nil }
	}
	if in.MeasureTable == nil {
		in.MeasureTable = func(scrollback.Segment, []scrollback.Segment) (int64, string, error) { return 0, "", nil }
	}
}

// findSegments finds segments among those of earlier compactions.
func (s *Shown) findSegments(ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	out := make([]scrollback.Segment, 0, len(ids))
	for _, id := range ids {
		i := slices.IndexFunc(s.made, func(made scrollback.Segment) bool { return made.ID == id })
		if i < 0 {
			return nil, scrollback.Errorf(scrollback.NotFound, "compact.Run", i18n.SegmentNotInMemory, id)
		}
		out = append(out, s.made[i])
	}
	return out, nil
}
