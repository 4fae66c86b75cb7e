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

	// whole is Window with the weights and texts of what is left out, while [Run] works with
	// a Window without them; nil before that.
	whole *window.Input

	made []scrollback.Segment // by the compactions that [ShownAfter] has seen
}

// dropLeftOut takes the messages that requests leave out from what is shown: they weigh nothing
// and say nothing, but are still among what is live, since a fold hides them as well.
func (s *Shown) dropLeftOut() {
	if len(s.Window.Without) == 0 || s.whole != nil {
		return
	}
	s.whole = new(s.Window)
	s.Window = s.Window.WithoutLines()
	s.Window.Live = slices.Clone(s.Window.Live)
	for i := range s.Window.Live {
		if m := &s.Window.Live[i]; s.isLeftOut(m.Seq) {
			m.Weight = scrollback.Weight{}
		}
	}
}

// fullInput returns the window's input with everything that the log has in it.
func (s *Shown) fullInput() *window.Input {
	if s.whole != nil {
		return s.whole
	}
	return &s.Window
}

func (s *Shown) isLeftOut(seq int64) bool { return slices.Contains(s.Window.Without, seq) }

// withoutLeftOut returns the messages that are not left out.
func (s *Shown) withoutLeftOut(ms []scrollback.Message) []scrollback.Message {
	if len(s.Window.Without) == 0 {
		return ms
	}
	return slices.DeleteFunc(slices.Clone(ms), func(m scrollback.Message) bool { return s.isLeftOut(m.Seq) })
}

// IsDue reports whether the policy asks for a fold before w is sent, a window laid out from s.
func (s *Shown) IsDue(w scrollback.Window) bool { return s.Policy.isTriggered(s.load(w)) }

// load returns what a policy judges of a window that is laid out from s.
func (s *Shown) load(w scrollback.Window) requestLoad {
	b := &s.Branch
	return requestLoad{window: w.Weight, fixed: fixedTokens(w), budget: s.Window.Budget,
		tokens:   s.Branch.LiveWeight().Tokens,
		messages: b.HeadSeq - b.View.Boundary, fresh: b.HeadSeq - max(b.View.Head, b.View.Boundary)}
}

// UnreadTokens returns the tokens of the live messages that the window does not hold.
func (s *Shown) UnreadTokens() int64 {
	if !s.More {
		return 0
	}
	return s.Branch.LiveWeight().Tokens - sumWeights(s.fullInput().Live).Tokens
}

// inputAfter returns what the window is laid out from once a fold is made.
func (s *Shown) inputAfter(made *builtFold) window.Input {
	in := s.Window
	in.Segments = made.shown
	in.Said = nil
	in.Language = made.view.Language
	if in.Dialect.BoundReasoning {
		in.FoldedAt = made.view.Head
	}
	in.Carried = nil
	in.Pinned = nil
	in.Live = nil
	for _, m := range slices.Concat(s.fullInput().Pinned, s.fullInput().Carried, s.fullInput().Live) {
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
	var text string
	if i := slices.IndexFunc(made.leaves, func(l scrollback.Segment) bool { return l.ID == v.Segment }); i >= 0 {
		text = made.leaves[i].Summary
	} else if in.Summary != nil {
		text = in.Summary.Text
	} else { // it tells of what is left out
		return in
	}
	in.Summary = WindowSummary(*v, text, in.Without)
	return in
}

// tokensAfter returns what the window weighs once a fold is made, in tokens. Lines that it does not show twice count
// all the same, so that nobody need find them.
func (s *Shown) tokensAfter(made *builtFold) int64 {
	in := s.inputAfter(made)
	in.Said = &window.SaidLines{Segments: make([][]int, len(in.Segments))}
	return window.Assemble(in).Weight.Tokens
}

// ShownAfter returns what a branch would show with a compaction that was made of it.
func ShownAfter(s *Shown, c *Compaction) Shown {
	made := builtFold{view: c.View, leaves: c.Segments}
	for _, item := range c.View.Segments {
		for _, seg := range slices.Concat(c.Segments, s.Window.Segments) {
			if seg.ID == item.ID {
				made.shown = append(made.shown, seg)
				break
			}
		}
	}
	out := *s
	out.Window = s.inputAfter(&made)
	out.whole = nil
	out.made = slices.Concat(s.made, c.Segments)
	out.Branch.View = c.View
	return out
}

// WindowSummary returns a summary as a window shows it that leaves out some messages: with the text of
// its segment. Minutes that tell of a message which is left out stay away until it is taken
// back; what is left is nil if that is nothing.
func WindowSummary(v scrollback.ViewSummary, text string, without []int64) *window.Summary {
	s := &window.Summary{ViewSummary: v, Text: text, MinutesEnd: summaryEnd(text, v.LastSeq)}
	tells := func(seq int64) bool {
		return v.FirstSeq <= seq && seq <= s.MinutesEnd && !slices.Contains(v.Without, seq)
	}
	if s.MinutesEnd > 0 && slices.ContainsFunc(without, tells) {
		if s.Text, s.MinutesEnd = carriedText(text), 0; s.Text == "" {
			return nil
		}
	}
	return s
}

// CutNewest chooses how many of the oldest live messages a window leaves out that shows the newest of them beside what
// is folded already, by the rules of a fold that a request needs. Carry is the seq of a user message that stays in
// sight, or 0; ok is false if there is no legal cut. Count counts o200k tokens.
func (s *Shown) CutNewest(count func(text string) int) (messages int, carry int64, ok bool) {
	in := Input{Shown: *s, Reason: MustFit, Count: count}
	in.Policy.Summarizes = false // no summary is written
	in.fillDefaults()
	in.dropLeftOut()
	before := in.weighWindows()
	c, ok := planCut(&in, before.fixed)
	return c.messages, c.carry, ok
}

// NewestEnvironment returns the seq of the newest message that reports a changed environment, or 0.
func NewestEnvironment(ms []scrollback.Message) int64 { return newestEnvironment(ms) }
