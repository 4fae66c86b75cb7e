package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/notebook"
	"github.com/scrollback-ai/scrollback/terminal"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transfer"
)

type notebookCmd struct {
	Run      notebookRunCmd      `cmd:"" help:"Run a cell; what came of it is written into the file."`
	Show     notebookShowCmd     `cmd:"" help:"List the cells, and the window of the next request."`
	New      notebookNewCmd      `cmd:"" help:"Make a notebook without cells."`
	Compress notebookCompressCmd `cmd:"" help:"Write a notebook beside this one that begins with a summary of it."`
}

type notebookNewCmd struct {
	File  string `arg:"" help:"File to make, whose name ends with .ipynb or .mtm."`
	Title string `help:"Title of the notebook. Default: the name of the file." placeholder:"TITLE"`
}

// Run implements the command.
func (c *notebookNewCmd) Run(g *globals) error {
	title := c.Title
	if title == "" {
		title = baseOf(c.File)
	}
	f, err := notebook.New(c.File, title)
	if err != nil {
		return err
	}
	return g.print(map[string]string{"file": f.Path}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, g.texts().Notebook.Made+"\n", terminal.Plain(f.Path))
		return err
	})
}

// baseOf is the name of a file without its folder and its ending.
func baseOf(name string) string {
	base := filepath.Base(name)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

type notebookShowCmd struct {
	File string `arg:"" help:"Notebook to show."`
}

// notebookShown is what show prints as JSON. Behind counts the messages that the conversation has
// after those of the cells, or is -1 if it is on another path.
type notebookShown struct {
	File         string                    `json:"file"`
	Title        string                    `json:"title"`
	Conversation scrollback.ConversationID `json:"conversation_id,omitempty"`
	Cells        []notebook.Row            `json:"cells"`
	Running      bool                      `json:"running"`
	Behind       int64                     `json:"behind"`
	Window       *scrollback.Manifest      `json:"window"`
}

// Run implements the command.
func (c *notebookShowCmd) Run(g *globals) error {
	f, err := notebook.Open(c.File)
	if err != nil {
		return err
	}
	if err := g.grant(false, f.Folder()); err != nil {
		return err
	}
	return g.kept(func(a *app) error {
		out := notebookShown{File: f.Path, Title: f.Tie().Title}
		t := &tied{g: g, app: a, file: f, p: g.printer()}
		if err := t.found(g.ctx); err != nil {
			return err
		}
		if t.conversation.ID != "" {
			if out.Running, err = t.takeBack(g.ctx); err != nil {
				return err
			}
			window, err := a.Context(g.ctx, t.conversation.ID)
			if err != nil {
				return err
			}
			out.Conversation, out.Window = t.conversation.ID, &window
			if out.Behind, err = t.behind(g.ctx); err != nil {
				return err
			}
		}
		out.Cells = f.Rows()
		return g.print(out, func(w io.Writer) error { return showNotebook(w, g.texts(), out) })
	})
}

// behind counts what the conversation has after the cells, or after those before the first
// stale one; -1 if it is on another path.
func (t *tied) behind(ctx context.Context) (int64, error) {
	cells := t.file.Cells()
	for _, n := range []int{len(cells), slices.IndexFunc(cells, func(c transcript.Cell) bool { return c.Stale })} {
		if n < 0 {
			break
		}
		is, err := t.Transfer.Follow(ctx, t.View, transfer.FollowRequest{Conversation: t.conversation.ID, Entries: notebook.Path(cells[:n]), Look: true})
		if err != nil || is.Entire && is.Behind >= 0 {
			return is.Behind, err
		}
	}
	return -1, nil
}

// showNotebook lists the cells of a notebook for people.
func showNotebook(w io.Writer, t terminal.Texts, n notebookShown) error {
	rows := [][]string{{"CELL", "ROLE", "TEXT", "SAID", "ANSWER", ""}}
	for _, c := range n.Cells {
		said, state := "", ""
		if c.Messages > 0 {
			said = strconv.Itoa(c.Messages)
		}
		if c.Calls > 0 {
			said += fmt.Sprintf(" (%s)", counted(c.Calls, "call", "calls"))
		}
		if c.Cut {
			state = "interrupted"
		}
		if c.Stale {
			state = strings.TrimSpace("stale " + state)
		}
		rows = append(rows, []string{strconv.Itoa(c.Cell), string(c.Role), terminal.Clip(c.Line, 50), said, terminal.Clip(c.Answer, 50), state})
	}
	if err := terminal.Table(w, rows, 0); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if n.Window == nil {
		_, err := fmt.Fprintln(w, t.Notebook.NotRun)
		return err
	}
	fmt.Fprintf(w, "conversation %s\n", n.Conversation)
	switch {
	case n.Running:
		fmt.Fprintln(w, t.Notebook.Running)
	case n.Behind < 0:
		fmt.Fprintln(w, t.Notebook.Away)
	case n.Behind > 0:
		fmt.Fprintf(w, t.Notebook.Behind+"\n", n.Behind)
	}
	return terminal.Context(w, *n.Window)
}

type notebookCompressCmd struct {
	File string `arg:"" help:"Notebook to compress."`
}

// Run implements the command.
func (c *notebookCompressCmd) Run(g *globals) error {
	f, err := notebook.Open(c.File)
	if err != nil {
		return err
	}
	if err := g.grant(false, f.Folder()); err != nil {
		return err
	}
	g.brief = true
	return g.with(func(a *app) error {
		t := &tied{g: g, app: a, file: f, p: g.printer()}
		if err := t.open(g.ctx); err != nil {
			return err
		}
		d, err := t.digest(g.ctx)
		if err != nil {
			return err
		}
		path, err := f.Compressed(d)
		if err != nil {
			return err
		}
		return g.print(map[string]any{"file": path, "conversation_id": d.Conversation, "refs": d.Refs}, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, g.texts().Notebook.Made+"\n", terminal.Plain(path))
			return err
		})
	})
}

// digest compacts the conversation of a notebook, all of whose cells are its path then, and
// says what is folded in it. Where the policy would fold nothing, as much as possible is
// folded, and that is undone at once: refs stay.
func (t *tied) digest(ctx context.Context) (notebook.Digest, error) {
	var d notebook.Digest
	is, err := t.follow(ctx, t.file.Cells())
	if err != nil {
		return d, err
	}
	if is.Seq == 0 {
		return d, scrollback.ParamErrorf("scrollback", "file", "there is nothing to compress: no cell of the notebook says anything")
	}
	least := t.g.shape()
	least.Compaction = map[string]float64{"keep_share": 0, "least_share": 0}
	var r scrollback.Receipt
	for i, q := range []engine.CompactRequest{{Overrides: t.g.shape(), Force: true}, {Overrides: least, Force: true}, {Clear: true}} {
		if r, err = t.Compact(ctx, t.conversation.ID, q); err == nil {
			d, err = t.folded(ctx)
		}
		if r.Result == scrollback.ResultCompacted && i > 0 {
			_, undone := t.Uncompact(context.WithoutCancel(ctx), t.conversation.ID, "")
			err = errors.Join(err, undone)
		}
		if err != nil || len(d.Refs) > 0 {
			return d, err
		}
	}
	return d, scrollback.Errorf(scrollback.Unavailable, "scrollback", "the notebook could not be compressed: %s", t.g.texts().Results[r.Result])
}

// folded is what stands for the folded messages of the conversation's window.
func (t *tied) folded(ctx context.Context) (notebook.Digest, error) {
	d := notebook.Digest{Conversation: t.conversation.ID}
	m, err := t.Context(ctx, d.Conversation)
	if err != nil {
		return d, err
	}
	var summaries []string
	last := int64(0)
	for _, x := range m.Excluded {
		if x.Ref == nil {
			continue
		}
		segments, err := t.Store.Segments(ctx, []scrollback.SegmentID{scrollback.SegmentID(strings.TrimPrefix(string(*x.Ref), scrollback.RefHistory+":"))})
		if err != nil {
			return d, err
		}
		d.Refs, last = append(d.Refs, *x.Ref), max(last, x.LastSeq)
		for _, s := range segments {
			summaries = append(summaries, s.Summary)
		}
	}
	d.Summary = strings.Join(summaries, "\n\n")
	for _, err := range t.Transfer.Since(ctx, t.View, d.Conversation, last) {
		if err != nil {
			return d, err
		}
		d.Live++
	}
	return d, nil
}
