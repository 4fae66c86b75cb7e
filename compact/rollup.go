package compact

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact/summary"
	"github.com/scrollback-ai/scrollback/internal/ids"
)

// isCrowded reports whether placeholders must be joined: there are too many, or they take
// too much of a budget in tokens.
func (p Policy) isCrowded(shown []scrollback.Segment, budget int64) bool {
	var tokens int64
	for _, s := range shown {
		tokens += s.TokensAfter
	}
	return len(shown) >= 3 && (int64(len(shown)) > p.PlaceholdersMax ||
		float64(tokens) > p.PlaceholdersShare*float64(budget))
}

// rollUp joins the oldest segments in sight until there is room: runs of one level
// first, so that the tree stays shallow, and never the newest fold.
func (j *foldJob) rollUp(b *builtFold) error {
	if j.afresh && j.cut.messages == 0 {
		return j.joinSegments(b, 0, len(b.shown))
	}
	for {
		if !j.Policy.isCrowded(b.shown, j.budgetTokens()) {
			return nil
		}
		from, to := longestRun(b.shown[:len(b.shown)-1])
		if err := j.joinSegments(b, from, to); err != nil {
			return err
		}
	}
}

// joinSegments puts a roll-up in the place of a run of segments in sight.
func (j *foldJob) joinSegments(b *builtFold, from, to int) error {
	children, err := j.listChildren(b, b.shown[from:to])
	if err != nil {
		return err
	}
	s, err := j.makeParent(b.shown[from:to], children)
	if err != nil {
		return err
	}
	b.segments = append(b.segments, s)
	b.shown = slices.Replace(b.shown, from, to, s)
	return nil
}

// longestRun returns the longest run of neighbours of one level, the oldest if several
// are equally long; the two oldest segments if no two neighbours share a level.
func longestRun(segs []scrollback.Segment) (from, to int) {
	to = 2
	best := 1
	for i := 0; i < len(segs); {
		k := i
		for k < len(segs) && segs[k].Level == segs[i].Level {
			k++
		}
		if k-i > best {
			best = k - i
			from = i
			to = k
		}
		i = k
	}
	return from, to
}

// maxChildren bounds the children of a roll-up.
const maxChildren = 64

// listChildren returns the children of a roll-up of segs. Roll-ups among segs are taken apart
// rather than nested; if that makes too many children, a long run of low ones becomes a
// roll-up among them, so that the depth of the tree grows with the logarithm of its
// leaves.
func (j *foldJob) listChildren(b *builtFold, segs []scrollback.Segment) ([]scrollback.Segment, error) {
	var children []scrollback.Segment
	for _, s := range segs {
		if len(s.Children) == 0 {
			children = append(children, s)
			continue
		}
		inner, err := j.loadSegments(b, s.Children)
		if err != nil {
			return nil, err
		}
		children = append(children, inner...)
	}
	for len(children) > maxChildren {
		from, to := lowestRun(children[:len(children)-1])
		s, err := j.makeParent(children[from:to], children[from:to])
		if err != nil {
			return nil, err
		}
		b.segments = append(b.segments, s)
		children = slices.Replace(children, from, to, s)
	}
	return children, nil
}

// lowestRun returns the longest run of neighbours up to a level, the lowest that has a run
// worth a roll-up; at most maxChildren of it.
func lowestRun(segs []scrollback.Segment) (from, to int) {
	for level := 0; to-from < maxChildren/4; level++ {
		from = 0
		to = 0
		for i := 0; i < len(segs); i++ {
			k := i
			for k < len(segs) && segs[k].Level <= level {
				k++
			}
			if k-i > to-from {
				from = i
				to = k
			}
			i = k
		}
	}
	return from, min(to, from+maxChildren)
}

// pruneUnused drops the roll-ups that this fold made and took apart again.
func (b *builtFold) pruneUnused() {
	named := map[scrollback.SegmentID]bool{}
	for _, s := range b.shown {
		named[s.ID] = true
	}
	kept := b.segments[:0:0]
	for _, s := range slices.Backward(b.segments) {
		if named[s.ID] || len(s.Children) == 0 {
			kept = append(kept, s)
			for _, id := range s.Children {
				named[id] = true
			}
		}
	}
	slices.Reverse(kept)
	b.segments = kept
}

// loadSegments returns segments by id, those that this fold made included.
func (j *foldJob) loadSegments(b *builtFold, ids []scrollback.SegmentID) ([]scrollback.Segment, error) {
	var missing []scrollback.SegmentID
	made := map[scrollback.SegmentID]scrollback.Segment{}
	for _, s := range b.segments {
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

// makeParent makes a roll-up that stands for segs and names children, which cover the same
// messages.
func (j *foldJob) makeParent(segs, children []scrollback.Segment) (scrollback.Segment, error) {
	first := segs[0]
	last := segs[len(segs)-1]
	s := scrollback.Segment{
		Conversation: last.Conversation, Branch: last.Branch,
		FirstSeq: first.FirstSeq, LastSeq: last.LastSeq, SummaryOf: first.FirstSeq,
		SummaryBy: scrollback.SummaryExtractive, From: first.From, To: last.To, Renderer: j.Renderer, CreatedAt: j.Now,
	}
	isOther := func(c scrollback.Segment) bool { return !ids.IsDerived(c.ID) }
	if slices.ContainsFunc(segs, isOther) || slices.ContainsFunc(children, isOther) {
		s.ID = j.newID()
	} else {
		s.ID = ids.Unnamed
		s.CreatedAt = last.CreatedAt
	}
	var lines []extractLine
	var done summary.Work
	for _, c := range segs {
		s.Messages += c.Messages
		s.TokensBefore += c.TokensBefore
		s.From = min(s.From, c.From)
		s.To = max(s.To, c.To)
		lines = append(lines, j.Memory.parseLines(c.Placeholder)...)
		done.Join(summary.ParseWork(c.Placeholder))
	}
	var hashes []string
	for _, c := range children {
		s.Children = append(s.Children, c.ID)
		s.Level = max(s.Level, c.Level+1)
		hashes = append(hashes, c.Hash)
	}
	s.Hash = scrollback.HashChildren(hashes)
	j.describeSegment(&s, lowerAlike(sortBest(dropAlike(lines)),
		func(score float64) float64 { return score - standingLead }), &done)
	j.nameSegment(&s)
	var err error
	s.Bytes, s.SHA256, err = j.MeasureTable(s, children)
	return s, err
}
