package restapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/server/language"
	"github.com/scrollback-ai/scrollback/server/restapi/shown"
	"github.com/scrollback-ai/scrollback/server/restapi/spec"
)

// retry is how long a browser waits before it connects again.
const retry = time.Second

// events adds the stream of what is done to all conversations of a caller.
func (a *api) events() {
	after := queryParam("after", huma.TypeInteger,
		"The number of the last event that is known; without it, only what happens from now on is sent.")
	after.Schema.Minimum = new(float64)
	last := &huma.Param{Name: lastEventID, In: "header",
		Description: "The same, as browsers send it when they connect again.",
		Schema:      &huma.Schema{Type: huma.TypeString}}
	a.raw(huma.Operation{OperationID: "events", Method: http.MethodGet, Path: "/api/events",
		Parameters: []*huma.Param{after, last},
		Summary:    "Follow what is done to conversations, as server-sent events",
		Responses:  spec.Returns(http.StatusOK, spec.Changes(a.schemas()))},
		a.follow)
}

const (
	lastEventID = "Last-Event-ID"
	fromNow     = -1
)

// following is where a client of the events of all conversations stands. A number that was
// never sent counts as too old: the client is told to read everything again.
func following(r *http.Request) (int64, error) {
	if id := r.Header.Get(lastEventID); id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n < 0 {
			n = math.MaxInt64
		}
		return n, nil
	}
	q := r.URL.Query()
	if !q.Has("after") {
		return fromNow, nil
	}
	n, err := strconv.ParseInt(q.Get("after"), 10, 64)
	if err != nil || n < 0 {
		return 0, scrollback.ParamErrorf("restapi", "after", i18n.AfterIsNumberOfEvent)
	}
	return n, nil
}

// follow streams changes until the client goes or is too slow.
func (a *api) follow(w http.ResponseWriter, r *http.Request) error {
	after, err := following(r)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	var f *frames
	for c, err := range a.as(ctx).Changes(ctx, after) {
		switch {
		case err != nil && f == nil:
			return err
		case err != nil:
			return nil // the client connects again, and is told why if that fails
		case f == nil:
			f = newFrames(w, stop)
			defer f.end()
			f.mark(c.N)
			if f.write([]byte(": connected\nretry: "+strconv.FormatInt(retry.Milliseconds(), 10)+"\n"+f.id()+"\n")) != nil {
				return nil
			}
		}
		if f.change(c) != nil {
			return nil // the client is gone, or reads nothing
		}
	}
	return nil
}

// change writes a change as a frame. The last of those with one number carries it, so that
// a client that is cut off among them gets them all again.
func (f *frames) change(c scrollback.Change) error {
	if c.Type == scrollback.ChangeNone {
		f.mark(c.N) // the next comment carries it
		return nil
	}
	n := 0
	if !c.More {
		n = int(c.N)
		f.mark(c.N)
	}
	return f.data(n, c)
}

// heartbeat is how often a silent stream shows that it is alive.
const heartbeat = 15 * time.Second

// writeTime is how long a client may take to receive one frame; one that takes longer is
// cut off.
const writeTime = 30 * time.Second

// turnEvents describes the events of a turn with those that are only sent on request.
func turnEvents(r huma.Registry) spec.Content {
	return spec.TurnEvents(r, map[string]any{"block": shown.BlockEvent{}})
}

// stream writes a turn's events as frames, then [DONE]. With a drawing, closed blocks follow
// the events that close them.
func stream(events iter.Seq2[engine.SequencedEvent, error], d *shown.Answer) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		_, w := humago.Unwrap(hc)
		f := newFrames(w, func() {})
		f.language = language.Of(hc.Header("Accept-Language"))
		defer f.end()
		if d != nil && f.blocks(d.Closed()) != nil {
			return
		}
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
			if d != nil && f.blocks(d.Take(n.Event)) != nil {
				return
			}
		}
		_ = f.write([]byte("data: [DONE]\n\n")) // the client may be gone
	}}
}

// over is the response to a client that has everything: it does not connect again.
func over(hc huma.Context) { hc.SetStatus(http.StatusNoContent) }

// frames writes server-sent events, each with one write and one flush, and comments in
// between while it is silent.
type frames struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	stop func() // called when the client cannot be written to

	lock  chan struct{} // held while something is written
	ended bool
	at    int64 // the number that comments carry; negative: none
	beats *time.Timer

	language language.Language // of errors and reasons
}

func newFrames(w http.ResponseWriter, stop func()) *frames {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no")
	f := &frames{w: w, rc: http.NewResponseController(w), stop: stop, at: -1, lock: make(chan struct{}, 1)}
	w.WriteHeader(http.StatusOK)
	defer f.hold()()
	f.beats = time.AfterFunc(heartbeat, f.beat)
	return f
}

// hold takes the lock, and returns what gives it back.
func (f *frames) hold() (free func()) {
	f.lock <- struct{}{}
	return func() { <-f.lock }
}

// end is called when the handler returns: the response belongs to it only while it runs,
// and the connection may serve another request afterwards.
func (f *frames) end() {
	defer f.hold()()
	f.ended = true
	f.beats.Stop()
	_ = f.rc.SetWriteDeadline(time.Time{})
}

func (f *frames) event(n int, ev scrollback.Event) error {
	switch said := ev.(type) {
	case scrollback.ErrorEvent:
		said.Failure = f.language.Failure(said.Failure)
		ev = said
	case scrollback.CompactionEvent:
		said.Receipt = f.language.Receipt(said.Receipt)
		ev = said
	}
	data, err := scrollback.EncodeEvent(ev)
	if err != nil { // an event that cannot be encoded must not hide those after it
		data, err = scrollback.EncodeEvent(scrollback.ErrorEvent{Failure: f.language.Failure(scrollback.Failure{
			Code: scrollback.Internal, Message: "an event could not be encoded"})})
	}
	if err != nil {
		return err
	}
	return f.data(n, json.RawMessage(data))
}

// blocks writes closed blocks.
func (f *frames) blocks(blocks []shown.Frame) error {
	for _, b := range blocks {
		if err := f.data(0, b); err != nil {
			return err
		}
	}
	return nil
}

// data writes JSON as one frame; n is its number, or 0 for none.
func (f *frames) data(n int, v any) error {
	data, whole := v.(json.RawMessage)
	if !whole {
		var b bytes.Buffer
		if err := marshal(&b, v); err != nil {
			return err
		}
		data = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	}
	b := make([]byte, 0, len(data)+32)
	if n > 0 {
		b = append(strconv.AppendInt(append(b, "id: "...), int64(n), 10), '\n')
	}
	b = append(append(append(b, "data: "...), data...), "\n\n"...)
	return f.write(b)
}

// mark sets the number that comments carry, so that a client for whom nothing happens does
// not fall behind.
func (f *frames) mark(n int64) {
	defer f.hold()()
	f.at = n
}

// id is the line of the number that comments carry.
func (f *frames) id() string {
	if f.at < 0 {
		return ""
	}
	return "id: " + strconv.FormatInt(f.at, 10) + "\n"
}

func (f *frames) write(b []byte) error {
	defer f.hold()()
	return f.writeLocked(b)
}

func (f *frames) writeLocked(b []byte) (err error) {
	defer func() {
		if err != nil {
			f.stop()
		}
	}()
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

func (f *frames) beat() {
	defer f.hold()()
	if !f.ended && f.writeLocked([]byte(": still here\n"+f.id()+"\n")) == nil {
		f.beats.Reset(heartbeat)
	}
}
