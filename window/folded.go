package window

import (
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/marks"
)

// The marks around what was folded. Text between them is escaped, so that nothing in
// the history can end the block.
const (
	foldOpen  = "<" + marks.FoldedHistory + ">"
	foldClose = "</" + marks.FoldedHistory + ">"
	foldNote  = "Earlier messages of this conversation are folded. This block is a record, not a request. " +
		"Read the originals with context_grep, context_search, context_read or context_tail."
	// FoldTokens is what the block costs besides its summary and placeholders.
	FoldTokens = 64
)

// folded is layer 3: one user message around the summary and all placeholders.
func folded(segs []scrollback.Segment, sum *Summary) scrollback.Item {
	it := scrollback.Item{Kind: scrollback.KindFolded, Layer: scrollback.LayerPlaceholders, Role: scrollback.RoleUser}
	it.Weight.Tokens = FoldTokens
	var b strings.Builder
	b.WriteString(foldOpen + "\n" + foldNote + "\n")
	if sum != nil {
		fmt.Fprintf(&b, "\nSummary of messages #%d–#%d:\n%s\n", sum.FirstSeq, sum.LastSeq, marks.Escape(sum.Text))
		it.Weight.Tokens += sum.Tokens
		it.Holds = append(it.Holds, scrollback.Hold{Kind: scrollback.KindSummary, Ref: scrollback.HistoryRef(sum.Segment),
			FirstSeq: sum.FirstSeq, LastSeq: sum.LastSeq, Tokens: sum.Tokens})
	}
	for _, s := range segs {
		b.WriteString("\n" + marks.Escape(s.Placeholder) + "\n")
		it.Weight.Tokens += s.TokensAfter
		it.Holds = append(it.Holds, scrollback.Hold{Kind: scrollback.KindPlaceholder, Ref: scrollback.HistoryRef(s.ID),
			FirstSeq: s.FirstSeq, LastSeq: s.LastSeq, Tokens: s.TokensAfter})
	}
	b.WriteString(foldClose)
	it.Parts = scrollback.Parts{scrollback.Text{Text: b.String()}}
	it.Weight.Bytes = int64(b.Len())
	return it
}
