package intake

import (
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/window"
)

// Room is how much of a window incoming content may take, in o200k tokens.
type Room struct {
	Budget int64 // of the whole request
	Fixed  int64 // instructions, tools, environment, and pinned messages at their most
	Asked  int64 // the question that outputs must fit beside, and its calls

	Calls []scrollback.ToolCall // recent ones, to which results may belong
}

// nameCall returns the tool of a call, by its id; of several the newest. It is empty for an unknown one.
func (r Room) nameCall(id string) string {
	for _, c := range slices.Backward(r.Calls) {
		if c.ID == id {
			return c.Name
		}
	}
	return ""
}

// leftTokens returns how many tokens of the budget remain for what must be in the window beside
// the fixed layers and the folded past at its biggest, when some are taken.
func (r Room) leftTokens(taken int64) int64 {
	return r.Budget*3/4 - window.FoldTokens - r.Fixed - taken
}

// outputsLeast is the share of the budget that outputs may always take together.
const outputsLeast = 16

// OutputTokens returns how many tokens the outputs of tools may take beside the question that
// they are for.
func (r Room) OutputTokens() int64 { return max(r.Budget/outputsLeast, r.leftTokens(r.Asked)) }

// textRoom returns how many tokens the texts of a user's message may take: half of the
// budget, or in a small window what the fixed layers, the folded past at its biggest and
// the message's images leave of it.
func (a *admission) textRoom(ps scrollback.Parts) int64 {
	rest := a.room.leftTokens(0)
	for _, p := range ps {
		t, _ := p.(scrollback.Text)
		if _, image := p.(scrollback.Image); image || t.IsRecall() {
			rest -= a.store.WeighParts(scrollback.Parts{p}, a.out.Counted).Tokens
		}
	}
	return max(a.room.Budget/shortShare, min(a.room.Budget/2, rest))
}

// longTexts returns which texts of a user's message have to go behind artifacts: the longest
// ones, as long as all of them together exceed the room. room is what remains of each, in
// tokens.
func (a *admission) longTexts(m scrollback.Message) (long map[int]bool, room int64) {
	weights := map[int]int64{}
	var total, bytes int64
	for i, p := range m.Parts {
		if t, ok := p.(scrollback.Text); ok && !t.IsRecall() { // whose bounds are their own
			weights[i] = int64(len(t.Text))
			bytes += weights[i]
		}
	}
	most := a.textRoom(m.Parts)
	if bytes <= most { // a token has at least a byte
		return nil, 0
	}
	for i := range weights {
		weights[i] = a.store.WeighParts(scrollback.Parts{m.Parts[i]}, a.out.Counted).Tokens
		total += weights[i]
	}
	long = map[int]bool{}
	for total > most && len(weights) > 0 {
		i := longestPart(weights)
		long[i] = true
		total -= weights[i]
		delete(weights, i)
	}
	return long, a.room.Budget / shortShare / max(1, countRuns(m.Parts, long))
}

// longestPart returns the heaviest part, the first of equals.
func longestPart(weights map[int]int64) int {
	best := -1
	for i, w := range weights {
		if best < 0 || w > weights[best] || w == weights[best] && i < best {
			best = i
		}
	}
	return best
}

// resultsShare is the share of the budget that the outputs of one message may take
// together: those requested at once stay together in the window.
const resultsShare = 3

// leastShortened is the weight in tokens from which an output can become shorter by
// going behind an artifact.
const leastShortened = 200

// longResults returns which tool outputs have to go behind artifacts: each one that is
// too long by itself, and the longest ones as long as all of them together are too long.
// room is what remains of each, in tokens.
func (a *admission) longResults(m scrollback.Message) (long map[int]bool, room int64) {
	limit := min(outputBytes, max(outputFloor, int(a.room.Budget/10*bytesPerUnit)))
	share := min(a.room.Budget/resultsShare, a.room.OutputTokens())
	var total int64
	long = map[int]bool{}
	weights := map[int]int64{}
	for i, p := range m.Parts {
		r, ok := p.(scrollback.ToolResult)
		switch {
		case !ok || r.Artifact != "" || r.Recall && strings.HasPrefix(r.Name, scrollback.RecallPrefix):
		case len(r.Text) > limit:
			long[i] = true
		default:
			weights[i] = int64(len(r.Text)) // a token has at least a byte
			total += weights[i]
		}
	}
	if len(long) == 0 && total <= share {
		return nil, 0
	}
	total = 0
	for i := range weights {
		weights[i] = a.store.WeighParts(scrollback.Parts{m.Parts[i]}, a.out.Counted).Tokens
		total += weights[i]
	}
	for len(weights) > 0 && (total > share || len(long) > 0 && total > share/2) {
		i := longestPart(weights)
		if weights[i] < leastShortened {
			break
		}
		long[i] = true
		total -= weights[i]
		delete(weights, i)
	}
	return long, max(0, share-total) / max(1, int64(len(long)))
}
