// Package window decides what one request sends: arithmetic over values.
//
// [Assemble] lays out the layers of a window, most stable first, so that a
// provider's prompt cache keeps hitting: instructions and tools, environment,
// what was folded, the messages, the prompt, and what is for this request only. [Lint]
// judges a window by the rules of a provider's dialect; whatever the log holds, what
// Assemble returns passes.
//
// Words it adds: input (what a window is made from), repair (an item that stands
// for what the log lacks, such as the result of a call that was cut off), rule
// (something that a provider's wire demands).
//
// Invariants: the same input gives the same bytes; between two folds the next window
// begins with the items of the last; nothing is dropped without an entry in Excluded;
// every call has exactly one result, in order.
//
// It may not know the store, models, clocks, contexts or I/O. Weights arrive on
// the messages; the budget and the dialect arrive as values.
package window

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/scrollback-ai/scrollback"
)

// Input is what a window is made from. Texts that are not messages come with
// their weights.
type Input struct {
	Instructions       string
	InstructionsWeight scrollback.Weight
	Tools              []scrollback.Tool
	ToolsWeight        scrollback.Weight
	Environment        string // frozen for the conversation
	EnvironmentWeight  scrollback.Weight
	Segments           []scrollback.Segment // of the view, oldest first
	Summary            *Summary             // of what the segments hide; nil for none
	Carried            []scrollback.Message // folded, and shown verbatim because the view says so
	Pinned             []scrollback.Message // folded, and shown verbatim because a person wants it; oldest first
	PinnedTokens       int64                // the most that the pinned messages may weigh together
	NotCompacted       *scrollback.SeqRange // messages behind the boundary that Live lacks, and that are named; nil for none
	Live               []scrollback.Message // behind the boundary, oldest first
	Said               *SaidLines           // as a fold found them; nil for unknown
	Language           string               // of the words around what is folded: a code of [FindWords]
	Kept               []scrollback.Kept    // what people said about kept sentences on the path, oldest first
	Without            []int64              // messages that are left out, ascending; Live holds them all the same
	Recall             *RecallTools         // how a model reads what is folded; nil for the tools of package recall
	PromptSeq          int64                // messages from here on are the prompt layer; 0 for none
	FoldedAt           int64                // the newest message at the last fold, whose reasoning is bound; 0 for none
	Budget             scrollback.Budget
	Dialect            scrollback.Dialect
}

// Summary is the summary that stands before the placeholders, and the segment
// that carries it. MinutesEnd is the last message that a model's minutes in Text speak
// for; where it is 0, Text holds only lines of the messages themselves.
type Summary struct {
	scrollback.ViewSummary
	Text       string
	MinutesEnd int64
}

// MaxImages is how many images one request may hold.
const MaxImages = 20

// MaxBytes bounds the body of one request.
const MaxBytes = 20 << 20

// MaxReserve bounds what is kept for the answer.
const MaxReserve = 32_000

// NewBudget returns what may be sent to a model with a window of limit tokens whose
// answers have at most maxOutput tokens (0 for unknown).
func NewBudget(limit, maxOutput int64) scrollback.Budget {
	reserve := min(limit/4, MaxReserve)
	if maxOutput > 0 {
		reserve = min(reserve, maxOutput)
	}
	return scrollback.Budget{Limit: limit, Reserve: reserve,
		Weight: scrollback.Weight{Tokens: limit - reserve, Bytes: MaxBytes, Images: MaxImages}}
}

// Fits reports whether w is within b.
func Fits(w scrollback.Weight, b scrollback.Budget) bool {
	return w.Tokens <= b.Tokens && w.Bytes <= b.Bytes && w.Images <= b.Images
}

// ReachesShare reports whether tokens, bytes or images reach share of their budget.
func ReachesShare(w scrollback.Weight, b scrollback.Budget, share float64) bool {
	return Reaches(w.Tokens, b.Tokens, share) || Reaches(w.Bytes, b.Bytes, share) || Reaches(w.Images, b.Images, share)
}

// Reaches reports whether have is at least share of a budget. Nothing reaches no share.
func Reaches(have, budget int64, share float64) bool {
	const rounding = 1e-6 // 0.7 of 10 is a little over 7 in floating point
	return have > 0 && float64(have) >= share*float64(budget)-rounding
}

// Assemble lays out a window. It never judges whether the result fits.
func Assemble(in Input) scrollback.Window {
	in, leftOut := in.withoutLeftOut()
	w := scrollback.Window{Tools: wellFormed(in.Tools), Budget: in.Budget}
	add := func(items ...scrollback.Item) { w.Items = append(w.Items, items...) }
	if in.Instructions != "" {
		add(scrollback.Item{Kind: scrollback.KindInstructions, Layer: scrollback.LayerInstructions,
			Role:  scrollback.RoleSystem,
			Parts: scrollback.Parts{scrollback.Text{Text: in.Instructions}}, Weight: in.InstructionsWeight})
	}
	if len(in.Tools) > 0 {
		add(scrollback.Item{Kind: scrollback.KindTools, Layer: scrollback.LayerInstructions, Role: scrollback.RoleSystem,
			Weight: in.ToolsWeight})
	}
	if in.Environment != "" {
		add(scrollback.Item{Kind: scrollback.KindEnvironment, Layer: scrollback.LayerEnvironment, Role: scrollback.RoleUser,
			Parts: scrollback.Parts{scrollback.Text{Text: in.Environment}}, Weight: in.EnvironmentWeight})
	}
	if len(in.Segments) > 0 || in.NotCompacted != nil {
		in = in.withKept()
		add(foldedItem(&in))
		for _, s := range in.Segments {
			ref := scrollback.HistoryRef(s.ID)
			w.Excluded = append(w.Excluded, scrollback.Excluded{FirstSeq: s.FirstSeq, LastSeq: s.LastSeq, Ref: &ref,
				Reason: "folded"})
		}
	}
	if r := in.NotCompacted; r != nil {
		w.Excluded = append(w.Excluded, scrollback.Excluded{FirstSeq: r.First, LastSeq: r.Last,
			Reason: scrollback.ExcludedNotCompacted})
	}
	messages, crowdedOut := in.shownMessages()
	for _, m := range in.Pinned {
		if !slices.ContainsFunc(crowdedOut, func(e scrollback.Excluded) bool { return e.FirstSeq == m.Seq }) {
			w.Pinned = append(w.Pinned, m.Seq)
		}
	}
	var unfinished []scrollback.Excluded
	if in.PromptSeq > 0 {
		messages, unfinished = dropInterrupted(messages)
	}
	items, excluded := curateMessages(messages, in)
	w.Excluded = slices.Concat(w.Excluded, excluded, unfinished, crowdedOut, leftOut)
	add(items...)
	w.Items = TakeTurns(w.Items, in.Dialect)
	for i := range w.Items {
		w.Items[i].Parts = w.Items[i].Parts.WellFormed()
		w.Weight = w.Weight.Add(w.Items[i].Weight)
	}
	return w
}

// wellFormed returns tools whose texts and schemas are well-formed.
func wellFormed(tools []scrollback.Tool) []scrollback.Tool {
	var out []scrollback.Tool
	for i, t := range tools {
		fixed := t.WellFormed()
		if fixed.Name == t.Name && fixed.Description == t.Description && bytes.Equal(fixed.Parameters, t.Parameters) {
			continue
		}
		if out == nil {
			out = slices.Clone(tools)
		}
		out[i] = fixed
	}
	if out == nil {
		return tools
	}
	return out
}

// shownMessages returns the messages that a window shows as they are, oldest first: those
// that are carried, as many of the pinned ones, newest first, as their bound takes,
// and those that are live. Excluded are the pinned ones that find no room.
func (in *Input) shownMessages() (shown []scrollback.Message, excluded []scrollback.Excluded) {
	if len(in.Carried)+len(in.Pinned) == 0 {
		return in.Live, nil
	}
	shown = slices.Clone(in.Carried)
	room := in.PinnedTokens
	for _, m := range slices.Backward(in.Pinned) {
		if m.Weight.Tokens > room {
			excluded = append(excluded, scrollback.Excluded{FirstSeq: m.Seq, LastSeq: m.Seq, Reason: "pinned, and no room"})
			continue
		}
		room -= m.Weight.Tokens
		shown = append(shown, m)
	}
	slices.Reverse(excluded)
	slices.SortFunc(shown, func(a, b scrollback.Message) int { return cmp.Compare(a.Seq, b.Seq) })
	return append(shown, in.Live...), excluded
}

// dropInterrupted leaves out interrupted answers at the end of a log: a model would take a last
// word of its own as something to continue, and not answer.
func dropInterrupted(live []scrollback.Message) ([]scrollback.Message, []scrollback.Excluded) {
	var excluded []scrollback.Excluded
	for n := len(live); n > 0; n = len(live) {
		last := &live[n-1]
		if last.Role != scrollback.RoleAssistant || last.Status != scrollback.StatusInterrupted ||
			len(last.Parts.Calls()) > 0 {
			break
		}
		excluded = append(excluded, scrollback.Excluded{FirstSeq: last.Seq, LastSeq: last.Seq, Reason: "unfinished"})
		live = live[:n-1]
	}
	return live, excluded
}
