package compact

import (
	"cmp"
	"strings"

	"github.com/scrollback-ai/scrollback"
	short "github.com/scrollback-ai/scrollback/internal/clip"
	"github.com/scrollback-ai/scrollback/window"
)

// describeOccasion returns why a compaction of a window is made, as its receipt says it.
func describeOccasion(in *Input, w scrollback.Window) string {
	b := in.Window.Budget
	share := in.Policy.TriggerShare
	switch {
	case in.Reason == Forced:
		return scrollback.ReasonByHand
	case in.Reason == Everything:
		return scrollback.ReasonCleared
	case in.Reason == Replaced:
		return scrollback.ReasonClient
	case in.Occasion != "":
		return in.Occasion
	case in.Reason == MustFit:
		share = 1
	}
	over := w.Weight
	switch {
	case window.Reaches(over.Tokens, b.Tokens, share), in.More,
		in.Policy.TriggerLimitShare > 0 && window.Reaches(over.Tokens, b.Limit, in.Policy.TriggerLimitShare):
		return scrollback.ReasonWindow
	case window.Reaches(over.Images, b.Images, share):
		return scrollback.ReasonImages
	case window.Reaches(over.Bytes, b.Bytes, share):
		return scrollback.ReasonBytes
	}
	return scrollback.ReasonMessages
}

// Bounds of what a receipt says of the lines that stayed.
const (
	tradeLines = 12
	tradeRunes = 200
)

// AddTrade adds to a receipt what was folded, what stands for it, and what stayed in words, by
// the segments that it made; those that are missing are left out.
func AddTrade(r *scrollback.Receipt, made []scrollback.Segment, count func(string) int, modelTokens func(int64) int64) {
	var folded, cards int64
	var cardLines, summaryLines []string
	r.Messages = 0
	r.Lines = nil
	for i := range made {
		s := &made[i]
		if len(s.Children) > 0 {
			continue
		}
		r.Messages += s.Messages
		folded += s.TokensBefore
		cards += s.TokensAfter
		if _, body, ok := strings.Cut(s.Placeholder, "\n"); ok {
			cardLines = append(cardLines, spokenLines(body)...)
		}
		if s.PromptVersion != 0 {
			cards += int64(count(s.Summary))
			summaryLines = spokenLines(s.Summary)
		}
	}
	r.FoldedTokens = modelTokens(folded)
	r.CardTokens = modelTokens(cards)
	for _, l := range append(summaryLines, cardLines...) {
		if len(r.Lines) == tradeLines {
			break
		}
		r.Lines = append(r.Lines, l)
	}
}

// spokenLines returns the lines of a text that are neither empty nor headings.
func spokenLines(text string) (out []string) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(cmp.Or(strings.TrimPrefix(line, "- "), line))
		if line == "" || strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## ") {
			continue
		}
		out = append(out, short.ClipLine(line, tradeRunes))
	}
	return out
}
