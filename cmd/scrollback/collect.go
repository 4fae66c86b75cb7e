package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/home"
	"github.com/scrollback-ai/scrollback/collect"
	"github.com/scrollback-ai/scrollback/terminal"
	"github.com/scrollback-ai/scrollback/terminal/columns"
	"github.com/scrollback-ai/scrollback/transcript"
	"github.com/scrollback-ai/scrollback/transcript/all"
	"github.com/scrollback-ai/scrollback/transcript/geminicli"
)

// collectFlags say what is collected from other tools, and how: of import and watch. The
// config file says the rest.
type collectFlags struct {
	Mask      bool     `help:"Replace what looks like a key, token or private key by a mark before anything is stored."`
	Exclude   []string `help:"Leave out a tool, or what was worked on in a folder or below; may be repeated." placeholder:"X" sep:"none"`
	ProjectBy string   `name:"project-by" help:"Give each working folder a project of its own: folder." placeholder:"folder"`
}

// everyTool stands for all tools in --from.
const everyTool = "all"

// collecting is what a collector is asked for: the flags of a command over the config file.
func (f collectFlags) collecting(g *globals, from string) (collect.Options, error) {
	set := g.set.Import
	o := collect.Options{Tools: all.Tools(), From: set.From}
	switch by := cmp.Or(f.ProjectBy, set.ProjectBy); by {
	case "", "folder":
		o.Import.ByFolder = by != ""
	default:
		return o, scrollback.ParamErrorf("scrollback", "project_by", "--project-by is folder, not %q", by)
	}
	o.Import.Mask = f.Mask || set.Mask
	if from != "" {
		o.From = strings.Split(from, ",")
	}
	if slices.Contains(o.From, everyTool) {
		o.From = nil
	}
	for _, x := range slices.Concat(set.Exclude, f.Exclude) {
		if !slices.Contains(collect.Names(o.Tools), x) {
			dir, err := absolute(x)
			if err != nil {
				return o, err
			}
			if _, err := os.Stat(dir); err != nil && !strings.ContainsRune(x, filepath.Separator) {
				return o, scrollback.ParamErrorf("scrollback", "exclude", "%q is neither a tool (%s) nor a folder that is there", x, strings.Join(collect.Names(o.Tools), ", "))
			}
			x = dir
		}
		o.Exclude = append(o.Exclude, x)
	}
	var err error
	o.Machine, err = g.machine()
	return o, err
}

// machine is where other tools may have left their files.
func (g *globals) machine() (m transcript.Machine, err error) {
	own, err := home.Folder()
	if err != nil {
		return m, scrollback.Wrap(scrollback.NotFound, "scrollback", err)
	}
	var folders []string
	if here, err := os.Getwd(); err == nil {
		folders = append(folders, here)
	}
	for _, root := range slices.Concat(g.Root, g.set.Roots) {
		if dir, err := filepath.Abs(root); err == nil {
			folders = append(folders, dir)
		}
	}
	return collect.Here(own, folders...), nil
}

// collected runs an import of what tools keep, or of what was named.
func (c *importCmd) collected(g *globals, named string) error {
	from := c.From
	o, err := c.collecting(g, from)
	if err != nil {
		return err
	}
	if named != "" {
		if o.Path, err = absolute(named); err != nil {
			return err
		}
		if from == "" {
			o.From = nil
		}
	}
	if c.Into != "" || c.AsCopy {
		return scrollback.ParamErrorf("scrollback", "file", "--into and --as-copy are for a single file, and not for what a tool keeps")
	}
	o.Import.Project, o.Import.Summarize = cmp.Or(c.Project, o.Import.Project), c.Summarize
	if c.Project != "" {
		o.Import.ByFolder = false
	}
	var each func(collect.Change) error
	if named == "" && c.From == geminicli.Name {
		each = func(ch collect.Change) error { return g.file(ch) }
	}
	var failed error
	o.Told = func(ch collect.Change) {
		if each != nil && !g.JSON {
			failed = cmp.Or(failed, each(ch))
		}
	}
	wipe := func() {}
	if isTerminal(g.stderr) {
		var draw func(string, int64, int64)
		draw, wipe = terminal.Progress(g.stderr)
		o.Step = func(s collect.Step) {
			draw(fmt.Sprintf("KiB of %s, %s of %s sessions", s.Tool, columns.Thousands(int64(s.Sessions)), columns.Thousands(int64(s.Of))), s.Bytes>>10, max(s.OfBytes>>10, 1))
		}
	}
	do := g.with
	if c.DryRun {
		do = g.kept
	}
	var found collect.Report
	err = do(func(a *app) error {
		if !c.DryRun {
			defer a.finish(g.ctx)
		}
		collector, err := collect.New(a.Transfer, a.View, o)
		if err != nil {
			return err
		}
		if c.DryRun {
			found, err = collector.Survey(g.ctx)
		} else {
			found, err = collector.Bring(g.ctx)
		}
		return err
	})
	wipe()
	if err == nil {
		err = failed
	}
	if err != nil && len(found.Tools) == 0 {
		return err
	}
	if err == nil && found.Sessions() == 0 && found.Failed() == 0 {
		return nothing(o)
	}
	if shown := g.print(found, func(w io.Writer) error { return g.drawFound(w, found, each == nil) }); err == nil {
		err = shown
	}
	if n := found.Failed(); err == nil && n > 0 {
		err = scrollback.Errorf(scrollback.Internal, "scrollback", "%d of %d sessions could not be imported", n, max(found.Sessions(), n))
	}
	return err
}

// nothing says where was looked in vain.
func nothing(o collect.Options) error {
	tools := o.From
	if len(tools) == 0 {
		tools = collect.Names(o.Tools)
	}
	if o.Path != "" {
		return scrollback.ParamErrorf("scrollback", "file", "nothing in %s is a conversation of %s", o.Path, strings.Join(tools, ", "))
	}
	var where []string
	for _, tool := range o.Tools {
		if slices.Contains(tools, tool.Name()) {
			where = append(where, tool.Homes(o.Machine)...)
		}
	}
	return scrollback.Errorf(scrollback.NotFound, "scrollback", "no conversations of %s in %s", strings.Join(tools, ", "), strings.Join(where[:min(len(where), 20)], ", "))
}

// file prints what came of one file, as an import of it alone does.
func (g *globals) file(ch collect.Change) error {
	name := columns.Plain(ch.Session)
	if ch.Err != nil {
		_, err := fmt.Fprintf(g.stderr, "%s: %s\n", name, columns.Plain(explain(ch.Err)))
		return err
	}
	if _, err := fmt.Fprintln(g.stdout, name); err != nil {
		return err
	}
	return g.imported(g.stdout, ch.ImportResult)
}

// drawFound prints what was found of each tool, and what could not be read.
func (g *globals) drawFound(w io.Writer, r collect.Report, table bool) error {
	messages := "new messages"
	if r.DryRun {
		messages = "messages"
	}
	rows := [][]string{{"tool", "sessions", "new", "changed", "here", "conversations", messages, "size"}}
	number := func(n int) string { return columns.Thousands(int64(n)) }
	for _, f := range r.Tools {
		rows = append(rows, []string{f.Tool, number(f.Sessions), number(f.New), number(f.Changed), number(f.Unchanged), number(f.Conversations), columns.Thousands(f.Messages), sizeOf(f.Bytes)})
	}
	if table {
		if err := columns.Table(w, rows, 1, 2, 3, 4, 5, 6, 7); err != nil {
			return err
		}
	}
	for _, f := range r.Tools {
		if table {
			if notes := notesOf(f); len(notes) > 0 {
				fmt.Fprintf(w, "%s: %s\n", f.Tool, strings.Join(notes, "; "))
			}
		}
		for _, p := range f.Problems[:min(len(f.Problems), maxNamed)] {
			if p.Line == 0 && table {
				fmt.Fprintf(g.stderr, "%s: %s: %s\n", f.Tool, columns.Plain(filepath.Join(p.Place, filepath.FromSlash(p.Session))), columns.Clip(p.Reason, 300))
			} else if table {
				fmt.Fprintf(g.stderr, "%s: %s, line %d: %s\n", f.Tool, columns.Plain(p.Session), p.Line, columns.Clip(p.Reason, 200))
			}
		}
		if more := len(f.Problems) + f.MoreProblems - maxNamed; more > 0 && table {
			fmt.Fprintf(g.stderr, "%s: and %s more\n", f.Tool, columns.Thousands(int64(more)))
		}
	}
	if r.DryRun {
		_, err := fmt.Fprintln(w, "Nothing was imported: this is what an import would read.")
		return err
	}
	return nil
}

// notesOf is what the table does not say of a tool.
func notesOf(f collect.Found) (notes []string) {
	for _, n := range []struct {
		n         int
		one, many string
	}{{f.Excluded, "session excluded", "sessions excluded"}, {f.Deleted, "session was deleted here", "sessions were deleted here"},
		{f.Held, "session has an answer that is not complete yet", "sessions have an answer that is not complete yet"},
		{f.Gone, "conversation is not there any more; it stays here", "conversations are not there any more; they stay here"},
		{f.Masked, "secret masked", "secrets masked"}, {f.BadLines, "line skipped", "lines skipped"}, {f.Failed, "failed", "failed"}} {
		if n.n > 0 {
			notes = append(notes, counted(n.n, n.one, n.many))
		}
	}
	var left []string
	for _, kind := range slices.Sorted(maps.Keys(f.Left)) {
		left = append(left, columns.Thousands(int64(f.Left[kind]))+" "+columns.Plain(kind))
	}
	if len(left) > 0 {
		notes = append(notes, "not talk: "+strings.Join(left, ", "))
	}
	return notes
}

// sizeOf is a number of bytes for a person.
func sizeOf(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KB", (n+1023)>>10)
}

// place reports whether a file or a folder is one that a tool keeps, so that it is read as
// a place and not as one file of a format.
func (c *importCmd) place() (bool, error) {
	if c.File == "-" {
		return false, nil
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return false, scrollback.ParamErrorf("scrollback", "file", "%w", err)
	}
	tools := slices.DeleteFunc(all.Tools(), func(t transcript.Tool) bool { return t.Name() == geminicli.Name })
	switch {
	case info.IsDir():
		return true, nil
	case !info.Mode().IsRegular(), c.Into != "", c.AsCopy:
		return false, nil
	case c.From == "" || c.From == everyTool:
		tool, zip, err := collect.Recognise(tools, c.File)
		if tool != nil {
			c.From = tool.Name()
		}
		return tool != nil || zip, err
	}
	return slices.Contains(collect.Names(tools), c.From), nil
}

// absolute is a file's whole name.
func absolute(name string) (string, error) {
	name, err := filepath.Abs(name)
	return name, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
}
