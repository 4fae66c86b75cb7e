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
	"github.com/scrollback-ai/scrollback/internal/store/sql/move"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// copyWorkers are how many objects are copied at once.
const copyWorkers = 4

// probeCount begin the keys of what is written to try a bucket.
const probeCount = ".scrollback/"

// objectCopier copies objects from one place to another.
type objectCopier struct {
	from, to            *objects.Store
	log                 *slog.Logger
	copied, same, bytes atomic.Int64
	damaged             atomic.Int64
	busy                atomic.Bool
}

func (c *objectCopier) close() error {
	var err error
	for _, s := range []*objects.Store{c.from, c.to} {
		if s != nil {
			err = errors.Join(err, s.Bucket.Close())
		}
	}
	return err
}

// copyAll copies the objects that are not there. They never change: one of the same length is the
// same. Both lists are in the order of their keys.
func (c *objectCopier) copyAll(ctx context.Context, _ *move.Side) error {
	c.busy.Store(true)
	defer c.busy.Store(false)
	c.same.Store(0)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan string)
	var wg sync.WaitGroup
	for range copyWorkers {
		wg.Go(func() {
			for key := range todo {
				if err := c.copyObject(ctx, key); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := c.eachMissing(ctx, func(key string) {
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

// eachMissing calls fn with the keys of objects that the target does not have.
func (c *objectCopier) eachMissing(ctx context.Context, fn func(key string)) error {
	here, stop := iter.Pull2(c.from.Bucket.List(ctx, ""))
	defer stop()
	there, stop := iter.Pull2(c.to.Bucket.List(ctx, ""))
	defer stop()
	known, err := nextObject(c.to, there)
	for err == nil {
		var o *blob.Object
		if o, err = nextObject(c.from, here); o == nil || err != nil {
			return err
		}
		for err == nil && known != nil && known.Key < o.Key {
			known, err = nextObject(c.to, there)
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

// nextObject returns the next object of a list that counts, or nil.
func nextObject(s *objects.Store, list func() (blob.Object, error, bool)) (*blob.Object, error) {
	for {
		o, err, more := list()
		switch {
		case err != nil:
			return nil, s.ExplainError(moveOp, err)
		case !more:
			return nil, nil
		case !strings.HasPrefix(o.Key, probeCount):
			return &o, nil
		}
	}
}

// copyObject copies an object, and reads the copy back. An artifact is called by its hash.
func (c *objectCopier) copyObject(ctx context.Context, key string) error {
	sum, n, err := c.sendObject(ctx, key)
	if err != nil {
		return err
	}
	if name := path.Base(key); strings.HasPrefix(key, "artifacts/") && len(name) == len(sum) && name != sum {
		c.damaged.Add(1)
		c.log.Warn("an artifact is damaged where it is; it was copied as it is", "object", key, "sha256", sum)
	}
	r, err := c.to.Bucket.Open(ctx, key)
	if err != nil {
		return c.to.ExplainError(moveOp, err)
	}
	h := sha256.New()
	_, err = io.Copy(h, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return c.to.ExplainError(moveOp, err)
	}
	if back := hex.EncodeToString(h.Sum(nil)); back != sum {
		return scrollback.Errorf(scrollback.Internal, moveOp,
			i18n.ObjectCopiedWrong, key, sum, back)
	}
	c.copied.Add(1)
	c.bytes.Add(n)
	return nil
}

// sendObject writes an object, and returns its hash. One that is cut short is not there.
func (c *objectCopier) sendObject(ctx context.Context, key string) (sum string, n int64, err error) {
	r, err := c.from.Bucket.Open(ctx, key)
	if err != nil {
		return "", 0, c.from.ExplainError(moveOp, err)
	}
	defer func() { _ = r.Close() }() // it was read to its end, or failed
	h := sha256.New()
	source := &countingReader{r: io.TeeReader(r, h)}
	err = c.to.Bucket.Write(ctx, key, source, r.MediaType())
	if source.err != nil {
		return "", 0, c.from.ExplainError(moveOp, source.err)
	}
	if err != nil {
		return "", 0, c.to.ExplainError(moveOp, err)
	}
	if c.to.Durable != nil {
		if err := c.to.Durable(key); err != nil {
			return "", 0, scrollback.Wrap(scrollback.Unavailable, moveOp, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), source.n, nil
}

// countingReader counts what is read, and keeps why reading failed.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF { //nolint:errorlint // an end that something else wraps is that of a connection
		c.err = err
	}
	return n, err
}
