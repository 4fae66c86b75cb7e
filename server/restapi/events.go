package restapi

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
)

// retry is how long a browser waits before it connects again.
const retry = time.Second

// events adds the stream of what is done to all conversations of a caller.
func (a *api) events() {
	after := queryParam("after", huma.TypeInteger, "The number of the last event that is known; without it, only what happens from now on is sent.")
	after.Schema.Minimum = new(float64)
	last := &huma.Param{Name: lastEventID, In: "header", Description: "The same, as browsers send it when they connect again.",
		Schema: &huma.Schema{Type: huma.TypeString}}
	a.raw(huma.Operation{OperationID: "events", Method: http.MethodGet, Path: "/api/events", Parameters: []*huma.Param{after, last},
		Summary: "Follow what is done to conversations, as server-sent events: conversation, turn, message, compaction, trash, and reset when some are not kept any more"},
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
		return 0, scrollback.ParamErrorf("restapi", "after", "after is the number of an event, 0 or more")
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
// whoever is cut off among them gets them all again.
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
