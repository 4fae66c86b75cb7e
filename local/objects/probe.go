package objects

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
)

// probePrefix begins the keys of what is written to try a bucket.
const probePrefix = ".scrollback/"

// probeTime is how long trying a bucket may take.
const probeTime = 20 * time.Second

// ProbeStore tries a bucket of a service: what does not exist is read, and the bucket listed;
// if it is to be written to, a small object is written, read back, compared and removed as
// well. It returns what [Store.ExplainError] does, and nil for a folder and for memory.
func (s *Store) ProbeStore(ctx context.Context, write bool) error {
	const op = "local.Probe"
	if s.remote == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if err := s.probeRead(ctx, op); err != nil {
		return err
	}
	err := error(nil)
	for _, err = range s.Bucket.List(ctx, probePrefix) {
		break
	}
	switch {
	case errors.Is(err, blob.ErrEndless):
		return s.faultError(op, NotAStore, err)
	case err == nil:
	case errors.Is(err, blob.ErrMissing) && s.remote.Classify(err) == NoFault: // not even a reason
		return s.faultError(op, NotAStore, err)
	default:
		return s.probeError(op, err)
	}
	if !write {
		return nil
	}
	return s.probeWrite(ctx, op)
}

// probeRead reads an object that is not there. A GET is answered with a reason, unlike a HEAD.
func (s *Store) probeRead(ctx context.Context, op string) error {
	r, err := s.Bucket.Open(ctx, probePrefix+"nothing")
	if err == nil {
		return r.Close()
	}
	said := s.ExplainError(op, err)
	if scrollback.CodeOf(said) != scrollback.Unavailable && errors.Is(err, blob.ErrMissing) {
		return nil
	}
	return s.probeError(op, err)
}

// probeWrite writes an object and takes it away again.
func (s *Store) probeWrite(ctx context.Context, op string) error {
	mark := make([]byte, 16)
	_, _ = rand.Read(mark) // never fails
	key := probePrefix + "probe-" + hex.EncodeToString(mark[:8])
	content := []byte(hex.EncodeToString(mark) + "\n")
	if err := s.Bucket.Write(ctx, key, bytes.NewReader(content), "text/plain"); err != nil {
		return s.probeError(op, err)
	}
	got, err := blob.ReadAll(ctx, s.Bucket, key)
	if removed := s.Bucket.Delete(ctx, key); err == nil && !errors.Is(removed, blob.ErrMissing) {
		err = removed
	}
	switch {
	case errors.Is(err, blob.ErrMissing), err == nil && !bytes.Equal(got, content):
		return s.faultError(op, NotAStore, errors.New("what was written did not come back"))
	case err != nil:
		return s.probeError(op, err)
	}
	return nil
}

// probeError returns an error of a probe, which is always said as one of the store of objects.
func (s *Store) probeError(op string, err error) error {
	if errors.Is(err, context.Canceled) {
		return scrollback.Wrap(scrollback.Canceled, op, err)
	}
	said := s.ExplainError(op, err)
	if errors.Is(said, scrollback.ErrObjects) {
		return said
	}
	return s.faultError(op, Unreachable, err)
}

const (
	// readyFor is how long a bucket that could be read counts as ready, and failedFor how
	// long one that could not counts as failed: each attempt costs a request.
	readyFor  = 10 * time.Second
	failedFor = 3 * time.Second

	// readyTime is how long one attempt may take. The server waits five seconds.
	readyTime = 3 * time.Second
)

// state is what was found of the bucket a moment ago.
type state struct {
	mu    sync.Mutex
	found error
	until time.Time
}

// CheckReady returns an error if a bucket of a service cannot be read now; what was found is
// good for some seconds, for however many ask.
func (s *Store) CheckReady(ctx context.Context) error {
	if s.remote == nil {
		return nil
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if time.Now().Before(s.state.until) {
		return s.state.found
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	err := s.probeRead(ctx, "local.Ready")
	if scrollback.CodeOf(err) == scrollback.Canceled {
		return err
	}
	good := readyFor
	if err != nil {
		good = failedFor
	}
	s.state.found = err
	s.state.until = time.Now().Add(good)
	return err
}
