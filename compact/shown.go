package compact

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

// Shown is what a branch shows at one moment, and the policy by which it is folded.
type Shown struct {
	Branch     scrollback.Branch
	Window     window.Input // of the next request
	More       bool         // Window.Live is only the oldest piece of what is live
	PinnedSeqs []int64      // messages that stay in sight when they are folded
	Policy     Policy
}

// Due says whether the policy asks for a fold before w is sent, a window laid out from s.
func (s *Shown) Due(w scrollback.Window) bool {
	b := &s.Branch
	return s.Policy.triggers(load{window: w.Weight, budget: s.Window.Budget, tokens: s.Branch.LiveWeight().Tokens,
		messages: b.HeadSeq - b.View.Boundary, fresh: b.HeadSeq - max(b.View.Head, b.View.Boundary)})
}

// Unread returns the tokens of the live messages that the window does not hold.
func (s *Shown) Unread() int64 {
	if !s.More {
		return 0
	}
	return s.Branch.LiveWeight().Tokens - sumOf(s.Window.Live).Tokens
}

// after returns what the window is laid out from once a fold is made.
func (s *Shown) after(made *built) window.Input {
	in := s.Window
	in.Segments, in.Carried, in.Pinned, in.Live = made.shown, nil, nil, nil
	for _, m := range slices.Concat(s.Window.Pinned, s.Window.Carried, s.Window.Live) {
		switch {
		case m.Seq > made.view.Boundary:
			in.Live = append(in.Live, m)
		case slices.Contains(made.view.Carried, m.Seq):
			in.Carried = append(in.Carried, m)
		case slices.Contains(s.PinnedSeqs, m.Seq):
			in.Pinned = append(in.Pinned, m)
		}
	}
	v := made.view.Summary
	if v == nil {
		in.Summary = nil
		return in
	}
	text := ""
	if i := slices.IndexFunc(made.leaves, func(l scrollback.Segment) bool { return l.ID == v.Segment }); i >= 0 {
		text = made.leaves[i].Summary
	} else if in.Summary != nil {
		text = in.Summary.Text
	}
	in.Summary = InSight(*v, text)
	return in
}

// After is what a branch would show with a compaction that was made of it.
func After(s *Shown, c *Compaction) Shown {
	made := built{view: c.View, leaves: c.Segments}
	for _, item := range c.View.Segments {
		for _, seg := range slices.Concat(c.Segments, s.Window.Segments) {
			if seg.ID == item.ID {
				made.shown = append(made.shown, seg)
				break
			}
		}
	}
	out := *s
	out.Window = s.after(&made)
	out.Branch.View = c.View
	return out
}

// InSight is a summary as a window shows it: with the text of its segment.
func InSight(v scrollback.ViewSummary, text string) *window.Summary {
	return &window.Summary{ViewSummary: v, Text: text, MinutesEnd: minutesEnd(text, v.LastSeq)}
}
