package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/tied"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/notebook"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
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
	return g.printWritten(f.Path, map[string]string{"file": f.Path})
}

// openNotebook opens a notebook, and grants the folder that it is in unless others are.
func (g *globals) openNotebook(name string) (*notebook.File, error) {
	f, err := notebook.Open(name)
	if err == nil {
		err = g.grantFolders(false, f.Folder())
	}
	return f, err
}

// printWritten prints which file was written.
func (g *globals) printWritten(path string, v any) error {
	return g.printResult(v, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, g.localeTexts().Say(i18n.NotebookMade, columns.StripControls(path)))
		return err
	})
}

// tieNotebook returns a notebook as the flags have it run.
func (g *globals) tieNotebook(a *app, f *notebook.File) *tied.Notebook {
	return tied.New(a.Scrollback, f, tied.Options{Printer: g.turnPrinter(), Overrides: g.turnOverrides(), Roots: g.roots})
}

type notebookShowCmd struct {
	File string `arg:"" help:"notebook-show"`
}

// Run implements the command.
func (c *notebookShowCmd) Run(g *globals) error {
	f, err := g.openNotebook(c.File)
	if err != nil {
		return err
	}
	return g.withExisting(func(a *app) error {
		shown, err := g.tieNotebook(a, f).Show(g.ctx)
		if err != nil {
			return err
		}
		return g.printResult(shown, func(w io.Writer) error { return shown.Write(w, g.localeTexts()) })
	})
}

type notebookCompressCmd struct {
	File string `arg:"" help:"notebook-compress"`
}

// Run implements the command.
func (c *notebookCompressCmd) Run(g *globals) error {
	f, err := g.openNotebook(c.File)
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
	return g.withApp(func(a *app) error {
		t := g.tieNotebook(a, f)
		if err := t.Open(g.ctx); err != nil {
			return err
		}
		d, err := t.MakeDigest(g.ctx)
		if err != nil {
			return err
		}
		path, err := f.WriteCompressed(d)
		if err != nil {
			return err
		}
		return g.printWritten(path, map[string]any{"file": path, "conversation_id": d.Conversation, "refs": d.Refs})
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
	f, err := g.openNotebook(c.File)
	if err != nil {
		return err
	}
	if c.Prompt == "-" || c.Prompt == "" && c.Cell == "new" {
		if c.Prompt, err = g.readPrompt(); err != nil {
			return err
		}
		c.Cell = cmp.Or(c.Cell, "new")
	}
	release, err := f.Lock()
	if err != nil {
		return err
	}
	defer release()
	cells, err := f.ChooseCells(c.Cell, c.Prompt)
	if err != nil {
		return err
	}
	g.brief = true
	g.attended = true
	c.allowAgents(g)
	return g.withApp(func(a *app) error {
		if err := a.Limits().Check(scrollback.Say(c.Prompt)); c.Prompt != "" && err != nil {
			return err
		}
		t := g.tieNotebook(a, f)
		p := g.turnPrinter()
		err := t.Open(g.ctx)
		if err == nil {
			err = c.enableAgents(g, a, t.Conversation.ID)
		}
		if err != nil {
			return err
		}
		err = t.RunAll(g.ctx, cells, c.Prompt)
		release() // a compaction behind the last turn changes nothing in the file
		p.PrintNote("%s", p.Texts.Say(i18n.RunConversation, t.Conversation.ID))
		if err == nil {
			a.waitSettled(g.ctx, g.set.SummaryTimeout, func() { p.PrintNote("%s", p.Texts.Say(i18n.ChatCompacting)) })
		}
		return err
	})
}
