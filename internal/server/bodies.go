package server

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// Patience is how slowly a client may send a body. The zero value is right for the
// product.
type Patience struct {
	Silence time.Duration // without a byte, and before the pace counts; 0 means 30 s
	Pace    int64         // bytes a second, on average; 0 means 1024
}

// pacedBody is a request's body that has to arrive at a pace.
type pacedBody struct {
	io.ReadCloser
	rc      *http.ResponseController
	silence time.Duration
	pace    int64

	mu    sync.Mutex
	begun time.Time
	got   int64
	ended bool
}

// paceBody bounds the body of a request, for a copy of it: of its own, the server knows whether the client
// waits for a word before it sends the body.
func (p Patience) paceBody(w http.ResponseWriter, r *http.Request) *pacedBody {
	b := &pacedBody{ReadCloser: r.Body, rc: http.NewResponseController(w), silence: cmp.Or(p.Silence, 30*time.Second),
		pace:  cmp.Or(p.Pace, 1024),
		begun: time.Now(), ended: r.Body == nil || r.Body == http.NoBody}
	return b
}

// withBody returns a request with this body.
func (b *pacedBody) withBody(r *http.Request) *http.Request {
	if b.isOver() {
		return r
	}
	with := *r
	with.Body = b
	return &with
}

// isOver reports whether all of the body has come.
func (b *pacedBody) isOver() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}

// Read implements io.Reader.
func (b *pacedBody) Read(p []byte) (int, error) {
	b.setDeadline()
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	b.got += int64(n)
	b.mu.Unlock()
	if errors.Is(err, io.EOF) {
		b.liftDeadline()
	}
	return n, err
}

// setDeadline sets the time by which more has to come.
func (b *pacedBody) setDeadline() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	now := time.Now()
	until := b.begun.Add(b.silence + time.Duration(float64(b.got)/float64(b.pace)*float64(time.Second)))
	if quiet := now.Add(b.silence); quiet.Before(until) {
		until = quiet
	}
	_ = b.rc.SetReadDeadline(until) // not every listener has deadlines
}

// liftDeadline lifts the bound: the connection is watched for as long as the answer takes.
func (b *pacedBody) liftDeadline() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		b.ended = true
		_ = b.rc.SetReadDeadline(time.Time{})
	}
}
