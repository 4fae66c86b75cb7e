package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/archive"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/offline"
	"github.com/scrollback-ai/scrollback/model/openai"
	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/store/sqldriver"
	"github.com/scrollback-ai/scrollback/token"
	"github.com/scrollback-ai/scrollback/transcript/all"
)

// closeTime is how long a command waits for what still runs.
const closeTime = 30 * time.Second

// app is the program put together.
type app struct {
	*engine.Engine
	store  *store.Store
	bucket *blob.Bucket
}

// open puts the program together over the data folder.
func (g *globals) open() (*app, error) {
	const op = "scrollback"
	dir, err := g.dataDir()
	if err != nil {
		return nil, scrollback.Wrap(scrollback.Invalid, op, err)
	}
	limit, err := g.window()
	if err != nil {
		return nil, err
	}
	objects := filepath.Join(dir, "objects")
	if err := os.MkdirAll(objects, 0o700); err != nil {
		return nil, scrollback.Wrap(scrollback.Unavailable, op, err)
	}
	db, err := sqldriver.OpenSQLite(g.ctx, filepath.Join(dir, "scrollback.db"), nil)
	if err != nil {
		return nil, err
	}
	bucket, err := fileblob.OpenBucket(objects, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite, DirFileMode: 0o700})
	if err != nil {
		return nil, errors.Join(scrollback.Wrap(scrollback.Unavailable, op, err), db.Close())
	}
	a := &app{bucket: bucket, store: store.New(db, &store.Options{Tokens: token.Count, Image: token.Image})}
	arch := archive.New(a.store, bucket, &archive.Options{Dir: filepath.Join(dir, "context"), Durable: syncFile(objects)})
	a.Engine = engine.New(a.store, arch, engine.Options{
		Models: models, Model: g.Model, Limit: limit, Importers: all.Importers(), Exporters: all.Exporters(), Log: g.logger(),
	})
	return a, nil
}

// window is the limit, in tokens, that the flag or else the environment gives.
func (g *globals) window() (int64, error) {
	text := os.Getenv("SCROLLBACK_LIMIT")
	if g.Limit != 0 || text == "" {
		return g.Limit, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, scrollback.ParamErrorf("scrollback", "limit", "SCROLLBACK_LIMIT=%q is no number of tokens", text)
	}
	return n, nil
}

// close ends what runs, then the store.
func (a *app) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return errors.Join(a.Engine.Close(ctx), a.bucket.Close(), a.store.Close())
}

// with runs fn over the opened program.
func (g *globals) with(fn func(a *app) error) (err error) {
	a, err := g.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	return fn(a)
}

// models is the table of models by name.
func models(name string) (model.Model, error) {
	if name == "offline" {
		pace, err := time.ParseDuration(os.Getenv("SCROLLBACK_OFFLINE_PACE"))
		if err != nil {
			pace = 0
		}
		return offline.New(&offline.Options{Pace: pace}), nil
	}
	return openai.Find(name, os.Getenv)
}

// syncFile makes an object durable: its file, then the folders that name it.
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
			err = f.Sync()
			if closeErr := f.Close(); err == nil {
				err = closeErr
			}
			if err != nil || path == root {
				return err
			}
		}
	}
}
