package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// memoryBucket is a bucket that ends with the program.
type memoryBucket struct {
	mu   sync.RWMutex
	kept map[string]heldObject // nil when it was closed
}

// errClosed is what comes of using a bucket that was closed.
var errClosed = errors.New("the bucket was closed")

// heldObject is an object in memory. Its content never changes.
type heldObject struct {
	content   []byte
	at        time.Time
	mediaType string
}

// NewMemory makes a bucket in memory.
func NewMemory() Bucket { return &memoryBucket{kept: map[string]heldObject{}} }

func (m *memoryBucket) findObject(key string) (heldObject, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.kept == nil {
		return heldObject{}, errClosed
	}
	o, ok := m.kept[key]
	if !ok {
		return heldObject{}, fmt.Errorf("%w: %s", ErrMissing, key)
	}
	return o, nil
}

// heldReader reads an object in memory.
type heldReader struct {
	*bytes.Reader
	mediaType string
}

func (r *heldReader) MediaType() string { return r.mediaType }
func (r *heldReader) Close() error      { return nil }

func (m *memoryBucket) Open(_ context.Context, key string) (Reader, error) {
	o, err := m.findObject(key)
	if err != nil {
		return nil, err
	}
	return &heldReader{bytes.NewReader(o.content), o.mediaType}, nil
}

func (m *memoryBucket) OpenRange(_ context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	o, err := m.findObject(key)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(io.NewSectionReader(bytes.NewReader(o.content), offset, length)), nil
}

func (m *memoryBucket) Attributes(_ context.Context, key string) (Attributes, error) {
	o, err := m.findObject(key)
	return Attributes{Size: int64(len(o.content)), ModTime: o.at}, err
}

func (m *memoryBucket) List(_ context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		m.mu.RLock()
		keys := slices.Sorted(maps.Keys(m.kept))
		m.mu.RUnlock()
		for _, key := range keys {
			if !strings.HasPrefix(key, prefix) {
				continue
			}
			o, err := m.findObject(key)
			if err != nil {
				continue // it was removed meanwhile
			}
			if !yield(Object{Key: key, Size: int64(len(o.content))}, nil) {
				return
			}
		}
	}
}

func (m *memoryBucket) Write(ctx context.Context, key string, r io.Reader, mediaType string) error {
	content, err := io.ReadAll(r)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		return errClosed
	}
	m.kept[key] = heldObject{content, time.Now(), mediaType}
	return nil
}

func (m *memoryBucket) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		return errClosed
	}
	if _, ok := m.kept[key]; !ok {
		return fmt.Errorf("%w: %s", ErrMissing, key)
	}
	delete(m.kept, key)
	return nil
}

func (m *memoryBucket) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = nil
	return nil
}
