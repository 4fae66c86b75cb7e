package gather

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/collect"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/internal/transfer"
)

// maxNamed is how many bad lines are named.
const maxNamed = 20

// ShowImported prints what an import added, and on standard error which lines were bad.
func (p Program) ShowImported(w io.Writer, out transfer.ImportResult) error {
	errs := p.Stderr
	for _, b := range out.Skipped[:min(len(out.Skipped), maxNamed)] {
		fmt.Fprintln(errs, p.Texts.Say(i18n.ImportLineSkipped, b.Line, columns.ClipText(p.Texts.Reason(b.Reason), 200)))
	}
	if more := len(out.Skipped) + out.MoreSkipped - maxNamed; more > 0 {
		fmt.Fprintln(errs, p.Texts.Say(i18n.ImportAndMore, columns.FormatThousands(int64(more))))
	}
	if out.Unsealed {
		fmt.Fprintln(errs, p.Texts.Say(i18n.ImportUnsealed))
	}
	for _, c := range out.Conversations {
		line := p.Texts.Say(i18n.ImportedLine, c.ID, columns.FormatThousands(c.Messages), columns.FormatThousands(c.Total))
		if c.Result != "" {
			line += "  " + c.Result
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	if a := out.Asked; a != nil {
		if _, err := fmt.Fprintln(w, p.Texts.Say(i18n.ImportAskedModels,
			p.Texts.Count(int64(a.Calls), i18n.CountOneCall, i18n.CountCalls),
			p.Texts.Count(int64(a.Summaries), i18n.CountOneSummary, i18n.CountSummaries),
			strconv.FormatFloat(a.Cost, 'f', -1, 64))); err != nil {
			return err
		}
	}
	for _, old := range slices.Sorted(maps.Keys(out.IDs)) {
		if _, err := fmt.Fprintf(w, "%s → %s\n", old, out.IDs[old]); err != nil {
			return err
		}
	}
	return nil
}

// withoutRepeats leaves out lines whose reason the failure of their whole session has named.
func withoutRepeats(all []collect.Problem) (out []collect.Problem) {
	whole := map[[2]string]string{}
	for _, b := range all {
		if b.Line == 0 {
			whole[[2]string{b.Place, b.Session}] += b.Reason + "\n"
		}
	}
	for _, b := range all {
		if b.Line == 0 || !strings.Contains(whole[[2]string{b.Place, b.Session}],
			fmt.Sprintf("line %d: %s\n", b.Line, b.Reason)) {
			out = append(out, b)
		}
	}
	return out
}

// progressSteps draw how far an import has come on a terminal.
func progressSteps(t words.Texts, f *os.File) (step func(collect.Step), wipe func()) {
	draw, wipe := terminal.DrawProgress(t, f)
	return func(s collect.Step) {
		what := t.Say(i18n.ImportProgress, s.Tool, columns.FormatThousands(int64(s.Sessions)),
			columns.FormatThousands(int64(s.Of)))
		draw(what, s.Bytes>>10, max(s.OfBytes>>10, 1))
	}, wipe
}

// showFile prints what came of one file, as an import of it alone does.
func (p Program) showFile(ch collect.Change) error {
	name := columns.StripControls(ch.Session)
	if ch.Err != nil {
		_, err := fmt.Fprintf(p.Stderr, "%s: %s\n", name, columns.StripControls(p.Explain(ch.Err)))
		return err
	}
	if _, err := fmt.Fprintln(p.Stdout, name); err != nil {
		return err
	}
	return p.ShowImported(p.Stdout, ch.ImportResult)
}

// showFound prints what was found of each tool, and what could not be read.
func (p Program) showFound(w io.Writer, r collect.Report) error {
	messages := i18n.ColumnNewMessages
	if r.DryRun {
		messages = i18n.ColumnImportedMessages
	}
	rows := [][]string{p.Texts.Head(i18n.ColumnTool, i18n.ColumnSessions, i18n.ColumnNew, i18n.ColumnUpdated,
		i18n.ColumnHere, i18n.ColumnImportedConversations, messages, i18n.ColumnSize)}
	number := func(n int) string { return columns.FormatThousands(int64(n)) }
	for _, f := range r.Tools {
		rows = append(rows, []string{f.Tool, number(f.Sessions), number(f.New), number(f.Changed), number(f.Unchanged),
			number(f.Conversations),
			columns.FormatThousands(f.Messages), formatSize(f.Bytes)})
	}
	if len(r.Tools) > 0 {
		if err := columns.WriteTable(w, rows, 1, 2, 3, 4, 5, 6, 7); err != nil {
			return err
		}
	}
	for _, f := range r.Tools {
		if notes := listNotes(p.Texts, f); len(notes) > 0 {
			fmt.Fprintln(w, p.Texts.Say(i18n.ImportToolNotes, f.Tool, strings.Join(notes, p.Texts.Say(i18n.ImportBetween))))
		}
		problems := withoutRepeats(f.Problems)
		for _, b := range problems[:min(len(problems), maxNamed)] {
			where := columns.StripControls(filepath.Join(b.Place, filepath.FromSlash(b.Session)))
			if b.Line > 0 {
				where = p.Texts.Say(i18n.ImportAtLine, where, b.Line)
			}
			fmt.Fprintln(p.Stderr, p.Texts.Say(i18n.ImportProblem, f.Tool, where,
				columns.ClipText(p.Texts.Reason(b.Reason), 300)))
		}
		if more := len(problems) + f.MoreProblems - maxNamed; more > 0 {
			fmt.Fprintln(p.Stderr, p.Texts.Say(i18n.ImportToolMore, f.Tool, columns.FormatThousands(int64(more))))
		}
	}
	if r.DryRun {
		_, err := fmt.Fprintln(w, p.Texts.Say(i18n.ImportDryRun))
		return err
	}
	return nil
}
