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
	"github.com/scrollback-ai/scrollback/internal/server/language"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/shown"
	"github.com/scrollback-ai/scrollback/internal/server/restapi/spec"
)

// retry is how long a browser waits before it connects again.
const retry = time.Second

// addEvents adds the stream of what is done to all conversations of a caller.
func (a *api) addEvents() {
	after := queryParam("after", huma.TypeInteger,
		"The number of the last event that is known; without it, only what happens from now on is sent.")
	after.Schema.Minimum = new(float64)
	last := &huma.Param{Name: lastEventID, In: "header",
		Description: "The same, as browsers send it when they connect again.",
		Schema:      &huma.Schema{Type: huma.TypeString}}
	a.addRaw(huma.Operation{OperationID: "events", Method: http.MethodGet, Path: "/api/events",
		Parameters: []*huma.Param{after, last},
		Summary:    "Follow what is done to conversations, as server-sent events",
		Responses:  spec.Responses(http.StatusOK, spec.ChangeEvents(a.typeSchemas()))},
		a.streamChanges)
}

const (
	lastEventID = "Last-Event-ID"
	fromNow     = -1
)

// resumePoint returns where a client of the events of all conversations stands. A number that was
// never sent counts as too old: the client is told to read everything again.
func resumePoint(r *http.Request) (int64, error) {
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

// streamChanges streams changes until the client goes or is too slow.
func (a *api) streamChanges(w http.ResponseWriter, r *http.Request) error {
	after, err := resumePoint(r)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	var f *eventFrames
	for c, err := range a.viewFor(ctx).Changes(ctx, after) {
		switch {
		case err != nil && f == nil:
			return err
		case err != nil:
			return nil // the client connects again, and is told why if that fails
		case f == nil:
			f = newFrames(w, stop)
			defer f.endStream()
			f.setNumber(c.N)
			if f.writeFrame([]byte(": connected\nretry: "+strconv.FormatInt(retry.Milliseconds(), 10)+"\n"+f.idLine()+
				"\n")) != nil {
				return nil
			}
		}
		if f.writeChange(c) != nil {
			return nil // the client is gone, or reads nothing
		}
	}
	return nil
}

// writeChange writes a change as a frame. The last of those with one number carries it, so that
// a client that is cut off among them gets them all again.
func (f *eventFrames) writeChange(c scrollback.Change) error {
	if c.Type == scrollback.ChangeNone {
		f.setNumber(c.N) // the next comment carries it
		return nil
	}
	n := 0
	if !c.More {
		n = int(c.N)
		f.setNumber(c.N)
	}
	return f.writeData(n, c)
}

// heartbeat is how often a silent stream shows that it is alive.
const heartbeat = 15 * time.Second

// writeTime is how long a client may take to receive one frame; one that takes longer is
// cut off.
const writeTime = 30 * time.Second

// describeTurnEvents describes the events of a turn with those that are only sent on request.
func describeTurnEvents(r huma.Registry) spec.Content {
	return spec.TurnEvents(r, map[string]any{"block": shown.BlockEvent{}})
}

// streamTurn writes a turn's events as frames, then [DONE]. With a drawing, closed blocks follow
// the events that close them.
func streamTurn(events iter.Seq2[engine.SequencedEvent, error], d *shown.AnswerDrawer) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		_, w := humago.Unwrap(hc)
		f := newFrames(w, func() {})
		f.language = language.Of(hc.Header("Accept-Language"))
		defer f.endStream()
		if d != nil && f.writeBlocks(d.ClosedBlocks()) != nil {
			return
		}
		for n, err := range events {
			if err != nil {
				if scrollback.CodeOf(err) != scrollback.Canceled {
					_ = f.writeEvent(0, scrollback.ErrorEvent{Failure: *scrollback.FailureOf(err)})
				}
				return
			}
			if f.writeEvent(n.N, n.Event) != nil {
				return // the client is gone; the turn goes on
			}
			if d != nil && f.writeBlocks(d.TakeEvent(n.Event)) != nil {
				return
			}
		}
		_ = f.writeFrame([]byte("data: [DONE]\n\n")) // the client may be gone
	}}
}

// endStream is the response to a client that has everything: it does not connect again.
func endStream(hc huma.Context) { hc.SetStatus(http.StatusNoContent) }

// eventFrames writes server-sent events, each with one write and one flush, and comments in
// between while it is silent.
type eventFrames struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	stop func() // called when the client cannot be written to

	lock  chan struct{} // held while something is written
	ended bool
	at    int64 // the number that comments carry; negative: none
	beats *time.Timer

	language language.Language // of errors and reasons
}

func newFrames(w http.ResponseWriter, stop func()) *eventFrames {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no")
	f := &eventFrames{w: w, rc: http.NewResponseController(w), stop: stop, at: -1, lock: make(chan struct{}, 1)}
	w.WriteHeader(http.StatusOK)
	defer f.holdLock()()
	f.beats = time.AfterFunc(heartbeat, f.writeBeat)
	return f
}

// holdLock takes the lock, and returns what gives it back.
func (f *eventFrames) holdLock() (free func()) {
	f.lock <- struct{}{}
	return func() { <-f.lock }
}

// endStream is called when the handler returns: the response belongs to it only while it runs,
// and the connection may serve another request afterwards.
func (f *eventFrames) endStream() {
	defer f.holdLock()()
	f.ended = true
	f.beats.Stop()
	_ = f.rc.SetWriteDeadline(time.Time{})
}

func (f *eventFrames) writeEvent(n int, ev scrollback.Event) error {
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
	return f.writeData(n, json.RawMessage(data))
}

// writeBlocks writes closed blocks.
func (f *eventFrames) writeBlocks(blocks []shown.Frame) error {
	for _, b := range blocks {
		if err := f.writeData(0, b); err != nil {
			return err
		}
	}
	return nil
}

// writeData writes JSON as one frame; n is its number, or 0 for none.
func (f *eventFrames) writeData(n int, v any) error {
	data, whole := v.(json.RawMessage)
	if !whole {
		var b bytes.Buffer
		if err := writePlainJSON(&b, v); err != nil {
			return err
		}
		data = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	}
	b := make([]byte, 0, len(data)+32)
	if n > 0 {
		b = append(strconv.AppendInt(append(b, "id: "...), int64(n), 10), '\n')
	}
	b = append(append(append(b, "data: "...), data...), "\n\n"...)
	return f.writeFrame(b)
}

// setNumber sets the number that comments carry, so that a client for whom nothing happens does
// not fall behind.
func (f *eventFrames) setNumber(n int64) {
	defer f.holdLock()()
	f.at = n
}

// idLine returns the line of the number that comments carry.
func (f *eventFrames) idLine() string {
	if f.at < 0 {
		return ""
	}
	return "id: " + strconv.FormatInt(f.at, 10) + "\n"
}

func (f *eventFrames) writeFrame(b []byte) error {
	defer f.holdLock()()
	return f.writeLocked(b)
}

func (f *eventFrames) writeLocked(b []byte) (err error) {
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

func (f *eventFrames) writeBeat() {
	defer f.holdLock()()
	if !f.ended && f.writeLocked([]byte(": still here\n"+f.idLine()+"\n")) == nil {
		f.beats.Reset(heartbeat)
	}
}
