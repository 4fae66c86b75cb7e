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

	"github.com/scrollback-ai/scrollback/collect"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/terminal"
	"github.com/scrollback-ai/scrollback/terminal/columns"
	"github.com/scrollback-ai/scrollback/transfer"
)

// maxNamed is how many bad lines are named.
const maxNamed = 20

// Imported prints what an import added, and on standard error which lines were bad.
func (p Program) Imported(w io.Writer, out transfer.ImportResult) error {
	errs := p.Stderr
	for _, b := range out.Skipped[:min(len(out.Skipped), maxNamed)] {
		fmt.Fprintln(errs, p.Texts.Say(i18n.ImportLineSkipped, b.Line, columns.Clip(p.Texts.Reason(b.Reason), 200)))
	}
	if more := len(out.Skipped) + out.MoreSkipped - maxNamed; more > 0 {
		fmt.Fprintln(errs, p.Texts.Say(i18n.ImportAndMore, columns.Thousands(int64(more))))
	}
	if out.Unsealed {
		fmt.Fprintln(errs, p.Texts.Say(i18n.ImportUnsealed))
	}
	for _, c := range out.Conversations {
		line := fmt.Sprintf("%s  %s new, %s in all", c.ID, columns.Thousands(c.Messages), columns.Thousands(c.Total))
		if c.Result != "" {
			line += "  " + c.Result
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	if a := out.Asked; a != nil {
		if _, err := fmt.Fprintf(w, "models were asked for summaries in %s, and %s could be used; cost %s\n",
			counted(a.Calls, "call", "calls"),
			counted(a.Summaries, "summary", "summaries"), strconv.FormatFloat(a.Cost, 'f', -1, 64)); err != nil {
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

// counted is a number and what it counts.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return columns.Thousands(int64(n)) + " " + many
}

// steps draw how far an import has come on a terminal.
func steps(f *os.File) (step func(collect.Step), wipe func()) {
	draw, wipe := terminal.Progress(f)
	return func(s collect.Step) {
		what := fmt.Sprintf("KiB of %s, %s of %s sessions", s.Tool, columns.Thousands(int64(s.Sessions)),
			columns.Thousands(int64(s.Of)))
		draw(what, s.Bytes>>10, max(s.OfBytes>>10, 1))
	}, wipe
}

// file prints what came of one file, as an import of it alone does.
func (p Program) file(ch collect.Change) error {
	name := columns.Plain(ch.Session)
	if ch.Err != nil {
		_, err := fmt.Fprintf(p.Stderr, "%s: %s\n", name, columns.Plain(p.Explain(ch.Err)))
		return err
	}
	if _, err := fmt.Fprintln(p.Stdout, name); err != nil {
		return err
	}
	return p.Imported(p.Stdout, ch.ImportResult)
}

// found prints what was found of each tool, and what could not be read.
func (p Program) found(w io.Writer, r collect.Report) error {
	messages := "new messages"
	if r.DryRun {
		messages = "messages"
	}
	rows := [][]string{{"tool", "sessions", "new", "changed", "here", "conversations", messages, "size"}}
	number := func(n int) string { return columns.Thousands(int64(n)) }
	for _, f := range r.Tools {
		rows = append(rows, []string{f.Tool, number(f.Sessions), number(f.New), number(f.Changed), number(f.Unchanged),
			number(f.Conversations),
			columns.Thousands(f.Messages), sizeOf(f.Bytes)})
	}
	if len(r.Tools) > 0 {
		if err := columns.Table(w, rows, 1, 2, 3, 4, 5, 6, 7); err != nil {
			return err
		}
	}
	for _, f := range r.Tools {
		if notes := notesOf(f); len(notes) > 0 {
			fmt.Fprintf(w, "%s: %s\n", f.Tool, strings.Join(notes, "; "))
		}
		problems := withoutRepeats(f.Problems)
		for _, b := range problems[:min(len(problems), maxNamed)] {
			where := columns.Plain(filepath.Join(b.Place, filepath.FromSlash(b.Session)))
			if b.Line > 0 {
				where = p.Texts.Say(i18n.ImportAtLine, where, b.Line)
			}
			fmt.Fprintln(p.Stderr, p.Texts.Say(i18n.ImportProblem, f.Tool, where, columns.Clip(p.Texts.Reason(b.Reason), 300)))
		}
		if more := len(problems) + f.MoreProblems - maxNamed; more > 0 {
			fmt.Fprintln(p.Stderr, p.Texts.Say(i18n.ImportToolMore, f.Tool, columns.Thousands(int64(more))))
		}
	}
	if r.DryRun {
		_, err := fmt.Fprintln(w, "Nothing was imported: this is what an import would read.")
		return err
	}
	return nil
}
