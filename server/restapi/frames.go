package restapi

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/server/language"
)

// heartbeat is how often a silent stream shows that it is alive.
const heartbeat = 15 * time.Second

// writeTime is how long a client may take to receive one frame.
const writeTime = 30 * time.Second

// stream writes a turn's events as frames, then [DONE].
func stream(events iter.Seq2[engine.SequencedEvent, error]) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		_, w := humago.Unwrap(hc)
		f := newFrames(w)
		f.language = language.Of(hc.Header("Accept-Language"))
		done, beaten := make(chan struct{}), make(chan struct{})
		go func() { defer close(beaten); f.beat(done) }()
		// The response belongs to the handler only while it runs, and the connection may
		// serve another request afterwards.
		defer func() {
			close(done)
			<-beaten
			_ = f.rc.SetWriteDeadline(time.Time{})
		}()
		for n, err := range events {
			if err != nil {
				if scrollback.CodeOf(err) != scrollback.Canceled {
					_ = f.event(0, scrollback.ErrorEvent{Failure: *scrollback.FailureOf(err)})
				}
				return
			}
			if f.event(n.N, n.Event) != nil {
				return // the client is gone; the turn goes on
			}
		}
		_ = f.write([]byte("data: [DONE]\n\n")) // the client may be gone
	}}
}

// frames writes server-sent events, each with one write and one flush.
type frames struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	lock chan struct{}

	language language.Language // of errors
}

func newFrames(w http.ResponseWriter) *frames {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	f := &frames{w: w, rc: http.NewResponseController(w), lock: make(chan struct{}, 1)}
	w.WriteHeader(http.StatusOK)
	return f
}

func (f *frames) event(n int, ev scrollback.Event) error {
	if fault, ok := ev.(scrollback.ErrorEvent); ok {
		fault.Failure = f.language.Failure(fault.Failure)
		ev = fault
	}
	data, err := scrollback.EncodeEvent(ev)
	if err != nil { // an event that cannot be encoded must not hide those after it
		data, err = scrollback.EncodeEvent(scrollback.ErrorEvent{Failure: f.language.Failure(scrollback.Failure{Code: scrollback.Internal, Message: "an event could not be encoded"})})
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if n > 0 {
		fmt.Fprintf(&b, "id: %d\n", n)
	}
	b.WriteString("data: ")
	b.Write(data)
	b.WriteString("\n\n")
	return f.write(b.Bytes())
}

func (f *frames) write(b []byte) error {
	f.lock <- struct{}{}
	defer func() { <-f.lock }()
	// A client that never reads must not hold the handler for ever.
	if err := f.rc.SetWriteDeadline(time.Now().Add(writeTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := f.w.Write(b); err != nil {
		return err
	}
	if err := f.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

func (f *frames) beat(done <-chan struct{}) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if f.write([]byte(": still here\n\n")) != nil {
				return
			}
		}
	}
}
