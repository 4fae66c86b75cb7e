package main

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/blob/s3blob"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/model"
	providers "github.com/scrollback-ai/scrollback/model/all"
	"github.com/scrollback-ai/scrollback/model/offline"
	"github.com/scrollback-ai/scrollback/model/remote"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/memdriver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlite"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/transcript/all"
	"github.com/scrollback-ai/scrollback/workspace"
)

// closeTime is how long a command waits for what still runs.
const closeTime = 30 * time.Second

// app is the program put together.
type app struct {
	*engine.Engine
	store   *store.Store
	archive *archive.Archive
	bucket  *blob.Bucket
}

// open puts the program together over the data folder, which it makes.
func (g *globals) open() (*app, error) {
	dir, err := g.dataDir()
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
	}
	db, err := sqlite.Open(g.ctx, filepath.Join(dir, "scrollback.db"), nil)
	if err != nil {
		return nil, err
	}
	bucket, durable, err := g.openObjects(dir, true)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return g.assemble(db, bucket, &archive.Options{Dir: filepath.Join(dir, "context"), Durable: durable})
}

// openObjects opens where the bytes of artifacts are kept: what is configured, or else
// a folder beside the database, which it makes where told to; one that is not there is
// empty. Durable makes an object of a folder survive a power cut, and is nil where
// that is the business of a service.
func (g *globals) openObjects(dir string, mayMake bool) (b *blob.Bucket, durable func(key string) error, err error) {
	bad := func(format string, args ...any) error {
		return scrollback.ParamErrorf("scrollback", "objects", format, args...)
	}
	folder := filepath.Join(dir, "objects")
	if g.set.Objects != "" {
		u, err := url.Parse(g.set.Objects)
		switch {
		case err != nil:
			return nil, nil, bad("objects is no URL")
		case u.Scheme == "s3" && u.Host != "":
			b, err = openS3(g.ctx, u)
			if err != nil {
				return nil, nil, bad("objects: %w", err)
			}
			return b, nil, nil
		case u.Scheme != "file" || u.Host != "" || !filepath.IsAbs(filepath.FromSlash(u.Path)):
			return nil, nil, bad("objects is s3://BUCKET[/PREFIX][?region=…&endpoint=…] or file:///FOLDER")
		}
		folder = filepath.FromSlash(u.Path)
	}
	if mayMake {
		err = os.MkdirAll(folder, 0o700)
	} else if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
		return memblob.OpenBucket(nil), nil, nil
	}
	if err == nil {
		b, err = fileblob.OpenBucket(folder, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite, DirFileMode: 0o700})
	}
	return b, syncFile(folder), scrollback.Wrap(scrollback.Unavailable, "scrollback", err)
}

// openS3 opens a bucket of a service that speaks S3. Keys come from the environment, as
// for any of its clients.
func openS3(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	at := *u
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("its parameters cannot be read")
	}
	// Services that are not Amazon's refuse the checksums that its client sends by itself,
	// and send none to hold an answer against.
	for _, name := range []string{"request_checksum_calculation", "response_checksum_validation"} {
		if q.Get(name) == "" {
			q.Set(name, "when_required")
		}
	}
	prefix := strings.Trim(at.Path, "/")
	at.Path, at.RawQuery = "", q.Encode()
	b, err := (&s3blob.URLOpener{}).OpenBucketURL(ctx, &at)
	if err == nil && prefix != "" {
		b = blob.PrefixedBucket(b, prefix+"/")
	}
	return b, err
}

// openKept is open for commands about what is kept already: where nothing is, it
// makes nothing, and finds nothing.
func (g *globals) openKept() (*app, error) {
	dir, err := g.dataDir()
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, "scrollback", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "scrollback.db")); errors.Is(err, os.ErrNotExist) {
		return g.assemble(memdriver.New(), memblob.OpenBucket(nil), nil)
	}
	return g.open()
}

// assemble puts the program together over a database and a bucket.
func (g *globals) assemble(db *driver.Driver, bucket *blob.Bucket, o *archive.Options) (*app, error) {
	kept, err := store.New(db, token.Count, &store.Options{Image: token.Image, Learn: token.Learn})
	if err != nil {
		return nil, err
	}
	a := &app{bucket: bucket, store: kept}
	catalog := token.NewCatalog(g.set.Models)
	a.archive = archive.New(a.store, bucket, o)
	a.Engine = engine.New(a.store, a.archive, engine.Options{
		Models: g.model, Model: g.set.Model, SummaryModels: g.set.SummaryModels, Compaction: g.set.Folding, Projects: g.set.Projects, Eager: g.set.Eager, Limit: g.set.Limit,
		Strict: g.set.Strict, ReplyBounds: g.set.ReplyBounds,
		Catalog: catalog, ModelNames: func() []string { return g.modelNames(catalog) },
		Place: g.place(), Importers: all.Importers(), Exporters: all.Exporters(), Log: g.logger(),
	})
	return a, nil
}

// place is what conversations are told of where they work.
func (g *globals) place() *workspace.Place {
	if g.set.NoEnvironment {
		return nil
	}
	p := &workspace.Place{Roots: g.roots, MemoryNames: g.set.MemoryFiles, Setup: g.set.Setup, Temp: os.TempDir(), OS: runtime.GOOS, Now: time.Now(),
		Locale: cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_TIME"), os.Getenv("LANG"))}
	if dir, err := os.UserConfigDir(); err == nil {
		p.UserFolder = filepath.Join(dir, "scrollback")
	}
	return p
}

// grant settles the folders that the operator grants: as told, or else those of them
// that are there.
func (g *globals) grant(otherwise ...string) (err error) {
	if g.set.Roots != nil {
		g.roots, err = workspace.Grant(g.set.Roots)
		return err
	}
	g.roots, err = workspace.Grant(otherwise)
	if scrollback.CodeOf(err) == scrollback.Invalid { // the current folder was removed
		return nil
	}
	return err
}

// close ends what runs, then the store.
func (a *app) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return errors.Join(a.Engine.Close(ctx), a.bucket.Close(), a.store.Close())
}

// with runs fn over the opened program; kept likewise for what is kept already.
func (g *globals) with(fn func(a *app) error) error { return during(g.open, fn) }
func (g *globals) kept(fn func(a *app) error) error { return during(g.openKept, fn) }

func during(open func() (*app, error), fn func(a *app) error) (err error) {
	a, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	return fn(a)
}

// model makes a model by name, as the config file would have it.
func (g *globals) model(name string) (model.Model, error) {
	if name == "offline" {
		pace, err := time.ParseDuration(os.Getenv("SCROLLBACK_OFFLINE_PACE"))
		if err != nil {
			pace = 0
		}
		return offline.New(&offline.Options{Pace: pace}), nil
	}
	return providers.Find(name, g.set.env, remote.Options{Agent: "scrollback/" + version()})
}

// modelNames lists the models that can be asked: of providers whose key is set.
func (g *globals) modelNames(c *token.Catalog) []string {
	names := []string{"offline"}
	for _, provider := range providers.Ready(g.set.env) {
		names = append(names, c.Names(provider)...)
	}
	return names
}

// syncFile makes an object durable: its file, then the folders that name it. The bucket
// makes files that all may read, which is not for what somebody said.
func syncFile(root string) func(key string) error {
	return func(key string) error {
		for path := filepath.Join(root, filepath.FromSlash(key)); ; path = filepath.Dir(path) {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if info.IsDir() && runtime.GOOS == "windows" {
				return nil // folders are not synced there
			}
			mode := os.O_RDWR
			if info.IsDir() {
				mode = os.O_RDONLY
			}
			f, err := os.OpenFile(path, mode, 0)
			if err != nil {
				return err
			}
			if !info.IsDir() {
				err = f.Chmod(0o600)
			}
			if err == nil {
				err = f.Sync()
			}
			if closeErr := f.Close(); err == nil {
				err = closeErr
			}
			if err != nil || path == root {
				return err
			}
		}
	}
}
