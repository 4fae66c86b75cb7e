package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/tied"
	"github.com/scrollback-ai/scrollback/notebook"
	"github.com/scrollback-ai/scrollback/terminal"
)

type notebookCmd struct {
	Run      notebookRunCmd      `cmd:"" help:"Run a cell; what came of it is written into the file."`
	Show     notebookShowCmd     `cmd:"" default:"withargs" help:"List the cells, and the window of the next request."`
	New      notebookNewCmd      `cmd:"" help:"Make a notebook without cells."`
	Compress notebookCompressCmd `cmd:"" help:"Write a notebook beside this one that begins with a summary of it."`
}

type notebookNewCmd struct {
	File  string `arg:"" help:"File to make, whose name ends with .ipynb or .mtm."`
	Title string `help:"Title of the notebook. Default: the name of the file." placeholder:"TITLE"`
}

// Run implements the command.
func (c *notebookNewCmd) Run(g *globals) error {
	f, err := notebook.New(c.File, c.Title)
	if err != nil {
		return err
	}
	return g.print(map[string]string{"file": f.Path}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, g.texts().Notebook.Made+"\n", terminal.Plain(f.Path))
		return err
	})
}

// tied is a notebook as the flags have it run.
func (g *globals) tied(a *app, f *notebook.File) *tied.Notebook {
	return tied.New(a.Scrollback, f, tied.Options{Printer: g.printer(), Overrides: g.shape(), Roots: g.roots})
}

type notebookShowCmd struct {
	File string `arg:"" help:"Notebook to show."`
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
		shown, err := g.tied(a, f).Show(g.ctx)
		if err != nil {
			return err
		}
		return g.print(shown, func(w io.Writer) error { return shown.Write(w, g.texts()) })
	})
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
		return g.print(map[string]any{"file": path, "conversation_id": d.Conversation, "refs": d.Refs}, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, g.texts().Notebook.Made+"\n", terminal.Plain(path))
			return err
		})
	})
}

type notebookRunCmd struct {
	agentsFlag
	File   string `arg:"" help:"Notebook (.ipynb or .mtm)."`
	Prompt string `arg:"" optional:"" help:"What to ask in a new cell, with --cell new; - for standard input."`
	Cell   string `help:"Cell to run: its number in notebook show, last, all, or new for the PROMPT. Default: new with a PROMPT, else last." placeholder:"N|last|all|new"`
}

// Run implements the command.
func (c *notebookRunCmd) Run(g *globals) (err error) {
	f, err := notebook.Open(c.File)
	if err != nil {
		return err
	}
	cells, err := c.choose(g, f)
	if err != nil {
		return err
	}
	if err := g.grant(false, f.Folder()); err != nil {
		return err
	}
	g.brief = true
	c.allow(g)
	return g.with(func(a *app) error {
		t, p := g.tied(a, f), g.printer()
		if c.Prompt != "" {
			if err := a.Limits().Check(scrollback.Say(c.Prompt)); err != nil {
				return err
			}
		}
		if err := t.Open(g.ctx); err != nil {
			return err
		}
		if err := c.give(g, a, t.Conversation.ID); err != nil {
			return err
		}
		if c.Prompt != "" {
			cell, err := f.Append(c.Prompt)
			if err != nil {
				return err
			}
			cells = []int{cell}
		}
		for _, cell := range cells {
			if len(cells) > 1 {
				p.Note(p.Texts.Notebook.Cell, cell+1, terminal.Clip(f.Rows()[cell].Line, 100))
			}
			if err = t.Run(g.ctx, cell); err != nil {
				break
			}
		}
		p.Note("(conversation %s)", t.Conversation.ID)
		if err == nil {
			a.settle(g.ctx, g.set.SummaryTimeout, func() { p.Note("%s", p.Texts.Compacting) })
		}
		return err
	})
}

// choose returns the cells to run; none if a new one is to be.
func (c *notebookRunCmd) choose(g *globals, f *notebook.File) ([]int, error) {
	if c.Cell == "" {
		c.Cell = "last"
		if c.Prompt != "" {
			c.Cell = "new"
		}
	}
	if c.Cell != "new" {
		if c.Prompt != "" {
			return nil, scrollback.ParamErrorf("scrollback", "cell", "a prompt is for --cell new; cell %s has its own", c.Cell)
		}
		return notebook.Choose(f.Cells(), c.Cell)
	}
	if c.Prompt == "" || c.Prompt == "-" {
		var err error
		if c.Prompt, err = g.prompt(); err != nil {
			return nil, err
		}
	}
	if strings.TrimSpace(c.Prompt) == "" {
		return nil, scrollback.ParamErrorf("scrollback", "message", "the message is empty")
	}
	return nil, f.Writable()
}
