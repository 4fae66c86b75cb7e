package terminal

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

// WriteContext draws a window: what each layer weighs, as a bar and in tokens, what it
// shows, and what is behind refs. Empty layers are left out.
func WriteContext(w io.Writer, t words.Texts, m scrollback.Manifest) error {
	share := func(tokens int64) string { return fmt.Sprintf("%d %%", tokens*100/max(m.Budget, 1)) }
	fmt.Fprintln(w, t.Say(i18n.WindowHead, columns.StripControls(m.Model), m.Policy, columns.FormatThousands(m.Limit),
		t.Named("window-limit", string(m.LimitFrom))))
	fmt.Fprint(w, t.Say(i18n.WindowUsed, columns.FormatThousands(m.Tokens), columns.FormatThousands(m.Budget),
		share(m.Tokens),
		100*m.CacheReuse), "\n\n")
	for _, from := range m.Inherited {
		fmt.Fprint(w, t.Say(i18n.WindowFrom, columns.StripControls(from.From), columns.FormatThousands(from.Tokens),
			cmp.Or(strings.Join(from.Settings, ", "), t.Say(i18n.WindowNoSettings))), "\n\n")
	}
	for _, k := range m.KeptApart {
		fmt.Fprint(w, t.Say(i18n.WindowKeptApart, k.Sentences, columns.StripControls(string(k.Ref))), "\n\n")
	}
	const width = 40
	bar := func(tokens int64, cell string) string {
		n := tokens * width / max(m.Budget, 1)
		if tokens > 0 {
			n = max(n, 1)
		}
		return strings.Repeat(cell, int(min(n, width)))
	}
	var rows [][]string
	for _, l := range m.Layers {
		if l.Tokens > 0 {
			rows = append(rows, []string{t.Named("window-layer", string(l.Name)), columns.FormatThousands(l.Tokens),
				share(l.Tokens),
				bar(l.Tokens, "█"), describeLayer(t, l, m.Excluded)})
		}
	}
	free := max(m.Budget-m.Tokens, 0)
	rows = append(rows, []string{t.Say(i18n.WindowFree), columns.FormatThousands(free), share(free), bar(free, "·"), ""})
	if err := columns.WriteTable(w, rows, 1, 2); err != nil {
		return err
	}
	if err := writeReferences(w, t, m); err != nil || len(m.Excluded) == 0 {
		return err
	}
	fmt.Fprintln(w)
	rows = nil
	for _, x := range m.Excluded {
		ref := ""
		if x.Ref != nil {
			ref = string(*x.Ref)
		}
		rows = append(rows, []string{formatSpan(x.FirstSeq, x.LastSeq), t.Named("window-reason", x.Reason), ref})
	}
	return columns.WriteTable(w, rows)
}

// writeReferences lists what the messages of a window refer to.
func writeReferences(w io.Writer, t words.Texts, m scrollback.Manifest) error {
	var rows [][]string
	for _, l := range m.Layers {
		for _, it := range l.Items {
			for _, r := range it.References {
				how := t.Reference(r.Error)
				if r.Version > 0 {
					how = t.Say(i18n.WindowVersion, r.Version)
				}
				if r.SameAs > 0 {
					how = t.Say(i18n.WindowSame, r.Version, r.SameAs)
				}
				rows = append(rows, []string{fmt.Sprintf("#%d", it.Seq), columns.ClipText(r.Source, 60),
					columns.FormatThousands(r.Tokens),
					columns.ClipText(how, 80)})
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return columns.WriteTable(w, rows, 2)
}

// describeLayer says in a few words what a layer shows: messages by their seqs, those that
// are compacted and still shown first, and how many placeholders there are.
func describeLayer(t words.Texts, l scrollback.ManifestLayer, excluded []scrollback.Excluded) string {
	var behind, first, last, kept, placeholders int64
	for _, x := range excluded {
		if x.Ref != nil {
			behind = max(behind, x.LastSeq)
		}
	}
	var said []string
	for _, it := range l.Items {
		switch {
		case it.Kind == scrollback.KindPlaceholder:
			placeholders++
		case it.Kind == scrollback.KindSummary:
			said = append(said, formatSpan(it.Seq, it.LastSeq))
		case it.Seq > 0 && it.Seq <= behind:
			if kept++; kept <= keptNamed {
				said = append(said, fmt.Sprintf("#%d", it.Seq))
			}
		case it.Seq > 0:
			first = cmp.Or(first, it.Seq)
			last = it.Seq
		}
	}
	if kept > keptNamed {
		said = append(said, "…")
	}
	if last > 0 {
		said = append(said, formatSpan(first, last))
	}
	if placeholders > 0 {
		said = append(said, t.Say(i18n.WindowBehind, behind, placeholders))
	}
	return strings.Join(said, " ")
}

// keptNamed is how many messages that are compacted and still shown are named.
const keptNamed = 5

// formatSpan returns a run of messages.
func formatSpan(first, last int64) string {
	if first == last {
		return fmt.Sprintf("#%d", first)
	}
	return fmt.Sprintf("#%d–#%d", first, last)
}

// WriteReceipt writes what a compaction did.
func WriteReceipt(w io.Writer, t words.Texts, r scrollback.Receipt) error {
	if r.Result != scrollback.ResultCompacted {
		_, err := fmt.Fprintln(w, t.Say(i18n.ChatUnchanged, cmp.Or(t.Why(r), t.Result(r.Result))))
		return err
	}
	fmt.Fprintln(w, t.Say(i18n.ReceiptTokens, r.FirstSeq, r.LastSeq, columns.FormatThousands(r.TokensBefore),
		columns.FormatThousands(r.TokensAfter)))
	if why := t.Extracted(r); why != "" {
		fmt.Fprintln(w, why)
	}
	for _, ref := range r.Refs {
		fmt.Fprintln(w, ref)
	}
	return nil
}

// WriteReceipts lists compactions, newest first: when, what, from how many tokens to how
// many, and who wrote the summary. Times are in a zone.
func WriteReceipts(w io.Writer, t words.Texts, rs []scrollback.Receipt, zone *time.Location) error {
	if len(rs) == 0 {
		_, err := fmt.Fprintln(w, t.Say(i18n.ChatNoReceipts))
		return err
	}
	var rows [][]string
	for _, r := range rs {
		span := ""
		change := ""
		by := ""
		if r.Result == scrollback.ResultCompacted {
			span = fmt.Sprintf("#%d–#%d", r.FirstSeq, r.LastSeq)
			change = columns.FormatThousands(r.TokensBefore) + " → " + columns.FormatThousands(r.TokensAfter)
			by = t.Named("summary-by", r.SummaryBy)
		}
		switch {
		case r.Cleared:
			by += t.Say(i18n.ReceiptBetween) + t.Say(i18n.ChatCleared)
		case r.SummaryResult != "":
			by += t.Say(i18n.ReceiptBetween) + t.Why(r)
		case r.Checked:
			by += t.Say(i18n.ReceiptBetween) + t.Say(i18n.ChatChecked)
		}
		result := t.Result(r.Result)
		if r.Undone {
			result = t.Say(i18n.ChatUndone)
		}
		if r.Inherited {
			result += t.Say(i18n.ReceiptBetween) + t.Say(i18n.ChatInherited)
		}
		rows = append(rows, []string{columns.FormatTime(r.CreatedAt, zone), result, span, change, columns.StripControls(by)})
	}
	return columns.WriteTable(w, rows, 3)
}

// WritePinned lists pinned messages.
func WritePinned(w io.Writer, t words.Texts, ms []scrollback.Message) error {
	if len(ms) == 0 {
		_, err := fmt.Fprintln(w, t.Say(i18n.ChatNoPins))
		return err
	}
	var rows [][]string
	for _, m := range ms {
		rows = append(rows, []string{fmt.Sprintf("#%d", m.Seq), t.Named("role", string(m.Role)),
			columns.ClipText(m.Parts.Text(), 100)})
	}
	return columns.WriteTable(w, rows)
}
