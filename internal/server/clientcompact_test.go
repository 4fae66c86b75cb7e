package server_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/local"
)

// clientCompactions is how often each client compacted a history in its recordings, with or without its ids.
var clientCompactions = map[string]int{"claude-code-2.1.332": 4, "codex-0.171.0": 7, "gemini-cli-0.61.0": 1,
	"opencode-1.18.33": 6, "pi-1.5.2": 8, "qwen-code-0.24.4": 1}

// checkCompactions holds conversations that their clients compacted against what is promised of that: the client's
// summary is that of a segment and no message, what it hides is found by its ref, and it can be undone.
func checkCompactions(t *testing.T, sb *local.Scrollback, client string) {
	t.Helper()
	v := sb.Engine.As(scrollback.Operator())
	found := 0
	for id := range versions(t, sb) {
		conv := scrollback.ConversationID(id)
		receipts, err := v.Receipts(t.Context(), conv, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range receipts {
			if r.SummaryBy == scrollback.SummaryClient && !r.Inherited {
				found++
				if r.Reason != scrollback.ReasonClient || len(r.Refs) == 0 {
					t.Errorf("a receipt for %q with %d refs", r.Reason, len(r.Refs))
				}
			}
		}
		if len(receipts) == 0 || receipts[0].SummaryBy != scrollback.SummaryClient || receipts[0].Inherited {
			continue // what a fork inherits is looked at where it was made, and undone there
		}
		checkCompacted(t, v, conv, receipts[0])
	}
	if found != clientCompactions[client] {
		t.Errorf("%d compactions of its own, and not %d", found, clientCompactions[client])
	}
}

func checkCompacted(t *testing.T, v *engine.View, id scrollback.ConversationID, r scrollback.Receipt) {
	t.Helper()
	ref := r.Refs[len(r.Refs)-1]
	shown := func() string {
		m, err := v.Context(t.Context(), id, engine.ContextRequest{Content: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range m.Items {
			if it.Kind == scrollback.KindSummary && it.Ref == ref {
				_, text, _ := strings.Cut(it.Parts.Text(), "\n") // behind the heading
				return strings.TrimSpace(text)
			}
		}
		return ""
	}
	none := int64(0)
	page, err := v.Turns().Page(t.Context(), id, scrollback.PageQuery{After: &none, Limit: scrollback.ListMax})
	if err != nil {
		t.Fatal(err)
	}
	summary := shown()
	if summary == "" {
		t.Errorf("%s: the client's summary is not sent", id)
	}
	for _, m := range page.Messages {
		if m.Seq > r.LastSeq && strings.Contains(m.Parts.Text(), summary) {
			t.Errorf("%s #%d: the client's summary is a message: %.80s", id, m.Seq, summary)
		}
	}
	hidden := page.Messages[r.FirstSeq-1].Parts.Text()
	hidden, _, _ = strings.Cut(hidden, "\n")
	behind, err := v.Recall().Grep(t.Context(), id, scrollback.GrepQuery{Ref: r.Refs[0],
		Pattern: regexp.QuoteMeta(hidden)})
	if err != nil || behind.Total == 0 {
		t.Errorf("%s: %q is not behind %s: %v", id, hidden, r.Refs[0], err)
	}
	undone, err := v.Uncompact(t.Context(), id, "")
	if err != nil || !undone.Undone {
		t.Fatal(undone, err)
	}
	if shown() != "" {
		t.Errorf("%s: the client's summary is sent although that is undone", id)
	}
}
