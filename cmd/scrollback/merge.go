package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud"
	"github.com/scrollback-ai/scrollback/cloud/backup"
	"github.com/scrollback-ai/scrollback/internal/exchange"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/local"
)

// mergeCmd takes all that another store has into this one.
type mergeCmd struct {
	Other  string `arg:"" help:"folder-or-backup-to-take-from"`
	DryRun bool   `help:"say-what-merge-would-bring"`

	AcceptPurges bool `help:"take-all-purges"`
}

// merged is what a merge came to.
type merged struct {
	Conversations int                         `json:"conversations"` // new, or with more than before
	New           int                         `json:"new"`
	Messages      int64                       `json:"messages"`
	Purged        int                         `json:"purged"`
	DryRun        bool                        `json:"dry_run,omitempty"`
	Refused       []merge.Refused             `json:"refused,omitempty"`
	Waiting       []scrollback.ConversationID `json:"waiting,omitempty"`
	Held          []scrollback.ConversationID `json:"held,omitempty"` // purges that were not taken
}

// Run implements the command.
func (c *mergeCmd) Run(g *globals) (err error) {
	other, err := g.openOther(c.Other)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.Close()) }()
	var got merge.Outcome
	err = g.withApp(func(a *app) (err error) {
		got, err = exchange.Take(g.ctx, exchange.Side{Store: other.Store, Archive: other.Archive},
			exchange.Side{Store: a.Store, Archive: a.Archive}, exchange.Request{
				Terms: merge.Terms{Look: c.DryRun, Purges: c.AcceptPurges}})
		return err
	})
	if err != nil {
		return err
	}
	out := merged{got.Conversations, got.New, got.Messages, got.Purged, c.DryRun, got.Refused, got.Waiting,
		got.Held}
	if err := g.printResult(out, func(w io.Writer) error { return g.printMerged(w, out) }); err != nil {
		return err
	}
	if n := len(out.Refused) + len(out.Waiting) + len(out.Held); n > 0 {
		return scrollback.Errorf(scrollback.Conflict, "scrollback", i18n.MergeLeftOut, n)
	}
	return nil
}

// printMerged says what a merge came to.
func (g *globals) printMerged(w io.Writer, m merged) error {
	t := g.localeTexts()
	id := i18n.MergeBrought
	if m.DryRun {
		id = i18n.MergeWouldBring
	}
	_, err := fmt.Fprintln(w, t.Say(id, columns.FormatThousands(int64(m.New)),
		columns.FormatThousands(int64(m.Conversations-m.New)), columns.FormatThousands(m.Messages),
		columns.FormatThousands(int64(m.Purged))))
	for _, r := range m.Refused {
		g.printRefused(w, r)
	}
	for _, id := range m.Held {
		fmt.Fprintln(w, t.Say(i18n.SyncHeld, string(id)))
	}
	for _, id := range m.Waiting {
		fmt.Fprintln(w, t.Say(i18n.MergeWaits, string(id)))
	}
	return err
}

// printRefused says why a record was left out.
func (g *globals) printRefused(w io.Writer, r merge.Refused) {
	t := g.localeTexts()
	by := string(r.Conversation)
	if by == "" {
		by = r.Project
	}
	if r.Stamp.By != "" {
		fmt.Fprintln(w, t.Say(i18n.MergeRefusedClock, by, r.Record, r.Stamp.By, columns.FormatTime(r.Stamp.At, g.zone),
			columns.FormatTime(r.Now, g.zone)))
		return
	}
	fmt.Fprintln(w, t.Say(i18n.MergeRefused, by, r.Record))
}

// otherStore is a store that is only read, with the folder that it was unpacked to, if it was.
type otherStore struct {
	*local.Scrollback
	unpacked string
}

// Close closes the store, and removes what was unpacked.
func (o *otherStore) Close() error {
	err := o.Scrollback.Close()
	if o.unpacked != "" {
		err = errors.Join(err, os.RemoveAll(o.unpacked))
	}
	return err
}

// openOther opens the store of another data folder, or of a backup. It is left as it is: one of an older version is
// copied first, and the copy made new.
func (g *globals) openOther(name string) (*otherStore, error) {
	own, err := g.dataDir()
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, scrollback.Errorf(scrollback.NotFound, "scrollback", i18n.NoStoreThere, name).WithReason(err)
	}
	if !info.IsDir() {
		return g.unpackOther(name)
	}
	if here, err := os.Stat(own); err == nil && g.set.Store == "" && os.SameFile(info, here) {
		return nil, scrollback.ParamErrorf("scrollback", "other", i18n.MergeWithItself, name)
	}
	file := filepath.Join(name, "scrollback.db")
	if _, err := os.Stat(file); err != nil {
		return nil, scrollback.Errorf(scrollback.NotFound, "scrollback", i18n.NoStoreThere, name).WithReason(err)
	}
	s, err := cloud.Open(g.ctx, name, &local.Options{Mode: local.ReadOnly, Env: g.set.Env})
	if err == nil {
		return &otherStore{s, ""}, nil
	}
	if scrollback.CodeOf(err) != scrollback.Unavailable {
		return nil, err
	}
	return g.copyOther(name, err)
}

// copyOther opens a copy of a store that cannot be read as it is, because an older version wrote it.
func (g *globals) copyOther(dir string, why error) (_ *otherStore, err error) {
	work, err := os.MkdirTemp("", "scrollback-merge-")
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(work)
		}
	}()
	file := filepath.Join(work, "other.backup")
	s := backup.Store{Dir: dir, Program: programVersion(), Log: g.newLogger()} // not encrypted: it is gone in a moment
	if _, err := s.CreateFile(g.ctx, file); err != nil {
		return nil, errors.Join(why, err)
	}
	return g.restoreOther(work, file)
}

// unpackOther opens what a backup holds.
func (g *globals) unpackOther(file string) (_ *otherStore, err error) {
	work, err := os.MkdirTemp("", "scrollback-merge-")
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(work)
		}
	}()
	return g.restoreOther(work, file)
}

// restoreOther restores a backup into a folder that is removed later, and opens it.
func (g *globals) restoreOther(work, file string) (*otherStore, error) {
	to := backup.Store{Dir: filepath.Join(work, "store"), Program: programVersion(), Keys: g.keys(), Log: g.newLogger()}
	if _, err := to.Restore(g.ctx, file); err != nil {
		return nil, err
	}
	s, err := cloud.Open(g.ctx, to.Dir, &local.Options{Mode: local.Existing, Env: g.set.Env})
	if err != nil {
		return nil, err
	}
	return &otherStore{s, work}, nil
}
