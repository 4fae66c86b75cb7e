package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/doctor"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/terminal"
	"github.com/scrollback-ai/scrollback/terminal/columns"
)

type doctorCmd struct {
	Check  doctorCheckCmd  `cmd:"" default:"withargs" help:"check-everything-stored"`
	Agents doctorAgentsCmd `cmd:"" help:"say-what-found-other-tools-on-machine"`
}

type doctorCheckCmd struct {
	Repair bool `help:"copy-database-then-repair-what-can-repaired"`
	NoCopy bool `help:"repair"`
}

// Run implements the command.
func (c *doctorCheckCmd) Run(g *globals) error {
	var progress doctor.Progress
	wipe := func() {}
	if isTerminal(g.stderr) {
		progress, wipe = terminal.Progress(g.stderr)
	}
	var found doctor.Checkup
	check := func() error {
		return g.during(local.ReadOnly, func(a *app) (err error) {
			if err := a.ProbeObjects(g.ctx, false); err != nil {
				return err
			}
			if err := a.ProbeObjects(g.ctx, true); err != nil { // what is there can be checked all the same
				fmt.Fprintln(g.stderr, "scrollback:", explain(err))
			}
			found, err = doctor.Check(g.ctx, a.Store, a.Archive, progress)
			return err
		})
	}
	err := check()
	if c.Repair && scrollback.CodeOf(err) == scrollback.Conflict {
		err = check() // another program began to write meanwhile; now it is noticed
	}
	if err == nil && c.Repair && found.Repairable() {
		err = g.with(func(a *app) error { return a.repair(g, &found, progress, c.NoCopy) })
	}
	wipe()
	if err != nil {
		return err
	}
	if err := g.print(found, func(w io.Writer) error { return drawCheckup(w, found) }); err != nil || found.OK {
		return err
	}
	return terminal.Shown{Err: scrollback.Errorf(scrollback.Internal, "scrollback", i18n.ProblemsFound)}
}

// repair copies the database, unless somebody has, then repairs what was found.
func (a *app) repair(g *globals, found *doctor.Checkup, progress doctor.Progress, copied bool) error {
	dir, err := g.dataDir()
	if err != nil {
		return scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	name := ""
	if !copied {
		name, err = a.backup(g, dir)
	}
	if err != nil {
		return scrollback.Errorf(scrollback.CodeOf(err), "scrollback",
			i18n.DatabaseNotCopiedBeforeRepair, explain(err))
	}
	*found, err = doctor.Repair(g.ctx, a.Store, a.Archive, *found, progress)
	found.Copy = name
	if err != nil {
		return scrollback.Errorf(scrollback.CodeOf(err), "scrollback",
			i18n.RepairEndedEarly, explain(err), cmp.Or(name, "-"))
	}
	return nil
}

// maxCopies bounds the attempts to find a free name for a copy.
const maxCopies = 100

// backup copies the database into the data folder and returns the copy's name.
func (a *app) backup(g *globals, dir string) (string, error) {
	if err := os.MkdirAll(filepath.Join(dir, "backup"), 0o700); err != nil {
		return "", scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
	}
	for n := 0; ; n++ {
		stamp := time.Now().UTC().Format("20060102T150405Z")
		if n > 0 {
			stamp = fmt.Sprintf("%s-%d", stamp, n)
		}
		key := "backup/scrollback-" + stamp + ".db"
		name := filepath.Join(dir, filepath.FromSlash(key))
		err := a.Store.Audit.Copy(g.ctx, name)
		if scrollback.CodeOf(err) == scrollback.Conflict && n < maxCopies {
			continue
		}
		if err == nil {
			err = scrollback.Wrap(scrollback.Unavailable, "scrollback", local.Sync(dir, key))
		}
		return name, err
	}
}

func drawCheckup(w io.Writer, c doctor.Checkup) error {
	rows := [][]string{}
	for _, r := range []struct {
		what string
		n    int64
	}{{"conversations", c.Checked.Conversations}, {"branches", c.Checked.Branches}, {"messages", c.Checked.Messages},
		{"segments", c.Checked.Segments}, {"artifacts", c.Checked.Artifacts}, {"objects", c.Checked.Objects},
		{"bytes", c.Checked.Bytes}} {
		rows = append(rows, []string{r.what, columns.Thousands(r.n)})
	}
	if err := columns.Table(w, rows, 1); err != nil {
		return err
	}
	lines := func(mark string, ps []doctor.Problem) error {
		var rows [][]string
		for _, p := range ps {
			is := mark
			if p.Repaired {
				is = "repaired"
			}
			rows = append(rows, []string{is, p.Kind, columns.Clip(p.Where, 80), columns.Clip(p.Detail, 200)})
		}
		return columns.Table(w, rows)
	}
	if err := errors.Join(lines("problem", c.Problems), lines("note", c.Notes)); err != nil {
		return err
	}
	n := c.More
	word := "problems"
	for _, p := range c.Problems {
		if !p.Repaired {
			n++
		}
	}
	if n == 1 {
		word = "problem"
	}
	last := "All is well."
	switch {
	case c.Copy != "" && n == 0:
		last = "All is well. The database as it was: " + c.Copy
	case c.Copy != "":
		last = fmt.Sprintf("%s %s left. The database as it was: %s", columns.Thousands(n), word, c.Copy)
	case n > 0 && c.Repairable():
		last = fmt.Sprintf("%s %s. Nothing was changed; doctor --repair repairs what it can, once the database has been copied.", columns.Thousands(n), word)
	case n > 0:
		last = fmt.Sprintf("%s %s, and nothing to repair from. Nothing was changed.", columns.Thousands(n), word)
	}
	_, err := fmt.Fprintln(w, last)
	return err
}
