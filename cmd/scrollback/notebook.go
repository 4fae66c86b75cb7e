package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/tied"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/notebook"
	"github.com/scrollback-ai/scrollback/terminal/columns"
)

type notebookCmd struct {
	Run      notebookRunCmd      `cmd:"" help:"run-cell"`
	Show     notebookShowCmd     `cmd:"" default:"withargs" help:"list-cells-window-next-request"`
	New      notebookNewCmd      `cmd:"" help:"make-notebook-without-cells"`
	Compress notebookCompressCmd `cmd:"" help:"write-notebook-beside-one-begins-summary"`
}

type notebookNewCmd struct {
	File  string `arg:"" help:"file-make-whose-name-ends-ipynb-or"`
	Title string `help:"title-notebook" placeholder:"TITLE"`
}

// Run implements the command.
func (c *notebookNewCmd) Run(g *globals) error {
	f, err := notebook.New(c.File, c.Title)
	if err != nil {
		return err
	}
	return g.wrote(f.Path, map[string]string{"file": f.Path})
}

// notebook opens a notebook, and grants the folder that it is in unless others are.
func (g *globals) notebook(name string) (*notebook.File, error) {
	f, err := notebook.Open(name)
	if err == nil {
		err = g.grant(false, f.Folder())
	}
	return f, err
}

// wrote prints which file was written.
func (g *globals) wrote(path string, v any) error {
	return g.print(v, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, g.texts().Say(i18n.NotebookMade, columns.Plain(path)))
		return err
	})
}

// tied is a notebook as the flags have it run.
func (g *globals) tied(a *app, f *notebook.File) *tied.Notebook {
	return tied.New(a.Scrollback, f, tied.Options{Printer: g.printer(), Overrides: g.shape(), Roots: g.roots})
}

type notebookShowCmd struct {
	File string `arg:"" help:"notebook-show"`
}

// Run implements the command.
func (c *notebookShowCmd) Run(g *globals) error {
	f, err := g.notebook(c.File)
	if err != nil {
		return err
	}
	return g.kept(func(a *app) error {
		shown, err := g.tied(a, f).Show(g.ctx)
		if err != nil {
			return err
		}
		return g.print(shown, func(w io.Writer) error { return shown.Write(w, g.texts()) })
	})
}

type notebookCompressCmd struct {
	File string `arg:"" help:"notebook-compress"`
}

// Run implements the command.
func (c *notebookCompressCmd) Run(g *globals) error {
	f, err := g.notebook(c.File)
	if err != nil {
		return err
	}
	release, err := f.Lock()
	if err != nil {
		return err
	}
	defer release()
	g.brief = true
	g.attended = true
	return g.with(func(a *app) error {
		t := g.tied(a, f)
		if err := t.Open(g.ctx); err != nil {
			return err
		}
		d, err := t.Digest(g.ctx)
		if err != nil {
			return err
		}
		path, err := f.Compressed(d)
		if err != nil {
			return err
		}
		return g.wrote(path, map[string]any{"file": path, "conversation_id": d.Conversation, "refs": d.Refs})
	})
}

type notebookRunCmd struct {
	agentsFlag
	File   string `arg:"" help:"notebook"`
	Prompt string `arg:"" optional:"" help:"what-ask-new-cell-cell-new"`
	Cell   string `help:"cell-run" placeholder:"N|last|all|new"`
}

// Run implements the command.
func (c *notebookRunCmd) Run(g *globals) (err error) {
	f, err := g.notebook(c.File)
	if err != nil {
		return err
	}
	if c.Prompt == "-" || c.Prompt == "" && c.Cell == "new" {
		if c.Prompt, err = g.prompt(); err != nil {
			return err
		}
		c.Cell = cmp.Or(c.Cell, "new")
	}
	release, err := f.Lock()
	if err != nil {
		return err
	}
	defer release()
	cells, err := f.Wanted(c.Cell, c.Prompt)
	if err != nil {
		return err
	}
	g.brief = true
	g.attended = true
	c.allow(g)
	return g.with(func(a *app) error {
		if err := a.Limits().Check(scrollback.Say(c.Prompt)); c.Prompt != "" && err != nil {
			return err
		}
		t := g.tied(a, f)
		p := g.printer()
		err := t.Open(g.ctx)
		if err == nil {
			err = c.give(g, a, t.Conversation.ID)
		}
		if err != nil {
			return err
		}
		err = t.RunAll(g.ctx, cells, c.Prompt)
		release() // a compaction behind the last turn changes nothing in the file
		p.Note("%s", p.Texts.Say(i18n.RunConversation, t.Conversation.ID))
		if err == nil {
			a.settle(g.ctx, g.set.SummaryTimeout, func() { p.Note("%s", p.Texts.Say(i18n.ChatCompacting)) })
		}
		return err
	})
}
