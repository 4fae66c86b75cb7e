package vault

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// ErrNotHere says that an object has been announced or listed, and cannot be read yet.
var ErrNotHere = errors.New("it is not here yet")

// Object is one entry of a list of objects.
type Object struct {
	Key  string // with slashes
	Size int64  // in bytes
}

// Objects are those of one vault. Errors are, or wrap, [blob.ErrMissing] for an object that is not there, and
// [ErrNotHere] for one that is and cannot be read yet.
type Objects interface {
	// List yields all objects in any order, and at last an error if the list did not come to its end.
	List(ctx context.Context) iter.Seq2[Object, error]

	// Read returns a whole object, if it has at most limit bytes.
	Read(ctx context.Context, key string, limit int64) ([]byte, error)

	// Put keeps an object that is complete before others see it. Nobody ever puts something else under that key.
	Put(ctx context.Context, key string, content []byte) error

	// Delete removes an object. One that is not there is no error.
	Delete(ctx context.Context, key string) error
}

// errTooLong says that an object is longer than any of its kind.
var errTooLong = errors.New("it is longer than any of its kind")

// bucketObjects are the objects of a bucket.
type bucketObjects struct {
	bucket  blob.Bucket
	explain func(op string, err error) error
}

// NewBucket returns the objects of a bucket. explain says of an error what a person can do; without it the error stays
// as it is.
func NewBucket(b blob.Bucket, explain func(op string, err error) error) Objects {
	if explain == nil {
		explain = func(op string, err error) error { return scrollback.Wrap(scrollback.Unavailable, op, err) }
	}
	return bucketObjects{b, explain}
}

func (b bucketObjects) List(ctx context.Context) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for o, err := range b.bucket.List(ctx, "") {
			if err != nil {
				yield(Object{}, b.explain(op, err))
				return
			}
			if !yield(Object(o), nil) {
				return
			}
		}
	}
}

func (b bucketObjects) Read(ctx context.Context, key string, limit int64) ([]byte, error) {
	r, err := b.bucket.Open(ctx, key)
	if errors.Is(err, blob.ErrMissing) {
		return nil, err
	}
	if err != nil {
		return nil, b.explain(op, err)
	}
	out, err := readAtMost(r, limit)
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	if err != nil && !errors.Is(err, errTooLong) {
		return nil, b.explain(op, err)
	}
	return out, err
}

// readAtMost reads to the end, or fails with errTooLong.
func readAtMost(r io.Reader, limit int64) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(out)) > limit {
		return nil, errTooLong
	}
	return out, err
}

func (b bucketObjects) Put(ctx context.Context, key string, content []byte) error {
	err := b.bucket.Write(ctx, key, bytes.NewReader(content), "application/octet-stream")
	if err != nil {
		return b.explain(op, err)
	}
	return nil
}

func (b bucketObjects) Delete(ctx context.Context, key string) error {
	err := b.bucket.Delete(ctx, key)
	if err == nil || errors.Is(err, blob.ErrMissing) {
		return nil
	}
	return b.explain(op, err)
}

// list returns all objects. A list that does not come to its end is none.
func list(ctx context.Context, o Objects) ([]Object, error) {
	var out []Object
	for each, err := range o.List(ctx) {
		if err != nil {
			code := scrollback.Unavailable
			var known *scrollback.Error
			if errors.As(err, &known) {
				code = known.Code
			}
			if errors.Is(err, context.Canceled) {
				return nil, scrollback.Wrap(scrollback.Canceled, op, err)
			}
			return nil, scrollback.Errorf(code, op, i18n.VaultCannotBeListed, err)
		}
		out = append(out, each)
	}
	return out, nil
}
