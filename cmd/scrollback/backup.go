package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud/backup"
	"github.com/scrollback-ai/scrollback/cmd/scrollback/config"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/terminal/columns"
	"github.com/scrollback-ai/scrollback/internal/terminal/words"
)

type backupCmd struct {
	Create  backupCreateCmd  `cmd:"" help:"make-backup-of-whole-store"`
	List    backupListCmd    `cmd:"" help:"list-backups"`
	Verify  backupVerifyCmd  `cmd:"" help:"check-backup"`
	Restore backupRestoreCmd `cmd:"" help:"restore-backup"`
}

// backupStore returns the store that the settings name.
func (g *globals) backupStore() (backup.Store, error) {
	dir, err := g.dataDir()
	return backup.Store{Dir: dir, Database: g.set.Store, Objects: g.set.Objects, Program: programVersion(),
		Keys: g.keys(), Log: g.newLogger()}, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
}

// backupPlace returns the place that a command names, or that of the configuration.
func (g *globals) backupPlace(at string) (string, error) {
	if at == "" {
		at = g.set.Backup.To
	}
	if at == "" {
		return "", scrollback.ParamErrorf("scrollback", "to", i18n.NameBackupPlace)
	}
	return at, nil
}

type backupCreateCmd struct {
	To      string `arg:"" optional:"" help:"where-backup-goes"`
	Keep    string `help:"how-long-backups-stay" placeholder:"TIME"`
	Encrypt bool   `help:"encrypt-file-for-recipients"`
}

// Run implements the command.
func (c *backupCreateCmd) Run(g *globals) error {
	keep, err := config.ParseLifetime("--keep", c.Keep)
	if err != nil {
		return err
	}
	to, err := g.backupPlace(c.To)
	if err != nil {
		return err
	}
	if keep == 0 && c.To == "" {
		keep = g.set.Backup.Keep
	}
	s, err := g.backupStore()
	if err != nil {
		return err
	}
	if s.Encrypt = c.Encrypt || c.To == "" && g.set.Backup.Encrypt; s.Encrypt {
		if err := g.showNewIdentity(); err != nil {
			return err
		}
	}
	began := time.Now()
	made, err := createBackup(g.ctx, s, to, keep)
	if err != nil {
		return err
	}
	return g.printResult(made, func(w io.Writer) error {
		t := g.localeTexts()
		fmt.Fprintln(w, t.Say(i18n.BackupMade, made.Name, columns.FormatSize(made.Bytes),
			countConversations(t, made.BackupContents), countMessages(t, made.BackupContents),
			time.Since(began).Round(10*time.Millisecond)))
		for _, name := range made.Removed {
			fmt.Fprintln(w, t.Say(i18n.BackupRemoved, name))
		}
		return nil
	})
}

// createBackup makes a backup as a file, or on a shelf.
func createBackup(ctx context.Context, s backup.Store, to string, keep time.Duration) (backup.Made, error) {
	if !backup.IsShelf(to) {
		if keep > 0 {
			return backup.Made{}, scrollback.ParamErrorf("scrollback", "keep", i18n.KeepNeedsFolder)
		}
		return s.CreateFile(ctx, to)
	}
	shelf, err := backup.OpenShelf(ctx, to)
	if err != nil {
		return backup.Made{}, err
	}
	defer func() { _ = shelf.Close() }() // it was written to
	return s.CreateOn(ctx, shelf, keep)
}

type backupListCmd struct {
	At string `arg:"" optional:"" help:"folder-or-bucket-with-backups"`
}

// Run implements the command.
func (c *backupListCmd) Run(g *globals) error {
	at, err := g.backupPlace(c.At)
	if err != nil {
		return err
	}
	shelf, err := backup.OpenShelf(g.ctx, at)
	if err != nil {
		return err
	}
	defer func() { _ = shelf.Close() }() // it was read
	all, err := shelf.List(g.ctx)
	if err != nil {
		return err
	}
	if all == nil {
		all = []backup.Entry{}
	}
	return g.printResult(map[string]any{"backups": all}, func(w io.Writer) error {
		rows := [][]string{g.localeTexts().Head(i18n.ColumnMade, i18n.ColumnSize, i18n.ColumnBackup)}
		for _, e := range all {
			rows = append(rows, []string{columns.FormatTime(e.MadeAt, g.zone), columns.FormatSize(e.Bytes), e.Name})
		}
		return columns.WriteTable(w, rows, 1)
	})
}

// oneBackup is a command about one backup.
type oneBackup struct {
	File string `arg:"" help:"backup-file"`
}

type backupVerifyCmd struct{ oneBackup }

// Run implements the command.
func (c *backupVerifyCmd) Run(g *globals) error {
	seen, err := backup.Verify(g.ctx, c.File, g.keys())
	if err != nil {
		return err
	}
	return g.printResult(seen, func(w io.Writer) error { return g.printContents(w, i18n.BackupIsWhole, seen) })
}

type backupRestoreCmd struct{ oneBackup }

// Run implements the command.
func (c *backupRestoreCmd) Run(g *globals) error {
	s, err := g.backupStore()
	if err != nil {
		return err
	}
	restored, err := s.Restore(g.ctx, c.File)
	if err != nil {
		return err
	}
	return g.printResult(restored, func(w io.Writer) error { return g.printContents(w, i18n.BackupRestored, restored) })
}

// printContents prints what is in a backup.
func (g *globals) printContents(w io.Writer, as i18n.ID, c backup.Contents) error {
	t := g.localeTexts()
	_, err := fmt.Fprintln(w, t.Say(as, columns.FormatTime(c.MadeAt, g.zone), countConversations(t, c),
		countMessages(t, c)))
	return err
}

func countConversations(t words.Texts, c backup.Contents) string {
	return t.Count(c.Conversations, i18n.CountOneConversation, i18n.CountConversations)
}

func countMessages(t words.Texts, c backup.Contents) string {
	return t.Count(c.Messages, i18n.CountOneMessage, i18n.CountMessages)
}
