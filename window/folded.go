package window

import (
	"fmt"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// The marks around what was folded. Text between them is escaped, so that nothing in
// the history can end the block.
const (
	foldOpen  = "<folded_history>"
	foldClose = "</folded_history>"
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
		fmt.Fprintf(&b, "\n%s\n%s\n", sum.heading(), escape(sum.Text))
		it.Weight.Tokens += sum.Tokens
		it.Holds = append(it.Holds, scrollback.Hold{Kind: scrollback.KindSummary, Ref: scrollback.HistoryRef(sum.Segment),
			FirstSeq: sum.FirstSeq, LastSeq: sum.LastSeq, Tokens: sum.Tokens})
	}
	for _, s := range segs {
		b.WriteString("\n" + escape(s.Placeholder) + "\n")
		it.Weight.Tokens += s.TokensAfter
		it.Holds = append(it.Holds, scrollback.Hold{Kind: scrollback.KindPlaceholder, Ref: scrollback.HistoryRef(s.ID),
			FirstSeq: s.FirstSeq, LastSeq: s.LastSeq, Tokens: s.TokensAfter})
	}
	b.WriteString(foldClose)
	it.Parts = scrollback.Parts{scrollback.Text{Text: b.String()}}
	it.Weight.Bytes = int64(b.Len())
	return it
}

// heading says what the text of a summary is, and of which messages.
func (s *Summary) heading() string {
	if s.MinutesEnd == 0 {
		return fmt.Sprintf("Said in messages #%d–#%d, word for word:", s.FirstSeq, s.LastSeq)
	}
	return fmt.Sprintf("Summary of messages #%d–#%d:", s.FirstSeq, s.MinutesEnd)
}

// escape keeps text from looking like a mark of the block.
func escape(s string) string {
	return strings.NewReplacer("<folded_history", "<\u200bfolded_history", "</folded_history", "<\u200b/folded_history").Replace(s)
}
