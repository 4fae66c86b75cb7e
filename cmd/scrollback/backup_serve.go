package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud/backup"
	"github.com/scrollback-ai/scrollback/internal/backups"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// servedBackups are the backups of a server: those of each night, and those that a person asks for, one at a time.
type servedBackups struct {
	*globals
	ctx context.Context // of the server: what is being made ends with it

	mu      sync.Mutex
	running string
	since   time.Time
}

// run runs what makes or reads a backup, or returns conflict while another does.
func (b *servedBackups) run(what string, do func() error) error {
	b.mu.Lock()
	if b.running != "" {
		b.mu.Unlock()
		return scrollback.Errorf(scrollback.Conflict, "scrollback", i18n.BackupIsRunning)
	}
	b.running = what
	b.since = time.Now()
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.running = ""
		b.mu.Unlock()
	}()
	return do()
}

// openShelf opens where backups go.
func (b *servedBackups) openShelf(ctx context.Context) (*backup.Shelf, error) {
	if b.set.Backup.To == "" {
		return nil, scrollback.Errorf(scrollback.NotFound, "scrollback", i18n.BackupsAreNotSetUp)
	}
	return backup.OpenShelf(ctx, b.set.Backup.To)
}

// ListBackups implements [restapi.Backups].
func (b *servedBackups) ListBackups(ctx context.Context) (out backups.BackupStanding, err error) {
	shelf, err := b.openShelf(ctx)
	if err != nil {
		return out, err
	}
	defer func() { _ = shelf.Close() }() // it was read
	all, err := shelf.List(ctx)
	if err != nil {
		return out, err
	}
	set := b.set.Backup
	out = backups.BackupStanding{To: set.To, KeepMS: set.Keep.Milliseconds(), Encrypt: set.Encrypt, Backups: all,
		At: time.Time{}.Add(set.At).Format("15:04")}
	if out.Backups == nil {
		out.Backups = []backups.Backup{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if out.Running = b.running; out.Running != "" {
		out.Since = b.since.UnixMilli()
	}
	return out, nil
}

// CreateBackup implements [restapi.Backups].
func (b *servedBackups) CreateBackup(ctx context.Context) (backups.MadeBackup, error) {
	type outcome struct {
		made backups.MadeBackup
		err  error
	}
	done := make(chan outcome, 1) // nobody may wait any more
	go func() {
		var o outcome
		o.err = b.run(backups.Create, func() error {
			shelf, err := b.openShelf(b.ctx)
			if err != nil {
				return err
			}
			defer func() { _ = shelf.Close() }() // it was written to
			o.made, err = b.backUpOn(b.ctx, shelf, b.newLogger())
			return err
		})
		done <- o
	}()
	select {
	case o := <-done:
		return o.made, o.err
	case <-ctx.Done():
		return backups.MadeBackup{}, ctx.Err()
	}
}

// VerifyBackup implements [restapi.Backups].
func (b *servedBackups) VerifyBackup(ctx context.Context, name string) (c backups.BackupContents, err error) {
	shelf, err := b.openShelf(ctx)
	if err != nil {
		return c, err
	}
	defer func() { _ = shelf.Close() }() // it was read
	err = b.run(backups.Verify, func() (err error) {
		c, err = shelf.Verify(ctx, name, b.keys())
		return err
	})
	return c, err
}

// Times of the nightly backup: how often it is seen to, and how soon after the start.
const (
	backupTick  = 10 * time.Minute
	backupFirst = time.Minute
)

// backUpNightly makes the backups that the configuration asks for until ctx ends: at a time of the day, or later, when
// the server did not run then.
func (b *servedBackups) backUpNightly(ctx context.Context, log *slog.Logger) {
	wait := backupFirst
	if d := testTime("SCROLLBACK_BACKUP_FIRST"); d > 0 {
		wait = d
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = backupTick
		var made backup.Made
		err := b.run(backups.Create, func() (err error) {
			made, err = b.backUpIfDue(ctx, time.Now(), log)
			return err
		})
		switch {
		case ctx.Err() != nil, scrollback.CodeOf(err) == scrollback.Conflict: // one is being made
		case err != nil:
			log.Warn("no backup could be made", "error", err)
		case made.Name != "":
			log.Info("a backup was made", "name", made.Name, "bytes", made.Bytes, "removed", len(made.Removed))
		}
	}
}

// backUpIfDue makes a backup unless there is one since it was due.
func (g *globals) backUpIfDue(ctx context.Context, now time.Time, log *slog.Logger) (made backup.Made, err error) {
	shelf, err := backup.OpenShelf(ctx, g.set.Backup.To)
	if err != nil {
		return made, err
	}
	defer func() { _ = shelf.Close() }() // it was written to
	all, err := shelf.List(ctx)
	if err != nil || len(all) > 0 && all[0].MadeAt >= g.set.Backup.LastDue(now.In(g.zone)).UnixMilli() {
		return made, err
	}
	return g.backUpOn(ctx, shelf, log)
}

// backUpOn makes a backup as the configuration says.
func (g *globals) backUpOn(ctx context.Context, shelf *backup.Shelf, log *slog.Logger) (made backup.Made, err error) {
	s, err := g.backupStore()
	if err != nil {
		return made, err
	}
	if s.Encrypt = g.set.Backup.Encrypt; s.Encrypt {
		own, err := s.Keys.Own()
		if err != nil {
			return made, err
		}
		if own.Made {
			log.Warn("an identity was made for encrypted backups: keep a copy of it elsewhere", "file", own.File,
				"recipient", own.Recipient)
		}
	}
	return s.CreateOn(ctx, shelf, g.set.Backup.Keep)
}
