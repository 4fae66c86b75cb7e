package local

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/blob/s3blob"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/store/driver"
	"github.com/scrollback-ai/scrollback/store/memdriver"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlite"
)

// places are where things are kept.
type places struct {
	db      *driver.Driver
	bucket  *blob.Bucket
	archive *archive.Options

	readOnly bool
}

// openPlaces opens the database and the bucket.
func openPlaces(ctx context.Context, dir string, o *Options) (places, error) {
	const op = "local.Open"
	if o.Mode < Make || o.Mode > ReadOnly {
		return places{}, scrollback.ParamErrorf(op, "mode", "there is no mode %d", o.Mode)
	}
	file, err := databaseFile(dir, o.Database)
	if err != nil {
		return places{}, err
	}
	if file == "" && o.Mode == ReadOnly {
		return places{}, scrollback.ParamErrorf(op, "mode", "a database in memory is empty: there is nothing to read")
	}
	kept, err := parseObjects(dir, o.Objects)
	if err != nil {
		return places{}, err
	}
	if _, err := os.Stat(file); file == "" || o.Mode == Existing && errors.Is(err, os.ErrNotExist) {
		return openMemory(ctx, kept, o, file != "")
	}
	if u, err := url.Parse(o.Objects); err == nil && u.Scheme == "memory" {
		return places{}, scrollback.ParamErrorf(op, "objects", "a database that lasts needs objects that last: s3://BUCKET or file:///FOLDER")
	}
	at, err := openFile(ctx, dir, file, o)
	if err != nil {
		return at, err
	}
	mode := o.Mode
	if at.archive == nil {
		mode, at.readOnly = ReadOnly, true
	}
	var durable func(key string) error
	if at.bucket, durable, err = kept.open(ctx, mode); err != nil {
		return at, errors.Join(err, at.db.Close())
	}
	if at.archive != nil {
		at.archive.Durable = durable
		in := []string{filepath.Dir(file)}
		if kept.folder != "" {
			in = append(in, kept.folder)
		}
		at.db.Ready = ready(at.db.Ready, in...)
	}
	return at, nil
}

// openFile opens a database that lasts. Without options for an archive it was opened for
// reading only.
func openFile(ctx context.Context, dir, file string, o *Options) (at places, err error) {
	const op = "local.Open"
	if o.Mode == ReadOnly {
		at.db, err = sqlite.OpenReadOnly(ctx, file)
		return at, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return at, scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	for _, path := range []string{filepath.Dir(file), file} {
		if err := writable(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			if _, missing := os.Stat(file); missing == nil && o.Mode == Existing {
				at.db, err = sqlite.OpenReadOnly(ctx, file)
				return at, err
			}
			return at, scrollback.Errorf(scrollback.Unavailable, op, "%s may only be read (%w); serve --read-only, and commands that only read, work there", path, err)
		}
	}
	log := o.Engine.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	tighten(dir, file, log)
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
func openMemory(ctx context.Context, kept objects, o *Options, missing bool) (at places, err error) {
	at.db, at.bucket = memdriver.New(), memblob.OpenBucket(nil)
	if !missing && o.Objects != "" {
		at.bucket, _, err = kept.open(ctx, o.Mode)
	}
	return at, err
}

// databaseFile is the file of a database, or empty for one in memory.
func databaseFile(dir, at string) (string, error) {
	if at == "" {
		return filepath.Join(dir, "scrollback.db"), nil
	}
	u, err := url.Parse(at)
	switch {
	case err == nil && u.Scheme == "memory":
		return "", nil
	case err == nil && u.Scheme == "sqlite" && u.Host == "" && u.RawQuery == "" && filepath.IsAbs(filepath.FromSlash(u.Path)):
		return filepath.FromSlash(u.Path), nil
	}
	return "", scrollback.ParamErrorf("local.Open", "database", "a database is sqlite:///PATH or memory:")
}

// objects is where the bytes of artifacts are kept: in a bucket of a service, in a
// folder, or with neither in memory.
type objects struct {
	service *url.URL
	folder  string
}

// parseObjects reads where artifacts are kept; empty is a folder beside the database.
func parseObjects(dir, at string) (objects, error) {
	if at == "" {
		return objects{folder: filepath.Join(dir, "objects")}, nil
	}
	u, err := url.Parse(at)
	switch {
	case err == nil && u.Scheme == "memory":
		return objects{}, nil
	case err == nil && u.Scheme == "s3" && u.Host != "":
		return objects{service: u}, nil
	case err == nil && u.Scheme == "file" && u.Host == "" && filepath.IsAbs(filepath.FromSlash(u.Path)):
		return objects{folder: filepath.FromSlash(u.Path)}, nil
	}
	return objects{}, scrollback.ParamErrorf("local.Open", "objects", "objects is s3://BUCKET[/PREFIX][?region=…&endpoint=…], file:///FOLDER or memory:")
}

// open opens the bucket. A folder is made, unless it may only be read: one that is not
// there is empty then. durable makes an object of a folder survive a power cut, and is
// nil where that is the business of a service.
func (at objects) open(ctx context.Context, mode Mode) (b *blob.Bucket, durable func(key string) error, err error) {
	switch {
	case at.service != nil:
		if b, err = openS3(ctx, at.service); err != nil {
			return nil, nil, scrollback.ParamErrorf("local.Open", "objects", "objects: %w", err)
		}
		return b, nil, nil
	case at.folder == "":
		return memblob.OpenBucket(nil), nil, nil
	}
	if mode != ReadOnly {
		err = os.MkdirAll(at.folder, 0o700)
	} else if _, err := os.Stat(at.folder); errors.Is(err, os.ErrNotExist) {
		return memblob.OpenBucket(nil), nil, nil
	}
	if err == nil {
		b, err = fileblob.OpenBucket(at.folder, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite, DirFileMode: 0o700})
	}
	return b, func(key string) error { return Sync(at.folder, key) }, scrollback.Wrap(scrollback.Unavailable, "local.Open", err)
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

// Sync makes a file durable that was written below a folder: the file, which only its
// owner may read from then on, and the folders that name it. A key is the file's path
// from there, with slashes.
func Sync(root, key string) error {
	for path := filepath.Join(root, filepath.FromSlash(key)); ; path = filepath.Dir(path) {
		if err := syncOne(path); err != nil || path == root {
			return err
		}
	}
}

func syncOne(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	mode := os.O_RDWR
	switch {
	case info.IsDir() && runtime.GOOS == "windows":
		return nil // folders are not synced there
	case info.IsDir():
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
	return err
}
