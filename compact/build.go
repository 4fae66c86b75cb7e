package compact

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Job is a fold to be made: the first Cut.Messages of Live, on a branch whose
// view is View and whose view's segments are Shown.
type Job struct {
	View         scrollback.View
	Shown        []scrollback.Segment
	Carried      []scrollback.Message // by the view as it is
	Live         []scrollback.Message
	Cut          Cut
	Policy       Policy
	BudgetTokens int64
	Now          int64
	NewID        func() string
	Count        func(string) int // tokens
	// Measure gives the size and SHA-256 of a segment's rendered file; its
	// messages for a leaf, its children for a roll-up.
	Measure func(s scrollback.Segment, ms []scrollback.Message, children []scrollback.Segment) (int64, string, error)
	// Load reads segments by id, in that order.
	Load func(ids []scrollback.SegmentID) ([]scrollback.Segment, error)
	// Summary, a model's or what is kept without one, replaces the one that the view
	// shows.
	Summary *Outcome
	Afresh  bool // the summary that the view shows goes
	// Renderer is the number of the renderer that Measure used.
	Renderer int
}

// Fold is what a job came to: new segments, children before the roll-ups that
// name them, and the view that shows them. Shown is the segments of that view.
type Fold struct {
	Segments []scrollback.Segment
	View     scrollback.View
	Shown    []scrollback.Segment
	Leaves   []scrollback.Segment // those of Segments that cover messages
}

// Build makes the segments of a fold. What each hides is extracted into its
// placeholder; the job's summary is carried by the newest leaf. A cut of no
// messages only joins what is shown: the oldest if that is [Policy.Crowded], or all of
// it into one roll-up where the summary goes.
func Build(j Job) (Fold, error) {
	run := j.Live[:j.Cut.Messages]
	f := Fold{View: scrollback.View{Boundary: j.View.Boundary, Sum: j.View.Sum, Summary: j.View.Summary, Head: j.View.Head}, Shown: slices.Clone(j.Shown)}
	if j.Afresh {
		f.View.Summary = nil
	}
	if len(run) == 0 {
		f.View.Carried = j.View.Carried
	} else if err := j.hide(&f, run); err != nil {
		return Fold{}, err
	}
	if err := j.rollUp(&f); err != nil {
		return Fold{}, err
	}
	f.prune()
	for _, s := range f.Shown {
		f.View.Segments = append(f.View.Segments, scrollback.ViewItem{ID: s.ID, FirstSeq: s.FirstSeq, LastSeq: s.LastSeq, Level: s.Level})
	}
	return f, nil
}

// hide makes the leaves of a run.
func (j *Job) hide(f *Fold, run []scrollback.Message) error {
	f.View.Boundary, f.View.Head = run[len(run)-1].Seq, j.Live[len(j.Live)-1].Seq
	for _, ms := range split(run) {
		s, err := j.leaf(ms)
		if err != nil {
			return err
		}
		f.Leaves = append(f.Leaves, s)
	}
	if j.Summary != nil {
		last := &f.Leaves[len(f.Leaves)-1]
		last.Summary, last.SummaryBy, last.PromptVersion = j.Summary.Text, j.Summary.By, PromptVersion
		if len(j.Shown) > 0 {
			last.SummaryOf = j.Shown[0].FirstSeq
		}
		if v := j.View.Summary; v != nil {
			last.SummaryOf = min(last.SummaryOf, v.FirstSeq)
		}
		f.View.Summary = &scrollback.ViewSummary{Segment: last.ID, FirstSeq: last.SummaryOf, LastSeq: last.LastSeq, Tokens: int64(j.Count(last.Summary))}
	}
	f.Segments = slices.Clone(f.Leaves)
	f.Shown = append(f.Shown, f.Leaves...)
	// What was carried until now is hidden from here on, and what is carried from
	// here on is not; it may be the same message.
	environment := newestEnvironment(j.Carried, j.Live)
	for _, ms := range [][]scrollback.Message{j.Carried, run} {
		for _, m := range ms {
			if j.Cut.kept(m.Seq, environment) {
				f.View.Carried = append(f.View.Carried, m.Seq)
				continue
			}
			f.View.Sum = f.View.Sum.Add(m.Weight)
		}
	}
	return nil
}

// split cuts a run where the branch changes and where a leaf would grow past its
// bounds. The file of a message is its text and at most renderedHead beside.
func split(run []scrollback.Message) [][]scrollback.Message {
	const renderedHead = 512
	var out [][]scrollback.Message
	start, size := 0, int64(0)
	for i := range run {
		own := run[i].Weight.Bytes + renderedHead
		full := i-start == scrollback.MaxSegmentMessages || size+own > scrollback.MaxSegmentBytes
		if i > start && (full || run[i].Branch != run[start].Branch) {
			out = append(out, run[start:i])
			start, size = i, 0
		}
		size += own
	}
	return append(out, run[start:])
}

func (j *Job) leaf(ms []scrollback.Message) (scrollback.Segment, error) {
	hash, err := scrollback.HashMessages(ms)
	if err != nil {
		return scrollback.Segment{}, scrollback.Wrap(scrollback.Internal, "compact.Build", err)
	}
	first, last := ms[0], ms[len(ms)-1]
	s := scrollback.Segment{
		ID: scrollback.SegmentID(j.NewID()), Conversation: first.ConversationID, Branch: first.Branch,
		FirstSeq: first.Seq, LastSeq: last.Seq, Messages: len(ms), Hash: hash, SummaryOf: first.Seq,
		SummaryBy: scrollback.SummaryExtractive, From: first.CreatedAt, To: last.CreatedAt,
		Renderer: j.Renderer, CreatedAt: j.Now,
	}
	for i := range ms {
		s.TokensBefore += ms[i].Weight.Tokens
		s.From, s.To = min(s.From, ms[i].CreatedAt), max(s.To, ms[i].CreatedAt)
	}
	j.describe(&s, extract(ms))
	s.Bytes, s.SHA256, err = j.Measure(s, ms, nil)
	return s, err
}
