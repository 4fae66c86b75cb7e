package moving

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"log/slog"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/local/objects"
	"github.com/scrollback-ai/scrollback/store/sql/move"
)

// carriers are how many objects are copied at once.
const carriers = 4

// probes begin the keys of what is written to try a bucket.
const probes = ".scrollback/"

// carrier copies objects from one place to another.
type carrier struct {
	from, to            *objects.Store
	log                 *slog.Logger
	copied, same, bytes atomic.Int64
	damaged             atomic.Int64
	busy                atomic.Bool
}

func (c *carrier) close() error {
	var err error
	for _, s := range []*objects.Store{c.from, c.to} {
		if s != nil {
			err = errors.Join(err, s.Bucket.Close())
		}
	}
	return err
}

// carry copies the objects that are not there. They never change: one of the same length is the
// same. Both lists are in the order of their keys.
func (c *carrier) carry(ctx context.Context, _ *move.Side) error {
	c.busy.Store(true)
	defer c.busy.Store(false)
	c.same.Store(0)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan string)
	var wg sync.WaitGroup
	for range carriers {
		wg.Go(func() {
			for key := range todo {
				if err := c.copy(ctx, key); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := c.missing(ctx, func(key string) {
		select {
		case todo <- key:
		case <-ctx.Done():
		}
	})
	close(todo)
	wg.Wait()
	if err != nil && ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// missing calls fn with the keys of objects that the target does not have.
func (c *carrier) missing(ctx context.Context, fn func(key string)) error {
	here, stop := iter.Pull2(c.from.Bucket.List(ctx, ""))
	defer stop()
	there, stop := iter.Pull2(c.to.Bucket.List(ctx, ""))
	defer stop()
	known, err := next(c.to, there)
	for err == nil {
		var o *blob.Object
		if o, err = next(c.from, here); o == nil || err != nil {
			return err
		}
		for err == nil && known != nil && known.Key < o.Key {
			known, err = next(c.to, there)
		}
		switch {
		case err != nil:
		case known != nil && known.Key == o.Key && known.Size == o.Size:
			c.same.Add(1)
		default:
			fn(o.Key)
		}
	}
	return err
}

// next is the next object of a list that counts, or nil.
func next(s *objects.Store, list func() (blob.Object, error, bool)) (*blob.Object, error) {
	for {
		o, err, more := list()
		switch {
		case err != nil:
			return nil, s.Explain(op, err)
		case !more:
			return nil, nil
		case !strings.HasPrefix(o.Key, probes):
			return &o, nil
		}
	}
}

// copy copies an object, and reads the copy back. An artifact is called by its hash.
func (c *carrier) copy(ctx context.Context, key string) error {
	sum, n, err := c.send(ctx, key)
	if err != nil {
		return err
	}
	if name := path.Base(key); strings.HasPrefix(key, "artifacts/") && len(name) == len(sum) && name != sum {
		c.damaged.Add(1)
		c.log.Warn("an artifact is damaged where it is; it was copied as it is", "object", key, "sha256", sum)
	}
	r, err := c.to.Bucket.Open(ctx, key)
	if err != nil {
		return c.to.Explain(op, err)
	}
	h := sha256.New()
	_, err = io.Copy(h, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return c.to.Explain(op, err)
	}
	if back := hex.EncodeToString(h.Sum(nil)); back != sum {
		return scrollback.Errorf(scrollback.Internal, op,
			i18n.ObjectCopiedWrong, key, sum, back)
	}
	c.copied.Add(1)
	c.bytes.Add(n)
	return nil
}

// send writes an object, and returns its hash. One that is cut short is not there.
func (c *carrier) send(ctx context.Context, key string) (sum string, n int64, err error) {
	r, err := c.from.Bucket.Open(ctx, key)
	if err != nil {
		return "", 0, c.from.Explain(op, err)
	}
	defer func() { _ = r.Close() }() // it was read to its end, or failed
	h := sha256.New()
	source := &counted{r: io.TeeReader(r, h)}
	err = c.to.Bucket.Write(ctx, key, source, r.MediaType())
	if source.err != nil {
		return "", 0, c.from.Explain(op, source.err)
	}
	if err != nil {
		return "", 0, c.to.Explain(op, err)
	}
	if c.to.Durable != nil {
		if err := c.to.Durable(key); err != nil {
			return "", 0, scrollback.Wrap(scrollback.Unavailable, op, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), source.n, nil
}

// counted counts what is read, and keeps why reading failed.
type counted struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF { //nolint:errorlint // an end that something else wraps is that of a connection
		c.err = err
	}
	return n, err
}
