package compact

import (
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/kept"
	"github.com/scrollback-ai/scrollback/window"
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
	if in.Kept == nil {
		in.inSight = true
		in.Kept = func() ([]scrollback.Kept, error) { return in.rowsInSight(), nil }
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

// rowsInSight lists what is kept by what the window shows: of the messages in it, and of the lines that
// stand for those that are hidden.
func (s *Shown) rowsInSight() (rows []scrollback.Kept) {
	said := func(l *window.Line) scrollback.Message {
		return scrollback.Message{ID: scrollback.MessageID(l.String()), Seq: l.Seq, Role: scrollback.Role(l.By),
			Parts: scrollback.Say(l.Text)}
	}
	end := int64(0)
	if sum := s.Window.Summary; sum != nil {
		end = sum.LastSeq
		for _, l := range parseCarried(sum.Text, nil) {
			m := said(&l.Line)
			for kind, rank := range keptRanks {
				if rank == l.rank {
					rows = append(rows, scrollback.Kept{ID: scrollback.NewKeptID(m.ID, kind, l.Text), Kind: kind, Text: l.Text,
						Message: m.ID, Seq: l.Seq, Role: m.Role, By: scrollback.KeptByRule, State: scrollback.KeptOpen})
				}
			}
			if l.rank >= rankSaid { // an older block tells no kinds
				rows = append(rows, kept.ListAllRows(&m, nil)...)
			}
		}
	}
	for i := range s.Window.Segments {
		for _, l := range parseLines(s.Window.Segments[i].Placeholder) {
			if m := said(&l.Line); l.Seq > end {
				rows = append(rows, kept.ListAllRows(&m, nil)...)
			}
		}
	}
	var before *scrollback.Message
	in := s.fullInput()
	ms := slices.Concat(in.Pinned, in.Carried, in.Live)
	for i := range ms {
		rows = append(rows, kept.ListAllRows(&ms[i], before)...)
		before = &ms[i]
	}
	slices.SortStableFunc(rows, func(a, b scrollback.Kept) int { return cmp.Compare(a.Seq, b.Seq) })
	return rows
}
