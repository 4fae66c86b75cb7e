package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/redact"
	"github.com/scrollback-ai/scrollback/internal/thoughts"
	"github.com/scrollback-ai/scrollback/model"
)

// Answer is a response that began well. It counts what it emits, and stops at the
// bounds of the request.
type Answer struct {
	client *Client
	x      *Exchange
	bounds model.Bounds
	header http.Header
	body   *watchedReader
	ahead  *bufio.Reader // of body, if its beginning was looked at
	yield  func(model.Delta, error) bool
	first  *time.Timer // until the server says something of an answer
	parent context.Context

	began, finished bool
	gone            bool // the reader wants no more: nothing may be yielded

	*Tally
}

// Tally is how much of an answer has come, if it comes in several exchanges. Its zero
// value is the beginning of an answer.
type Tally struct {
	since time.Time // of the first exchange

	chars, thought, arguments, opaque, calls int
}

// timeLeft returns how long the answer may still take.
func (t *Tally) timeLeft(most time.Duration) time.Duration {
	if t.since.IsZero() {
		t.since = time.Now()
	}
	return most - time.Since(t.since)
}

// errStopped ends the reading of an answer that is no longer wanted.
var errStopped = errors.New("the reader stopped")

// watchedReader reads a body and notes every byte: a comment, which is not an event, is also a
// sign of life.
type watchedReader struct {
	r     io.Reader
	alarm func()
}

func (h *watchedReader) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if n > 0 {
		h.alarm()
	}
	return n, err
}

// Header returns a field of the response's header.
func (a *Answer) Header(name string) string { return a.header.Get(name) }

// Is reports whether the answer is of a media type.
func (a *Answer) Is(mediaType string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.header.Get("Content-Type"))), mediaType)
}

// IsStream reports whether the answer is a stream of events: by its media type, or by how it
// begins, since gateways give it another one or none.
func (a *Answer) IsStream() bool {
	return a.Is("text/event-stream") || a.Is("application/x-ndjson") || a.Is("application/jsonl") || a.beginsAsEvents()
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// fieldNames are what a line of a stream of events begins with.
var fieldNames = []string{":", "data:", "event:", "id:", "retry:"}

func (a *Answer) beginsAsEvents() bool {
	if a.ahead == nil {
		a.ahead = bufio.NewReader(a.body)
	}
	for n := 1; n <= 64; n++ {
		b, err := a.ahead.Peek(n)
		begun := string(bytes.TrimLeft(bytes.TrimPrefix(b, byteOrderMark), " \r\n"))
		if slices.ContainsFunc(fieldNames, func(name string) bool { return strings.HasPrefix(begun, name) }) {
			return true
		}
		unsure := len(b) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, b) ||
			slices.ContainsFunc(fieldNames, func(name string) bool { return strings.HasPrefix(name, begun) })
		if err != nil || !unsure {
			return false
		}
	}
	return false
}

// unreadBody returns what is still unread of the body.
func (a *Answer) unreadBody() io.Reader {
	if a.ahead != nil {
		return a.ahead
	}
	return a.body
}

// EmitDelta yields a piece of the answer. It fails when the reader has stopped or a
// bound is reached, and then nothing more may be emitted; what is within the bound
// was yielded.
func (a *Answer) EmitDelta(d model.Delta) error {
	if a.gone || a.parent.Err() != nil {
		return errStopped
	}
	exceeded := a.countPiece(&d)
	a.began = a.began || d.IsContent()
	a.finished = a.finished || d.Finish != ""
	if !a.yield(d, nil) {
		a.gone = true
		return errStopped
	}
	return exceeded
}

// EmitPieces emits what was said and thought in a text.
func (a *Answer) EmitPieces(pieces []thoughts.Piece) error {
	for _, p := range pieces {
		if err := a.EmitDelta(model.Delta{Text: p.Text, Reasoning: p.Thought, Opaque: p.Payload}); err != nil {
			return err
		}
	}
	return nil
}

// countPiece counts a piece, and cuts it where it exceeds a bound.
func (a *Answer) countPiece(d *model.Delta) (err error) {
	cut := func(text *string, so *int, most int, what string) {
		n := utf8.RuneCountInString(*text)
		if *so+n > most {
			*text = string([]rune(*text)[:max(most-*so, 0)])
			err = model.NewBoundError(fmt.Sprintf("%d characters of %s", most, what))
		}
		*so += n
	}
	cut(&d.Text, &a.chars, a.bounds.Chars, "text")
	cut(&d.Reasoning, &a.thought, a.bounds.ReasoningChars, "reasoning")
	if a.opaque += len(d.Opaque); a.opaque > a.bounds.OpaqueBytes {
		d.Opaque = nil
		err = model.NewBoundError(fmt.Sprintf("%d bytes of payloads", a.bounds.OpaqueBytes))
	}
	if d.Call != nil {
		if a.calls++; a.calls > a.bounds.Calls {
			d.Call = nil
			err = model.NewBoundError(fmt.Sprintf("%d calls", a.bounds.Calls))
		}
	}
	if err != nil {
		d.Finish = ""
	}
	return err
}

// CountArguments counts bytes of arguments that are gathered before their call is emitted.
func (a *Answer) CountArguments(n int) error {
	if a.arguments += n; a.arguments > a.bounds.ArgumentBytes {
		return model.NewBoundError(fmt.Sprintf("%d bytes of arguments", a.bounds.ArgumentBytes))
	}
	return nil
}

// CountPayload counts bytes of payloads that are gathered before they are emitted.
func (a *Answer) CountPayload(n int) error {
	if n > a.bounds.OpaqueBytes {
		return model.NewBoundError(fmt.Sprintf("%d bytes of payloads", a.bounds.OpaqueBytes))
	}
	return nil
}

// ProblemError returns the error of what a server reports within its answer.
func (a *Answer) ProblemError(raw []byte) error { return a.ProblemErrorAs(0, raw) }

// ProblemErrorAs returns the error of a problem within an answer, with its own status.
func (a *Answer) ProblemErrorAs(status int, raw []byte) error {
	return a.client.problemError(ReadProblem(status, a.header, raw), *a.x)
}

// UnreadableError returns the error of an answer that is not what was expected.
func (a *Answer) UnreadableError(raw []byte) error { return a.client.newUnreadableError(a.header, raw) }

func (c *Client) newUnreadableError(h http.Header, raw []byte) error {
	p := ReadProblem(0, h, raw)
	if p.Page {
		return c.problemError(p, Exchange{})
	}
	err := c.newUpstreamError("it sent something that cannot be read", string(raw))
	if !strings.ContainsAny(p.Message, "{}[]\x00") { // words
		err.Cause = redact.RedactCause(p.Message, c.o.Key)
	}
	return &retryable{error: err}
}

// BrokenOffError returns the error of an answer whose server says that it broke off.
func (a *Answer) BrokenOffError(reason string) error {
	return &retryable{error: a.client.newUpstreamError("it broke its answer off", reason)}
}

// MaxCalls returns how many calls an answer may make.
func (a *Answer) MaxCalls() int { return a.bounds.Calls }

// CutError returns the error of a server that cut a request which was too long, and had no
// room left for an answer.
func (a *Answer) CutError(u *scrollback.Usage) error {
	l := &model.Lesson{TooLong: true}
	if u != nil {
		l.Requested = u.InputTokens
	}
	return scrollback.Errorf(scrollback.OverBudget, op,
		i18n.ProviderHadNoRoomForAnswer, a.client.o.Provider).WithReason(l)
}
