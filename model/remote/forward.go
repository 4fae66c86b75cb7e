package remote

import (
	"context"
	"io"
	"iter"
	"net/http"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// credentials are the headers that let a client in at a server.
var credentials = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"}

// forward sends what a client wrote as it stands. It is not sent again: the client does that itself.
func (c *Client) forward(ctx context.Context, r model.Request,
	plan func(known scrollback.Learned) (Exchange, error)) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		x, err := plan(r.Learned)
		if err == nil {
			x.forward = r.Forward
			x.Params = nil
			x.Once = nil
			x.OlderAPI = false
			_, err = c.sendOnce(ctx, &x, r.Bounds.WithDefaults(), yield)
		}
		if err != nil {
			yield(model.Delta{}, err)
		}
	}
}

// tapBody returns the body of a response, which is written to the tap of a forwarded request as it is read.
func (x *Exchange) tapBody(resp *http.Response) io.Reader {
	if x.forward == nil || x.forward.Tap == nil {
		return resp.Body
	}
	w := x.forward.Tap(model.ResponseHead{Status: resp.StatusCode, Header: resp.Header})
	if w == nil {
		return resp.Body
	}
	return io.TeeReader(resp.Body, w)
}

// ReadCount reads the answer to a request that only has its tokens counted: whoever forwarded it reads what it says.
func ReadCount(a *Answer) error {
	if _, err := a.ReadWhole(); err != nil {
		return err
	}
	return a.EmitDelta(model.Delta{Finish: scrollback.FinishStop})
}

// drain reads the rest of an answer that was forwarded: whoever asked may want what says nothing here.
func (x *Exchange) drain(body io.Reader) {
	if x.forward != nil {
		_, _ = io.Copy(io.Discard, body) // everything that was said has been read
	}
}

// addForwarded adds what a client sent with its request, and its credential where there is no other.
func (x *Exchange) addForwarded(req *http.Request) {
	if x.forward == nil {
		return
	}
	for name, values := range x.forward.Header {
		req.Header[name] = values
	}
	for _, name := range credentials {
		req.Header.Del(name)
	}
	if c := x.forward.Credential; c != nil {
		req.Header.Set(c.Name, c.Value)
	}
}
