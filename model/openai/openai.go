// Package openai is the client of models served in OpenAI's chat-completions
// protocol: OpenAI itself and the many servers that speak as it does.
//
// Words it adds: preset (a server known by name: address, key, dialect).
//
// Invariants: a request is tried again, after a pause, only before its first
// delta; a null usage is not zero and the last usage stands; a stream that ends
// without a finish reason is passed on as that; calls leave whole, in order, each
// with an id; neither a key nor an address is part of an error.
//
// It may not know the store, conversations or the engine.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/window"
	"github.com/scrollback-ai/scrollback/wire"
)

// Options describe the model and where it is served.
type Options struct {
	BaseURL   string // up to, not including, /chat/completions
	Key       string // empty sends none
	Model     string // as the server names it
	Limit     int64  // window in tokens; 0 means unknown
	MaxOutput int64  // longest answer in tokens; 0 means unknown

	// OldMaxTokens sends max_tokens, which older servers know, instead of
	// max_completion_tokens.
	OldMaxTokens bool
	// Thinking names how the server is told how much to think: effort (when empty),
	// reasoning, type or enable; see [wire.ChatRequest].
	Thinking string
	// NoImages leaves images out, naming them, for models that read text only.
	NoImages bool

	Client  *http.Client  // nil makes one
	Retries int           // before the first delta; 0 means 3, negative none
	Pause   time.Duration // before the first retry; 0 means 500 ms; doubles each time
	Silence time.Duration // of the server until it is given up; 0 means 3 minutes
}

// Model is one model on one server.
type Model struct {
	o     Options
	facts model.Facts
}

var _ model.Model = (*Model)(nil)

// maxPause bounds a pause, whatever the server asks for.
const maxPause = 30 * time.Second

// New makes a client; name is the model's name in conversations.
func New(name string, o Options) *Model {
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	if o.Retries == 0 {
		o.Retries = 3
	}
	if o.Pause == 0 {
		o.Pause = 500 * time.Millisecond
	}
	if o.Silence == 0 {
		o.Silence = 3 * time.Minute
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	return &Model{o: o, facts: model.Facts{Name: name, Limit: o.Limit, MaxOutput: o.MaxOutput, Dialect: window.OpenAI()}}
}

// Facts implements model.Model.
func (m *Model) Facts() model.Facts { return m.facts }

// Stream implements model.Model.
func (m *Model) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		body, err := m.encode(ctx, r)
		if err != nil {
			yield(model.Delta{}, err)
			return
		}
		for try := 0; ; try++ {
			began, err := m.once(ctx, body, yield)
			if err == nil {
				return
			}
			var again *retryable
			if began || !errors.As(err, &again) || try >= m.o.Retries {
				yield(model.Delta{}, err)
				return
			}
			if err := wait(ctx, m.pause(try, again.after)); err != nil {
				yield(model.Delta{}, err)
				return
			}
		}
	}
}

// retryable marks an error that may pass; after is what the server asked for.
type retryable struct {
	error
	after time.Duration
}

func (r *retryable) Unwrap() error { return r.error }

// pause is how long to wait before try+1: doubled each time, spread by a half, or
// what the server asks for.
func (m *Model) pause(try int, asked time.Duration) time.Duration {
	d := m.o.Pause << min(try, 6)
	d += time.Duration(rand.Int64N(int64(d)/2 + 1))
	return min(max(d, asked), maxPause)
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return canceled(ctx)
	}
}

func canceled(ctx context.Context) error {
	return &scrollback.Error{Code: scrollback.Canceled, Op: "openai.Stream", Err: ctx.Err()}
}

// errSilence ends a request whose server says nothing any more.
var errSilence = errors.New("the server fell silent")

// once sends the request and yields its deltas. began says that one was yielded,
// or that the reader stopped: then nothing is tried again.
func (m *Model) once(parent context.Context, body []byte, yield func(model.Delta, error) bool) (began bool, err error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	alarm := time.AfterFunc(m.o.Silence, func() { cancel(errSilence) })
	defer alarm.Stop()
	fault := func(err error) error {
		if parent.Err() != nil {
			return canceled(parent)
		}
		return &retryable{error: upstream(err)}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.o.BaseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return false, scrollback.Errorf(scrollback.Invalid, "openai.Stream", "the model's address is no URL")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if m.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.o.Key)
	}
	resp, err := m.o.Client.Do(req)
	if err != nil {
		return false, fault(errors.New("no connection"))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false, refusal(resp)
	}
	s := reader{requestID: resp.Header.Get("X-Request-Id")}
	heard := func() { alarm.Reset(m.o.Silence) }
	ended := false
	err = s.read(resp, heard, func(d model.Delta) bool {
		if parent.Err() != nil {
			ended = true
			return false
		}
		began = true
		return yield(d, nil)
	})
	switch {
	case ended:
		return began, canceled(parent)
	case errors.Is(err, errStopped):
		return true, nil
	case err == nil:
		return true, nil
	case parent.Err() != nil:
		return began, canceled(parent)
	case scrollback.CodeOf(err) != scrollback.Internal:
		return began, err
	}
	return began, fault(err)
}

// upstream is a failure of the server or the way to it.
func upstream(err error) error {
	return (&scrollback.Error{Code: scrollback.Unavailable, Op: "openai.Stream", Err: err}).Because(scrollback.ErrUpstream)
}

// refusal classifies an answer that is no success. The server's own words go to
// the log by way of the error; faces show only what is safe.
func refusal(resp *http.Response) error {
	const op = "openai.Stream"
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // as much as there is
	var body wire.ErrorBody
	words := ""
	if json.Unmarshal(raw, &body) == nil {
		words = body.Error.Message
	}
	after := time.Duration(0)
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		after = time.Duration(s) * time.Second
	}
	switch s := resp.StatusCode; {
	case s == http.StatusTooManyRequests:
		return &retryable{scrollback.Errorf(scrollback.RateLimited, op, "the model's provider asks to wait"), after}
	case s == http.StatusRequestTimeout || s == http.StatusConflict || s >= 500:
		return &retryable{upstream(errors.New("status " + strconv.Itoa(s) + ": " + words)), after}
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return scrollback.Errorf(scrollback.Refused, op, "the model's provider refused the key")
	case s == http.StatusNotFound:
		return scrollback.Errorf(scrollback.Invalid, op, "the model's provider knows no such model")
	case s == http.StatusRequestEntityTooLarge || tooLong(words, body.Error.Code):
		return scrollback.Errorf(scrollback.OverBudget, op, "the model's provider says the request is too long for it")
	}
	return upstream(errors.New("status " + strconv.Itoa(resp.StatusCode) + ": " + words))
}

// tooLong recognises the many words for a request that does not fit.
func tooLong(words string, code json.RawMessage) bool {
	words = strings.ToLower(words + " " + string(code))
	for _, sign := range []string{"context_length", "context length", "maximum context", "too many tokens", "prompt is too long", "exceeds the model"} {
		if strings.Contains(words, sign) {
			return true
		}
	}
	return false
}
