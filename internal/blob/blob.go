// Package blob says what is needed of a place that keeps bytes under keys, and has two of them: a
// folder and memory. Those that are reached over a network are in package cloud.
//
// Words it adds: object (bytes under a key), bucket (a place of objects).
//
// Invariants: an object is written whole or not at all; a list comes to its true end, in the order
// of the keys, or ends with an error.
package blob

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// ErrMissing says that a bucket has no object under a key.
var ErrMissing = errors.New("there is no such object")

// ErrEndless says that a service sends the same again, or only says that there is more.
var ErrEndless = errors.New("the list of objects does not end")

// Bucket keeps objects. It is safe for concurrent use. Errors are, or wrap, ErrMissing for an
// object that is not there, and context.Canceled for a call that was canceled.
type Bucket interface {
	// Open reads an object.
	Open(ctx context.Context, key string) (Reader, error)

	// OpenRange reads at most length bytes of an object from an offset on.
	OpenRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)

	// Attributes tell of an object without reading it.
	Attributes(ctx context.Context, key string) (Attributes, error)

	// List yields the objects whose keys begin with prefix, ascending, and at last an error
	// if the list did not come to its end.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]

	// Write keeps what r has under a key, in place of what was there. If r fails, or ctx ends,
	// nothing has changed. Not every bucket keeps the media type.
	Write(ctx context.Context, key string, r io.Reader, mediaType string) error

	// Delete removes an object.
	Delete(ctx context.Context, key string) error

	// Close ends the use of the bucket.
	Close() error
}

// Reader reads an object.
type Reader interface {
	io.ReadSeekCloser

	Size() int64       // of the whole object
	MediaType() string // "application/octet-stream" where it is not known
}

// Attributes are what is known of an object.
type Attributes struct {
	Size    int64
	ModTime time.Time
}

// Object is one entry of a list.
type Object struct {
	Key  string
	Size int64
}

// unknownType is the media type of objects whose own was not kept.
const unknownType = "application/octet-stream"

// Exists reports whether a bucket has an object.
func Exists(ctx context.Context, b Bucket, key string) (bool, error) {
	_, err := b.Attributes(ctx, key)
	if errors.Is(err, ErrMissing) {
		return false, nil
	}
	return err == nil, err
}

// ReadAll reads a whole object into memory.
func ReadAll(ctx context.Context, b Bucket, key string) ([]byte, error) {
	r, err := b.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(r)
	return content, errors.Join(err, r.Close())
}

// WriteAll writes an object from memory.
func WriteAll(ctx context.Context, b Bucket, key string, content []byte) error {
	return b.Write(ctx, key, bytes.NewReader(content), unknownType)
}
