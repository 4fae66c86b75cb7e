// Package moving copies a store to another database, and its objects to another place, while it
// is in use.
//
// Invariants: a source is never made, only opened; no password gets into what people are told;
// an object is copied whole or not at all, and compared by its hash.
//
// It knows concrete databases and object stores, and nothing of what conversations mean.
package moving

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/store/sql/move"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/local/objects"
)

const moveOp = "migrate"

// Options say what goes where.
type Options struct {
	From, To string // sqlite:///PATH or postgres://…

	// ObjectsFrom and ObjectsTo are where objects are, and where they go: file:///FOLDER or a
	// bucket's URL. Empty ObjectsFrom is the folder "objects" beside the file of an SQLite
	// database; without ObjectsTo no objects are copied.
	ObjectsFrom, ObjectsTo string

	Finish bool           // see [move.Options]
	Told   func(Progress) // nil tells nobody
	Log    *slog.Logger   // nil discards
}

// Progress is how far a copy is.
type Progress struct {
	move.Progress
	Objects     int64 `json:"objects"`      // copied by this call
	ObjectBytes int64 `json:"object_bytes"` // of theirs
}

// StageObjects is the stage in which objects are copied.
const StageObjects move.Stage = "objects"

// Report is what became of a copy.
type Report struct {
	move.Report
	From        string `json:"from"`
	To          string `json:"to"`
	Objects     int64  `json:"objects"`      // copied by this call
	ObjectBytes int64  `json:"object_bytes"` // of theirs
	ObjectsSame int64  `json:"objects_same"` // that were there already
	Damaged     int64  `json:"damaged"`      // artifacts whose bytes were not what they should be before
}

// Move copies a store; see [move.Move].
func Move(ctx context.Context, o Options) (r Report, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var b *objectCopier
	if o.ObjectsTo != "" || o.ObjectsFrom != "" {
		if b, err = openObjects(ctx, o); err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, b.close()) }()
	}
	from, err := openSide(ctx, "from", o.From, false, o.Log)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := openSide(ctx, "to", o.To, true, o.Log)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	tell := func(p move.Progress) {
		if o.Told == nil {
			return
		}
		out := Progress{Progress: p}
		if b != nil {
			out.Objects = b.copied.Load()
			out.ObjectBytes = b.bytes.Load()
			if b.busy.Load() {
				out.Stage = StageObjects
			}
		}
		o.Told(out)
	}
	options := move.Options{Finish: o.Finish, Told: tell}
	if b != nil {
		options.Beside = b.copyAll
	}
	r.Report, err = move.Move(ctx, from, to, options)
	r.From = from.Name
	r.To = to.Name
	if b != nil {
		r.Objects = b.copied.Load()
		r.ObjectBytes = b.bytes.Load()
		r.ObjectsSame = b.same.Load()
		r.Damaged = b.damaged.Load()
	}
	return r, err
}

// Cancel lets a store be written to again that was being moved, or was moved. What was copied
// stays where it is.
func Cancel(ctx context.Context, at string, log *slog.Logger) (err error) {
	from, err := openSide(ctx, "from", at, false, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	return move.Cancel(ctx, from)
}

// openSide opens the database that a flag names, and makes it if it may.
func openSide(ctx context.Context, flag, at string, missing bool, log *slog.Logger) (*move.Side, error) {
	u, err := url.Parse(at)
	switch {
	case err != nil:
	case u.Scheme == "postgres" || u.Scheme == "postgresql":
		return postgres.OpenSide(ctx, at, displayName(u), &postgres.Options{Log: log, Existing: !missing})
	case u.Scheme == "sqlite" && u.Host == "" && u.RawQuery == "" && filepath.IsAbs(filepath.FromSlash(u.Path)):
		path := filepath.FromSlash(u.Path)
		info, err := os.Stat(path)
		switch {
		case !missing && (errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0):
			return nil, scrollback.Errorf(scrollback.NotFound, moveOp, i18n.NoDatabaseAt, path)
		case missing:
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return nil, scrollback.Wrap(scrollback.Unavailable, moveOp, err)
			}
		}
		return sqlite.OpenSide(ctx, path, at, &sqlite.Options{Log: log})
	}
	return nil, scrollback.ParamErrorf(moveOp, flag, i18n.FlagIsDatabaseURL, flag)
}

// displayName returns a database as people are told of it: without user and password.
func displayName(u *url.URL) string {
	out := url.URL{Scheme: "postgres", Host: u.Host, Path: u.Path}
	asked := u.Query()
	kept := url.Values{}
	for _, key := range []string{"host", "port", "dbname", "search_path"} {
		if asked.Get(key) != "" {
			kept.Set(key, asked.Get(key))
		}
	}
	out.RawQuery = kept.Encode()
	if out.Host == "" {
		return "postgres://" + out.RequestURI()
	}
	return out.String()
}

// openObjects opens both places of objects.
func openObjects(ctx context.Context, o Options) (*objectCopier, error) {
	at := o.ObjectsFrom
	if o.ObjectsTo == "" {
		return nil, scrollback.ParamErrorf(moveOp, "objects_to", i18n.ObjectsFromWithoutObjectsTo)
	}
	if u, err := url.Parse(o.From); at == "" && err == nil && u.Scheme == "sqlite" {
		at = (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(filepath.Dir(filepath.FromSlash(u.Path)),
			"objects"))}).String()
	}
	if at == "" {
		return nil, scrollback.ParamErrorf(moveOp, "objects_from",
			i18n.ObjectsToWithoutObjectsFrom)
	}
	c := &objectCopier{log: o.Log}
	for _, side := range []struct {
		at       string
		readOnly bool
		into     **objects.Store
	}{{at, true, &c.from}, {o.ObjectsTo, false, &c.to}} {
		place, err := objects.ParsePlace("", side.at, cloud.Buckets())
		if err == nil && place.IsMemory() {
			err = scrollback.ParamErrorf(moveOp, "objects", i18n.ObjectsThatLast)
		}
		if err == nil {
			*side.into, err = objects.Open(ctx, place, side.readOnly)
		}
		if err == nil {
			err = (*side.into).ProbeStore(ctx, !side.readOnly)
		}
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}
