package compact

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Job is a fold to be made: the first Cut.Messages of Live, on a branch whose
// view is View and whose view's segments are Shown.
type Job struct {
	Conversation scrollback.ConversationID
	View         scrollback.View
	Shown        []scrollback.Segment
	Carried      []scrollback.Message // by the view as it is
	Live         []scrollback.Message
	Cut          Cut
	BudgetTokens int64
	Now          int64
	NewID        func() string
	Count        func(string) int // tokens
	// Measure gives the size and SHA-256 of a segment's rendered file; its
	// messages for a leaf, its children for a roll-up.
	Measure func(s scrollback.Segment, ms []scrollback.Message, children []scrollback.Segment) (int64, string, error)
	// Load reads segments by id, in that order.
	Load func(ids []scrollback.SegmentID) ([]scrollback.Segment, error)
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

// Build makes the segments of a fold, with extracted lines for summaries.
func Build(j Job) (Fold, error) {
	run := j.Live[:j.Cut.Messages]
	f := Fold{View: scrollback.View{Boundary: run[len(run)-1].Seq, Sum: j.View.Sum}}
	for _, ms := range split(run) {
		s, err := j.leaf(ms)
		if err != nil {
			return Fold{}, err
		}
		f.Leaves = append(f.Leaves, s)
	}
	f.Segments = slices.Clone(f.Leaves)
	f.Shown = append(slices.Clone(j.Shown), f.Leaves...)
	if err := j.rollUp(&f); err != nil {
		return Fold{}, err
	}
	for _, s := range f.Shown {
		f.View.Segments = append(f.View.Segments, scrollback.ViewItem{ID: s.ID, FirstSeq: s.FirstSeq, LastSeq: s.LastSeq, Level: s.Level})
	}
	// What was carried until now is hidden from here on, unless nobody has asked
	// for anything since; what is carried from here on is not hidden.
	for _, m := range j.Carried {
		if j.stillAsked() {
			f.View.Carried = append(f.View.Carried, m.Seq)
			continue
		}
		f.View.Sum = f.View.Sum.Add(m.Weight)
	}
	for _, m := range run {
		if m.Seq == j.Cut.Carry {
			f.View.Carried = append(f.View.Carried, m.Seq)
			continue
		}
		f.View.Sum = f.View.Sum.Add(m.Weight)
	}
	return f, nil
}

// stillAsked says that what the view carries is still the newest user message:
// no other one is live, and the fold is no start afresh.
func (j *Job) stillAsked() bool {
	return j.Cut.Messages < len(j.Live) &&
		!slices.ContainsFunc(j.Live, func(m scrollback.Message) bool { return m.Role == scrollback.RoleUser })
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

// rollUp joins the oldest of what is shown until there is room: runs of equal
// level first, so that the tree stays shallow, and never the newest fold.
func (j *Job) rollUp(f *Fold) error {
	for {
		var tokens int64
		for _, s := range f.Shown {
			tokens += s.TokensAfter
		}
		over := len(f.Shown) > PlaceholdersMax || float64(tokens) > PlaceholdersShare*float64(j.BudgetTokens)
		if !over || len(f.Shown) < 3 {
			return nil
		}
		from, to := longestRun(f.Shown[:len(f.Shown)-1])
		children, err := j.family(f, f.Shown[from:to])
		if err != nil {
			return err
		}
		s, err := j.parent(f.Shown[from:to], children)
		if err != nil {
			return err
		}
		f.Segments = append(f.Segments, s)
		f.Shown = slices.Replace(f.Shown, from, to, s)
	}
}

// longestRun is the longest run of neighbours of one level, the oldest of equals;
// the two oldest when no two neighbours are of one level.
func longestRun(segs []scrollback.Segment) (from, to int) {
	to = 2
	best := 1
	for i := 0; i < len(segs); {
		k := i
		for k < len(segs) && segs[k].Level == segs[i].Level {
			k++
		}
		if k-i > best {
			best, from, to = k-i, i, k
		}
		i = k
	}
	return from, to
}

// maxChildren bounds a roll-up.
const maxChildren = 64

// family is what a roll-up of segs names. A roll-up at the beginning is taken
// apart rather than nested; when there are too many children then, their longest
// run of one level becomes a roll-up among them, so that the depth of the tree
// grows with the logarithm of its leaves.
func (j *Job) family(f *Fold, segs []scrollback.Segment) ([]scrollback.Segment, error) {
	if len(segs[0].Children) == 0 {
		return segs, nil
	}
	inner, err := j.load(f, segs[0].Children)
	if err != nil {
		return nil, err
	}
	children := append(inner, segs[1:]...)
	for len(children) > maxChildren {
		from, to := longestRun(children[:len(children)-1])
		s, err := j.parent(children[from:to], children[from:to])
		if err != nil {
			return nil, err
		}
		f.Segments = append(f.Segments, s)
		children = slices.Replace(children, from, to, s)
	}
	return children, nil
}

// load reads segments by id, those of this fold too.
func (j *Job) load(f *Fold, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	var missing []scrollback.SegmentID
	made := map[scrollback.SegmentID]scrollback.Segment{}
	for _, s := range f.Segments {
		made[s.ID] = s
	}
	for _, id := range ids {
		if _, ok := made[id]; !ok {
			missing = append(missing, id)
		}
	}
	stored, err := j.Load(missing)
	if err != nil {
		return nil, err
	}
	for _, s := range stored {
		made[s.ID] = s
	}
	out := make([]scrollback.Segment, len(ids))
	for i, id := range ids {
		out[i] = made[id]
	}
	return out, nil
}

// parent is a roll-up that stands for segs and names children, which cover the
// same messages.
func (j *Job) parent(segs, children []scrollback.Segment) (scrollback.Segment, error) {
	first, last := segs[0], segs[len(segs)-1]
	s := scrollback.Segment{
		ID: scrollback.SegmentID(j.NewID()), Conversation: j.Conversation, Branch: last.Branch,
		FirstSeq: first.FirstSeq, LastSeq: last.LastSeq, SummaryOf: first.FirstSeq,
		SummaryBy: scrollback.SummaryExtractive, From: first.From, To: last.To, Renderer: j.Renderer, CreatedAt: j.Now,
	}
	var lines []line
	for _, c := range segs {
		s.Messages += c.Messages
		s.TokensBefore += c.TokensBefore
		s.From, s.To = min(s.From, c.From), max(s.To, c.To)
		lines = append(lines, parseLines(c.Summary)...)
	}
	var hashes []string
	for _, c := range children {
		s.Children = append(s.Children, c.ID)
		s.Level = max(s.Level, c.Level+1)
		hashes = append(hashes, c.Hash)
	}
	s.Hash = scrollback.HashChildren(hashes)
	j.describe(&s, best(lines))
	var err error
	s.Bytes, s.SHA256, err = j.Measure(s, nil, children)
	return s, err
}
