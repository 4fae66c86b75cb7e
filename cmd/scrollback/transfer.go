package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/terminal"
)

type importCmd struct {
	File    string `arg:"" help:"File to read, or - for standard input."`
	From    string `help:"Format; without it, by what the file holds." placeholder:"F"`
	Project string `help:"Project to put it in." placeholder:"P"`
	Into    string `help:"Add it to this conversation." placeholder:"ID"`
}

// Run implements the command.
func (c *importCmd) Run(g *globals) error {
	return g.with(func(a *app) error {
		f, err := g.input(c.File)
		if err != nil {
			return err
		}
		defer f.Close()
		q := engine.ImportRequest{Format: c.From, Project: c.Project}
		if c.Into != "" {
			if q.Into, err = a.Resolve(g.ctx, c.Into); err != nil {
				return err
			}
		}
		if isTerminal(g.stderr) {
			draw, wipe := terminal.Progress(g.stderr)
			defer wipe()
			q.Progress = func(n int64) { draw("messages", n, 0) }
		}
		out, err := a.Import(g.ctx, f, q)
		if err != nil {
			return err
		}
		return g.print(out, func(w io.Writer) error {
			for _, b := range out.Skipped {
				fmt.Fprintf(g.stderr, "line %d skipped: %s\n", b.Line, b.Reason)
			}
			if out.MoreSkipped > 0 {
				fmt.Fprintf(g.stderr, "and %s more\n", terminal.Thousands(int64(out.MoreSkipped)))
			}
			for _, c := range out.Conversations {
				fmt.Fprintf(w, "%s  %s new, %s in all\n", c.ID, terminal.Thousands(c.Messages), terminal.Thousands(c.Total))
			}
			return nil
		})
	})
}

// input opens a file, or keeps in one what is no file: an import reads it twice.
func (g *globals) input(name string) (io.ReadSeekCloser, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, scrollback.ParamErrorf("scrollback", "file", "%w", err)
		}
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return f, nil
		}
		defer f.Close()
		return keepInput(f) // a pipe is read once
	}
	return keepInput(g.standardInput())
}

// keepInput copies what can be read once into a file of no name.
func keepInput(r io.Reader) (io.ReadSeekCloser, error) {
	f, err := os.CreateTemp("", "scrollback-*")
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
	}
	// The name can go at once where the system allows it.
	_ = os.Remove(f.Name())
	if _, err = io.Copy(f, r); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(scrollback.Wrap(scrollback.Unavailable, "scrollback", err), f.Close())
	}
	return f, nil
}

type exportCmd struct {
	one
	Output string `short:"o" help:"File to write; without it, standard output." placeholder:"FILE"`
	Format string `help:"Format: jsonl." default:"jsonl" placeholder:"F"`
}

// Run implements the command.
func (c *exportCmd) Run(g *globals) error {
	return c.with(g, func(a *app, id scrollback.ConversationID) error {
		if c.Output == "" || c.Output == "-" {
			return a.Export(g.ctx, id, c.Format, g.stdout)
		}
		return writeWhole(c.Output, func(w io.Writer) error { return a.Export(g.ctx, id, c.Format, w) })
	})
}

// formats are the formats that files are written in, by the end of their names.
var formats = []struct{ ending, format string }{{".jsonl", "jsonl"}}

// save writes a conversation to a file that appears whole or not at all.
func (a *app) save(ctx context.Context, id scrollback.ConversationID, name string) error {
	var endings []string
	for _, f := range formats {
		if strings.HasSuffix(name, f.ending) {
			return writeWhole(name, func(w io.Writer) error { return a.Export(ctx, id, f.format, w) })
		}
		endings = append(endings, f.ending)
	}
	return scrollback.ParamErrorf("scrollback", "file", "%s: a file's name ends in %s", name, strings.Join(endings, " or "))
}

// writeWhole makes a file that appears whole or not at all.
func writeWhole(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".scrollback-*")
	if err != nil {
		return scrollback.ParamErrorf("scrollback", "output", "%w", err)
	}
	if err = write(f); err == nil {
		err = scrollback.Wrap(scrollback.Unavailable, "scrollback", f.Sync())
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = scrollback.Wrap(scrollback.Unavailable, "scrollback", os.Rename(f.Name(), name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
