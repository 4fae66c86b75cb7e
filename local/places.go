package local

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// storePlaces are where things are kept.
type storePlaces struct {
	db      *driver.Driver
	objects *objects.Store
	archive *archive.Options

	folder   string // where everything is kept; empty for a database in memory
	readOnly bool
}

// openPlaces opens the database and the place of objects.
func openPlaces(ctx context.Context, dir string, o *Options) (storePlaces, error) {
	const op = "local.Open"
	if o.Mode < Make || o.Mode > ReadOnly {
		return storePlaces{}, scrollback.ParamErrorf(op, "mode", i18n.NoSuchMode, o.Mode)
	}
	if scheme, isURL := serverScheme(o.Database); isURL {
		open := o.Services.Databases[scheme]
		if open == nil {
			return storePlaces{}, scrollback.Errorf(scrollback.Refused, op,
				i18n.NoClientForPostgreSQL)
		}
		return openServer(ctx, dir, open, o)
	}
	file, err := databaseFile(dir, o.Database)
	if err != nil {
		return storePlaces{}, err
	}
	if file == "" && o.Mode == ReadOnly {
		return storePlaces{}, scrollback.ParamErrorf(op, "mode", i18n.MemoryDatabaseIsEmpty)
	}
	kept, err := objects.ParsePlace(dir, o.Objects, o.Services.Buckets)
	if err != nil {
		return storePlaces{}, err
	}
	if _, err := os.Stat(file); file == "" || o.Mode == Existing && errors.Is(err, os.ErrNotExist) {
		return openMemory(ctx, kept, o, file != "")
	}
	if err := checkLasting(kept); err != nil {
		return storePlaces{}, err
	}
	at, err := openFile(ctx, dir, file, o)
	if err != nil {
		return at, err
	}
	mode := o.Mode
	if at.archive == nil {
		mode = ReadOnly
		at.readOnly = true
	}
	if at.objects, err = objects.Open(ctx, kept, mode == ReadOnly); err != nil {
		return at, errors.Join(err, at.db.Close())
	}
	if at.archive != nil {
		at.archive.Durable = at.objects.Durable
		in := []string{filepath.Dir(file)}
		if kept.Folder != "" {
			in = append(in, kept.Folder)
		}
		at.db.Ready = addRoomCheck(at.db.Ready, in...)
	}
	at.db.Ready = joinChecks(at.db.Ready, at.objects.CheckReady)
	return at, nil
}

// openFile opens a database that lasts. Without options for an archive it was opened for
// reading only.
func openFile(ctx context.Context, dir, file string, o *Options) (at storePlaces, err error) {
	const op = "local.Open"
	if o.Mode == ReadOnly {
		at.db, err = sqlite.OpenReadOnly(ctx, file)
		return at, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return at, scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	for _, path := range []string{filepath.Dir(file), file} {
		if err := checkWritable(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			if _, missing := os.Stat(file); missing == nil && o.Mode == Existing {
				at.db, err = sqlite.OpenReadOnly(ctx, file)
				return at, err
			}
			return at, scrollback.Errorf(scrollback.Unavailable, op,
				i18n.FolderMayOnlyBeRead, path, err)
		}
	}
	log := o.Engine.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	restrictFolder(dir, file, log)
	at.db, err = sqlite.Open(ctx, file, &sqlite.Options{Log: log})
	switch {
	case err == nil:
		at.archive = &archive.Options{Dir: filepath.Join(dir, "context")}
	case errors.Is(err, sqlite.ErrUnwritable) && o.Mode == Existing:
		at.db, err = sqlite.OpenReadOnly(ctx, file)
	}
	return at, err
}

// openMemory keeps everything in memory: because it was asked for, or for want of
// anything kept.
func openMemory(ctx context.Context, kept objects.Place, o *Options, missing bool) (at storePlaces, err error) {
	if at.db, err = sqlite.OpenMemory(ctx, &sqlite.Options{Log: o.Engine.Log}); err != nil {
		return at, err
	}
	if missing || o.Objects == "" {
		kept = objects.Place{}
	}
	at.objects, err = objects.Open(ctx, kept, o.Mode == ReadOnly)
	return at, err
}

// databaseName is the file of a data folder's own database.
const databaseName = "scrollback.db"

// databaseFile returns the file of a database, or empty for one in memory.
func databaseFile(dir, at string) (string, error) {
	if at == "" {
		return filepath.Join(dir, databaseName), nil
	}
	u, err := url.Parse(at)
	switch {
	case err == nil && u.Scheme == "memory":
		return "", nil
	case err == nil && u.Scheme == "sqlite" && u.Host == "" && u.RawQuery == "" &&
		filepath.IsAbs(filepath.FromSlash(u.Path)):
		return filepath.FromSlash(u.Path), nil
	}
	return "", scrollback.ParamErrorf("local.Open", "database",
		i18n.DatabaseIsURL)
}
