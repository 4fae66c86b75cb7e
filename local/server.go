package local

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/archive"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// serverScheme returns the scheme of a database that is on a PostgreSQL server. The rest of its URL is
// not looked at here: it may hold a password, and errors of package url repeat what they
// could not read.
func serverScheme(at string) (scheme string, is bool) {
	scheme, _, is = strings.Cut(at, "://")
	return scheme, is && (scheme == "postgres" || scheme == "postgresql")
}

// openServer opens a database on a server, which other programs like this one may share.
// The folder holds only what each of them can make again, and objects unless they are
// elsewhere.
func openServer(ctx context.Context, dir string, open DatabaseOpener, o *Options) (at storePlaces, err error) {
	kept, err := objects.ParsePlace(dir, o.Objects, o.Services.Buckets)
	if err == nil {
		err = checkLasting(kept)
	}
	if err != nil {
		return at, err
	}
	log := o.Engine.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if at.db, at.readOnly, err = open(ctx, o.Database, o.Mode, log); err != nil {
		return at, err
	}
	if o.Objects == "" {
		log.Warn("artifacts are kept in a folder of this machine; servers that share a database need one place for them (objects)", "folder", kept.Folder)
	}
	if at.objects, err = objects.Open(ctx, kept, at.readOnly); err != nil {
		return at, errors.Join(err, at.db.Close())
	}
	at.db.Ready = joinChecks(at.db.Ready, at.objects.CheckReady)
	if at.readOnly {
		return at, nil
	}
	at.archive = &archive.Options{Dir: filepath.Join(dir, "context"), Durable: at.objects.Durable, Now: at.db.Clock}
	if err := os.MkdirAll(dir, 0o700); err != nil || checkWritable(dir) != nil {
		at.archive.Dir = "" // a server without a disk of its own makes them in memory
	}
	if kept.Folder != "" {
		at.db.Ready = addRoomCheck(at.db.Ready, kept.Folder)
	}
	return at, nil
}

// checkLasting refuses objects that end with the program, beside a database that does not.
func checkLasting(kept objects.Place) error {
	if kept.IsMemory() {
		return scrollback.ParamErrorf("local.Open", "objects",
			i18n.LastingDatabaseNeedsLastingObjects)
	}
	return nil
}
