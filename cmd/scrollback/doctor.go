package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/doctor"
	"github.com/scrollback-ai/scrollback/internal/exchange"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/relay"
	"github.com/scrollback-ai/scrollback/internal/terminal"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
	"github.com/scrollback-ai/scrollback/local"
)

type doctorCmd struct {
	Check  doctorCheckCmd  `cmd:"" default:"withargs" help:"check-everything-stored"`
	Agents doctorAgentsCmd `cmd:"" help:"say-what-found-other-tools-on-machine"`
}

type doctorCheckCmd struct {
	Digest bool `help:"print-digests-of-what-travels"`
	Repair bool `help:"copy-database-then-repair-what-can-repaired"`
	NoCopy bool `help:"repair"`
}

// Run implements the command.
func (c *doctorCheckCmd) Run(g *globals) error {
	if c.Digest {
		return g.printDigest()
	}
	var progress doctor.Progress
	wipe := func() {}
	if isTerminal(g.stderr) {
		draw, wiped := terminal.DrawProgress(g.localeTexts(), g.stderr)
		wipe = wiped
		progress = func(what string, done, total int64) {
			draw(g.localeTexts().Named("doctor-count", what), done, total)
		}
	}
	var found doctor.Checkup
	check := func() error {
		return g.withMode(local.ReadOnly, func(a *app) (err error) {
			if err := a.ProbeObjects(g.ctx, false); err != nil {
				return err
			}
			if err := a.ProbeObjects(g.ctx, true); err != nil { // what is there can be checked all the same
				fmt.Fprintln(g.stderr, "scrollback:", explainError(err))
			}
			if err := a.Engine.CheckEmbedder(g.ctx, true); err != nil { // search finds by words all the same
				g.warnOfModel("embeddings.model", g.set.Embeddings, err)
			}
			found, err = doctor.Check(g.ctx, a.Store, a.Archive, progress)
			return err
		})
	}
	err := check()
	if c.Repair && scrollback.CodeOf(err) == scrollback.Conflict {
		err = check() // another program began to write meanwhile; now it is noticed
	}
	if err == nil && c.Repair && found.IsRepairable() {
		err = g.withApp(func(a *app) error { return a.repairStore(g, &found, progress, c.NoCopy) })
	}
	wipe()
	if err != nil {
		return err
	}
	remotes, err := g.listRemotes()
	if err != nil {
		return err
	}
	all := struct {
		doctor.Checkup
		Sync []relay.Standing `json:"sync,omitempty"`
	}{found, remotes}
	if err := g.printResult(all, func(w io.Writer) error {
		if err := drawCheckup(w, g.localeTexts(), found); err != nil {
			return err
		}
		return g.drawRemotes(w, remotes)
	}); err != nil || found.OK {
		return err
	}
	return terminal.ShownError{Err: scrollback.Errorf(scrollback.Internal, "scrollback", i18n.ProblemsFound)}
}

// printDigest prints what everything comes to that other stores can have too: equal digests, equal histories. A store
// that can be written to remembers what it has worked out.
func (g *globals) printDigest() error {
	if err := g.withMode(local.ReadOnly, func(*app) error { return nil }); err != nil {
		return err // there is nothing, or what is there cannot be read
	}
	return g.withMode(local.Existing, func(a *app) error {
		d, err := exchange.Side{Store: a.Store, Archive: a.Archive}.Digest(g.ctx)
		if err != nil {
			return err
		}
		return g.printResult(d, func(w io.Writer) error {
			rows := [][]string{}
			for _, c := range d.Conversations {
				rows = append(rows, []string{string(c.ID), c.Digest.String()})
			}
			if err := columns.WriteTable(w, rows); err != nil {
				return err
			}
			_, err := fmt.Fprintln(w, d.Digest)
			return err
		})
	})
}

// repairStore copies the database, unless somebody has, then repairs what was found.
func (a *app) repairStore(g *globals, found *doctor.Checkup, progress doctor.Progress, copied bool) error {
	dir, err := g.dataDir()
	if err != nil {
		return scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	name := ""
	if !copied {
		name, err = a.backupDatabase(g, dir)
	}
	if err != nil {
		return scrollback.Errorf(scrollback.CodeOf(err), "scrollback",
			i18n.DatabaseNotCopiedBeforeRepair, explainError(err))
	}
	*found, err = doctor.Repair(g.ctx, a.Store, a.Archive, *found, progress)
	found.Copy = name
	if err != nil {
		return scrollback.Errorf(scrollback.CodeOf(err), "scrollback",
			i18n.RepairEndedEarly, explainError(err), cmp.Or(name, "-"))
	}
	return nil
}

// maxCopies bounds the attempts to find a free name for a copy.
const maxCopies = 100

// backupDatabase copies the database into the data folder and returns the copy's name.
func (a *app) backupDatabase(g *globals, dir string) (string, error) {
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
		err := a.Store.Audit.CopyDatabase(g.ctx, name)
		if scrollback.CodeOf(err) == scrollback.Conflict && n < maxCopies {
			continue
		}
		if err == nil {
			err = scrollback.Wrap(scrollback.Unavailable, "scrollback", local.SyncFile(dir, key))
		}
		return name, err
	}
}

func drawCheckup(w io.Writer, t words.Texts, c doctor.Checkup) error {
	rows := [][]string{}
	for _, r := range []struct {
		what string
		n    int64
	}{{"conversations", c.Checked.Conversations}, {"branches", c.Checked.Branches}, {"messages", c.Checked.Messages},
		{"segments", c.Checked.Segments}, {"artifacts", c.Checked.Artifacts}, {"objects", c.Checked.Objects},
		{"bytes", c.Checked.Bytes}} {
		rows = append(rows, []string{t.Named("doctor-count", r.what), columns.FormatThousands(r.n)})
	}
	if err := columns.WriteTable(w, rows, 1); err != nil {
		return err
	}
	lines := func(mark i18n.ID, ps []doctor.Problem) error {
		var rows [][]string
		for _, p := range ps {
			is := mark
			if p.Repaired {
				is = i18n.DoctorRepaired
			}
			rows = append(rows, []string{t.Say(is), t.Named("doctor-kind", p.Kind), columns.ClipText(whereOf(t, p.Where), 80),
				columns.ClipText(t.Reason(p.Detail), 200)})
		}
		return columns.WriteTable(w, rows)
	}
	if err := errors.Join(lines(i18n.DoctorProblem, c.Problems), lines(i18n.DoctorNote, c.Notes)); err != nil {
		return err
	}
	n := c.More
	for _, p := range c.Problems {
		if !p.Repaired {
			n++
		}
	}
	left := t.Count(n, i18n.CountOneProblem, i18n.CountProblems)
	last := t.Say(i18n.DoctorAllIsWell)
	switch {
	case c.Copy != "" && n == 0:
		last = t.Say(i18n.DoctorAllIsWellCopy, c.Copy)
	case c.Copy != "":
		last = t.Say(i18n.DoctorLeftCopy, left, c.Copy)
	case n > 0 && c.IsRepairable():
		last = t.Say(i18n.DoctorRepairable, left)
	case n > 0:
		last = t.Say(i18n.DoctorNotRepairable, left)
	}
	_, err := fmt.Fprintln(w, last)
	return err
}

// whereOf returns where something was found: a kind of thing and its id.
func whereOf(t words.Texts, where string) string {
	if named := t.Named("doctor-where", where); named != where {
		return named
	}
	kind, id, ok := strings.Cut(where, " ")
	if !ok {
		return where
	}
	return t.Named("doctor-where", kind) + " " + id
}
