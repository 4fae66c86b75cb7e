package compact

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact/summary"
	"github.com/scrollback-ai/scrollback/internal/ids"
	"github.com/scrollback-ai/scrollback/internal/marks"
	"github.com/scrollback-ai/scrollback/window"
)

// foldJob is a fold to be made: which messages it hides, and under which summary.
type foldJob struct {
	*Input
	cut     foldCut
	summary *askOutcome // a model's, or what is kept without one; nil for none
	afresh  bool        // the summary in sight goes, even if none replaces it
	writers []Summarizer
	ids     []string // of segments; each time the fold is made, they are taken from the first on
	taken   int
	built   *lastBuild // shared by the trials of a fold; nil remembers none
}

// lastBuild is the fold that was built last, and of what.
type lastBuild struct {
	of   buildKey
	made builtFold
}

// buildKey is what a fold of some messages depends on.
type buildKey struct {
	cut      foldCut
	text, by string // of its summary
	afresh   bool   // if it has none
}

// key returns the key of a job's fold.
func (j *foldJob) key() buildKey {
	k := buildKey{cut: j.cut, afresh: j.afresh && j.summary == nil}
	if j.summary != nil {
		k.text = j.summary.text
		k.by = j.summary.by
	}
	return k
}

// newID returns the next id. A placeholder names its segment, so that with other ids the
// same fold would weigh something else.
func (j *foldJob) newID() scrollback.SegmentID {
	if j.taken == len(j.ids) {
		j.ids = append(j.ids, j.NewID())
	}
	j.taken++
	return scrollback.SegmentID(j.ids[j.taken-1])
}

// builtFold is the result of a job, and what it does to the window.
type builtFold struct {
	segments []scrollback.Segment // new ones, children before the roll-ups that name them
	view     scrollback.View
	shown    []scrollback.Segment // those of the view
	leaves   []scrollback.Segment // those of segments that cover messages

	tokens int64 // of the window with this view
	said   *window.SaidLines
	result scrollback.CompactionResult
}

// buildFold makes the segments of a fold. Each placeholder holds an extract of what its
// segment hides; the newest leaf carries the summary. A cut of no messages only joins
// the segments in sight: the oldest while they are too many, or all of them into one
// roll-up if the summary goes.
func (j *foldJob) buildFold() (builtFold, error) {
	if j.cut.messages > 0 && j.built != nil && j.built.of == j.key() {
		return j.built.made, nil
	}
	b, err := j.makeFold()
	if err == nil && j.built != nil {
		*j.built = lastBuild{j.key(), b}
	}
	return b, err
}

// makeFold is buildFold, whether or not the same was built last.
func (j *foldJob) makeFold() (builtFold, error) {
	j.taken = 0
	run := j.fullInput().Live[:j.cut.messages]
	was := j.Branch.View
	b := builtFold{view: scrollback.View{Boundary: was.Boundary, Sum: was.Sum, Summary: was.Summary, Head: was.Head,
		Without: was.Without, Language: j.language(j.cut)}, shown: slices.Clone(j.Window.Segments)}
	if j.afresh {
		b.view.Summary = nil
	}
	if len(run) == 0 {
		b.view.Carried = was.Carried
	} else if err := j.hideRun(&b, run); err != nil {
		return builtFold{}, err
	}
	if err := j.rollUp(&b); err != nil {
		return builtFold{}, err
	}
	b.pruneUnused()
	for _, s := range b.shown {
		b.view.Segments = append(b.view.Segments,
			scrollback.ViewItem{ID: s.ID, FirstSeq: s.FirstSeq, LastSeq: s.LastSeq, Level: s.Level})
	}
	return b, nil
}

// hideRun makes the leaves of a run.
func (j *foldJob) hideRun(b *builtFold, run []scrollback.Message) error {
	b.view.Boundary = run[len(run)-1].Seq
	b.view.Head = j.Window.Live[len(j.Window.Live)-1].Seq
	stay, tell := splitShown(j.Input, j.cut)
	var drafts []leafDraft
	runs := splitRun(run)
	for i, ms := range runs {
		byModel := i == len(runs)-1 && j.summary != nil && j.summary.by != scrollback.SummaryExtractive
		drafts = append(drafts, leafDraft{Segment: j.startLeaf(ms, byModel), ms: ms,
			tell: append(tell, j.withoutLeftOut(dropShown(ms, stay))...)})
		tell = nil
	}
	runParallel(2*len(drafts), func(i int) {
		if d := &drafts[i/2]; i%2 == 0 {
			d.lines = j.Memory.extractLines(d.tell)
		} else {
			d.err = sealSegment(j.Input, &d.Segment, d.ms)
		}
	})
	for i := range drafts {
		d := &drafts[i]
		if d.err != nil {
			return d.err
		}
		j.describeSegment(&d.Segment, d.lines, summary.CollectWork(j.withoutLeftOut(d.ms)))
	}
	if j.summary != nil {
		last := &drafts[len(drafts)-1]
		last.Summary = j.summary.text
		last.SummaryBy = j.summary.by
		last.PromptVersion = promptVersion
		if len(j.Window.Segments) > 0 {
			last.SummaryOf = j.Window.Segments[0].FirstSeq
		}
		if v := j.Branch.View.Summary; v != nil {
			last.SummaryOf = min(last.SummaryOf, v.FirstSeq)
		}
	}
	if err := j.nameDrafts(drafts); err != nil {
		return err
	}
	for _, d := range drafts {
		b.leaves = append(b.leaves, d.Segment)
	}
	if j.summary != nil {
		last := b.leaves[len(b.leaves)-1]
		b.view.Summary = &scrollback.ViewSummary{Segment: last.ID, FirstSeq: last.SummaryOf, LastSeq: last.LastSeq,
			Tokens: int64(j.Count(marks.EscapeText(last.Summary))), Without: j.Window.Without}
	}
	b.segments = slices.Clone(b.leaves)
	b.shown = append(b.shown, b.leaves...)
	// What was carried until now is hidden from now on, unless this cut carries it too.
	for _, ms := range [][]scrollback.Message{j.fullInput().Carried, run} {
		for _, m := range ms {
			if stay[m.Seq] {
				b.view.Carried = append(b.view.Carried, m.Seq)
				continue
			}
			b.view.Sum = b.view.Sum.Add(m.Weight)
		}
	}
	return nil
}

// splitRun cuts a run where the branch changes and where a leaf would exceed its bounds.
// In a file, a message takes its text and at most renderedHead bytes more.
func splitRun(run []scrollback.Message) [][]scrollback.Message {
	const renderedHead = 512
	var out [][]scrollback.Message
	start := 0
	size := int64(0)
	for i := range run {
		own := run[i].Weight.Bytes + renderedHead
		full := i-start == scrollback.MaxSegmentMessages || size+own > scrollback.MaxSegmentBytes
		if i > start && (full || run[i].Branch != run[start].Branch) {
			out = append(out, run[start:i])
			start = i
			size = 0
		}
		size += own
	}
	return append(out, run[start:])
}

// leafDraft is a leaf that is being made; tell is what its extract is made of.
type leafDraft struct {
	scrollback.Segment
	ms, tell []scrollback.Message
	lines    []extractLine
	err      error
}

// startLeaf begins the segment of some messages. Where their ids follow from their source, so does that of the segment,
// unless a model says what is in it: it has none before it is described.
func (j *foldJob) startLeaf(ms []scrollback.Message, byModel bool) scrollback.Segment {
	first := ms[0]
	last := ms[len(ms)-1]
	s := scrollback.Segment{
		Conversation: first.ConversationID, Branch: first.Branch,
		FirstSeq: first.Seq, LastSeq: last.Seq, Messages: len(ms), SummaryOf: first.Seq,
		SummaryBy: scrollback.SummaryExtractive, From: first.CreatedAt, To: last.CreatedAt,
		Renderer: j.Renderer, CreatedAt: j.Now,
	}
	isOther := func(m scrollback.Message) bool { return !ids.IsDerived(m.ID) }
	if byModel || slices.ContainsFunc(ms, isOther) {
		s.ID = j.newID()
	} else {
		s.ID = ids.Unnamed
		s.CreatedAt = last.CreatedAt
	}
	for i := range ms {
		s.TokensBefore += ms[i].Weight.Tokens
		s.From = min(s.From, ms[i].CreatedAt)
		s.To = max(s.To, ms[i].CreatedAt)
	}
	return s
}

// nameDrafts gives the leaves their ids that follow from what they say, and measures their files, which have them.
func (j *foldJob) nameDrafts(drafts []leafDraft) error {
	runParallel(len(drafts), func(i int) {
		if d := &drafts[i]; j.nameSegment(&d.Segment) {
			d.Bytes, d.SHA256, d.err = j.Memory.measureLeaf(d.Segment, d.ms, j.Measure)
		}
	})
	for _, d := range drafts {
		if d.err != nil {
			return d.err
		}
	}
	return nil
}

// nameSegment gives a segment that has none its id, which is in its placeholder too, and reports whether it did.
func (j *foldJob) nameSegment(s *scrollback.Segment) bool {
	if s.ID != ids.Unnamed {
		return false
	}
	s.ID = ids.Segment(*s)
	s.Placeholder = strings.Replace(s.Placeholder, string(scrollback.HistoryRef(ids.Unnamed)),
		string(scrollback.HistoryRef(s.ID)), 1)
	s.TokensAfter = int64(j.Count(s.Placeholder))
	return true
}

// sealSegment adds to a segment the hash of its messages, and the size and hash of its file.
func sealSegment(in *Input, s *scrollback.Segment, ms []scrollback.Message) (err error) {
	if s.Hash, err = in.Memory.hashMessages(ms); err != nil {
		return scrollback.Wrap(scrollback.Internal, "compact.Run", err)
	}
	if s.ID != ids.Unnamed { // which would be in its file
		s.Bytes, s.SHA256, err = in.Memory.measureLeaf(*s, ms, in.Measure)
	}
	return err
}
