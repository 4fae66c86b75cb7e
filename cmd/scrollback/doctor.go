package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gocloud.dev/blob/memblob"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/doctor"
	"github.com/scrollback-ai/scrollback/store/sqldriver"
	"github.com/scrollback-ai/scrollback/terminal"
)

type doctorCmd struct{}

// Run implements the command.
func (doctorCmd) Run(g *globals) error {
	return during(g.openReading, func(a *app) error {
		var progress doctor.Progress
		wipe := func() {}
		if isTerminal(g.stderr) {
			progress, wipe = terminal.Progress(g.stderr)
		}
		found, err := doctor.Check(g.ctx, a.store, a.archive, progress)
		wipe()
		if err != nil {
			return err
		}
		if err := g.print(found, func(w io.Writer) error { return drawCheckup(w, found) }); err != nil || found.OK {
			return err
		}
		return terminal.Shown{Err: scrollback.Errorf(scrollback.Internal, "scrollback", "problems found")}
	})
}

// openReading opens what is there for reading only: it makes no folder, no file
// and no copy of anything.
func (g *globals) openReading() (*app, error) {
	dir, err := g.dataDir()
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	db, err := sqldriver.ReadSQLite(g.ctx, filepath.Join(dir, "scrollback.db"))
	if err != nil {
		return nil, err
	}
	objects := filepath.Join(dir, "objects")
	if _, err := os.Stat(objects); errors.Is(err, os.ErrNotExist) {
		return g.assemble(db, memblob.OpenBucket(nil), nil), nil // nothing is kept there
	}
	bucket, err := openBucket(objects)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return g.assemble(db, bucket, nil), nil
}

func drawCheckup(w io.Writer, c doctor.Checkup) error {
	rows := [][]string{}
	for _, r := range []struct {
		what string
		n    int64
	}{{"conversations", c.Checked.Conversations}, {"branches", c.Checked.Branches}, {"messages", c.Checked.Messages},
		{"segments", c.Checked.Segments}, {"artifacts", c.Checked.Artifacts}, {"objects", c.Checked.Objects}, {"bytes", c.Checked.Bytes}} {
		rows = append(rows, []string{r.what, terminal.Thousands(r.n)})
	}
	if err := terminal.Table(w, rows, 1); err != nil {
		return err
	}
	lines := func(mark string, ps []doctor.Problem) error {
		var rows [][]string
		for _, p := range ps {
			rows = append(rows, []string{mark, p.Kind, terminal.Clip(p.Where, 80), terminal.Clip(p.Detail, 200)})
		}
		return terminal.Table(w, rows)
	}
	if err := errors.Join(lines("problem", c.Problems), lines("note", c.Notes)); err != nil {
		return err
	}
	n := int64(len(c.Problems)) + c.More
	if n == 0 {
		_, err := fmt.Fprintln(w, "All is well.")
		return err
	}
	_, err := fmt.Fprintf(w, "%s problems. Nothing was changed; copy the data folder before you do anything to it.\n", terminal.Thousands(n))
	return err
}
